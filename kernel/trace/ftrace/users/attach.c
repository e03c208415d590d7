// SPDX-License-Identifier: GPL-2.0
/*
 * Attach an ops to its call sites, and detach it, for all of users/.
 */
#include <linux/rcupdate.h>

#include "../ops/ops.h"
#include "../tracers/tracers.h"
#include "users.h"

/* Is there something the ops asks for that this core cannot do, or not now? */
static int check_ops(const struct ftrace_ops *ops, const struct ftrace_filter *f)
{
	bool diverts = ops->flags & FTRACE_OPS_DIVERTS;

	if (ops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;
	if (WARN_ON_ONCE(ops->flags & FTRACE_OPS_FL_ENABLED))
		return -EBUSY;
	if (ftrace_disabled)
		return -ENODEV;
	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS)) {
		if (ops->flags & FTRACE_OPS_FL_SAVE_REGS &&
		    !(ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED))
			return -EINVAL;
		if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
			return -EINVAL;
	}
	/* Where no site was ever set aside, any filter will do for most. */
	if ((diverts || ftrace_nr_bad) && !ftrace_filter_is_usable(f, diverts) &&
	    (diverts || hlist_empty(&ops->func_hash->waiting[true])))
		return -EINVAL;
	if (!ftrace_enabled && ops->flags & FTRACE_OPS_FL_PERMANENT)
		return -EBUSY;
	return 0;
}

static int startup(struct ftrace_ops *ops)
{
	static u64 nr_arrivals;
	struct ftrace_filter f;
	int ret;

	ftrace_ops_filter(ops, &f);
	ret = check_ops(ops, &f);
	if (ret)
		return ret;

	if (ftrace_hash_empty(f.filter))
		ret = ftrace_discover_all();
	else
		ret = ftrace_discover_sites(f.filter->sites, f.filter->count);
	if (ret)
		return ret;

	/* Whoever frees such an ops relies on its grace period. */
	if (!is_kernel_core_data((unsigned long)ops))
		ops->flags |= FTRACE_OPS_FL_DYNAMIC;
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) &&
	    ops->flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
		ops->flags |= FTRACE_OPS_FL_SAVE_REGS;

	/* No set has it yet, so its place in them may change. */
	ops->arrival = ++nr_arrivals;

	/* Trampolines are made with the callback that is to be called first. */
	ops->saved_func = ops->func;
	ftrace_pid_update_ops(ops);
	ret = ftrace_update_ops(ops, NULL, &f);
	if (ret) {
		ftrace_ops_set_func(ops, ops->saved_func);
		return ret;
	}
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	ftrace_ops_list_add(ops);
	return 0;
}

/**
 * ftrace_startup - register an ops
 * @ops: the ops, initialised
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL (its flags, its name, or a call site that is not what it
 * should be), -EBUSY (registered already; permanent while kernel.ftrace_enabled is 0;
 * a function has another ops that this one cannot be beside), -ENODEV (ftrace is dead),
 * -ENOMEM, -ENOSPC; then no call site calls it, and its filter means what it did. A
 * site that was found bad stays set aside.
 */
int ftrace_startup(struct ftrace_ops *ops)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = ftrace_tracer_prepare(ops);
	if (ret)
		return ret;
	ret = startup(ops);
	if (ret)
		ftrace_tracer_cancel(ops);
	else
		ftrace_tracer_join(ops);
	return ret;
}

/**
 * ftrace_ops_wait - wait until no callback of an ops runs any more
 * @ops: the ops, after ftrace_shutdown()
 *
 * Only for an ops that may be freed. One of a trace array is freed with the
 * array, and waited for then, see ftrace_array_wait(); meanwhile its tracer may
 * come and go.
 *
 * Context: process, no lock held that a traced task may need to get on.
 */
void ftrace_ops_wait(const struct ftrace_ops *ops)
{
	if (!ftrace_ops_needs_no_wait(ops))
		ftrace_wait_for_tasks(ftrace_ops_direct(ops));
}

/**
 * ftrace_shutdown_unwaited - unregister an ops, and leave a wait to the caller
 * @ops: the ops, registered
 *
 * For those who unregister many: one synchronize_rcu_tasks_rude() is enough for all
 * of them. See ftrace_shutdown().
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 * Return: true if the callback of an ops that may be freed can still be called until
 * the caller has waited, or if somebody may still walk the list of ops by way of @ops.
 */
bool ftrace_shutdown_unwaited(struct ftrace_ops *ops)
{
	struct ftrace_filter f;
	bool stopped;

	lockdep_assert_held(&ftrace_lock);
	ftrace_ops_filter(ops, &f);
	ftrace_ops_list_del(ops);
	stopped = ftrace_update_leave(ops, &f);

	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	ftrace_array_left(ops);
	ftrace_tracer_leave(ops);
	ftrace_ops_set_func(ops, ops->saved_func);
	return !stopped && (ftrace_list_used || !ftrace_ops_needs_no_wait(ops));
}

/**
 * ftrace_shutdown - unregister an ops
 * @ops: the ops
 *
 * When it returns 0, the callback of an ops that may be freed will not be called
 * again, though a task may be preempted in it: see ftrace_ops_wait(). A call site
 * that is not what it should be does not keep an ops from going: it is reported and
 * set aside. Nor does want of memory, or that tracing has been ended by
 * ftrace_kill().
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 * Return: 0, or -EBUSY (not registered).
 */
int ftrace_shutdown(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	if (WARN_ON_ONCE(!(ops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EBUSY;
	if (ftrace_shutdown_unwaited(ops))
		synchronize_rcu_tasks_rude();
	return 0;
}
