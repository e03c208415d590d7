/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the call sites of the function tracer lead to.
 *
 * All of this is reached by a direct call from a function's entry, before the
 * first instruction of its own: the arguments are in their registers. All else
 * that a callee may spoil is free: %rax would hold the number of vector
 * arguments, and %r10 the static chain of a nested function, but the kernel has
 * neither. callthunks has not made that call account for call depth (the call
 * was written later, or is exempt), so each entry here does so itself.
 */
#include <linux/cfi_types.h>
#include <linux/export.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/ftrace.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#ifdef CONFIG_FTRACE_RECORDER
#include <linux/ftrace_notes.h>
#endif

	/* A probe in here would run into itself. */
	.section .noinstr.text, "ax"

#ifdef CONFIG_FRAME_POINTER
/*
 * The traced function has not pushed %rbp yet: make its frame for it, and one
 * for ourselves above. is_last_ftrace_frame() in unwind_frame.c knows this
 * layout; the first push is there for it. The flags stay as they are.
 */
.macro PUSH_LINKS
	pushq	%rbp
	pushq	16(%rsp)		/* return address of the function */
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	24(%rsp)		/* return address into the function */
	pushq	%rbp
	movq	%rsp, %rbp
.endm

.macro POP_LINKS
	leaq	(FTRACE_LINKS_SIZE - 8)(%rsp), %rsp
	popq	%rbp
.endm
#else
.macro PUSH_LINKS
.endm

.macro POP_LINKS
.endm
#endif

/* Where PUSH_LINKS has put the %rbp of the traced function. */
#define LINKS_RBP	(FTRACE_SITE_RETURN - 8)

/*
 * The arguments, and what else callbacks may read without asking for more:
 * ftrace_regs_get_frame_pointer(). What the function returns is not known yet.
 */
.macro SAVE_ARGS
	subq	$FTRACE_REGS_SIZE, %rsp
	movq	%rdi, RDI(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	LINKS_RBP(%rsp), %rdx
	movq	%rdx, RBP(%rsp)
#else
	movq	%rbp, RBP(%rsp)
#endif
	/* Says that the rest is not there, see arch_ftrace_get_regs(). */
	movq	$0, CS(%rsp)
.endm

.macro RESTORE_ARGS
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
	addq	$FTRACE_REGS_SIZE, %rsp
#ifndef CONFIG_FRAME_POINTER
	/* %rbp was saved, but nobody has changed it. */
	UNWIND_HINT_FUNC
#endif
.endm

/*
 * All of it, as a breakpoint at the call site would find it. The flags are first
 * put into the last of what FTRACE_REGS_SIZE has room for.
 */
.macro SAVE_ALL_REGS
	pushfq
	leaq	-(FTRACE_REGS_SIZE - 8)(%rsp), %rsp
	movq	%rdi, RDI(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rax, RAX(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	movq	%r10, R10(%rsp)
	movq	%r11, R11(%rsp)
	movq	%r12, R12(%rsp)
	movq	%r13, R13(%rsp)
	movq	%r14, R14(%rsp)
	movq	%r15, R15(%rsp)
	movq	%rbx, RBX(%rsp)
#ifdef CONFIG_FRAME_POINTER
	movq	LINKS_RBP(%rsp), %rax
	movq	%rax, RBP(%rsp)
#else
	movq	%rbp, RBP(%rsp)
#endif
	movq	(FTRACE_REGS_SIZE - 8)(%rsp), %rax
	movq	%rax, EFLAGS(%rsp)
	leaq	(FTRACE_SITE_RETURN + 8)(%rsp), %rax
	movq	%rax, RSP(%rsp)
	movq	$__KERNEL_DS, SS(%rsp)
	movq	$__KERNEL_CS, CS(%rsp)
	movq	$0, ORIG_RAX(%rsp)
.endm

/* A callback may have changed any of them but %rsp. */
.macro RESTORE_ALL_REGS
#ifdef CONFIG_FRAME_POINTER
	movq	RBP(%rsp), %rax
	movq	%rax, LINKS_RBP(%rsp)
#else
	movq	RBP(%rsp), %rbp
#endif
	pushq	EFLAGS(%rsp)
	popfq
	movq	R15(%rsp), %r15
	movq	R14(%rsp), %r14
	movq	R13(%rsp), %r13
	movq	R12(%rsp), %r12
	movq	RBX(%rsp), %rbx
	movq	R11(%rsp), %r11
	movq	R10(%rsp), %r10
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RAX(%rsp), %rax
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
	leaq	FTRACE_REGS_SIZE(%rsp), %rsp
.endm

/* The first two arguments of every callback, and where the traced function continues. */
.macro LOAD_SITE
	movq	FTRACE_SITE_RETURN(%rsp), %rdi
	movq	FTRACE_SITE_RETURN + 8(%rsp), %rsi
	movq	%rdi, RIP(%rsp)
	subq	$MCOUNT_INSN_SIZE, %rdi
.endm

/* A nop, turned into a call of ftrace_graph_caller while there is a graph user. */
.macro GRAPH_CALL name:req
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
SYM_INNER_LABEL(\name, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	.byte	BYTES_NOP5
#endif
.endm

/*
 * As CALL_DEPTH_ACCOUNT, with one nop in its place and not as many as it has
 * bytes: until alternatives are applied every function of the boot runs them.
 */
.macro CALL_DEPTH_ACCOUNT_EARLY
#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
	ALTERNATIVE __stringify(.byte BYTES_NOP9), \
		    __stringify(INCREMENT_CALL_DEPTH), X86_FEATURE_CALL_DEPTH
#endif
.endm

/*
 * __fentry__ - what every call site calls until it is patched
 *
 * Until ftrace_text_arm_recorder() a bare return, so that it can be called with
 * no per-CPU data, no stack to speak of and the kernel not yet where it was
 * linked to. Then the recorder: note the site, once. With a table of call sites
 * there is no recorder, and this is a return for ever.
 *
 * It runs in every context there is. What it may rely on is a stack and the
 * kernel's mapping; it takes no lock and faults on nothing.
 *
 * No ENDBR: nothing calls it through a pointer.
 */
SYM_CODE_START(__fentry__)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT_EARLY
#ifdef CONFIG_FTRACE_RECORDER
SYM_INNER_LABEL(ftrace_recorder_switch, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	/*
	 * A two-byte jump, which arming turns into a two-byte pushq %rax. The
	 * hint describes the stack of the code after it once that is armed.
	 */
	.byte	0xeb, .Lreturn - .Larmed
.Larmed:
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	imull	$FTRACE_NOTE_MULT, 8(%rsp), %eax
	movq	ftrace_notes(%rip), %r11
	imulq	FTRACE_NOTES_HOMES(%r11), %rax
	shrq	$32, %rax
	leaq	FTRACE_NOTES_SLOTS(%r11, %rax, 4), %r11
	movl	8(%rsp), %eax
	cmpl	%eax, (%r11)
	jne	.Lprobe
.Lnoted:
	popq	%rax
	RET

.Lprobe:
	cmpl	%eax, 4(%r11)
	je	.Lnoted
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	pushq	%r10
	movq	64(%rsp), %rdi
	subq	$MCOUNT_INSN_SIZE, %rdi
	call	ftrace_note
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	jmp	.Lnoted

.Lreturn:
#endif
	RET
SYM_CODE_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

/*
 * ftrace_caller - call the one function that ftrace_call names
 *
 * The trampoline of last resort: it serves every set of ops, by calling a
 * function that looks up who wants to know. ftrace_update_ftrace_func() says
 * which. It is called with the call site, the return address of the traced
 * function and the arguments; its third argument, an ops, is undefined.
 *
 * And the template of all others: what trampoline.c generates begins
 * with a copy of what lies between ftrace_caller_save and ftrace_call, and ends
 * with one of what lies between ftrace_caller_restore and ftrace_caller_end.
 * Nothing there depends on where it is. In between the stack stays as it is at
 * ftrace_call, which is what the unwinder is told of all addresses there.
 */
SYM_START(ftrace_caller, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
SYM_INNER_LABEL(ftrace_caller_save, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	PUSH_LINKS
	SAVE_ARGS
	LOAD_SITE
	movq	%rsp, %rcx
SYM_INNER_LABEL(ftrace_call, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	call	ftrace_stub
	GRAPH_CALL ftrace_graph_call
SYM_INNER_LABEL(ftrace_caller_restore, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RESTORE_ARGS
	POP_LINKS
SYM_INNER_LABEL(ftrace_caller_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(ftrace_caller)
STACK_FRAME_NON_STANDARD_FP ftrace_caller

/*
 * ftrace_regs_caller - the same, for sets that want more than the arguments
 *
 * Callbacks are handed all registers and may change them. Where to go on is one
 * of them. If a callback has put an address in the place of orig_ax, that code
 * is run as if the call site had called it.
 */
SYM_START(ftrace_regs_caller, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
SYM_INNER_LABEL(ftrace_regs_caller_save, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	PUSH_LINKS
	SAVE_ALL_REGS
	LOAD_SITE
	movq	%rsp, %rcx
SYM_INNER_LABEL(ftrace_regs_call, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	call	ftrace_stub
	GRAPH_CALL ftrace_graph_regs_call
	movq	RIP(%rsp), %rax
	movq	%rax, FTRACE_SITE_RETURN(%rsp)
	movq	ORIG_RAX(%rsp), %rax
	testq	%rax, %rax
	jnz	.Ldirect
SYM_INNER_LABEL(ftrace_regs_caller_restore, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RESTORE_ALL_REGS
	POP_LINKS
SYM_INNER_LABEL(ftrace_regs_caller_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RET

.Ldirect:
	/* %r11 holds nothing at a function's entry. */
	movq	%rax, R11(%rsp)
	RESTORE_ALL_REGS
	POP_LINKS
	jmp	ftrace_leave_for_r11
SYM_FUNC_END(ftrace_regs_caller)
STACK_FRAME_NON_STANDARD_FP ftrace_regs_caller

/*
 * ftrace_leave_for_r11 - go on where %r11 says, as if the call site had called it
 *
 * What a call site may call need not begin with ENDBR, so this is no indirect
 * jump but a return. It has a call of its own to match, so that the CPU's return
 * stack still has what the call site and all before it have put there. The code
 * that it returns to accounts for that call, as if it had been called.
 */
SYM_CODE_START_LOCAL(ftrace_leave_for_r11)
	UNWIND_HINT_FUNC
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lleave
	int3
.Lleave:
	movq	%r11, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(ftrace_leave_for_r11)

/*
 * ftrace_stub - a callback that does nothing
 *
 * Called directly and through pointers, like any other callback.
 */
SYM_TYPED_FUNC_START(ftrace_stub)
	RET
SYM_FUNC_END(ftrace_stub)

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* ftrace_stub_direct_tramp - code for a call site to call that does nothing */
SYM_START(ftrace_stub_direct_tramp, SYM_L_GLOBAL, SYM_F_ALIGN)
	ENDBR
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(ftrace_stub_direct_tramp)
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* ftrace_stub_graph - the same where a function returns */
SYM_TYPED_FUNC_START(ftrace_stub_graph)
	RET
SYM_FUNC_END(ftrace_stub_graph)

/*
 * ftrace_graph_caller - what is called at ftrace_graph_call
 *
 * The stack is that of ftrace_caller or ftrace_regs_caller. The call at
 * ftrace_call has spoilt the arguments.
 */
SYM_START(ftrace_graph_caller, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
	movq	(FTRACE_SITE_RETURN + 8)(%rsp), %rdi
	movq	(FTRACE_SITE_RETURN + 16)(%rsp), %rsi
	subq	$MCOUNT_INSN_SIZE, %rdi
	leaq	8(%rsp), %rcx
	jmp	ftrace_graph_list_func
SYM_FUNC_END(ftrace_graph_caller)
STACK_FRAME_NON_STANDARD_FP ftrace_graph_caller

/*
 * return_to_handler - where a function whose return is hooked returns to
 *
 * What it returns is in %rax and %rdx. Its own return has taken the address of
 * this code off the stack, and what lies below the stack may be gone: so that
 * address is put back for an unwinder, which knows by it, and by where it is,
 * that the true one waits on the shadow stack.
 *
 * It leaves by a return, because an indirect jump would have to be guarded. For
 * that return it makes a call of its own: the traced function's return has used
 * up the entry of its call in the CPU's return stack, and the entries of the
 * outer calls must still match.
 */
SYM_CODE_START(return_to_handler)
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
	pushq	$return_to_handler
	UNWIND_HINT_FUNC
#ifdef CONFIG_FRAME_POINTER
	pushq	%rbp
	movq	%rsp, %rbp
#endif
	subq	$FTRACE_RETURN_SIZE, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rbp, RBP(%rsp)
	movq	%rsp, %rdi
	call	ftrace_return_to_handler
	movq	%rax, %rdi
	movq	RDX(%rsp), %rdx
	movq	RAX(%rsp), %rax
	addq	$FTRACE_RETURN_SIZE, %rsp
#ifdef CONFIG_FRAME_POINTER
	popq	%rbp
#endif
	addq	$8, %rsp
	UNWIND_HINT_UNDEFINED
	CALL_DEPTH_ACCOUNT
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lreturned
	int3
.Lreturned:
	movq	%rdi, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(return_to_handler)
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

.Lend:
	/* Whoever is in there is on the way to a callback, or back. */
	.section .rodata, "a"
	.balign	8
SYM_DATA(ftrace_entry_size, .quad .Lend - ftrace_caller)
