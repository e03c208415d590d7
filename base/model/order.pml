/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pairs of barriers in arch/x86/kernel/ftrace/stop.c and in
 * kernel/trace/ftrace/users/probe.c, as in litmus/.
 *
 * Each process does its accesses once, in any order that its barriers allow. What
 * is written is seen by all others at once, as on x86; beyond that it is weaker
 * than x86, where loads keep their order, and so do stores.
 *
 * BROKEN names the barrier that is missing; each has to be refuted.
 */
#define NO_WMB			1	/* publish(): smp_wmb() */
#define NO_SECOND_RMB		2	/* ftrace_int3_handler(), before it reads entries */
#define NO_BEFORE_ATOMIC	3	/* meet(): smp_mb__before_atomic() */
#define NO_MB			4	/* meet(): smp_mb() */
#define NO_FIRST_RMB		5	/* ftrace_int3_handler(), before it reads nr */
#define NO_RELEASE		6	/* publish_live(): rcu_assign_pointer() */
#define NO_PROBE_RMB		7	/* probe_call(): smp_rmb() */

#ifndef BROKEN
#define BROKEN	0
#endif

bool entries, nr, arrived, text, data, live;
bool waited, gave_up;	/* what came of the wait of breaker() */

/* publish(), and then meet() on the same CPU, which says that it is there. */
proctype publisher()
{
	bool d1, d2, d3;

	do
	:: !d1 -> atomic { entries = true; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_WMB) -> atomic { nr = true; d2 = true }
	:: !d3 && ((d1 && d2) || BROKEN == NO_BEFORE_ATOMIC) ->
		atomic { arrived = true; d3 = true }
	:: d1 && d2 && d3 -> break
	od
}

/* meet() on a CPU that waits, and write_breakpoints() after it. */
proctype breaker()
{
	bool d1, d2, saw;

	do
	:: !d1 -> atomic { saw = arrived; d1 = true }
	:: !d2 && (d1 || BROKEN == NO_MB) -> atomic { text = true; d2 = true }
	:: d1 && d2 -> break
	od;
	/* In the code the wait ends only once it has seen it; ignore other runs. */
	if
	:: saw -> waited = true
	:: else -> gave_up = true
	fi
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
	waited || gave_up;
	/* Whoever sees the number must see the entries. */
	assert(!saw_nr || saw_entries);
	/* Whoever hits a breakpoint must see the number. */
	assert(gave_up || !hit || saw_nr)
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

init {
	atomic {
		run publisher();
		run breaker();
		run handler();
		run prober();
		run probed()
	}
}
