// SPDX-License-Identifier: GPL-2.0
/*
 * Filters by module: "function:mod:module".
 *
 * One that finds nothing because there is no such module yet waits in a list of
 * the trace array until a module comes that has such functions, and is replaced
 * by them.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"
#include "stats.h"
#include "tracers.h"

/**
 * struct mod_pattern - "function:mod:module", parsed
 * @func: which functions
 * @mod: of which modules
 * @text: what the two point into
 */
struct mod_pattern {
	struct ftrace_glob	func;
	struct ftrace_glob	mod;
	char			*text;
};

/* An empty pattern stands for anything. */
static void parse_half(struct ftrace_glob *g, char *str)
{
	ftrace_glob_parse(g, str);
	if (!g->len)
		g->type = MATCH_FRONT_ONLY;
}

/* Parsing cuts the text up, so that is done to a copy. */
static int mod_pattern_parse(struct mod_pattern *p, const char *func,
			     const char *module)
{
	size_t func_size = strlen(func) + 1, mod_size = strlen(module) + 1;

	p->text = kmalloc(func_size + mod_size, GFP_KERNEL);
	if (!p->text)
		return -ENOMEM;
	memcpy(p->text, func, func_size);
	memcpy(p->text + func_size, module, mod_size);
	parse_half(&p->func, p->text);
	parse_half(&p->mod, p->text + func_size);
	return 0;
}

static void mod_pattern_free(struct mod_pattern *p)
{
	kfree(p->text);
}

/* Is a module there that the pattern names, so that waiting is in vain? */
static bool module_is_there(const struct ftrace_glob *mod)
{
	struct ftrace_region *r;
	const char *name;

	list_for_each_entry(r, &ftrace_regions, list) {
		if (!r->mod)
			continue;
		name = ftrace_region_mod_name(r);
		if (ftrace_glob_match(mod, name, strlen(name)))
			return true;
	}
	return false;
}

static struct ftrace_mod_load *waiter_alloc(const char *func,
					    const char *module, bool enable)
{
	size_t func_size = strlen(func) + 1, mod_size = strlen(module) + 1;
	struct ftrace_mod_load *w;

	w = kzalloc(sizeof(*w) + func_size + mod_size, GFP_KERNEL);
	if (!w)
		return NULL;
	w->func = memcpy(w + 1, func, func_size);
	w->module = memcpy(w->func + func_size, module, mod_size);
	w->enable = enable;
	return w;
}

static struct ftrace_mod_load *waiter_find(struct list_head *waiting,
					   const char *func, const char *module)
{
	struct ftrace_mod_load *w;

	list_for_each_entry(w, waiting, list) {
		if (!strcmp(w->func, func) && !strcmp(w->module, module))
			return w;
	}
	return NULL;
}

static int wait_for(struct list_head *waiting, const char *func,
		    const char *module, bool enable)
{
	struct ftrace_mod_load *w;

	if (waiter_find(waiting, func, module))
		return 0;
	w = waiter_alloc(func, module, enable);
	if (!w)
		return -ENOMEM;
	list_add(&w->list, waiting);
	return 0;
}

/* Those that "!func:mod:module" takes away: the same words, or all of a module. */
static bool is_meant(const struct ftrace_mod_load *w, const char *func,
		     const char *module)
{
	if (strcmp(w->module, module))
		return false;
	return !*func || !strcmp(func, "*") || !strcmp(w->func, func);
}

static int wait_no_more(struct ftrace_hash **hash, struct list_head *waiting,
			const char *func, const char *module)
{
	struct ftrace_mod_load *w, *next;
	int ret = -EINVAL;

	list_for_each_entry_safe(w, next, waiting, list) {
		if (!is_meant(w, func, module))
			continue;
		list_del(&w->list);
		kfree(w);
		ret = 0;
	}
	/* If it was all that made the filter mean nothing. */
	if (!ret && list_empty(waiting) && *hash &&
	    (*hash)->flags & FTRACE_HASH_FL_WAITS) {
		ftrace_hash_free(*hash);
		*hash = NULL;
	}
	return ret;
}

/**
 * ftrace_apply_mod_pattern - add functions of modules to a set, or take them away
 * @hash: the set; replaced, and the old one freed, if something matched
 * @waiting: what waits for modules to come; NULL: nothing may
 * @func: pattern of functions, '!' in front of it takes away
 * @module: pattern of modules, '!' in front of it means all others
 * @enable: @hash is what to trace; otherwise, what not to
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL if there is no such function, and nothing that waits to
 * take away; -ENOMEM; then @hash and @waiting are as they were.
 */
int ftrace_apply_mod_pattern(struct ftrace_hash **hash,
			     struct list_head *waiting, const char *func,
			     const char *module, bool enable)
{
	struct ftrace_hash *sites;
	struct mod_pattern p;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = mod_pattern_parse(&p, func, module);
	if (ret)
		return ret;
	/* A number is a function of its own already. */
	if (p.func.type == MATCH_INDEX)
		sites = ERR_PTR(-EINVAL);
	else
		sites = ftrace_match_sites(&p.func, &p.mod);
	if (IS_ERR(sites))
		ret = PTR_ERR(sites);
	else if (sites)
		ret = ftrace_hash_change(hash, sites, p.func.not);
	else if (!waiting)
		ret = -EINVAL;
	else if (p.func.not)
		ret = wait_no_more(hash, waiting, func + 1, module);
	else if (p.mod.not || module_is_there(&p.mod))
		ret = -EINVAL;
	else
		ret = wait_for(waiting, func, module, enable);
	/* Of what is there and what is yet to come both are taken away. */
	if (!ret && sites && p.func.not && waiting)
		wait_no_more(hash, waiting, func + 1, module);
	mod_pattern_free(&p);
	return ret;
}

/**
 * ftrace_waiting - the list of what waits for modules in a trace array
 * @tr: the array
 * @enable: of what to trace; otherwise, of what not to
 *
 * The list changes under ftrace_lock.
 */
struct list_head *ftrace_waiting(struct trace_array *tr, bool enable)
{
	return enable ? &tr->mod_trace : &tr->mod_notrace;
}

/**
 * ftrace_waiting_free - empty a list of what waits
 * @waiting: the list
 *
 * Context: process.
 */
void ftrace_waiting_free(struct list_head *waiting)
{
	struct ftrace_mod_load *w, *next;

	list_for_each_entry_safe(w, next, waiting, list) {
		list_del(&w->list);
		kfree(w);
	}
}

/**
 * ftrace_waiting_copy - copy a list of what waits
 * @to: an empty list
 * @from: the list to copy
 *
 * Context: process, ftrace_lock held.
 * Return: 0, or -ENOMEM and @to is still empty.
 */
int ftrace_waiting_copy(struct list_head *to, const struct list_head *from)
{
	struct ftrace_mod_load *w, *copy;

	list_for_each_entry(w, from, list) {
		copy = waiter_alloc(w->func, w->module, w->enable);
		if (!copy) {
			ftrace_waiting_free(to);
			return -ENOMEM;
		}
		list_add_tail(&copy->list, to);
	}
	return 0;
}

/**
 * ftrace_waiting_nth - find one of those that wait
 * @waiting: the list
 * @n: which one, from 0
 *
 * Return: it, or NULL if there are not that many.
 */
struct ftrace_mod_load *ftrace_waiting_nth(struct list_head *waiting, loff_t n)
{
	struct ftrace_mod_load *w;

	list_for_each_entry(w, waiting, list) {
		if (!n--)
			return w;
	}
	return NULL;
}

/* Does one that waits wait for this module? */
static bool waits_for(const struct ftrace_mod_load *w, const char *module)
{
	struct ftrace_glob g;
	char *text;
	bool waits;

	text = kstrdup(w->module, GFP_KERNEL);
	/* What cannot be told apart is looked at. */
	if (!text)
		return true;
	parse_half(&g, text);
	waits = ftrace_glob_match(&g, module, strlen(module)) != g.not;
	kfree(text);
	return waits;
}

/**
 * ftrace_waiting_resolve - put functions that have come in place of what waited
 * @waiting: the list
 * @module: the module that has come: who waits for others is not looked at;
 *	    NULL: any may have
 * @hash: gets the functions; replaced, and the old one freed, if there are some
 * @came: an empty list that gets those of @waiting whose functions have come;
 *	  for the caller to free, or to put back
 *
 * Context: process, ftrace_lock held.
 * Return: 0, or -ENOMEM.
 */
int ftrace_waiting_resolve(struct list_head *waiting, const char *module,
			   struct ftrace_hash **hash, struct list_head *came)
{
	struct ftrace_mod_load *w, *next;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry_safe(w, next, waiting, list) {
		if (module && !waits_for(w, module))
			continue;
		ret = ftrace_apply_mod_pattern(hash, NULL, w->func, w->module,
					       w->enable);
		if (ret == -EINVAL)
			continue;
		if (ret)
			return ret;
		list_move_tail(&w->list, came);
	}
	return 0;
}

/* Add what has come to one half of the filter of an ops. */
static int add_to_half(struct ftrace_ops *ops, const struct ftrace_hash *sites,
		       bool enable)
{
	struct ftrace_filter f;
	struct ftrace_hash *hash;
	unsigned long nr_bad;
	int ret;

	ftrace_ops_filter(ops, &f);
	hash = ftrace_hash_union(enable ? f.filter : f.skip, sites);
	if (IS_ERR(hash))
		return PTR_ERR(hash);
	/* As long as that sets one more bad site aside. */
	do {
		nr_bad = ftrace_nr_bad;
		ret = ftrace_ops_set_filter(ops, hash, enable);
	} while (ret == -EINVAL && ftrace_nr_bad != nr_bad);
	if (ret)
		ftrace_hash_free(hash);
	return ret;
}

static int resolve_half(struct ftrace_ops *ops, const char *module,
			struct list_head *waiting, bool enable)
{
	struct ftrace_hash *sites = NULL;
	LIST_HEAD(came);
	int ret;

	ret = ftrace_waiting_resolve(waiting, module, &sites, &came);
	if (!ret && !list_empty(&came))
		ret = add_to_half(ops, sites, enable);
	if (ret)
		list_splice_init(&came, waiting);
	ftrace_waiting_free(&came);
	ftrace_hash_free(sites);
	return ret;
}

/* For a trace array and for those of its tracers that have a filter of their own. */
static void resolve(const char *module, struct trace_array *tr, bool enable)
{
	struct ftrace_tracer *t = NULL;
	int err;

	err = resolve_half(tr->ops, module, ftrace_waiting(tr, enable), enable);
	while ((t = ftrace_tracer_next_any(tr, t))) {
		err = resolve_half(t->ops, module,
				   ftrace_tracer_waiting(t, enable), enable) ?: err;
	}
	if (err)
		pr_warn("a filter for module %s cannot take effect: %d\n",
			module, err);
}

/**
 * ftrace_waiting_module - a module has come: see who waited for it
 * @module: its name; its text is known, nothing of it has run yet
 *
 * Context: process, trace_types_lock held.
 */
void ftrace_waiting_module(const char *module)
{
	struct trace_array *tr;

	lockdep_assert_held(&trace_types_lock);
	guard(mutex)(&ftrace_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!tr->ops || !(tr->ops->flags & FTRACE_OPS_FL_INITIALIZED))
			continue;
		resolve(module, tr, true);
		resolve(module, tr, false);
	}
}
