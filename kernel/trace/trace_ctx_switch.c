// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer sched_switch: which task gets a CPU, and which one is woken up.
 *
 * A trace array that selects it is the data of its probes, so that any number
 * of them can have it at a time. While tracing is off the ring buffer takes
 * nothing; nobody has to be told.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "trace.h"

/*
 * Write an entry of @type: on this CPU @prev, in the state of that index, made
 * way for @next or was running when @next was woken up.
 *
 * Tracepoints have preemption disabled, and mostly a runqueue is locked: this
 * must neither wake anybody up nor wait. The wakeup tracers have writers, too,
 * but take the state from the task, see probe_switch().
 */
static void write_entry(struct trace_array *tr, int type,
			struct task_struct *prev, unsigned int prev_state,
			struct task_struct *next)
{
	/* May become the snapshot under us. */
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	unsigned int trace_ctx = tracing_gen_ctx_dec();
	struct ring_buffer_event *event;
	struct ctx_switch_entry *entry;

	if (atomic_read(&this_cpu_ptr(tr->array_buffer.data)->disabled))
		return;

	event = trace_buffer_lock_reserve(buffer, type, sizeof(*entry),
					  trace_ctx);
	if (!event)
		return;

	entry = ring_buffer_event_data(event);
	entry->prev_pid = prev->pid;
	entry->prev_prio = prev->prio;
	entry->prev_state = prev_state;
	entry->next_pid = next->pid;
	entry->next_prio = next->prio;
	entry->next_state = task_state_index(next);
	entry->next_cpu = task_cpu(next);
	trace_buffer_unlock_commit(tr, buffer, event, trace_ctx);

	/*
	 * Not left to tracing_start_cmdline_record(): its probe may run before
	 * this one and so have the names of the switch before, and it does not
	 * say when it cannot start. A CPU takes names after it wrote an entry.
	 */
	tracing_record_taskinfo_sched_switch(prev, next, TRACE_RECORD_CMDLINE);
}

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	unsigned int state;

	/*
	 * Another CPU may already be about to wake up @prev, so its own state
	 * is no longer why it went. A task that was preempted can run, whatever
	 * it is going to wait for.
	 */
	state = preempt ? 0 : __task_state_index(prev_state, prev->exit_state);
	write_entry(data, TRACE_CTX, prev, state, next);
}

/* The running task need not be the one that wakes @task: see sched_wakeup. */
static void probe_wakeup(void *data, struct task_struct *task)
{
	write_entry(data, TRACE_WAKE, current, task_state_index(current), task);
}

/* Context: process, trace_types_lock held. */
static int ctx_switch_init(struct trace_array *tr)
{
	int ret;

	ret = register_trace_sched_switch(probe_switch, tr);
	if (ret)
		return ret;

	ret = register_trace_sched_wakeup(probe_wakeup, tr);
	if (ret)
		goto no_wakeup;

	ret = register_trace_sched_wakeup_new(probe_wakeup, tr);
	if (ret)
		goto no_wakeup_new;

	return 0;

no_wakeup_new:
	unregister_trace_sched_wakeup(probe_wakeup, tr);
no_wakeup:
	unregister_trace_sched_switch(probe_switch, tr);
	tracepoint_synchronize_unregister();
	return ret;
}

/* Context: process, trace_types_lock held. @tr may be freed after this. */
static void ctx_switch_reset(struct trace_array *tr)
{
	unregister_trace_sched_wakeup_new(probe_wakeup, tr);
	unregister_trace_sched_wakeup(probe_wakeup, tr);
	unregister_trace_sched_switch(probe_switch, tr);
	tracepoint_synchronize_unregister();
}

#ifdef CONFIG_FTRACE_STARTUP_TEST
static int __init test_task(void *unused)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* Take all entries out of a buffer, counting those about task @pid. */
static void __init count_entries(struct trace_buffer *buffer, unsigned int pid,
				 unsigned int *switches, unsigned int *wakeups)
{
	struct ring_buffer_event *event;
	struct ctx_switch_entry *entry;
	int cpu;

	for_each_tracing_cpu(cpu) {
		while ((event = ring_buffer_consume(buffer, cpu, NULL, NULL))) {
			entry = ring_buffer_event_data(event);
			/* Others, of events or stacks, may be shorter. */
			if (entry->ent.type == TRACE_CTX)
				*switches += entry->next_pid == pid;
			else if (entry->ent.type == TRACE_WAKE)
				*wakeups += entry->next_pid == pid;
		}
	}
}

/*
 * A new kernel thread waits until it is woken up, so there are two wake-ups of
 * it (one as a new task) and it got a CPU before it is gone.
 */
static int __init ctx_switch_selftest(struct tracer *tracer,
				      struct trace_array *tr)
{
	unsigned int switches = 0, wakeups = 0, pid;
	struct task_struct *task;
	int ret;

	ret = tracer_init(tracer, tr);
	if (ret) {
		pr_warn("sched_switch: init returned %d\n", ret);
		return ret;
	}

	task = kthread_run(test_task, NULL, "ftrace-test");
	if (IS_ERR(task)) {
		tracer->reset(tr);
		pr_warn("sched_switch: no thread to test with\n");
		return PTR_ERR(task);
	}
	pid = task->pid;
	kthread_stop(task);

	tracer->reset(tr);
	/* Events that were enabled for the boot may go on writing. */
	tracing_stop();
	count_entries(tr->array_buffer.buffer, pid, &switches, &wakeups);
	tracing_start();

	if (switches && wakeups >= 2)
		return 0;
	pr_warn("sched_switch: %u switches, %u wake-ups found\n", switches,
		wakeups);
	return -ENOENT;
}
#endif /* CONFIG_FTRACE_STARTUP_TEST */

static struct tracer ctx_switch_tracer __tracer_data = {
	.name			= "sched_switch",
	.init			= ctx_switch_init,
	.reset			= ctx_switch_reset,
#ifdef CONFIG_FTRACE_STARTUP_TEST
	.selftest		= ctx_switch_selftest,
#endif
	.allow_instances	= true,
};

static int __init ctx_switch_register(void)
{
	return register_tracer(&ctx_switch_tracer);
}
core_initcall(ctx_switch_register);
