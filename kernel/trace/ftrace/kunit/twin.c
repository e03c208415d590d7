// SPDX-License-Identifier: GPL-2.0
/*
 * A function of the same name as one in victim.c.
 */
#include "victim.h"

static noinline unsigned int ftrace_kunit_twin(void)
{
	return 301;
}

unsigned long ftrace_kunit_addr_twin1(void)
{
	return (unsigned long)ftrace_kunit_twin;
}
