// SPDX-License-Identifier: GPL-2.0
/*
 * Registering ops: what every user of the core calls.
 */
#include "../ops/ops.h"
#include "users.h"

/**
 * register_ftrace_function - have an ops called for the functions it filters
 * @ops: the ops; must stay until it is unregistered
 *
 * Context: process.
 * Return: 0 or an error of ftrace_startup().
 */
int register_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	ftrace_ops_init(ops);
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
		return ftrace_register_ipmodify(ops);
	mutex_lock(&ftrace_lock);
	ret = ftrace_startup(ops);
	mutex_unlock(&ftrace_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_function);

/**
 * unregister_ftrace_function - have an ops no longer called
 * @ops: the ops; may be freed when this returns 0
 *
 * Context: process; may sleep for a grace period.
 * Return: 0 or an error of ftrace_shutdown().
 */
int unregister_ftrace_function(struct ftrace_ops *ops)
{
	int ret;

	if (ops->flags & FTRACE_OPS_FL_IPMODIFY) {
		ret = ftrace_unregister_ipmodify(ops);
	} else {
		mutex_lock(&ftrace_lock);
		ret = ftrace_shutdown(ops);
		mutex_unlock(&ftrace_lock);
	}
	if (!ret)
		ftrace_ops_wait(ops);
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_function);
