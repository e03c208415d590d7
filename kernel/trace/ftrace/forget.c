// SPDX-License-Identifier: GPL-2.0
/*
 * Text that is gone: whatever knows call sites in it forgets them, because other
 * text may come to lie there.
 */
#include "filter_edit.h"
#include "internal.h"
#include "tracers.h"

/**
 * ftrace_forget - forget everything about a stretch of text
 * @start: first address
 * @end: first address behind it
 *
 * Its records go, and its sites leave the filters of all trace arrays, of all
 * registered ops, of tracers that will go on with theirs, of the graph tracer,
 * and those that somebody is writing. Function probes see to theirs when they
 * are looked at the next time.
 *
 * Context: process, trace_types_lock and ftrace_lock held.
 */
void ftrace_forget(unsigned long start, unsigned long end)
{
	u32 first = ftrace_text_key(start), last = ftrace_text_key(end);
	struct trace_array *tr;
	struct ftrace_ops *ops = NULL;

	lockdep_assert_held(&trace_types_lock);
	lockdep_assert_held(&ftrace_lock);
	while ((ops = ftrace_next_ops(ops)))
		ftrace_filter_forget(ops->func_hash, first, last);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->ops && tr->ops->flags & FTRACE_OPS_FL_INITIALIZED)
			ftrace_filter_forget(tr->ops->func_hash, first, last);
	}
	ftrace_tracers_forget_text(first, last);
	filter_edits_forget(first, last);
	ftrace_graph_forget(first, last);
	ftrace_profile_forget(start, end);
	ftrace_region_remove(start, end);
}
