// SPDX-License-Identifier: GPL-2.0
/*
 * Other targets for the same sets: who traces a call site stays the same, what its text
 * calls changes.
 */
#include "ops.h"

static int add_switch(struct ftrace_plan *plan, struct dyn_ftrace *rec, bool on)
{
	u32 id = ftrace_rec_set(rec), target;

	if (!id || rec->state & (FTRACE_REC_NEW | FTRACE_REC_BAD))
		return 0;
	target = ftrace_opset_target(id);
	return ftrace_plan_add(plan, rec, on ? 0 : target, on ? target : 0, id);
}

static int switch_all(bool on)
{
	struct ftrace_plan plan = {};
	struct ftrace_region *r;
	int ret = 0;

	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);
		unsigned int i;

		for (i = 0; recs && i < recs->nr && !ret; i++)
			ret = add_switch(&plan, &recs->rec[i], on);
	}
	return ftrace_update_finish(&plan, ret);
}

/**
 * ftrace_update_enabled - hold all call sites at nops, or let them go
 * @on: let them go
 *
 * A bad site is set aside; the others are held all the same.
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or an error of ftrace_update_ops().
 */
int ftrace_update_enabled(bool on)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (on == ftrace_sites_on)
		return 0;
	do {
		ret = switch_all(on);
	} while (ret == -EINVAL && !on);
	if (!ret)
		ftrace_sites_on = on;
	return ret;
}

/* @all: also what keeps its target, so that it is checked. */
static int add_retarget(struct ftrace_plan *plan, struct dyn_ftrace *rec, bool all)
{
	struct ftrace_opset *set = ftrace_opset_find(ftrace_rec_set(rec));

	if (!set || rec->state & (FTRACE_REC_NEW | FTRACE_REC_BAD))
		return 0;
	if (!all && set->target == set->aim)
		return 0;
	return ftrace_plan_add(plan, rec, ftrace_sites_on ? set->target : 0,
			       ftrace_sites_on ? set->aim : 0, set->id);
}

/* The record of the i-th site on a list, if the filter as a whole wants it. */
static struct dyn_ftrace *listed_rec(const struct ftrace_filter *f, unsigned int i,
				     struct ftrace_region **near)
{
	unsigned long ip = ftrace_text_addr(f->filter->sites[i]);

	return ftrace_filter_wants(f, ip) ? ftrace_rec_near(near, ip) : NULL;
}

/**
 * ftrace_update_direct - have call sites follow a change of what they call
 * @ops: an ops with FTRACE_OPS_FL_DIRECT, registered
 * @addr: what they are to call from now on
 *
 * Only those that no other ops traces: see ftrace_update_jumps().
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or an error of ftrace_update_ops().
 */
int ftrace_update_direct(struct ftrace_ops *ops, unsigned long addr)
{
	struct ftrace_plan plan = {};
	struct ftrace_region *near = NULL;
	struct ftrace_opset *alone;
	struct ftrace_filter f;
	unsigned int i;
	int ret = 0;

	/* Even after ftrace_kill(): the caller may free the old code. */
	lockdep_assert_held(&ftrace_lock);
	ftrace_ops_filter(ops, &f);
	alone = ftrace_opset_of_direct(ops);
	if (alone)
		alone->aim = ftrace_text_key(addr);
	for (i = 0; i < f.filter->count && !ret; i++) {
		struct dyn_ftrace *rec = listed_rec(&f, i, &near);

		if (rec)
			ret = add_retarget(&plan, rec, true);
	}
	ret = ftrace_update_finish(&plan, ret);
	/* Its last site may have been set aside, and the set be gone. */
	alone = ftrace_opset_of_direct(ops);
	if (alone)
		ftrace_opset_finish_aim(alone, !ret);
	return ret;
}

/**
 * ftrace_update_jumps - have trampolines leave for what an ops calls directly
 * @ops: an ops with FTRACE_OPS_FL_DIRECT, registered
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_update_jumps(struct ftrace_ops *ops)
{
	struct ftrace_region *near = NULL;
	struct ftrace_filter f;
	unsigned int i;
	u32 last = 0;

	lockdep_assert_held(&ftrace_lock);
	ftrace_ops_filter(ops, &f);
	/* By its sites, which are few: of all ops there may be thousands of sets. */
	for (i = 0; i < f.filter->count; i++) {
		struct dyn_ftrace *rec = listed_rec(&f, i, &near);
		struct ftrace_opset *set;

		if (!rec || ftrace_rec_set(rec) == last)
			continue;
		last = ftrace_rec_set(rec);
		set = ftrace_opset_find(last);
		if (set && set->tramp)
			ftrace_tramp_poke_jump(set->tramp, ftrace_ops_direct(ops));
	}
}

static int retarget_all(void)
{
	struct ftrace_plan plan = {};
	struct ftrace_region *r;
	int ret = 0;

	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);
		unsigned int i;

		for (i = 0; recs && i < recs->nr && !ret; i++)
			ret = add_retarget(&plan, &recs->rec[i], false);
	}
	return ftrace_update_finish(&plan, ret);
}

/**
 * ftrace_update_tramps - make trampolines for the sets that have none
 *
 * A bad site is set aside; the others get theirs all the same.
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or an error of ftrace_update_ops(). The sets that could get no
 * trampoline are served as before.
 */
int ftrace_update_tramps(void)
{
	unsigned long nr_bad;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_opsets_aim_tramps()) {
		do {
			nr_bad = ftrace_nr_bad;
			ret = retarget_all();
		} while (ret == -EINVAL && ftrace_nr_bad != nr_bad);
		ftrace_opsets_finish_aim(!ret);
	}
	WRITE_ONCE(ftrace_tramps_wanted, ftrace_opsets_lack_tramps());
	return ret;
}
