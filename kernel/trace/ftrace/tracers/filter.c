// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of named tracers: who has which, who has one in common with others,
 * and what a tracer begins with.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/list.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "tracers.h"

/*
 * Nobody else knows which functions a direct call is for, or which ones can go on
 * elsewhere.
 */
#define OWN_FILTER	(FTRACE_OPS_FL_OWN_FILTER | FTRACE_OPS_FL_DIRECT | \
			 FTRACE_OPS_FL_IPMODIFY)

static bool has_own_filter(const struct ftrace_ops *ops)
{
	return ops->func_hash == &ops->local_hash;
}

/**
 * ftrace_tracer_is_open - may its filter be given to it, and changed, by others?
 * @t: the tracer
 */
bool ftrace_tracer_is_open(const struct ftrace_tracer *t)
{
	return !(t->ops->flags & OWN_FILTER);
}

/* Have an ops, which may be called meanwhile, begin with a copy of a filter. */
static int take_filter(struct ftrace_ops *ops, const struct ftrace_ops_hash *from)
{
	int ret = ftrace_filter_copy(&ops->local_hash, from);

	if (ret)
		return ret;
	/* A callback that looks at its filter finds both halves there. */
	smp_store_release(&ops->func_hash, &ops->local_hash);
	return 0;
}

/* From the filter that it has in common with others to one of its own. */
static int unshare(struct ftrace_tracer *t)
{
	int ret = take_filter(t->ops, t->ops->func_hash);

	if (!ret)
		t->shares = true;
	return ret;
}

/* All who have the filter of the trace array of @t, and are not its own. */
static int unshare_others(const struct ftrace_tracer *t)
{
	const struct ftrace_ops_hash *common = t->tr->ops->func_hash;
	struct ftrace_tracer *other = NULL;
	int ret = 0;

	while (!ret && (other = ftrace_tracer_next_any(t->tr, other))) {
		if (other != t && other->ops->func_hash == common &&
		    !ftrace_tracer_is_current(other))
			ret = unshare(other);
	}
	return ret;
}

/**
 * ftrace_tracer_separate - see that nobody else has the filter of a tracer
 * @t: the tracer
 *
 * What each of them traces stays the same. The current tracer of a trace array
 * keeps the filter of the array: then it is the others that get one.
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
int ftrace_tracer_separate(struct ftrace_tracer *t)
{
	lockdep_assert_held(&ftrace_lock);
	t->chosen = true;
	if (ftrace_tracer_is_current(t))
		return unshare_others(t);
	return has_own_filter(t->ops) ? 0 : unshare(t);
}

/* Have the sites of one that runs call for the filter of the trace array. */
static int update_to_common(struct ftrace_ops *ops, const struct ftrace_filter *own,
			    const struct ftrace_filter *common)
{
	int ret = 0;

	if (ftrace_hash_empty(common->filter))
		ret = ftrace_discover_all();
	return ret ?: ftrace_update_ops(ops, own, common);
}

/* Back to the filter of the trace array. */
static int share(struct ftrace_tracer *t)
{
	struct ftrace_ops *ops = t->ops;
	struct ftrace_filter own, common;
	int ret;

	ftrace_ops_filter(ops, &own);
	ftrace_ops_filter(t->tr->ops, &common);
	ret = t->id ? update_to_common(ops, &own, &common) : 0;
	if (ret)
		return ret;
	WRITE_ONCE(ops->func_hash, t->tr->ops->func_hash);
	/* To who still looks there, nothing would mean everything. */
	if (t->id)
		synchronize_rcu_tasks_rude();
	ftrace_filter_clear(&ops->local_hash);
	t->chosen = false;
	return 0;
}

/**
 * ftrace_tracers_share - somebody changed the filter who knows no names
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
	int ret;

	while ((t = ftrace_tracer_next_any(tr, t))) {
		if (!t->shares || !has_own_filter(t->ops))
			continue;
		/* It goes on with what was meant for it. */
		if (t->stopped && t->chosen)
			continue;
		ret = share(t);
		if (ret)
			pr_warn("%s keeps its own filter: %d\n", t->name, ret);
	}
}

/* Their call sites would have to follow, and they have not asked for it. */
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
 * The tracer whose filter @t is to begin with, or NULL: it has one, or nobody
 * expects that. One that has run before goes on with what it had then, even if
 * that was none.
 */
static struct ftrace_tracer *whose_filter(struct ftrace_tracer *t)
{
	const struct ftrace_ops *owner = ftrace_tracer_owner(t);
	struct ftrace_tracer *from = ftrace_tracer_default(t->tr);
	struct ftrace_filter f;

	if (!from || owner->tracer || !ftrace_tracer_is_open(t) ||
	    from->ops->func_hash == owner->func_hash ||
	    !ftrace_tracers_known(t->tr))
		return NULL;
	if (!has_own_filter(owner))
		return from;
	ftrace_ops_filter(t->ops, &f);
	if (f.filter || f.skip || !hlist_empty(&owner->func_hash->waiting[false]) ||
	    others_have(owner->func_hash))
		return NULL;
	return from;
}

/**
 * ftrace_tracer_begin - a tracer gets the filter to begin with
 * @t: the tracer, not registered yet
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
int ftrace_tracer_begin(struct ftrace_tracer *t)
{
	struct ftrace_ops *owner = ftrace_tracer_owner(t);
	struct ftrace_tracer *from;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	from = whose_filter(t);
	if (!from)
		return 0;
	t->began = owner->func_hash;
	if (ftrace_tracer_is_current(t))
		ret = unshare_others(t);
	if (!ret)
		ret = take_filter(owner, from->ops->func_hash);
	if (!ret)
		t->shares = t->began != &owner->local_hash;
	return ret;
}

/**
 * ftrace_tracer_give_back - take the filter away again that it was to begin with
 * @t: the tracer, after ftrace_tracer_begin()
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_give_back(struct ftrace_tracer *t)
{
	struct ftrace_ops *owner = ftrace_tracer_owner(t);

	lockdep_assert_held(&ftrace_lock);
	if (!t->began)
		return;
	owner->func_hash = t->began;
	ftrace_filter_clear(&owner->local_hash);
}
