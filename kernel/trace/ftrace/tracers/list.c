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

#include "../ops/ops.h"
#include "../sites/names.h"
#include "tracers.h"

/*
 * Those that run, in the order in which they joined, and those of the kernel's own
 * that have left, and will go on with the filter they had. That of others nobody
 * can look at while they are away: they may be freed. ftrace_lock.
 */
static LIST_HEAD(tracers);

/* The last that was given to one of them; ftrace_lock. */
static u64 last_id, last_turn;

/* ---- the life of one ----------------------------------------------------- */

static bool runs(const struct ftrace_tracer *t)
{
	return t && (t->life == FTRACE_TRACER_JOINED ||
		     t->life == FTRACE_TRACER_KNOWN);
}

/* It begins as FTRACE_TRACER_PREPARED. */
static struct ftrace_tracer *tracer_alloc(struct ftrace_ops *ops,
					  struct trace_array *tr)
{
	struct ftrace_tracer *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	INIT_LIST_HEAD(&t->list);
	t->ops = ops;
	t->tr = tr;
	return t;
}

/* The only way from one state to the next. */
static void tracer_becomes(struct ftrace_tracer *t, enum ftrace_tracer_life life)
{
	static const u8 comes_from[] = {
		[FTRACE_TRACER_BEGUN]	= BIT(FTRACE_TRACER_PREPARED),
		[FTRACE_TRACER_JOINED]	= BIT(FTRACE_TRACER_PREPARED) |
					  BIT(FTRACE_TRACER_BEGUN) |
					  BIT(FTRACE_TRACER_STOPPED),
		[FTRACE_TRACER_KNOWN]	= BIT(FTRACE_TRACER_JOINED),
		[FTRACE_TRACER_STOPPED]	= BIT(FTRACE_TRACER_JOINED) |
					  BIT(FTRACE_TRACER_KNOWN),
	};

	lockdep_assert_held(&ftrace_lock);
	WARN_ON_ONCE(!(comes_from[life] & BIT(t->life)));
	t->life = life;
}

/* After whichever is the last. */
static void tracer_ends(struct ftrace_tracer *t)
{
	list_del(&t->list);
	WRITE_ONCE(t->ops->tracer, NULL);
	kfree(t);
}

/* NULL: so early in the boot that there is none. */
static struct trace_array *array_of(const struct ftrace_ops *ops)
{
	return ops->tr ?: top_trace_array();
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
	return runs(ops->tracer) ? ops->tracer->name : NULL;
}

/* ---- who runs ------------------------------------------------------------ */

/**
 * ftrace_tracer_next_any - go through the tracers of a trace array
 * @tr: the trace array
 * @t: where to go on, NULL to begin
 *
 * Context: ftrace_lock held.
 * Return: the next one that runs or will go on with the filter it had, or NULL.
 */
struct ftrace_tracer *ftrace_tracer_next_any(struct trace_array *tr,
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
 * ftrace_tracer_next - go through the tracers of a trace array that run
 * @tr: the trace array
 * @t: where to go on, NULL to begin
 *
 * Context: ftrace_lock held.
 * Return: the next one, in the order in which they joined, or NULL.
 */
struct ftrace_tracer *ftrace_tracer_next(struct trace_array *tr,
					 struct ftrace_tracer *t)
{
	do {
		t = ftrace_tracer_next_any(tr, t);
	} while (t && !runs(t));
	return t;
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
		if (t->id == id && runs(t))
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
	struct ftrace_tracer *t, *best = NULL;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(t, &tracers, list) {
		if (t->tr == tr && runs(t) && t->turn > (best ? best->turn : 0))
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
		if (t->life != FTRACE_TRACER_KNOWN)
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

	while ((t = ftrace_tracer_next(tr, t))) {
		if (t->life == FTRACE_TRACER_JOINED)
			tracer_becomes(t, FTRACE_TRACER_KNOWN);
	}
}

/**
 * ftrace_tracer_is_current - is a tracer the trace array's own?
 * @t: the tracer
 *
 * Its filter and its PIDs are those of the array; the graph tracer of an array,
 * which has an ops of its own, is meant as well.
 *
 * Context: ftrace_lock held.
 */
bool ftrace_tracer_is_current(const struct ftrace_tracer *t)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (t->tr->gops && t->ops == &t->tr->gops->ops)
		return true;
#endif
	return t->ops == t->tr->ops;
}

/**
 * ftrace_tracer_owner - the ops that has a tracer's filter
 * @t: the tracer
 *
 * Context: ftrace_lock held.
 */
struct ftrace_ops *ftrace_tracer_owner(const struct ftrace_tracer *t)
{
	return ftrace_tracer_is_current(t) ? t->tr->ops : t->ops;
}

/* ---- coming and going ---------------------------------------------------- */

/*
 * Nobody else knows which functions a direct call is for, or which ones can go on
 * elsewhere.
 */
#define OWN_FILTER	(FTRACE_OPS_FL_OWN_FILTER | FTRACE_OPS_FL_DIRECT | \
			 FTRACE_OPS_FL_IPMODIFY)

/* May its filter be given to it, and changed, by others? */
static bool is_open(const struct ftrace_ops *ops)
{
	return !(ops->flags & OWN_FILTER);
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
	struct ftrace_tracer *t = ops->tracer, *from;
	struct trace_array *tr;
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);
	if (!ops->name || ops->flags & FTRACE_OPS_FL_ENABLED)
		return 0;
	if (!name_is_good(ops->name))
		return -EINVAL;
	tr = array_of(ops);
	/* It goes on as it was, unless it was elsewhere. */
	if (!tr || (t && t->tr == tr))
		return 0;
	if (t)
		ftrace_tracer_forget(ops);
	t = tracer_alloc(ops, tr);
	if (!t)
		return -ENOMEM;
	from = is_open(ops) ? ftrace_tracer_default(tr) : NULL;
	if (from && ftrace_tracers_known(tr))
		ret = ftrace_tracer_begin(t, from);
	if (ret < 0) {
		kfree(t);
		return ret;
	}
	if (ret)
		tracer_becomes(t, FTRACE_TRACER_BEGUN);
	ops->tracer = t;
	return 0;
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
	if (!t || t->life > FTRACE_TRACER_BEGUN)
		return;
	if (t->life == FTRACE_TRACER_BEGUN)
		ftrace_tracer_give_back(t);
	tracer_ends(t);
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
	struct ftrace_ops_hash *h;

	lockdep_assert_held(&ftrace_lock);
	if (!t)
		return;
	choose_name(t, ops->name);
	tracer_becomes(t, FTRACE_TRACER_JOINED);
	t->id = ++last_id;
	if (is_open(ops))
		t->turn = ++last_turn;
	else
		tracer_becomes(t, FTRACE_TRACER_KNOWN);
	list_move_tail(&t->list, &tracers);
	h = &ftrace_tracer_owner(t)->local_hash;
	if (h->past == FTRACE_FILTER_NEW)
		h->past = FTRACE_FILTER_USED;
}

/*
 * The kernel's own are there for ever, unlike the instance that one may have been
 * in; and the array's filter is not theirs.
 */
static bool will_go_on(const struct ftrace_tracer *t)
{
	return is_kernel_core_data((unsigned long)t->ops) &&
	       t->tr->flags & TRACE_ARRAY_FL_GLOBAL && !ftrace_tracer_is_current(t);
}

/**
 * ftrace_tracer_leave - an ops is no more registered
 * @ops: the ops
 *
 * The tasks that it is for are forgotten, and so is what of its filter waits for
 * modules, unless it is one of the kernel's own.
 *
 * Context: process, ftrace_lock held; may sleep for a grace period.
 */
void ftrace_tracer_leave(struct ftrace_ops *ops)
{
	struct ftrace_tracer *t = ops->tracer;

	lockdep_assert_held(&ftrace_lock);
	if (!runs(t))
		return;
	ftrace_pids_leave(t);
	if (will_go_on(t)) {
		tracer_becomes(t, FTRACE_TRACER_STOPPED);
		return;
	}
	/* Nobody will see whether what its own filter waits for has come. */
	if (ops != t->tr->ops) {
		ftrace_waiting_free(&ops->local_hash.waiting[true]);
		ftrace_waiting_free(&ops->local_hash.waiting[false]);
	}
	tracer_ends(t);
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
	if (runs(ops->tracer))
		return;
	if (ops->tracer)
		tracer_ends(ops->tracer);
	ops->local_hash.past = FTRACE_FILTER_NEW;
}

/**
 * ftrace_tracers_forget_text - take sites out of the filters of those that left
 * @start: the first address, as ftrace_text_key()
 * @end: the first address behind it, likewise
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracers_forget_text(u32 start, u32 end)
{
	struct ftrace_tracer *t;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(t, &tracers, list)
		ftrace_filter_forget(t->ops->func_hash, start, end);
}
