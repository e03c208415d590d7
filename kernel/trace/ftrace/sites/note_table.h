/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The note table: which call sites the recorder has seen.
 *
 * Shared by the recorder's entry code, which only reads it, and notes.c, which
 * owns it. A note is the ftrace_text_key() of the address the call returns to,
 * because that is what lies on the stack: the test "is this one noted" then needs no
 * arithmetic on it. 0 is a free slot.
 *
 * Open addressing without wrap-around: a key lives in its home slot or in one
 * of the FTRACE_NOTE_PROBES - 1 slots that follow it. The table has that many
 * slots more than homes, so that nobody has to test for its end. The home is
 * scaled to the number of homes by a multiplication, not by a shift: no
 * register other than the two at hand is needed, and any size will do.
 *
 * The size is read through the pointer that leads to the slots, so a reader
 * sees either the old table or the new one when ftraced swaps them. A reader
 * can be preempted on its way, or be where RCU does not watch: see
 * ftrace_notes_retire() for when a table that is out of use may be freed.
 */
#ifndef _KERNEL_TRACE_FTRACE_NOTE_TABLE_H
#define _KERNEL_TRACE_FTRACE_NOTE_TABLE_H

/* How many slots a key can be in; the entry code looks at the first two. */
#define FTRACE_NOTE_PROBES	8

#include <linux/build_bug.h>
#include <linux/ftrace_notes.h>
#include <linux/ftrace_text.h>
#include <linux/llist.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <asm/ftrace.h>

/**
 * struct ftrace_note_table - the notes of one round
 * @nr_homes: number of home slots, at least 1, below 2^32; never changes while
 *	the table is published
 * @rcu: for the grace period, once the table is out of use
 * @quiet: links it after that, until it is freed
 * @nr_pending: how many slots are taken; changes in any context
 * @nr_kept: how many of these are for sites that were set aside: they stay, so
 *	that the recorder knows these sites, and no round has to deal with them;
 *	changes under ftrace_lock
 * @slots: the notes: @nr_homes + FTRACE_NOTE_PROBES - 1 of them. A slot goes
 *	from 0 to a key by cmpxchg, in any context.
 *
 * What the recorder reads all the time and what it writes are kept on lines of
 * their own.
 */
struct ftrace_note_table {
	u64			nr_homes;
	struct rcu_head		rcu __aligned(64);
	struct llist_node	quiet;
	atomic_t		nr_pending;
	int			nr_kept;
	u32			slots[] __aligned(FTRACE_NOTES_SLOTS);
};

static_assert(offsetof(struct ftrace_note_table, nr_homes) ==
	      FTRACE_NOTES_HOMES);
static_assert(offsetof(struct ftrace_note_table, slots) ==
	      FTRACE_NOTES_SLOTS);

/*
 * The table in use. Published with smp_store_release(); not NULL from before
 * ftrace_text_arm_recorder() on. The entry code reads it.
 */
extern struct ftrace_note_table *ftrace_notes;

/* The note for the call site at @ip. */
static __always_inline u32 ftrace_note_key(unsigned long ip)
{
	return ftrace_text_key(ip + MCOUNT_INSN_SIZE);
}

/* The call site that a note, not 0, stands for. */
static __always_inline unsigned long ftrace_note_ip(u32 key)
{
	return ftrace_text_addr(key) - MCOUNT_INSN_SIZE;
}

/* The slot where @key belongs if it is free; as the entry code computes it. */
static __always_inline u32 ftrace_note_home(const struct ftrace_note_table *t,
					    u32 key)
{
	return (u64)(u32)(key * FTRACE_NOTE_MULT) * t->nr_homes >> 32;
}

/* How many slots a table with @homes home slots has. */
static __always_inline size_t ftrace_note_slots(u64 homes)
{
	return homes + FTRACE_NOTE_PROBES - 1;
}

/*
 * The slow path of the recorder, called by the entry code when the site is not
 * in the first two slots. Any context at all: noinstr, no lock, no RCU, no
 * per-CPU data, no sleeping; the caller's argument registers are saved.
 */
void ftrace_note(unsigned long ip);

#endif /* _KERNEL_TRACE_FTRACE_NOTE_TABLE_H */
