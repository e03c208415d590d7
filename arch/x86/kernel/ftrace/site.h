/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a call site, for site.c and stop.c.
 */
#ifndef _ARCH_X86_KERNEL_FTRACE_SITE_H
#define _ARCH_X86_KERNEL_FTRACE_SITE_H

#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/types.h>
#include <asm/text-patching.h>

/**
 * struct ftrace_site_insn - five bytes as they are written
 * @first: the first byte, which decides what the rest means
 * @tail: the other four, as they lie in memory
 */
struct ftrace_site_insn {
	u8	first;
	u32	tail;
} __packed;

static_assert(sizeof(struct ftrace_site_insn) == MCOUNT_INSN_SIZE);

/* The nop that ftrace_nop= chose. Fixed before the first site is written. */
extern struct ftrace_site_insn ftrace_site_nop;

static __always_inline u8 ftrace_site_first(u32 target)
{
	return target ? CALL_INSN_OPCODE : ftrace_site_nop.first;
}

/* A relative call counts from its end; the top 2 GiB wrap as the key does. */
static __always_inline u32 ftrace_site_tail(u32 ip, u32 target)
{
	return target ? target - (ip + MCOUNT_INSN_SIZE) : ftrace_site_nop.tail;
}

int ftrace_window_init(void);

/* Places in entry_64.S: the parts of the two templates, and their calls. */
extern const u8 ftrace_caller_save[];
extern const u8 ftrace_caller_restore[];
extern const u8 ftrace_caller_end[];
extern const u8 ftrace_regs_caller_save[];
extern u8 ftrace_regs_call[];
extern const u8 ftrace_regs_caller_restore[];
extern const u8 ftrace_regs_caller_end[];

#endif /* _ARCH_X86_KERNEL_FTRACE_SITE_H */
