/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What function tracing asks of x86, and what x86 asks of it.
 *
 * A call site is the five bytes that "gcc -pg -mfentry" puts at a function's
 * entry, behind its endbr64 if it has one. As compiled they call __fentry__;
 * from then on they are a nop or a call of a trampoline.
 */
#ifndef _ASM_X86_FTRACE_H
#define _ASM_X86_FTRACE_H

#include <linux/types.h>

#ifdef CONFIG_FUNCTION_TRACER
#define MCOUNT_ADDR		((unsigned long)__fentry__)
#define MCOUNT_INSN_SIZE	5	/* call rel32 */

#ifndef __ASSEMBLY__
void __fentry__(void);
#endif
#endif /* CONFIG_FUNCTION_TRACER */

#ifdef CONFIG_DYNAMIC_FTRACE

/* What a site calls when no trampoline of its own serves it. */
#define FTRACE_ADDR		((unsigned long)ftrace_caller)

/* A callback is handed the ops it belongs to. */
#define ARCH_SUPPORTS_FTRACE_OPS 1

#ifndef __ASSEMBLY__
struct pt_regs;

void ftrace_caller(void);
extern u8 ftrace_recorder_switch[];

/**
 * struct dyn_arch_ftrace - what x86 keeps for each call site: nothing
 *
 * Which nop or call a site holds follows from its address and its record.
 */
struct dyn_arch_ftrace {
};

/**
 * ftrace_call_adjust() - from an address in __mcount_loc to the call site
 * @addr: what the compiler recorded
 *
 * Return: @addr, because with -mfentry that is the call itself.
 */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

int ftrace_int3_handler(struct pt_regs *regs);
#endif /* !__ASSEMBLY__ */

#else /* !CONFIG_DYNAMIC_FTRACE */

#ifndef __ASSEMBLY__
struct pt_regs;

static __always_inline int ftrace_int3_handler(struct pt_regs *regs)
{
	return 0;
}
#endif

#endif /* CONFIG_DYNAMIC_FTRACE */

#ifndef __ASSEMBLY__

/**
 * ftrace_trampoline_template() - which static code a trampoline is a copy of
 * @ip: an address in no kernel and no module text
 *
 * The ORC unwinder has no table for generated code; it looks up the place in
 * the template instead. Any context, NMI included.
 *
 * Return: the address in the template that corresponds to @ip; 0 if @ip is in
 * no trampoline. There are none yet.
 */
static inline unsigned long ftrace_trampoline_template(unsigned long ip)
{
	return 0;
}

/* mark_rodata_ro() is at work: no text was generated that it had to protect. */
static inline void set_ftrace_ops_ro(void) { }

#ifdef CONFIG_FTRACE_SYSCALLS
#include <linux/string.h>

#define ARCH_HAS_SYSCALL_MATCH_SYM_NAME 1

/**
 * arch_syscall_match_sym_name() - is a symbol the entry of a system call?
 * @sym: what kallsyms calls an entry of sys_call_table
 * @name: the system call, as "sys_read"
 *
 * The stubs of asm/syscall_wrapper.h put the ABI in front of the name. A system
 * call without arguments has a single body under all the names, and kallsyms
 * may come up with any of them.
 *
 * Return: true if so.
 */
static inline bool arch_syscall_match_sym_name(const char *sym,
					       const char *name)
{
	size_t abi;

	abi = str_has_prefix(sym, "__x64_") ?: str_has_prefix(sym, "__ia32_") ?:
	      str_has_prefix(sym, "__do_");
	return !strcmp(sym + abi, name);
}

#ifdef CONFIG_IA32_EMULATION
#include <linux/thread_info.h>

#define ARCH_TRACE_IGNORE_COMPAT_SYSCALLS 1

/**
 * arch_trace_is_compat_syscall() - is the current one a 32-bit system call?
 * @regs: the registers it came with
 *
 * i386 numbers mean something else than x86-64 numbers, and the tables of the
 * system call tracer know only the latter.
 *
 * Return: true if so.
 */
static inline bool arch_trace_is_compat_syscall(struct pt_regs *regs)
{
	return in_ia32_syscall();
}
#endif /* CONFIG_IA32_EMULATION */
#endif /* CONFIG_FTRACE_SYSCALLS */

#endif /* !__ASSEMBLY__ */
#endif /* _ASM_X86_FTRACE_H */
