// SPDX-License-Identifier: GPL-2.0
/*
 * A function of the same name as one in victim.c.
 */
#include "victim.h"

static noinline unsigned int ftrace_kunit_twin(void)
{
	return 301;
}

unsigned int (*const ftrace_kunit_twin1)(void) = ftrace_kunit_twin;
