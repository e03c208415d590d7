/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pairs of barriers in arch/x86/kernel/ftrace/stop.c and in users/probe.c and
 * text/trampoline.c of kernel/trace/ftrace, as in litmus/.
 *
 * Each process does its accesses once, in any order that its barriers allow. What
 * is written is seen by all others at once, as on x86; beyond that it is weaker
 * than x86, where loads keep their order, and so do stores.
 *
 * BROKEN names the barrier that is missing; each has to be refuted.
 */
#define NO_WMB			1	/* publish(): smp_wmb() */
#define NO_SECOND_RMB		2	/* ftrace_int3_handler(), before it reads entries */
#define NO_ARRIVE		3	/* arrive(): raw_atomic_inc_return() without order */
#define NO_ACQUIRE		4	/* meet(): a plain load of passed */
#define NO_FIRST_RMB		5	/* ftrace_int3_handler(), before it reads nr */
#define NO_RELEASE		6	/* publish_live(): rcu_assign_pointer() */
#define NO_PROBE_RMB		7	/* probe_call(): smp_rmb() */
#define COUNTED_FIRST		8	/* tramp_free() counts before list_del_rcu() */
#define NO_COUNT_ACQUIRE	9	/* find_nth(): a plain load of nr_gone */

#ifndef BROKEN
#define BROKEN	0
#endif

bool entries, nr, text, data, live, written, arrived, passed, unlisted, counted;

/* publish(), and then, in the stop, a breakpoint: stop_machine() is a barrier. */
proctype publisher()
{
	bool d1, d2, d3;

	do
	:: !d1 -> atomic { entries = true; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_WMB) -> atomic { nr = true; d2 = true }
	:: !d3 && d1 && d2 -> atomic { text = true; d3 = true }
	:: d1 && d2 && d3 -> break
	od
}

/* A step, and arrive() on a CPU that is not the last. */
proctype writer()
{
	bool d1, d2;

	do
	:: !d1 -> atomic { written = true; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_ARRIVE) -> atomic { arrived = true; d2 = true }
	:: d1 && d2 -> break
	od
}

/* meet() on the CPU that is the last. */
proctype passer()
{
	bool d1, d2, saw;

	do
	:: !d1 -> atomic { saw = arrived; d1 = true }
	:: !d2 && d1 -> atomic { passed = saw; d2 = true }
	:: d1 && d2 -> break
	od
}

/* meet() on a CPU that waits, and what it sees in the next step. */
proctype waiter()
{
	bool d1, d2, saw_passed, saw_written;

	do
	:: !d1 -> atomic { saw_passed = passed; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_ACQUIRE) ->
		atomic { saw_written = written; d2 = true }
	:: d1 && d2 -> break
	od;
	assert(!saw_passed || saw_written)
}

/* ftrace_int3_handler(): the breakpoint, the number, the entries. */
proctype handler()
{
	bool d1, d2, d3, hit, saw_nr, saw_entries;

	do
	:: !d1 -> atomic { hit = text; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_FIRST_RMB) -> atomic { saw_nr = nr; d2 = true }
	:: !d3 && ((d1 && d2) || BROKEN == NO_SECOND_RMB) ->
		atomic { saw_entries = entries; d3 = true }
	:: d1 && d2 && d3 -> break
	od;
	/* Whoever sees the number must see the entries. */
	assert(!saw_nr || saw_entries);
	/* Whoever hits a breakpoint must see the number. */
	assert(!hit || saw_nr)
}

/* init_sites(), publish_live() */
proctype prober()
{
	bool d1, d2;

	do
	:: !d1 -> atomic { data = true; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_RELEASE) -> atomic { live = true; d2 = true }
	:: d1 && d2 -> break
	od
}

/* probe_call() */
proctype probed()
{
	bool d1, d2, saw_live, saw_data;

	do
	:: !d1 -> atomic { saw_live = live; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_PROBE_RMB) ->
		atomic { saw_data = data; d2 = true }
	:: d1 && d2 -> break
	od;
	assert(!saw_live || saw_data)
}

/* tramp_free() */
proctype freer()
{
	bool d1, d2;

	do
	:: !d1 -> atomic { unlisted = true; d1 = true }
	:: !d2 && (d1 || BROKEN == COUNTED_FIRST) -> atomic { counted = true; d2 = true }
	:: d1 && d2 -> break
	od
}

/* find_nth() */
proctype namer()
{
	bool d1, d2, saw_counted, saw_unlisted;

	do
	:: !d1 -> atomic { saw_counted = counted; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_COUNT_ACQUIRE) ->
		atomic { saw_unlisted = unlisted; d2 = true }
	:: d1 && d2 -> break
	od;
	/* Or it would keep the trampoline for others who see the same number. */
	assert(!saw_counted || saw_unlisted)
}

init {
	atomic {
		run freer();
		run namer();
		run publisher();
		run writer();
		run passer();
		run waiter();
		run handler();
		run prober();
		run probed()
	}
}
