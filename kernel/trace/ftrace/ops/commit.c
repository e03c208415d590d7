// SPDX-License-Identifier: GPL-2.0
/*
 * What follows a plan: the records, once it has been written; and what becomes
 * of it if it could not be.
 */
#include "ops.h"

/*
 * False while kernel.ftrace_enabled holds every site at a nop. The records
 * keep their sets meanwhile. ftrace_lock.
 */
bool ftrace_sites_on = true;

unsigned long ftrace_nr_bad;
unsigned long ftrace_last_bad;

static void set_aside(struct dyn_ftrace *rec)
{
	struct ftrace_region *r = ftrace_region_find(ftrace_rec_ip(rec));
	u32 id = ftrace_rec_set(rec);

	if (rec->state & FTRACE_REC_NEW)
		r->nr_new--;
	/* Whoever overwrote the call may put it back later. */
	if (ftrace_sites_on)
		ftrace_opset_keep(id);
	ftrace_opset_move(id, 0, 1);
	WRITE_ONCE(rec->state, FTRACE_REC_BAD);
	ftrace_nr_bad++;
	ftrace_last_bad = ftrace_rec_ip(rec);
}

/* The text is written: let the records say so. */
static void commit(const struct ftrace_plan *plan)
{
	const struct ftrace_plan_entry *e, *end = plan->entries + plan->nr;
	u32 from = 0, to = 0, run = 0;
	u32 marks = 0;	/* what a record remembers once its site has called @to */
	struct ftrace_opset *set;

	for (e = plan->entries; e < end; e++) {
		struct dyn_ftrace *rec = e->rec;
		u32 was = rec->state & FTRACE_REC_SET_MASK;
		u32 kept = rec->state & FTRACE_REC_KEPT;

		if (unlikely(rec->state & FTRACE_REC_NEW))
			ftrace_region_find(ftrace_rec_ip(rec))->nr_new--;
		if (was != from || e->state != to) {
			ftrace_opset_move(from, to, run);
			from = was;
			to = e->state;
			run = 0;
			set = ftrace_opset_find(to);
			marks = set ? FTRACE_REC_TOUCHED : 0;
			if (set && set->flags & FTRACE_OPS_DIVERTS)
				marks |= FTRACE_REC_MODIFIED;
		}
		run++;
		if (e->to)
			kept |= marks;
		WRITE_ONCE(rec->state, e->state | kept);
	}
	ftrace_opset_move(from, to, run);
}

/**
 * ftrace_update_finish - write a plan, and have the records follow
 * @plan: the plan; freed
 * @ret: the error, if making the plan failed; the plan is then only freed
 *
 * Context: process, ftrace_lock held.
 * Return: 0; @ret; or an error of ftrace_plan_write(), and every site is as it was.
 */
int ftrace_update_finish(struct ftrace_plan *plan, int ret)
{
	unsigned int bad;

	/* It ends the walks of those who may stand on an ops that leaves, see list.c. */
	plan->stop |= ftrace_list_used;
	if (!ret) {
		ret = ftrace_plan_write(plan, &bad);
		if (!ret)
			commit(plan);
		else if (ret == -EINVAL)
			set_aside(plan->entries[bad].rec);
	}
	ftrace_opset_gc();
	/* The last stop has ended all walks that began while a set needed the list. */
	if (ftrace_list_used && plan->nr_stops)
		ftrace_list_used = !ftrace_opsets_have_tramps();
	ftrace_plan_free(plan);
	return ret;
}

/**
 * ftrace_update_one - change one site by itself, and have its record follow
 * @e: the change
 *
 * A site that is not what it should be is reported and set aside.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_update_one(struct ftrace_plan_entry *e)
{
	struct ftrace_plan one = { .entries = e, .nr = 1, .nr_text = 1 };

	if (e->from == e->to) {
		commit(&one);
		return;
	}
	if (ftrace_plan_write_one(e))
		set_aside(e->rec);
	else
		commit(&one);
	ftrace_sites_poked();
}

static void unpin_sets(struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	unsigned int i;

	for (i = 0; recs && i < recs->nr; i++)
		ftrace_opset_move(ftrace_rec_set(&recs->rec[i]), 0, 1);
}

/**
 * ftrace_update_release - let go of the sets of a stretch of text that goes
 * @start: first address
 * @end: first address after it
 *
 * Nothing calls through the text any more: what its sites call is of no interest,
 * only the sets that they pin are. Its regions have to be removed before
 * ftrace_lock is released.
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_update_release(unsigned long start, unsigned long end)
{
	struct ftrace_region *r;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(r, &ftrace_regions, list) {
		if (r->start >= start && r->end <= end)
			unpin_sets(r);
	}
	ftrace_opset_gc();
}
