// SPDX-License-Identifier: GPL-2.0
/*
 * Slices of a plan: how many sites the next stop changes, after what the last ones took.
 */
#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prandom.h>

#include "../text/text.h"

#define BOUND	1000000ULL	/* ns */

static void next_test(struct kunit *test)
{
	static const struct {
		u64		fixed_ns;
		unsigned int	sites;
		u64		sites_ns;
		unsigned int	next;
	} cases[] = {
		/* Nothing is known. */
		{ 0, 0, 0, FTRACE_SLICE_MIN },
		{ 9 * BOUND, 0, 0, FTRACE_SLICE_MIN },
		/* Three quarters of what the fixed part leaves. */
		{ 0, 10000, BOUND, 7500 },
		{ BOUND / 4, 10000, BOUND / 4, 22500 },
		{ BOUND / 2, 8000, BOUND, 3000 },
		{ 0, 9000, 100 * BOUND, FTRACE_SLICE_MIN },
		/* Where that is most of the bound, four times as long. */
		{ 3 * BOUND / 4, 4000, BOUND / 4, 48000 },
		{ 8 * BOUND, 4000, BOUND, 128000 },
		{ BOUND, 4000, 899 * BOUND, FTRACE_SLICE_MIN },
		/* All that can be counted. */
		{ 0, 9000, 1, U32_MAX },
		{ 9 * BOUND, U32_MAX, 2, U32_MAX },
		{ U64_MAX / 16, U32_MAX, 1, U32_MAX },
		{ U64_MAX / 16, U32_MAX, U64_MAX / 16, U32_MAX },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ftrace_slices s = {
			.fixed_ns = cases[i].fixed_ns,
			.sites = cases[i].sites, .sites_ns = cases[i].sites_ns,
		};

		KUNIT_EXPECT_EQ_MSG(test, cases[i].next, ftrace_slices_next(&s, BOUND),
				    "case %u", i);
	}
}

static void learn_test(struct kunit *test)
{
	static const struct ftrace_stop_time second = { 1000 * BOUND, 1000 * BOUND };
	struct ftrace_slices s = {};

	/* A clock that stood still. */
	ftrace_slices_learn(&s, 9000, (struct ftrace_stop_time) { 1, 0 }, BOUND);
	KUNIT_EXPECT_EQ(test, 0, s.sites);
	/* Late for once: it counts for the sites. */
	ftrace_slices_learn(&s, 4096, (struct ftrace_stop_time) { 2 * BOUND, BOUND }, BOUND);
	KUNIT_EXPECT_EQ(test, BOUND / 64, s.fixed_ns);
	KUNIT_EXPECT_EQ(test, 4096, s.sites);
	KUNIT_EXPECT_EQ(test, 2 * BOUND - BOUND / 64, s.sites_ns);
	/* Late by far, which may have been so for the sites, too. */
	s.fixed_ns = BOUND / 16;
	s.last_ns = BOUND / 16;
	ftrace_slices_learn(&s, 9000, (struct ftrace_stop_time) { 90 * BOUND, 9 * BOUND }, BOUND);
	KUNIT_EXPECT_EQ(test, BOUND / 8 + BOUND / 64, s.fixed_ns);
	KUNIT_EXPECT_EQ(test, 4096, s.sites);
	/* And once more, while next to nothing is known. */
	ftrace_slices_learn(&s, 1, (struct ftrace_stop_time) { 90 * BOUND, 7 * BOUND }, BOUND);
	KUNIT_EXPECT_EQ(test, 7 * BOUND, s.fixed_ns);
	/* But two of a second each do not make it a second. */
	s = (struct ftrace_slices) { .fixed_ns = BOUND / 16, .last_ns = 1000 * BOUND };
	ftrace_slices_learn(&s, 1, second, BOUND);
	KUNIT_EXPECT_LE(test, s.fixed_ns, 50 * BOUND);
	/* Late each time, and quick for once. */
	s.fixed_ns = 4 * BOUND;
	ftrace_slices_learn(&s, 1, (struct ftrace_stop_time) { 2, 0 }, BOUND);
	KUNIT_EXPECT_EQ(test, 2 * BOUND, s.fixed_ns);
	/* A stop that took less than what is known of its fixed part. */
	ftrace_slices_learn(&s, 9000, (struct ftrace_stop_time) { BOUND / 2, 0 }, BOUND);
	KUNIT_EXPECT_EQ(test, BOUND, s.fixed_ns);
	KUNIT_EXPECT_EQ(test, 9000, s.sites);
	KUNIT_EXPECT_EQ(test, BOUND / 2, s.sites_ns);
	/* Late at the meetings, as far as these are measured: sites are not free. */
	s.fixed_ns = 8 * BOUND;
	ftrace_slices_learn(&s, 8000, (struct ftrace_stop_time) { 8 * BOUND, 8 * BOUND }, BOUND);
	s.fixed_ns = BOUND / 16;
	s.mean_ns = 0;
	KUNIT_EXPECT_LE(test, ftrace_slices_next(&s, BOUND), 8000);
	/* Late now and then, but by as much. */
	s.mean_ns = BOUND;
	KUNIT_EXPECT_GE(test, ftrace_slices_next(&s, BOUND), 100000);
	/* Nor are they where the bound is given up. */
	s = (struct ftrace_slices) { .fixed_ns = 8 * BOUND, .mean_ns = 8 * BOUND,
				     .sites = 8000, .sites_ns = 24 * BOUND };
	ftrace_slices_learn(&s, 8000, (struct ftrace_stop_time) { 16 * BOUND, 16 * BOUND }, BOUND);
	KUNIT_EXPECT_LE(test, ftrace_slices_next(&s, BOUND), 8000 * 16);
}

/* A stop that seems to be all meetings does not make sites free, whatever they cost. */
static void cheaper_test(struct kunit *test)
{
	static const unsigned int sites[] = { FTRACE_SLICE_MIN, 8000, 200000 };
	static const u64 ns[] = { 1, 3, 100, 3000 };
	struct ftrace_stop_time time;
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(ns); i++) {
		for (j = 0; j < ARRAY_SIZE(sites); j++) {
			for (k = 0; k < ARRAY_SIZE(sites); k++) {
				struct ftrace_slices s = {
					.fixed_ns = 8 * BOUND, .mean_ns = 8 * BOUND,
					.sites = sites[j], .sites_ns = sites[j] * ns[i],
				};

				time.all = 8 * BOUND + sites[k] * ns[i];
				time.fixed = min(time.all, 16 * BOUND);
				ftrace_slices_learn(&s, sites[k], time, BOUND);
				KUNIT_EXPECT_GE_MSG(test, 4 * s.sites_ns + 4, s.sites * ns[i],
						    "%llu ns, %u after %u", ns[i],
						    sites[k], sites[j]);
			}
		}
	}
}

/* A quotient that does not fit into 64 bits is an exception on x86. */
static void longest_test(struct kunit *test)
{
	struct ftrace_slices s = { .sites = FTRACE_SLICE_MIN, .sites_ns = U64_MAX / 2 };
	struct ftrace_stop_time time = { .all = BOUND, .fixed = BOUND / 64 };

	ftrace_slices_learn(&s, U32_MAX, time, BOUND);
	KUNIT_EXPECT_EQ(test, BOUND, s.sites_ns);
}

/*
 * A machine whose stops take @stop_ns and @site_ns for each site, ten times as long for
 * nothing now and then, or no time at all. They keep within the bound if they can; if
 * not, all of them together do not take much more than one would.
 */
static void run_machine(struct kunit *test, u64 stop_ns, u64 site_ns, bool known)
{
	unsigned int left = 100000, stops, late = 0, nr_sites;
	u64 one = stop_ns + left * site_ns, all = 0;
	/* Near the half a single one that is late makes all of them dear. */
	bool near = stop_ns > BOUND / 4 && stop_ns <= BOUND / 2;
	u64 late_ns = near ? stop_ns : 10 * stop_ns;
	struct ftrace_slices s = {};

	/* Small ones, as the boot has them. */
	for (stops = 0; known && stops < 40; stops++)
		ftrace_slices_learn(&s, 1, (struct ftrace_stop_time) {
				.all = stop_ns + site_ns + 2, .fixed = stop_ns }, BOUND);
	for (stops = 0; left; stops++) {
		unsigned int nr = min(left, ftrace_slices_next(&s, BOUND));
		u64 fixed = stops % 5 == 3 ? late_ns : stops % 5 == 1 ? 0 : stop_ns;
		struct ftrace_stop_time time = { .all = fixed + nr * site_ns + 2, .fixed = fixed };

		ftrace_slices_learn(&s, nr, time, BOUND);
		left -= nr;
		all += stop_ns + nr * site_ns;
		late += stop_ns + nr * site_ns > BOUND && nr > FTRACE_SLICE_MIN;
	}
	if (stop_ns > BOUND / 2) {
		/* One that is quick, or the first, which knows nothing, may be short. */
		KUNIT_EXPECT_LE(test, all, known ? 2 * one : one + one / 4 + 20 * stop_ns);
		return;
	}
	KUNIT_EXPECT_EQ(test, late, 0);
	/* None is shorter than a quarter of the bound, but the last, and a quick one's. */
	nr_sites = max_t(u64, FTRACE_SLICE_MIN, div64_u64(BOUND / 4, max(site_ns, 1ULL)));
	KUNIT_EXPECT_LE(test, stops, 3 + DIV_ROUND_UP(2 * 100000, nr_sites));
}

#define BUSY_PLANS	400
#define BUSY_SITES	28000U
#define BUSY_SITE_NS	100
#define MEETINGS	5

/**
 * struct host - one that lets guests wait
 * @rnd: when
 * @percent: at how many of all meetings
 * @late_ns: how long
 * @times: by how much more at the two that are measured
 */
struct host {
	struct rnd_state	rnd;
	unsigned int		percent;
	u64			late_ns;
	unsigned int		times;
};

/* How long it would take to write all in one stop, in the mean. */
static u64 one_stop(const struct host *h)
{
	return BUSY_SITES * BUSY_SITE_NS +
	       h->late_ns * (MEETINGS - 2 + 2 * h->times) * h->percent / 100;
}

static u64 stop_for(struct host *h, struct ftrace_slices *s, unsigned int nr)
{
	struct ftrace_stop_time time = { .all = nr * BUSY_SITE_NS };
	unsigned int m;

	for (m = 0; m < MEETINGS; m++) {
		u64 ns = 10000;

		if (prandom_u32_state(&h->rnd) % 100 < h->percent)
			ns += m < 2 ? h->times * h->late_ns : h->late_ns;
		time.all += ns;
		/* As the stop measures it. */
		if (m < 2)
			time.fixed += ns * MEETINGS / 2;
	}
	time.fixed = min(time.fixed, time.all);
	ftrace_slices_learn(s, nr, time, BOUND);
	return time.all;
}

static u64 write_plan(struct host *h, struct ftrace_slices *s)
{
	unsigned int nr, left = BUSY_SITES;
	u64 all = 0;

	for (; left; left -= nr) {
		nr = min(left, ftrace_slices_next(s, BOUND));
		all += stop_for(h, s, nr);
	}
	return all;
}

/*
 * All plans together do not take much longer than each in one stop would. Where hardly any
 * is late the next that is comes when the last is forgotten.
 */
static void run_busy(struct kunit *test, unsigned int percent, u64 late_ns,
		     unsigned int times)
{
	struct host h = { .percent = percent, .late_ns = late_ns, .times = times };
	u64 most = percent < 5 ? 4 * one_stop(&h) : one_stop(&h) * 3 / 2;
	struct ftrace_slices s = {};
	unsigned int i;
	u64 all = 0;

	prandom_seed_state(&h.rnd, percent);
	for (i = 0; i < BUSY_PLANS; i++)
		all += write_plan(&h, &s);
	KUNIT_EXPECT_LE_MSG(test, div64_u64(all, BUSY_PLANS), most,
			    "%u %% are late by %llu ns, %u times", percent, late_ns, times);
}

static void busy_test(struct kunit *test)
{
	static const unsigned int percents[] = { 1, 2, 3, 5, 10, 15, 20, 30, 40 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(percents); i++) {
		run_busy(test, percents[i], 5 * BOUND, 1);
		run_busy(test, percents[i], 20 * BOUND, 1);
		run_busy(test, percents[i], 5 * BOUND, 4);
		run_busy(test, percents[i], 100 * BOUND, 1);
		run_busy(test, percents[i], 1000 * BOUND, 1);
	}
	/* What is measured always seems to be all. */
	run_busy(test, 100, 2 * BOUND, 4);
}

/*
 * An idle host, but for @nr delays of a second in every @step-th stop, with sites as slow as
 * KASAN makes them: that time is not spent again in stops for which the bound was given up.
 */
static void run_hiccups(struct kunit *test, u64 fixed_ns, unsigned int nr, unsigned int step,
			u64 most_ns, unsigned int most_late)
{
	struct ftrace_stop_time hiccup = { .all = 1000 * BOUND, .fixed = 1000 * BOUND };
	unsigned int i, sites, late = 0, site_ns = 3000;
	struct ftrace_slices s = {};
	struct ftrace_stop_time time;

	for (i = 0; i < 400; i++) {
		if (i >= 200 && i < 200 + step * nr && i % step == 0) {
			ftrace_slices_learn(&s, FTRACE_SLICE_MIN, hiccup, BOUND);
			continue;
		}
		sites = ftrace_slices_next(&s, BOUND);
		time.fixed = fixed_ns;
		time.all = time.fixed + sites * site_ns;
		ftrace_slices_learn(&s, sites, time, BOUND);
		KUNIT_EXPECT_LE(test, time.all, most_ns);
		late += time.all > 4 * BOUND;
	}
	KUNIT_EXPECT_LE(test, late, most_late);
}

static void hiccup_test(struct kunit *test)
{
	run_hiccups(test, 50000, 1, 1, 10 * BOUND, 8);
	run_hiccups(test, 400000, 1, 1, 15 * BOUND, 16);
	run_hiccups(test, 50000, 2, 2, 35 * BOUND, 20);
	run_hiccups(test, 50000, 2, 1, 35 * BOUND, 20);
}

/* Two stops of one plan are late of one cause, and by little. */
static void pair_test(struct kunit *test)
{
	static const struct ftrace_stop_time quick = { .all = 800000, .fixed = 50000 };
	static const struct ftrace_stop_time late = { .all = BOUND, .fixed = 600000 };
	struct ftrace_slices s = {};
	unsigned int i;

	for (i = 0; i < 100; i++)
		ftrace_slices_learn(&s, 7500, i < 98 ? quick : late, BOUND);
	KUNIT_EXPECT_LE(test, ftrace_slices_next(&s, BOUND) * 100ULL, BOUND);
}

/* Nothing is known after the boot, and every stop takes long: few of them teach it. */
static void first_test(struct kunit *test)
{
	static const u64 late_ns[] = { BOUND, 2 * BOUND, 12 * BOUND, 40 * BOUND };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(late_ns); i++) {
		struct host h = { .percent = 100, .late_ns = late_ns[i], .times = 1 };
		struct ftrace_slices s = {};

		KUNIT_EXPECT_LE_MSG(test, write_plan(&h, &s), one_stop(&h) +
				    5 * MEETINGS * (late_ns[i] + 20000), "%llu ns", late_ns[i]);
	}
}

/* A host that was idle is busy, and is idle again. */
static void changes_test(struct kunit *test)
{
	struct host h = { .late_ns = 12 * BOUND, .times = 1 };
	struct ftrace_slices s = {};
	unsigned int i;

	prandom_seed_state(&h.rnd, 1);
	for (i = 0; i < BUSY_PLANS; i++)
		write_plan(&h, &s);
	h.percent = 100;
	KUNIT_EXPECT_LE(test, write_plan(&h, &s), one_stop(&h) * 5 / 2);
	for (i = 0; i < BUSY_PLANS; i++)
		write_plan(&h, &s);
	h.percent = 0;
	for (i = 0; i < 40; i++)
		write_plan(&h, &s);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_LE(test, stop_for(&h, &s, ftrace_slices_next(&s, BOUND)), BOUND);
	/* Nor are they all short from now on. */
	KUNIT_EXPECT_GE(test, ftrace_slices_next(&s, BOUND), 5000);
}

static void settles_test(struct kunit *test)
{
	bool known;

	for (known = false; ; known = true) {
		run_machine(test, 0, 1, known);
		run_machine(test, 10000, 10, known);
		run_machine(test, 10000, 100, known);
		run_machine(test, 100000, 1000, known);
		run_machine(test, 200000, 3000, known);
		run_machine(test, 600000, 3000, known);
		run_machine(test, 60000000, 10, known);
		run_machine(test, 0, 15000, known);
		if (known)
			break;
	}
	run_machine(test, 400000, 300, true);
	run_machine(test, 490000, 380, true);
}

/* As many plans as are poked one after the other. */
static unsigned int avoided(struct ftrace_slices *s)
{
	unsigned int nr = 0;

	while (nr < 10000 && ftrace_slices_avoid(s, BOUND)) {
		s->pokes++;
		nr++;
	}
	return nr;
}

/* Rare enough to cost nothing, and not as rare as never. */
static_assert(FTRACE_POKES_MAX >= 100 && FTRACE_POKES_MAX <= 1000);
static const struct ftrace_stop_time late = { .all = 21 * BOUND, .fixed = 20 * BOUND };
static const struct ftrace_stop_time quick = { .all = BOUND / 8, .fixed = BOUND / 16 };

/* Stops are dear, and are tried again all the same. */
static void avoid_test(struct kunit *test)
{
	struct ftrace_slices s = { .fixed_ns = BOUND / 2 }, before;
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, ftrace_slices_avoid(&s, BOUND));
	s.fixed_ns++;
	KUNIT_EXPECT_TRUE(test, ftrace_slices_avoid(&s, BOUND));
	for (i = 0; i < 12; i++)
		ftrace_slices_learn(&s, 9000, late, BOUND);
	before = s;
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX, avoided(&s));
		ftrace_slices_learn(&s, 1, late, BOUND);
		/* However often that is: nothing else is known than before, but the mean. */
		before.mean_ns = s.mean_ns;
		KUNIT_EXPECT_MEMEQ(test, &before, &s, sizeof(s));
	}
	/* One that nobody tried is no reason to try more, whether it is quick or late. */
	s.pokes = FTRACE_POKES_MAX / 2;
	ftrace_slices_learn(&s, 1, quick, BOUND);
	KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX / 2, avoided(&s));
	/* Nor is one that was long for its sites. */
	s.pokes = FTRACE_POKES_MAX / 2;
	ftrace_slices_learn(&s, 1, (struct ftrace_stop_time) { 2 * BOUND, 0 }, BOUND);
	KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX / 2, avoided(&s));
	ftrace_slices_learn(&s, 1, late, BOUND);
	KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX, avoided(&s));
}

/* What is tried was quick for once, or is quick from now on. */
static void try_test(struct kunit *test)
{
	struct ftrace_slices s = {};
	unsigned int i, tries;

	for (i = 0; i < 12; i++)
		ftrace_slices_learn(&s, 9000, late, BOUND);
	/* Quick each second time: a long plan is still written in few stops. */
	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX, avoided(&s));
		ftrace_slices_learn(&s, 1, quick, BOUND);
		KUNIT_EXPECT_GE(test, ftrace_slices_next(&s, BOUND), 100000);
		KUNIT_EXPECT_EQ(test, 0, avoided(&s));
		ftrace_slices_learn(&s, 1, late, BOUND);
	}
	/* A clock that stands still does not end it. */
	KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX, avoided(&s));
	ftrace_slices_learn(&s, 1, (struct ftrace_stop_time) { 1, 0 }, BOUND);
	for (tries = 0; ftrace_slices_next(&s, BOUND) >= 100000 && tries < 100; tries++) {
		KUNIT_EXPECT_EQ(test, 0, avoided(&s));
		ftrace_slices_learn(&s, 1, quick, BOUND);
	}
	KUNIT_EXPECT_GE(test, tries, 4);
	KUNIT_EXPECT_LE(test, tries, 12);
	/* Cheap, for small plans and for long ones, until they are dear again. */
	for (i = 0; i < 20; i++)
		ftrace_slices_learn(&s, 1, quick, BOUND);
	s.pokes = 0;
	KUNIT_EXPECT_EQ(test, 0, avoided(&s));
	for (i = 0; i < 3; i++)
		ftrace_slices_learn(&s, 1, late, BOUND);
	KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX, avoided(&s));
}

/* Late now and then: dear in the mean, though most are quick. */
static void avoid_mean_test(struct kunit *test)
{
	struct ftrace_slices s = {};
	unsigned int i;

	for (i = 0; i < 80; i++)
		ftrace_slices_learn(&s, 1, i % 8 ? quick : late, BOUND);
	KUNIT_EXPECT_EQ(test, FTRACE_POKES_MAX, avoided(&s));
	for (i = 0; i < 40; i++)
		ftrace_slices_learn(&s, 1, quick, BOUND);
	s.pokes = 0;
	KUNIT_EXPECT_EQ(test, 0, avoided(&s));
}

static struct kunit_case slices_cases[] = {
	KUNIT_CASE(next_test),
	KUNIT_CASE(learn_test),
	KUNIT_CASE(cheaper_test),
	KUNIT_CASE(longest_test),
	KUNIT_CASE(settles_test),
	KUNIT_CASE(busy_test),
	KUNIT_CASE(hiccup_test),
	KUNIT_CASE(pair_test),
	KUNIT_CASE(first_test),
	KUNIT_CASE(changes_test),
	KUNIT_CASE(avoid_test),
	KUNIT_CASE(avoid_mean_test),
	KUNIT_CASE(try_test),
	{}
};

static struct kunit_suite slices_suite = {
	.name		= "ftrace-slices",
	.test_cases	= slices_cases,
};

kunit_test_suite(slices_suite);
