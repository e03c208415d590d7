// SPDX-License-Identifier: GPL-2.0
/*
 * A module with functions to be traced, for the kselftests: such as run while
 * it loads, when asked for, all the time, and while it leaves.
 *
 * In debugfs, below ftrace_test_mod/:
 *
 * run     takes "NAME COUNT" and runs a function of this file; "* COUNT" runs
 *         all of them in turn
 * counts  how often each of them ran
 *
 * Parameter busy=N: so many threads run ftrace_test_mod_busy() all the time. While
 * the parameter hold is 1, which it can become at any time, they have no rest, and
 * whoever waits for all tasks to have one does not get on.
 */

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "run.h"

static unsigned int busy;
module_param(busy, uint, 0444);
MODULE_PARM_DESC(busy, "number of threads that run ftrace_test_mod_busy()");

static bool hold;
module_param(hold, bool, 0644);
MODULE_PARM_DESC(hold, "let no grace period of RCU-tasks end, if there is a busy thread");

/* Functions that do not run until they are asked to: f00 .. f37. */
FTRACE_TEST_FUNC(ftrace_test_mod_f00)
FTRACE_TEST_FUNC(ftrace_test_mod_f01)
FTRACE_TEST_FUNC(ftrace_test_mod_f02)
FTRACE_TEST_FUNC(ftrace_test_mod_f03)
FTRACE_TEST_FUNC(ftrace_test_mod_f04)
FTRACE_TEST_FUNC(ftrace_test_mod_f05)
FTRACE_TEST_FUNC(ftrace_test_mod_f06)
FTRACE_TEST_FUNC(ftrace_test_mod_f07)
FTRACE_TEST_FUNC(ftrace_test_mod_f10)
FTRACE_TEST_FUNC(ftrace_test_mod_f11)
FTRACE_TEST_FUNC(ftrace_test_mod_f12)
FTRACE_TEST_FUNC(ftrace_test_mod_f13)
FTRACE_TEST_FUNC(ftrace_test_mod_f14)
FTRACE_TEST_FUNC(ftrace_test_mod_f15)
FTRACE_TEST_FUNC(ftrace_test_mod_f16)
FTRACE_TEST_FUNC(ftrace_test_mod_f17)
FTRACE_TEST_FUNC(ftrace_test_mod_f20)
FTRACE_TEST_FUNC(ftrace_test_mod_f21)
FTRACE_TEST_FUNC(ftrace_test_mod_f22)
FTRACE_TEST_FUNC(ftrace_test_mod_f23)
FTRACE_TEST_FUNC(ftrace_test_mod_f24)
FTRACE_TEST_FUNC(ftrace_test_mod_f25)
FTRACE_TEST_FUNC(ftrace_test_mod_f26)
FTRACE_TEST_FUNC(ftrace_test_mod_f27)
FTRACE_TEST_FUNC(ftrace_test_mod_f30)
FTRACE_TEST_FUNC(ftrace_test_mod_f31)
FTRACE_TEST_FUNC(ftrace_test_mod_f32)
FTRACE_TEST_FUNC(ftrace_test_mod_f33)
FTRACE_TEST_FUNC(ftrace_test_mod_f34)
FTRACE_TEST_FUNC(ftrace_test_mod_f35)
FTRACE_TEST_FUNC(ftrace_test_mod_f36)
FTRACE_TEST_FUNC(ftrace_test_mod_f37)
FTRACE_TEST_FUNC(ftrace_test_mod_victim)
/* There is one of that name in the kernel, too. */
FTRACE_TEST_FUNC(ftrace_test_twin)
FTRACE_TEST_FUNC(ftrace_test_mod_busy)
FTRACE_TEST_FUNC(ftrace_test_mod_at_init)
FTRACE_TEST_FUNC(ftrace_test_mod_at_exit)

/* Another name of the same function. */
static void __used __alias(ftrace_test_mod_f00) ftrace_test_mod_alias(void);

static struct ftrace_test_func funcs[] = {
	FTRACE_TEST_ENTRY(ftrace_test_mod_f00),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f01),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f02),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f03),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f04),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f05),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f06),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f07),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f10),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f11),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f12),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f13),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f14),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f15),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f16),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f17),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f20),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f21),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f22),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f23),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f24),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f25),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f26),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f27),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f30),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f31),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f32),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f33),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f34),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f35),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f36),
	FTRACE_TEST_ENTRY(ftrace_test_mod_f37),
	FTRACE_TEST_ENTRY(ftrace_test_mod_victim),
	FTRACE_TEST_ENTRY(ftrace_test_twin),
	FTRACE_TEST_ENTRY(ftrace_test_mod_busy),
	FTRACE_TEST_ENTRY(ftrace_test_mod_at_init),
	FTRACE_TEST_ENTRY(ftrace_test_mod_at_exit),
};

static ssize_t run_write(struct file *file, const char __user *ubuf, size_t cnt,
			 loff_t *ppos)
{
	return ftrace_test_run(funcs, ARRAY_SIZE(funcs), ubuf, cnt) ?: cnt;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= run_write,
};

static int counts_show(struct seq_file *m, void *v)
{
	ftrace_test_show_calls(funcs, ARRAY_SIZE(funcs), m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int busy_thread(void *unused)
{
	while (!kthread_should_stop()) {
		ftrace_test_mod_busy();
		/* A grace period of RCU-tasks waits until every task has rested. */
		if (READ_ONCE(hold))
			cpu_relax();
		else
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

#define MAX_BUSY 8
static struct task_struct *threads[MAX_BUSY];
static struct dentry *dir;

static void stop_threads(void)
{
	unsigned int i;

	for (i = 0; i < MAX_BUSY; i++)
		if (threads[i])
			kthread_stop(threads[i]);
}

/* Text of its own, gone once the module is loaded. */
static noinline void __init ftrace_test_mod_in_init(void)
{
	barrier();
}

static int __init ftrace_test_mod_init(void)
{
	unsigned int i;

	ftrace_test_mod_in_init();
	ftrace_test_mod_at_init();

	for (i = 0; i < min_t(unsigned int, busy, MAX_BUSY); i++) {
		struct task_struct *t = kthread_run(busy_thread, NULL,
						    "ftrace_test/%u", i);

		if (IS_ERR(t)) {
			stop_threads();
			return PTR_ERR(t);
		}
		threads[i] = t;
	}

	dir = debugfs_create_dir("ftrace_test_mod", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("counts", 0400, dir, NULL, &counts_fops);
	return 0;
}
module_init(ftrace_test_mod_init);

static void __exit ftrace_test_mod_exit(void)
{
	debugfs_remove(dir);
	stop_threads();
	ftrace_test_mod_at_exit();
}
module_exit(ftrace_test_mod_exit);

MODULE_DESCRIPTION("Functions for the kselftests of ftrace to trace");
MODULE_LICENSE("GPL");
