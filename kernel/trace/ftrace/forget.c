// SPDX-License-Identifier: GPL-2.0
/*
 * Text that is gone: whatever knows call sites in it forgets them, because other
 * text may come to lie there.
 */
#include "files/edit.h"
#include "files/files.h"
#include "forget.h"
#include "ops/ops.h"
#include "sites/notes.h"
#include "tracers/tracers.h"
#include "users/probe.h"
#include "users/users.h"

/**
 * ftrace_forget_begin - text is about to go
 *
 * Until ftrace_forget_end() no function can be given a probe by name: what was
 * found in this text could be taken for what comes to lie there next.
 *
 * Context: process. Takes event_mutex, because a probe that goes may disable an
 * event, trace_types_lock and ftrace_probe_mutex.
 */
void ftrace_forget_begin(void)
{
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	mutex_lock(&ftrace_probe_mutex);
}

/**
 * ftrace_forget_end - the text is gone
 */
void ftrace_forget_end(void)
{
	mutex_unlock(&ftrace_probe_mutex);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}

/* All but probes: freeing their data may need other locks. */
static void forget_sites(unsigned long start, unsigned long end)
{
	u32 first = ftrace_text_key(start), last = ftrace_text_key(end);
	struct trace_array *tr;
	struct ftrace_ops *ops;

	guard(mutex)(&ftrace_lock);
	for_each_ftrace_ops(ops)
		ftrace_filter_forget(ops->func_hash, first, last);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		unsigned long flags = tr->ops ? tr->ops->flags : 0;

		/* If it is registered, it was among the ops. */
		if (flags & FTRACE_OPS_FL_INITIALIZED && !(flags & FTRACE_OPS_FL_ENABLED))
			ftrace_filter_forget(tr->ops->func_hash, first, last);
	}
	ftrace_tracers_forget_text(first, last);
	filter_edits_forget(first, last);
	ftrace_graph_forget(first, last);
	ftrace_profile_forget(start, end);
	ftrace_update_release(start, end);
	ftrace_region_remove(start, end);
	ftrace_notes_recount();
}

/**
 * ftrace_forget - forget everything about a stretch of text
 * @start: first address
 * @end: first address after it
 *
 * Its records go, and its sites leave the filters of all trace arrays, of all
 * registered ops, of tracers that keep theirs while they are stopped, and of
 * the graph tracer; filters that are being written; and all function probes.
 *
 * Context: process, between ftrace_forget_begin() and ftrace_forget_end(). Takes
 * ftrace_lock.
 */
void ftrace_forget(unsigned long start, unsigned long end)
{
	lockdep_assert_held(&trace_types_lock);
	forget_sites(start, end);
	ftrace_probes_forget(ftrace_text_key(start), ftrace_text_key(end));
}
