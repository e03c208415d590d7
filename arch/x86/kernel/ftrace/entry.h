/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in entry_64.S: the parts of the two templates, and their calls; and how
 * long all of it is from ftrace_caller on. What is missing here is in <asm/ftrace.h>
 * and <linux/ftrace.h>.
 */
#ifndef _ARCH_X86_KERNEL_FTRACE_ENTRY_H
#define _ARCH_X86_KERNEL_FTRACE_ENTRY_H

#include <linux/types.h>

extern const u8 ftrace_caller_save[];
extern const u8 ftrace_caller_restore[];
extern const u8 ftrace_caller_end[];
extern const u8 ftrace_regs_caller_save[];
extern u8 ftrace_regs_call[];
extern const u8 ftrace_regs_caller_restore[];
extern const u8 ftrace_regs_caller_end[];
extern const unsigned long ftrace_entry_size;

#endif /* _ARCH_X86_KERNEL_FTRACE_ENTRY_H */
