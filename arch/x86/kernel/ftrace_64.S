/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the call sites of the function tracer lead to.
 *
 * All of this is reached by a direct call from a function's entry, before its
 * first own instruction: the arguments are in their registers, %rax may hold
 * the number of vector arguments and %r10 the static chain. %r11 and the flags
 * are free. The call was not one that callthunks knows (it was patched behind
 * its back, or is exempt from it), so each entry accounts for itself.
 */
#include <linux/cfi_types.h>
#include <linux/export.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/unwind_hints.h>

#include "../../../kernel/trace/ftrace/notes.h"

	/* A probe in here would run into itself. */
	.section .noinstr.text, "ax"

#ifdef CONFIG_FRAME_POINTER
/*
 * The traced function has not pushed %rbp yet: make its frame for it, and one
 * for ourselves above. is_last_ftrace_frame() in unwind_frame.c knows this
 * layout; the first push is there for it.
 */
#define LINKS_SIZE	40

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
	addq	$(LINKS_SIZE - 8), %rsp
	popq	%rbp
.endm
#else
#define LINKS_SIZE	0

.macro PUSH_LINKS
.endm

.macro POP_LINKS
.endm
#endif

/*
 * A pt_regs, filled as far as a callee may spoil it. Together with the links it
 * is a multiple of 16, so that the callee's stack is as aligned as that of the
 * traced function. (The kernel itself only keeps it to 8.)
 */
#define REGS_SIZE	(FRAME_SIZE + (LINKS_SIZE + FRAME_SIZE) % 16)

.macro SAVE_ARGS
	subq	$REGS_SIZE, %rsp
	movq	%rdi, RDI(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rax, RAX(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	movq	%r10, R10(%rsp)
.endm

.macro RESTORE_ARGS
	movq	R10(%rsp), %r10
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RAX(%rsp), %rax
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
	addq	$REGS_SIZE, %rsp
.endm

/* Return address into the traced function; that of its caller is above it. */
#define SITE_RETURN	(REGS_SIZE + LINKS_SIZE)

/*
 * __fentry__ - what every call site calls until it is patched
 *
 * Until ftrace_text_arm_recorder() a bare return, so that it can be called with
 * no per-CPU data, no stack to speak of and the kernel not yet where it was
 * linked to. Then the recorder: note the site, once.
 *
 * It runs in every context there is. What it may rely on is a stack and the
 * kernel's mapping; it takes no lock and faults on nothing.
 *
 * No ENDBR: nothing calls it through a pointer.
 */
SYM_CODE_START(__fentry__)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
SYM_INNER_LABEL(ftrace_recorder_switch, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	/*
	 * A two-byte jump, which arming turns into a two-byte pushq %rax. The
	 * hint is for the code behind it as it is after that.
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
	RET
SYM_CODE_END(__fentry__)
EXPORT_SYMBOL(__fentry__)

/*
 * ftrace_caller - call the one function that ftrace_call names
 *
 * The trampoline of last resort: it serves every set of ops, by calling a
 * function that looks up who wants to know. ftrace_update_ftrace_func() says
 * which. It is called with the call site, the return address of the traced
 * function, and no ops and no registers.
 */
SYM_START(ftrace_caller, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	CALL_DEPTH_ACCOUNT
	PUSH_LINKS
	SAVE_ARGS
	movq	SITE_RETURN(%rsp), %rdi
	movq	SITE_RETURN + 8(%rsp), %rsi
	subq	$MCOUNT_INSN_SIZE, %rdi
	xorl	%edx, %edx
	xorl	%ecx, %ecx
SYM_INNER_LABEL(ftrace_call, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	call	ftrace_stub
	RESTORE_ARGS
	POP_LINKS
	RET
SYM_FUNC_END(ftrace_caller)
STACK_FRAME_NON_STANDARD_FP ftrace_caller

/*
 * ftrace_stub - a callback that does nothing
 *
 * Called directly and through pointers, like any other callback.
 */
SYM_TYPED_FUNC_START(ftrace_stub)
	RET
SYM_FUNC_END(ftrace_stub)
