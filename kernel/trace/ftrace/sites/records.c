// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of text and the records of the call sites in them.
 *
 * The kernel's text is one region, its init text another, and a module brings
 * one or two. A region comes before anything in it runs and goes before its
 * memory is freed; both happen under ftrace_lock. So if one holds that lock and
 * finds an address in a region, the text is there and stays there.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "sites.h"

LIST_HEAD(ftrace_regions);

/* Changes whenever one comes or goes; ftrace_lock. */
u64 ftrace_regions_gen;

/* ---- regions by address --------------------------------------------------- */

static struct ftrace_region *region_of(struct latch_tree_node *node)
{
	return container_of(node, struct ftrace_region, node);
}

static __always_inline bool region_less(struct latch_tree_node *a,
					struct latch_tree_node *b)
{
	return region_of(a)->start < region_of(b)->start;
}

static __always_inline int region_cmp(void *key, struct latch_tree_node *node)
{
	unsigned long ip = (unsigned long)key;

	if (ip < region_of(node)->start)
		return -1;
	return ip >= region_of(node)->end;
}

static const struct latch_tree_ops region_tree_ops = {
	.less	= region_less,
	.comp	= region_cmp,
};

/* The same regions. Written under ftrace_lock; may be searched in an NMI, too. */
static struct latch_tree_root region_tree;

/* ---- regions --------------------------------------------------------------- */

/* Figures for the file dyn_ftrace_total_info; written under ftrace_lock. */
unsigned long ftrace_update_tot_cnt;
unsigned long ftrace_number_of_pages;
unsigned long ftrace_number_of_groups;

static size_t recs_size(unsigned int nr)
{
	return struct_size_t(struct ftrace_recs, rec, nr);
}

static void account(struct ftrace_recs *recs, int sign)
{
	if (!recs)
		return;
	ftrace_update_tot_cnt += sign * (long)recs->nr;
	ftrace_number_of_pages += sign * (long)PFN_UP(recs_size(recs->nr));
	ftrace_number_of_groups += sign;
}

/**
 * ftrace_region_add - make a stretch of text known
 * @start: first address
 * @end: first address after it
 * @mod: the module it belongs to, or NULL for the kernel
 *
 * Nothing in it may have run yet. If something has, its call sites may have
 * been noted and dropped, for want of a region; they are noted anew at their
 * next call.
 *
 * Context: ftrace_lock held.
 * Return: the region, or NULL if there is no memory for it.
 */
struct ftrace_region *ftrace_region_add(unsigned long start, unsigned long end,
					struct module *mod)
{
	struct ftrace_region *r, *next;

	lockdep_assert_held(&ftrace_lock);
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return NULL;
	r->start = start;
	r->end = end;
	r->mod = mod;
	r->gen = ++ftrace_regions_gen;

	list_for_each_entry(next, &ftrace_regions, list) {
		if (next->start > start)
			break;
	}
	list_add_tail_rcu(&r->list, &next->list);
	latch_tree_insert(&r->node, &region_tree, &region_tree_ops);
	return r;
}

static void region_free(struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);

	account(recs, -1);
	ftrace_regions_gen++;
	latch_tree_erase(&r->node, &region_tree, &region_tree_ops);
	list_del_rcu(&r->list);
	if (recs)
		ftrace_kvfree_rcu(&recs->rcu);
	ftrace_kvfree_rcu(&r->rcu);
}

/**
 * ftrace_region_remove - forget the regions within a stretch of text
 * @start: first address
 * @end: first address after it
 *
 * Called before the memory is freed, and after ftrace_update_release(). A note for
 * it that is still in the table finds no region and is dropped.
 *
 * Context: ftrace_lock held.
 */
void ftrace_region_remove(unsigned long start, unsigned long end)
{
	struct ftrace_region *r, *next;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry_safe(r, next, &ftrace_regions, list) {
		if (r->start >= start && r->end <= end)
			region_free(r);
	}
}

static struct ftrace_region *region_at(unsigned long ip)
{
	struct latch_tree_node *node;

	node = latch_tree_find((void *)ip, &region_tree, &region_tree_ops);
	return node ? region_of(node) : NULL;
}

/**
 * ftrace_region_find - the region an address lies in
 * @ip: the address
 *
 * Context: ftrace_lock held, or RCU read side.
 * Return: the region or NULL.
 */
struct ftrace_region *ftrace_region_find(unsigned long ip)
{
	RCU_LOCKDEP_WARN(!lockdep_is_held(&ftrace_lock) &&
			 !rcu_read_lock_any_held(), "no lock for a region");
	return region_at(ip);
}

/**
 * ftrace_rec_in - the first record in a range of addresses
 * @recs: where to look; may be NULL
 * @start: first address
 * @end: last address, included
 *
 * Context: ftrace_lock held, or RCU read side.
 * Return: the record or NULL.
 */
struct dyn_ftrace *ftrace_rec_in(struct ftrace_recs *recs, unsigned long start,
				 unsigned long end)
{
	unsigned int low = 0, high = recs ? recs->nr : 0;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ftrace_rec_ip(&recs->rec[mid]) < start)
			low = mid + 1;
		else
			high = mid;
	}
	if (!recs || low == recs->nr || ftrace_rec_ip(&recs->rec[low]) > end)
		return NULL;
	return &recs->rec[low];
}

/**
 * ftrace_rec_find - the record of a call site
 * @ip: address of the call site
 *
 * Context: ftrace_lock held, or RCU read side.
 * Return: the record or NULL.
 */
struct dyn_ftrace *ftrace_rec_find(unsigned long ip)
{
	struct ftrace_region *r = ftrace_region_find(ip);

	if (!r)
		return NULL;
	return ftrace_rec_in(rcu_dereference_check(r->recs,
						   lockdep_is_held(&ftrace_lock) ||
						   rcu_read_lock_any_held()),
			     ip, ip);
}

/**
 * ftrace_site_is_bad - has a call site been set aside, so that it calls nothing?
 * @ip: the call site
 *
 * Every direct call without a trampoline asks, at any depth. So nothing is called here
 * that can be called directly itself, as what lockdep asks of RCU can.
 *
 * Context: ftrace_lock held, or preemption off.
 */
bool ftrace_site_is_bad(unsigned long ip)
{
	struct ftrace_region *r = region_at(ip);
	struct dyn_ftrace *rec;

	rec = r ? ftrace_rec_in(rcu_dereference_raw(r->recs), ip, ip) : NULL;
	return rec && rec->state & FTRACE_REC_BAD;
}

/**
 * ftrace_recs_missing - which sites of a list have no record yet
 * @r: the region in which they count
 * @sites: the sites, as ftrace_text_key(), ascending; moved on to the first that lies
 *	   after @r, past those that lie before it
 * @end: where they end
 * @missing: gets them, each once; has room for all
 *
 * Context: ftrace_lock held.
 * Return: how many of those in @r have none.
 */
unsigned int ftrace_recs_missing(struct ftrace_region *r, const u32 **sites,
				 const u32 *end, u32 *missing)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	unsigned int nr = 0;

	for (; *sites < end && ftrace_text_addr(**sites) < r->end; ++*sites) {
		unsigned long ip = ftrace_text_addr(**sites);

		if (ip < r->start || ftrace_rec_in(recs, ip, ip))
			continue;
		if (!nr || missing[nr - 1] != **sites)
			missing[nr++] = **sites;
	}
	return nr;
}

static int add_recs(struct ftrace_region *r, const u32 *sites, unsigned int nr,
		    u32 state)
{
	struct ftrace_recs *old = ftrace_region_recs(r), *recs;
	unsigned int nr_old = old ? old->nr : 0, i = 0, j = 0, k;

	lockdep_assert_held(&ftrace_lock);
	if (!nr)
		return 0;

	recs = vmalloc(recs_size(nr_old + nr));
	if (!recs)
		return -ENOMEM;
	recs->nr = nr_old + nr;
	for (k = 0; k < recs->nr; k++) {
		if (i < nr_old && (j == nr || old->rec[i].key < sites[j]))
			recs->rec[k] = old->rec[i++];
		else
			recs->rec[k] = (struct dyn_ftrace) {
				.key	= sites[j++],
				.state	= state,
			};
	}

	account(old, -1);
	account(recs, 1);
	if (state & FTRACE_REC_NEW)
		r->nr_new += nr;
	rcu_assign_pointer(r->recs, recs);
	if (old)
		ftrace_kvfree_rcu(&old->rcu);
	return 0;
}

/**
 * ftrace_recs_add - add records of call sites that are not known yet
 * @r: the region they lie in
 * @sites: the sites, as ftrace_text_key(), ascending, no two alike, none that
 *	   has a record
 * @nr: how many
 *
 * The new records are FTRACE_REC_NEW: the caller has seen that their sites call
 * __fentry__.
 *
 * Context: process, ftrace_lock held. Makes invalid all pointers to records of
 * @r that were taken before.
 * Return: 0, or -ENOMEM and nothing is changed.
 */
int ftrace_recs_add(struct ftrace_region *r, const u32 *sites, unsigned int nr)
{
	return add_recs(r, sites, nr, FTRACE_REC_NEW);
}

/**
 * ftrace_recs_add_nops - the same for sites that are nops already
 * @r: see ftrace_recs_add(); so are the next two
 * @sites: the sites
 * @nr: how many
 * @settled: no ops asks for any of them; otherwise the records are FTRACE_REC_NEW
 *
 * Context: as ftrace_recs_add().
 * Return: as ftrace_recs_add().
 */
int ftrace_recs_add_nops(struct ftrace_region *r, const u32 *sites,
			 unsigned int nr, bool settled)
{
	return add_recs(r, sites, nr,
			settled ? 0 : FTRACE_REC_NEW | FTRACE_REC_NOP);
}
