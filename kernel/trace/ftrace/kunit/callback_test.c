// SPDX-License-Identifier: GPL-2.0
/*
 * What callbacks are handed, by trampolines and by the code that is always there:
 * the same.
 *
 * No KUNIT_ASSERT under the lock: it would not be unlocked.
 */
#include <kunit/test.h>

#include "../ops/ops.h"
#include "victim.h"

#define NR_WATCHERS	3

/**
 * struct watcher - an ops, and what its callback was handed last
 * @ops: the ops
 * @calls: how often it was called
 * @turn: how many others were called before it
 * @ip: the call site
 * @parent_ip: where the function returns to
 * @arg: its arguments
 * @sp: its stack pointer
 * @fp: its frame pointer
 * @ret: %rax, if it was handed all registers
 * @regs: all registers were there
 */
struct watcher {
	struct ftrace_ops	ops;
	unsigned int		calls;
	unsigned int		turn;
	unsigned long		ip;
	unsigned long		parent_ip;
	unsigned long		arg[8];
	unsigned long		sp;
	unsigned long		fp;
	unsigned long		ret;
	bool			regs;
};

static struct watcher watchers[NR_WATCHERS];
static unsigned int nr_calls;

/*
 * The first of them replaces the return address, as rethook does, and the last
 * puts it back.
 */
static notrace void watch(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct watcher *w = container_of(op, struct watcher, ops);
	unsigned long *ret;
	unsigned int i;

	w->ip = ip;
	w->parent_ip = parent_ip;
	for (i = 0; i < ARRAY_SIZE(w->arg); i++)
		w->arg[i] = ftrace_regs_get_argument(fregs, i);
	w->sp = ftrace_regs_get_stack_pointer(fregs);
	w->fp = ftrace_regs_get_frame_pointer(fregs);
	w->ret = ftrace_regs_get_return_value(fregs);
	w->regs = ftrace_get_regs(fregs);
	w->calls++;
	w->turn = nr_calls;

	ret = (unsigned long *)w->sp;
	if (!nr_calls++)
		*ret = (unsigned long)ftrace_stub;
	if (nr_calls == NR_WATCHERS)
		*ret = (unsigned long)ftrace_kunit_eight_returns;
}

static unsigned long eight_site(void)
{
	return ftrace_location((unsigned long)ftrace_kunit_eight);
}

static void unregister_watchers(void *unused)
{
	unsigned int i;

	for (i = 0; i < NR_WATCHERS; i++) {
		struct ftrace_ops *ops = &watchers[i].ops;

		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(ops);
		ftrace_free_filter(ops);
	}
}

static void register_watchers(struct kunit *test, unsigned long flags)
{
	unsigned int i;

	memset(watchers, 0, sizeof(watchers));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, unregister_watchers, NULL));
	/* The first one last, so that they do not come as they lie in memory. */
	for (i = 1; i <= NR_WATCHERS; i++) {
		struct ftrace_ops *ops = &watchers[i % NR_WATCHERS].ops;

		ops->func = watch;
		ops->flags = flags;
		KUNIT_ASSERT_EQ(test, 0,
				ftrace_set_filter_ip(ops, eight_site(), 0, 0));
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(ops));
	}
}

static void expect_handed(struct kunit *test, bool regs)
{
	unsigned int i, k;

	nr_calls = 0;
	KUNIT_EXPECT_EQ(test, ftrace_kunit_call_eight(),
			ftrace_kunit_eight_answer(1, 2, 3, 4, 5, 6, 7, 8));
	KUNIT_EXPECT_EQ(test, nr_calls, NR_WATCHERS);
	for (i = 0; i < NR_WATCHERS; i++) {
		struct watcher *w = &watchers[i];

		KUNIT_EXPECT_EQ(test, w->calls, 1);
		w->calls = 0;
		/* The newest is called first. */
		KUNIT_EXPECT_EQ(test, w->turn, i ? NR_WATCHERS - i : 0);
		KUNIT_EXPECT_EQ(test, w->ip, eight_site());
		KUNIT_EXPECT_EQ(test, w->parent_ip,
				(unsigned long)ftrace_kunit_eight_returns);
		KUNIT_EXPECT_EQ(test, w->sp, watchers[0].sp);
		KUNIT_EXPECT_EQ(test, w->fp, FTRACE_KUNIT_FRAME);
		KUNIT_EXPECT_EQ(test, w->regs, regs);
		if (regs)
			KUNIT_EXPECT_EQ(test, w->ret, FTRACE_KUNIT_AX);
		for (k = 0; k < ARRAY_SIZE(w->arg); k++)
			KUNIT_EXPECT_EQ(test, w->arg[k], k + 1);
	}
}

/* Has the call site call something else; true if it could be done. */
static bool eight_calls(struct kunit *test, struct dyn_ftrace *rec, u32 from,
			u32 to)
{
	struct ftrace_plan plan = {};
	unsigned int bad;
	int ret;

	ret = ftrace_plan_add(&plan, rec, from, to, rec->state) ?:
	      ftrace_plan_write(&plan, &bad);
	KUNIT_EXPECT_EQ(test, ret, 0);
	ftrace_plan_free(&plan);
	return !ret;
}

/* What serves a set for which there is no trampoline. */
static void expect_handed_by_static(struct kunit *test, bool regs)
{
	u32 to = ftrace_text_key(regs ? FTRACE_REGS_ADDR : FTRACE_ADDR);
	struct dyn_ftrace *rec;
	u32 from;

	guard(mutex)(&ftrace_lock);
	rec = ftrace_rec_find(eight_site());
	KUNIT_EXPECT_NOT_NULL(test, rec);
	if (!rec)
		return;
	from = ftrace_rec_text(rec);
	if (!eight_calls(test, rec, from, to))
		return;
	expect_handed(test, regs);
	eight_calls(test, rec, to, from);
}

static void args_test(struct kunit *test)
{
	register_watchers(test, 0);
	expect_handed(test, false);
	expect_handed_by_static(test, false);
}

static void regs_test(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		kunit_skip(test, "this kernel hands out arguments only");
	register_watchers(test, FTRACE_OPS_FL_SAVE_REGS);
	expect_handed(test, true);
	expect_handed_by_static(test, true);
}

/* Called through the guard, which is handed the same. */
static void guarded_test(struct kunit *test)
{
	register_watchers(test, FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
	expect_handed(test, false);
	expect_handed_by_static(test, false);
}

static struct kunit_case callback_cases[] = {
	KUNIT_CASE(args_test),
	KUNIT_CASE(regs_test),
	KUNIT_CASE(guarded_test),
	{}
};

static struct kunit_suite callback_suite = {
	.name		= "ftrace-callback",
	.test_cases	= callback_cases,
};

kunit_test_suite(callback_suite);
