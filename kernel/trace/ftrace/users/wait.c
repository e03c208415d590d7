// SPDX-License-Identifier: GPL-2.0
/*
 * Is a task still inside a callback that nothing leads to any more?
 *
 * An ops may be freed only when that is ruled out. RCU-tasks can rule it out, but it
 * polls, and takes a tenth of a second where no task is inside. Looking is quicker.
 * Once the last call is gone, and whoever was where preemption is off has left, nobody
 * enters any more. What remains are tasks that run or were preempted inside. Such a task
 * stays on a run queue, and what called its callback is on its stack: a trampoline, or
 * the architecture's entry code.
 *
 * A task has to be seen outside only once, at any time after that.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>

#include "../text/text.h"
#include "users.h"

#ifdef CONFIG_TASKS_RCU

/* How often to look, a tick apart, before RCU-tasks is asked. */
#define LOOKS	3

/* How often to run after a task that is never where it was seen last. */
#define CHASES	4

/* What a look at a task can show. A stack that cannot be read is INSIDE. */
enum { OUTSIDE, INSIDE, RUNNING };

/**
 * struct look - a look at the stacks of all tasks
 * @task: the one that is looked at
 * @direct: the ops had a direct call
 * @modules: and that led to a module
 * @seen: what a look at a running task has shown
 * @stack: room for the addresses on a stack; a deeper one counts as unreadable
 */
struct look {
	struct task_struct	*task;
	bool			direct;
	bool			modules;
	int			seen;
	unsigned long		stack[128];
};

/*
 * Nobody says how long the code is that a direct call leads to, or what it calls. But only
 * code that can be freed matters: that of modules, and generated code.
 */
static bool is_direct_code(const struct look *look, unsigned long addr)
{
	if (!look->direct || core_kernel_text(addr))
		return false;
	return look->modules || !is_module_text_address(addr);
}

static bool is_inside(const struct look *look, unsigned long addr)
{
	return is_ftrace_trampoline(addr) || ftrace_text_in_entry_code(addr) ||
	       is_direct_code(look, addr);
}

/* The task does not run; or it is current, and this is an interrupt. */
static int look_at_stack(struct look *look)
{
	int i, nr;

	nr = stack_trace_save_tsk_reliable(look->task, look->stack,
					   ARRAY_SIZE(look->stack));
	if (nr < 0)
		return INSIDE;
	for (i = 0; i < nr; i++) {
		if (is_inside(look, look->stack[i]))
			return INSIDE;
	}
	return OUTSIDE;
}

/* Called with the locks that keep the task from being switched to or from. */
static int look_at_task(struct task_struct *task, void *data)
{
	if (!task->on_rq)
		return OUTSIDE;
	return task_curr(task) ? RUNNING : look_at_stack(data);
}

static void look_at_current(void *data)
{
	struct look *look = data;

	look->seen = look->task == current ? look_at_stack(look) : RUNNING;
}

static bool task_is_outside(struct look *look)
{
	unsigned int chases = CHASES;
	int seen;

	do {
		seen = task_call_func(look->task, look_at_task, look);
		if (seen != RUNNING)
			break;
		/* If it is gone when the interrupt comes, it has been switched. */
		if (!smp_call_function_single(task_cpu(look->task),
					      look_at_current, look, true))
			seen = look->seen;
	} while (seen == RUNNING && --chases);
	return seen == OUTSIDE;
}

/*
 * A task that exits may have left the list of tasks. It is on RCU-tasks' own list then,
 * until it cannot be preempted any more. One that comes to that list later is in no
 * callback at that time, and gets into none of those that are asked about.
 */
static bool all_outside(struct look *look)
{
	struct task_struct *group, *task;

	if (rcu_tasks_exiting())
		return false;
	guard(rcu)();
	for_each_process_thread(group, task) {
		/*
		 * Off the run queue it sleeps, and nobody sleeps inside. What it did
		 * there before is done: schedule() has a barrier before the store.
		 */
		if (task == current || !smp_load_acquire(&task->on_rq))
			continue;
		look->task = task;
		if (!task_is_outside(look))
			return false;
	}
	return true;
}

static bool look_around(struct look *look, unsigned long direct)
{
	unsigned int looks = LOOKS;

	look->direct = direct;
	look->modules = is_module_address(direct);
	while (!all_outside(look)) {
		if (!--looks)
			return false;
		schedule_timeout_uninterruptible(1);
	}
	return true;
}

/**
 * ftrace_wait_for_tasks - wait until no task is inside a callback that was taken away
 * @direct: the code that a direct call led to, which may be freed, too; 0: there was none
 *
 * To be called when nothing leads there any more and whoever was where preemption is off
 * has left: after a stop of the machine, synchronize_rcu_tasks_rude(), or, if there is
 * CONFIG_TASKS_RCU, a grace period of RCU. It cannot tell callbacks apart, so a task
 * inside another one may make it wait, too.
 *
 * Context: process, no lock held that a traced task may need to get on.
 */
void ftrace_wait_for_tasks(unsigned long direct)
{
	struct look *look = kmalloc(sizeof(*look), GFP_KERNEL);
	bool outside = look && look_around(look, direct);

	kfree(look);
	if (!outside)
		synchronize_rcu_tasks();
}

#else /* !CONFIG_TASKS_RCU: no task is preempted inside, so each has left */
void ftrace_wait_for_tasks(unsigned long direct) { }
#endif
