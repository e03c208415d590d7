// SPDX-License-Identifier: GPL-2.0
/*
 * Regions and their records.
 *
 * The regions lie where there is no text, and nobody but these tests sees them:
 * they are gone before ftrace_lock is let go. Where a record should not look
 * new it is made to look bad, which nothing counts and no set of ops goes with.
 *
 * No KUNIT_ASSERT under the lock: it would not be unlocked.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/prandom.h>

#include "../ops/ops.h"
#include "area.h"

#define AREA_SIZE	(4 * PAGE_SIZE)

/* The figures of dyn_ftrace_total_info. */
struct figures {
	unsigned long	records;
	unsigned long	pages;
	unsigned long	groups;
};

static struct figures figures_now(void)
{
	return (struct figures) {
		.records = ftrace_update_tot_cnt,
		.pages	 = ftrace_number_of_pages,
		.groups	 = ftrace_number_of_groups,
	};
}

static void expect_figures(struct kunit *test, const struct figures *f)
{
	KUNIT_EXPECT_EQ(test, ftrace_update_tot_cnt, f->records);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_pages, f->pages);
	KUNIT_EXPECT_EQ(test, ftrace_number_of_groups, f->groups);
}

/* Records at @start + each of @offs, which ascend. */
static void add_at(struct kunit *test, struct ftrace_region *r,
		   const unsigned int *offs, unsigned int nr)
{
	u32 sites[16];
	unsigned int i;

	for (i = 0; i < nr; i++)
		sites[i] = ftrace_text_key(r->start + offs[i]);
	KUNIT_EXPECT_EQ(test, ftrace_recs_add(r, sites, nr), 0);
}

/* The records of @r are at @start + each of @offs, and nowhere else. */
static void expect_at(struct kunit *test, struct ftrace_region *r,
		      const unsigned int *offs, unsigned int nr)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ftrace_region_nr(r), nr);
	for (i = 0; i < ftrace_region_nr(r) && i < nr; i++)
		KUNIT_EXPECT_EQ(test, ftrace_rec_ip(&recs->rec[i]),
				r->start + offs[i]);
}

static void size_test(struct kunit *test)
{
	struct dyn_ftrace rec = {};

	KUNIT_EXPECT_EQ(test, sizeof(struct dyn_ftrace), 8);

	/* All of text is in reach. */
	rec.key = ftrace_text_key(MODULES_END - 1);
	KUNIT_EXPECT_EQ(test, ftrace_rec_ip(&rec), MODULES_END - 1);
	rec.key = ftrace_text_key(__START_KERNEL_map);
	KUNIT_EXPECT_EQ(test, ftrace_rec_ip(&rec), __START_KERNEL_map);
}

static void regions_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, AREA_SIZE), last = 0;
	struct ftrace_region *low, *mid, *high, *r;

	guard(mutex)(&ftrace_lock);
	/* They touch, and come in disorder. */
	high = ftrace_region_add(a + 2 * PAGE_SIZE, a + 3 * PAGE_SIZE, NULL);
	low = ftrace_region_add(a, a + PAGE_SIZE, NULL);
	mid = ftrace_region_add(a + PAGE_SIZE, a + 2 * PAGE_SIZE, NULL);
	KUNIT_EXPECT_TRUE(test, low && mid && high);
	if (!low || !mid || !high)
		goto out;

	list_for_each_entry(r, &ftrace_regions, list) {
		KUNIT_EXPECT_GE(test, r->start, last);
		last = r->end;
	}
	KUNIT_EXPECT_PTR_EQ(test, list_next_entry(low, list), mid);
	KUNIT_EXPECT_PTR_EQ(test, list_next_entry(mid, list), high);
	KUNIT_EXPECT_NE(test, low->gen, mid->gen);
	KUNIT_EXPECT_NE(test, low->gen, high->gen);
	KUNIT_EXPECT_NE(test, mid->gen, high->gen);

	KUNIT_EXPECT_NULL(test, ftrace_region_find(a - 1));
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a), low);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + PAGE_SIZE - 1), low);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + PAGE_SIZE), mid);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + 2 * PAGE_SIZE - 1), mid);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + 2 * PAGE_SIZE), high);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + 3 * PAGE_SIZE - 1), high);
	KUNIT_EXPECT_NULL(test, ftrace_region_find(a + 3 * PAGE_SIZE));

	/* A region of no records. */
	KUNIT_EXPECT_EQ(test, ftrace_region_nr(low), 0);
	KUNIT_EXPECT_NULL(test, ftrace_rec_find(a));
	KUNIT_EXPECT_NULL(test, ftrace_rec_in(ftrace_region_recs(low), 0,
					      ULONG_MAX));
out:
	ftrace_region_remove(a, a + AREA_SIZE);
}

static unsigned long ip_of(const struct dyn_ftrace *rec)
{
	return rec ? ftrace_rec_ip(rec) : 0;
}

static void lookup_test(struct kunit *test)
{
	/* First byte, two that touch, and the last five. */
	static const unsigned int offs[] = {
		0, 16, 16 + MCOUNT_INSN_SIZE, 1000, PAGE_SIZE - MCOUNT_INSN_SIZE,
	};
	unsigned long a = ftrace_test_area(test, AREA_SIZE), start, end;
	struct ftrace_region *r;
	struct ftrace_recs *recs;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	start = a + PAGE_SIZE;
	end = start + PAGE_SIZE;
	r = ftrace_region_add(start, end, NULL);
	KUNIT_EXPECT_NOT_NULL(test, r);
	if (!r)
		return;
	add_at(test, r, offs, ARRAY_SIZE(offs));
	expect_at(test, r, offs, ARRAY_SIZE(offs));
	recs = ftrace_region_recs(r);

	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		unsigned long ip = start + offs[i];
		unsigned long next = i + 1 < ARRAY_SIZE(offs) ?
				     start + offs[i + 1] : 0;

		KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_find(ip)), ip);
		KUNIT_EXPECT_NULL(test, ftrace_rec_find(ip - 1));
		KUNIT_EXPECT_NULL(test, ftrace_rec_find(ip + 1));
		KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_in(recs, ip, ip)), ip);
		KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_in(recs, ip - 1, ip)), ip);
		KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_in(recs, ip, end)), ip);
		KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_in(recs, ip + 1, end)),
				next);
		/* The last address is part of the range. */
		KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_in(recs, ip + 1, next)),
				next);
		KUNIT_EXPECT_NULL(test, ftrace_rec_in(recs, ip + 1, next - 1));
	}
	KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_in(recs, 0, ULONG_MAX)), start);
	KUNIT_EXPECT_NULL(test, ftrace_rec_in(recs, 0, start - 1));
	KUNIT_EXPECT_NULL(test, ftrace_rec_in(recs, end, ULONG_MAX));
	/* A range the wrong way round holds nothing. */
	KUNIT_EXPECT_NULL(test, ftrace_rec_in(recs, start + 16, start));

	ftrace_region_remove(start, end);
}

static void mark_bad(struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	unsigned int i;

	for (i = 0; recs && i < recs->nr; i++)
		recs->rec[i].state = FTRACE_REC_BAD;
	r->nr_new = 0;
}

static void merge_test(struct kunit *test)
{
	static const unsigned int first[] = { 100, 300, 500 };
	static const unsigned int between[] = { 200, 400 };
	static const unsigned int around[] = { 0, 50, 250, 600, 700 };
	static const unsigned int all[] = {
		0, 50, 100, 200, 250, 300, 400, 500, 600, 700,
	};
	unsigned long a = ftrace_test_area(test, AREA_SIZE);
	struct figures before, with;
	struct ftrace_region *r;
	struct ftrace_recs *recs;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	before = figures_now();
	r = ftrace_region_add(a, a + PAGE_SIZE, NULL);
	KUNIT_EXPECT_NOT_NULL(test, r);
	if (!r)
		return;

	add_at(test, r, first, 0);
	KUNIT_EXPECT_EQ(test, ftrace_region_nr(r), 0);
	expect_figures(test, &before);

	add_at(test, r, first, ARRAY_SIZE(first));
	KUNIT_EXPECT_EQ(test, r->nr_new, ARRAY_SIZE(first));
	expect_at(test, r, first, ARRAY_SIZE(first));

	/* The state of a record stays with it; new ones are NEW. */
	mark_bad(r);
	add_at(test, r, between, ARRAY_SIZE(between));
	KUNIT_EXPECT_EQ(test, r->nr_new, ARRAY_SIZE(between));
	recs = ftrace_region_recs(r);
	KUNIT_EXPECT_EQ(test, recs->nr, 5);
	for (i = 0; i < recs->nr && i < 5; i++)
		KUNIT_EXPECT_EQ(test, recs->rec[i].state,
				i % 2 ? FTRACE_REC_NEW : FTRACE_REC_BAD);

	/* Before all, after all and between. */
	mark_bad(r);
	add_at(test, r, around, ARRAY_SIZE(around));
	KUNIT_EXPECT_EQ(test, r->nr_new, ARRAY_SIZE(around));
	expect_at(test, r, all, ARRAY_SIZE(all));
	add_at(test, r, all, 0);
	expect_at(test, r, all, ARRAY_SIZE(all));

	with = before;
	with.records += ARRAY_SIZE(all);
	with.pages++;
	with.groups++;
	expect_figures(test, &with);

	ftrace_region_remove(a, a + PAGE_SIZE);
	expect_figures(test, &before);
}

#define MODEL_SLOTS	1024
#define MODEL_STEP	16
#define MODEL_BATCH	16

/* As many of the free slots as a batch may have, ascending, in @sites. */
static unsigned int draw_batch(struct rnd_state *rnd, unsigned long *taken,
			       unsigned long base, u32 *sites)
{
	unsigned int i, nr = 0;

	for_each_clear_bit(i, taken, MODEL_SLOTS) {
		if (nr == MODEL_BATCH)
			break;
		if (prandom_u32_state(rnd) % 32)
			continue;
		sites[nr++] = ftrace_text_key(base + i * MODEL_STEP);
	}
	for (i = 0; i < nr; i++)
		__set_bit((ftrace_text_addr(sites[i]) - base) / MODEL_STEP, taken);
	return nr;
}

/* Many batches; at any time the records are those of a bitmap. */
static void model_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, AREA_SIZE);
	unsigned long *taken = bitmap_zalloc(MODEL_SLOTS, GFP_KERNEL);
	struct rnd_state rnd;
	struct ftrace_region *r;
	unsigned int i, n, nr;
	u32 sites[MODEL_BATCH];

	BUILD_BUG_ON(MODEL_SLOTS * MODEL_STEP > AREA_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, taken);
	prandom_seed_state(&rnd, 6012);

	mutex_lock(&ftrace_lock);
	r = ftrace_region_add(a, a + AREA_SIZE, NULL);
	KUNIT_EXPECT_NOT_NULL(test, r);
	for (n = 0; r && n < 64; n++) {
		nr = draw_batch(&rnd, taken, a, sites);
		KUNIT_EXPECT_EQ(test, ftrace_recs_add(r, sites, nr), 0);
		KUNIT_EXPECT_EQ(test, ftrace_region_nr(r),
				bitmap_weight(taken, MODEL_SLOTS));
		for (i = 0; i < MODEL_SLOTS; i++) {
			unsigned long ip = a + i * MODEL_STEP;

			KUNIT_EXPECT_EQ(test, ip_of(ftrace_rec_find(ip)),
					test_bit(i, taken) ? ip : 0);
		}
	}
	KUNIT_EXPECT_GT(test, bitmap_weight(taken, MODEL_SLOTS), MODEL_SLOTS / 2);
	ftrace_region_remove(a, a + AREA_SIZE);
	mutex_unlock(&ftrace_lock);
	bitmap_free(taken);
}

static void remove_test(struct kunit *test)
{
	static const unsigned int offs[] = { 0, 8, PAGE_SIZE - 5 };
	unsigned long a = ftrace_test_area(test, AREA_SIZE);
	struct ftrace_region *r[4] = {};
	struct figures before;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	before = figures_now();
	for (i = 0; i < 4; i++) {
		unsigned long start = a + i * PAGE_SIZE;

		r[i] = ftrace_region_add(start, start + PAGE_SIZE, NULL);
		KUNIT_EXPECT_NOT_NULL(test, r[i]);
		if (!r[i])
			goto out;
		add_at(test, r[i], offs, ARRAY_SIZE(offs));
	}

	/* Only a region that lies in the range as a whole goes. */
	ftrace_region_remove(a + 1, a + PAGE_SIZE);
	ftrace_region_remove(a, a + PAGE_SIZE - 1);
	ftrace_region_remove(a + 1, a + 2 * PAGE_SIZE - 1);
	ftrace_region_remove(a, a);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + i * PAGE_SIZE),
				    r[i]);

	ftrace_region_remove(a + PAGE_SIZE, a + 3 * PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a), r[0]);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_region_find(a + 3 * PAGE_SIZE), r[3]);
	KUNIT_EXPECT_PTR_EQ(test, list_next_entry(r[0], list), r[3]);
	for (i = 1; i < 3; i++) {
		KUNIT_EXPECT_NULL(test, ftrace_region_find(a + i * PAGE_SIZE));
		KUNIT_EXPECT_NULL(test, ftrace_rec_find(a + i * PAGE_SIZE));
		KUNIT_EXPECT_NULL(test, ftrace_rec_find(a + i * PAGE_SIZE + 8));
	}
	expect_at(test, r[0], offs, ARRAY_SIZE(offs));
	expect_at(test, r[3], offs, ARRAY_SIZE(offs));

	/* A region can come where one was, and starts with nothing. */
	r[1] = ftrace_region_add(a + PAGE_SIZE, a + 2 * PAGE_SIZE, NULL);
	KUNIT_EXPECT_NOT_NULL(test, r[1]);
	if (r[1])
		KUNIT_EXPECT_EQ(test, ftrace_region_nr(r[1]), 0);
out:
	ftrace_region_remove(a, a + AREA_SIZE);
	KUNIT_EXPECT_NULL(test, ftrace_region_find(a));
	expect_figures(test, &before);
}

/* A set of ops that only records of the removed text had goes with them. */
static void remove_unpins_test(struct kunit *test)
{
	static const unsigned int offs[] = { 0, 16, 32 };
	static struct ftrace_ops ops;
	unsigned long a = ftrace_test_area(test, AREA_SIZE);
	struct ftrace_region *r;
	struct ftrace_recs *recs;
	unsigned int i;
	int id;

	guard(mutex)(&ftrace_lock);
	r = ftrace_region_add(a, a + PAGE_SIZE, NULL);
	KUNIT_EXPECT_NOT_NULL(test, r);
	if (!r)
		return;
	add_at(test, r, offs, ARRAY_SIZE(offs));
	recs = ftrace_region_recs(r);
	id = ftrace_opset_with(0, &ops);
	KUNIT_EXPECT_GT(test, id, 0);
	if (!recs || id <= 0)
		goto out;

	for (i = 0; i < recs->nr; i++)
		recs->rec[i].state = id;
	r->nr_new = 0;
	ftrace_opset_move(0, id, recs->nr);
	ftrace_opset_gc();
	KUNIT_EXPECT_NOT_NULL(test, ftrace_opset_find(id));
out:
	ftrace_update_release(a, a + PAGE_SIZE);
	ftrace_region_remove(a, a + PAGE_SIZE);
	if (id > 0)
		KUNIT_EXPECT_NULL(test, ftrace_opset_find(id));
}

static struct kunit_case records_cases[] = {
	KUNIT_CASE(size_test),
	KUNIT_CASE(regions_test),
	KUNIT_CASE(lookup_test),
	KUNIT_CASE(merge_test),
	KUNIT_CASE(model_test),
	KUNIT_CASE(remove_test),
	KUNIT_CASE(remove_unpins_test),
	{}
};

static struct kunit_suite records_suite = {
	.name		= "ftrace-records",
	.test_cases	= records_cases,
};

kunit_test_suite(records_suite);
