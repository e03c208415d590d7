/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The note table: from a call of the recorder to a record.
 *
 * Models kernel/trace/ftrace/sites/notes.c (ftrace_note_claim(), ftrace_note(),
 * ftrace_notes_for_each(), ftrace_notes_publish(), ftrace_notes_retire(),
 * free_quiet()) and
 * ftraced.c (has_work(), collect(), round_once(), is_done(), resize_notes()).
 * README says what is assumed.
 *
 * Tables come one after the other and have a number for life; memory that is used
 * again is one that was freed before. Any number of them can be out of use and not
 * freed. Each has two slots, in both of which any key can be; a key is the number
 * of its site. Sites 1 and 2 stay, site 3 is in text that goes. No note of a site
 * that keeps running is lost for ever: see task().
 *
 * BROKEN names one deviation from the code; each has to be refuted.
 */
#define NO_CMPXCHG	1	/* ftrace_note_claim() stores without looking again */
#define RESETS_PENDING	2	/* resize_notes() sets the count to 0 */
#define NO_REGION	3	/* collect() does not look for the region */
#define UNLOCKS		4	/* round_once() lets go of ftrace_lock in the middle */
#define NO_GRACE_PERIOD	5	/* ftrace_notes_retire() frees at once */
#define NO_DEDUP	6	/* a site that was noted twice gets two records */
#define KEEPS_COUNT	7	/* the count goes down, the note stays */
#define ONE_COUNT	8	/* of the notes in all tables that are not freed */
#define ANY_GRACE_PERIOD 9	/* one that is over frees all that are out of use */

#ifndef BROKEN
#define BROKEN	0
#endif
/* How many NMIs come, and how often the table is replaced. */
#ifndef NNMI
#define NNMI	1
#endif
#ifndef NRESIZE
#define NRESIZE	1
#endif

#ifdef UNCOUNTED
#define uncounted	true
#else
#define uncounted	false
#endif

#define NSITE	4	/* site 0 is none */
#define GOES	3
#define NSLOT	2
#define NTABLE	(NRESIZE + 1)

typedef table {
	byte slot[NSLOT];
	short nr_pending;
	bool retired;
	bool freed;
	byte waits_for	/* bits of the users in the recorder when it was retired */
};
table notes[NTABLE];
byte current;		/* ftrace_notes */

byte nr_recs[NSITE];	/* records of a site */
bool patched[NSITE];	/* it calls the recorder no more */
bool has_text = true;	/* the text of site GOES, and its region */
bool ftrace_lock;

/* Users of the recorder: which table each has in a register, as its number + 1. */
#define TASK1	0
#define TASK2	1
#define NMI	2
#define NUSER	3
byte uses[NUSER];
bool in_nmi[NUSER];	/* an NMI is on the CPU of a task: of the first one */

/*
 * A step is one access to what others change. The work between two accesses
 * concerns nobody else, and neither does holding on to something: whoever stays in
 * the recorder without another access, or under the lock, only keeps others waiting,
 * and they may also come later by themselves. More steps than that have spin look
 * at the same behaviour many times over.
 */

/* ---- recorder ------------------------------------------------------------ */

inline leave(u)
{
	free = false;
	seen = 0;
	i = 0;
	uses[u] = 0;
	for (k : 0 .. NTABLE - 1) {
		notes[k].waits_for = notes[k].waits_for & (255 - (1 << u))
	}
	k = 0
}

/* FTRACE_NOTE_KNOWN and FTRACE_NOTE_FULL, or the next slot. */
inline look(u, key)
{
	if
	:: seen == key || i == NSLOT - 1 ->
		leave(u);
		goto left
	:: else ->
		seen = 0;
		i++
	fi
}

/* The site has called __fentry__: its fast path, and ftrace_note(). Ends at left. */
inline note(u, key)
{
	uses[u] = current + 1;
	/* ftrace_note_claim() */
	do
	:: atomic {
		/* READ_ONCE() */
		!free ->
		assert(!notes[uses[u] - 1].freed);
		seen = notes[uses[u] - 1].slot[i];
		if
		:: seen == 0 -> free = true
		:: else -> look(u, key)
		fi
	   }
	:: atomic {
		/* arch_cmpxchg() */
		free ->
		free = false;
		assert(!notes[uses[u] - 1].freed);
		if
		:: notes[uses[u] - 1].slot[i] == 0 || BROKEN == NO_CMPXCHG ->
			notes[uses[u] - 1].slot[i] = key;
			break
		:: else ->
			seen = notes[uses[u] - 1].slot[i];
			look(u, key)
		fi
	   }
	od;
	atomic {
		/* FTRACE_NOTE_TAKEN */
		notes[uses[u] - 1].nr_pending++;
		leave(u)
	}
}

#define calls(s)	(!patched[s] && (s != GOES || has_text))
#define noted(s)	(notes[current].slot[0] == s || notes[current].slot[1] == s)
#define has_room	(notes[current].slot[0] == 0 || notes[current].slot[1] == 0)

/* A task that runs a function over and over. NMIs come to the first one. */
proctype task(byte u; byte site) provided (!in_nmi[u])
{
	byte i, k, seen;
	bool free;

	if
	:: calls(site) ->
again:		note(u, site);
		/*
		 * As long as the table is as it is, more calls change nothing.
		 * That takes the idle loop out of the model: a note that is lost
		 * for ever leaves this task here for ever, an invalid end state.
		 */
left:		if
		:: calls(site) && !noted(site) && has_room -> goto again
		:: !calls(site)
		fi
	:: else
	fi
}

/* The same function as what it interrupts, or another one. */
proctype nmi()
{
	byte i, k, seen, n, key;
	bool free;

	/* One that calls nothing is as good as none. */
end:	do
	:: atomic {
		n < NNMI ->
		if
		:: calls(1) -> key = 1
		:: calls(2) -> key = 2
		:: calls(GOES) -> key = GOES
		fi;
		n++;
		in_nmi[TASK1] = true
	   }
	   note(NMI, key);
left:	   atomic {
		key = 0;
		in_nmi[TASK1] = false
	   }
	od
}

/* ---- ftraced ------------------------------------------------------------- */

#define has_region(k)	(k != GOES || has_text)

/* ftrace_notes_for_each(): the slot is emptied after the note was looked at */
inline empty_slot(s)
{
	if
	:: BROKEN != KEEPS_COUNT || key == GOES -> notes[current].slot[s] = 0
	:: else
	fi;
	notes[current].nr_pending--
}

/*
 * collect(), of one slot. Regions and records stay as they are under the lock;
 * whoever is in the recorder changes no slot that is taken, and does not look at the
 * count.
 */
inline collect(s)
{
	key = notes[current].slot[s];
	if
	:: key == 0
	:: key != 0 && !has_region(key) && BROKEN != NO_REGION ->
		empty_slot(s)
	:: key != 0 && (has_region(key) || BROKEN == NO_REGION) ->
		if
		:: nr_recs[key] -> skip
		:: !nr_recs[key] -> found[s] = key
		/* No memory: the note stays. */
		:: !nr_recs[key] && !failed ->
			failed = true;
			if
			:: BROKEN == KEEPS_COUNT -> empty_slot(s)
			:: else
			fi
		fi
	fi;
	key = 0
}

/* is_done(), of one slot */
inline is_done(s)
{
	key = notes[current].slot[s];
	if
	:: key != 0 && patched[key] -> empty_slot(s)
	:: else
	fi;
	key = 0
}

/* round_once() */
inline round_once()
{
	atomic {
		!ftrace_lock ->
		ftrace_lock = true;
		collect(0)
	}
	atomic { collect(1) }
#if BROKEN == UNLOCKS
	ftrace_lock = false;
	atomic { !ftrace_lock -> ftrace_lock = true }
#endif
	d_step {
		/* ftrace_hash_from_sites(): no two alike */
		if
		:: found[0] == found[1] && BROKEN != NO_DEDUP -> found[1] = 0
		:: else
		fi;
		/* ftrace_discover_sites(), ftrace_settle(): records, and the stop */
		for (j : 0 .. NSLOT - 1) {
			if
			:: found[j] ->
				/* Nothing is written through a note of text that is gone. */
				assert(has_region(found[j]));
				nr_recs[found[j]]++;
				/* Doubles are harmless. */
				assert(nr_recs[found[j]] == 1);
				patched[found[j]] = true;
				found[j] = 0
			:: else
			fi
		}
		j = 0
	}
	d_step { is_done(0) }
	d_step { is_done(1) }
	d_step {
		/*
		 * The count is that of the notes, or there would be rounds for ever.
		 * UNCOUNTED shows what a wrong count leads to.
		 */
		assert(uncounted || uses[0] || uses[1] || uses[2] ||
		       notes[current].nr_pending == (notes[current].slot[0] != 0) +
						    (notes[current].slot[1] != 0));
		ftrace_lock = false
	}
}

/*
 * resize_notes(), and the call of call_rcu_tasks() in ftrace_notes_retire(). Whoever
 * takes the new table in between is waited for, too.
 */
inline resize_notes()
{
	d_step {
		current < NRESIZE ->
		current++
	}
	d_step {
		if
		:: BROKEN == RESETS_PENDING -> notes[current].nr_pending = 0
		:: else
		fi;
		/* Those that are in it now; each leaves, or has to be waited for. */
		for (j : 0 .. NUSER - 1) {
			if
			:: uses[j] -> notes[current - 1].waits_for =
				notes[current - 1].waits_for | (1 << j)
			:: else
			fi
		}
		j = 0;
		notes[current - 1].retired = true
	}
}

#if BROKEN == NO_GRACE_PERIOD
#define waited_for(t)	true
#elif BROKEN == ANY_GRACE_PERIOD
#define waited_for(t)	(!notes[0].waits_for || (notes[1].retired && !notes[1].waits_for))
#else
#define waited_for(t)	(!notes[t].waits_for)
#endif
#define is_quiet(t)	(notes[t].retired && !notes[t].freed && waited_for(t))

/* vfree(); any slot may hold a note by then. */
inline free_table(t)
{
	notes[t].freed = true;
	notes[t].slot[0] = 0;
	notes[t].slot[1] = 0;
	notes[t].nr_pending = 0
}

/*
 * The grace periods, and free_quiet(). Each table has a callback of its own, and
 * may be freed before one that was retired earlier.
 */
proctype retire()
{
end:	do
	:: d_step { is_quiet(0) -> free_table(0) }
#if NRESIZE > 1
	:: d_step { is_quiet(1) -> free_table(1) }
#endif
#if NRESIZE > 2
#error "retire() is for up to two tables"
#endif
	od
}

/* ftraced(), and ftraced_tick(): no round without has_work() */
#define noted_any	(notes[current].slot[0] != 0 || notes[current].slot[1] != 0)
#if BROKEN == ONE_COUNT
#define has_notes	(notes[0].nr_pending + notes[NTABLE / 2].nr_pending + \
			 notes[NTABLE - 1].nr_pending > 0)
#else
#define has_notes	(notes[current].nr_pending > 0)
#endif
proctype ftraced()
{
	byte j, key;
	byte found[NSLOT];
	bool failed;

end:	do
	:: resize_notes()
	:: atomic {
		has_notes ->
		/* Nobody looks for notes where there are none. */
		assert(noted_any)
	   }
	   round_once()
	od
}

/* ---- text that goes ------------------------------------------------------ */

/* ftrace_free_mem(), ftrace_release_mod(): nobody is in it any more. */
proctype free_text()
{
	atomic {
		!ftrace_lock && uses[TASK2] == 0 && !in_nmi[TASK1] ->
		has_text = false;
		nr_recs[GOES] = 0;
		patched[GOES] = false
	}
}

init {
	atomic {
		run task(TASK1, 1);
		run task(TASK2, GOES);
		run nmi();
		run ftraced();
		run retire();
		run free_text()
	}
}
