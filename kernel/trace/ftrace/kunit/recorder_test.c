// SPDX-License-Identifier: GPL-2.0
/*
 * The note table as the recorder uses it, and when it is out of use.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../sites/note_table.h"
#include "../sites/notes.h"
#include "../sites/set.h"
#include "../sites/sites.h"
#include "area.h"
#include "victim.h"

/* Functions lie 16 bytes apart or a multiple of it. */
#define STRIDE		16
#define NR_FAKES	64

/* Enough that each of the places is one where some of them count. */
#define NR_SKIPPERS	512

/**
 * struct fakes - notes of sites where there is no text
 * @base: the address of the first
 * @seen: how often each is in the list
 */
struct fakes {
	unsigned long	base;
	unsigned int	seen[NR_FAKES];
};

static void visit(struct fakes *f, unsigned long ip)
{
	unsigned long i = (ip - f->base) / STRIDE;

	/* Others take notes too. */
	if (ip >= f->base && i < NR_FAKES && ip == f->base + i * STRIDE)
		f->seen[i]++;
}

static void visit_all(struct fakes *f)
{
	struct ftrace_sites s = {};
	unsigned int i;

	memset(f->seen, 0, sizeof(f->seen));
	ftrace_notes_list(&s);
	for (i = 0; i < s.nr; i++)
		visit(f, ftrace_text_addr(s.key[i]));
	ftrace_sites_free(&s);
}

/* Drop the note of every @step-th fake, from the @first on. */
static void drop(struct fakes *f, unsigned int first, unsigned int step)
{
	u32 sites[NR_FAKES];
	unsigned int i, nr = 0;

	for (i = first; i < NR_FAKES; i += step)
		sites[nr++] = ftrace_text_key(f->base + i * STRIDE);
	ftrace_notes_drop(sites, nr, ftrace_notes->nr_kept);
}

static void note_all(struct fakes *f)
{
	unsigned int i;

	for (i = 0; i < NR_FAKES; i++)
		ftrace_note(f->base + i * STRIDE);
}

/* One fill and one reset; do the figures tell the truth? */
static bool figures_are_exact(struct fakes *f)
{
	struct ftrace_notes_stat before, full, twice, after;

	ftrace_notes_stat(&before);
	note_all(f);
	ftrace_notes_stat(&full);
	note_all(f);
	ftrace_notes_stat(&twice);
	drop(f, 0, 1);
	ftrace_notes_stat(&after);

	return full.noted - before.noted == NR_FAKES &&
	       full.pending - before.pending == NR_FAKES &&
	       twice.noted == full.noted && twice.pending == full.pending &&
	       after.noted == full.noted && after.pending == before.pending &&
	       after.skipped == before.skipped;
}

static void reset(struct kunit *test, struct fakes *f)
{
	struct ftrace_notes_stat st;
	unsigned int i, n;
	bool exact = false;

	ftrace_notes_stat(&st);
	KUNIT_EXPECT_EQ(test, st.slots, 4096);

	visit_all(f);
	for (i = 0; i < NR_FAKES; i++)
		KUNIT_EXPECT_EQ(test, f->seen[i], 0);

	/* Each is there once, and stays until it is let go. */
	note_all(f);
	note_all(f);
	for (n = 0; n < 2; n++) {
		visit_all(f);
		for (i = 0; i < NR_FAKES; i++)
			KUNIT_EXPECT_EQ(test, f->seen[i], 1);
	}
	drop(f, 1, 2);
	visit_all(f);
	for (i = 0; i < NR_FAKES; i++)
		KUNIT_EXPECT_EQ(test, f->seen[i], i % 2 ? 0 : 1);
	drop(f, 0, 1);
	visit_all(f);
	for (i = 0; i < NR_FAKES; i++)
		KUNIT_EXPECT_EQ(test, f->seen[i], 0);

	/* Exact only if nobody else takes a note meanwhile; mostly so. */
	for (n = 0; n < 1000 && !exact; n++) {
		exact = figures_are_exact(f);
		cond_resched();
	}
	KUNIT_EXPECT_TRUE_MSG(test, exact, "the figures are never exact");
}

/*
 * Runs @fn while the recorder uses a table of the test's own. The notes that
 * real call sites leave in it are lost; they will be made again.
 */
static void with_table(struct kunit *test, unsigned int homes,
		       void (*fn)(struct kunit *test, struct fakes *f))
{
	struct ftrace_note_table *t, *old;
	struct fakes f = {};

	f.base = ftrace_test_area(test, PAGE_SIZE);
	t = ftrace_notes_alloc(homes);
	KUNIT_ASSERT_NOT_NULL(test, t);

	mutex_lock(&ftrace_lock);
	old = ftrace_notes_publish(t);
	fn(test, &f);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_notes_publish(old), t);
	mutex_unlock(&ftrace_lock);
	ftrace_notes_retire(t);
}

static void reset_test(struct kunit *test)
{
	with_table(test, 4096, reset);
}

/**
 * struct skipper - a task that finds the table full
 * @task: itself
 * @fakes: what it notes
 * @nr: how many of them find no room
 * @end: when it gives up, in jiffies
 * @exact: by so many more calls were skipped
 * @done: it has noted them
 */
struct skipper {
	struct task_struct	*task;
	struct fakes		*fakes;
	unsigned int		nr;
	unsigned long		end;
	bool			exact;
	struct completion	done;
};

static unsigned long skipped_meanwhile(struct fakes *f)
{
	struct ftrace_notes_stat before, after;

	guard(irq)();
	ftrace_notes_stat(&before);
	note_all(f);
	ftrace_notes_stat(&after);
	return after.skipped - before.skipped;
}

static int skip_in_thread(void *skipper)
{
	struct skipper *s = skipper;

	/* Others find the table full, too, but not all the time. */
	for (;;) {
		s->exact = skipped_meanwhile(s->fakes) == s->nr;
		if (s->exact || time_after(jiffies, s->end))
			break;
		schedule_timeout_idle(1);
	}
	complete(&s->done);
	return 0;
}

/* All skippers have a stack before one runs, or they could have the same. */
static unsigned int make_skippers(struct skipper *s, struct fakes *f)
{
	unsigned int i, nr = NR_FAKES;

	note_all(f);
	visit_all(f);
	for (i = 0; i < NR_FAKES; i++)
		nr -= f->seen[i];
	for (i = 0; i < NR_SKIPPERS; i++) {
		s[i].fakes = f;
		s[i].nr = nr;
		init_completion(&s[i].done);
		s[i].task = kthread_create(skip_in_thread, &s[i], "ftrace_skip/%u", i);
		if (IS_ERR(s[i].task))
			break;
		get_task_struct(s[i].task);
	}
	return i;
}

/* A task counts in one of many places, by its stack: the sum has them all. */
static void skip_calls(struct kunit *test, struct fakes *f)
{
	struct skipper *s = kunit_kcalloc(test, NR_SKIPPERS, sizeof(*s), GFP_KERNEL);
	unsigned int i, nr = s ? make_skippers(s, f) : 0, nr_exact = 0;

	KUNIT_EXPECT_EQ(test, nr, NR_SKIPPERS);
	for (i = 0; i < nr; i++) {
		/* If one was never exact, the others would take as long. */
		s[i].end = jiffies + (nr_exact == i) * 60 * HZ;
		wake_up_process(s[i].task);
		wait_for_completion(&s[i].done);
		kthread_stop_put(s[i].task);
		nr_exact += s[i].exact;
	}
	KUNIT_EXPECT_EQ(test, nr_exact, nr);
	KUNIT_EXPECT_GE(test, s ? s->nr : 0, NR_FAKES - FTRACE_NOTE_PROBES);
}

static void skipped_test(struct kunit *test)
{
	with_table(test, 1, skip_calls);
}

/* The entry code and ftrace_note_claim() look in the same places. */
static void record_call(struct kunit *test, struct fakes *f)
{
	unsigned long ip = ftrace_location((unsigned long)ftrace_kunit_unseen);
	struct ftrace_notes_stat before, after;
	unsigned int i;
	u32 key;

	KUNIT_EXPECT_NE(test, ip, 0);
	if (!ftrace_text_is_unpatched(ip)) {
		kunit_mark_skipped(test, "the function was found already");
		return;
	}
	key = ftrace_note_key(ip);
	f->base = ip;
	visit_all(f);
	KUNIT_EXPECT_EQ(test, f->seen[0], 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_unseen(), 200);
	visit_all(f);
	KUNIT_EXPECT_EQ(test, f->seen[0], 1);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(ftrace_notes, key),
			FTRACE_NOTE_KNOWN);

	ftrace_notes_stat(&before);
	for (i = 0; i < 10000; i++)
		ftrace_kunit_unseen();
	ftrace_notes_stat(&after);
	KUNIT_EXPECT_LT(test, after.noted - before.noted, 10000);
	visit_all(f);
	KUNIT_EXPECT_EQ(test, f->seen[0], 1);
}

static void recorder_test(struct kunit *test)
{
	with_table(test, 4096, record_call);
}

/**
 * struct spinner - a task that keeps RCU-tasks waiting
 * @runs: it has begun
 * @stop: it shall end
 * @gave_up: nobody has said so
 */
struct spinner {
	struct completion	runs;
	bool			stop;
	bool			gave_up;
};

/*
 * It can be preempted, and does not sleep. The end of its patience is there for a
 * kernel in which the test waits for this task, so that it fails and does not hang.
 */
static int spin(void *data)
{
	unsigned long end = jiffies + 30 * HZ;
	struct spinner *s = data;

	complete(&s->runs);
	while (!READ_ONCE(s->stop) && !READ_ONCE(s->gave_up)) {
		if (time_after(jiffies, end))
			WRITE_ONCE(s->gave_up, true);
		cpu_relax();
	}
	return 0;
}

/* Has it not been freed? Addresses are not used again that soon. */
static bool is_there(const struct ftrace_note_table *t)
{
	return find_vm_area(t);
}

static void expect_freed(struct kunit *test, const struct ftrace_note_table *t)
{
	unsigned long end = jiffies + 120 * HZ;

	while (is_there(t) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE_MSG(test, is_there(t), "it is never freed");
}

/* A table that has been in use, with notes that no round has come by. */
static struct ftrace_note_table *used_table(struct kunit *test)
{
	struct ftrace_note_table *t, *old;
	struct fakes f = {};

	f.base = ftrace_test_area(test, PAGE_SIZE);
	t = ftrace_notes_alloc(4096);
	KUNIT_ASSERT_NOT_NULL(test, t);
	mutex_lock(&ftrace_lock);
	old = ftrace_notes_publish(t);
	note_all(&f);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_notes_publish(old), t);
	mutex_unlock(&ftrace_lock);
	return t;
}

static void freed_test(struct kunit *test)
{
	struct ftrace_note_table *t = used_table(test);

	KUNIT_EXPECT_TRUE(test, is_there(t));
	ftrace_notes_retire(t);
	expect_freed(test, t);
}

/* What is left in a table that is out of use is no work for ftraced. */
static void uncounted_test(struct kunit *test)
{
	struct ftrace_notes_stat before, after;
	struct ftrace_note_table *t;

	ftrace_notes_stat(&before);
	t = used_table(test);
	ftrace_notes_stat(&after);
	/* Others take notes, but not that many, and never so often. */
	KUNIT_EXPECT_GE(test, after.noted - before.noted, NR_FAKES);
	KUNIT_EXPECT_LT(test, after.pending - before.pending, NR_FAKES);
	ftrace_notes_retire(t);
}

/* Nor is a task that is preempted, and may be in such a table, waited for. */
static void retire_test(struct kunit *test)
{
	struct ftrace_note_table *t;
	struct spinner s = {};
	struct task_struct *task;
	unsigned int i;

	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "tasks that do not sleep cannot be preempted");
	t = used_table(test);
	init_completion(&s.runs);
	task = kthread_create(spin, &s, "ftrace-spinner");
	if (IS_ERR(task)) {
		ftrace_notes_retire(t);
		KUNIT_FAIL(test, "no thread: %ld", PTR_ERR(task));
		return;
	}
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&s.runs);
	ftrace_notes_retire(t);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(s.gave_up));
	/* Longer than it takes when there is no such task. */
	for (i = 0; i < 100 && is_there(t); i++)
		msleep(20);
	KUNIT_EXPECT_TRUE_MSG(test, is_there(t) || READ_ONCE(s.gave_up),
			      "it is freed while a task may be in it");
	WRITE_ONCE(s.stop, true);
	kthread_stop_put(task);
	expect_freed(test, t);
}

static struct kunit_case recorder_cases[] = {
	KUNIT_CASE_SLOW(reset_test),
	KUNIT_CASE_SLOW(skipped_test),
	KUNIT_CASE_SLOW(recorder_test),
	KUNIT_CASE_SLOW(freed_test),
	KUNIT_CASE(uncounted_test),
	KUNIT_CASE_SLOW(retire_test),
	{}
};

static struct kunit_suite recorder_suite = {
	.name		= "ftrace-recorder",
	.test_cases	= recorder_cases,
};

kunit_test_suite(recorder_suite);
