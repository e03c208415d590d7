/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that call sites can call directly.
 */
#ifndef _KERNEL_TRACE_FTRACE_TEST_DIRECT_H
#define _KERNEL_TRACE_FTRACE_TEST_DIRECT_H

#include <linux/ftrace.h>
#include <linux/types.h>

extern atomic_t ftrace_test_direct_others;
extern void (*ftrace_test_direct_tell)(unsigned long ret);

void ftrace_test_direct(void);
void ftrace_test_direct_too(void);
void ftrace_test_direct_seen(unsigned long ret);

int ftrace_test_share(struct ftrace_ops *op, enum ftrace_ops_cmd cmd);

#endif /* _KERNEL_TRACE_FTRACE_TEST_DIRECT_H */
