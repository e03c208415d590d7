/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracers by their names: who runs, with which filter, for which tasks.
 */
#ifndef _KERNEL_TRACE_FTRACE_TRACERS_H
#define _KERNEL_TRACE_FTRACE_TRACERS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct ftrace_regs;
struct trace_pid_list;
struct ftrace_ops;
struct trace_array;

/* Room for a name, with the suffix that may follow it and the final zero. */
#define FTRACE_TRACER_NAME	64

/**
 * enum ftrace_tracer_life - how far a named ops has come
 * @FTRACE_TRACER_PREPARED: it is about to be registered, with the filter it had
 * @FTRACE_TRACER_PREPARED_COPY: the same, but it was given a copy of the default tracer's
 *	filter, which is taken away again if registering fails
 * @FTRACE_TRACER_JOINED: it runs, and no user has shown that they know of it
 * @FTRACE_TRACER_KNOWN: it runs, and since it joined somebody has opened
 *	function_tracers or written a name, or it can never be the default
 * @FTRACE_TRACER_STOPPED: it has left, and keeps its filter until it is back
 *
 * See ftrace_tracer_becomes() for what may follow what.
 */
enum ftrace_tracer_life {
	FTRACE_TRACER_PREPARED,
	FTRACE_TRACER_PREPARED_COPY,
	FTRACE_TRACER_JOINED,
	FTRACE_TRACER_KNOWN,
	FTRACE_TRACER_STOPPED,
};

/**
 * struct ftrace_tracer - a named ops that is registered, or has been
 * @list: in the list of those that run or have stopped, the newest last
 * @ops: the ops
 * @tr: the trace array in whose function_tracers it is
 * @life: how far it has come
 * @id: a new one each time that it joins, by which an open file finds it again;
 *	no two are ever the same
 * @rank: the default is the tracer of @tr that runs and has the highest; 0: its
 *	filter is not for the tracing files to change, so it is never the default
 * @pids: which tasks it is for, NULL: never said, or it is @tr's own, whose lists
 *	  are those of @tr
 * @name: what it is called, unique in @tr
 *
 * ftrace_lock.
 */
struct ftrace_tracer {
	struct list_head	list;
	struct ftrace_ops	*ops;
	struct trace_array	*tr;
	enum ftrace_tracer_life	life;
	u64			id;
	u64			rank;
	struct ftrace_pids	*pids;
	char			name[FTRACE_TRACER_NAME];
};

/* Only a tracer in one of these states is called. */
static inline bool ftrace_tracer_runs(const struct ftrace_tracer *t)
{
	return t && (t->life == FTRACE_TRACER_JOINED ||
		     t->life == FTRACE_TRACER_KNOWN);
}

/* May the tracing files change its filter? */
static inline bool ftrace_tracer_is_settable(const struct ftrace_tracer *t)
{
	return t->rank;
}

/* join.c */
int ftrace_tracer_prepare(struct ftrace_ops *ops);
void ftrace_tracer_cancel(struct ftrace_ops *ops);
void ftrace_tracer_join(struct ftrace_ops *ops);
void ftrace_tracer_leave(struct ftrace_ops *ops);
void ftrace_tracer_release(struct ftrace_ops *ops);

/* list.c */
void ftrace_tracer_becomes(struct ftrace_tracer *t, enum ftrace_tracer_life life);
void ftrace_tracer_enlist(struct ftrace_tracer *t, bool settable);
const char *ftrace_tracer_name(const struct ftrace_ops *ops);

struct ftrace_tracer *ftrace_tracer_next(struct trace_array *tr,
					 struct ftrace_tracer *t);
struct ftrace_tracer *ftrace_tracer_next_any(struct trace_array *tr,
					     struct ftrace_tracer *t);
struct ftrace_tracer *ftrace_tracer_find(struct trace_array *tr,
					 const char *name);
struct ftrace_tracer *ftrace_tracer_by_id(u64 id);
struct ftrace_tracer *ftrace_tracer_default(struct trace_array *tr);
bool ftrace_tracers_are_several(struct trace_array *tr);
int ftrace_tracer_make_default(struct trace_array *tr, const char *name);
bool ftrace_tracers_known(struct trace_array *tr);
void ftrace_tracers_mark_known(struct trace_array *tr);
bool ftrace_tracer_is_array_own(const struct ftrace_tracer *t);
struct ftrace_ops *ftrace_tracer_filter_ops(const struct ftrace_tracer *t);
void ftrace_tracers_forget_text(u32 start, u32 end);

/* filter.c */
bool ftrace_tracer_follows(const struct ftrace_tracer *t);
int ftrace_tracer_begin(struct ftrace_tracer *t, const struct ftrace_tracer *from);
void ftrace_tracer_give_back(struct ftrace_tracer *t);
int ftrace_tracer_separate(struct ftrace_tracer *t);
void ftrace_tracers_share(struct trace_array *tr);

/* pid.c */
enum ftrace_pid_list {
	FTRACE_PIDS,		/* the tasks to trace; none: all */
	FTRACE_NO_PIDS,		/* those not to */
	FTRACE_PID_LISTS,
};

/**
 * struct ftrace_pids - the tasks that a tracer is for: a trace array's own, or a named one
 * @node: in the list of all whose owner is still there; ftrace_lock
 * @refs: the owner, which is @tr or a tracer of it, and each open file; whoever
 *	  drops the last one frees them
 * @gone: the owner has left, so that they change no more; ftrace_lock
 * @hooked: they are asked at each switch; ftrace_lock
 * @follows: children go into them, too, and tasks that are freed leave; ftrace_lock
 * @tr: the trace array, which stays until owner and files have gone; constant
 * @lock: held by whoever reads a list or is about to replace it, also while user
 *	  memory is read; taken before ftrace_lock
 * @list: the lists, NULL: there is none. Replaced under @lock and ftrace_lock, so
 *	  either keeps them; the hooks read them under RCU-sched, and children come
 *	  and go in place; freed after tracepoint_synchronize_unregister()
 * @verdict: FTRACE_PID_IGNORE, or the PID of the task that the CPU runs, which is
 *	     to be traced; FTRACE_PID_TRACE while there is no list. Written by its
 *	     own CPU at a switch, and by others only when no hook can run; calls
 *	     read it with preemption off. The pointer is constant
 * @own_verdict: where @verdict points, to be freed with them; NULL: it is in @tr,
 *		 where the graph tracer looks at it, too; constant
 */
struct ftrace_pids {
	struct list_head		node;
	refcount_t			refs;
	bool				gone;
	bool				hooked;
	bool				follows;
	struct trace_array		*tr;
	struct mutex			lock; /* see above */
	struct trace_pid_list __rcu	*list[FTRACE_PID_LISTS];
	int __percpu			*verdict;
	int __percpu			*own_verdict;
};

bool ftrace_pids_ignore(const struct ftrace_ops *ops);
struct ftrace_pids *ftrace_pids_get(struct trace_array *tr,
				    struct ftrace_tracer *t);
void ftrace_pids_put(struct ftrace_pids *p);
void ftrace_pids_leave(struct ftrace_tracer *t);
struct trace_pid_list *ftrace_pids_list(struct ftrace_pids *p,
					enum ftrace_pid_list which);
int ftrace_pids_replace(struct ftrace_pids *p, enum ftrace_pid_list which,
			struct trace_pid_list *list);

void ftrace_pid_update_ops(struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_FTRACE_TRACERS_H */
