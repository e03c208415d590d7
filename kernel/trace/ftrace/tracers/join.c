// SPDX-License-Identifier: GPL-2.0
/*
 * Named tracers come and go: which filter each one begins with, and what of it
 * outlives the tracer.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ops/ops.h"
#include "tracers.h"

/* It begins as FTRACE_TRACER_PREPARED. */
static struct ftrace_tracer *tracer_alloc(struct ftrace_ops *ops,
					  struct trace_array *tr)
{
	struct ftrace_tracer *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	INIT_LIST_HEAD(&t->list);
	t->ops = ops;
	t->tr = tr;
	return t;
}

/* Free a tracer, in whichever state it is. */
static void tracer_ends(struct ftrace_tracer *t)
{
	list_del(&t->list);
	t->ops->tracer = NULL;
	kfree(t);
}

/* It has to be one word, and must not look like a name in brackets. */
static bool name_is_good(const char *name)
{
	const char *c;

	for (c = name; *c; c++) {
		if (!isgraph(*c) || strchr("[]*", *c))
			return false;
	}
	return c > name && c - name < FTRACE_TRACER_NAME - 8;
}

/*
 * Only the owner of an ops knows which functions a direct call is for, or which
 * functions can go on elsewhere.
 */
#define OWN_FILTER	(FTRACE_OPS_FL_OWN_FILTER | FTRACE_OPS_DIVERTS)

/**
 * ftrace_tracer_prepare - an ops is about to be registered
 * @ops: the ops; nothing happens if it has no name
 *
 * It gets the filter to begin with. To be followed by ftrace_tracer_join() or
 * ftrace_tracer_cancel().
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL (no such name can be), -ENOMEM.
 */
int ftrace_tracer_prepare(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer, *from;
	const struct hlist_head *waiting;
	struct trace_array *tr;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!ops->name || ops->flags & FTRACE_OPS_FL_ENABLED)
		return 0;
	if (!name_is_good(ops->name))
		return -EINVAL;
	/* NULL: it is so early in the boot that there is no trace array. */
	tr = ops->tr ?: top_trace_array();
	/* It keeps its filter, unless it was in another trace array before. */
	if (!tr || (t && t->tr == tr))
		return 0;
	if (t)
		ftrace_tracer_release(ops);
	t = tracer_alloc(ops, tr);
	if (!t)
		return -ENOMEM;
	from = ops->flags & OWN_FILTER ? NULL : ftrace_tracer_default(tr);
	if (from && ftrace_tracers_known(tr))
		ret = ftrace_tracer_begin(t, from);
	/* While it was away nobody told it of modules that came. */
	waiting = ops->func_hash->waiting;
	if (!ret && !(hlist_empty(&waiting[0]) && hlist_empty(&waiting[1])))
		ret = ftrace_filter_resolve(ops, NULL);
	if (ret < 0) {
		kfree(t);
		return ret;
	}
	if (ret)
		ftrace_tracer_becomes(t, FTRACE_TRACER_PREPARED_COPY);
	ops->tracer = t;
	return 0;
}

/**
 * ftrace_tracer_cancel - an ops could not be registered
 * @ops: the ops, after ftrace_tracer_prepare()
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_cancel(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;

	lockdep_assert_held(&ftrace_lock);
	/* It was not prepared, or it was registered already. */
	if (!t || t->life > FTRACE_TRACER_PREPARED_COPY)
		return;
	if (t->life == FTRACE_TRACER_PREPARED_COPY)
		ftrace_tracer_give_back(t);
	tracer_ends(t);
}

/**
 * ftrace_tracer_join - an ops has been registered
 * @ops: the ops, after ftrace_tracer_prepare()
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_join(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;
	struct ftrace_ops_hash *h;

	lockdep_assert_held(&ftrace_lock);
	if (!t)
		return;
	ftrace_tracer_enlist(t, !(ops->flags & OWN_FILTER));
	h = &ftrace_tracer_filter_ops(t)->local_hash;
	if (h->past == FTRACE_FILTER_NEW)
		h->past = FTRACE_FILTER_USED;
}

/*
 * The kernel's own tracers exist for ever. But the instance that one of them
 * was in may go; and one that has the array's filter has none to keep.
 */
static bool will_go_on(const struct ftrace_tracer *t)
{
	return is_kernel_core_data((unsigned long)t->ops) &&
	       t->tr->flags & TRACE_ARRAY_FL_GLOBAL && !ftrace_tracer_is_array_own(t);
}

/**
 * ftrace_tracer_leave - an ops is no longer registered
 * @ops: the ops
 *
 * Its lists of tasks are dropped, its filter is not: patterns in it that wait for
 * modules go on waiting. ftrace_free_filter() is for an ops that will not be back.
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_tracer_leave(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;

	lockdep_assert_held(&ftrace_lock);
	if (!ftrace_tracer_runs(t))
		return;
	ftrace_pids_leave(t);
	if (will_go_on(t))
		ftrace_tracer_becomes(t, FTRACE_TRACER_STOPPED);
	else
		tracer_ends(t);
}

/**
 * ftrace_tracer_release - an ops gives its filter up
 * @ops: the ops, not registered
 *
 * When it is registered again, it is treated as if that were the first time.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_release(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	if (ftrace_tracer_runs(ops->tracer))
		return;
	if (ops->tracer)
		tracer_ends(ops->tracer);
	ops->local_hash.past = FTRACE_FILTER_NEW;
}
