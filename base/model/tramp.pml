/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of a trampoline: who calls it, who is in it, when it is freed.
 *
 * Models kernel/trace/ftrace/text/trampoline.c (ftrace_tramp_free(), free_quiet(),
 * tramp_free(), tramp_of(), ftrace_tramp_keep(), tramp_disarm()), ops/update.c (drop(),
 * drop_from()), ops/commit.c (ftrace_update_finish(), finish() here, commit(),
 * set_aside()) and ops/sets.c (ftrace_opset_gc(), opset_free(), ftrace_opset_keep()).
 * README says what is assumed.
 *
 * Trampolines are born one after the other and have a number for life; memory
 * that is used again is one that was freed before, so to touch a freed one is all
 * that has to be ruled out. A set of ops is its trampoline. Site 0 and site 1 have
 * a record each, rec[], and text, site[]; 0 is a nop.
 *
 * A step is one access to what others change, or more that nobody can tell apart
 * from one: what goes on in the records is the business of updates() alone. Waiting
 * need not be modelled, since others may as well come first. More steps than that have
 * spin look at the same behaviour many times over.
 *
 * BROKEN names one deviation from the code; each has to be refuted.
 */
#define NO_GRACE_PERIOD		1	/* ftrace_tramp_free() does not wait for tasks */
#define NO_RUDE			2	/* free_quiet() does not look at tramps_need_rude */
#define POKED_LATE		3	/* ftrace_sites_poked() after ftrace_opset_gc() */
#define COMMIT_FAILED		4	/* finish() commits a plan that was not written */
#define PUT_BEFORE_WRITE	5	/* the old set goes before the sites are written */
#define WRITES_GOOD_ONES	6	/* a bad site keeps its own text, others are written */
#define ERASE_AT_PUT		7	/* not in the tree while a task can be in it */
#define FREE_AT_ONCE		8	/* tramp_free(): kfree(), not kfree_rcu() */
#define CLEAR_LATE		9	/* free_quiet() clears the flag after the wait */
#define NOT_KEPT		10	/* set_aside() without ftrace_opset_keep() */
#define NOT_DISARMED		11	/* ftrace_tramp_free() has a kept one call its ops */
#define DISARM_NO_RUDE		12	/* tramp_disarm() does not wait */
#define DISARM_LATE		13	/* tramp_disarm() waits first */
#define FEW_POKED_LATE		14	/* as POKED_LATE, after a plan of few sites */

#ifndef BROKEN
#define BROKEN	0
#endif
/* How many updates there are, and tasks that can be preempted. */
#ifndef NUPDATE
#define NUPDATE	3
#endif
#ifndef NTASK
#define NTASK	1
#endif

#ifdef UNCHECKED
#define unchecked	true
#else
#define unchecked	false
#endif

#define NSITE	2
#define NTRAMP	(NUPDATE + 1)

/* The code of a trampoline: a set has it; put; filled with int3, memory given back. */
#define UNBORN	0
#define LIVE	1
#define PUT	2
#define QUIET	3	/* in quiet_tramps */
#define FREED	4
#define KEPT	5	/* as put, but for good */
byte code[NTRAMP];
bool keep[NTRAMP];	/* ftrace_tramp.kept */
bool disarmed[NTRAMP];	/* it calls ftrace_stub, not its ops */
bool no_ops[NTRAMP];	/* of one that was kept: its ops are freed */
bool in_tree[NTRAMP];	/* latch_tree_find() finds it */
bool object[NTRAMP];	/* struct ftrace_tramp is there */

byte site[NSITE];
byte rec[NSITE];
bool aside[NSITE];	/* FTRACE_REC_BAD */
/* Somebody else has written to the site, which calls nothing of ours any more. */
#define FOREIGN	255

/* In which trampoline someone is, 0 for none. Tasks first, then what cannot be
 * preempted: an interrupt, or the idle task, which RCU-tasks does not wait for.
 */
#define ATOMIC	NTASK
#define NUSER	(NTASK + 1)
byte inside[NUSER];

/* Bits of the tasks that the grace period of each trampoline waits for. */
byte tasks_to_wait[NTRAMP];
bool rude_waits;
bool need_rude;		/* tramps_need_rude */
#if BROKEN == FEW_POKED_LATE
bool poked;
#endif
bool unwinding;		/* the unwinder's preempt-off section */

#define calls(s)	(site[s] != 0 && site[s] != FOREIGN)
#define usable(t)	(t == 0 || (code[t] >= LIVE && code[t] != FREED))

/* ---- who calls ---------------------------------------------------------- */

/*
 * The ops of a trampoline that is kept are freed when unregister_ftrace_function()
 * returns, which is no earlier than the grace period; nobody reads no_ops but to
 * assert, so the earliest moment stands for all.
 */
inline ops_quiet(t)
{
	if
	:: code[t] == KEPT && !tasks_to_wait[t] ->
		no_ops[t] = true;
		if
		:: BROKEN == DISARM_LATE -> disarmed[t] = true
		:: else
		fi
	:: else
	fi
}

/*
 * A traced function: a call of what the site says, some time in it, and out.
 * A call is one step: a task that is preempted in front of it reads the site
 * again. Where a task is preempted is not modelled, it may take as long as it
 * likes anywhere. From which site it came makes no difference any more.
 */
proctype user(byte u)
{
	byte i;
	bool in_ops;

end:	do
	:: atomic {
		if
		:: calls(0) -> inside[u] = site[0]
		:: calls(1) && site[1] != site[0] -> inside[u] = site[1]
		fi;
		assert(usable(inside[u]))
	   }
	   /* Runs through it, and calls what it says by now. */
	   d_step {
		assert(usable(inside[u]));
		in_ops = !disarmed[inside[u]];
		assert(!in_ops || !no_ops[inside[u]])
	   }
	   /*
	    * Out of it. RCU-tasks and the rude flavour have seen it go, as far as
	    * they wait for it.
	    */
	   d_step {
		assert(!in_ops || !no_ops[inside[u]]);
		assert(usable(inside[u]));
		in_ops = false;
		inside[u] = 0;
		for (i : 1 .. NTRAMP - 1) {
			tasks_to_wait[i] = tasks_to_wait[i] & (255 - (1 << u));
			ops_quiet(i)
		}
		i = 0;
		if
		:: u == ATOMIC -> rude_waits = false
		:: else
		fi
	   }
	od
}

/* ---- who looks ---------------------------------------------------------- */

/*
 * ftrace_trampoline_template(), asked for an address on the stack of task 0,
 * which sleeps in a trampoline meanwhile: tasks that run have no stack to walk.
 */
proctype unwinder()
{
	byte t;

end:	do
	:: atomic {
		/* guard(preempt_notrace); tramp_of() */
		inside[0] != 0 ->
		t = inside[0];
		assert(in_tree[t]);
		unwinding = true
	   }
	   /* It may leave now; layout and ip are read from the object. */
	   d_step {
		assert(object[t]);
		unwinding = false;
		t = 0
	   }
	od
}

/* ---- death -------------------------------------------------------------- */

/* ftrace_tramp_free(): call_rcu_tasks(), which knows of tasks and of no others. */
inline tramp_put(t)
{
	d_step {
		/*
		 * No site calls it, and it stays so; unless somebody puts it back.
		 * UNCHECKED shows what becomes of one of which that is not true.
		 */
		assert(unchecked || keep[t] || (site[0] != t && site[1] != t));
		code[t] = (keep[t] -> KEPT : PUT);
		tasks_to_wait[t] = 0;
		if
		:: BROKEN == ERASE_AT_PUT && !keep[t] -> in_tree[t] = false
		:: else
		fi;
		/*
		 * tramp_disarm(); whoever frees an ops waits for tasks, too. None
		 * of that is for the trampoline.
		 */
		if
		:: keep[t] && BROKEN != NOT_DISARMED && BROKEN != DISARM_LATE ->
			disarmed[t] = true
		:: else
		fi;
		if
		:: keep[t] && BROKEN != DISARM_NO_RUDE && inside[ATOMIC] ->
			tasks_to_wait[t] = 1 << ATOMIC
		:: else
		fi;
		if
		:: BROKEN != NO_GRACE_PERIOD ->
			for (i : 0 .. NTASK - 1) {
				if
				:: inside[i] -> tasks_to_wait[t] =
						tasks_to_wait[t] | (1 << i)
				:: else
				fi
			}
			i = 0
		:: else
		fi;
		ops_quiet(t)
	}
}

#define quiet(t)	(code[t] == PUT && !tasks_to_wait[t])
#if NUPDATE > 3
#error "some_quiet is for up to three trampolines"
#endif
#define some_quiet	(quiet(1) || quiet(NTRAMP / 2) || quiet(NTRAMP - 1))

/*
 * The callbacks of RCU-tasks, tramp_queue_free(), then free_quiet(). It may run when
 * there is nothing in quiet_tramps.
 */
proctype free_quiet()
{
	byte t;

end:	do
	:: atomic {
		/* tramp_queue_free() */
		some_quiet || need_rude ->
		for (t : 1 .. NTRAMP - 1) {
			if
			:: quiet(t) -> code[t] = QUIET
			:: else
			fi
		}
		t = 0
	   }
	   if
	   :: d_step {
		need_rude && BROKEN != NO_RUDE ->
		if
		:: BROKEN != CLEAR_LATE -> need_rude = false
		:: else
		fi
	      }
	      /* synchronize_rcu_tasks_rude() */
	      rude_waits = inside[ATOMIC] != 0;
#if BROKEN == CLEAR_LATE
	      !rude_waits;
	      need_rude = false
#endif
	   :: !need_rude || BROKEN == NO_RUDE
	   fi;
	   /* tramp_free() of each */
	   atomic {
		!rude_waits ->
		for (t : 1 .. NTRAMP - 1) {
			if
			:: code[t] == QUIET ->
				in_tree[t] = false;
				code[t] = FREED;
				/* kfree_rcu() */
				if
				:: BROKEN != FREE_AT_ONCE -> !unwinding
				:: else
				fi;
				object[t] = false
			:: else
			fi
		}
		t = 0
	   }
	od
}

/* ---- updates: all of it under ftrace_lock -------------------------------- */

/* ftrace_opset_gc(): sets that no record has. */
inline opset_gc()
{
	for (j : 1 .. NTRAMP - 1) {
		if
		:: code[j] == LIVE && rec[0] != j && rec[1] != j &&
		   new[0] != j && new[1] != j ->
			tramp_put(j)
		:: else
		fi
	}
	j = 0
}

#define good(s)	(aside[s] || site[s] == rec[s])

inline write_site(s, t)
{
	if
	:: !aside[s] ->
		assert(t == 0 || code[t] == LIVE);
		site[s] = t
	:: else
	fi
}

/* set_aside(): whoever overwrote the call may put it back. */
inline set_aside(s)
{
	if
	:: rec[s] != 0 && BROKEN != NOT_KEPT -> keep[rec[s]] = true
	:: else
	fi;
	rec[s] = 0;
	aside[s] = true
}

/*
 * ftrace_plan_write() of both sites: all or nothing, in one stop. From check() on
 * text_mutex is held, so what was good then is good in the stop, and to look in the
 * stop is the same. Whoever cannot be preempted has to be out for the stop. Or they are
 * poked: then nobody has to be out.
 */
inline plan_write()
{
	if
	/* -ENOMEM, before anything is looked at. */
	:: bad = NSITE + 1
	:: atomic {
		!good(0) ->
		bad = 1
	   }
	:: atomic {
		good(0) && !good(1) && BROKEN != WRITES_GOOD_ONES ->
		bad = 2
	   }
	:: atomic {
		good(0) && !good(1) && BROKEN == WRITES_GOOD_ONES &&
		inside[ATOMIC] == 0 ->
		bad = 2;
		write_site(0, new[0])
	   }
	:: atomic {
		good(0) && good(1) && inside[ATOMIC] == 0 ->
		write_site(0, new[0]);
		write_site(1, new[1])
	   }
	:: atomic {
		good(0) && good(1) ->
		write_site(0, new[0]);
		write_site(1, new[1])
	   }
#if BROKEN != FEW_POKED_LATE
	   /* ftrace_sites_poked() */
	   need_rude = true
#else
	   poked = true
#endif
	fi
}

/* finish(): of an update that gives both sites new sets. */
inline update_sites()
{
#if BROKEN == PUT_BEFORE_WRITE
	atomic {
		old[0] = rec[0];
		old[1] = rec[1];
		rec[0] = 0;
		rec[1] = 0;
		opset_gc();
		rec[0] = old[0];
		rec[1] = old[1];
		old[0] = 0;
		old[1] = 0
	}
#endif
	plan_write();
	/* Nobody but this reads the records, or what the update was. */
	atomic {
		if
		:: bad == 0 || BROKEN == COMMIT_FAILED ->
			/* commit() */
			rec[0] = (aside[0] -> 0 : new[0]);
			rec[1] = (aside[1] -> 0 : new[1])
		:: bad != 0 && bad <= NSITE && BROKEN != COMMIT_FAILED ->
			set_aside(bad - 1)
		:: else
		fi;
		bad = 0;
		new[0] = 0;
		new[1] = 0;
		opset_gc()
	}
#if BROKEN == FEW_POKED_LATE
	if
	:: poked -> need_rude = true; poked = false
	:: else
	fi
#endif
}

/* ftrace_plan_write_one(): a poke, nobody is stopped. */
inline drop_from(s)
{
	if
	:: atomic {
		rec[s] != 0 && site[s] == rec[s] ->
		site[s] = 0;
		rec[s] = 0
	   }
#if BROKEN != POKED_LATE
	   need_rude = true
#endif
	:: atomic {
		rec[s] != 0 && site[s] != rec[s] ->
		set_aside(s)
	   }
	:: rec[s] == 0
	fi
}

/* drop() in update.c: no memory for a plan, one site after the other. */
inline update_drop()
{
	drop_from(0);
	drop_from(1);
#if BROKEN == POKED_LATE
	atomic { opset_gc() };
	need_rude = true
#else
	atomic { opset_gc() }
#endif
}

proctype updates()
{
	byte n, bad, i, j;
	byte new[NSITE], old[NSITE];

	for (n : 1 .. NUPDATE) {
		if
		/* A new set for one of them, or for both; ftrace_tramp_make() */
		:: atomic {
			code[n] = LIVE;
			in_tree[n] = true;
			object[n] = true;
			if
			:: new[0] = n; new[1] = n
			:: new[0] = n; new[1] = rec[1]
			:: new[0] = rec[0]; new[1] = n
			fi
		   }
		   update_sites()
		/* The empty set. */
		:: update_sites()
		:: update_drop()
		fi
	}
}

/*
 * Somebody else overwrites a site, once and without a stop, or nobody does; and
 * later puts back what was there, or never does. text_mutex keeps it out of a plan
 * that is written, which is one step in plan_write().
 */
proctype foreigner()
{
	byte was;

	if
	:: atomic { was = site[1]; site[1] = FOREIGN }
		if
		:: atomic { site[1] = was; was = 0 }
		:: true
		fi
	:: true
	fi
}

init {
	byte u;

	atomic {
		for (u : 0 .. NUSER - 1) {
			run user(u)
		}
		u = 0;
		run unwinder();
		run free_quiet();
		run updates();
		run foreigner()
	}
}
