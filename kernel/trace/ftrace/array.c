// SPDX-License-Identifier: GPL-2.0
/*
 * The ops of trace arrays: the top level's and those of the instances.
 */
#include <linux/ftrace.h>

#include "internal.h"

/**
 * ftrace_init_trace_array - make a trace array fit for function tracing
 * @tr: the array
 *
 * Context: process, before anyone else sees @tr.
 */
void ftrace_init_trace_array(struct trace_array *tr)
{
	INIT_LIST_HEAD(&tr->func_probes);
	INIT_LIST_HEAD(&tr->mod_trace);
	INIT_LIST_HEAD(&tr->mod_notrace);
	/* Its graph tracer has the same filter, and may be the first to run. */
	if (tr->ops)
		ftrace_ops_init(tr->ops);
}

/**
 * ftrace_init_global_array_ops - give the top-level trace array its ops
 * @tr: the top-level array
 *
 * Context: early boot.
 */
__init void ftrace_init_global_array_ops(struct trace_array *tr)
{
	ftrace_ops_init(&global_ops);
	tr->ops = &global_ops;
	tr->ops->private = tr;
	/* The command line may start it before it can be found as the top level. */
	tr->ops->tr = tr;
	ftrace_init_trace_array(tr);
	init_array_fgraph_ops(tr, tr->ops);
}

/**
 * ftrace_init_array_ops - set the callback of a trace array's ops
 * @tr: the array; its ops is not registered
 * @func: the callback
 *
 * Context: process, trace_types_lock held.
 */
void ftrace_init_array_ops(struct trace_array *tr, ftrace_func_t func)
{
	/* An instance may trace functions in one way only, for now. */
	WARN_ON(tr->flags & TRACE_ARRAY_FL_GLOBAL &&
		tr->ops->func != ftrace_stub);
	tr->ops->func = func;
	tr->ops->private = tr;
	tr->ops->flags |= FTRACE_OPS_FL_TRACE_ARRAY;
}

/**
 * ftrace_reset_array_ops - take the callback of a trace array's ops away
 * @tr: the array; its ops is not registered
 *
 * Context: process, trace_types_lock held.
 */
void ftrace_reset_array_ops(struct trace_array *tr)
{
	tr->ops->func = ftrace_stub;
}
