// SPDX-License-Identifier: GPL-2.0
/*
 * Names of functions whose text has been freed.
 *
 * Init text of a module is freed while a trace may still show calls of it, and
 * with it go its symbols. So the names of those functions in it that were
 * traced at some time are kept as long as the module stays.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "names.h"

/**
 * struct gone_func - one function
 * @start: its first byte, as ftrace_text_key()
 * @size: its length in bytes
 * @name: where in gone_text.pool its name begins
 */
struct gone_func {
	u32	start;
	u32	size;
	u32	name;
};

/**
 * struct gone_text - the functions of one stretch of text
 * @rcu: to free it, see ftrace_kvfree_rcu()
 * @list: in gone_texts
 * @mod: the module it belonged to, which is there still
 * @module_name: its name
 * @nr: how many functions
 * @pool: the names, zero-terminated
 * @func: the functions, ascending by address
 *
 * Immutable once it is in the list.
 */
struct gone_text {
	struct rcu_head		rcu;
	struct list_head	list;
	const struct module	*mod;
	char			module_name[MODULE_NAME_LEN];
	unsigned int		nr;
	const char		*pool;
	struct gone_func	func[] __counted_by(nr);
};

static_assert(!offsetof(struct gone_text, rcu));

/* Changed under ftrace_lock, read under RCU. */
static LIST_HEAD(gone_texts);

/* How many functions of a region to keep, and how long their names are. */
static unsigned int measure(struct ftrace_names *n,
			    const struct ftrace_recs *recs, size_t *pool)
{
	unsigned int i, nr = 0;

	*pool = 0;
	for (i = 0; i < recs->nr; i++) {
		if (!ftrace_rec_was_traced(&recs->rec[i]) ||
		    !ftrace_names_next_alias(n, ftrace_rec_ip(&recs->rec[i])))
			continue;
		*pool += n->len + 1;
		nr++;
	}
	return nr;
}

static void fill(struct gone_text *t, struct ftrace_names *n, char *pool,
		 const struct ftrace_recs *recs)
{
	struct gone_func *f = t->func;
	unsigned int i, used = 0;

	for (i = 0; i < recs->nr; i++) {
		unsigned long ip = ftrace_rec_ip(&recs->rec[i]);
		unsigned long size, offset = 0;
		const char *name;

		if (!ftrace_rec_was_traced(&recs->rec[i]))
			continue;
		name = ftrace_names_next_alias(n, ip);
		if (!name)
			continue;
		/* If its length is unknown, that of its call is taken. */
		if (!kallsyms_lookup_size_offset(ip, &size, &offset))
			size = MCOUNT_INSN_SIZE;
		f->start = ftrace_text_key(ip - offset);
		f->size = size;
		f->name = used;
		memcpy(pool + used, name, n->len + 1);
		used += n->len + 1;
		f++;
	}
}

static struct gone_text *gone_text_alloc(const struct ftrace_region *r,
					 unsigned int nr, size_t pool)
{
	struct gone_text *t;

	t = kzalloc(struct_size(t, func, nr) + pool, GFP_KERNEL);
	if (!t)
		return NULL;
	t->nr = nr;
	t->pool = (const char *)&t->func[nr];
	t->mod = r->mod;
	strscpy(t->module_name, ftrace_region_mod_name(r));
	return t;
}

/**
 * ftrace_gone_keep - keep the names of what was traced in a region
 * @r: the region, of a module, about to be removed; its symbols are still there
 *
 * Without memory for it an old trace shows addresses instead.
 *
 * Context: process, ftrace_lock held. Takes module_mutex.
 */
void ftrace_gone_keep(struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	struct gone_text *t = NULL;
	struct ftrace_names n;
	unsigned int nr;
	size_t pool;

	lockdep_assert_held(&ftrace_lock);
	if (!recs || ftrace_names_start(&n, r, r->start))
		return;
	nr = measure(&n, recs, &pool);
	ftrace_names_stop(&n);
	if (nr)
		t = gone_text_alloc(r, nr, pool);
	if (!t)
		return;
	if (ftrace_names_start(&n, r, r->start)) {
		kfree(t);
		return;
	}
	fill(t, &n, (char *)t->pool, recs);
	ftrace_names_stop(&n);
	list_add_tail_rcu(&t->list, &gone_texts);
}

/**
 * ftrace_gone_drop - free the names that were kept for a module
 * @mod: the module, which is going away
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_gone_drop(const struct module *mod)
{
	struct gone_text *t, *next;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry_safe(t, next, &gone_texts, list) {
		if (t->mod != mod)
			continue;
		list_del_rcu(&t->list);
		ftrace_kvfree_rcu(&t->rcu);
	}
}

static const struct gone_func *find_func(const struct gone_text *t, u32 key)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		if (key - t->func[i].start < t->func[i].size)
			return &t->func[i];
	}
	return NULL;
}

/**
 * ftrace_gone_lookup - name an address in text that has been freed
 * @addr: the address
 * @size: gets the length of the function; this and the next two may be NULL
 * @off: gets the offset of @addr in it
 * @modname: gets the name of its module; good until the caller lets go of RCU
 * @sym: gets the name, KSYM_NAME_LEN at most
 *
 * Context: any.
 * Return: the length of the name, 0 if the address is not known here.
 */
int ftrace_gone_lookup(unsigned long addr, unsigned long *size,
		       unsigned long *off, char **modname, char *sym)
{
	u32 key = ftrace_text_key(addr);
	const struct gone_func *f;
	struct gone_text *t;

	if (ftrace_text_addr(key) != addr)
		return 0;
	guard(preempt_notrace)();
	list_for_each_entry_rcu(t, &gone_texts, list, rcu_read_lock_sched_held()) {
		f = find_func(t, key);
		if (!f)
			continue;
		if (size)
			*size = f->size;
		if (off)
			*off = addr - ftrace_text_addr(f->start);
		if (modname)
			*modname = t->module_name;
		return max(strscpy(sym, t->pool + f->name, KSYM_NAME_LEN), 0);
	}
	return 0;
}

/**
 * ftrace_gone_nth - the n-th function whose text has been freed
 * @n: which one, from 0; if there is none, reduced by how many there are
 * @value: gets its address
 * @name: gets its name, KSYM_NAME_LEN at most
 * @module_name: gets the name of its module, MODULE_NAME_LEN at most
 *
 * Context: process.
 * Return: is there one?
 */
bool ftrace_gone_nth(unsigned int *n, unsigned long *value, char *name,
		     char *module_name)
{
	struct gone_text *t;

	guard(preempt)();
	list_for_each_entry_rcu(t, &gone_texts, list, rcu_read_lock_sched_held()) {
		if (*n >= t->nr) {
			*n -= t->nr;
			continue;
		}
		*value = ftrace_text_addr(t->func[*n].start);
		strscpy(name, t->pool + t->func[*n].name, KSYM_NAME_LEN);
		strscpy(module_name, t->module_name, MODULE_NAME_LEN);
		return true;
	}
	return false;
}
