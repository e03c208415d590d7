/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions with call sites that the tests may do with as they like.
 */
#ifndef _KERNEL_TRACE_FTRACE_KUNIT_VICTIM_H
#define _KERNEL_TRACE_FTRACE_KUNIT_VICTIM_H

#include <linux/atomic.h>

#define FTRACE_NR_VICTIMS	3

/**
 * struct ftrace_victim - a function to be patched
 * @name: its name
 * @func: itself
 * @answer: what it returns, however its call site is patched
 */
struct ftrace_victim {
	const char	*name;
	unsigned int	(*func)(void);
	unsigned int	answer;
};

extern const struct ftrace_victim ftrace_victims[FTRACE_NR_VICTIMS];

/* Another name of the first victim. */
unsigned int ftrace_kunit_alias(void);

/* Called by nobody but the test of the recorder, so that it is not noted yet. */
unsigned int ftrace_kunit_unseen(void);

/* No call site of its own: what a victim's can be made to call. */
void ftrace_kunit_target(void);
extern atomic_t ftrace_kunit_hits;

#endif /* _KERNEL_TRACE_FTRACE_KUNIT_VICTIM_H */
