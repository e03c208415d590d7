// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of trampolines when it is used up.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "../ops/ops.h"

#define SMALL	64
#define LARGE	(FTRACE_PACK_SIZE / 2)

/* There are no more large pieces than these. */
#define MAX_PIECES	512

/**
 * struct pieces - what a test has taken
 * @small: a small piece; the pack that it is from has a rest
 * @large: large ones, all that there were
 * @nr: how many
 * @max: what packs may take in all, outside of the test
 */
struct pieces {
	unsigned long	small;
	unsigned long	large[MAX_PIECES];
	unsigned int	nr;
	size_t		max;
};

/* Take so much that the next one who asks for a large piece is refused. */
static void use_up(struct kunit *test, struct pieces *p)
{
	unsigned long at;

	p->max = ftrace_packs_max;
	p->small = ftrace_packs_alloc(SMALL);
	KUNIT_EXPECT_NE(test, p->small, 0);
	KUNIT_EXPECT_FALSE(test, ftrace_packs_refused());
	ftrace_packs_max = 0;
	while (p->nr < MAX_PIECES && (at = ftrace_packs_alloc(LARGE)))
		p->large[p->nr++] = at;
	KUNIT_EXPECT_LT(test, p->nr, MAX_PIECES);
	KUNIT_EXPECT_TRUE(test, ftrace_packs_refused());
	ftrace_packs_max = p->max;
}

static void give_back(struct pieces *p)
{
	if (p->small)
		ftrace_packs_free(p->small, SMALL);
	while (p->nr)
		ftrace_packs_free(p->large[--p->nr], LARGE);
}

static void expect_piece(struct kunit *test, size_t size)
{
	unsigned long at = ftrace_packs_alloc(size);

	KUNIT_EXPECT_NE(test, at, 0);
	if (at)
		ftrace_packs_free(at, size);
}

static void refuse(struct kunit *test, struct pieces *p)
{
	use_up(test, p);
	/* There could be more, but nobody looks so soon */
	KUNIT_EXPECT_EQ(test, ftrace_packs_alloc(LARGE), 0);
	/* but for what may be there; and once that has come back, for all. */
	expect_piece(test, SMALL);
	KUNIT_EXPECT_FALSE(test, ftrace_packs_refused());
	expect_piece(test, LARGE);
	give_back(p);
}

/* ftraced has looked whether some set lacks a trampoline: it finds none here. */
static bool was_looked_for(void)
{
	return !READ_ONCE(ftrace_tramps_wanted);
}

static void refuse_for_long(struct kunit *test, struct pieces *p)
{
	unsigned long end = jiffies + 60 * HZ;

	use_up(test, p);
	WRITE_ONCE(ftrace_tramps_wanted, true);
	/* It looks once a second. */
	msleep(2500);
	KUNIT_EXPECT_FALSE(test, was_looked_for());
	while (!was_looked_for() && time_before(jiffies, end))
		msleep(100);
	KUNIT_EXPECT_TRUE(test, was_looked_for());
	expect_piece(test, LARGE);
	give_back(p);
}

static void with_pieces(struct kunit *test, void (*fn)(struct kunit *test, struct pieces *p))
{
	struct pieces *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	/* Nobody else takes memory, or gives it back. */
	mutex_lock(&ftrace_tramp_mutex);
	fn(test, p);
	mutex_unlock(&ftrace_tramp_mutex);
}

static void refuse_test(struct kunit *test)
{
	with_pieces(test, refuse);
}

static void refuse_for_long_test(struct kunit *test)
{
	with_pieces(test, refuse_for_long);
}

static struct kunit_case packs_cases[] = {
	KUNIT_CASE(refuse_test),
	KUNIT_CASE(refuse_for_long_test),
	{}
};

static struct kunit_suite packs_suite = {
	.name		= "ftrace-packs",
	.test_cases	= packs_cases,
};

kunit_test_suite(packs_suite);
