// SPDX-License-Identifier: GPL-2.0
/*
 * Registering ops, and the dispatcher for call sites without a trampoline.
 *
 * A call site that is traced calls the trampoline of its set of ops, which calls
 * each of them. If there is none, it calls ftrace_caller, which calls the
 * dispatcher, which calls each registered ops that wants the site.
 *
 * Order matters. An ops goes on the list after its call sites call, so until
 * then those without a trampoline find nobody to call. It leaves the list before
 * its sites are turned off: the stop of the machine that turns them off then
 * also ends every walk of the list that may still have seen it, since walkers
 * cannot be preempted and a stop waits for all that cannot be. A callback that
 * a trampoline calls may be preempted: that is what ftrace_ops_wait() waits for.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/sysctl.h>

#include "../internal.h"
#include "../tracers/tracers.h"

/* Records, sets of ops, the list of ops and their filters. */
DEFINE_MUTEX(ftrace_lock);

/*
 * The registered ops. Changed under ftrace_lock; walked with preemption off,
 * by callers that RCU may not even be watching.
 */
struct ftrace_ops __rcu *ftrace_ops_list __read_mostly;

bool ftrace_disabled __read_mostly;
int ftrace_enabled __read_mostly = 1;

/* The tracer of the top-level trace array. */
struct ftrace_ops global_ops = {
	.func		= ftrace_stub,
	.flags		= FTRACE_OPS_FL_PID,
	.name		= "trace",
};

/**
 * arch_ftrace_ops_list_func - call every ops that wants a call site
 * @ip: the call site
 * @parent_ip: where its function returns to
 * @op: not used
 * @fregs: for the callbacks
 *
 * What ftrace_call calls, by the name ftrace_ops_list_func that the linker
 * script gives it. An ops is called once for a call, under one
 * recursion guard for all of them; one that needs RCU is passed over where RCU
 * does not watch.
 *
 * Context: any, NMI included.
 */
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	int bit;

	if (unlikely(READ_ONCE(ftrace_disabled)))
		return;
	bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	if (bit < 0)
		return;

	for (op = rcu_dereference_raw(ftrace_ops_list); op;
	     op = rcu_dereference_raw(op->next)) {
		if (op->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_SUBOP))
			continue;
		if (op->flags & FTRACE_OPS_FL_RCU && !rcu_is_watching())
			continue;
		if (ftrace_ops_test(op, ip, NULL))
			op->func(ip, parent_ip, op, fregs);
	}
	trace_clear_recursion(bit);
}

/**
 * ftrace_ops_guarded - call one ops that leaves its protection to others
 * @ip: the call site
 * @parent_ip: where its function returns to
 * @op: the ops
 * @fregs: for the callback
 *
 * What a trampoline calls for an ops with FTRACE_OPS_FL_RECURSION or
 * FTRACE_OPS_FL_RCU.
 *
 * Context: any, NMI included.
 */
void ftrace_ops_guarded(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	bool needs_rcu = op->flags & FTRACE_OPS_FL_RCU;
	int level;

	if (needs_rcu && !rcu_is_watching())
		return;
	level = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	if (level >= 0) {
		op->func(ip, parent_ip, op, fregs);
		trace_clear_recursion(level);
	}
}

/**
 * ftrace_ops_test - does an ops want a call site?
 * @ops: the ops
 * @ip: the call site
 * @regs: not used, a site is known by its address alone
 *
 * Context: any, with preemption off.
 */
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs)
{
	/* A tracer may get another filter meanwhile: both halves are of one. */
	struct ftrace_ops_hash *h = READ_ONCE(ops->func_hash);
	struct ftrace_filter f = {
		.filter	 = rcu_dereference_raw(h->filter_hash),
		.skip	 = rcu_dereference_raw(h->notrace_hash),
	};

	return ftrace_filter_wants(&f, ip);
}

/**
 * ftrace_ops_init - make an ops fit for use, once
 * @ops: the ops
 *
 * Context: process; the owner of @ops calls it first without racing itself.
 */
void ftrace_ops_init(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	INIT_LIST_HEAD(&ops->subop_list);
	ops->func_hash = &ops->local_hash;
	ops->flags |= FTRACE_OPS_FL_INITIALIZED;
}

/**
 * ftrace_ops_filter - the filter of an ops
 * @ops: the ops
 * @f: where to put it
 *
 * Context: ftrace_lock held; what @f points at is there as long as it is.
 */
void ftrace_ops_filter(struct ftrace_ops *ops, struct ftrace_filter *f)
{
	struct ftrace_ops_hash *h = ops->func_hash;

	f->filter = rcu_dereference_protected(h->filter_hash,
					      lockdep_is_held(&ftrace_lock));
	f->skip = rcu_dereference_protected(h->notrace_hash,
					    lockdep_is_held(&ftrace_lock));
}

static void list_add_ops(struct ftrace_ops *ops)
{
	RCU_INIT_POINTER(ops->next, rcu_access_pointer(ftrace_ops_list));
	rcu_assign_pointer(ftrace_ops_list, ops);
}

static void list_del_ops(struct ftrace_ops *ops)
{
	struct ftrace_ops __rcu **p = &ftrace_ops_list;
	struct ftrace_ops *at;

	while ((at = rcu_dereference_protected(*p,
					       lockdep_is_held(&ftrace_lock)))) {
		if (at == ops) {
			rcu_assign_pointer(*p, rcu_access_pointer(ops->next));
			return;
		}
		p = &at->next;
	}
}

/* What this core, or this state of it, cannot do for an ops. */
static int check_ops(const struct ftrace_ops *ops, const struct ftrace_filter *f)
{
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
	if (!ftrace_filter_fits(ops, f))
		return -EINVAL;
	if (!ftrace_enabled && ops->flags & FTRACE_OPS_FL_PERMANENT)
		return -EBUSY;
	return 0;
}

static int startup(struct ftrace_ops *ops)
{
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

	/* Trampolines are made with the callback that is to be called first. */
	ops->saved_func = ops->func;
	ftrace_pid_update_ops(ops);
	ret = ftrace_update_ops(ops, NULL, &f);
	if (ret) {
		ftrace_ops_set_func(ops, ops->saved_func);
		return ret;
	}
	ops->flags |= FTRACE_OPS_FL_ENABLED;
	list_add_ops(ops);
	return 0;
}

/**
 * ftrace_startup - register an ops
 * @ops: the ops, initialised
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL (its flags, its name, or a call site that is not what it
 * should be), -EBUSY (registered already; permanent while tracing is disabled),
 * -ENODEV (ftrace is dead), -ENOMEM, -ENOSPC; then nothing has changed.
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
	if (ops->flags & FTRACE_OPS_FL_DYNAMIC &&
	    !(ops->flags & FTRACE_OPS_FL_TRACE_ARRAY))
		synchronize_rcu_tasks();
}

/**
 * ftrace_shutdown - unregister an ops
 * @ops: the ops
 *
 * When it returns 0, the ops' callback will not be called again, though a task
 * may be preempted in it: see ftrace_ops_wait(). A call site that is not what it
 * should be does not keep an ops from going: it is reported and set aside. Nor
 * does want of memory, or that tracing has been ended by ftrace_kill().
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 * Return: 0, or -EBUSY (not registered).
 */
int ftrace_shutdown(struct ftrace_ops *ops)
{
	struct ftrace_filter f;
	bool stopped;

	lockdep_assert_held(&ftrace_lock);
	if (WARN_ON_ONCE(!(ops->flags & FTRACE_OPS_FL_ENABLED)))
		return -EBUSY;

	ftrace_ops_filter(ops, &f);
	list_del_ops(ops);
	stopped = ftrace_update_leave(ops, &f);

	ops->flags &= ~FTRACE_OPS_FL_ENABLED;
	ftrace_array_left(ops);
	ftrace_tracer_leave(ops);
	ftrace_ops_set_func(ops, ops->saved_func);
	if (ops->flags & FTRACE_OPS_FL_DYNAMIC && !stopped)
		synchronize_rcu_tasks_rude();
	return 0;
}

/**
 * register_ftrace_function - have an ops called for the functions it filters
 * @ops: the ops; must stay until it is unregistered
 *
 * Context: process.
 * Return: 0 or an error as of ftrace_startup().
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
 * unregister_ftrace_function - have an ops called no more
 * @ops: the ops; may be freed when this returns 0
 *
 * Context: process; may sleep for a grace period.
 * Return: 0 or an error as of ftrace_shutdown().
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

/**
 * ftrace_ops_set_func - give an ops another callback
 * @ops: the ops
 * @func: the callback
 *
 * Callers under way may still be in the old one.
 *
 * Context: ftrace_lock held.
 */
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	lockdep_assert_held(&ftrace_lock);
	if (ops->func == func)
		return;
	WRITE_ONCE(ops->func, func);
	ftrace_opsets_set_func(ops);
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

/**
 * ftrace_kill - end function tracing for good
 *
 * For when the kernel can no more be trusted with it. Nobody is let in any more:
 * no ops is registered, no filter changes, ftraced makes no round, and modules that
 * come are not looked at. All that answers -ENODEV.
 *
 * This may be called from anywhere, so it turns no call site off; it leaves those
 * without a trampoline nobody to call. But whoever is in is let out: those who
 * unregister free what their sites call, most of them whatever the answer is. So
 * ftrace_shutdown() works as ever, and so does modify_ftrace_direct(), by which
 * one BPF program of several leaves. They alone still change call sites, those that
 * are what they should be.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	/*
	 * The list stays: an update that this comes into still has to find all who
	 * want a site. The dispatchers look at the flag.
	 */
	WRITE_ONCE(ftrace_disabled, true);
	ftrace_enabled = 0;
	kprobe_ftrace_kill();
}

/**
 * ftrace_is_dead - has function tracing been ended?
 *
 * Context: any.
 */
int ftrace_is_dead(void)
{
	return ftrace_disabled;
}

static bool permanent_ops_active(void)
{
	struct ftrace_ops *ops = NULL;

	while ((ops = ftrace_next_ops(ops))) {
		if (ops->flags & FTRACE_OPS_FL_PERMANENT)
			return true;
	}
	return false;
}

static int ftrace_enable_sysctl(const struct ctl_table *table, int write,
				void *buffer, size_t *lenp, loff_t *ppos)
{
	int was, ret;

	mutex_lock(&ftrace_lock);
	was = ftrace_enabled;
	ret = ftrace_disabled ? -ENODEV :
	      proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || !was == !ftrace_enabled)
		goto out;

	if (!ftrace_enabled && permanent_ops_active())
		ret = -EBUSY;
	else
		ret = ftrace_update_enabled(ftrace_enabled);
	if (ret)
		ftrace_enabled = was;
out:
	mutex_unlock(&ftrace_lock);
	return ret;
}

static struct ctl_table enabled_table = {
	.procname	= "ftrace_enabled",
	.mode		= 0644,
	.proc_handler	= ftrace_enable_sysctl,
	.data		= &ftrace_enabled,
	.maxlen		= sizeof(ftrace_enabled),
};

static int __init add_sysctl(void)
{
	return register_sysctl_sz("kernel", &enabled_table, 1) ? 0 : -ENOMEM;
}
late_initcall(add_sysctl);

/* Those on the command line were registered before there could be trampolines. */
static int __init make_tramps(void)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_update_tramps();
}
early_initcall(make_tramps);
