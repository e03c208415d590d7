// SPDX-License-Identifier: GPL-2.0
/*
 * Which directory of tracefs has which files: those that are there only once, and those
 * that each trace array has. The filter files of instances are made by ../trace.c.
 *
 * A file of its own, since files/ and ftraced do not need each other.
 */
#include "core.h"
#include "files/files.h"
#include "ftraced.h"

/**
 * ftrace_init_tracefs - create the PID files of a trace array
 * @tr: the trace array
 * @d_tracer: its directory
 *
 * Context: process.
 */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *d_tracer)
{
	ftrace_pid_create_files(tr, d_tracer);
}

/**
 * ftrace_init_tracefs_toplevel - make the files that are there only once
 * @tr: the top-level trace array
 * @d_tracer: its directory
 *
 * Context: boot, process.
 */
__init void ftrace_init_tracefs_toplevel(struct trace_array *tr,
					 struct dentry *d_tracer)
{
	ftrace_records_create_files(d_tracer);
	ftrace_create_filter_files(tr, d_tracer);
	ftrace_graph_create_files(d_tracer);
	ftrace_profile_create_files(d_tracer);
	ftraced_create_files(d_tracer);
}
