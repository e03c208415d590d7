/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The patch window, for the stop.
 */
#ifndef _ARCH_X86_KERNEL_FTRACE_WINDOW_H
#define _ARCH_X86_KERNEL_FTRACE_WINDOW_H

#include <linux/types.h>

struct ftrace_plan;
struct mm_struct;

/*
 * NULL: there was no memory for it. It is loaded only inside the stop, interrupts
 * off, by all CPUs at once.
 */
extern struct mm_struct *ftrace_window_mm;

/* What to add to a site's key to get its place in the window. */
extern unsigned long ftrace_window_bias;

/* The plan whose pages are in it, or NULL; ftrace_lock. */
extern const struct ftrace_plan *ftrace_window_plan;

#endif /* _ARCH_X86_KERNEL_FTRACE_WINDOW_H */
