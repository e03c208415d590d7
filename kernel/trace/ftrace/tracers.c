// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracers by their names: who runs in a trace array, and whose filter
 * set_ftrace_filter means.
 *
 * Of those that run one is the default. One that joins becomes it and begins
 * with the filter that the default had; when it leaves, the one before it is the
 * default again.
 *
 * There are many programs that never heard of this. What they write to
 * set_ftrace_filter is for the trace array's own tracer, and for all that have
 * its filter in common with it, such as the profiler; and a tracer has the
 * filter that it was given, and no other. So it stays until somebody opens
 * function_tracers or writes a name, and is so again when another tracer joins,
 * which nobody can have meant yet.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"
#include "tracers.h"

/* In the order in which they joined; ftrace_lock. */
static LIST_HEAD(tracers);

/* The last that was given to one of them; ftrace_lock. */
static u64 last_id, last_turn;

/* What ftrace_ops.tracer is while an ops that has been one does not run. */
static struct ftrace_tracer has_left;
static struct ftrace_tracer has_left_shares = { .shares = true };

static bool runs(const struct ftrace_ops *ops)
{
	return ops->tracer && ops->tracer->id;
}

/* NULL: so early in the boot that there is none. */
static struct trace_array *array_of(const struct ftrace_ops *ops)
{
	return ops->tr ?: top_trace_array();
}

static bool has_own_filter(const struct ftrace_ops *ops)
{
	return ops->func_hash == &ops->local_hash;
}

/* It is one with the trace array's own ops, as its graph tracer is. */
static bool is_current_tracer(const struct ftrace_ops *ops,
			      const struct trace_array *tr)
{
	return tr->ops && ops->func_hash == tr->ops->func_hash &&
	       ops->name == tr->ops->name;
}

/* Whether it has run before is known of the ops that has the filter. */
static struct ftrace_ops *owner_of(struct ftrace_ops *ops,
				   const struct trace_array *tr)
{
	return is_current_tracer(ops, tr) ? tr->ops : ops;
}

/* ---- names --------------------------------------------------------------- */

/* It has to be one word of a file, and not look like a prefix. */
static bool name_is_good(const char *name)
{
	const char *c;

	for (c = name; *c; c++) {
		if (!isgraph(*c) || strchr("[]*", *c))
			return false;
	}
	return c > name && c - name < FTRACE_TRACER_NAME - 8;
}

static void choose_name(struct ftrace_tracer *t, const char *wish)
{
	unsigned int nr = 1;

	strscpy(t->name, wish);
	while (ftrace_tracer_find(t->tr, t->name))
		snprintf(t->name, sizeof(t->name), "%s_%u", wish, ++nr);
}

/**
 * ftrace_tracer_name - the name under which an ops runs
 * @ops: the ops
 *
 * Context: ftrace_lock held.
 * Return: the name, or NULL if it runs without one.
 */
const char *ftrace_tracer_name(const struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	return runs(ops) ? ops->tracer->name : NULL;
}

/* ---- who runs ------------------------------------------------------------ */

/**
 * ftrace_tracer_next - go through the tracers of a trace array
 * @tr: the trace array
 * @t: where to go on, NULL to begin
 *
 * Context: ftrace_lock held.
 * Return: the next one, in the order in which they joined, or NULL.
 */
struct ftrace_tracer *ftrace_tracer_next(struct trace_array *tr,
					 struct ftrace_tracer *t)
{
	lockdep_assert_held(&ftrace_lock);
	t = list_prepare_entry(t, &tracers, list);
	list_for_each_entry_continue(t, &tracers, list) {
		if (t->tr == tr)
			return t;
	}
	return NULL;
}

/**
 * ftrace_tracer_find - find a tracer of a trace array by its name
 * @tr: the trace array
 * @name: the name
 *
 * Context: ftrace_lock held.
 * Return: it, or NULL if none of that name runs.
 */
struct ftrace_tracer *ftrace_tracer_find(struct trace_array *tr,
					 const char *name)
{
	struct ftrace_tracer *t = NULL;

	while ((t = ftrace_tracer_next(tr, t))) {
		if (!strcmp(t->name, name))
			break;
	}
	return t;
}

/**
 * ftrace_tracer_by_id - find a tracer again
 * @id: its id
 *
 * Context: ftrace_lock held.
 * Return: it, or NULL if it has left.
 */
struct ftrace_tracer *ftrace_tracer_by_id(u64 id)
{
	struct ftrace_tracer *t;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(t, &tracers, list) {
		if (t->id == id)
			return t;
	}
	return NULL;
}

/**
 * ftrace_tracer_default - the tracer that a write without a name is for
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 * Return: it, or NULL if none runs that can be.
 */
struct ftrace_tracer *ftrace_tracer_default(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL, *best = NULL;

	while ((t = ftrace_tracer_next(tr, t))) {
		if (t->turn > (best ? best->turn : 0))
			best = t;
	}
	return best;
}

/**
 * ftrace_tracer_make_default - make a tracer the default of its trace array
 * @tr: the trace array
 * @name: the tracer's name
 *
 * Context: ftrace_lock held.
 * Return: 0; -ENOENT if none of that name runs, -EPERM if its filter is not for
 * the tracing files to change.
 */
int ftrace_tracer_make_default(struct trace_array *tr, const char *name)
{
	struct ftrace_tracer *t = ftrace_tracer_find(tr, name);

	if (!t)
		return -ENOENT;
	if (!t->turn)
		return -EPERM;
	t->turn = ++last_turn;
	return 0;
}

/**
 * ftrace_tracers_known - do those who write know whom a write is for?
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 */
bool ftrace_tracers_known(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL;

	while ((t = ftrace_tracer_next(tr, t))) {
		if (!t->seen)
			return false;
	}
	return true;
}

/**
 * ftrace_tracers_saw - somebody has looked at the names, or used one
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 */
void ftrace_tracers_saw(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL;

	while ((t = ftrace_tracer_next(tr, t)))
		t->seen = true;
}

/**
 * ftrace_tracer_is_current - is a tracer the trace array's own?
 * @t: the tracer
 *
 * Its filter and its PIDs are those of the array.
 *
 * Context: ftrace_lock held.
 */
bool ftrace_tracer_is_current(const struct ftrace_tracer *t)
{
	return is_current_tracer(t->ops, t->tr);
}

/* ---- their filters ------------------------------------------------------- */

/**
 * ftrace_tracer_waiting - what of a tracer's filter waits for modules
 * @t: the tracer
 * @enable: of what to trace; otherwise, of what not to
 *
 * Context: ftrace_lock held.
 */
struct list_head *ftrace_tracer_waiting(struct ftrace_tracer *t, bool enable)
{
	if (t->tr->ops && t->ops->func_hash == t->tr->ops->func_hash)
		return ftrace_waiting(t->tr, enable);
	return &t->waiting[enable];
}

static void drop_waiting(struct ftrace_tracer *t)
{
	ftrace_waiting_free(&t->waiting[false]);
	ftrace_waiting_free(&t->waiting[true]);
}

/* Give an ops, which may be called meanwhile, a filter of its own. */
static void own_filter(struct ftrace_ops *ops, const struct ftrace_filter *f)
{
	rcu_assign_pointer(ops->local_hash.filter_hash, f->filter);
	rcu_assign_pointer(ops->local_hash.notrace_hash, f->skip);
	/* A callback that looks at its filter finds both halves there. */
	smp_store_release(&ops->func_hash, &ops->local_hash);
}

static int copy_filter(struct ftrace_filter *to, const struct ftrace_filter *from)
{
	to->filter = ftrace_hash_copy(from->filter);
	if (IS_ERR(to->filter))
		return PTR_ERR(to->filter);
	to->skip = ftrace_hash_copy(from->skip);
	if (!IS_ERR(to->skip))
		return 0;
	ftrace_hash_free(to->filter);
	return PTR_ERR(to->skip);
}

/* What waits goes with the filter: without it that would mean something else. */
static int copy_waiting(struct ftrace_tracer *to, struct ftrace_tracer *from)
{
	int ret;

	ret = ftrace_waiting_copy(&to->waiting[true],
				  ftrace_tracer_waiting(from, true));
	if (!ret)
		ret = ftrace_waiting_copy(&to->waiting[false],
					  ftrace_tracer_waiting(from, false));
	if (ret)
		drop_waiting(to);
	return ret;
}

/* Have @t begin with a copy of the filter of @from, which may be @t itself. */
static int take_filter(struct ftrace_tracer *t, struct ftrace_tracer *from)
{
	struct ftrace_filter f;
	int ret;

	ftrace_ops_filter(from->ops, &f);
	ret = copy_waiting(t, from);
	if (!ret)
		ret = copy_filter(&f, &f);
	if (ret) {
		drop_waiting(t);
		return ret;
	}
	own_filter(t->ops, &f);
	return 0;
}

/* From the filter that it has in common with others to one of its own. */
static int unshare(struct ftrace_tracer *t)
{
	int ret = take_filter(t, t);

	if (!ret)
		t->shares = true;
	return ret;
}

/**
 * ftrace_tracer_separate - see that nobody else has the filter of a tracer
 * @t: the tracer
 *
 * What each of them traces stays the same. The current tracer of a trace array
 * keeps the filter of the array: then it is the others that get one.
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
int ftrace_tracer_separate(struct ftrace_tracer *t)
{
	struct ftrace_tracer *other = NULL;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!is_current_tracer(t->ops, t->tr))
		return has_own_filter(t->ops) ? 0 : unshare(t);
	while (!ret && (other = ftrace_tracer_next(t->tr, other))) {
		if (other != t && other->ops->func_hash == t->ops->func_hash)
			ret = unshare(other);
	}
	return ret;
}

/* Back to the filter of the trace array. */
static int share(struct ftrace_tracer *t)
{
	struct ftrace_ops *ops = t->ops;
	struct ftrace_filter own, common;
	int ret;

	ftrace_ops_filter(ops, &own);
	ftrace_ops_filter(t->tr->ops, &common);
	ret = ftrace_update_ops(ops, &own, &common);
	if (ret)
		return ret;
	WRITE_ONCE(ops->func_hash, t->tr->ops->func_hash);
	RCU_INIT_POINTER(ops->local_hash.filter_hash, NULL);
	RCU_INIT_POINTER(ops->local_hash.notrace_hash, NULL);
	ftrace_hash_free_rcu(own.filter);
	ftrace_hash_free_rcu(own.skip);
	drop_waiting(t);
	return 0;
}

/**
 * ftrace_tracers_share - somebody changed the filter who knows no names
 * @tr: the trace array; its own filter is the new one already
 *
 * The tracers that had it in common before get it, too. One for which that fails
 * keeps its own, and the log says so.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracers_share(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL;
	int ret;

	while ((t = ftrace_tracer_next(tr, t))) {
		if (!t->shares || !has_own_filter(t->ops))
			continue;
		ret = share(t);
		if (ret)
			pr_warn("%s keeps its own filter: %d\n", t->name, ret);
	}
}

/*
 * The tracer whose filter @t is to begin with, or NULL: it has one, or nobody
 * expects that. One that has run before goes on with what it had then, even if
 * that was none.
 */
static struct ftrace_tracer *whose_filter(struct ftrace_tracer *t,
					  const struct ftrace_ops *owner)
{
	struct ftrace_tracer *from = ftrace_tracer_default(t->tr);
	struct ftrace_filter f;

	if (!from || owner->tracer || owner->flags & FTRACE_OPS_FL_OWN_FILTER ||
	    from->ops->func_hash == owner->func_hash ||
	    !ftrace_tracers_known(t->tr))
		return NULL;
	if (owner->func_hash != &owner->local_hash)
		return from;
	ftrace_ops_filter(t->ops, &f);
	if (f.filter || f.skip || !list_empty(ftrace_tracer_waiting(t, false)))
		return NULL;
	return from;
}

/* ---- coming and going ---------------------------------------------------- */

static struct ftrace_tracer *tracer_alloc(struct ftrace_ops *ops,
					  struct trace_array *tr)
{
	struct ftrace_tracer *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	INIT_LIST_HEAD(&t->list);
	INIT_LIST_HEAD(&t->waiting[false]);
	INIT_LIST_HEAD(&t->waiting[true]);
	t->ops = ops;
	t->tr = tr;
	return t;
}

/* The current tracer's filter is the array's: what waits has its place there. */
static int begin_with(struct ftrace_tracer *t, struct ftrace_ops *owner,
		      struct ftrace_tracer *from)
{
	struct ftrace_tracer of_owner = { .ops = owner, .tr = t->tr };
	int ret;

	t->began = owner->func_hash;
	if (owner == t->ops && !is_current_tracer(t->ops, t->tr)) {
		t->shares = !has_own_filter(t->ops);
		return take_filter(t, from);
	}
	INIT_LIST_HEAD(&of_owner.waiting[false]);
	INIT_LIST_HEAD(&of_owner.waiting[true]);
	ret = take_filter(&of_owner, from);
	if (ret)
		return ret;
	list_splice(&of_owner.waiting[true], ftrace_waiting(t->tr, true));
	list_splice(&of_owner.waiting[false], ftrace_waiting(t->tr, false));
	return 0;
}

/**
 * ftrace_tracer_prepare - an ops is about to be registered
 * @ops: the ops; nothing happens if it has no name
 *
 * It gets the filter to begin with. To be followed by ftrace_tracer_join() or
 * ftrace_tracer_cancel().
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL (no such name can be), -ENOMEM.
 */
int ftrace_tracer_prepare(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t, *from;
	struct trace_array *tr;
	struct ftrace_ops *owner;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!ops->name || ops->flags & FTRACE_OPS_FL_ENABLED)
		return 0;
	if (!name_is_good(ops->name))
		return -EINVAL;
	tr = array_of(ops);
	if (!tr)
		return 0;
	t = tracer_alloc(ops, tr);
	if (!t)
		return -ENOMEM;
	owner = owner_of(ops, tr);
	t->before = ops->tracer;
	t->shares = owner->tracer && owner->tracer->shares;
	from = whose_filter(t, owner);
	if (from)
		ret = begin_with(t, owner, from);
	if (ret) {
		kfree(t);
		return ret;
	}
	ops->tracer = t;
	return 0;
}

/* Take the filter away again that it was to begin with. */
static void give_back(struct ftrace_tracer *t)
{
	struct ftrace_ops *owner = owner_of(t->ops, t->tr);
	struct ftrace_filter f;

	ftrace_ops_filter(owner, &f);
	RCU_INIT_POINTER(owner->local_hash.filter_hash, NULL);
	RCU_INIT_POINTER(owner->local_hash.notrace_hash, NULL);
	owner->func_hash = t->began;
	ftrace_hash_free_rcu(f.filter);
	ftrace_hash_free_rcu(f.skip);
	ftrace_waiting_free(ftrace_tracer_waiting(t, true));
	ftrace_waiting_free(ftrace_tracer_waiting(t, false));
}

/**
 * ftrace_tracer_cancel - an ops could not be registered
 * @ops: the ops, after ftrace_tracer_prepare()
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_cancel(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;

	lockdep_assert_held(&ftrace_lock);
	/* It was not prepared, or is the one that stands in the way. */
	if (!t || t->id || t == &has_left || t == &has_left_shares)
		return;
	if (t->began)
		give_back(t);
	drop_waiting(t);
	ops->tracer = t->before;
	kfree(t);
}

/**
 * ftrace_tracer_join - an ops has been registered
 * @ops: the ops, after ftrace_tracer_prepare()
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_join(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;

	lockdep_assert_held(&ftrace_lock);
	if (!t)
		return;
	choose_name(t, ops->name);
	t->id = ++last_id;
	if (ops->flags & FTRACE_OPS_FL_OWN_FILTER)
		t->seen = true;
	else
		t->turn = ++last_turn;
	list_add_tail(&t->list, &tracers);
}

/**
 * ftrace_tracer_leave - an ops is no more registered
 * @ops: the ops
 *
 * What waits for modules in a filter of its own waits no more, and the tasks that
 * it is for are forgotten.
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_tracer_leave(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;
	struct ftrace_ops *owner;

	lockdep_assert_held(&ftrace_lock);
	if (!runs(ops))
		return;
	owner = owner_of(ops, t->tr);
	list_del(&t->list);
	drop_waiting(t);
	ops->tracer = NULL;
	owner->tracer = t->shares ? &has_left_shares : &has_left;
	ftrace_tracer_pids_leave(t);
	kfree_rcu(t, rcu);
}

/**
 * ftrace_tracer_forget - an ops gives its filter up
 * @ops: the ops, not registered
 *
 * When it is registered again, that is for the first time.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracer_forget(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);
	if (!runs(ops))
		ops->tracer = NULL;
}
