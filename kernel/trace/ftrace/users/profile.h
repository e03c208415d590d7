/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The function profiler: how often each function is called on each CPU and, if
 * there is a graph tracer, how long it takes.
 *
 * profile.c counts; files/profile.c is what user space sees of it.
 *
 * Lock order: stat_session.stat_mutex (trace_stat.c) > ftrace_profile_mutex >
 * ftrace_lock.
 */
#ifndef _KERNEL_TRACE_FTRACE_PROFILE_H
#define _KERNEL_TRACE_FTRACE_PROFILE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include <asm/local.h>

/**
 * struct ftrace_profile_counter - what is known of one function on one CPU
 * @hits: how often it was called; only that CPU adds to it
 * @time: how long those calls took that have returned, in ns
 * @squares_low: the squares of those times added up: the low 64 bits
 * @squares_high: and the high ones
 *
 * A call is counted, hit and time, where it began, wherever it returns.
 */
struct ftrace_profile_counter {
	local_t		hits;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	atomic64_t	time;
	atomic64_t	squares_low;
	atomic64_t	squares_high;
#endif
};

/**
 * struct ftrace_profile - the counts of one run of the profiler
 * @session: differs between runs
 * @bits: @slots has 2^@bits elements, at least twice @nr_counters
 * @nr_counters: how many functions there is room for
 * @nr_used: how many have been given a counter
 * @lost: calls that were not counted for want of one
 * @reported: how many of them the log knows of; ftrace_profile_mutex
 * @slots: open-addressed, from a function to its counter: the ftrace_text_key()
 *	   in the low half, which is never 0, and the number of the counter in
 *	   the high one; 0: free. It goes from 0 to its value by cmpxchg, in any
 *	   context, and stays.
 * @of_cpu: the counters of each possible CPU
 */
struct ftrace_profile {
	u32				session;
	unsigned int			bits;
	unsigned int			nr_counters;
	atomic_t			nr_used;
	atomic_long_t			lost;
	unsigned long			reported;
	u64				*slots;
	struct ftrace_profile_counter	*of_cpu[];
};

/* For starting, stopping or reading a profile. */
extern struct mutex ftrace_profile_mutex;

/*
 * The last profile that was started; NULL: none ever was. It is replaced under
 * ftrace_profile_mutex and ftrace_lock: either keeps it from being freed.
 */
extern struct ftrace_profile *ftrace_profile;

bool ftrace_profile_on(void);
int ftrace_profile_set(bool on);
void ftrace_profile_report_lost(struct ftrace_profile *p);

#endif /* _KERNEL_TRACE_FTRACE_PROFILE_H */
