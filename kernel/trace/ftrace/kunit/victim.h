/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions with call sites that the tests may do with as they like.
 */
#ifndef _KERNEL_TRACE_FTRACE_KUNIT_VICTIM_H
#define _KERNEL_TRACE_FTRACE_KUNIT_VICTIM_H

#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/types.h>

#include "../ops/ops.h"

struct kunit;

#define FTRACE_NR_VICTIMS	3

/**
 * struct ftrace_victim - a function to be patched
 * @name: its name
 * @func: itself
 * @answer: what it returns, however its call site is patched
 */
struct ftrace_victim {
	const char	*name;
	unsigned int	(*func)(void);
	unsigned int	answer;
};

extern const struct ftrace_victim ftrace_victims[FTRACE_NR_VICTIMS];

/* Is an ops in a set? ftrace_lock. */
static inline bool ftrace_kunit_opset_has(u32 id, const struct ftrace_ops *ops)
{
	const struct ftrace_opset *set = ftrace_opset_find(id);
	unsigned int i;

	for (i = 0; set && i < set->nr; i++) {
		if (set->ops[i] == ops)
			return true;
	}
	return false;
}

bool ftrace_victim_recs(struct kunit *test, struct dyn_ftrace **recs);

unsigned int ftrace_kunit_victim0(void);
unsigned int ftrace_kunit_victim1(void);
unsigned int ftrace_kunit_victim2(void);

/* Another name of the first victim. */
unsigned int ftrace_kunit_alias(void);

/* Where the two functions are that are both called ftrace_kunit_twin. */
unsigned long ftrace_kunit_addr_twin0(void);
unsigned long ftrace_kunit_addr_twin1(void);

/* Called by nobody but the test of the recorder, so that it is not noted yet. */
unsigned int ftrace_kunit_unseen(void);

/* One with arguments, which answers with ftrace_kunit_six_answer() of them. */
unsigned long ftrace_kunit_six(unsigned long a, unsigned long b,
			       unsigned long c, unsigned long d,
			       unsigned long e, unsigned long f);

/* Where its call site is. */
static inline unsigned long ftrace_kunit_six_site(void)
{
	return ftrace_location((unsigned long)ftrace_kunit_six);
}

static __always_inline unsigned long
ftrace_kunit_six_answer(unsigned long a, unsigned long b, unsigned long c,
			unsigned long d, unsigned long e, unsigned long f)
{
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}

/* One with more arguments than there are registers for them. */
unsigned long ftrace_kunit_eight(unsigned long a, unsigned long b,
				 unsigned long c, unsigned long d,
				 unsigned long e, unsigned long f,
				 unsigned long g, unsigned long h);

static __always_inline unsigned long
ftrace_kunit_eight_answer(unsigned long a, unsigned long b, unsigned long c,
			  unsigned long d, unsigned long e, unsigned long f,
			  unsigned long g, unsigned long h)
{
	return ftrace_kunit_six_answer(a, b, c, d, e, f) + 1000000 * g +
	       10000000 * h;
}

/*
 * Calls it with 1 to 8, with these in the registers, so that it returns to this
 * place.
 */
#define FTRACE_KUNIT_FRAME	0x1234567
#define FTRACE_KUNIT_AX		0x7654321

unsigned long ftrace_kunit_call_eight(void);
extern const u8 ftrace_kunit_eight_returns[];

/* No call site of its own: what a victim's can be made to call. */
void ftrace_kunit_target(void);

/* The same, but it leaves all registers as they are. */
void ftrace_kunit_target_tramp(void);
extern atomic_t ftrace_kunit_hits;

#endif /* _KERNEL_TRACE_FTRACE_KUNIT_VICTIM_H */
