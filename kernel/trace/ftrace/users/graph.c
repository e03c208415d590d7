// SPDX-License-Identifier: GPL-2.0
/*
 * Ops behind one callback: graph users.
 *
 * All of them hook the return of a function by the same callback, which must
 * run once for a call, however many of them want that. So each is a member of a
 * call site's set with a filter of its own, like any other ops, and the code
 * that serves the set calls the callback once, after all others: it replaces
 * the return address on the stack, and the others are to see who called.
 *
 * Call sites without a trampoline get there through ftrace_graph_call, which
 * is switched on while there is a graph user.
 */

#include "../ops/ops.h"
#include "users.h"
#include "../fgraph.h"

/**
 * ftrace_startup_subops - register an ops behind the callback of another
 * @ops: the one with the callback; it is not registered itself
 * @subops: the one with the filter
 * @command: FTRACE_START_FUNC_RET if it is the first graph user, else 0
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or an error of ftrace_startup().
 */
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			  int command)
{
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	ftrace_ops_init(ops);
	ftrace_ops_init(subops);
	if (WARN_ON_ONCE(subops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;
	if (ftrace_disabled)
		return -ENODEV;

	subops->func = ops->func;
	subops->flags |= FTRACE_OPS_FL_SUBOP;
	if (command & FTRACE_START_FUNC_RET)
		ret = ftrace_enable_ftrace_graph_caller();
	if (ret)
		return ret;
	ret = ftrace_startup(subops);
	if (ret) {
		if (command & FTRACE_START_FUNC_RET)
			ftrace_disable_ftrace_graph_caller();
		return ret;
	}
	list_add_tail(&subops->list, &ops->subop_list);
	return 0;
}

/**
 * ftrace_shutdown_subops - unregister an ops behind the callback of another
 * @ops: the one with the callback
 * @subops: the one with the filter
 * @command: FTRACE_STOP_FUNC_RET if it is the last graph user, else 0
 *
 * Functions under way are still seen to return.
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 * Return: 0 or an error of ftrace_shutdown().
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			   int command)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = ftrace_shutdown(subops);
	if (ret)
		return ret;
	list_del_init(&subops->list);
	if (command & FTRACE_STOP_FUNC_RET)
		ret = ftrace_disable_ftrace_graph_caller();
	return ret;
}
