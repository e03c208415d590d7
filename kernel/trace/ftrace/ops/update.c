// SPDX-License-Identifier: GPL-2.0
/*
 * Updates: from what the ops want to a plan. commit.c has it written, and has the
 * records follow.
 *
 * An update walks the records it concerns in the order of their addresses. A
 * record that is NEW, one whose text is as it was found, takes part like any
 * other: it goes straight to what it has to call.
 */

#include <linux/sizes.h>
#include <linux/slab.h>

#include "ops.h"

/**
 * struct answer - the last question and its answer
 * @state: the set of a record that is neither new nor bad
 * @want: the ops wants the site
 * @to: the set that follows
 * @from_text: what the text calls now
 * @to_text: what it has to call
 *
 * Neighbours mostly have the same set, so a walk over all records asks the
 * table of sets only a few times.
 */
struct answer {
	u32	state;
	bool	want;
	int	to;
	u32	from_text;
	u32	to_text;
};

/* Not a set. */
#define NO_ANSWER		((struct answer) { .state = FTRACE_REC_BAD })

/**
 * struct found_ops - ops that a walk over all of them has found
 * @ops: these
 * @nr: how many; few are expected, among thousands
 * @size: how many @ops has room for
 */
struct found_ops {
	struct ftrace_ops	**ops;
	unsigned int		nr;
	unsigned int		size;
};

/**
 * struct update - one update under way
 * @plan: the changes so far
 * @ops: the one whose filter changes, or
 * @shared: the filter that changes, of all ops that use it; if both are NULL, only
 *	NEW records are given their sets
 * @old: the filter it had; NULL: it was not registered
 * @new: the filter it gets; NULL: it goes
 * @all: @new means every site
 * @missed: a site that @new lists has no record
 * @users: the ops that are concerned: @ops, or those that use @shared
 * @asked_known: find_asked() has filled in @asked
 * @asked: the ops that may want the site of a new record
 * @last: the last answer, see struct answer
 */
struct update {
	struct ftrace_plan		plan;
	struct ftrace_ops		*ops;
	struct ftrace_ops_hash		*shared;
	const struct ftrace_filter	*old;
	const struct ftrace_filter	*new;
	bool				all;
	bool				missed;
	bool				asked_known;
	struct found_ops		users;
	struct found_ops		asked;
	struct answer			last;
};

/* Is it an ops whose filter changes? */
static bool is_concerned(const struct update *u, const struct ftrace_ops *ops)
{
	return ops == u->ops || (u->shared && ops->func_hash == u->shared);
}

/* Those who leave cannot do without, and it is little: so wait for the memory. */
static void found_add(struct found_ops *found, struct ftrace_ops *ops)
{
	if (found->nr == found->size) {
		found->size = max(8U, 2 * found->size);
		found->ops = kvrealloc(found->ops,
				       array_size(found->size, sizeof(*found->ops)),
				       GFP_KERNEL | __GFP_NOFAIL);
	}
	found->ops[found->nr++] = ops;
}

static bool is_listed(const struct ftrace_filter *f)
{
	return !f || !ftrace_hash_empty(f->filter);
}

static void find_users(struct update *u)
{
	struct ftrace_ops *ops;

	/* One that starts is not among the registered. */
	if (u->ops) {
		found_add(&u->users, u->ops);
		return;
	}
	for_each_ftrace_ops(ops) {
		if (is_concerned(u, ops))
			found_add(&u->users, ops);
	}
}

/*
 * When a list came into force its sites had records, which were given to the ops: no
 * record of them is new. So ops with a list need not be asked, and there may be
 * thousands.
 */
static void find_asked(struct update *u)
{
	struct ftrace_filter f;
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops) {
		ftrace_ops_filter(ops, &f);
		if ((!is_listed(&f) || ops->flags & FTRACE_OPS_FL_UNRECORDED) &&
		    !is_concerned(u, ops))
			found_add(&u->asked, ops);
	}
	u->asked_known = true;
}

/* The set that the site of a new record has by all ops that are not concerned. */
static int wanted_set(struct update *u, unsigned long ip)
{
	struct ftrace_filter f;
	unsigned int i;
	int id = 0;

	if (!u->asked_known)
		find_asked(u);
	for (i = 0; i < u->asked.nr && id >= 0; i++) {
		ftrace_ops_filter(u->asked.ops[i], &f);
		if (ftrace_filter_wants(&f, ip))
			id = ftrace_opset_with(id, u->asked.ops[i]);
	}
	return id;
}

/* The set that is @id with, or without, the ops that are concerned. */
static int set_after(const struct update *u, int id, bool want)
{
	unsigned int i;

	for (i = 0; i < u->users.nr && id >= 0; i++)
		id = want ? ftrace_opset_with(id, u->users.ops[i]) :
			    ftrace_opset_without(id, u->users.ops[i]);
	return id;
}

static int ask(struct update *u, u32 id, bool want)
{
	struct answer *s = &u->last;

	/* There may be as many sets as sites, and each new one gets a trampoline. */
	cond_resched();
	s->state = id;
	s->want = want;
	s->to = set_after(u, id, want);
	if (s->to < 0) {
		s->state = FTRACE_REC_BAD;
		return s->to;
	}
	s->from_text = ftrace_opset_text(id);
	s->to_text = ftrace_opset_text(s->to);
	return 0;
}

/* A site that nobody has patched yet gets all that the ops ask for at once. */
static int update_new(struct update *u, struct dyn_ftrace *rec, bool want)
{
	int id, ret;

	id = wanted_set(u, ftrace_rec_ip(rec));
	if (id < 0)
		return id;
	if (id != u->last.state || want != u->last.want) {
		ret = ask(u, id, want);
		if (ret)
			return ret;
	}
	return ftrace_plan_add(&u->plan, rec, ftrace_rec_text(rec), u->last.to_text,
			       u->last.to);
}

static __always_inline int update_rec(struct update *u, struct dyn_ftrace *rec)
{
	u32 state = rec->state;
	bool want = u->all ||
		    (u->new && ftrace_filter_wants(u->new, ftrace_rec_ip(rec)));
	int ret;

	if (unlikely(state & (FTRACE_REC_NEW | FTRACE_REC_BAD)))
		return state & FTRACE_REC_BAD ? 0 : update_new(u, rec, want);

	state &= FTRACE_REC_SET_MASK;
	if (state != u->last.state || want != u->last.want) {
		ret = ask(u, state, want);
		if (ret)
			return ret;
	}
	if (u->last.to == state)
		return 0;
	return ftrace_plan_add(&u->plan, rec, u->last.from_text,
			       u->last.to_text, u->last.to);
}

static int update_region(struct update *u, struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	unsigned int i;
	int ret = 0;

	for (i = 0; recs && i < recs->nr && !ret; i++)
		ret = update_rec(u, &recs->rec[i]);
	return ret;
}

static int update_all(struct update *u)
{
	struct ftrace_region *r;
	unsigned int nr = 0;
	int ret;

	list_for_each_entry(r, &ftrace_regions, list)
		nr += ftrace_region_nr(r);
	ret = ftrace_plan_reserve(&u->plan, nr);

	list_for_each_entry(r, &ftrace_regions, list) {
		if (ret)
			break;
		ret = update_region(u, r);
	}
	return ret;
}

static unsigned int count_of(const struct ftrace_filter *f)
{
	return f ? f->filter->count : 0;
}

/* Both filters are lists of sites: only sites on one of them can change. */
static int update_listed(struct update *u)
{
	unsigned int nr_old = count_of(u->old), nr_new = count_of(u->new);
	struct ftrace_region *near = NULL;
	unsigned int i = 0, j = 0;
	int ret = 0;

	while ((i < nr_old || j < nr_new) && !ret) {
		u32 x = i < nr_old ? u->old->filter->sites[i] : U32_MAX;
		u32 y = j < nr_new ? u->new->filter->sites[j] : U32_MAX;
		struct dyn_ftrace *rec;

		i += i < nr_old && x <= y;
		j += j < nr_new && y <= x;
		rec = ftrace_rec_near(&near, ftrace_text_addr(min(x, y)));
		if (rec)
			ret = update_rec(u, rec);
		else if (y <= x)
			u->missed = true;
	}
	return ret;
}

static bool misses_sites(const struct ftrace_filter *f)
{
	struct ftrace_region *near = NULL;
	unsigned int i;

	for (i = 0; i < f->filter->count; i++) {
		if (!ftrace_rec_near(&near, ftrace_text_addr(f->filter->sites[i])))
			return true;
	}
	return false;
}

/*
 * An ops that may be freed is leaving: afterwards nobody but preempted tasks may be in an
 * old call, so the machine is stopped. If its sites were poked away earlier and no text
 * changes now, ftrace_shutdown() waits instead.
 */
static bool needs_stop(const struct update *u)
{
	return !u->new && !ftrace_ops_needs_no_wait(u->ops);
}

/* Touches the records on either filter, or all if one of them means that. */
static int try_between(struct update *u)
{
	bool listed = is_listed(u->new);
	int ret;

	u->last = NO_ANSWER;
	u->missed = false;
	u->plan.stop = needs_stop(u);
	if (listed && is_listed(u->old)) {
		ret = update_listed(u);
	} else {
		u->missed = u->new && listed && misses_sites(u->new);
		ret = update_all(u);
	}
	return ftrace_update_finish(&u->plan, ret);
}

/*
 * A bad site must not stop an update that takes ops away from it. It is set aside, and
 * the update is tried again without it.
 */
static int update_between(struct update *u, const struct ftrace_filter *old,
			  const struct ftrace_filter *new)
{
	unsigned long nr_bad;
	unsigned int i;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	/* An ops that leaves may do so even then, see ftrace_kill(). */
	if (ftrace_disabled && new)
		return -ENODEV;
	u->old = old;
	u->new = new;
	u->all = new && ftrace_hash_empty(new->filter) && !new->skip;
	find_users(u);
	do {
		nr_bad = ftrace_nr_bad;
		ret = try_between(u);
	} while (ret == -EINVAL && ftrace_nr_bad != nr_bad &&
		 (!new || !ftrace_filter_wants(new, ftrace_last_bad)));
	/* The filter is in force: are those who have it asked about new records? */
	for (i = 0; !ret && i < u->users.nr; i++) {
		u->users.ops[i]->flags &= ~FTRACE_OPS_FL_UNRECORDED;
		if (u->missed)
			u->users.ops[i]->flags |= FTRACE_OPS_FL_UNRECORDED;
	}
	kvfree(u->users.ops);
	kvfree(u->asked.ops);
	return ret;
}

/**
 * ftrace_update_ops - have call sites follow a change of one ops
 * @ops: the ops
 * @old: its filter up to now; NULL: it was not registered
 * @new: its filter from now on
 *
 * Context: process, ftrace_lock held.
 * Return: 0; or -ENOMEM, -ENOSPC (too many sets of ops), -EBUSY (it cannot go
 * together with another ops), -EINVAL (a call site that @new wants is not what it
 * should be; it is set aside), -ENODEV (ftrace is dead), and every site is as it was.
 */
int ftrace_update_ops(struct ftrace_ops *ops, const struct ftrace_filter *old,
		      const struct ftrace_filter *new)
{
	struct update u = { .ops = ops };

	return update_between(&u, old, new);
}

/**
 * ftrace_update_filter - have call sites follow a change of a filter
 * @h: the filter, of any number of registered ops
 * @old: what it has been up to now
 * @new: what it is from now on
 *
 * All ops that use it follow in one update: all of them, or none.
 *
 * Context: process, ftrace_lock held.
 * Return: as ftrace_update_ops().
 */
int ftrace_update_filter(struct ftrace_ops_hash *h,
			 const struct ftrace_filter *old,
			 const struct ftrace_filter *new)
{
	struct update u = { .shared = h };

	return update_between(&u, old, new);
}

static void drop_from(struct dyn_ftrace *rec, struct ftrace_ops *ops)
{
	struct ftrace_plan_entry e = {
		.rec	= rec,
		.ip	= rec->key,
		.from	= ftrace_rec_text(rec),
	};
	u32 id = ftrace_rec_set(rec);
	int to = ftrace_opset_without(id, ops);

	if (to == id || WARN_ON_ONCE(to < 0))
		return;
	e.state = to;
	e.to = ftrace_opset_text(to);
	ftrace_update_one(&e);
}

/*
 * Without memory for a plan: one site after the other, each poked by itself. Slow,
 * but it needs nothing that could be missing.
 */
static void drop(struct ftrace_ops *ops)
{
	struct ftrace_region *r;

	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);
		unsigned int i;

		for (i = 0; recs && i < recs->nr; i++) {
			if (recs->rec[i].state & FTRACE_REC_SET_MASK)
				drop_from(&recs->rec[i], ops);
		}
		cond_resched();
	}
	ftrace_opset_gc();
}

/**
 * ftrace_update_leave - have no call site call an ops any more
 * @ops: the ops
 * @old: its filter up to now
 *
 * This does not fail: a call site that is not what it should be is set aside, and
 * want of memory makes it slow.
 *
 * Context: process, ftrace_lock held.
 * Return: true if the machine was stopped for it: then only tasks that were
 * preempted can still be in a call made before. False if no site called @ops,
 * or the sites were poked.
 */
bool ftrace_update_leave(struct ftrace_ops *ops, const struct ftrace_filter *old)
{
	struct update u = { .ops = ops };

	if (update_between(&u, old, NULL))
		drop(ops);
	return u.plan.nr_stops;
}

/**
 * ftrace_settle - give the new records what the active ops ask for
 *
 * Context: process, ftrace_lock held.
 * Return: how many there were, or an error of ftrace_update_ops().
 */
int ftrace_settle(void)
{
	/*
	 * In a stop, few as they may be: they have just run, and may be in a loop. Emulators
	 * with a thread for each CPU are known to run a breakpoint that is no longer there,
	 * if a CPU comes by while it is written over.
	 */
	struct update u = { .last = NO_ANSWER, .plan.stop = true };
	struct ftrace_region *r;
	int ret = 0, nr;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);
		unsigned int i;

		if (!r->nr_new)
			continue;
		for (i = 0; i < recs->nr && !ret; i++) {
			/* Each that is new may get a set of its own. */
			if (!(i % SZ_64))
				cond_resched();
			if (recs->rec[i].state & FTRACE_REC_NEW)
				ret = update_rec(&u, &recs->rec[i]);
		}
		if (ret)
			break;
	}
	kvfree(u.asked.ops);
	nr = u.plan.nr;
	return ftrace_update_finish(&u.plan, ret) ?: nr;
}
