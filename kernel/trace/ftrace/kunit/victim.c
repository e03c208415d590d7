// SPDX-License-Identifier: GPL-2.0
/*
 * Functions with call sites that the tests may do with as they like.
 *
 * No two of them are alike, or the compiler would make one of them.
 */
#include <kunit/test.h>
#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/stringify.h>
#include <asm/asm-offsets.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#include "../ops/ops.h"
#include "victim.h"

noinline unsigned int ftrace_kunit_victim0(void)
{
	return 100;
}

noinline unsigned int ftrace_kunit_victim1(void)
{
	return 101;
}

noinline unsigned int ftrace_kunit_victim2(void)
{
	return 102;
}

unsigned int __alias(ftrace_kunit_victim0) ftrace_kunit_alias(void);

const struct ftrace_victim ftrace_victims[FTRACE_NR_VICTIMS] = {
	{ "ftrace_kunit_victim0", ftrace_kunit_victim0, 100 },
	{ "ftrace_kunit_victim1", ftrace_kunit_victim1, 101 },
	{ "ftrace_kunit_victim2", ftrace_kunit_victim2, 102 },
};

/**
 * ftrace_victim_recs - the records of the victims
 * @test: the test, which fails where there are none
 * @recs: room for FTRACE_NR_VICTIMS; they come in the order of addresses
 *
 * Context: process, ftrace_lock.
 * Return: true if each is a nop that nobody traces.
 */
bool ftrace_victim_recs(struct kunit *test, struct dyn_ftrace **recs)
{
	u32 sites[FTRACE_NR_VICTIMS];
	unsigned int i, j;

	lockdep_assert_held(&ftrace_lock);
	for (i = 0; i < FTRACE_NR_VICTIMS; i++) {
		unsigned long addr = (unsigned long)ftrace_victims[i].func;
		u32 key = ftrace_text_key(ftrace_location(addr));

		for (j = i; j && sites[j - 1] > key; j--)
			sites[j] = sites[j - 1];
		sites[j] = key;
	}
	KUNIT_EXPECT_EQ(test, 0, ftrace_discover_sites(sites, FTRACE_NR_VICTIMS));
	KUNIT_EXPECT_LE(test, 0, ftrace_settle());

	for (i = 0; i < FTRACE_NR_VICTIMS; i++) {
		recs[i] = ftrace_rec_find(ftrace_text_addr(sites[i]));
		KUNIT_EXPECT_NOT_NULL(test, recs[i]);
		if (!recs[i])
			return false;
		if ((recs[i]->state & ~FTRACE_REC_KEPT) ||
		    ftrace_rec_text(recs[i])) {
			KUNIT_FAIL(test, "someone traces %ps (%#x)",
				   (void *)ftrace_rec_ip(recs[i]),
				   recs[i]->state);
			return false;
		}
		KUNIT_EXPECT_TRUE(test, ftrace_text_matches(sites[i], 0));
	}
	return true;
}

static noinline unsigned int ftrace_kunit_twin(void)
{
	return 300;
}

unsigned long ftrace_kunit_addr_twin0(void)
{
	return (unsigned long)ftrace_kunit_twin;
}

noinline unsigned int ftrace_kunit_unseen(void)
{
	return 200;
}

noinline unsigned long ftrace_kunit_six(unsigned long a, unsigned long b,
					unsigned long c, unsigned long d,
					unsigned long e, unsigned long f)
{
	return ftrace_kunit_six_answer(a, b, c, d, e, f);
}

noinline unsigned long ftrace_kunit_eight(unsigned long a, unsigned long b,
					  unsigned long c, unsigned long d,
					  unsigned long e, unsigned long f,
					  unsigned long g, unsigned long h)
{
	return ftrace_kunit_eight_answer(a, b, c, d, e, f, g, h);
}

/*
 * With room before it: of a function that begins with an endbr64 and whose address nobody
 * takes, FineIBT makes the hash zero that it expects 16 bytes before.
 */
asm("	.pushsection    .text, \"ax\", @progbits\n"
	ASM_FUNC_ALIGN "\n"
"	.type		ftrace_kunit_call_eight, @function\n"
"	.globl		ftrace_kunit_call_eight\n"
"ftrace_kunit_call_eight:\n"
	ASM_ENDBR
	CALL_DEPTH_ACCOUNT
"	pushq		%rbp\n"
"	movq		$" __stringify(FTRACE_KUNIT_FRAME) ", %rbp\n"
"	movl		$" __stringify(FTRACE_KUNIT_AX) ", %eax\n"
"	movl		$1, %edi\n"
"	movl		$2, %esi\n"
"	movl		$3, %edx\n"
"	movl		$4, %ecx\n"
"	movl		$5, %r8d\n"
"	movl		$6, %r9d\n"
"	pushq		$8\n"
"	pushq		$7\n"
"	call		ftrace_kunit_eight\n"
"	.globl		ftrace_kunit_eight_returns\n"
"ftrace_kunit_eight_returns:\n"
	ANNOTATE_NOENDBR
"	addq		$16, %rsp\n"
"	popq		%rbp\n"
	ASM_RET
"	.size		ftrace_kunit_call_eight, .-ftrace_kunit_call_eight\n"
"	.popsection\n"
);
STACK_FRAME_NON_STANDARD_FP(ftrace_kunit_call_eight);

atomic_t ftrace_kunit_hits;

/*
 * It is called from a place where the compiler sees no call, which is the entry
 * of a function without arguments: it may spoil what any callee may.
 */
noinline notrace void ftrace_kunit_target(void)
{
	atomic_inc(&ftrace_kunit_hits);
}

asm("	.pushsection    .text, \"ax\", @progbits\n"
	ASM_FUNC_ALIGN "\n"
"	.type		ftrace_kunit_target_tramp, @function\n"
"	.globl		ftrace_kunit_target_tramp\n"
"ftrace_kunit_target_tramp:\n"
	ASM_ENDBR
	CALL_DEPTH_ACCOUNT
"	lock incl	ftrace_kunit_hits(%rip)\n"
	ASM_RET
"	.size		ftrace_kunit_target_tramp, .-ftrace_kunit_target_tramp\n"
"	.popsection\n"
);
