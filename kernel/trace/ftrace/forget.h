/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that is gone, see forget.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_FORGET_H
#define _KERNEL_TRACE_FTRACE_FORGET_H

void ftrace_forget_begin(void);
void ftrace_forget_end(void);
void ftrace_forget(unsigned long start, unsigned long end);

#endif /* _KERNEL_TRACE_FTRACE_FORGET_H */
