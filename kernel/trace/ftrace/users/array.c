// SPDX-License-Identifier: GPL-2.0
/*
 * The ops of trace arrays: the top level's and those of the instances.
 */
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "../ops/ops.h"
#include "../tracers/tracers.h"
#include "users.h"

/*
 * When an ops of a trace array leaves, the array gets the next number. Whoever waits for
 * tasks waits for all that had left before: nobody is in a callback of those with
 * numbers up to nr_quiet any more. ftrace_lock.
 */
static u64 nr_left, nr_quiet;

/**
 * ftrace_array_left - an ops is no longer called, but a task may still be in it
 * @ops: the ops; nothing happens if it is of no trace array
 *
 * What else its user has to do before nobody comes in again, such as the graph
 * tracer's own switches, is done before ftrace_lock is released.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_array_left(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->tr;

	lockdep_assert_held(&ftrace_lock);
	if (tr && tr->ops)
		tr->ops->left = ++nr_left;
}

/**
 * ftrace_array_wait - wait until no task is in a callback of a trace array
 * @ops: the array's own; none of the array is registered, nor will be
 *
 * Returns at once if none has ever been registered, or somebody has waited
 * since.
 *
 * Context: process, no lock held that a traced task may need to get on.
 */
void ftrace_array_wait(const struct ftrace_ops *ops)
{
	u64 left;

	scoped_guard(mutex, &ftrace_lock) {
		if (ops->left <= nr_quiet)
			return;
		left = nr_left;
	}
	/*
	 * No stop need have ended the callbacks. And handlers of returns may see a graph
	 * user for longer than its call sites.
	 *
	 * Where tasks are preempted, RCU waits for those who have preemption off, and the
	 * rest is looked at. Where none is preempted nobody looks, and RCU takes a task for
	 * outside until its callback turns preemption off.
	 */
	if (IS_ENABLED(CONFIG_TASKS_RCU))
		ftrace_synchronize_rcu();
	else
		synchronize_rcu_tasks_rude();
	ftrace_wait_for_tasks(0);
	guard(mutex)(&ftrace_lock);
	nr_quiet = max(nr_quiet, left);
}

/**
 * ftrace_init_trace_array - make a trace array fit for function tracing
 * @tr: the array
 *
 * Context: process, before anyone else sees @tr.
 */
void ftrace_init_trace_array(struct trace_array *tr)
{
	INIT_LIST_HEAD(&tr->func_probes);
	/* The array's graph tracer has the same filter, and may run first. */
	if (tr->ops)
		ftrace_ops_init(tr->ops);
}

/**
 * ftrace_init_global_array_ops - give the top-level trace array its ops
 * @tr: the top-level array
 *
 * Context: early boot.
 */
__init void ftrace_init_global_array_ops(struct trace_array *tr)
{
	ftrace_ops_init(&global_ops);
	tr->ops = &global_ops;
	tr->ops->private = tr;
	/* The command line may start it before it can be found as the top level. */
	tr->ops->tr = tr;
	ftrace_init_trace_array(tr);
	init_array_fgraph_ops(tr, tr->ops);
}

/**
 * ftrace_init_array_ops - set the callback of a trace array's ops
 * @tr: the array; its ops is not registered
 * @func: the callback
 *
 * Context: process, trace_types_lock held.
 */
void ftrace_init_array_ops(struct trace_array *tr, ftrace_func_t func)
{
	/* For now, the top level can have only one callback at a time. */
	WARN_ON(tr->flags & TRACE_ARRAY_FL_GLOBAL &&
		tr->ops->func != ftrace_stub);
	tr->ops->func = func;
	tr->ops->private = tr;
	tr->ops->flags |= FTRACE_OPS_FL_TRACE_ARRAY;
}

/**
 * ftrace_reset_array_ops - take the callback of a trace array's ops away
 * @tr: the array; its ops is not registered
 *
 * Context: process, trace_types_lock held.
 */
void ftrace_reset_array_ops(struct trace_array *tr)
{
	tr->ops->func = ftrace_stub;
}

/**
 * ftrace_set_callback - give the ops of a trace array another callback
 * @ops: the ops
 * @func: the callback
 *
 * If it is registered it stays so: no call site changes, and nothing can fail.
 * Callers under way may still be in the old one.
 *
 * Context: process.
 */
void ftrace_set_callback(struct ftrace_ops *ops, ftrace_func_t func)
{
	guard(mutex)(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		ops->func = func;
		return;
	}
	WRITE_ONCE(ops->saved_func, func);
	if (ops->flags & FTRACE_OPS_FL_PID)
		ftrace_pid_update_ops(ops);
	else
		ftrace_ops_set_func(ops, func);
}
