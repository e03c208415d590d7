/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stop: how call sites are written while NMIs go on.
 *
 * Models arch/x86/kernel/ftrace/stop.c: patch_share(), arrive(), meet(), end_step(),
 * publish(), unpublish() and ftrace_int3_handler(). README says what is assumed.
 *
 * A call site is two parts, its first byte and its tail, each OLD or NEW, the
 * first one also BREAK. A CPU that has not serialised may execute any value that
 * a part has had since it last did, and one part of it older than the other: that
 * is what the masks sees_first and sees_tail hold. Nothing that an NMI does
 * counts as serialising.
 *
 * There are two plans, one after the other, of different length: the first has
 * all sites, the second brings the first site back.
 *
 * BROKEN names one deviation from the code; each has to be refuted.
 */
#define NO_SYNC_BREAK		1	/* no sync_core() after write_breakpoints() */
#define NO_SYNC_TAIL		2	/* no sync_core() after write_tails() */
#define NO_SYNC_FIRST		3	/* no sync_core() after write_firsts() */
#define NO_MEET_BEFORE_SYNC	4	/* end_step() without its first meet() */
#define NO_MEET_AFTER_SYNC	5	/* end_step() without its second meet() */
#define PUBLISHED_INSIDE	6	/* publish() by the first CPU in the stop */
#define UNPUBLISHED_AFTER	7	/* unpublish() when the stop is over */
#define CLEARS_ENTRIES		8	/* publish(NULL, 0) at the end of the stop */
#define NR_FIRST		9	/* publish() writes the number first */
#define ENTRIES_FIRST		10	/* the handler reads the entries first */
#define TAIL_FIRST		11	/* no breakpoint while the tail is written */
#define UNPUBLISHED_EARLY	12	/* unpublish() by the first to arrive at the end */
#define NO_LAST_MEET		13	/* no meet() before the last sync_core() */

#ifndef BROKEN
#define BROKEN	0
#endif
#ifndef NCPU
#define NCPU	2
#endif

/*
 * How many CPUs have NMIs. One is as good as all: CPUs differ in nothing but the
 * order in which they take their shares, and all that NMIs do to each other is
 * that their CPUs come late, which they may in any case.
 */
#ifndef NNMI
#define NNMI	NCPU
#endif

#define NSITE	2
#define NPLAN	2

/* Parts of a site, as bits of a mask. */
#define OLD	1
#define NEW	2
#define BREAK	4

/* What the entries of a plan are before and after: 0 is no plan. */
#define NONE	0
#define ALIVE	1
#define FREED	2

/* What is in memory. */
byte first[NSITE];
byte tail[NSITE];

/* What a CPU may execute: all that was there since it serialised. */
typedef cpu_state {
	byte sees_first[NSITE];
	byte sees_tail[NSITE];
	bool in_nmi;
	bool stopped;
};
cpu_state cpu[NCPU];

/* struct changing; entries: the number of the plan, 0 for NULL. */
byte changing_entries;
byte changing_nr;

/* How many entries a plan has, and are they there? */
byte plan_nr[NPLAN + 1];
byte plan_state[NPLAN + 1];

/* struct text_stop of the one stop under way; stop_plan is 0 outside. */
byte stop_plan;
byte shares;
byte arrived;
byte passed;
byte through;
byte left;

/* What the plan makes of a site, and what is there. */
#define target(p)	((p) == 1 -> NEW : OLD)

inline write_first(s, v)
{
	d_step {
		first[s] = v;
		for (i : 0 .. NCPU - 1) {
			cpu[i].sees_first[s] = cpu[i].sees_first[s] | v
		}
		i = 0
	}
}

inline write_tail(s, v)
{
	d_step {
		tail[s] = v;
		for (i : 0 .. NCPU - 1) {
			cpu[i].sees_tail[s] = cpu[i].sees_tail[s] | v
		}
		i = 0
	}
}

/* sync_core() */
inline sync_core()
{
	d_step {
		for (i : 0 .. NSITE - 1) {
			cpu[c].sees_first[i] = first[i];
			cpu[c].sees_tail[i] = tail[i]
		}
		i = 0
	}
}

/* meet(): an NMI may come before the arrival, in the wait, and after it. */
inline meet()
{
	meeting = meeting + NCPU;
	atomic {
		arrived++;
		last = arrived == meeting
	}
	if
	:: last -> passed = meeting
	:: else -> passed >= meeting
	fi;
	last = false
}

/* end_step() */
inline end_step(unserialised)
{
	if
	:: BROKEN != NO_MEET_BEFORE_SYNC -> meet()
	:: else
	fi;
	if
	:: BROKEN != unserialised -> sync_core()
	:: else
	fi;
	if
	:: BROKEN != NO_MEET_AFTER_SYNC -> meet()
	:: else
	fi
}

/* publish() */
inline publish(p)
{
	if
	:: BROKEN == NR_FIRST ->
		changing_nr = plan_nr[p];
		changing_entries = p
	:: else ->
		changing_entries = p;
		changing_nr = plan_nr[p]
	fi
}

/* unpublish() */
inline unpublish()
{
	if
	:: BROKEN == CLEARS_ENTRIES -> changing_entries = 0
	:: else
	fi;
	changing_nr = 0
}

/* The share of a CPU: with as many CPUs as sites or more, one site, or none. */
#define for_share(stmt)						\
	s = n;							\
	do							\
	:: s < plan_nr[stop_plan] -> stmt; s = s + NCPU		\
	:: else -> s = 0; break					\
	od

/* patch_share(). An NMI stops what runs on its CPU: see "provided". */
proctype patch_share(byte c) provided (!cpu[c].in_nmi)
{
	byte n, s, i, meeting;
	bool last;

	do
	:: atomic {
		stop_plan != 0 && !cpu[c].stopped ->
		cpu[c].stopped = true;
		n = shares;
		shares++
	   }
	   if
	   :: BROKEN == PUBLISHED_INSIDE && n == 0 -> publish(stop_plan)
	   :: else
	   fi;

	   /* write_breakpoints() */
	   if
	   :: BROKEN != TAIL_FIRST -> for_share(write_first(s, BREAK))
	   :: else
	   fi;
	   end_step(NO_SYNC_BREAK);
	   /* write_tails() */
	   for_share(write_tail(s, target(stop_plan)));
	   end_step(NO_SYNC_TAIL);
	   /* write_firsts() */
	   for_share(write_first(s, target(stop_plan)));
	   if
	   :: BROKEN != NO_LAST_MEET -> meet()
	   :: else
	   fi;
	   if
	   :: BROKEN != NO_SYNC_FIRST -> sync_core()
	   :: else
	   fi;

	   /* arrive(), and unpublish() if it was the last */
	   atomic {
		meeting = meeting + NCPU;
		arrived++;
		last = arrived == meeting ||
			(BROKEN == UNPUBLISHED_EARLY && arrived == meeting - NCPU + 1)
	   }
	   if
	   :: last && BROKEN != UNPUBLISHED_AFTER -> unpublish()
	   :: else
	   fi;
	   last = false;
	   /* multi_cpu_stop() keeps each CPU until all are through. */
	   through++;
	   through == NCPU;
	   atomic {
		/* Until all have left: stop_machine_cpuslocked() returns. */
		left++;
		n = 0;
		meeting = 0;
		stop_plan == 0
	   }
	od
}

/*
 * ftrace_int3_handler(). Each read is a step of its own. The breakpoint of
 * somebody else, of a kprobe say, is no site of any plan.
 */
inline int3_handler(ours)
{
	if
	:: BROKEN == ENTRIES_FIRST ->
		entries = changing_entries;
		nr = changing_nr
	:: else ->
		nr = changing_nr;
		if
		:: nr != 0 -> entries = changing_entries
		:: else
		fi
	fi;
	if
	:: nr == 0 ->
		/* Every breakpoint of ours finds its plan. */
		assert(nr != 0 || !ours)
	:: else ->
		/* The binary search reads entries, here with one look. */
		assert(entries != 0);
		assert(plan_state[entries] == ALIVE);
		assert(nr == plan_nr[entries]);
		assert(!ours || s < nr)
	fi;
	entries = 0;
	nr = 0
}

/* What an NMI on a CPU executes: any site, or what hits another breakpoint. */
proctype nmi(byte c)
{
	byte s, entries, nr, f, t;

	do
	:: atomic {
		cpu[c].in_nmi = true;
		if
		:: s = 0
		:: s = 1
		:: s = NSITE	/* somebody else's breakpoint */
		fi
	   }
	   if
	   :: s == NSITE -> int3_handler(false)
	   :: else ->
		atomic {
			/* Any combination of what the CPU may see. */
			if
			:: cpu[c].sees_first[s] & OLD -> f = OLD
			:: cpu[c].sees_first[s] & NEW -> f = NEW
			:: cpu[c].sees_first[s] & BREAK -> f = BREAK
			fi;
			if
			:: cpu[c].sees_tail[s] & OLD -> t = OLD
			:: cpu[c].sees_tail[s] & NEW -> t = NEW
			fi;
			/* Old bytes, or new ones, or a breakpoint; no mixture. */
			assert(f == BREAK || f == t);
			t = 0
		}
		if
		:: f == BREAK -> f = 0; int3_handler(true)
		:: else -> f = 0
		fi
	   fi;
	   atomic {
		s = 0;
		cpu[c].in_nmi = false
	   }
	od
}

/* ftrace_plan_write() and what frees the plan after it. */
proctype plan_write()
{
	byte p = 1, i, j;

	do
	:: p <= NPLAN ->
		plan_state[p] = ALIVE;
		if
		:: BROKEN != PUBLISHED_INSIDE -> publish(p)
		:: else
		fi;
		/* stop_machine_cpuslocked() */
		stop_plan = p;
		left == NCPU;
		if
		:: BROKEN == UNPUBLISHED_AFTER -> unpublish()
		:: else
		fi;
		d_step {
			/* All CPUs execute the new bytes: see ftrace_text_write(). */
			for (i : 0 .. NCPU - 1) {
				for (j : 0 .. plan_nr[p] - 1) {
					assert(cpu[i].sees_first[j] == target(p));
					assert(cpu[i].sees_tail[j] == target(p))
				}
				cpu[i].stopped = false
			}
			i = 0;
			j = 0;
			/* ftrace_plan_free() */
			plan_state[p] = FREED;
			left = 0;
			through = 0;
			shares = 0;
			arrived = 0;
			passed = 0;
			stop_plan = 0
		}
		p++
	:: else -> break
	od
}

init {
	byte i, j;

	atomic {
		plan_nr[1] = NSITE;
		plan_nr[2] = 1;
		for (i : 0 .. NSITE - 1) {
			first[i] = OLD;
			tail[i] = OLD;
			for (j : 0 .. NCPU - 1) {
				cpu[j].sees_first[i] = OLD;
				cpu[j].sees_tail[i] = OLD
			}
		}
		for (i : 0 .. NCPU - 1) {
			run patch_share(i)
		}
		for (i : 0 .. NNMI - 1) {
			run nmi(i)
		}
		i = 0;
		j = 0;
		run plan_write()
	}
}
