/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracers by their names: tracers.c, tracers_file.c, tracer_pid.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_TRACERS_H
#define _KERNEL_TRACE_FTRACE_TRACERS_H

#include <linux/list.h>
#include <linux/types.h>

struct dentry;
struct ftrace_regs;
struct ftrace_tracer_pids;
struct trace_pid_list;
struct ftrace_ops;
struct trace_array;

/* Room for a name, with the suffix that may follow it and the final zero. */
#define FTRACE_TRACER_NAME	64

/**
 * struct ftrace_tracer - a named ops that is registered, or has been
 * @list: in the list of those that run, the newest last, or of those that do not
 * @ops: the ops
 * @tr: the trace array in whose function_tracers it is
 * @id: no other one ever has the same; 0: it does not run
 * @turn: of those of @tr the one with the highest is the default; 0: never it
 * @seen: somebody has opened function_tracers since it joined, or has used a name
 * @shares: unless told otherwise it has the filter of @tr's own ops
 * @stopped: it is in the list of those that do not run
 * @chosen: its filter was set for it, and not for all who share one
 * @before: what ftrace_ops.tracer was before; until it has joined
 * @began: the filter that it had when it began with another one, or NULL; likewise
 * @pids: which tasks it is for, NULL: never said; the calls read it
 * @rcu: to free it: calls look at @pids
 * @name: what it is called, unique in @tr
 *
 * ftrace_lock.
 */
struct ftrace_tracer {
	struct list_head	list;
	struct ftrace_ops	*ops;
	struct trace_array	*tr;
	u64			id;
	u64			turn;
	bool			seen;
	bool			shares;
	bool			stopped;
	bool			chosen;
	struct ftrace_tracer	*before;
	struct ftrace_ops_hash	*began;
	struct ftrace_tracer_pids *pids;
	struct rcu_head		rcu;
	char			name[FTRACE_TRACER_NAME];
};

int ftrace_tracer_prepare(struct ftrace_ops *ops);
void ftrace_tracer_cancel(struct ftrace_ops *ops);
void ftrace_tracer_join(struct ftrace_ops *ops);
void ftrace_tracer_leave(struct ftrace_ops *ops);
void ftrace_tracer_forget(struct ftrace_ops *ops);
const char *ftrace_tracer_name(const struct ftrace_ops *ops);

struct ftrace_tracer *ftrace_tracer_next(struct trace_array *tr,
					 struct ftrace_tracer *t);
struct ftrace_tracer *ftrace_tracer_next_any(struct trace_array *tr,
					     struct ftrace_tracer *t);
struct ftrace_tracer *ftrace_tracer_find(struct trace_array *tr,
					 const char *name);
struct ftrace_tracer *ftrace_tracer_by_id(u64 id);
struct ftrace_tracer *ftrace_tracer_default(struct trace_array *tr);
int ftrace_tracer_make_default(struct trace_array *tr, const char *name);
bool ftrace_tracers_known(struct trace_array *tr);
void ftrace_tracers_saw(struct trace_array *tr);
bool ftrace_tracer_is_current(const struct ftrace_tracer *t);
struct ftrace_ops *ftrace_tracer_owner(const struct ftrace_tracer *t);
void ftrace_tracers_forget_text(u32 start, u32 end);

/* tracer_filter.c */
bool ftrace_tracer_is_open(const struct ftrace_tracer *t);
int ftrace_tracer_begin(struct ftrace_tracer *t);
void ftrace_tracer_give_back(struct ftrace_tracer *t);
int ftrace_tracer_separate(struct ftrace_tracer *t);
void ftrace_tracers_share(struct trace_array *tr);

/* tracer_pid.c */
bool ftrace_tracer_ignores_task(const struct ftrace_ops *ops);
void ftrace_tracer_pid_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs);
bool ftrace_tracer_has_pids(const struct ftrace_ops *ops);
struct ftrace_tracer_pids *ftrace_tracer_pids_get(struct ftrace_tracer *t);
void ftrace_tracer_pids_put(struct ftrace_tracer_pids *p);
void ftrace_tracer_pids_leave(struct ftrace_tracer *t);
struct trace_pid_list *ftrace_tracer_pids_list(struct ftrace_tracer_pids *p,
					       int type);
int ftrace_tracer_pids_replace(struct ftrace_tracer_pids *p, int type,
			       struct trace_pid_list *list);
int ftrace_tracers_follow_fork(struct trace_array *tr, bool on);

void ftrace_tracers_create_file(struct trace_array *tr, struct dentry *parent);

#endif /* _KERNEL_TRACE_FTRACE_TRACERS_H */
