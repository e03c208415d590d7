/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function's call site is, and what lies there.
 */
#ifndef _KERNEL_TRACE_FTRACE_TEST_SITE_H
#define _KERNEL_TRACE_FTRACE_TEST_SITE_H

#include <linux/ftrace.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include <asm/ibt.h>

/* Of the function at @addr. */
static inline unsigned long ftrace_test_site_of(unsigned long addr)
{
	u32 word;

	if (!copy_from_kernel_nofault(&word, (void *)addr, sizeof(word)) &&
	    is_endbr(word))
		addr += ENDBR_INSN_SIZE;
	return addr;
}

/* @insn has room for MCOUNT_INSN_SIZE bytes. */
static inline int ftrace_test_read_site(unsigned long ip, u8 *insn)
{
	int ret;

	/* With the lock no writer is between its first byte and its last. */
	mutex_lock(&text_mutex);
	ret = copy_from_kernel_nofault(insn, (void *)ip, MCOUNT_INSN_SIZE);
	mutex_unlock(&text_mutex);
	return ret;
}

#endif /* _KERNEL_TRACE_FTRACE_TEST_SITE_H */
