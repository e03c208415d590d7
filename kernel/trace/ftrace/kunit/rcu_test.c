// SPDX-License-Identifier: GPL-2.0
/*
 * Where RCU does not watch: which callbacks run there, by a trampoline and without.
 */
#include <kunit/test.h>
#include <linux/context_tracking.h>
#include <linux/irqflags.h>
#include <linux/rcupdate.h>

#include "../ops/ops.h"
#include "victim.h"

/**
 * struct counted - an ops that counts its calls
 * @ops: the ops
 * @calls: how many there were
 */
struct counted {
	struct ftrace_ops	ops;
	unsigned int		calls;
};

static notrace void count_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op,
				   struct ftrace_regs *fregs)
{
	container_of(op, struct counted, ops)->calls++;
}

static struct counted needs_rcu = {
	.ops	= {
		.func	= count_callback,
		.flags	= FTRACE_OPS_FL_RCU,
	},
};

/* Takes the same ways, and does not care. */
static struct counted needs_none = {
	.ops	= {
		.func	= count_callback,
		.flags	= FTRACE_OPS_FL_RECURSION,
	},
};

/* By the call site, through the trampoline and the guard. */
static void call_by_site(unsigned long site)
{
	ftrace_kunit_six(1, 2, 3, 4, 5, 6);
}

/* As a call site does that has no trampoline. */
static void call_by_list(unsigned long site)
{
	arch_ftrace_ops_list_func(site, _THIS_IP_, NULL, NULL);
}

/*
 * Calls both where RCU watches, or as the idle loop would. Nothing in there may
 * ask RCU for anything, so what was seen is judged afterwards.
 */
static void expect_calls(struct kunit *test, bool idle,
			 void (*call)(unsigned long site))
{
	unsigned long site = ftrace_kunit_six_site(), flags;
	bool watching;

	needs_rcu.calls = 0;
	needs_none.calls = 0;
	local_irq_save(flags);
	if (idle)
		ct_idle_enter();
	watching = rcu_is_watching();
	call(site);
	if (idle)
		ct_idle_exit();
	local_irq_restore(flags);

	KUNIT_EXPECT_NE(test, watching, idle);
	KUNIT_EXPECT_EQ(test, needs_rcu.calls, watching);
	KUNIT_EXPECT_EQ(test, needs_none.calls, 1);
}

static int trace_six(struct counted *c)
{
	return ftrace_set_filter_ip(&c->ops, ftrace_kunit_six_site(), 0, 0) ?:
	       register_ftrace_function(&c->ops);
}

static void untrace_six(struct kunit *test, struct counted *c)
{
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&c->ops));
	ftrace_free_filter(&c->ops);
}

static void rcu_test(struct kunit *test)
{
	/*
	 * Without the first RCU never stops watching, and the other two warn
	 * unless it is the idle loop that makes it stop.
	 */
	if (!IS_ENABLED(CONFIG_CONTEXT_TRACKING_IDLE) ||
	    IS_ENABLED(CONFIG_RCU_EQS_DEBUG) ||
	    IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING))
		kunit_skip(test, "RCU cannot be made to look away");

	KUNIT_ASSERT_EQ(test, 0, trace_six(&needs_rcu));
	KUNIT_EXPECT_EQ(test, 0, trace_six(&needs_none));
	expect_calls(test, false, call_by_site);
	expect_calls(test, false, call_by_list);
	expect_calls(test, true, call_by_site);
	expect_calls(test, true, call_by_list);
	untrace_six(test, &needs_none);
	untrace_six(test, &needs_rcu);
}

static struct kunit_case rcu_cases[] = {
	KUNIT_CASE(rcu_test),
	{}
};

static struct kunit_suite rcu_suite = {
	.name		= "ftrace-rcu",
	.test_cases	= rcu_cases,
};

kunit_test_suite(rcu_suite);
