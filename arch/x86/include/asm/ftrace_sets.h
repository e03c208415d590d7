/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CONFIG_FTRACE_SETS asks of x86-64, and what x86-64 asks of it.
 *
 * A call site is the five bytes that "gcc -pg -mfentry" puts at a function's
 * entry, after its endbr64 if it has one. As compiled they call __fentry__;
 * once patched they are a nop or a call of a trampoline.
 */
#ifndef _ASM_X86_FTRACE_SETS_H
#define _ASM_X86_FTRACE_SETS_H

/* Included first by asm/ftrace.h, which then has nothing more to say. */
#ifdef _ASM_X86_FTRACE_H
#error "include <asm/ftrace.h>"
#endif
#define _ASM_X86_FTRACE_H

#include <linux/types.h>

#define MCOUNT_ADDR		((unsigned long)__fentry__)
#define MCOUNT_INSN_SIZE	5	/* call rel32 */

/* What a site calls when no trampoline of its own serves it. */
#define FTRACE_ADDR		((unsigned long)ftrace_caller)
#define FTRACE_REGS_ADDR	((unsigned long)ftrace_regs_caller)

/* A callback is handed the ops it belongs to. */
#define ARCH_SUPPORTS_FTRACE_OPS 1

/*
 * The stack in a trampoline, in bytes: a struct ftrace_regs; room for the
 * return address that all callbacks are told, as one of them may replace it on
 * the stack; padding to a multiple of 16; the links that frame pointers need;
 * what the call site has pushed, which is where the traced function continues;
 * and that function's own return address.
 */
#ifdef CONFIG_FRAME_POINTER
#define FTRACE_LINKS_SIZE	40
#else
#define FTRACE_LINKS_SIZE	0
#endif
#define FTRACE_PARENT		168
#define FTRACE_REGS_SIZE	(176 + (FTRACE_LINKS_SIZE + 176) % 16)
#define FTRACE_SITE_RETURN	(FTRACE_REGS_SIZE + FTRACE_LINKS_SIZE)

/*
 * The stack in return_to_handler: a struct ftrace_regs, and padding that makes
 * it and the links a multiple of 16, counted from the return address.
 */
#ifdef CONFIG_FRAME_POINTER
#define FTRACE_RETURN_SIZE	176
#else
#define FTRACE_RETURN_SIZE	168
#endif

#ifndef __ASSEMBLY__
struct pt_regs;

void __fentry__(void);
void ftrace_caller(void);
void ftrace_regs_caller(void);
void ftrace_stub_direct_tramp(void);
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

/* For the ORC unwinder: the place in static code that matches @ip; 0: there is none. */
unsigned long ftrace_trampoline_template(unsigned long ip);

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#include <asm/ptrace.h>
/*
 * struct __arch_ftrace_regs has pt_regs. The arguments are always in it; the
 * other registers are if one of the site's tracers asked for them, which cs
 * tells. ip is where the traced function continues.
 */
#include <linux/ftrace_regs.h>

/**
 * arch_ftrace_get_regs() - all the registers, if they are there
 * @fregs: as handed to the callback
 *
 * Return: NULL if only the arguments are.
 */
static __always_inline struct pt_regs *
arch_ftrace_get_regs(struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;

	return regs->cs ? regs : NULL;
}

#undef ftrace_regs_get_stack_pointer
#undef ftrace_regs_get_argument

/* A stack pointer that was not saved follows from where @fregs lies. */
static __always_inline unsigned long
ftrace_regs_get_stack_pointer(struct ftrace_regs *fregs)
{
	struct pt_regs *regs = arch_ftrace_get_regs(fregs);

	return regs ? regs->sp :
		      (unsigned long)fregs + FTRACE_SITE_RETURN + sizeof(long);
}

/* From the seventh on, arguments lie on the stack, above the return address. */
static __always_inline unsigned long
ftrace_regs_get_argument(struct ftrace_regs *fregs, unsigned int n)
{
	struct pt_regs stack;

	if (n < 6)
		return regs_get_kernel_argument(&arch_ftrace_regs(fregs)->regs, n);
	stack.sp = ftrace_regs_get_stack_pointer(fregs);
	return regs_get_kernel_stack_nth(&stack, n - 6 + 1);
}

/* Obeyed if the ops has FTRACE_OPS_FL_IPMODIFY or FTRACE_OPS_FL_SAVE_REGS. */
#define ftrace_regs_set_instruction_pointer(fregs, addr) \
	(arch_ftrace_regs(fregs)->regs.ip = (addr))

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* For ftrace_regs_caller: run the code at @addr as if the site called it. */
static inline void arch_ftrace_set_direct_caller(struct ftrace_regs *fregs,
						 unsigned long addr)
{
	arch_ftrace_regs(fregs)->regs.orig_ax = addr;
}
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
struct ftrace_ops;

#define ftrace_graph_func ftrace_graph_func
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_graph_caller(void);
extern u8 ftrace_graph_call[];
extern u8 ftrace_graph_regs_call[];
#endif
#endif /* CONFIG_DYNAMIC_FTRACE_WITH_ARGS */

/* mark_rodata_ro() is at work: text that was generated is protected already. */
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
#endif /* _ASM_X86_FTRACE_SETS_H */
