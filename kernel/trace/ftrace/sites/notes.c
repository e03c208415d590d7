// SPDX-License-Identifier: GPL-2.0
/*
 * The note table: what the recorder has seen since the last round.
 *
 * The recorder runs wherever an instrumented function runs: in an NMI, on the
 * first instructions of an interrupt, where RCU does not watch, on any CPU. It
 * takes no lock, calls nothing that is instrumented and allocates nothing.
 * When there is no slot it counts the call as skipped; the site will be called
 * again.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/thread_info.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "../core.h"
#include "note_table.h"
#include "notes.h"
#include "set.h"

struct ftrace_note_table *ftrace_notes;

/* Notes ever taken. */
static atomic_long_t nr_noted = ATOMIC_LONG_INIT(0);

/*
 * Calls ever skipped: when a table is full, that is each call of what it has no room for.
 * Each task adds to the counter that its stack chooses, so that CPUs do not wait for one
 * another. Not per CPU: the recorder may run where GS has no base yet.
 */
#define SKIP_BITS	6

static struct {
	atomic_long_t	nr;
} ____cacheline_aligned_in_smp skipped[BIT(SKIP_BITS)];

/* Calls skipped when the size of the table was last judged; ftrace_lock. */
static unsigned long skipped_before;

/* Room for a second of a running system: one page, less the header. */
#define SLOTS_MIN	(PAGE_SIZE / sizeof(u32) - 40)

/**
 * ftrace_note_claim - note a call site in a table
 * @t: the table
 * @key: the note, not 0
 *
 * Context: any, NMI included; several CPUs at once.
 * Return: what became of it.
 */
noinstr enum ftrace_note_result
ftrace_note_claim(struct ftrace_note_table *t, u32 key)
{
	u32 *slot = &t->slots[ftrace_note_home(t, key)];
	unsigned int i;

	for (i = 0; i < FTRACE_NOTE_PROBES; i++, slot++) {
		u32 seen = READ_ONCE(*slot);

		/* Two that find the same slot free: one of them gets it. */
		if (!seen)
			seen = arch_cmpxchg(slot, 0, key);
		if (!seen)
			return FTRACE_NOTE_TAKEN;
		if (seen == key)
			return FTRACE_NOTE_KNOWN;
	}
	return FTRACE_NOTE_FULL;
}

static __always_inline unsigned int skip_slot(void)
{
	return hash_long(current_stack_pointer / THREAD_SIZE, SKIP_BITS);
}

/**
 * ftrace_note - note the call site at @ip
 * @ip: the call site
 *
 * The slow path of the recorder, see note_table.h.
 *
 * Context: any at all.
 */
noinstr void ftrace_note(unsigned long ip)
{
	struct ftrace_note_table *t = READ_ONCE(ftrace_notes);

	switch (ftrace_note_claim(t, ftrace_note_key(ip))) {
	case FTRACE_NOTE_TAKEN:
		raw_atomic_inc(&t->nr_pending);
		raw_atomic_long_inc(&nr_noted);
		break;
	case FTRACE_NOTE_FULL:
		raw_atomic_long_inc(&skipped[skip_slot()].nr);
		break;
	case FTRACE_NOTE_KNOWN:
		break;
	}
}

/**
 * ftrace_notes_size - how long a table is, in bytes
 * @homes: how many home slots
 *
 * Context: any.
 */
size_t ftrace_notes_size(unsigned int homes)
{
	return struct_size_t(struct ftrace_note_table, slots,
			     ftrace_note_slots(homes));
}

/**
 * ftrace_notes_alloc - make an empty table
 * @homes: how many home slots, at least 1
 *
 * Context: process.
 * Return: the table or NULL.
 */
struct ftrace_note_table *ftrace_notes_alloc(unsigned int homes)
{
	struct ftrace_note_table *t;

	t = vzalloc(ftrace_notes_size(homes));
	if (t)
		t->nr_homes = homes;
	return t;
}

/**
 * ftrace_notes_publish - have the recorder use another table
 * @t: the table
 *
 * Notes that were in the old table only are lost, and made again when their
 * sites are called.
 *
 * Context: one caller at a time (ftrace_lock, or early boot).
 * Return: the old table, NULL if there was none. A recorder may be in it until
 * the grace period of ftrace_notes_retire().
 */
struct ftrace_note_table *ftrace_notes_publish(struct ftrace_note_table *t)
{
	struct ftrace_note_table *old = ftrace_notes;

	/* A recorder that sees the table sees it empty, and its size. */
	smp_store_release(&ftrace_notes, t);
	return old;
}

/* Tables that no task is in any more, to be freed by free_work. */
static LLIST_HEAD(quiet_tables);

/*
 * Readers that cannot be preempted are done once every CPU has scheduled; that
 * is what the rude flavour of RCU-tasks waits for.
 */
static void free_quiet(struct work_struct *work)
{
	struct llist_node *quiet = llist_del_all(&quiet_tables);
	struct ftrace_note_table *t, *next;

	synchronize_rcu_tasks_rude();
	llist_for_each_entry_safe(t, next, quiet, quiet)
		vfree(t);
}

static DECLARE_WORK(free_work, free_quiet);

static void table_is_quiet(struct rcu_head *rcu)
{
	struct ftrace_note_table *t;

	t = container_of(rcu, struct ftrace_note_table, rcu);
	if (llist_add(&t->quiet, &quiet_tables))
		schedule_work(&free_work);
}

/**
 * ftrace_notes_retire - free a table that is not in use any more
 * @t: the table, may be NULL
 *
 * Does not wait: a task preempted in the recorder still has the table in a
 * register. RCU-tasks waits for such tasks, which can take very long. Notes
 * that are made in the table meanwhile are lost, and so is their count.
 * Context: process.
 */
void ftrace_notes_retire(struct ftrace_note_table *t)
{
	if (t)
		call_rcu_tasks(&t->rcu, table_is_quiet);
}

/**
 * ftrace_notes_list - list the call sites that have notes
 * @s: an empty list; without memory for all of them, it gets some
 *
 * A site can be in it twice: a slot that is freed can break the chain to a note
 * after it, which may then be taken once more.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_notes_list(struct ftrace_sites *s)
{
	const struct ftrace_note_table *t = ftrace_notes;
	size_t i;

	lockdep_assert_held(&ftrace_lock);
	for (i = 0; i < ftrace_note_slots(t->nr_homes); i++) {
		u32 key = READ_ONCE(t->slots[i]);

		if (key && ftrace_sites_add(s, ftrace_note_ip(key)))
			break;
	}
}

/**
 * ftrace_notes_drop - drop the notes of call sites
 * @sites: the sites, as ftrace_text_key()
 * @nr: how many
 * @nr_kept: how many of the other notes are of sites that were set aside
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_notes_drop(const u32 *sites, unsigned int nr, int nr_kept)
{
	struct ftrace_note_table *t = ftrace_notes;
	unsigned int i, j;

	lockdep_assert_held(&ftrace_lock);
	for (i = 0; i < nr; i++) {
		u32 key = ftrace_note_key(ftrace_text_addr(sites[i]));
		u32 *slot = &t->slots[ftrace_note_home(t, key)];

		for (j = 0; j < FTRACE_NOTE_PROBES; j++, slot++) {
			if (READ_ONCE(*slot) != key)
				continue;
			/* Only this side ever empties a slot, and only under the lock. */
			WRITE_ONCE(*slot, 0);
			atomic_dec(&t->nr_pending);
		}
	}
	WRITE_ONCE(t->nr_kept, nr_kept);
}

/**
 * ftrace_notes_recount - have the next round count anew which notes are kept
 *
 * Text has gone. A call site that comes to lie where one of it was set aside has a note
 * already, and a note that is thought to be kept starts no round.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_notes_recount(void)
{
	lockdep_assert_held(&ftrace_lock);
	if (ftrace_notes)
		WRITE_ONCE(ftrace_notes->nr_kept, 0);
}

/**
 * ftrace_notes_stat - the figures of the recorder
 * @st: where to put them
 *
 * Context: any.
 */
void ftrace_notes_stat(struct ftrace_notes_stat *st)
{
	const struct ftrace_note_table *t = READ_ONCE(ftrace_notes);
	unsigned int i;

	st->noted = atomic_long_read(&nr_noted);
	st->skipped = 0;
	for (i = 0; i < ARRAY_SIZE(skipped); i++)
		st->skipped += atomic_long_read(&skipped[i].nr);
	/* There is none if start-up has failed. */
	st->slots = t ? t->nr_homes : 0;
	/* A note can be seen, and taken by a round, before it is counted. */
	st->pending = t ? max(atomic_read(&t->nr_pending) -
			      READ_ONCE(t->nr_kept), 0) : 0;
}

/**
 * ftrace_notes_pending - is there something for a round to do?
 *
 * Context: any.
 * Return: true if a note came since the last one, or a call was skipped, so that a
 * larger table is needed.
 */
bool ftrace_notes_pending(void)
{
	struct ftrace_notes_stat st;

	ftrace_notes_stat(&st);
	return st.pending || st.skipped != READ_ONCE(skipped_before);
}

/* How many slots the next round will want; the boot's batch is a large one. */
static unsigned int slots_wanted(const struct ftrace_note_table *t)
{
	struct ftrace_notes_stat st;
	unsigned long missed;

	ftrace_notes_stat(&st);
	missed = st.skipped - skipped_before;
	WRITE_ONCE(skipped_before, st.skipped);
	if (missed)
		return min_t(unsigned long, FTRACE_SLOTS_MAX, 2 * st.slots);
	/* In a small table, notes that are kept could be in the way again. */
	if (!t->nr_kept && st.pending < st.slots / 4)
		return SLOTS_MIN;
	return st.slots;
}

/**
 * ftrace_notes_resize - give the recorder the slots for the next round
 *
 * Context: process. Takes ftrace_lock.
 */
void ftrace_notes_resize(void)
{
	struct ftrace_note_table *t = NULL;
	unsigned int want;

	guard(mutex)(&ftrace_lock);
	want = slots_wanted(ftrace_notes);
	if (want != ftrace_notes->nr_homes)
		t = ftrace_notes_alloc(want);
	if (t)
		ftrace_notes_retire(ftrace_notes_publish(t));
}
