// SPDX-License-Identifier: GPL-2.0
/*
 * Interned sets of ops.
 *
 * A record carries the number of the set of ops that trace its call site. Two
 * sites with the same ops carry the same number, whatever the order in which
 * the ops came, so what a site has to call is decided once per set.
 */
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

#define OPSET_BITS	8

/*
 * The sets by content, and by number; number 0 is not given away. A plain array,
 * not an xarray: a tracer on the command line is registered before those work.
 * ftrace_lock.
 */
static DEFINE_HASHTABLE(opset_table, OPSET_BITS);
static struct ftrace_opset **opset_ids;
static u32 opset_nr_ids;

static u32 opset_key(struct ftrace_ops *const *ops, unsigned int nr)
{
	return jhash(ops, nr * sizeof(*ops), 0);
}

/**
 * ftrace_opset_find - the set that has a number
 * @id: the number
 *
 * Context: ftrace_lock held.
 * Return: the set; NULL for 0, the empty set.
 */
struct ftrace_opset *ftrace_opset_find(u32 id)
{
	lockdep_assert_held(&ftrace_lock);
	return id < opset_nr_ids ? opset_ids[id] : NULL;
}

static struct ftrace_opset *opset_lookup(struct ftrace_ops *const *ops,
					 unsigned int nr)
{
	struct ftrace_opset *set;

	hash_for_each_possible(opset_table, set, node, opset_key(ops, nr)) {
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
	u32 nr = min(max(64U, 2 * opset_nr_ids), FTRACE_REC_SET_MASK + 1);
	struct ftrace_opset **ids;

	/* A record has no room for a larger number. */
	if (nr == opset_nr_ids)
		return -ENOSPC;
	ids = kvcalloc(nr, sizeof(*ids), gfp);
	if (!ids)
		return -ENOMEM;
	if (opset_nr_ids)
		memcpy(ids, opset_ids, array_size(opset_nr_ids, sizeof(*ids)));
	kvfree(opset_ids);
	opset_ids = ids;
	opset_nr_ids = nr;
	return 0;
}

static int assign_id(struct ftrace_opset *set, gfp_t gfp)
{
	u32 id = 1;
	int ret;

	while (id < opset_nr_ids && opset_ids[id])
		id++;
	if (id >= opset_nr_ids) {
		ret = grow_ids(gfp);
		if (ret)
			return ret;
	}
	set->id = id;
	opset_ids[id] = set;
	return 0;
}

/* Takes @set over. */
static int opset_intern(struct ftrace_opset *set, gfp_t gfp)
{
	struct ftrace_opset *known = opset_lookup(set->ops, set->nr);
	int ret;

	if (known) {
		kfree(set);
		return known->id;
	}
	ret = assign_id(set, gfp);
	if (ret) {
		kfree(set);
		return ret;
	}
	set->target = ftrace_text_key((unsigned long)ftrace_caller);
	hash_add(opset_table, &set->node, opset_key(set->ops, set->nr));
	return set->id;
}

static struct ftrace_opset *opset_alloc(unsigned int nr, gfp_t gfp)
{
	struct ftrace_opset *set;

	set = kzalloc(struct_size(set, ops, nr), gfp);
	if (set)
		set->nr = nr;
	return set;
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
 * Return: the number of the set, -ENOMEM, or -ENOSPC if there are too many.
 */
int ftrace_opset_with(u32 id, struct ftrace_ops *ops)
{
	struct ftrace_opset *from = ftrace_opset_find(id), *set;
	unsigned int i = 0, nr = from ? from->nr : 0;

	if (opset_index(from, ops) >= 0)
		return id;
	set = opset_alloc(nr + 1, GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	while (i < nr && from->ops[i] < ops) {
		set->ops[i] = from->ops[i];
		i++;
	}
	set->ops[i] = ops;
	for (; i < nr; i++)
		set->ops[i + 1] = from->ops[i];
	return opset_intern(set, GFP_KERNEL);
}

/**
 * ftrace_opset_without - the set that lacks one ops
 * @id: the set to start from
 * @ops: the ops to take away; it need not be in
 *
 * Who unregisters cannot do much about an error, and what is asked for here is
 * small: so this waits for memory as long as it takes.
 *
 * Context: process, ftrace_lock held.
 * Return: the number of the set, or -ENOSPC if there are too many.
 */
int ftrace_opset_without(u32 id, struct ftrace_ops *ops)
{
	struct ftrace_opset *from = ftrace_opset_find(id), *set;
	int gone = opset_index(from, ops), i;
	gfp_t gfp = GFP_KERNEL | __GFP_NOFAIL;

	if (gone < 0)
		return id;
	if (from->nr == 1)
		return 0;
	set = opset_alloc(from->nr - 1, gfp);
	for (i = 0; i < set->nr; i++)
		set->ops[i] = from->ops[i + (i >= gone)];
	return opset_intern(set, gfp);
}

/**
 * ftrace_opset_has - is an ops in a set?
 * @id: the set
 * @ops: the ops
 *
 * Context: ftrace_lock held.
 */
bool ftrace_opset_has(u32 id, struct ftrace_ops *ops)
{
	return opset_index(ftrace_opset_find(id), ops) >= 0;
}

/**
 * ftrace_opset_target - what the call sites of a set call
 * @id: the set
 *
 * Context: ftrace_lock held.
 * Return: the target as ftrace_text_key(), 0 for the empty set.
 */
u32 ftrace_opset_target(u32 id)
{
	struct ftrace_opset *set = ftrace_opset_find(id);

	return set ? set->target : 0;
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
	if (set)
		set->nr_recs -= nr;
	set = ftrace_opset_find(to);
	if (set)
		set->nr_recs += nr;
}

/**
 * ftrace_opset_gc - free the sets that no record has
 *
 * Context: ftrace_lock held, and no update under way.
 */
void ftrace_opset_gc(void)
{
	struct ftrace_opset *set;
	u32 id;

	lockdep_assert_held(&ftrace_lock);
	for (id = 1; id < opset_nr_ids; id++) {
		set = opset_ids[id];
		if (!set || set->nr_recs)
			continue;
		opset_ids[id] = NULL;
		hash_del(&set->node);
		kfree(set);
	}
}
