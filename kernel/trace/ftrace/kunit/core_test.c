// SPDX-License-Identifier: GPL-2.0
/*
 * When memory is freed that callbacks look at.
 */
#include <kunit/test.h>
#include <linux/cpuhplock.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/vmalloc.h>

#include "../core.h"

/* So long it stays if it is wanted, though its turn has come, in milliseconds. */
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

static void reader_test(struct kunit *test)
{
	struct rcu_head *head = some_memory(test);
	unsigned int ms;

	rcu_read_lock();
	ftrace_kvfree_rcu(head);
	for (ms = 0; ms < PATIENCE; ms++)
		mdelay(1);
	KUNIT_EXPECT_TRUE_MSG(test, is_there(head), "freed while somebody reads it");
	rcu_read_unlock();
	expect_freed(test, head);
}

/* As long as a CPU comes or goes RCU may not wait for what it reads. */
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

static struct kunit_case core_cases[] = {
	KUNIT_CASE(reader_test),
	KUNIT_CASE(hotplug_test),
	{}
};

static struct kunit_suite core_suite = {
	.name		= "ftrace-core",
	.test_cases	= core_cases,
};

kunit_test_suite(core_suite);
