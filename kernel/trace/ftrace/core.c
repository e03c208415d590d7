// SPDX-License-Identifier: GPL-2.0
/*
 * What all of the core stands on: its lock, whether it is alive, and how memory is freed
 * that callbacks look at.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "core.h"

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
#error "this core writes no pointer to an ops in front of functions"
#endif

/* Records, sets of ops, the list of ops and their filters. */
DEFINE_MUTEX(ftrace_lock);

bool ftrace_disabled __read_mostly;
int ftrace_enabled __read_mostly = 1;

/**
 * ftrace_kill - end function tracing for good
 *
 * For when the kernel can no longer be trusted with it. From then on no ops is
 * registered, no filter changes, ftraced makes no round, and modules that are
 * loaded are not looked at: whatever asks for it gets -ENODEV.
 *
 * This may be called from anywhere, so it turns no call site off. Call sites
 * without a trampoline call no tracer any more; trampolines go on. In either case
 * functions are sent elsewhere as before, by direct calls and by IPMODIFY: that is no
 * tracing. A BPF program may decide there what is allowed, and a kernel of which only
 * some functions are patched is worse than one of which all are. Tracers can
 * still be unregistered, because most of those who do that free what their call
 * sites call, whatever the answer is. So ftrace_shutdown() works as before, and
 * so does modify_ftrace_direct(), which is how one BPF program of several goes.
 * These two alone still change call sites, if the sites are what they should
 * be.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	/*
	 * The list stays: an update that this interrupts still has to find all
	 * the ops that want a site. The dispatchers look at the flag.
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

/* ---- memory that callbacks look at --------------------------------------- */

/*
 * After a grace period: a CPU that comes or goes runs callbacks that RCU does not wait
 * for, and may take long if a host holds it. It does so under cpus_write_lock. Nobody
 * waits for the last calls of one that has said that it is dead, for one that was given
 * up and goes on all the same, and during the boot for the first calls of those that are
 * brought up side by side. Where no code is noinstr idle CPUs run them as well.
 */
static void wait_where_rcu_is_not(void)
{
	if (!IS_ENABLED(CONFIG_ARCH_WANTS_NO_INSTR)) {
		synchronize_rcu_tasks_rude();
		return;
	}
	cpus_read_lock();
	cpus_read_unlock();
}

/**
 * ftrace_synchronize_rcu - wait for callbacks that look at what is no longer there
 *
 * They run with preemption off. It is expedited, since a user asked for what has to wait,
 * or removed a module. CPUs that are idle, or in user space with nohz_full, are not
 * interrupted. With rcupdate.rcu_normal, or PREEMPT_RT, it takes its time.
 *
 * Context: process, without text_mutex.
 */
void ftrace_synchronize_rcu(void)
{
	synchronize_rcu_expedited();
	wait_where_rcu_is_not();
}

/* What RCU has let go, to be freed by free_work. */
static LLIST_HEAD(quiet);

static void free_quiet(struct work_struct *work)
{
	struct llist_node *node = llist_del_all(&quiet), *next;

	wait_where_rcu_is_not();
	llist_for_each_safe(node, next, node) {
		kvfree(node);
		cond_resched();
	}
}

static DECLARE_WORK(free_work, free_quiet);

/**
 * ftrace_free_when_quiet - the grace period of ftrace_kvfree_rcu() is over
 * @head: where the memory begins; RCU needs it no more
 *
 * Context: any in which RCU calls back.
 */
void ftrace_free_when_quiet(struct rcu_head *head)
{
	static_assert(sizeof(struct llist_node) <= sizeof(struct rcu_head));
	if (llist_add((struct llist_node *)head, &quiet))
		schedule_work(&free_work);
}
