// SPDX-License-Identifier: GPL-2.0
/*
 * Filters by module: "function:mod:module".
 *
 * If there is no such module yet, the pattern waits in the filter that it was
 * written to, until a module comes that has such functions; then they take its
 * place.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "names.h"
#include "set.h"

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

/* For the parser what begins with a digit is a number. Of modules that is a name. */
static void parse_module(struct ftrace_glob *g, char *str)
{
	parse_half(g, str);
	if (g->type == MATCH_INDEX)
		g->type = strpbrk(g->search, "*?[\\") ? MATCH_GLOB : MATCH_FULL;
}

/* Parsing cuts the text into pieces, so it is done to a copy. */
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
	parse_module(&p->mod, p->text + func_size);
	return 0;
}

static void mod_pattern_free(struct mod_pattern *p)
{
	kfree(p->text);
}

/* Is a module that the pattern names there already? */
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

/* Of the name of a module, never 0. */
static u32 hash_of(const char *module)
{
	return full_name_hash(NULL, module, strlen(module)) | 1;
}

/* Of a whole word: each new one is compared with all that wait, which may be thousands. */
static u32 hash_of_word(const char *func, const char *module)
{
	unsigned long salt = full_name_hash(NULL, func, strlen(func));

	return full_name_hash((void *)salt, module, strlen(module));
}

static struct ftrace_waiter *waiter_alloc(const char *func, const char *module,
					  u32 hash, u64 gen)
{
	size_t func_size = strlen(func) + 1, mod_size = strlen(module) + 1;
	struct ftrace_waiter *w;

	w = kzalloc(sizeof(*w) + func_size + mod_size, GFP_KERNEL);
	if (!w)
		return NULL;
	w->func = memcpy(w + 1, func, func_size);
	w->module = memcpy(w->func + func_size, module, mod_size);
	w->hash = hash;
	w->word_hash = hash_of_word(func, module);
	w->gen = gen;
	return w;
}

static int wait_for(struct hlist_head *waiting, const struct mod_pattern *p,
		    const char *func, const char *module)
{
	bool is_name = p->mod.type == MATCH_FULL && !p->mod.not;
	u32 hash = hash_of_word(func, module);
	struct ftrace_waiter *w;

	hlist_for_each_entry(w, waiting, node) {
		if (w->word_hash == hash && !strcmp(w->func, func) &&
		    !strcmp(w->module, module))
			return 0;
	}
	w = waiter_alloc(func, module, is_name ? hash_of(module) : 0, ftrace_regions_gen);
	if (!w)
		return -ENOMEM;
	hlist_add_head(&w->node, waiting);
	return 0;
}

static void waiter_free(struct ftrace_waiter *w)
{
	hlist_del(&w->node);
	kfree(w);
}

/* Those that "!func:mod:module" takes away: the same words, or all of a module. */
static bool is_meant(const struct ftrace_waiter *w, const char *func,
		     const char *module)
{
	if (strcmp(w->module, module))
		return false;
	return !*func || !strcmp(func, "*") || !strcmp(w->func, func);
}

static int take_away(struct ftrace_hash **hash, struct hlist_head *waiting,
		     const char *func, const char *module)
{
	struct ftrace_waiter *w;
	struct hlist_node *next;
	int ret = -EINVAL;

	hlist_for_each_entry_safe(w, next, waiting, node) {
		if (!is_meant(w, func, module))
			continue;
		waiter_free(w);
		ret = 0;
	}
	/* If that pattern was the only reason why the filter meant nothing. */
	if (!ret && hlist_empty(waiting) && *hash &&
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
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL if there is no such function, and nothing that waits to
 * take away; -ENOMEM; then @hash and @waiting are as they were.
 */
int ftrace_apply_mod_pattern(struct ftrace_hash **hash,
			     struct hlist_head *waiting, const char *func,
			     const char *module)
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
	else if (p.mod.not || module_is_there(&p.mod))
		sites = ftrace_match_sites(&p.func, &p.mod);
	else
		/* A search for nothing asks every module for the name. */
		sites = NULL;
	if (IS_ERR(sites))
		ret = PTR_ERR(sites);
	else if (sites)
		ret = ftrace_hash_change(hash, sites, p.func.not);
	else if (!waiting)
		ret = -EINVAL;
	else if (p.func.not)
		ret = take_away(hash, waiting, func + 1, module);
	else if (p.mod.not || module_is_there(&p.mod))
		ret = -EINVAL;
	else
		ret = wait_for(waiting, &p, func, module);
	/* Take away both: functions that are there, and patterns that wait. */
	if (!ret && sites && p.func.not && waiting)
		take_away(hash, waiting, func + 1, module);
	mod_pattern_free(&p);
	return ret;
}

/**
 * ftrace_waiting_free - empty a list of what waits
 * @waiting: the list
 *
 * Context: process.
 */
void ftrace_waiting_free(struct hlist_head *waiting)
{
	struct ftrace_waiter *w;
	struct hlist_node *next;

	hlist_for_each_entry_safe(w, next, waiting, node)
		waiter_free(w);
}

/**
 * ftrace_waiting_replace - replace one list of what waits by another
 * @to: a list of what waits; it is freed
 * @from: the list that takes its place; it is empty afterwards
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_waiting_replace(struct hlist_head *to, struct hlist_head *from)
{
	lockdep_assert_held(&ftrace_lock);
	ftrace_waiting_free(to);
	hlist_move_list(from, to);
}

/**
 * ftrace_waiting_copy - copy a list of what waits
 * @to: an empty list
 * @from: the list to copy
 *
 * Context: process, ftrace_lock held.
 * Return: 0, or -ENOMEM and @to is still empty.
 */
int ftrace_waiting_copy(struct hlist_head *to, const struct hlist_head *from)
{
	struct ftrace_waiter *w, *copy, *last = NULL;

	hlist_for_each_entry(w, from, node) {
		copy = waiter_alloc(w->func, w->module, w->hash, w->gen);
		if (!copy) {
			ftrace_waiting_free(to);
			return -ENOMEM;
		}
		if (last)
			hlist_add_behind(&copy->node, &last->node);
		else
			hlist_add_head(&copy->node, to);
		last = copy;
	}
	return 0;
}

/**
 * ftrace_waiting_trace_nothing - have an empty filter mean nothing while patterns wait
 * @waiting: what waits in the filter
 * @hash: what it is to trace; if that is the empty set, it gets one that means nothing
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
int ftrace_waiting_trace_nothing(const struct hlist_head *waiting,
				 struct ftrace_hash **hash)
{
	struct ftrace_hash *nothing;

	lockdep_assert_held(&ftrace_lock);
	if (!ftrace_hash_empty(*hash) || hlist_empty(waiting))
		return 0;
	nothing = ftrace_hash_nothing();
	if (IS_ERR(nothing))
		return PTR_ERR(nothing);
	nothing->flags |= FTRACE_HASH_FL_WAITS;
	*hash = nothing;
	return 0;
}

/**
 * ftrace_waiting_nth - find one of those that wait
 * @waiting: the list
 * @n: which one, from 0
 *
 * Return: it, or NULL if there are not that many.
 */
struct ftrace_waiter *ftrace_waiting_nth(const struct hlist_head *waiting,
					 loff_t n)
{
	struct ftrace_waiter *w;

	hlist_for_each_entry(w, waiting, node) {
		if (!n--)
			return w;
	}
	return NULL;
}

/* Is this the module that a pattern waits for? Many may wait for others. */
static bool waits_for(const struct ftrace_waiter *w, const char *module,
		      u32 hash)
{
	struct ftrace_glob g;
	char *text;
	bool waits;

	if (w->hash && w->hash != hash)
		return false;
	text = kstrdup(w->module, GFP_KERNEL);
	/* Without memory for the copy it cannot be told, so look. */
	if (!text)
		return true;
	parse_module(&g, text);
	waits = ftrace_glob_match(&g, module, strlen(module)) != g.not;
	kfree(text);
	return waits;
}

static int resolve_each(struct hlist_head *waiting, const char *module,
			struct ftrace_hash **hash)
{
	u32 name_hash = module ? hash_of(module) : 0;
	struct ftrace_waiter *w;
	int nr = 0, ret;

	hlist_for_each_entry(w, waiting, node) {
		cond_resched();
		w->came = false;
		/* If any module may have come: none has since this was last looked for. */
		if (module ? !waits_for(w, module, name_hash) :
			     w->gen == ftrace_regions_gen)
			continue;
		/* Stays 0 if this fails, so that it is tried again. */
		w->gen = 0;
		ret = ftrace_apply_mod_pattern(hash, NULL, w->func, w->module);
		if (ret == -EINVAL) {
			w->gen = ftrace_regions_gen;
			continue;
		}
		if (ret)
			return ret;
		w->came = true;
		nr++;
	}
	return nr;
}

/**
 * ftrace_waiting_resolve - look for functions that have come
 * @waiting: those that wait for them
 * @module: the module that has come: patterns that wait for others are passed
 *	    over; NULL: any module may have come
 * @hash: gets the functions; replaced, and the old one freed, if there are some
 *
 * To be followed by ftrace_waiting_done() once @hash is in force.
 *
 * Context: process, ftrace_lock held.
 * Return: for how many of @waiting there are functions, or -ENOMEM.
 */
int ftrace_waiting_resolve(struct hlist_head *waiting, const char *module,
			   struct ftrace_hash **hash)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (hlist_empty(waiting))
		return 0;
	/* Thousands may wait for one module. */
	ftrace_modnames_begin();
	ret = resolve_each(waiting, module, hash);
	ftrace_modnames_end();
	return ret;
}

/**
 * ftrace_waiting_done - drop the patterns whose functions have come
 * @waiting: the list, after ftrace_waiting_resolve()
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_waiting_done(struct hlist_head *waiting)
{
	struct ftrace_waiter *w;
	struct hlist_node *next;

	lockdep_assert_held(&ftrace_lock);
	hlist_for_each_entry_safe(w, next, waiting, node) {
		if (w->came)
			waiter_free(w);
	}
}
