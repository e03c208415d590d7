// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of trampolines when it is used up.
 */
#include <kunit/test.h>

#include "../text/text.h"

#define SMALL	64
#define LARGE	(FTRACE_PACK_SIZE / 2)

/* More than that in one piece nobody has left. */
#define MAX_PIECES	512

/**
 * struct pieces - what a test has taken
 * @at: their addresses
 * @nr: how many
 */
struct pieces {
	unsigned long	at[MAX_PIECES];
	unsigned int	nr;
};

/* Take all that there is in pieces of a size, while packs are not to become more. */
static void take_all(struct kunit *test, struct pieces *p, size_t size)
{
	while (p->nr < MAX_PIECES) {
		p->at[p->nr] = ftrace_packs_alloc(size);
		if (!p->at[p->nr])
			return;
		p->nr++;
	}
	KUNIT_FAIL(test, "there is no end of it");
}

/* What is too long for one who asks may be there for the next. */
static void short_of_memory(struct kunit *test, struct pieces *p)
{
	unsigned long small = ftrace_packs_alloc(SMALL), large;
	size_t max = ftrace_packs_max;

	/* So one pack has a rest that is too short for a large piece. */
	KUNIT_EXPECT_NE(test, small, 0);
	KUNIT_EXPECT_FALSE(test, ftrace_packs_short());
	ftrace_packs_max = 0;
	take_all(test, p, LARGE);
	KUNIT_EXPECT_TRUE(test, ftrace_packs_short());
	p->at[p->nr] = ftrace_packs_alloc(SMALL);
	KUNIT_EXPECT_NE(test, p->at[p->nr], 0);

	/* There is memory, but nobody looks so soon, */
	ftrace_packs_max = max;
	KUNIT_EXPECT_EQ(test, ftrace_packs_alloc(LARGE), 0);
	/* or until something has come back. */
	if (p->at[p->nr])
		ftrace_packs_free(p->at[p->nr], SMALL);
	if (small)
		ftrace_packs_free(small, SMALL);
	KUNIT_EXPECT_FALSE(test, ftrace_packs_short());
	large = ftrace_packs_alloc(LARGE);
	KUNIT_EXPECT_NE(test, large, 0);
	if (large)
		ftrace_packs_free(large, LARGE);
}

static void short_test(struct kunit *test)
{
	struct pieces *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	/* Nobody else makes a trampoline. */
	mutex_lock(&ftrace_lock);
	short_of_memory(test, p);
	while (p->nr)
		ftrace_packs_free(p->at[--p->nr], LARGE);
	mutex_unlock(&ftrace_lock);
}

static struct kunit_case packs_cases[] = {
	KUNIT_CASE(short_test),
	{}
};

static struct kunit_suite packs_suite = {
	.name		= "ftrace-packs",
	.test_cases	= packs_cases,
};

kunit_test_suite(packs_suite);
