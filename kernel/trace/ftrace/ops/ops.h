/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ops: those that are registered, what they want, and the sets of them that call
 * sites have.
 */
#ifndef _KERNEL_TRACE_FTRACE_OPS_H
#define _KERNEL_TRACE_FTRACE_OPS_H

#include <linux/rculist.h>

#include "../core.h"
#include "../fgraph.h"
#include "../sites/set.h"
#include "../sites/sites.h"
#include "../text/text.h"

/**
 * struct ftrace_filter - the two halves of an ops' filter
 * @filter: what to trace; NULL or empty: everything
 * @skip: what not to trace; NULL or empty: nothing
 */
struct ftrace_filter {
	struct ftrace_hash	*filter;
	struct ftrace_hash	*skip;
};

static __always_inline bool ftrace_filter_wants(const struct ftrace_filter *f,
						unsigned long ip)
{
	if (!ftrace_hash_empty(f->filter) && !ftrace_hash_has(f->filter, ip))
		return false;
	return !ftrace_hash_has(f->skip, ip);
}

/* ---- the registered ops: list.c, filter.c ------------------------------ */

/*
 * An ops with one of these sends functions elsewhere. Its filter must be a list, not all
 * functions; and if it is not called, more is lost than a line of a trace.
 */
#define FTRACE_OPS_DIVERTS	(FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)

extern struct ftrace_ops global_ops;
extern struct list_head ftrace_ops_list;

/* Each registered ops, the newest first; ftrace_lock. */
#define for_each_ftrace_ops(ops)					\
	list_for_each_entry_rcu(ops, &ftrace_ops_list, node,		\
				lockdep_is_held(&ftrace_lock))

/* Have the dispatchers find an ops. */
static inline void ftrace_ops_list_add(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	list_add_rcu(&ops->node, &ftrace_ops_list);
}

/* Have them no longer find it; walks that have begun may still come to it. */
static inline void ftrace_ops_list_del(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	list_del_rcu(&ops->node);
}

/* Make an ops fit for use, once. Its owner makes sure that the first calls do not race. */
static inline void ftrace_ops_init(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	INIT_LIST_HEAD(&ops->subop_list);
	ops->func_hash = &ops->local_hash;
	ops->flags |= FTRACE_OPS_FL_INITIALIZED;
}

/* The filter of an ops; what @f points at is there as long as ftrace_lock is held. */
static inline void ftrace_ops_filter(const struct ftrace_ops *ops,
				     struct ftrace_filter *f)
{
	const struct ftrace_ops_hash *h = ops->func_hash;

	f->filter = rcu_dereference_protected(h->filter_hash,
					      lockdep_is_held(&ftrace_lock));
	f->skip = rcu_dereference_protected(h->notrace_hash,
					    lockdep_is_held(&ftrace_lock));
}

void ftrace_ops_guarded(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *op, struct ftrace_regs *fregs);
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_graph_list_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs);

/*
 * Some set of ops is served by ftrace_caller, or was since the last stop. ftrace_caller
 * walks the list of all registered ops. A walker may stand on an ops that leaves, and a
 * stop has to end that walk before the ops may be listed again. So until then every plan
 * is written in stops. ftrace_lock.
 */
extern bool ftrace_list_used;

/* Some set has no trampoline but might get one; changes under ftrace_lock. */
extern bool ftrace_tramps_wanted;

/* May an ops leave without a wait? Whoever frees it later waits then. */
static inline bool ftrace_ops_needs_no_wait(const struct ftrace_ops *ops)
{
	/* fgraph.c takes the callback away from a graph user that has left. */
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		return false;
	/* One of a trace array is freed with the array, see users/array.c. */
	return !(ops->flags & FTRACE_OPS_FL_DYNAMIC) ||
	       ops->flags & FTRACE_OPS_FL_TRACE_ARRAY;
}

bool ftrace_filter_is_usable(const struct ftrace_filter *f, bool all);
int ftrace_ops_replace_half(struct ftrace_ops *ops, struct ftrace_hash *hash,
			    bool enable);
int ftrace_filter_copy(struct ftrace_ops_hash *to,
		       const struct ftrace_ops_hash *from);
void ftrace_filter_clear(struct ftrace_ops_hash *h);
void ftrace_filter_forget(struct ftrace_ops_hash *h, u32 start, u32 end);
int ftrace_filter_resolve(struct ftrace_ops *ops, const char *module);

/* The code that an ops with FTRACE_OPS_FL_DIRECT has its call sites call. */
static inline unsigned long ftrace_ops_direct(const struct ftrace_ops *ops)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	return READ_ONCE(ops->direct_call);
#else
	return 0;
#endif
}

/* ---- sets of ops: sets.c, serve.c -------------------------------------- */

/**
 * struct ftrace_opset_neighbours - the neighbours of a set that differ by one ops
 * @round: of ftrace_opset_gc(), in which they were looked up; in a later one the sets
 *	   and @ops may be gone
 * @ops: the ops; NULL: no neighbour has been asked for
 * @with: the neighbour that has it too; -1: not known
 * @without: the neighbour that lacks it; -1: not known
 */
struct ftrace_opset_neighbours {
	unsigned long		round;
	const struct ftrace_ops	*ops;
	int			with;
	int			without;
};

/**
 * struct ftrace_opset - an interned set of ops, served by one trampoline
 * @node: in the table of all sets, by content
 * @empty: in the list of those that no record has
 * @id: what the records that have it carry in their state; never 0, which is
 *	the empty set
 * @nr_recs: how many records carry @id
 * @target: what their text calls, as ftrace_text_key()
 * @aim: what it is to call; differs from @target only during an update
 * @tramp: the trampoline; NULL: @target is a direct call, or ftrace_caller
 * @flags: FTRACE_OPS_FL_* that any of the ops has
 * @neighbours: by the ops that was asked for last
 * @nr: how many ops
 * @ops: the ops, the newest first, as they are called; but graph users come last
 *
 * ftrace_lock.
 */
struct ftrace_opset {
	struct hlist_node		node;
	struct list_head		empty;
	u32				id;
	u32				nr_recs;
	u32				target;
	u32				aim;
	struct ftrace_tramp		*tramp;
	unsigned long			flags;
	struct ftrace_opset_neighbours	neighbours;
	unsigned int			nr;
	struct ftrace_ops		*ops[] __counted_by(nr);
};

/* All sets by id, of which 0 is never used; how long the array is. ftrace_lock. */
extern struct ftrace_opset **ftrace_opset_ids;
extern u32 ftrace_opset_nr_ids;

/* The set that has an id; NULL for 0, the empty set. */
static inline struct ftrace_opset *ftrace_opset_find(u32 id)
{
	lockdep_assert_held(&ftrace_lock);
	return id < ftrace_opset_nr_ids ? ftrace_opset_ids[id] : NULL;
}

/* What the call sites of a set call, as ftrace_text_key(), 0 for the empty set. */
static inline u32 ftrace_opset_target(u32 id)
{
	struct ftrace_opset *set = ftrace_opset_find(id);

	return set ? set->target : 0;
}

int ftrace_opset_with(u32 id, struct ftrace_ops *ops);
int ftrace_opset_without(u32 id, struct ftrace_ops *ops);
void ftrace_opset_move(u32 from, u32 to, unsigned int nr);
void ftrace_opset_keep(u32 id);
void ftrace_opset_gc(void);
void ftrace_opsets_set_func(struct ftrace_ops *ops);
struct ftrace_opset *ftrace_opset_of_direct(struct ftrace_ops *ops);
bool ftrace_opsets_aim_tramps(void);
bool ftrace_opsets_have_tramps(void);
bool ftrace_opsets_lack_tramps(void);
void ftrace_opset_finish_aim(struct ftrace_opset *set, bool done);
void ftrace_opsets_finish_aim(bool done);
unsigned long ftrace_ops_callee(const struct ftrace_ops *ops);
void ftrace_serve_set(struct ftrace_opset *set);
void ftrace_serve_func(struct ftrace_opset *set, unsigned int i);
bool ftrace_serve_better(struct ftrace_opset *set);
bool ftrace_serve_by_list(const struct ftrace_opset *set);
bool ftrace_serve_lacks_tramp(const struct ftrace_opset *set);

/* Give an ops another callback. Callers under way may still be in the old one. */
static inline void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	lockdep_assert_held(&ftrace_lock);
	if (ops->func == func)
		return;
	WRITE_ONCE(ops->func, func);
	ftrace_opsets_set_func(ops);
}

/* ---- updates: update.c, retarget.c, commit.c ---------------------------- */

/* Records that were set aside as bad, and the site of the last; ftrace_lock. */
extern unsigned long ftrace_nr_bad;
extern unsigned long ftrace_last_bad;

/* False while kernel.ftrace_enabled is 0: all sites are nops. Set by retarget.c only. */
extern bool ftrace_sites_on;

int ftrace_update_ops(struct ftrace_ops *ops, const struct ftrace_filter *old,
		      const struct ftrace_filter *new);
int ftrace_update_filter(struct ftrace_ops_hash *h,
			 const struct ftrace_filter *old,
			 const struct ftrace_filter *new);
bool ftrace_update_leave(struct ftrace_ops *ops,
			 const struct ftrace_filter *old);
int ftrace_settle(void);
int ftrace_update_enabled(bool on);
int ftrace_update_direct(struct ftrace_ops *ops, unsigned long addr);
void ftrace_update_jumps(struct ftrace_ops *ops);
int ftrace_update_tramps(void);

/* What the text of a set's call sites is, as ftrace_text_key(), 0 for a nop. */
static inline u32 ftrace_opset_text(u32 id)
{
	return ftrace_sites_on ? ftrace_opset_target(id) : 0;
}

/* The same of a record's call site, which is not a bad one. */
static inline u32 ftrace_rec_text(const struct dyn_ftrace *rec)
{
	if (rec->state & FTRACE_REC_NEW)
		return rec->state & FTRACE_REC_NOP ? 0 : ftrace_text_key(MCOUNT_ADDR);
	return ftrace_opset_text(ftrace_rec_set(rec));
}

int ftrace_update_finish(struct ftrace_plan *plan, int ret);
void ftrace_update_release(unsigned long start, unsigned long end);
void ftrace_update_one(struct ftrace_plan_entry *e);

#endif /* _KERNEL_TRACE_FTRACE_OPS_H */
