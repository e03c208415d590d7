// SPDX-License-Identifier: GPL-2.0
/*
 * A module that leaves something to be done after its exit, for the tests of
 * base/fixes: a function that waits, and then calls one that can be traced.
 */
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/module.h>

static int calls;

static noinline void fixes_async_traced(void)
{
	WRITE_ONCE(calls, READ_ONCE(calls) + 1);
}

static void later(void *data, async_cookie_t cookie)
{
	int i;

	/* Until the exit of the module is over, and somebody else has gone on. */
	for (i = 0; i < 50; i++) {
		msleep(100);
		fixes_async_traced();
	}
	pr_info("fixes_async: done\n");
}

static int __init fixes_async_init(void)
{
	return 0;
}

static void __exit fixes_async_exit(void)
{
	async_schedule(later, NULL);
}

module_init(fixes_async_init);
module_exit(fixes_async_exit);
MODULE_DESCRIPTION("Leave something to be done later");
MODULE_LICENSE("GPL");
