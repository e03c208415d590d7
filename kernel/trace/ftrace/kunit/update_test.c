// SPDX-License-Identifier: GPL-2.0
/*
 * From ops to text: what registering them and changing their filters writes.
 */
#include <kunit/test.h>

#include "../ops/ops.h"
#include "../sites/set.h"
#include "area.h"
#include "victim.h"

static atomic_t callbacks;

static void count_callback(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	atomic_inc(&callbacks);
}

static struct ftrace_ops counter = { .func = count_callback };

/* One more, for a filter that two have. */
static struct ftrace_ops sharer = { .func = count_callback };

/* How often the callback runs when each of the victims does, once. */
static void expect_callbacks(struct kunit *test, int want)
{
	unsigned int i;

	atomic_set(&callbacks, 0);
	for (i = 0; i < FTRACE_NR_VICTIMS; i++)
		ftrace_victims[i].func();
	KUNIT_EXPECT_EQ(test, atomic_read(&callbacks), want);
}

/* Which victims call something, one bit each; and the records say so. */
static unsigned int victims_on(struct kunit *test)
{
	unsigned int i, on = 0;

	guard(mutex)(&ftrace_lock);
	for (i = 0; i < FTRACE_NR_VICTIMS; i++) {
		unsigned long addr = (unsigned long)ftrace_victims[i].func;
		unsigned long ip = ftrace_location(addr);
		struct dyn_ftrace *rec = ftrace_rec_find(ip);

		KUNIT_EXPECT_NOT_NULL(test, rec);
		if (!rec)
			continue;
		KUNIT_EXPECT_TRUE(test, ftrace_text_matches(ftrace_text_key(ip),
							    ftrace_rec_text(rec)));
		KUNIT_EXPECT_EQ(test, ftrace_kunit_opset_has(ftrace_rec_set(rec), &counter),
				ftrace_rec_text(rec) != 0);
		if (ftrace_rec_text(rec))
			on |= BIT(i);
	}
	return on;
}

static int filter(unsigned int i, bool remove, bool reset)
{
	return ftrace_set_filter_ip(&counter,
				    (unsigned long)ftrace_victims[i].func,
				    remove, reset);
}

static void free_counter(void *unused)
{
	if (sharer.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&sharer);
	if (counter.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&counter);
	ftrace_free_filter(&counter);
}

static void ops_test(struct kunit *test)
{
	struct dyn_ftrace *recs[FTRACE_NR_VICTIMS];
	bool free;

	mutex_lock(&ftrace_lock);
	free = ftrace_victim_recs(test, recs);
	mutex_unlock(&ftrace_lock);
	if (!free)
		return;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_counter, NULL),
			0);

	KUNIT_EXPECT_EQ(test, filter(1, false, true), 0);
	KUNIT_EXPECT_EQ(test, victims_on(test), 0);
	expect_callbacks(test, 0);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&counter), 0);
	KUNIT_EXPECT_EQ(test, victims_on(test), BIT(1));
	expect_callbacks(test, 1);

	KUNIT_EXPECT_EQ(test, filter(2, false, false), 0);
	KUNIT_EXPECT_EQ(test, victims_on(test), BIT(1) | BIT(2));
	expect_callbacks(test, 2);
	KUNIT_EXPECT_EQ(test, filter(1, true, false), 0);
	KUNIT_EXPECT_EQ(test, victims_on(test), BIT(2));
	expect_callbacks(test, 1);
	KUNIT_EXPECT_EQ(test, filter(0, false, true), 0);
	KUNIT_EXPECT_EQ(test, victims_on(test), BIT(0));
	expect_callbacks(test, 1);

	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(&counter), 0);
	KUNIT_EXPECT_EQ(test, victims_on(test), 0);
	expect_callbacks(test, 0);
}

/* ---- a list with a site whose text comes later ---------------------------- */

/* Have an ops trace nothing but one site, where there is no text yet. */
static void list_site(struct kunit *test, u32 *key)
{
	struct ftrace_hash *hash = ftrace_hash_from_sites(key, 1);

	KUNIT_EXPECT_FALSE(test, IS_ERR(hash));
	if (IS_ERR(hash))
		return;
	ftrace_ops_init(&counter);
	KUNIT_EXPECT_EQ(test, ftrace_ops_replace_half(&counter, hash, true), 0);
}

/* The record is new: its site is asked for by those who came before it. */
static void expect_given(struct kunit *test, unsigned long start, u32 key)
{
	struct ftrace_region *r = ftrace_region_add(start, start + PAGE_SIZE, NULL);
	struct dyn_ftrace *rec;

	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(r));
	if (IS_ERR_OR_NULL(r))
		return;
	KUNIT_EXPECT_EQ(test, ftrace_recs_add(r, &key, 1), 0);
	KUNIT_EXPECT_GE(test, ftrace_settle(), 1);
	rec = ftrace_rec_find(ftrace_text_addr(key));
	KUNIT_EXPECT_NOT_NULL(test, rec);
	if (rec) {
		KUNIT_EXPECT_TRUE(test, ftrace_kunit_opset_has(ftrace_rec_set(rec), &counter));
		KUNIT_EXPECT_EQ(test, ftrace_kunit_opset_has(ftrace_rec_set(rec), &sharer),
				!!(sharer.flags & FTRACE_OPS_FL_ENABLED));
		KUNIT_EXPECT_NE(test, ftrace_rec_text(rec), 0);
		KUNIT_EXPECT_TRUE(test, ftrace_text_matches(key, ftrace_rec_text(rec)));
	}
	ftrace_filter_forget(counter.func_hash, ftrace_text_key(start),
			     ftrace_text_key(start + PAGE_SIZE));
	ftrace_update_release(start, start + PAGE_SIZE);
	ftrace_region_remove(start, start + PAGE_SIZE);
}

/* A call site that is no record's yet, and ops that leave when the test ends. */
static unsigned long late_site(struct kunit *test)
{
	unsigned long start = ftrace_test_area(test, PAGE_SIZE);

	ftrace_test_put_call(start, MCOUNT_ADDR);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_counter, NULL), 0);
	return start;
}

static void late_site_test(struct kunit *test)
{
	unsigned long start = late_site(test);
	u32 key = ftrace_text_key(start);

	scoped_guard(mutex, &ftrace_lock)
		list_site(test, &key);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&counter), 0);
	scoped_guard(mutex, &ftrace_lock)
		expect_given(test, start, key);
}

/* The same after an ops has traced all functions. */
static void late_site_after_all_test(struct kunit *test)
{
	unsigned long start = late_site(test);
	u32 key = ftrace_text_key(start);

	KUNIT_ASSERT_EQ(test, register_ftrace_function(&counter), 0);
	scoped_guard(mutex, &ftrace_lock) {
		list_site(test, &key);
		expect_given(test, start, key);
	}
}

/* The same for two ops that have one filter, which changes after they have come. */
static void late_site_shared_test(struct kunit *test)
{
	unsigned long start = late_site(test);
	u32 key = ftrace_text_key(start);

	KUNIT_ASSERT_EQ(test, filter(1, false, true), 0);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_init(&sharer);
	sharer.func_hash = counter.func_hash;
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&counter), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&sharer), 0);
	scoped_guard(mutex, &ftrace_lock) {
		list_site(test, &key);
		expect_given(test, start, key);
	}
}

static struct kunit_case update_cases[] = {
	KUNIT_CASE(ops_test),
	KUNIT_CASE(late_site_test),
	KUNIT_CASE(late_site_after_all_test),
	KUNIT_CASE(late_site_shared_test),
	{}
};

static struct kunit_suite update_suite = {
	.name		= "ftrace-update",
	.test_cases	= update_cases,
};

kunit_test_suite(update_suite);
