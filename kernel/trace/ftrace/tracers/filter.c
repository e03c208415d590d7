// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of named tracers: who has which, who has one in common with others,
 * and what a tracer begins with.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/list.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "tracers.h"

static bool has_own_filter(const struct ftrace_ops *ops)
{
	return ops->func_hash == &ops->local_hash;
}

/* Let an ops, which may be called meanwhile, begin with a copy of a filter. */
static int take_filter(struct ftrace_ops *ops, const struct ftrace_ops_hash *from)
{
	int ret = ftrace_filter_copy(&ops->local_hash, from);

	if (ret)
		return ret;
	/* A callback that sees the new filter sees both halves of it. */
	smp_store_release(&ops->func_hash, &ops->local_hash);
	return 0;
}

/* Give a tracer that has its filter in common with others a copy of its own. */
static int unshare(struct ftrace_tracer *t)
{
	int ret = take_filter(t->ops, t->ops->func_hash);

	if (!ret)
		t->ops->local_hash.past = FTRACE_FILTER_PARTED;
	return ret;
}

/* Unshare all tracers with the array's filter, but the array's own. */
static int unshare_others(const struct ftrace_tracer *t)
{
	const struct ftrace_ops_hash *common = t->tr->ops->func_hash;
	struct ftrace_tracer *other = NULL;
	int ret = 0;

	while (!ret && (other = ftrace_tracer_next_any(t->tr, other))) {
		if (other != t && other->ops->func_hash == common &&
		    !ftrace_tracer_is_array_own(other))
			ret = unshare(other);
	}
	return ret;
}

/**
 * ftrace_tracer_separate - give a tracer a filter that no other shares
 * @t: the tracer
 *
 * What each of them traces stays the same. A trace array's own tracer keeps the
 * filter of the array; then it is the others that get a copy.
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
int ftrace_tracer_separate(struct ftrace_tracer *t)
{
	struct ftrace_ops *ops = t->ops;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_tracer_is_array_own(t))
		return unshare_others(t);
	if (!has_own_filter(ops))
		ret = unshare(t);
	if (ops->local_hash.past == FTRACE_FILTER_PARTED)
		ops->local_hash.past = FTRACE_FILTER_CHOSEN;
	return ret;
}

/* Have the sites of a running tracer follow the filter of its trace array. */
static int update_to_common(struct ftrace_ops *ops, const struct ftrace_filter *own,
			    const struct ftrace_filter *common)
{
	int ret = 0;

	if (ftrace_hash_empty(common->filter))
		ret = ftrace_discover_all();
	return ret ?: ftrace_update_ops(ops, own, common);
}

/* Have a tracer use the filter of its trace array again. */
static int share(struct ftrace_tracer *t)
{
	bool runs = t->life != FTRACE_TRACER_STOPPED;
	struct ftrace_ops *ops = t->ops;
	struct ftrace_filter own, common;
	int ret;

	ftrace_ops_filter(ops, &own);
	ftrace_ops_filter(t->tr->ops, &common);
	ret = runs ? update_to_common(ops, &own, &common) : 0;
	if (!ret)
		WRITE_ONCE(ops->func_hash, t->tr->ops->func_hash);
	return ret;
}

/* Empty the filter that a tracer had before share(). No callback looks at it. */
static void drop_own(struct ftrace_tracer *t)
{
	if (!ftrace_tracer_follows(t) || has_own_filter(t->ops))
		return;
	ftrace_filter_clear(&t->ops->local_hash);
	t->ops->local_hash.past = FTRACE_FILTER_USED;
}

/**
 * ftrace_tracer_follows - does a tracer's filter follow the trace array's?
 * @t: the tracer
 *
 * That is: when a program that knows no names changes the array's filter.
 *
 * Context: ftrace_lock held.
 */
bool ftrace_tracer_follows(const struct ftrace_tracer *t)
{
	enum ftrace_filter_past past = t->ops->local_hash.past;

	/* A tracer that has stopped keeps the filter that was set for it. */
	return past == FTRACE_FILTER_PARTED ||
	       (past == FTRACE_FILTER_CHOSEN && t->life != FTRACE_TRACER_STOPPED);
}

/**
 * ftrace_tracers_share - a program that knows no names has changed the filter
 * @tr: the trace array; its own filter is the new one already
 *
 * The tracers that had it in common before get it, too. One for which that fails
 * keeps its own, and the log says so.
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_tracers_share(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL;
	bool called = false;
	int ret;

	while ((t = ftrace_tracer_next_any(tr, t))) {
		if (!ftrace_tracer_follows(t))
			continue;
		ret = share(t);
		if (ret)
			pr_warn("%s keeps its own filter: %d\n", t->name, ret);
		else
			called |= t->life != FTRACE_TRACER_STOPPED;
	}
	/* While callbacks still look at it, empty would mean everything. */
	if (called)
		synchronize_rcu_tasks_rude();
	while ((t = ftrace_tracer_next_any(tr, t)))
		drop_own(t);
}

/* Does an ops without a name use it, whose sites would have to follow? */
static bool others_have(const struct ftrace_ops_hash *h)
{
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops) {
		if (ops->func_hash == h && !ftrace_tracer_name(ops))
			return true;
	}
	return false;
}

/*
 * Should @owner start with a copy of @as? Not if its own filter says something
 * already, or is also used by ops that do not expect that. A tracer that has run
 * before goes on with the filter it had, even if that is empty.
 */
static bool should_copy(const struct ftrace_ops *owner,
			const struct ftrace_ops_hash *as)
{
	const struct ftrace_ops_hash *h = owner->func_hash;

	if (owner->local_hash.past != FTRACE_FILTER_NEW || h == as)
		return false;
	return !has_own_filter(owner) ||
	       (!rcu_access_pointer(h->filter_hash) &&
		!rcu_access_pointer(h->notrace_hash) &&
		hlist_empty(&h->waiting[true]) &&
		hlist_empty(&h->waiting[false]) && !others_have(h));
}

/**
 * ftrace_tracer_begin - give a tracer the filter that it is to begin with
 * @t: the tracer, not registered yet
 * @from: the default of its trace array
 *
 * Context: process, ftrace_lock held.
 * Return: 1 if it is a copy of that of @from, 0 if it stays as it was, -ENOMEM.
 */
int ftrace_tracer_begin(struct ftrace_tracer *t, const struct ftrace_tracer *from)
{
	struct ftrace_ops *owner = ftrace_tracer_filter_ops(t);
	bool own = has_own_filter(owner);
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!should_copy(owner, from->ops->func_hash))
		return 0;
	if (ftrace_tracer_is_array_own(t))
		ret = unshare_others(t);
	if (!ret)
		ret = take_filter(owner, from->ops->func_hash);
	if (ret)
		return ret;
	if (!own)
		owner->local_hash.past = FTRACE_FILTER_PARTED;
	return 1;
}

/**
 * ftrace_tracer_give_back - undo what ftrace_tracer_begin() has given a tracer
 * @t: the tracer, after ftrace_tracer_begin() has returned 1
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_give_back(struct ftrace_tracer *t)
{
	struct ftrace_ops *owner = ftrace_tracer_filter_ops(t);
	struct ftrace_ops_hash *h = &owner->local_hash;

	lockdep_assert_held(&ftrace_lock);
	/* What it had before, see ftrace_ops_set_global_filter(). */
	if (h->past == FTRACE_FILTER_PARTED)
		owner->func_hash = &global_ops.local_hash;
	ftrace_filter_clear(h);
	h->past = FTRACE_FILTER_NEW;
}
