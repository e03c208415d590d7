/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/trace/fgraph.c asks of dynamic ftrace, and the other way round.
 */
#ifndef _KERNEL_TRACE_FTRACE_FGRAPH_H
#define _KERNEL_TRACE_FTRACE_FGRAPH_H

#include <linux/ftrace.h>

/* A single graph user is called directly, if that can be a static call. */
#ifdef CONFIG_HAVE_STATIC_CALL
# define FGRAPH_NO_DIRECT 0
#else
# define FGRAPH_NO_DIRECT 1
#endif

/*
 * Commands to ftrace_startup_subops() and ftrace_shutdown_subops():
 * the first graph user comes, the last one goes.
 */
#define FTRACE_START_FUNC_RET	BIT(0)
#define FTRACE_STOP_FUNC_RET	BIT(1)

int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs);
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			  int command);
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			   int command);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* How many graph users there are; ftrace_lock. */
extern int ftrace_graph_active;
void fgraph_update_pid_func(void);
#else
static inline void fgraph_update_pid_func(void) { }
#endif

#endif /* _KERNEL_TRACE_FTRACE_FGRAPH_H */
