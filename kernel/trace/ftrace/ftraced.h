/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The thread that turns notes into records, see ftraced.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_FTRACED_H
#define _KERNEL_TRACE_FTRACE_FTRACED_H

struct dentry;

int ftraced_init(void);
void ftraced_create_files(struct dentry *parent);

#endif /* _KERNEL_TRACE_FTRACE_FTRACED_H */
