// SPDX-License-Identifier: GPL-2.0
/*
 * The examples of Documentation/trace/ftrace-sets-uses.rst, which includes parts
 * of this file: see there for what they show.
 *
 * In debugfs, below ftrace_example/:
 *
 * calls   how often the functions were called that the parameter function names
 * answer  what example_answer() returns
 * better  1: example_answer() goes on in example_better_answer(); 0: it does not
 */
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/slab.h>

/* Counting the calls of functions. */
struct counter {
	struct ftrace_ops	ops;
	atomic_long_t		calls;
	unsigned long		first_arg;
};

static void notrace count_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct counter *c = container_of(op, struct counter, ops);
	int bit;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	atomic_long_inc(&c->calls);
	if (ftrace_regs_has_args(fregs))
		WRITE_ONCE(c->first_arg, ftrace_regs_get_argument(fregs, 0));
	ftrace_test_recursion_unlock(bit);
}

static struct counter *counter_start(char *pattern)
{
	struct counter *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int ret;

	if (!c)
		return ERR_PTR(-ENOMEM);
	c->ops.func = count_call;
	ret = ftrace_set_filter(&c->ops, pattern, strlen(pattern), 1);
	if (!ret)
		ret = register_ftrace_function(&c->ops);
	if (ret) {
		ftrace_free_filter(&c->ops);
		kfree(c);
		return ERR_PTR(ret);
	}
	return c;
}

static void counter_stop(struct counter *c)
{
	unregister_ftrace_function(&c->ops);
	ftrace_free_filter(&c->ops);
	kfree(c);
}

/* Sending the callers of one function to another. */
static noinline __noclone int example_answer(void)
{
	return 41;
}

static noinline __noclone int example_better_answer(void)
{
	return 42;
}

static void notrace go_on_elsewhere(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *op,
				    struct ftrace_regs *fregs)
{
	unsigned long to = (unsigned long)op->private;

	ftrace_regs_set_instruction_pointer(fregs, to);
}

static struct ftrace_ops detour = {
	.func		= go_on_elsewhere,
	.flags		= FTRACE_OPS_FL_IPMODIFY,
	.private	= example_better_answer,
};

static int detour_start(void)
{
	unsigned long from = (unsigned long)example_answer;
	int ret;

	ret = ftrace_set_filter_ip(&detour, from, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&detour);
	if (ret)
		ftrace_free_filter(&detour);
	return ret;
}

static void detour_stop(void)
{
	unregister_ftrace_function(&detour);
	ftrace_free_filter(&detour);
}

/* What the kselftest sees of it, in debugfs. */
static char *function = "vfs_read";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "the function to count, or a pattern for several");

static struct counter *counter;
static bool better;
static struct dentry *dir;

static int calls_get(void *data, u64 *val)
{
	*val = atomic_long_read(&counter->calls);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(calls_fops, calls_get, NULL, "%llu\n");

static int answer_get(void *data, u64 *val)
{
	*val = example_answer();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(answer_fops, answer_get, NULL, "%llu\n");

static int better_get(void *data, u64 *val)
{
	*val = READ_ONCE(better);
	return 0;
}

static int better_set(void *data, u64 val)
{
	static DEFINE_MUTEX(lock);	/* of @better */
	int ret = 0;

	guard(mutex)(&lock);
	if (!!val == better)
		return 0;
	if (val)
		ret = detour_start();
	else
		detour_stop();
	if (!ret)
		WRITE_ONCE(better, val);
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(better_fops, better_get, better_set, "%llu\n");

static int __init ftrace_example_init(void)
{
	counter = counter_start(function);
	if (IS_ERR(counter))
		return PTR_ERR(counter);
	dir = debugfs_create_dir("ftrace_example", NULL);
	debugfs_create_file("calls", 0400, dir, NULL, &calls_fops);
	debugfs_create_file("answer", 0400, dir, NULL, &answer_fops);
	debugfs_create_file("better", 0600, dir, NULL, &better_fops);
	return 0;
}
module_init(ftrace_example_init);

static void __exit ftrace_example_exit(void)
{
	debugfs_remove(dir);
	if (better)
		detour_stop();
	counter_stop(counter);
}
module_exit(ftrace_example_exit);

MODULE_DESCRIPTION("The examples of ftrace-sets-uses.rst");
MODULE_LICENSE("GPL");
