// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that callbacks look at is freed late enough, and waits for callbacks are long
 * enough.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>

#include "../core.h"

/* How long a test looks whether memory stays that should, in milliseconds. */
#define PATIENCE	300

/* Addresses of vmalloc() are not used again that soon. */
static bool is_there(const void *p)
{
	return find_vm_area(p);
}

static struct rcu_head *some_memory(struct kunit *test)
{
	struct rcu_head *head = vmalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, head);
	KUNIT_EXPECT_TRUE(test, is_there(head));
	return head;
}

static void expect_freed(struct kunit *test, const void *p)
{
	unsigned long end = jiffies + 120 * HZ;

	while (is_there(p) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE_MSG(test, is_there(p), "it is never freed");
}

/**
 * struct reader - a task that reads, as far as RCU knows
 * @reads: it has begun
 * @stop: it shall end
 * @ended: it is about to
 */
struct reader {
	struct completion	reads;
	bool			stop;
	bool			ended;
};

static int read_until_stop(void *data)
{
	unsigned long end = jiffies + msecs_to_jiffies(3 * PATIENCE);
	struct reader *r = data;

	rcu_read_lock();
	complete(&r->reads);
	while (!READ_ONCE(r->stop) && time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(r->ended, true);
	rcu_read_unlock();
	return 0;
}

/*
 * Where a reader cannot be preempted it may keep this test from running until it has
 * ended, and then nothing is proved.
 */
static void reader_test(struct kunit *test)
{
	struct reader r = { COMPLETION_INITIALIZER_ONSTACK(r.reads) };
	struct rcu_head *head = some_memory(test);
	struct task_struct *task;
	bool stays;

	task = kthread_run(read_until_stop, &r, "ftrace_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wait_for_completion(&r.reads);
	ftrace_kvfree_rcu(head);
	msleep(PATIENCE);
	stays = is_there(head);
	KUNIT_EXPECT_TRUE_MSG(test, stays || READ_ONCE(r.ended),
			      "freed while somebody reads it");
	WRITE_ONCE(r.stop, true);
	kthread_stop_put(task);
	expect_freed(test, head);
}

/* While a CPU comes or goes, it may read without RCU waiting for it. */
static void hotplug_test(struct kunit *test)
{
	struct rcu_head *head = some_memory(test);

	/* Nothing without CONFIG_HOTPLUG_CPU. */
	cpus_write_lock();
	ftrace_kvfree_rcu(head);
	rcu_barrier();
	msleep(PATIENCE);
	if (IS_ENABLED(CONFIG_HOTPLUG_CPU))
		KUNIT_EXPECT_TRUE_MSG(test, is_there(head),
				      "freed while a CPU comes or goes");
	cpus_write_unlock();
	expect_freed(test, head);
}

/**
 * struct waiter - a task that waits for RCU
 * @begun: it is about to
 * @ended: it has
 */
struct waiter {
	struct completion	begun;
	struct completion	ended;
};

static int wait_for_quiet(void *waiter)
{
	struct waiter *w = waiter;

	complete(&w->begun);
	ftrace_synchronize_rcu();
	complete(&w->ended);
	return 0;
}

/* ftrace_synchronize_rcu() waits for whoever reads; as in reader_test(). */
static void reader_wait_test(struct kunit *test)
{
	struct reader r = { COMPLETION_INITIALIZER_ONSTACK(r.reads) };
	struct task_struct *task;

	task = kthread_run(read_until_stop, &r, "ftrace_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wait_for_completion(&r.reads);
	ftrace_synchronize_rcu();
	KUNIT_EXPECT_TRUE_MSG(test, READ_ONCE(r.ended), "not awaited: somebody who reads");
	kthread_stop_put(task);
}

/* ftrace_synchronize_rcu() waits for a CPU that comes or goes. */
static void hotplug_wait_test(struct kunit *test)
{
	struct waiter w = {
		.begun	= COMPLETION_INITIALIZER_ONSTACK(w.begun),
		.ended	= COMPLETION_INITIALIZER_ONSTACK(w.ended),
	};
	struct task_struct *task = kthread_create(wait_for_quiet, &w, "ftrace_waiter");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	cpus_write_lock();
	wake_up_process(task);
	wait_for_completion(&w.begun);
	/* The first grace period may be over before the task has asked for one. */
	msleep(PATIENCE);
	synchronize_rcu();
	msleep(PATIENCE);
	if (IS_ENABLED(CONFIG_HOTPLUG_CPU))
		KUNIT_EXPECT_FALSE_MSG(test, completion_done(&w.ended),
				       "not awaited: a CPU that comes or goes");
	cpus_write_unlock();
	wait_for_completion(&w.ended);
	kthread_stop_put(task);
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(reader_test),
	KUNIT_CASE(hotplug_test),
	KUNIT_CASE(reader_wait_test),
	KUNIT_CASE(hotplug_wait_test),
	{}
};

static struct kunit_suite core_suite = {
	.name		= "ftrace-core",
	.test_cases	= core_cases,
};

kunit_test_suite(core_suite);
