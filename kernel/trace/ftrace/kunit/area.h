/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses among those of module text where there is no text.
 */
#ifndef _KERNEL_TRACE_FTRACE_KUNIT_AREA_H
#define _KERNEL_TRACE_FTRACE_KUNIT_AREA_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/pgtable.h>
#include <linux/unaligned.h>
#include <linux/vmalloc.h>

static inline void ftrace_test_area_free(void *p)
{
	vfree(p);
}

/**
 * ftrace_test_area - memory in the top 2 GiB that is not executable
 * @test: the test, which ends without it
 * @size: how many bytes
 *
 * Nobody else has these addresses as long as the test runs. There is no
 * page after the last one.
 *
 * Context: process, no lock held: the test may end here.
 * Return: its address.
 */
static inline unsigned long ftrace_test_area(struct kunit *test,
					     unsigned long size)
{
	void *p = __vmalloc_node_range(size, PAGE_SIZE, MODULES_VADDR,
				       MODULES_END, GFP_KERNEL | __GFP_ZERO,
				       PAGE_KERNEL, 0, NUMA_NO_NODE,
				       __builtin_return_address(0));

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, ftrace_test_area_free, p));
	return (unsigned long)p;
}

/* Write "call @target" to @ip. */
static inline void ftrace_test_put_call(unsigned long ip, unsigned long target)
{
	u8 *p = (u8 *)ip;

	p[0] = 0xe8;
	put_unaligned_le32(target - (ip + 5), p + 1);
}

#endif /* _KERNEL_TRACE_FTRACE_KUNIT_AREA_H */
