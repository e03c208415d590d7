// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks that a named tracer is for, when set_ftrace_pid was written with it
 * as the default. Those of the trace array's own tracer are in pid.c.
 *
 * As there, a list is asked when a CPU switches to a task, and a call looks only
 * at what that has left behind.
 */
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <trace/events/sched.h>

#include "internal.h"
#include "tracers.h"

/**
 * struct ftrace_tracer_pids - which tasks a tracer is for
 * @refs: the tracer while it runs, and each open file that changes the lists
 * @t: the tracer; NULL: it has left; ftrace_lock
 * @tr: its trace array
 * @list: the tasks to trace, and those not to; NULL: all, none. Changed under
 *	  ftrace_lock by who holds pid_mutex of pid.c, which is enough to read
 * @hooked: the lists are asked at each switch; ftrace_lock
 * @follows: children go into the lists, too; ftrace_lock
 * @verdict: FTRACE_PID_IGNORE, or the PID of the task that runs on that CPU; or
 *	     FTRACE_PID_TRACE while there is no list
 */
struct ftrace_tracer_pids {
	refcount_t			refs;
	struct ftrace_tracer		*t;
	struct trace_array		*tr;
	struct trace_pid_list __rcu	*list[2];
	bool				hooked;
	bool				follows;
	int __percpu			*verdict;
};

static int slot_of(int type)
{
	return type == TRACE_PIDS ? 0 : 1;
}

static bool has_pids(const struct ftrace_tracer_pids *p)
{
	return rcu_access_pointer(p->list[0]) || rcu_access_pointer(p->list[1]);
}

/* ---- what tasks do ------------------------------------------------------- */

/* Preemption is off. */
static void judge_task(struct ftrace_tracer_pids *p, struct task_struct *task)
{
	bool ignore;

	ignore = trace_ignore_this_task(rcu_dereference_sched(p->list[0]),
					rcu_dereference_sched(p->list[1]), task);
	this_cpu_write(*p->verdict, ignore ? FTRACE_PID_IGNORE : task->pid);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	judge_task(data, next);
}

/* By on_each_cpu(), so with interrupts off. */
static void judge_current(void *data)
{
	judge_task(data, current);
}

static void on_fork(void *data, struct task_struct *self,
		    struct task_struct *child)
{
	struct ftrace_tracer_pids *p = data;

	trace_filter_add_remove_task(rcu_dereference_sched(p->list[0]), self, child);
	trace_filter_add_remove_task(rcu_dereference_sched(p->list[1]), self, child);
}

static void on_free(void *data, struct task_struct *task)
{
	struct ftrace_tracer_pids *p = data;

	trace_filter_add_remove_task(rcu_dereference_sched(p->list[0]), NULL, task);
	trace_filter_add_remove_task(rcu_dereference_sched(p->list[1]), NULL, task);
}

/* ---- the call ------------------------------------------------------------ */

/**
 * ftrace_tracer_ignores_task - is a tracer not for the task that runs?
 * @ops: the ops of the tracer
 *
 * Context: any, NMI included, preemption off; @ops may have left.
 */
bool ftrace_tracer_ignores_task(const struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = READ_ONCE(ops->tracer);
	struct ftrace_tracer_pids *p = t ? READ_ONCE(t->pids) : NULL;
	int pid;

	if (likely(!p))
		return false;
	pid = this_cpu_read(*p->verdict);
	if (pid == FTRACE_PID_IGNORE)
		return true;
	/* Behind the switch, but still the task before: it is not known. */
	return pid != FTRACE_PID_TRACE && pid != current->pid;
}

/**
 * ftrace_tracer_pid_func - the callback in front of that of a tracer with lists
 * @ip: the call site
 * @parent_ip: where its function returns to
 * @op: the ops of the tracer
 * @fregs: for the callback
 *
 * Context: any, NMI included.
 */
void ftrace_tracer_pid_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_func_t func;
	bool ignore;

	preempt_disable_notrace();
	ignore = ftrace_tracer_ignores_task(op);
	preempt_enable_notrace();
	if (ignore)
		return;
	func = READ_ONCE(op->saved_func);
	func(ip, parent_ip, op, fregs);
}

/**
 * ftrace_tracer_has_pids - is a tracer for some tasks only?
 * @ops: the ops, that may be a tracer
 *
 * Context: process, ftrace_lock held.
 */
bool ftrace_tracer_has_pids(const struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	return ops->tracer && ops->tracer->pids && has_pids(ops->tracer->pids);
}

/* ---- the lists ----------------------------------------------------------- */

static int follow(struct ftrace_tracer_pids *p)
{
	int ret;

	if (p->follows)
		return 0;
	ret = register_trace_sched_process_fork(on_fork, p);
	if (ret)
		return ret;
	ret = register_trace_sched_process_free(on_free, p);
	if (ret)
		unregister_trace_sched_process_fork(on_fork, p);
	p->follows = !ret;
	return ret;
}

static void follow_no_more(struct ftrace_tracer_pids *p)
{
	if (!p->follows)
		return;
	p->follows = false;
	unregister_trace_sched_process_fork(on_fork, p);
	unregister_trace_sched_process_free(on_free, p);
}

/* Have the lists asked. */
static int hook(struct ftrace_tracer_pids *p)
{
	int ret;

	if (p->hooked)
		return 0;
	ret = register_trace_sched_switch(on_sched_switch, p);
	if (ret)
		return ret;
	if (p->tr->trace_flags & TRACE_ITER_FUNC_FORK)
		ret = follow(p);
	if (ret)
		unregister_trace_sched_switch(on_sched_switch, p);
	p->hooked = !ret;
	return ret;
}

static void unhook(struct ftrace_tracer_pids *p)
{
	if (!p->hooked)
		return;
	p->hooked = false;
	follow_no_more(p);
	unregister_trace_sched_switch(on_sched_switch, p);
}

/* When no switch can be under way any more that leaves another verdict. */
static void forget_cpus(struct ftrace_tracer_pids *p)
{
	int *verdict;
	int cpu;

	for_each_possible_cpu(cpu) {
		verdict = per_cpu_ptr(p->verdict, cpu);
		WRITE_ONCE(*verdict, FTRACE_PID_TRACE);
	}
}

/**
 * ftrace_tracer_pids_get - the lists of a tracer
 * @t: the tracer
 *
 * Context: process, ftrace_lock held.
 * Return: the lists, for ftrace_tracer_pids_put(); -ENOMEM; -EOPNOTSUPP if it
 * hooks the returns of functions and does not look at them.
 */
struct ftrace_tracer_pids *ftrace_tracer_pids_get(struct ftrace_tracer *t)
{
	struct ftrace_tracer_pids *p = t->pids;

	lockdep_assert_held(&ftrace_lock);
	if (t->ops->flags & FTRACE_OPS_FL_SUBOP &&
	    !(t->ops->flags & FTRACE_OPS_FL_PID))
		return ERR_PTR(-EOPNOTSUPP);
	if (p) {
		refcount_inc(&p->refs);
		return p;
	}
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return ERR_PTR(-ENOMEM);
	p->verdict = alloc_percpu(int);
	if (!p->verdict) {
		kfree(p);
		return ERR_PTR(-ENOMEM);
	}
	forget_cpus(p);
	p->t = t;
	p->tr = t->tr;
	refcount_set(&p->refs, 2);
	/* A callback that finds it finds the verdicts set. */
	smp_store_release(&t->pids, p);
	return p;
}

/**
 * ftrace_tracer_pids_put - have done with lists
 * @p: the lists
 *
 * Context: process.
 */
void ftrace_tracer_pids_put(struct ftrace_tracer_pids *p)
{
	if (!refcount_dec_and_test(&p->refs))
		return;
	trace_pid_list_free(rcu_dereference_protected(p->list[0], true));
	trace_pid_list_free(rcu_dereference_protected(p->list[1], true));
	free_percpu(p->verdict);
	kfree(p);
}

/**
 * ftrace_tracer_pids_leave - a tracer leaves
 * @t: the tracer
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_tracer_pids_leave(struct ftrace_tracer *t)
{
	struct ftrace_tracer_pids *p = t->pids;

	lockdep_assert_held(&ftrace_lock);
	if (!p)
		return;
	unhook(p);
	p->t = NULL;
	WRITE_ONCE(t->pids, NULL);
	/* Switches that look at the lists, and calls that look at a verdict. */
	tracepoint_synchronize_unregister();
	ftrace_tracer_pids_put(p);
}

/**
 * ftrace_tracer_pids_list - one of the lists
 * @p: the lists
 * @type: TRACE_PIDS or TRACE_NO_PIDS
 *
 * Context: process, pid_mutex of pid.c held.
 */
struct trace_pid_list *ftrace_tracer_pids_list(struct ftrace_tracer_pids *p,
					       int type)
{
	return rcu_dereference_protected(p->list[slot_of(type)], true);
}

/**
 * ftrace_tracer_pids_replace - replace one of the lists
 * @p: the lists
 * @type: TRACE_PIDS or TRACE_NO_PIDS
 * @list: the new one, not the caller's any more if this succeeds; NULL: none
 *
 * Context: process, pid_mutex of pid.c held; may sleep for a grace period.
 * Return: 0; -ENOENT if the tracer has left, or an error of a tracepoint.
 */
int ftrace_tracer_pids_replace(struct ftrace_tracer_pids *p, int type,
			       struct trace_pid_list *list)
{
	struct trace_pid_list *old = ftrace_tracer_pids_list(p, type);
	int ret;

	if (!old && !list)
		return 0;
	scoped_guard(mutex, &ftrace_lock) {
		ret = p->t ? hook(p) : -ENOENT;
		if (ret)
			return ret;
		rcu_assign_pointer(p->list[slot_of(type)], list);
		/* The tasks that run now had their switch before. */
		if (has_pids(p))
			on_each_cpu(judge_current, p, 1);
		else
			unhook(p);
		ftrace_pid_update_ops(p->t->ops);
	}
	tracepoint_synchronize_unregister();
	if (!has_pids(p))
		forget_cpus(p);
	trace_pid_list_free(old);
	return 0;
}

/**
 * ftrace_tracers_follow_fork - have lists follow forks and exits, or not
 * @tr: of the tracers of which trace array
 * @on: follow
 *
 * Context: process, trace_types_lock held.
 * Return: 0, or an error of a tracepoint, and none of them follows.
 */
int ftrace_tracers_follow_fork(struct trace_array *tr, bool on)
{
	struct ftrace_tracer *t = NULL;
	int ret = 0;

	guard(mutex)(&ftrace_lock);
	while (on && !ret && (t = ftrace_tracer_next(tr, t))) {
		if (t->pids && t->pids->hooked)
			ret = follow(t->pids);
	}
	if (on && !ret)
		return 0;
	t = NULL;
	while ((t = ftrace_tracer_next(tr, t))) {
		if (t->pids)
			follow_no_more(t->pids);
	}
	return ret;
}
