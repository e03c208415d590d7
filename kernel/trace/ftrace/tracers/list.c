// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracers by their names: who runs in a trace array, and whose filter
 * set_ftrace_filter means.
 *
 * One of the tracers that run is the default. A tracer that joins becomes the
 * default, and begins with the filter of the default before it. When it leaves,
 * the one before it is the default again.
 *
 * Many programs know nothing of this. What they write to set_ftrace_filter is
 * for the trace array's own tracer, and for all that have its filter in common
 * with it, such as the profiler; any other tracer keeps the filter that it was
 * given. That changes when somebody opens function_tracers or writes a name. It
 * changes back when another tracer joins, because nobody can have meant that
 * one yet.
 */
#include <linux/list.h>
#include <linux/string.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "tracers.h"

/*
 * The tracers that run, in the order in which they joined; and those of the
 * kernel's own that have left, and keep their filter until they are back.
 * Others that have left may be freed, so they are not in the list. ftrace_lock.
 */
static LIST_HEAD(tracers);

/* The last id, and the last rank, that a tracer was given; ftrace_lock. */
static u64 last_id, last_rank;

/* ---- the life of one ----------------------------------------------------- */

/**
 * ftrace_tracer_becomes - the only way from one state of a tracer to the next
 * @t: the tracer
 * @life: the next one
 *
 * Context: ftrace_lock held.
 */
void ftrace_tracer_becomes(struct ftrace_tracer *t, enum ftrace_tracer_life life)
{
	static const u8 comes_from[] = {
		[FTRACE_TRACER_PREPARED_COPY] = BIT(FTRACE_TRACER_PREPARED),
		[FTRACE_TRACER_JOINED] = BIT(FTRACE_TRACER_PREPARED) |
					 BIT(FTRACE_TRACER_PREPARED_COPY) |
					 BIT(FTRACE_TRACER_STOPPED),
		[FTRACE_TRACER_KNOWN] = BIT(FTRACE_TRACER_JOINED),
		[FTRACE_TRACER_STOPPED] = BIT(FTRACE_TRACER_JOINED) |
					  BIT(FTRACE_TRACER_KNOWN),
	};

	lockdep_assert_held(&ftrace_lock);
	WARN_ON_ONCE(!(comes_from[life] & BIT(t->life)));
	t->life = life;
}

/* ---- names --------------------------------------------------------------- */

static void choose_name(struct ftrace_tracer *t, const char *wish)
{
	unsigned int nr = 1;

	strscpy(t->name, wish);
	while (ftrace_tracer_find(t->tr, t->name))
		snprintf(t->name, sizeof(t->name), "%s_%u", wish, ++nr);
}

/**
 * ftrace_tracer_enlist - a tracer runs from now on
 * @t: the tracer
 * @settable: its filter is for the tracing files to change, so it becomes the default
 *
 * It gets a name that no other one of its trace array has, and an id that none
 * ever had.
 *
 * Context: ftrace_lock held.
 */
void ftrace_tracer_enlist(struct ftrace_tracer *t, bool settable)
{
	choose_name(t, t->ops->name);
	ftrace_tracer_becomes(t, FTRACE_TRACER_JOINED);
	t->id = ++last_id;
	if (settable)
		t->rank = ++last_rank;
	else
		ftrace_tracer_becomes(t, FTRACE_TRACER_KNOWN);
	list_move_tail(&t->list, &tracers);
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
	return ftrace_tracer_runs(ops->tracer) ? ops->tracer->name : NULL;
}

/* ---- who runs ------------------------------------------------------------ */

/**
 * ftrace_tracer_next_any - go through the tracers of a trace array
 * @tr: the trace array
 * @t: where to go on, NULL to begin
 *
 * Context: ftrace_lock held.
 * Return: the next one, be it running or stopped with a filter to keep, or
 * NULL.
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
	} while (t && !ftrace_tracer_runs(t));
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
		if (t->id == id && ftrace_tracer_runs(t))
			return t;
	}
	return NULL;
}

/**
 * ftrace_tracer_default - the tracer that a write without a name is for
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 * Return: it, or NULL if none that can be the default runs.
 */
struct ftrace_tracer *ftrace_tracer_default(struct trace_array *tr)
{
	struct ftrace_tracer *t, *best = NULL;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(t, &tracers, list) {
		if (t->tr == tr && ftrace_tracer_runs(t) && t->rank > (best ? best->rank : 0))
			best = t;
	}
	return best;
}

/**
 * ftrace_tracers_are_several - does it matter which of them is the default?
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 */
bool ftrace_tracers_are_several(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL;
	unsigned int nr = 0;

	while ((t = ftrace_tracer_next(tr, t)))
		nr += ftrace_tracer_is_settable(t);
	return nr > 1;
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
	if (!ftrace_tracer_is_settable(t))
		return -EPERM;
	t->rank = ++last_rank;
	return 0;
}

/**
 * ftrace_tracers_known - has a writer to the files reason to know the tracers?
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
 * ftrace_tracers_mark_known - note that somebody has seen the names, or used one
 * @tr: the trace array
 *
 * Context: ftrace_lock held.
 */
void ftrace_tracers_mark_known(struct trace_array *tr)
{
	struct ftrace_tracer *t = NULL;

	while ((t = ftrace_tracer_next(tr, t))) {
		if (t->life == FTRACE_TRACER_JOINED)
			ftrace_tracer_becomes(t, FTRACE_TRACER_KNOWN);
	}
}

/**
 * ftrace_tracer_is_array_own - is a tracer the trace array's own?
 * @t: the tracer
 *
 * Its filter and its PIDs are those of the array. True also for the graph
 * tracer of the array, which has an ops of its own.
 *
 * Context: ftrace_lock held.
 */
bool ftrace_tracer_is_array_own(const struct ftrace_tracer *t)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (t->tr->gops && t->ops == &t->tr->gops->ops)
		return true;
#endif
	return t->ops == t->tr->ops;
}

/**
 * ftrace_tracer_filter_ops - the ops in which a tracer's filter is kept
 * @t: the tracer
 *
 * Context: ftrace_lock held.
 */
struct ftrace_ops *ftrace_tracer_filter_ops(const struct ftrace_tracer *t)
{
	return ftrace_tracer_is_array_own(t) ? t->tr->ops : t->ops;
}

/**
 * ftrace_tracers_forget_text - take sites out of the filters of those that left
 * @start: the first address, as ftrace_text_key()
 * @end: the first address after it, likewise
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tracers_forget_text(u32 start, u32 end)
{
	struct ftrace_tracer *t;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(t, &tracers, list) {
		if (!ftrace_tracer_runs(t))
			ftrace_filter_forget(t->ops->func_hash, start, end);
	}
}
