// SPDX-License-Identifier: GPL-2.0
/*
 * Plans: how they are made, checked and written.
 *
 * What is written to is the text of functions made for that, see victim.c. As
 * long as it is not what their records say, ftrace_lock is held.
 *
 * No KUNIT_ASSERT under the lock: it would not be unlocked.
 *
 * What the log may say meanwhile, for the runner in a guest:
 * provokes: call site \S+ \((ftrace_kunit_|0x).*it is left alone
 * provokes: WARNING: .* at kernel/trace/ftrace/text/plan\.c:\d+ report_bad\S*\+
 */
#include <kunit/test.h>
#include <linux/string.h>
#include <trace/events/printk.h>

#include "../ops/ops.h"
#include "area.h"
#include "victim.h"

/* ---- a plan as such ------------------------------------------------------ */

static void build_test(struct kunit *test)
{
	unsigned long base = (unsigned long)_text;
	struct ftrace_plan_entry *entries;
	struct ftrace_plan plan = {};
	struct dyn_ftrace *recs;
	unsigned int i;

	recs = kunit_kcalloc(test, 1000, sizeof(*recs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, recs);

	/* From nothing through several sizes; what is in it stays. */
	for (i = 0; i < 1000; i++) {
		recs[i].key = ftrace_text_key(base + 16 * i);
		KUNIT_EXPECT_EQ(test, 0, ftrace_plan_add(&plan, &recs[i], i,
							 2 * i, 3 * i));
		KUNIT_EXPECT_EQ(test, plan.nr, i + 1);
		KUNIT_EXPECT_GE(test, plan.size, plan.nr);
	}
	for (i = 0; i < plan.nr; i++) {
		const struct ftrace_plan_entry *e = &plan.entries[i];

		KUNIT_EXPECT_PTR_EQ(test, e->rec, &recs[i]);
		KUNIT_EXPECT_EQ(test, e->ip, ftrace_text_key(base + 16 * i));
		KUNIT_EXPECT_EQ(test, e->from, i);
		KUNIT_EXPECT_EQ(test, e->to, 2 * i);
		KUNIT_EXPECT_EQ(test, e->state, 3 * i);
	}
	ftrace_plan_free(&plan);
	KUNIT_EXPECT_NULL(test, plan.entries);
	KUNIT_EXPECT_EQ(test, plan.nr, 0);
	KUNIT_EXPECT_EQ(test, plan.size, 0);

	/* What was reserved is used; no less than it is ever asked for. */
	KUNIT_EXPECT_EQ(test, ftrace_plan_reserve(&plan, 100), 0);
	KUNIT_EXPECT_GE(test, plan.size, 100);
	KUNIT_EXPECT_EQ(test, plan.nr, 0);
	entries = plan.entries;
	KUNIT_EXPECT_EQ(test, ftrace_plan_reserve(&plan, 0), 0);
	KUNIT_EXPECT_EQ(test, ftrace_plan_reserve(&plan, 99), 0);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, 0, ftrace_plan_add(&plan, &recs[i], 0,
							 0, 0));
	KUNIT_EXPECT_PTR_EQ(test, plan.entries, entries);
	/* And so does growing by hand keep what is there. */
	KUNIT_EXPECT_EQ(test, ftrace_plan_reserve(&plan, 5000), 0);
	KUNIT_EXPECT_GE(test, plan.size, 5000);
	KUNIT_EXPECT_EQ(test, plan.nr, 100);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_PTR_EQ(test, plan.entries[i].rec, &recs[i]);
	ftrace_plan_free(&plan);
	ftrace_plan_free(&plan);
}

/* ---- writing ------------------------------------------------------------- */

struct site_bytes {
	u8	b[MCOUNT_INSN_SIZE];
};

static struct site_bytes bytes_at(const struct dyn_ftrace *rec)
{
	struct site_bytes now;

	memcpy(&now, (void *)ftrace_rec_ip(rec), sizeof(now));
	return now;
}

static void expect_bytes(struct kunit *test, const struct dyn_ftrace *rec,
			 const struct site_bytes *want)
{
	KUNIT_EXPECT_MEMEQ(test, (u8 *)ftrace_rec_ip(rec), want->b,
			   sizeof(want->b));
}

static void expect_call(struct kunit *test, const struct dyn_ftrace *rec,
			void (*target)(void))
{
	unsigned long ip = ftrace_rec_ip(rec);
	s32 rel = (unsigned long)target - (ip + MCOUNT_INSN_SIZE);
	struct site_bytes want = { .b = { 0xe8 } };

	memcpy(want.b + 1, &rel, sizeof(rel));
	expect_bytes(test, rec, &want);
}

/* The victims do what they do, and call the target or not. */
static void expect_hits(struct kunit *test, unsigned int hits)
{
	unsigned int i;

	atomic_set(&ftrace_kunit_hits, 0);
	for (i = 0; i < FTRACE_NR_VICTIMS; i++)
		KUNIT_EXPECT_EQ(test, ftrace_victims[i].func(),
				ftrace_victims[i].answer);
	KUNIT_EXPECT_EQ(test, atomic_read(&ftrace_kunit_hits), hits);
}

static u32 target_key(void)
{
	return ftrace_text_key((unsigned long)ftrace_kunit_target);
}

/* Plans that could be poked are written in a stop. ftrace_lock. */
static bool in_stop;

static void both_ways(struct kunit *test, struct dyn_ftrace **recs,
		      void (*try)(struct kunit *test, struct dyn_ftrace **recs))
{
	in_stop = false;
	try(test, recs);
	in_stop = true;
	try(test, recs);
}

/* Writes a plan that is good. */
static void write_plan(struct kunit *test, struct ftrace_plan *plan)
{
	unsigned int bad = UINT_MAX;

	plan->stop = in_stop;
	KUNIT_EXPECT_EQ(test, ftrace_plan_write(plan, &bad), 0);
	ftrace_plan_free(plan);
}

static void write_and_back(struct kunit *test, struct dyn_ftrace **recs)
{
	struct site_bytes nop = bytes_at(recs[0]);
	unsigned long stops = ftrace_stops.nr;
	struct ftrace_plan plan = {};
	u32 to = target_key();

	expect_hits(test, 0);

	/* One, all, and one that keeps what it has. */
	ftrace_plan_add(&plan, recs[1], 0, to, 0);
	write_plan(test, &plan);
	KUNIT_EXPECT_EQ(test, ftrace_stops.nr, stops + in_stop);
	expect_bytes(test, recs[0], &nop);
	expect_call(test, recs[1], ftrace_kunit_target);
	expect_bytes(test, recs[2], &nop);
	expect_hits(test, 1);

	ftrace_plan_add(&plan, recs[0], 0, to, 0);
	ftrace_plan_add(&plan, recs[1], to, to, 0);
	ftrace_plan_add(&plan, recs[2], 0, to, 0);
	write_plan(test, &plan);
	expect_call(test, recs[0], ftrace_kunit_target);
	expect_call(test, recs[1], ftrace_kunit_target);
	expect_call(test, recs[2], ftrace_kunit_target);
	expect_hits(test, 3);

	/* From one target to another, with no nop between. */
	ftrace_plan_add(&plan, recs[0], to, 0, 0);
	ftrace_plan_add(&plan, recs[2], to,
			ftrace_text_key((unsigned long)ftrace_caller), 0);
	write_plan(test, &plan);
	expect_bytes(test, recs[0], &nop);
	expect_call(test, recs[2], ftrace_caller);
	expect_hits(test, 1);

	ftrace_plan_add(&plan, recs[1], to, 0, 0);
	ftrace_plan_add(&plan, recs[2],
			ftrace_text_key((unsigned long)ftrace_caller), 0, 0);
	write_plan(test, &plan);
	expect_bytes(test, recs[0], &nop);
	expect_bytes(test, recs[1], &nop);
	expect_bytes(test, recs[2], &nop);
	expect_hits(test, 0);

	/* A plan of nothing does nothing. */
	stops = ftrace_stops.nr;
	write_plan(test, &plan);
	KUNIT_EXPECT_EQ(test, ftrace_stops.nr, stops);
}

static void write_test(struct kunit *test)
{
	struct dyn_ftrace *recs[FTRACE_NR_VICTIMS];

	guard(mutex)(&ftrace_lock);
	if (ftrace_victim_recs(test, recs))
		both_ways(test, recs, write_and_back);
}

/* ---- the report ---------------------------------------------------------- */

/*
 * Lines of the log that report a call site, and those that name @place, which
 * changes under ftrace_lock, when nobody else has anything to report.
 */
static struct {
	char		place[KSYM_SYMBOL_LEN];
	atomic_t	reports;
	atomic_t	named;
} report;

static void see_line(void *unused, const char *text, size_t len)
{
	if (!strnstr(text, "ftrace: call site ", len))
		return;
	atomic_inc(&report.reports);
	if (strnstr(text, report.place, len))
		atomic_inc(&report.named);
}

static void unwatch(void *unused)
{
	unregister_trace_console(see_line, NULL);
	tracepoint_synchronize_unregister();
}

static void watch_reports(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_trace_console(see_line, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unwatch, NULL), 0);
}

/* @plan fails for entry @want, which is reported once, and is freed. */
static void expect_bad(struct kunit *test, struct ftrace_plan *plan,
		       unsigned int want)
{
	unsigned long stops = ftrace_stops.nr;
	unsigned int bad = UINT_MAX;

	atomic_set(&report.reports, 0);
	atomic_set(&report.named, 0);
	snprintf(report.place, sizeof(report.place), "%pS",
		 (void *)ftrace_text_addr(plan->entries[want].ip));
	plan->stop = in_stop;
	KUNIT_EXPECT_EQ(test, ftrace_plan_write(plan, &bad), -EINVAL);
	KUNIT_EXPECT_EQ(test, bad, want);
	KUNIT_EXPECT_EQ(test, ftrace_stops.nr, stops);
	KUNIT_EXPECT_EQ(test, atomic_read(&report.reports), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&report.named), 1);
	ftrace_plan_free(plan);
}

/* Each of the victims in turn is not what the plan takes it for. */
static void write_bad(struct kunit *test, struct dyn_ftrace **recs)
{
	u32 to = target_key(), fentry = ftrace_text_key(MCOUNT_ADDR);
	struct site_bytes nop = bytes_at(recs[0]);
	struct ftrace_plan plan = {};
	unsigned int bad, i;

	for (bad = 0; bad < FTRACE_NR_VICTIMS; bad++) {
		for (i = 0; i < FTRACE_NR_VICTIMS; i++)
			ftrace_plan_add(&plan, recs[i], i == bad ? fentry : 0,
					to, 0);
		expect_bad(test, &plan, bad);
		for (i = 0; i < FTRACE_NR_VICTIMS; i++) {
			expect_bytes(test, recs[i], &nop);
			KUNIT_EXPECT_EQ(test, 0, recs[i]->state & ~FTRACE_REC_KEPT);
		}
	}
	/* Of several, the first. What is not to change counts too. */
	ftrace_plan_add(&plan, recs[0], 0, to, 0);
	ftrace_plan_add(&plan, recs[1], to, to, 0);
	ftrace_plan_add(&plan, recs[2], fentry, to, 0);
	expect_bad(test, &plan, 1);
	expect_hits(test, 0);

	/* The window is free again, and the writer in order. */
	ftrace_plan_add(&plan, recs[0], 0, to, 0);
	write_plan(test, &plan);
	expect_hits(test, 1);
	ftrace_plan_add(&plan, recs[0], to, 0, 0);
	write_plan(test, &plan);
	expect_bytes(test, recs[0], &nop);
}

static void bad_bytes_test(struct kunit *test)
{
	struct dyn_ftrace *recs[FTRACE_NR_VICTIMS];

	watch_reports(test);
	guard(mutex)(&ftrace_lock);
	if (ftrace_victim_recs(test, recs))
		both_ways(test, recs, write_bad);
}

/* A site where no memory is, and one that ends where there is none. */
static void write_gone(struct kunit *test, struct dyn_ftrace **recs)
{
	unsigned long end = ftrace_test_area(test, PAGE_SIZE) + PAGE_SIZE;
	struct site_bytes nop = bytes_at(recs[0]);
	struct dyn_ftrace gone = {};
	struct ftrace_plan plan = {};
	unsigned int i;

	for (i = 0; i < MCOUNT_INSN_SIZE; i++) {
		gone.key = ftrace_text_key(end - i);
		ftrace_plan_add(&plan, recs[0], 0, target_key(), 0);
		ftrace_plan_add(&plan, &gone, 0, target_key(), 0);
		expect_bad(test, &plan, 1);
		expect_bytes(test, recs[0], &nop);
	}
	ftrace_plan_add(&plan, recs[0], 0, target_key(), 0);
	write_plan(test, &plan);
	expect_hits(test, 1);
	ftrace_plan_add(&plan, recs[0], target_key(), 0, 0);
	write_plan(test, &plan);
	expect_bytes(test, recs[0], &nop);
}

static void no_text_test(struct kunit *test)
{
	struct dyn_ftrace *recs[FTRACE_NR_VICTIMS];

	watch_reports(test);
	guard(mutex)(&ftrace_lock);
	if (ftrace_victim_recs(test, recs))
		both_ways(test, recs, write_gone);
}

/* ---- the whole text ------------------------------------------------------ */

/* All records that are good, to stay as they are but for those given. */
static void plan_all(struct kunit *test, struct ftrace_plan *plan,
		     struct dyn_ftrace **changed, u32 from, u32 to)
{
	struct ftrace_region *r;
	unsigned int i, next = 0;

	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);

		for (i = 0; recs && i < recs->nr; i++) {
			struct dyn_ftrace *rec = &recs->rec[i];
			u32 text = ftrace_rec_text(rec);

			if (rec->state & FTRACE_REC_BAD)
				continue;
			if (changed && next < FTRACE_NR_VICTIMS &&
			    rec == changed[next]) {
				next++;
				ftrace_plan_add(plan, rec, from, to, 0);
			} else {
				ftrace_plan_add(plan, rec, text, text, rec->state);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, next, changed ? FTRACE_NR_VICTIMS : 0);
	KUNIT_EXPECT_GT(test, plan->nr, 1000);
	for (i = 1; i < plan->nr; i++)
		KUNIT_EXPECT_LT(test, plan->entries[i - 1].ip, plan->entries[i].ip);
}

/* What the records say is what the text says, and stays so. */
static void check_all(struct kunit *test, struct dyn_ftrace **recs)
{
	unsigned long stops = ftrace_stops.nr;
	struct ftrace_plan plan = {};
	unsigned int bad;

	/* Nothing to change is nothing to stop for. */
	plan_all(test, &plan, NULL, 0, 0);
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), plan.nr);
	plan.stop = in_stop;
	KUNIT_EXPECT_EQ(test, ftrace_plan_write(&plan, &bad), 0);
	KUNIT_EXPECT_EQ(test, ftrace_stops.nr, stops);
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), plan.nr);
	ftrace_plan_free(&plan);

	/* It is the few changes that count, not the many that are none. */
	plan_all(test, &plan, recs, 0, target_key());
	write_plan(test, &plan);
	KUNIT_EXPECT_EQ(test, ftrace_stops.nr, stops + in_stop);
	expect_hits(test, FTRACE_NR_VICTIMS);
	plan_all(test, &plan, recs, target_key(), 0);
	write_plan(test, &plan);
	KUNIT_EXPECT_EQ(test, ftrace_stops.nr, stops + 2 * in_stop);
	expect_hits(test, 0);

	plan_all(test, &plan, NULL, 0, 0);
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), plan.nr);
	ftrace_plan_free(&plan);
}

static void whole_text_test(struct kunit *test)
{
	struct dyn_ftrace *recs[FTRACE_NR_VICTIMS];

	guard(mutex)(&ftrace_lock);
	if (ftrace_victim_recs(test, recs))
		both_ways(test, recs, check_all);
}

static struct kunit_case plan_cases[] = {
	KUNIT_CASE(build_test),
	KUNIT_CASE(write_test),
	KUNIT_CASE(bad_bytes_test),
	KUNIT_CASE(no_text_test),
	KUNIT_CASE(whole_text_test),
	{}
};

static struct kunit_suite plan_suite = {
	.name		= "ftrace-plan",
	.test_cases	= plan_cases,
};

kunit_test_suite(plan_suite);
