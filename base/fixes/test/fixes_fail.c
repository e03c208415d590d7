// SPDX-License-Identifier: GPL-2.0
/*
 * Have a function of the kernel fail, for the tests of base/fixes.
 *
 * The calls of @func are counted from when the module is loaded. @skip of them go
 * their way; the next @times return @ret at once.
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/objtool.h>

static char func[KSYM_NAME_LEN];
module_param_string(func, func, sizeof(func), 0);
static int skip;
module_param(skip, int, 0);
static int times = 1;
module_param(times, int, 0);
static int ret = -ENOMEM;
module_param(ret, int, 0);

/* Where the function goes on. A probe may not take back what is on the stack. */
asmlinkage void fixes_fail_return(void);
asm(".pushsection .text, \"ax\"\n"
	".type fixes_fail_return, @function\n"
	"fixes_fail_return:\n"
	ANNOTATE_NOENDBR
	ASM_RET
	".size fixes_fail_return, . - fixes_fail_return\n"
	".popsection\n");

static atomic_t calls;

static int on_entry(struct kprobe *p, struct pt_regs *regs)
{
	int call = atomic_fetch_inc(&calls);

	if (call < skip || call >= skip + times)
		return 0;
	pr_info("fixes_fail: %s returns %d\n", func, ret);
	regs->ax = ret;
	regs->ip = (unsigned long)fixes_fail_return;
	return 1;
}

/* A probe that has one is not optimized: what on_entry() returns counts. */
static void on_done(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name	= func,
	.pre_handler	= on_entry,
	.post_handler	= on_done,
};

static int __init fixes_fail_init(void)
{
	return register_kprobe(&probe);
}

static void __exit fixes_fail_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(fixes_fail_init);
module_exit(fixes_fail_exit);
MODULE_DESCRIPTION("Have a function fail");
MODULE_LICENSE("GPL");
