/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creates the files in tracefs; sets the early graph filters, and drops sites of
 * freed text from the graph filters.
 */
#ifndef _KERNEL_TRACE_FTRACE_FILES_H
#define _KERNEL_TRACE_FTRACE_FILES_H

#include <linux/types.h>

struct dentry;
struct trace_array;

void ftrace_records_create_files(struct dentry *parent);
void ftrace_pid_create_files(struct trace_array *tr, struct dentry *parent);
void ftrace_tracers_create_file(struct trace_array *tr, struct dentry *parent);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void ftrace_graph_set_early_filters(void);
void ftrace_graph_create_files(struct dentry *parent);
void ftrace_graph_forget(u32 start, u32 end);
#else
static inline void ftrace_graph_set_early_filters(void) { }
static inline void ftrace_graph_create_files(struct dentry *parent) { }
static inline void ftrace_graph_forget(u32 start, u32 end) { }
#endif

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_create_files(struct dentry *parent);
#else
static inline void ftrace_profile_create_files(struct dentry *parent) { }
#endif

#endif /* _KERNEL_TRACE_FTRACE_FILES_H */
