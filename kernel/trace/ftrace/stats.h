/* SPDX-License-Identifier: GPL-2.0 */
/* Figures that ftraced_stats shows. */
#ifndef _KERNEL_TRACE_FTRACE_STATS_H
#define _KERNEL_TRACE_FTRACE_STATS_H

#include <linux/types.h>

/**
 * struct ftrace_stop_stats - stops of the machine, written under text_mutex
 * @nr: how many there were since boot
 * @longest_ns: how long the longest one lasted, in nanoseconds
 */
struct ftrace_stop_stats {
	unsigned long	nr;
	u64		longest_ns;
};

extern struct ftrace_stop_stats ftrace_stops;

/* Records that were set aside as bad; ftrace_lock. */
extern unsigned long ftrace_nr_bad;

#endif /* _KERNEL_TRACE_FTRACE_STATS_H */
