/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call sites: the stretches of text they lie in, their records, and how they are
 * found.
 */
#ifndef _KERNEL_TRACE_FTRACE_SITES_H
#define _KERNEL_TRACE_FTRACE_SITES_H

#include <linux/ftrace_text.h>
#include <linux/kallsyms.h>
#include <linux/rbtree_latch.h>
#include <linux/rcupdate.h>
#include <asm/sections.h>

#include "../core.h"

/*
 * The low bits of dyn_ftrace.state hold the id of an interned set of ops: who
 * traces this site, and so what its text calls. The others:
 * NEW: the text still calls __fentry__; the set is empty, and not yet what the ops
 *	ask for
 * BAD: the text was not what it should be; the record is left alone for good
 * TOUCHED: at some time the text called somebody other than __fentry__
 * MODIFIED: and that could change where the function continues
 * NOP: with NEW, the site is already a nop, made so because of a table
 */
#define FTRACE_REC_SET_MASK	GENMASK(23, 0)
#define FTRACE_REC_NEW		BIT(24)
#define FTRACE_REC_BAD		BIT(25)
#define FTRACE_REC_TOUCHED	BIT(26)
#define FTRACE_REC_MODIFIED	BIT(27)
#define FTRACE_REC_NOP		BIT(28)

/* What a record keeps, whatever set it gets. */
#define FTRACE_REC_KEPT		(FTRACE_REC_TOUCHED | FTRACE_REC_MODIFIED)

/**
 * struct ftrace_recs - the records of one region, ascending by address
 * @rcu: to free it once lock-free readers are done, see ftrace_kvfree_rcu()
 * @nr: how many there are
 * @rec: the records
 *
 * Page-allocated. What is in it changes under ftrace_lock; a batch is added by
 * replacing the whole, so a reader under RCU always finds it sorted.
 */
struct ftrace_recs {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct dyn_ftrace	rec[];
};

/**
 * struct ftrace_region - a stretch of text that comes and goes as one
 * @rcu: to free it, see ftrace_kvfree_rcu()
 * @list: in ftrace_regions, ascending by address
 * @node: the same for those who look for an address
 * @start: first address
 * @end: first address after it
 * @mod: the module it belongs to; NULL: the kernel
 * @recs: its records; NULL: none yet
 * @nr_new: how many of them are FTRACE_REC_NEW
 * @nr_copies: how often they were copied since @copies_since to add sites that
 *	somebody asked for
 * @copies_since: when the count began, in jiffies
 * @complete: each of its symbols has been looked at, so no site is unknown
 * @tabled: the table of its module has been taken
 * @gen: differs between any two regions ever made
 *
 * All of it: written under ftrace_lock, read under it or under RCU-sched.
 */
struct ftrace_region {
	struct rcu_head			rcu;
	struct list_head		list;
	struct latch_tree_node		node;
	unsigned long			start;
	unsigned long			end;
	struct module			*mod;
	struct ftrace_recs __rcu	*recs;
	unsigned int			nr_new;
	unsigned int			nr_copies;
	unsigned long			copies_since;
	bool				complete;
	bool				tabled;
	u64				gen;
};

static_assert(!offsetof(struct ftrace_recs, rcu));
static_assert(!offsetof(struct ftrace_region, rcu));

extern struct list_head ftrace_regions;
extern u64 ftrace_regions_gen;

/*
 * The name of a region's module; it must have one. Without CONFIG_MODULES a
 * struct module has no fields to look at.
 */
#ifdef CONFIG_MODULES
static inline const char *ftrace_region_mod_name(const struct ftrace_region *r)
{
	return r->mod->name;
}
#else
static inline const char *ftrace_region_mod_name(const struct ftrace_region *r)
{
	return "";
}
#endif

static inline unsigned long ftrace_rec_ip(const struct dyn_ftrace *rec)
{
	return ftrace_text_addr(rec->key);
}

static inline u32 ftrace_rec_set(const struct dyn_ftrace *rec)
{
	return READ_ONCE(rec->state) & FTRACE_REC_SET_MASK;
}

/* Has its site ever called somebody? */
static inline bool ftrace_rec_was_traced(const struct dyn_ftrace *rec)
{
	return READ_ONCE(rec->state) & FTRACE_REC_TOUCHED;
}

/* The records of a region, for those who hold ftrace_lock. */
static inline struct ftrace_recs *ftrace_region_recs(struct ftrace_region *r)
{
	return rcu_dereference_protected(r->recs,
					 lockdep_is_held(&ftrace_lock));
}

static inline unsigned int ftrace_region_nr(struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);

	return recs ? recs->nr : 0;
}

/* records.c */
struct ftrace_region *ftrace_region_add(unsigned long start, unsigned long end,
					struct module *mod);
void ftrace_region_remove(unsigned long start, unsigned long end);
struct ftrace_region *ftrace_region_find(unsigned long ip);
struct dyn_ftrace *ftrace_rec_find(unsigned long ip);
bool ftrace_site_is_bad(unsigned long ip);
struct dyn_ftrace *ftrace_rec_in(struct ftrace_recs *recs, unsigned long start,
				 unsigned long end);
unsigned int ftrace_recs_missing(struct ftrace_region *r, const u32 **sites,
				 const u32 *end, u32 *missing);
int ftrace_recs_add(struct ftrace_region *r, const u32 *sites, unsigned int nr);
int ftrace_recs_add_nops(struct ftrace_region *r, const u32 *sites,
			 unsigned int nr, bool settled);

/*
 * The record of a call site, for those who hold ftrace_lock and ask for one after the
 * other: @near is the region of the last, or NULL.
 */
static inline struct dyn_ftrace *ftrace_rec_near(struct ftrace_region **near,
						 unsigned long ip)
{
	if (!*near || ip < (*near)->start || ip >= (*near)->end)
		*near = ftrace_region_find(ip);
	return *near ? ftrace_rec_in(ftrace_region_recs(*near), ip, ip) : NULL;
}

/* location.c */
unsigned long ftrace_location_good(unsigned long ip);

/* discover.c */
int ftrace_discover_all(void);
int ftrace_discover_region(struct ftrace_region *r);
int ftrace_discover_sites(const u32 *sites, unsigned int nr);
int ftrace_discover_proved(const u32 *sites, unsigned int nr);

/* Sites that became records because somebody asked; ftrace_lock. */
extern unsigned long ftrace_nr_discovered;

#endif /* _KERNEL_TRACE_FTRACE_SITES_H */
