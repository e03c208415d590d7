// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks that a function tracer is for.
 *
 * A trace array has two lists of PIDs, for its own tracer and for each ops that
 * asks for them with FTRACE_OPS_FL_PID. A named tracer may have lists of its own.
 *
 * To look a PID up in a list is too much for each traced call. So it is done when
 * a CPU switches to a task, and the verdict is left on that CPU. While a list
 * restricts an ops, pid_func() stands in front of its callback and looks at that.
 *
 * The files that change the lists are in files/pid.c.
 */
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <trace/events/sched.h>

#include "../ops/ops.h"
#include "tracers.h"
#include "../fgraph.h"

/* Those whose owner is still there; ftrace_lock. */
static LIST_HEAD(owned);

static bool has_pids(const struct ftrace_pids *p)
{
	return rcu_access_pointer(p->list[FTRACE_PIDS]) ||
	       rcu_access_pointer(p->list[FTRACE_NO_PIDS]);
}

/* ---- what tasks do ------------------------------------------------------- */

/* Decide for a task that is about to run here, or does. Preemption is off. */
static void judge_task(struct ftrace_pids *p, struct task_struct *task)
{
	struct trace_pid_list *no_pids, *pids;
	bool ignore;

	pids = rcu_dereference_sched(p->list[FTRACE_PIDS]);
	no_pids = rcu_dereference_sched(p->list[FTRACE_NO_PIDS]);
	ignore = trace_ignore_this_task(pids, no_pids, task);
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

/* @self forks @task; NULL: @task is freed. */
static void add_or_remove(struct ftrace_pids *p, struct task_struct *self,
			  struct task_struct *task)
{
	int i;

	for (i = 0; i < FTRACE_PID_LISTS; i++)
		trace_filter_add_remove_task(rcu_dereference_sched(p->list[i]),
					     self, task);
}

static void on_fork(void *data, struct task_struct *self,
		    struct task_struct *child)
{
	add_or_remove(data, self, child);
}

static void on_free(void *data, struct task_struct *task)
{
	add_or_remove(data, NULL, task);
}

/* ---- the call ------------------------------------------------------------ */

/**
 * ftrace_pids_ignore - is an ops not for the task that runs?
 * @ops: the ops; it may have left
 *
 * The verdict on a task holds wherever the task is moved to.
 *
 * Context: any, NMI included, preemption off.
 */
bool ftrace_pids_ignore(const struct ftrace_ops *ops)
{
	struct ftrace_pids *p = READ_ONCE(ops->pids);
	int pid;

	if (likely(!p))
		return false;
	pid = this_cpu_read(*p->verdict);
	if (pid == FTRACE_PID_IGNORE)
		return true;
	/* This task has left the CPU in sched_switch, but still runs. */
	return pid != FTRACE_PID_TRACE && pid != current->pid;
}

/* Called in place of the callback of an ops that is for some tasks only. */
static void pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_func_t func;
	bool ignore;

	preempt_disable_notrace();
	ignore = ftrace_pids_ignore(op);
	preempt_enable_notrace();
	if (ignore)
		return;
	/* ftrace_set_callback() may be changing it. */
	func = READ_ONCE(op->saved_func);
	func(ip, parent_ip, op, fregs);
}

/* ---- whose lists an ops obeys --------------------------------------------- */

/* The lists of its trace array; the array's own ops have these for good. */
static struct ftrace_pids *array_pids(const struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;

	if (!(ops->flags & FTRACE_OPS_FL_PID) || !tr)
		return NULL;
	return READ_ONCE(tr->ops->pids);
}

/**
 * ftrace_pids_enabled - does a list of its trace array restrict an ops?
 * @ops: the ops
 *
 * Context: any, NMI included, with ftrace_lock held or preemption off; the answer
 * holds as long as ftrace_lock does.
 */
bool ftrace_pids_enabled(struct ftrace_ops *ops)
{
	struct ftrace_pids *p = array_pids(ops);

	return p && has_pids(p);
}

/**
 * ftrace_pid_update_ops - have an ops' callback preceded by the check, or not
 * @ops: the ops, its own callback in @ops->saved_func
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_pid_update_ops(struct ftrace_ops *ops)
{
	struct ftrace_pids *p = ops->tracer ? ops->tracer->pids : NULL;

	lockdep_assert_held(&ftrace_lock);
	if (!p || !has_pids(p))
		p = array_pids(ops);
	/* A call that sees the lists sees the verdicts, too. */
	smp_store_release(&ops->pids, p);
	/* A graph user has its own entry function for that. */
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		return;
	ftrace_ops_set_func(ops, p && has_pids(p) ? pid_func : ops->saved_func);
}

static void update_all_ops(void)
{
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops)
		ftrace_pid_update_ops(ops);
	fgraph_update_pid_func();
}

/* ---- hooks --------------------------------------------------------------- */

static int follow(struct ftrace_pids *p)
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

static void unfollow(struct ftrace_pids *p)
{
	if (!p->follows)
		return;
	p->follows = false;
	unregister_trace_sched_process_fork(on_fork, p);
	unregister_trace_sched_process_free(on_free, p);
}

/* Have the lists asked. */
static int hook(struct ftrace_pids *p)
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

static void unhook(struct ftrace_pids *p)
{
	if (!p->hooked)
		return;
	p->hooked = false;
	unfollow(p);
	unregister_trace_sched_switch(on_sched_switch, p);
}

/**
 * ftrace_try_follow_fork - have the lists follow forks and exits, or not
 * @tr: the trace array: its lists, and those of its tracers
 * @enable: follow
 *
 * A PID leaves the lists when its task is freed, not when it begins to exit:
 * what it does last is traced as well.
 *
 * Context: process, trace_types_lock held.
 * Return: 0, or an error of a tracepoint, and nothing follows.
 */
int ftrace_try_follow_fork(struct trace_array *tr, bool enable)
{
	struct ftrace_pids *p;
	int ret = 0;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(p, &owned, node) {
		if (enable && !ret && p->tr == tr && p->hooked)
			ret = follow(p);
	}
	if (enable && !ret)
		return 0;
	list_for_each_entry(p, &owned, node) {
		if (p->tr == tr)
			unfollow(p);
	}
	return ret;
}

/* ---- the lists ----------------------------------------------------------- */

/* Called when no CPU can be in a hook that would set another verdict. */
static void clear_verdicts(struct ftrace_pids *p)
{
	int *verdict;
	int cpu;

	for_each_possible_cpu(cpu) {
		verdict = per_cpu_ptr(p->verdict, cpu);
		WRITE_ONCE(*verdict, FTRACE_PID_TRACE);
	}
}

static struct ftrace_pids *pids_alloc(struct trace_array *tr, bool of_array)
{
	struct ftrace_pids *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	if (of_array) {
		p->verdict = &tr->array_buffer.data->ftrace_ignore_pid;
	} else {
		p->own_verdict = alloc_percpu(int);
		p->verdict = p->own_verdict;
	}
	if (!p->verdict) {
		kfree(p);
		return NULL;
	}
	refcount_set(&p->refs, 1);
	mutex_init(&p->lock);
	p->tr = tr;
	clear_verdicts(p);
	return p;
}

/**
 * ftrace_pids_get - the lists of a trace array or of a tracer
 * @tr: the trace array
 * @t: the tracer; NULL: those of @tr
 *
 * Context: process, ftrace_lock held.
 * Return: the lists, for ftrace_pids_put(); -ENOMEM; -EOPNOTSUPP if @t hooks the
 * returns of functions and does not look at them.
 */
struct ftrace_pids *ftrace_pids_get(struct trace_array *tr,
				    struct ftrace_tracer *t)
{
	struct ftrace_pids **owner = t ? &t->pids : &tr->ops->pids;
	struct ftrace_pids *p = *owner;

	lockdep_assert_held(&ftrace_lock);
	if (t && t->ops->flags & FTRACE_OPS_FL_SUBOP &&
	    !(t->ops->flags & FTRACE_OPS_FL_PID))
		return ERR_PTR(-EOPNOTSUPP);
	if (!p) {
		p = pids_alloc(tr, !t);
		if (!p)
			return ERR_PTR(-ENOMEM);
		list_add(&p->node, &owned);
		/* From now on, calls look at the lists of an array. */
		smp_store_release(owner, p);
	}
	refcount_inc(&p->refs);
	return p;
}

/**
 * ftrace_pids_put - drop a reference to lists
 * @p: the lists
 *
 * Context: process.
 */
void ftrace_pids_put(struct ftrace_pids *p)
{
	int i;

	if (!refcount_dec_and_test(&p->refs))
		return;
	for (i = 0; i < FTRACE_PID_LISTS; i++)
		trace_pid_list_free(rcu_dereference_protected(p->list[i], true));
	free_percpu(p->own_verdict);
	kfree(p);
}

/* Their owner has let go of them: wait for all that still use them. */
static void retire(struct ftrace_pids *p)
{
	list_del(&p->node);
	p->gone = true;
	unhook(p);
	/* Switches that look at the lists, and calls that look at a verdict: anywhere. */
	tracepoint_synchronize_unregister();
	synchronize_rcu_tasks_rude();
	ftrace_pids_put(p);
}

/**
 * ftrace_pids_leave - a tracer leaves
 * @t: the tracer
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_pids_leave(struct ftrace_tracer *t)
{
	struct ftrace_pids *p = t->pids;

	lockdep_assert_held(&ftrace_lock);
	/* The lists of the array may go before this tracer is back. */
	if (t->ops != t->tr->ops)
		WRITE_ONCE(t->ops->pids, NULL);
	if (!p)
		return;
	t->pids = NULL;
	retire(p);
}

/**
 * ftrace_clear_pids - a trace array goes away
 * @tr: the trace array
 *
 * Context: process, may hold trace_types_lock; may sleep for a grace period.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	struct ftrace_pids *p;

	guard(mutex)(&ftrace_lock);
	p = tr->ops->pids;
	if (!p)
		return;
	WRITE_ONCE(tr->ops->pids, NULL);
	update_all_ops();
	retire(p);
}

/**
 * ftrace_pids_list - one of the lists
 * @p: the lists
 * @which: which of them
 *
 * Context: process, @p->lock held, for as long as the list is looked at.
 */
struct trace_pid_list *ftrace_pids_list(struct ftrace_pids *p,
					enum ftrace_pid_list which)
{
	return rcu_dereference_protected(p->list[which],
					 lockdep_is_held(&p->lock));
}

/**
 * ftrace_pids_replace - replace one of the lists
 * @p: the lists
 * @which: which of them
 * @list: the new one, not the caller's any more if this succeeds; NULL: none
 *
 * Context: process, @p->lock held; may sleep for a grace period.
 * Return: 0; -ENOENT if the tracer has left, or an error of a tracepoint.
 */
int ftrace_pids_replace(struct ftrace_pids *p, enum ftrace_pid_list which,
			struct trace_pid_list *list)
{
	struct trace_pid_list *old = ftrace_pids_list(p, which);
	int ret;

	if (!old && !list)
		return 0;
	scoped_guard(mutex, &ftrace_lock) {
		ret = p->gone ? -ENOENT : hook(p);
		if (ret)
			return ret;
		rcu_assign_pointer(p->list[which], list);
		/* Tasks that run now were switched to before the hooks came. */
		if (has_pids(p))
			on_each_cpu(judge_current, p, 1);
		update_all_ops();
		if (!has_pids(p))
			unhook(p);
	}
	if (!old)
		return 0;
	tracepoint_synchronize_unregister();
	if (!has_pids(p))
		clear_verdicts(p);
	trace_pid_list_free(old);
	return 0;
}
