// SPDX-License-Identifier: GPL-2.0
/*
 * The note table by itself; recorder_test.c has it in use.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../sites/note_table.h"
#include "../sites/notes.h"

/* Where kernel text may be; functions lie 16 bytes apart or a multiple of it. */
#define TEXT		0xffffffff81000000UL
#define STRIDE		16

static void free_table(void *t)
{
	vfree(t);
}

static struct ftrace_note_table *new_table(struct kunit *test,
					   unsigned int homes)
{
	struct ftrace_note_table *t = ftrace_notes_alloc(homes);

	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_table, t));
	KUNIT_ASSERT_EQ(test, t->nr_homes, homes);
	return t;
}

static u32 key_of(unsigned int i)
{
	return ftrace_note_key(TEXT + (unsigned long)i * STRIDE);
}

/* How many slots are taken; each must be in reach of its key's home. */
static unsigned int count_slots(struct kunit *test,
				const struct ftrace_note_table *t)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ftrace_note_slots(t->nr_homes); i++) {
		u32 home;

		if (!t->slots[i])
			continue;
		nr++;
		home = ftrace_note_home(t, t->slots[i]);
		KUNIT_EXPECT_LE(test, home, i);
		KUNIT_EXPECT_LT(test, i, home + FTRACE_NOTE_PROBES);
	}
	return nr;
}

static void key_test(struct kunit *test)
{
	static const unsigned long ips[] = {
		TEXT, TEXT + 4, 0xffffffff80000000UL, 0xffffffffc0123456UL,
		0xfffffffffffffff0UL,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ips); i++) {
		u32 key = ftrace_note_key(ips[i]);

		KUNIT_EXPECT_NE(test, key, 0);
		KUNIT_EXPECT_EQ(test, ftrace_note_ip(key), ips[i]);
		/* It is what the call leaves on the stack. */
		KUNIT_EXPECT_EQ(test, key, (u32)(ips[i] + MCOUNT_INSN_SIZE));
	}
}

static void home_test(struct kunit *test)
{
	static const u64 homes[] = { 1, 2, 3, 992, 65536, 1000003, U32_MAX };
	static const u32 keys[] = { 1, 2, 0x7fffffff, 0x80000000, U32_MAX };
	struct ftrace_note_table t = {};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(homes); i++) {
		t.nr_homes = homes[i];
		for (j = 0; j < ARRAY_SIZE(keys); j++)
			KUNIT_EXPECT_LT(test, ftrace_note_home(&t, keys[j]),
					homes[i]);
		for (j = 0; j < 1000; j++)
			KUNIT_EXPECT_LT(test, ftrace_note_home(&t, key_of(j)),
					homes[i]);
	}
}

static void claim_test(struct kunit *test)
{
	struct ftrace_note_table *t = new_table(test, 64);

	KUNIT_EXPECT_EQ(test, count_slots(test, t), 0);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(0)), FTRACE_NOTE_TAKEN);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(0)), FTRACE_NOTE_KNOWN);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(1)), FTRACE_NOTE_TAKEN);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(0)), FTRACE_NOTE_KNOWN);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(1)), FTRACE_NOTE_KNOWN);
	KUNIT_EXPECT_EQ(test, count_slots(test, t), 2);
	KUNIT_EXPECT_EQ(test, t->slots[ftrace_note_home(t, key_of(0))],
			key_of(0));
}

static void full_test(struct kunit *test)
{
	struct ftrace_note_table *t = new_table(test, 1);
	unsigned int i;

	/* All keys have the same home. */
	for (i = 0; i < FTRACE_NOTE_PROBES; i++)
		KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(i)),
				FTRACE_NOTE_TAKEN);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(i)), FTRACE_NOTE_FULL);
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(i)), FTRACE_NOTE_FULL);
	for (i = 0; i < FTRACE_NOTE_PROBES; i++)
		KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(i)),
				FTRACE_NOTE_KNOWN);
	KUNIT_EXPECT_EQ(test, count_slots(test, t), FTRACE_NOTE_PROBES);

	/* A slot that was emptied is there to be taken again. */
	t->slots[3] = 0;
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(100)),
			FTRACE_NOTE_TAKEN);
	KUNIT_EXPECT_EQ(test, t->slots[3], key_of(100));
	KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(101)),
			FTRACE_NOTE_FULL);
}

/* The last home has as many slots as any other, and nothing follows them. */
static void last_home_test(struct kunit *test)
{
	struct ftrace_note_table *t = new_table(test, 102);
	unsigned int i, nr = 0, slots = ftrace_note_slots(100);
	const u32 *after = &t->slots[slots];

	/* Two slots more than it knows of. */
	t->nr_homes = 100;
	for (i = 0; nr <= FTRACE_NOTE_PROBES && i < 100000; i++) {
		if (ftrace_note_home(t, key_of(i)) != 99)
			continue;
		KUNIT_EXPECT_EQ(test, ftrace_note_claim(t, key_of(i)),
				nr < FTRACE_NOTE_PROBES ? FTRACE_NOTE_TAKEN :
							  FTRACE_NOTE_FULL);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, nr, FTRACE_NOTE_PROBES + 1);
	KUNIT_EXPECT_EQ(test, count_slots(test, t), FTRACE_NOTE_PROBES);
	KUNIT_EXPECT_NE(test, t->slots[slots - 1], 0);
	KUNIT_EXPECT_EQ(test, after[0] | after[1], 0);
}

/* Half full with functions as they follow on each other, no call is skipped. */
static void spread_test(struct kunit *test)
{
	struct ftrace_note_table *t = new_table(test, 65536);
	unsigned int i, taken = 0;

	for (i = 0; i < 32768; i++)
		taken += ftrace_note_claim(t, key_of(i)) == FTRACE_NOTE_TAKEN;
	KUNIT_EXPECT_EQ(test, taken, 32768);
	KUNIT_EXPECT_EQ(test, count_slots(test, t), 32768);
}

/* ---- several threads ----------------------------------------------------- */

/* Between two meetings, so that threads are at the same keys at a time. */
#define KEYS_AT_ONCE	8

/**
 * struct claimers - threads that claim the same keys
 * @t: the table
 * @nr_keys: how many keys
 * @nr: how many threads
 * @start: when that many are known
 * @done: the last of them is through
 * @left: how many are not
 * @arrived: arrivals at all meetings
 * @result: what their claims came to
 */
struct claimers {
	struct ftrace_note_table	*t;
	unsigned int			nr_keys;
	unsigned int			nr;
	struct completion		start;
	struct completion		done;
	atomic_t			left;
	atomic_t			arrived;
	atomic_t			result[FTRACE_NOTE_FULL + 1];
};

static int claim_all(void *data)
{
	struct claimers *c = data;
	unsigned int i, meeting = 0;

	wait_for_completion(&c->start);
	for (i = 0; i < c->nr_keys; i++) {
		if (i % KEYS_AT_ONCE == 0) {
			meeting += c->nr;
			atomic_inc(&c->arrived);
			while (atomic_read(&c->arrived) < meeting)
				cond_resched();
		}
		atomic_inc(&c->result[ftrace_note_claim(c->t, key_of(i))]);
	}
	if (atomic_dec_and_test(&c->left))
		complete(&c->done);
	return 0;
}

static void start_claimer(struct claimers *c, unsigned int cpu)
{
	struct task_struct *task;

	task = kthread_run_on_cpu(claim_all, c, cpu, "ftrace_claim/%u");
	c->nr += !IS_ERR(task);
}

/* A thread for each CPU, and at least two. */
static void run_claimers(struct kunit *test, struct claimers *c)
{
	unsigned int cpu;

	init_completion(&c->start);
	init_completion(&c->done);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		start_claimer(c, cpu);
	if (c->nr == 1)
		start_claimer(c, cpumask_first(cpu_online_mask));
	cpus_read_unlock();

	KUNIT_EXPECT_GE(test, c->nr, 2);
	if (!c->nr)
		return;
	atomic_set(&c->left, c->nr);
	complete_all(&c->start);
	wait_for_completion(&c->done);
}

static void threads_test(struct kunit *test)
{
	struct claimers c = { .nr_keys = 4096 };
	unsigned int i;

	c.t = new_table(test, 8 * c.nr_keys);
	run_claimers(test, &c);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.result[FTRACE_NOTE_TAKEN]),
			c.nr_keys);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.result[FTRACE_NOTE_KNOWN]),
			(c.nr - 1) * c.nr_keys);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.result[FTRACE_NOTE_FULL]), 0);
	KUNIT_EXPECT_EQ(test, count_slots(test, c.t), c.nr_keys);
	for (i = 0; i < c.nr_keys; i++)
		KUNIT_EXPECT_EQ(test, ftrace_note_claim(c.t, key_of(i)),
				FTRACE_NOTE_KNOWN);
}

static void threads_full_test(struct kunit *test)
{
	struct claimers c = { .nr_keys = 256 };
	unsigned int i, j, slots;

	c.t = new_table(test, 2);
	slots = ftrace_note_slots(2);
	run_claimers(test, &c);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.result[FTRACE_NOTE_TAKEN]), slots);
	KUNIT_EXPECT_EQ(test, count_slots(test, c.t), slots);
	for (i = 0; i < slots; i++) {
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, c.t->slots[i], c.t->slots[j]);
	}
}

static struct kunit_case notes_cases[] = {
	KUNIT_CASE(key_test),
	KUNIT_CASE(home_test),
	KUNIT_CASE(claim_test),
	KUNIT_CASE(full_test),
	KUNIT_CASE(last_home_test),
	KUNIT_CASE(spread_test),
	KUNIT_CASE(threads_test),
	KUNIT_CASE(threads_full_test),
	{}
};

static struct kunit_suite notes_suite = {
	.name		= "ftrace-notes",
	.test_cases	= notes_cases,
};

kunit_test_suite(notes_suite);
