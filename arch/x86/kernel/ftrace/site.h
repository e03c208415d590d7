/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of a call site: how to spell them, read them and write them.
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

/* The target is relative to the end of the call. In u32 this wraps as keys do. */
static __always_inline u32 ftrace_site_tail(u32 ip, u32 target)
{
	return target ? target - (ip + MCOUNT_INSN_SIZE) : ftrace_site_nop.tail;
}

bool ftrace_site_read(unsigned long ip, struct ftrace_site_insn *insn);
void ftrace_site_poke(unsigned long ip, const void *insn, const void *emulate);

#endif /* _ARCH_X86_KERNEL_FTRACE_SITE_H */
