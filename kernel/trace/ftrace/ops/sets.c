// SPDX-License-Identifier: GPL-2.0
/*
 * Interned sets of ops.
 *
 * A record carries the number of the set of ops that trace its call site. Two
 * sites with the same ops carry the same number, whatever the order in which
 * they got them, so what a site has to call is decided once per set.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "ops.h"

#define OPSET_BITS	10

/* The sets by content; ftrace_lock. */
static DEFINE_HASHTABLE(opset_table, OPSET_BITS);

/* Those that no record has, to be freed by ftrace_opset_gc(); ftrace_lock. */
static LIST_HEAD(empty_sets);

/* How often ftrace_opset_gc() has run; ftrace_lock. */
static unsigned long gc_round;

/*
 * The sets by number. A plain array, not an xarray: a tracer on the command line is
 * registered before those work.
 */
struct ftrace_opset **ftrace_opset_ids;
u32 ftrace_opset_nr_ids;

/* No number below this is free; ftrace_lock. */
static u32 lowest_free = 1;

static u32 opset_key(struct ftrace_ops *const *ops, unsigned int nr)
{
	return jhash(ops, nr * sizeof(*ops), 0);
}

static struct ftrace_opset *opset_lookup(struct ftrace_ops *const *ops,
					 unsigned int nr, u32 key)
{
	struct ftrace_opset *set;

	hash_for_each_possible(opset_table, set, node, key) {
		if (set->nr == nr && !memcmp(set->ops, ops, nr * sizeof(*ops)))
			return set;
	}
	return NULL;
}

static int opset_index(const struct ftrace_opset *set,
		       const struct ftrace_ops *ops)
{
	unsigned int i;

	for (i = 0; set && i < set->nr; i++) {
		if (set->ops[i] == ops)
			return i;
	}
	return -1;
}

static int grow_ids(gfp_t gfp)
{
	u32 nr = min(max(64U, 2 * ftrace_opset_nr_ids), FTRACE_REC_SET_MASK + 1);
	struct ftrace_opset **ids;

	/* A record has no room for a larger number. */
	if (nr == ftrace_opset_nr_ids)
		return -ENOSPC;
	ids = kvrealloc(ftrace_opset_ids, array_size(nr, sizeof(*ids)), gfp | __GFP_ZERO);
	if (!ids)
		return -ENOMEM;
	ftrace_opset_ids = ids;
	ftrace_opset_nr_ids = nr;
	return 0;
}

static int assign_id(struct ftrace_opset *set, gfp_t gfp)
{
	u32 id = lowest_free;
	int ret;

	while (id < ftrace_opset_nr_ids && ftrace_opset_ids[id])
		id++;
	if (id >= ftrace_opset_nr_ids) {
		ret = grow_ids(gfp);
		if (ret)
			return ret;
	}
	set->id = id;
	ftrace_opset_ids[id] = set;
	lowest_free = id + 1;
	return 0;
}

static void opset_free(struct ftrace_opset *set)
{
	ftrace_tramp_free(set->tramp);
	kvfree(set);
}

/* Takes @set over. */
static int opset_intern(struct ftrace_opset *set, gfp_t gfp)
{
	u32 key = opset_key(set->ops, set->nr);
	struct ftrace_opset *known = opset_lookup(set->ops, set->nr, key);
	int ret;

	if (known) {
		kvfree(set);
		return known->id;
	}
	ret = assign_id(set, gfp);
	if (ret) {
		kvfree(set);
		return ret;
	}
	ftrace_serve_set(set);
	hash_add(opset_table, &set->node, key);
	list_add(&set->empty, &empty_sets);
	return set->id;
}

static struct ftrace_opset *opset_alloc(unsigned int nr, gfp_t gfp)
{
	struct ftrace_opset *set;

	set = kvzalloc(struct_size(set, ops, nr), gfp);
	if (set)
		set->nr = nr;
	return set;
}

static void opset_fill(struct ftrace_opset *set, unsigned int i,
		       struct ftrace_ops *ops)
{
	set->ops[i] = ops;
	set->flags |= ops->flags;
}

static bool has_shared(const struct ftrace_opset *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i]->flags & FTRACE_OPS_FL_SHARES_IPMODIFY)
			return true;
	}
	return false;
}

/*
 * One ops may say where the function continues, and one what is called directly.
 * The two go together if the one with the direct call has been told of the
 * other. Who does neither may join whoever is there.
 */
static bool conflict(const struct ftrace_opset *set,
		     const struct ftrace_ops *ops)
{
	unsigned long both = set->flags & ops->flags;
	unsigned long any = set->flags | ops->flags;

	if (both & FTRACE_OPS_DIVERTS)
		return true;
	if (!(ops->flags & FTRACE_OPS_DIVERTS))
		return false;
	return any & FTRACE_OPS_FL_IPMODIFY && any & FTRACE_OPS_FL_DIRECT &&
	       !(ops->flags & FTRACE_OPS_FL_SHARES_IPMODIFY) && !has_shared(set);
}

/*
 * Where a set leads when one ops is added or taken away. The answer for the
 * last ops is kept: many records with that set in a row ask for the same.
 */
static struct ftrace_opset_neighbours *neighbours_of(struct ftrace_opset *set,
						     const struct ftrace_ops *ops)
{
	static struct ftrace_opset_neighbours from_empty;
	struct ftrace_opset_neighbours *near = set ? &set->neighbours : &from_empty;

	if (near->round != gc_round || near->ops != ops)
		*near = (struct ftrace_opset_neighbours) {
			.round	 = gc_round,
			.ops	 = ops,
			.with	 = -1,
			.without = -1,
		};
	return near;
}

/*
 * The newest is called first, as from the list of ops. A command that stops the trace
 * then lets a tracer that came later record the call. Ops that were never registered,
 * as in tests, go by address.
 */
static bool is_newer(const struct ftrace_ops *a, const struct ftrace_ops *b)
{
	return a->arrival == b->arrival ? a < b : a->arrival > b->arrival;
}

/**
 * ftrace_opset_with - the set that has one ops more
 * @id: the set to start from
 * @ops: the ops to add; it may be in already
 *
 * A set that is not there yet is made, with no records; ftrace_opset_gc()
 * takes it away again if it stays so.
 *
 * Context: process, ftrace_lock held.
 * Return: the number of the set; -ENOMEM; -ENOSPC if there are too many; -EBUSY
 * if @ops cannot be together with those that are in.
 */
int ftrace_opset_with(u32 id, struct ftrace_ops *ops)
{
	struct ftrace_opset *from = ftrace_opset_find(id), *set;
	struct ftrace_opset_neighbours *near = neighbours_of(from, ops);
	unsigned int i = 0, nr = from ? from->nr : 0;

	if (near->with >= 0)
		return near->with;
	if (opset_index(from, ops) >= 0)
		return id;
	if (from && conflict(from, ops))
		return -EBUSY;
	set = opset_alloc(nr + 1, GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	while (i < nr && is_newer(from->ops[i], ops)) {
		opset_fill(set, i, from->ops[i]);
		i++;
	}
	opset_fill(set, i, ops);
	for (; i < nr; i++)
		opset_fill(set, i + 1, from->ops[i]);
	near->with = opset_intern(set, GFP_KERNEL);
	return near->with;
}

/**
 * ftrace_opset_without - the set that lacks one ops
 * @id: the set to start from
 * @ops: the ops to take away; it need not be in
 *
 * The caller, which unregisters an ops, cannot do much about an error, and the
 * memory needed is small: so this waits for it as long as it takes.
 *
 * Context: process, ftrace_lock held.
 * Return: the number of the set, or -ENOSPC if there are too many.
 */
int ftrace_opset_without(u32 id, struct ftrace_ops *ops)
{
	struct ftrace_opset *from = ftrace_opset_find(id), *set;
	struct ftrace_opset_neighbours *near = neighbours_of(from, ops);
	gfp_t gfp = GFP_KERNEL | __GFP_NOFAIL;
	int gone, i;

	if (near->without >= 0)
		return near->without;
	gone = opset_index(from, ops);
	if (gone < 0)
		return id;
	if (from->nr == 1)
		return 0;
	set = opset_alloc(from->nr - 1, gfp);
	for (i = 0; i < set->nr; i++)
		opset_fill(set, i, from->ops[i + (i >= gone)]);
	near->without = opset_intern(set, gfp);
	return near->without;
}

/**
 * ftrace_opset_move - records go from one set to another
 * @from: the set they had
 * @to: the set they get
 * @nr: how many
 *
 * Context: ftrace_lock held.
 */
void ftrace_opset_move(u32 from, u32 to, unsigned int nr)
{
	struct ftrace_opset *set;

	if (from == to || !nr)
		return;
	set = ftrace_opset_find(from);
	if (set) {
		set->nr_recs -= nr;
		if (!set->nr_recs)
			list_add(&set->empty, &empty_sets);
	}
	set = ftrace_opset_find(to);
	if (set) {
		if (!set->nr_recs)
			list_del(&set->empty);
		set->nr_recs += nr;
	}
}

/**
 * ftrace_opset_keep - never free the trampoline that a set calls
 * @id: the set
 *
 * The set itself goes like any other, when no record has it. Code that is
 * called directly, without a trampoline, belongs to its user, who has to keep
 * it.
 *
 * Context: ftrace_lock held.
 */
void ftrace_opset_keep(u32 id)
{
	struct ftrace_opset *set = ftrace_opset_find(id);

	/* A trampoline that sites are only about to get was not called yet. */
	if (set && set->tramp &&
	    set->target == ftrace_text_key(ftrace_tramp_ip(set->tramp)))
		ftrace_tramp_keep(set->tramp);
}

/**
 * ftrace_opset_gc - free the sets that no record has
 *
 * Context: process, ftrace_lock held, and no update under way; may sleep for a
 * grace period, see ftrace_tramp_free().
 */
void ftrace_opset_gc(void)
{
	struct ftrace_opset *set, *next;

	lockdep_assert_held(&ftrace_lock);
	gc_round++;
	list_for_each_entry_safe(set, next, &empty_sets, empty) {
		list_del(&set->empty);
		hash_del(&set->node);
		ftrace_opset_ids[set->id] = NULL;
		lowest_free = min(lowest_free, set->id);
		opset_free(set);
	}
}

/* ---- changes of what a set calls ----------------------------------------- */

/**
 * ftrace_opsets_set_func - have trampolines call another callback of an ops
 * @ops: the ops, which has the callback already
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_opsets_set_func(struct ftrace_ops *ops)
{
	struct ftrace_opset *set;
	int bkt, i;

	lockdep_assert_held(&ftrace_lock);
	hash_for_each(opset_table, bkt, set, node) {
		i = opset_index(set, ops);
		if (i >= 0)
			ftrace_serve_func(set, i);
	}
}

/**
 * ftrace_opset_of_direct - the set that is one ops with a direct call, and no other
 * @ops: the ops
 *
 * Context: ftrace_lock held.
 * Return: the set; NULL if no site has it.
 */
struct ftrace_opset *ftrace_opset_of_direct(struct ftrace_ops *ops)
{
	return opset_lookup(&ops, 1, opset_key(&ops, 1));
}

/**
 * ftrace_opsets_aim_tramps - make trampolines for those sets that have none
 *
 * The call sites of these have to be changed, then ftrace_opsets_finish_aim() called.
 *
 * Context: process, ftrace_lock held.
 * Return: did one of them get a trampoline?
 */
bool ftrace_opsets_aim_tramps(void)
{
	struct ftrace_opset *set;
	bool any = false;
	int bkt;

	hash_for_each(opset_table, bkt, set, node) {
		cond_resched();
		if (ftrace_tramp_has_room())
			any |= ftrace_serve_better(set);
	}
	return any;
}

/**
 * ftrace_opsets_have_tramps - is no set served by the list of ops?
 *
 * Context: ftrace_lock held.
 */
bool ftrace_opsets_have_tramps(void)
{
	struct ftrace_opset *set;
	int bkt;

	hash_for_each(opset_table, bkt, set, node) {
		if (ftrace_serve_by_list(set))
			return false;
	}
	return true;
}

/**
 * ftrace_opsets_lack_tramps - might some set get a trampoline that has none?
 *
 * Context: ftrace_lock held.
 */
bool ftrace_opsets_lack_tramps(void)
{
	struct ftrace_opset *set;
	int bkt;

	hash_for_each(opset_table, bkt, set, node) {
		if (ftrace_serve_lacks_tramp(set))
			return true;
	}
	return false;
}

/**
 * ftrace_opset_finish_aim - make the aim of a set its target, or drop it
 * @set: the set
 * @done: its call sites have been changed
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_opset_finish_aim(struct ftrace_opset *set, bool done)
{
	lockdep_assert_held(&ftrace_lock);
	if (set->aim == set->target)
		return;
	if (done) {
		set->target = set->aim;
		return;
	}
	set->aim = set->target;
	ftrace_tramp_free(set->tramp);
	set->tramp = NULL;
}

/**
 * ftrace_opsets_finish_aim - the same for all sets
 * @done: their call sites have been changed
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_opsets_finish_aim(bool done)
{
	struct ftrace_opset *set;
	int bkt;

	hash_for_each(opset_table, bkt, set, node)
		ftrace_opset_finish_aim(set, done);
}
