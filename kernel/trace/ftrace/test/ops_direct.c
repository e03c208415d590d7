// SPDX-License-Identifier: GPL-2.0
/*
 * The code that call sites call directly, for the kselftests, and what it answers when
 * it is to share a function with an ops that has FTRACE_OPS_FL_IPMODIFY.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/objtool.h>

#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>

#include "direct.h"

atomic_t ftrace_test_direct_others;

/* Whom to tell of a call; set before the first. */
void (*ftrace_test_direct_tell)(unsigned long ret);

/* Takes where the traced function goes on, after the call. */
notrace void ftrace_test_direct_seen(unsigned long ret)
{
	ftrace_test_direct_tell(ret);
}

/* No ENDBR: nothing but call sites may reach it, and they by a direct branch. */
asm("	.pushsection	.text, \"ax\", @progbits\n"
"	.type		ftrace_test_direct, @function\n"
"	.globl		ftrace_test_direct\n"
"ftrace_test_direct:\n"
	ANNOTATE_NOENDBR
"	pushq %rbp\n"
"	movq %rsp, %rbp\n"
	CALL_DEPTH_ACCOUNT
"	pushq %rax\n"
"	pushq %rdi\n"
"	pushq %rsi\n"
"	pushq %rdx\n"
"	pushq %rcx\n"
"	pushq %r8\n"
"	pushq %r9\n"
"	pushq %r10\n"
"	movq 8(%rbp), %rdi\n"
"	call ftrace_test_direct_seen\n"
"	popq %r10\n"
"	popq %r9\n"
"	popq %r8\n"
"	popq %rcx\n"
"	popq %rdx\n"
"	popq %rsi\n"
"	popq %rdi\n"
"	popq %rax\n"
"	leave\n"
	ASM_RET
"	.size		ftrace_test_direct, .-ftrace_test_direct\n"
"	.type		ftrace_test_direct_too, @function\n"
"	.globl		ftrace_test_direct_too\n"
"ftrace_test_direct_too:\n"
	ANNOTATE_NOENDBR
"	lock incl ftrace_test_direct_others(%rip)\n"
"	jmp ftrace_test_direct\n"
"	.size		ftrace_test_direct_too, .-ftrace_test_direct_too\n"
"	.popsection\n"
);

/* The errno of coming to the function of another, and of letting another come; or 0. */
static int self, peer;
module_param(self, int, 0600);
module_param(peer, int, 0600);

/* When it is told that it has its functions for itself again it is busy once. */
static bool busy;
module_param(busy, bool, 0600);

/* How often it has taken that. */
static int alone;
module_param(alone, int, 0400);

/*
 * Busy as BPF's is: whoever has its lock is about to change the code. Here that has
 * happened when the caller comes again.
 */
static int is_alone(struct ftrace_ops *op)
{
	if (busy) {
		busy = false;
		return modify_ftrace_direct_nolock(op, op->direct_call) ?: -EAGAIN;
	}
	alone++;
	return 0;
}

int ftrace_test_share(struct ftrace_ops *op, enum ftrace_ops_cmd cmd)
{
	switch (cmd) {
	case FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF:
		return -self;
	case FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER:
		return -peer;
	default:
		return is_alone(op);
	}
}
