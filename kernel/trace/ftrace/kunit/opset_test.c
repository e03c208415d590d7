// SPDX-License-Identifier: GPL-2.0
/*
 * Interned sets of ops. The ops are never registered, only their addresses
 * count; under ftrace_lock nobody else sees their sets.
 *
 * No KUNIT_ASSERT under the lock: it would not be unlocked.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../ops/ops.h"
#include "victim.h"

#define NR_OPS	6
#define NR_SETS	BIT(NR_OPS)
#define CROWD	600

static struct ftrace_ops ops[NR_OPS];

/* The set of the ops whose bits are in @mask, made by adding from @first on. */
static int make_set(unsigned long mask, unsigned int first)
{
	unsigned int i;
	int id = 0;

	for (i = 0; i < NR_OPS && id >= 0; i++) {
		unsigned int n = (first + i) % NR_OPS;

		if (mask & BIT(n))
			id = ftrace_opset_with(id, &ops[n]);
	}
	return id;
}

static void empty_test(struct kunit *test)
{
	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(0));
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(FTRACE_REC_SET_MASK));
	KUNIT_EXPECT_FALSE(test, ftrace_kunit_opset_has(0, &ops[0]));
	KUNIT_EXPECT_EQ(test, ftrace_opset_without(0, &ops[0]), 0);
	/* Its sites are nops. */
	KUNIT_EXPECT_EQ(test, ftrace_opset_target(0), 0);
}

static void content_test(struct kunit *test)
{
	struct ftrace_opset *set;
	unsigned int i;
	int id;

	guard(mutex)(&ftrace_lock);
	/* Added in an order that is not that of their addresses. */
	id = make_set(BIT(0) | BIT(2) | BIT(5), 3);
	KUNIT_EXPECT_GT(test, id, 0);
	KUNIT_EXPECT_LE(test, id, FTRACE_REC_SET_MASK);
	set = ftrace_opset_find(id);
	KUNIT_EXPECT_NOT_NULL(test, set);
	if (!set)
		return;
	KUNIT_EXPECT_EQ(test, set->id, id);
	KUNIT_EXPECT_EQ(test, set->nr_recs, 0);
	KUNIT_EXPECT_EQ(test, set->nr, 3);
	if (set->nr == 3) {
		KUNIT_EXPECT_PTR_EQ(test, set->ops[0], &ops[0]);
		KUNIT_EXPECT_PTR_EQ(test, set->ops[1], &ops[2]);
		KUNIT_EXPECT_PTR_EQ(test, set->ops[2], &ops[5]);
	}
	for (i = 0; i < NR_OPS; i++)
		KUNIT_EXPECT_EQ(test, ftrace_kunit_opset_has(id, &ops[i]),
				i == 0 || i == 2 || i == 5);
	/* Its sites call something. */
	KUNIT_EXPECT_NE(test, ftrace_opset_target(id), 0);
	KUNIT_EXPECT_EQ(test, ftrace_opset_target(id), set->target);
	ftrace_opset_gc();
}

/* Every set of some ops, whatever order they come in and go in. */
static void interning_test(struct kunit *test)
{
	static int id[NR_SETS];
	unsigned long mask, other;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	for (mask = 0; mask < NR_SETS; mask++) {
		id[mask] = make_set(mask, mask % NR_OPS);
		KUNIT_EXPECT_EQ(test, id[mask] > 0, mask != 0);
		for (other = 0; other < mask; other++)
			KUNIT_EXPECT_NE(test, id[mask], id[other]);
	}
	for (mask = 0; mask < NR_SETS; mask++) {
		for (i = 0; i < NR_OPS; i++) {
			KUNIT_EXPECT_EQ(test, make_set(mask, i), id[mask]);
			KUNIT_EXPECT_EQ(test,
					ftrace_opset_with(id[mask], &ops[i]),
					id[mask | BIT(i)]);
			KUNIT_EXPECT_EQ(test,
					ftrace_opset_without(id[mask], &ops[i]),
					id[mask & ~BIT(i)]);
			KUNIT_EXPECT_EQ(test, ftrace_kunit_opset_has(id[mask], &ops[i]),
					!!(mask & BIT(i)));
		}
	}

	/* No record has any of them. */
	ftrace_opset_gc();
	for (mask = 1; mask < NR_SETS; mask++)
		KUNIT_EXPECT_NULL(test, ftrace_opset_find(id[mask]));
}

/* The way from a set to its neighbours is remembered, until one of them goes. */
static void step_test(struct kunit *test)
{
	struct ftrace_opset *one, *two;
	int first, both, again;

	guard(mutex)(&ftrace_lock);
	first = ftrace_opset_with(0, &ops[0]);
	both = ftrace_opset_with(first, &ops[1]);
	one = ftrace_opset_find(first);
	two = ftrace_opset_find(both);
	KUNIT_EXPECT_TRUE(test, one && two);
	if (!one || !two)
		return;
	KUNIT_EXPECT_PTR_EQ(test, one->neighbours.ops, &ops[1]);
	KUNIT_EXPECT_EQ(test, one->neighbours.with, both);
	KUNIT_EXPECT_EQ(test, one->neighbours.without, -1);
	KUNIT_EXPECT_EQ(test, ftrace_opset_without(both, &ops[0]),
			ftrace_opset_with(0, &ops[1]));
	KUNIT_EXPECT_PTR_EQ(test, two->neighbours.ops, &ops[0]);
	KUNIT_EXPECT_EQ(test, two->neighbours.with, -1);

	ftrace_opset_move(0, first, 1);
	ftrace_opset_gc();
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(both));
	/* Its number is that of another set now, to which there is no way from here. */
	KUNIT_EXPECT_EQ(test, ftrace_opset_with(0, &ops[2]), both);
	again = ftrace_opset_with(first, &ops[1]);
	KUNIT_EXPECT_NE(test, again, both);
	two = ftrace_opset_find(again);
	KUNIT_EXPECT_NOT_NULL(test, two);
	KUNIT_EXPECT_EQ(test, two ? two->nr : 0, 2);
	ftrace_opset_move(first, 0, 1);
	ftrace_opset_gc();
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(first));
}

/* Ops that cannot share a site. */
static void conflict_test(struct kunit *test)
{
	int modify, direct, both;

	guard(mutex)(&ftrace_lock);
	ops[0].flags = FTRACE_OPS_FL_IPMODIFY;
	ops[1].flags = FTRACE_OPS_FL_IPMODIFY;
	ops[2].flags = FTRACE_OPS_FL_DIRECT;
	ops[3].flags = FTRACE_OPS_FL_DIRECT;
	modify = ftrace_opset_with(0, &ops[0]);
	direct = ftrace_opset_with(0, &ops[2]);
	KUNIT_EXPECT_GT(test, modify, 0);
	KUNIT_EXPECT_GT(test, direct, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, ftrace_opset_with(modify, &ops[1]));
	KUNIT_EXPECT_EQ(test, -EBUSY, ftrace_opset_with(direct, &ops[3]));
	KUNIT_EXPECT_EQ(test, -EBUSY, ftrace_opset_with(modify, &ops[2]));
	KUNIT_EXPECT_EQ(test, -EBUSY, ftrace_opset_with(direct, &ops[0]));
	KUNIT_EXPECT_GT(test, ftrace_opset_with(modify, &ops[4]), 0);
	/* The one with the direct call knows. */
	ops[2].flags |= FTRACE_OPS_FL_SHARES_IPMODIFY;
	both = ftrace_opset_with(modify, &ops[2]);
	KUNIT_EXPECT_GT(test, both, 0);
	KUNIT_EXPECT_EQ(test, ftrace_opset_with(direct, &ops[0]), both);
	/* Whoever comes next is not asked whether these two may. */
	ops[2].flags &= ~FTRACE_OPS_FL_SHARES_IPMODIFY;
	KUNIT_EXPECT_GT(test, ftrace_opset_with(both, &ops[4]), 0);
	ftrace_opset_gc();
	memset(ops, 0, sizeof(ops));
}

static void expect_recs(struct kunit *test, int id, unsigned int nr)
{
	struct ftrace_opset *set = ftrace_opset_find(id);

	KUNIT_EXPECT_NOT_NULL(test, set);
	if (set)
		KUNIT_EXPECT_EQ(test, set->nr_recs, nr);
}

/* A set stays as long as a record has it. */
static void life_test(struct kunit *test)
{
	int one, two;

	guard(mutex)(&ftrace_lock);
	one = make_set(BIT(0), 0);
	two = make_set(BIT(0) | BIT(1), 0);
	KUNIT_EXPECT_GT(test, one, 0);
	KUNIT_EXPECT_GT(test, two, 0);
	if (one <= 0 || two <= 0)
		return;

	ftrace_opset_move(0, one, 3);
	expect_recs(test, one, 3);
	ftrace_opset_gc();
	expect_recs(test, one, 3);
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(two));

	two = ftrace_opset_with(one, &ops[1]);
	KUNIT_EXPECT_GT(test, two, 0);
	ftrace_opset_move(one, two, 2);
	expect_recs(test, one, 1);
	expect_recs(test, two, 2);
	ftrace_opset_move(two, two, 2);
	ftrace_opset_move(one, two, 0);
	expect_recs(test, one, 1);
	expect_recs(test, two, 2);

	ftrace_opset_move(one, 0, 1);
	ftrace_opset_gc();
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(one));
	expect_recs(test, two, 2);
	/* It is still found by what is in it. */
	KUNIT_EXPECT_EQ(test, make_set(BIT(0) | BIT(1), 1), two);

	ftrace_opset_move(two, 0, 2);
	ftrace_opset_gc();
	KUNIT_EXPECT_NULL(test, ftrace_opset_find(two));
}

/* A set of so many ops: its number, and how many of those before had a trampoline. */
static int make_crowd(struct ftrace_ops *crowd, unsigned long flags, unsigned int *nr_tramps)
{
	struct ftrace_opset *set;
	unsigned int i;
	int id = 0;

	*nr_tramps = 0;
	for (i = 0; i < CROWD && id >= 0; i++) {
		crowd[i].func = ftrace_stub;
		crowd[i].flags = flags;
		id = ftrace_opset_with(id, &crowd[i]);
		set = ftrace_opset_find(id);
		*nr_tramps += set && set->tramp;
	}
	return id;
}

/*
 * A trampoline that calls so many ops would be too long. ftrace_caller calls them, and
 * ftraced does not look again and again whether there is room for a trampoline. If none
 * of them has to be called, there is.
 */
static void crowd_test(struct kunit *test)
{
	struct ftrace_ops *crowd = kvcalloc(CROWD, sizeof(*crowd), GFP_KERNEL);
	struct ftrace_opset *set;
	unsigned int nr_tramps;
	int id;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	mutex_lock(&ftrace_lock);
	WRITE_ONCE(ftrace_tramps_wanted, false);
	id = make_crowd(crowd, 0, &nr_tramps);
	KUNIT_EXPECT_GT(test, id, 0);
	KUNIT_EXPECT_GT(test, nr_tramps, 100);
	KUNIT_EXPECT_LT(test, nr_tramps, CROWD);
	if (id > 0) {
		set = ftrace_opset_find(id);
		KUNIT_EXPECT_EQ(test, set->nr, CROWD);
		KUNIT_EXPECT_NULL(test, set->tramp);
		KUNIT_EXPECT_EQ(test, set->target, ftrace_text_key(FTRACE_ADDR));
	}
	ftrace_opset_gc();
	KUNIT_EXPECT_GT(test, make_crowd(crowd, FTRACE_OPS_FL_STUB, &nr_tramps), 0);
	KUNIT_EXPECT_EQ(test, nr_tramps, CROWD);
	KUNIT_EXPECT_FALSE(test, ftrace_tramps_wanted);
	ftrace_opset_gc();
	WRITE_ONCE(ftrace_tramps_wanted, ftrace_opsets_lack_tramps());
	mutex_unlock(&ftrace_lock);
	kvfree(crowd);
}

static struct kunit_case opset_cases[] = {
	KUNIT_CASE(empty_test),
	KUNIT_CASE(content_test),
	KUNIT_CASE(interning_test),
	KUNIT_CASE(step_test),
	KUNIT_CASE(conflict_test),
	KUNIT_CASE(life_test),
	KUNIT_CASE(crowd_test),
	{}
};

static struct kunit_suite opset_suite = {
	.name		= "ftrace-opset",
	.test_cases	= opset_cases,
};

kunit_test_suite(opset_suite);
