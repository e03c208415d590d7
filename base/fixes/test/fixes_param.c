// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a parameter that takes long to read, for the tests of base/fixes: it
 * waits, and calls a function that can be traced, again and again, until the reader gets
 * a signal.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

static int calls;

static noinline void fixes_param_traced(void)
{
	WRITE_ONCE(calls, READ_ONCE(calls) + 1);
}

static int slow_get(char *buffer, const struct kernel_param *kp)
{
	int i;

	/* Ten minutes, if the signal does not come. */
	for (i = 0; i < 6000 && !signal_pending(current); i++) {
		msleep(100);
		fixes_param_traced();
	}
	return scnprintf(buffer, PAGE_SIZE, "done\n");
}

static const struct kernel_param_ops slow_ops = {
	.get	= slow_get,
};
module_param_cb(slow, &slow_ops, NULL, 0400);

static int __init fixes_param_init(void)
{
	return 0;
}

static void __exit fixes_param_exit(void)
{
}

module_init(fixes_param_init);
module_exit(fixes_param_exit);
MODULE_DESCRIPTION("Have a parameter that is read for long");
MODULE_LICENSE("GPL");
