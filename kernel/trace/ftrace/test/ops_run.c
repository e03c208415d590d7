// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own face of ftrace, for the kselftests: ops that are made,
 * given filters, registered and freed as a test says, and what they saw.
 *
 * In debugfs, below ftrace_test_ops/:
 *
 * cmd     takes one command. I is the number of an ops, 0 to 15; the first
 *         command that names an ops makes it:
 *           flag I NAME             set a flag: regs, regs-if, recursion, rcu,
 *                                   permanent, ipmodify; or direct: register
 *                                   and unregister are for a direct call, of
 *                                   one ops at a time; or share: it can live
 *                                   with an ops that has ipmodify, as the
 *                                   parameters in ops_direct.c say; or
 *                                   redirect: have the function do nothing but
 *                                   return; or recurse: call what is traced,
 *                                   too; or hold: keep whoever calls it for as
 *                                   long as the module's parameter hold is Y
 *           name I NAME             give it a name
 *           array I INSTANCE        have it in the function_tracers of that one
 *           filter I GLOB [add]     ftrace_set_filter()
 *           notrace I GLOB [add]    ftrace_set_notrace()
 *           ip I ADDRESS [add]      ftrace_set_filter_ip()
 *           rmip I ADDRESS          the same, to remove it
 *           free I                  ftrace_free_filter()
 *           global I                ftrace_ops_set_global_filter()
 *           register I              register_ftrace_function()
 *           unregister I            unregister_ftrace_function()
 *           modify I                modify_ftrace_direct(), to other code that
 *                                   counts, too, or back
 *           zero I                  set its counts to 0
 *           drop I                  unregister it if need be, and free it
 * result  what the last command returned: 0 or a negative error
 * seen    a line "I FUNCTION COUNT" for each function an ops was called from
 * other   how often the other code was called
 *
 * Commands are for one test at a time: they take turns, and that is all.
 */

#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/trace.h>

#include "direct.h"
#include "run.h"

#define NR_OPS		16
#define NR_SEEN		64

/**
 * struct test_ops - an ops and what it saw
 * @ops: the ops
 * @registered: register_ftrace_function() took it
 * @direct: the code for register_ftrace_direct(); 0: it is not for that
 * @redirect: it sends the function to its end
 * @recurse: its callback calls a function that can be traced
 * @hold: its callback keeps its callers while hold says so
 * @seen: the call sites it was called from, and how often
 * @other: calls for which there was no room in @seen
 *
 * @seen grows from its start; a slot is claimed by cmpxchg in any context.
 */
struct test_ops {
	struct ftrace_ops	ops;
	bool			registered;
	unsigned long		direct;
	bool			redirect;
	bool			recurse;
	bool			hold;
	struct {
		unsigned long	ip;
		atomic_t	calls;
	} seen[NR_SEEN];
	atomic_t		other;
};

static struct test_ops *all_ops[NR_OPS];
static int result;
static DEFINE_MUTEX(cmd_lock);

/* Not a command: whoever drops an ops that is held has cmd_lock. */
static bool hold;
module_param(hold, bool, 0600);

static notrace void count_call(struct test_ops *t, unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < NR_SEEN; i++) {
		unsigned long was = READ_ONCE(t->seen[i].ip);

		if (!was)
			was = cmpxchg(&t->seen[i].ip, 0, ip) ?: ip;
		if (was == ip) {
			atomic_inc(&t->seen[i].calls);
			return;
		}
	}
	atomic_inc(&t->other);
}

/* Looks at @t all the time: KASAN sees if it is freed meanwhile. */
static notrace void stay(struct test_ops *t)
{
	while (READ_ONCE(t->hold) && READ_ONCE(hold))
		cpu_relax();
}

/* What a callback that needs protection calls. */
static noinline void ftrace_test_ops_called(void)
{
	barrier();
}

/* Where a function goes on that is to do nothing. */
static notrace noinline void ftrace_test_ops_nothing(void)
{
	barrier();
}

static notrace void test_callback(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct test_ops *t = container_of(op, struct test_ops, ops);

	count_call(t, ip);
	stay(t);
	if (t->recurse)
		ftrace_test_ops_called();
	if (t->redirect)
		ftrace_regs_set_instruction_pointer(fregs,
						    (unsigned long)ftrace_test_ops_nothing);
}

/* ---- a direct call --------------------------------------------------------- */

/* The code that is called does not know for whom. */
static struct test_ops *direct_ops;

static notrace void direct_seen(unsigned long ret)
{
	struct test_ops *t = READ_ONCE(direct_ops);

	count_call(t, ret - MCOUNT_INSN_SIZE);
	stay(t);
}

static int set_direct(struct test_ops *t)
{
	if (direct_ops)
		return -EBUSY;
	t->direct = (unsigned long)ftrace_test_direct;
	t->ops.func = NULL;
	ftrace_test_direct_tell = direct_seen;
	WRITE_ONCE(direct_ops, t);
	return 0;
}

static int test_register(struct test_ops *t)
{
	int ret;

	if (t->direct)
		ret = register_ftrace_direct(&t->ops, t->direct);
	else
		ret = register_ftrace_function(&t->ops);
	if (!ret)
		t->registered = true;
	return ret;
}

static int test_unregister(struct test_ops *t)
{
	int ret;

	if (t->direct)
		ret = unregister_ftrace_direct(&t->ops, t->direct, false);
	else
		ret = unregister_ftrace_function(&t->ops);
	if (!ret)
		t->registered = false;
	return ret;
}

static int test_modify(struct test_ops *t)
{
	unsigned long one = (unsigned long)ftrace_test_direct;
	unsigned long other = t->direct == one ?
		(unsigned long)ftrace_test_direct_too : one;
	int ret = modify_ftrace_direct(&t->ops, other);

	if (!ret)
		t->direct = other;
	return ret;
}

/* ---- commands -------------------------------------------------------------- */

static struct test_ops *get_ops(unsigned int nr)
{
	if (!all_ops[nr]) {
		struct test_ops *t = kzalloc(sizeof(*t), GFP_KERNEL);

		if (!t)
			return NULL;
		t->ops.func = test_callback;
		all_ops[nr] = t;
	}
	return all_ops[nr];
}

static void zero_counts(struct test_ops *t)
{
	memset(t->seen, 0, sizeof(t->seen));
	atomic_set(&t->other, 0);
}

static int drop(unsigned int nr)
{
	struct test_ops *t = all_ops[nr];
	int ret = 0;

	if (t->registered)
		ret = test_unregister(t);
	ftrace_free_filter(&t->ops);
	if (direct_ops == t)
		direct_ops = NULL;
	if (t->ops.tr)
		trace_array_put(t->ops.tr);
	kfree(t->ops.name);
	/* Code that still calls it shall not get away with it. */
	memset(t, 0x6b, sizeof(*t));
	kfree(t);
	all_ops[nr] = NULL;
	return ret;
}

static bool is_set(const char *name, const char *wanted, bool *flag)
{
	*flag |= !strcmp(name, wanted);
	return !strcmp(name, wanted);
}

static int set_flag(struct test_ops *t, const char *name)
{
	static const struct {
		const char	*name;
		unsigned long	flag;
	} flags[] = {
		{ "regs",	FTRACE_OPS_FL_SAVE_REGS },
		{ "regs-if",	FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED },
		{ "recursion",	FTRACE_OPS_FL_RECURSION },
		{ "rcu",	FTRACE_OPS_FL_RCU },
		{ "permanent",	FTRACE_OPS_FL_PERMANENT },
		{ "ipmodify",	FTRACE_OPS_FL_IPMODIFY },
	};
	unsigned int i;

	if (!strcmp(name, "direct"))
		return set_direct(t);
	if (!strcmp(name, "share")) {
		t->ops.ops_func = ftrace_test_share;
		return 0;
	}
	if (is_set(name, "redirect", &t->redirect) ||
	    is_set(name, "recurse", &t->recurse) || is_set(name, "hold", &t->hold))
		return 0;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!strcmp(name, flags[i].name)) {
			t->ops.flags |= flags[i].flag;
			return 0;
		}
	}
	return -ENOENT;
}

static int set_name(struct test_ops *t, const char *name)
{
	if (t->ops.name)
		return -EBUSY;
	t->ops.name = kstrdup(name, GFP_KERNEL);
	return t->ops.name ? 0 : -ENOMEM;
}

static int set_array(struct test_ops *t, const char *name)
{
	if (t->ops.tr)
		return -EBUSY;
	t->ops.tr = trace_array_get_by_name(name, NULL);
	return t->ops.tr ? 0 : -ENOENT;
}

static int set_ip(struct ftrace_ops *ops, const char *word, int remove, int reset)
{
	unsigned long ip;

	return kstrtoul(word, 16, &ip) ?: ftrace_set_filter_ip(ops, ip, remove, reset);
}

/* Commands that are no more than the number of an ops. */
static int command(const char *cmd, unsigned int nr, struct test_ops *t)
{
	if (!strcmp(cmd, "register"))
		return test_register(t);
	if (!strcmp(cmd, "unregister"))
		return test_unregister(t);
	if (!strcmp(cmd, "modify"))
		return test_modify(t);
	if (!strcmp(cmd, "zero")) {
		zero_counts(t);
		return 0;
	}
	if (!strcmp(cmd, "free")) {
		ftrace_free_filter(&t->ops);
		return 0;
	}
	if (!strcmp(cmd, "global")) {
		ftrace_ops_set_global_filter(&t->ops);
		return 0;
	}
	if (!strcmp(cmd, "drop"))
		return drop(nr);
	return -EBADRQC;
}

/* Commands that take one thing more. */
static int command_with(const char *cmd, struct test_ops *t, char *what, bool add)
{
	unsigned char *glob = (unsigned char *)what;
	struct ftrace_ops *ops = &t->ops;

	if (!strcmp(cmd, "flag"))
		return set_flag(t, what);
	if (!strcmp(cmd, "name"))
		return set_name(t, what);
	if (!strcmp(cmd, "array"))
		return set_array(t, what);
	if (!strcmp(cmd, "filter"))
		return ftrace_set_filter(ops, glob, strlen(what), !add);
	if (!strcmp(cmd, "notrace"))
		return ftrace_set_notrace(ops, glob, strlen(what), !add);
	if (!strcmp(cmd, "ip"))
		return set_ip(ops, what, 0, !add);
	if (!strcmp(cmd, "rmip"))
		return set_ip(ops, what, 1, 0);
	return -EBADRQC;
}

static int run_command(char *line)
{
	char *cmd = strsep(&line, " ");
	char *word = strsep(&line, " ");
	char *what = strsep(&line, " ");
	bool add = line && !strcmp(line, "add");
	struct test_ops *t;
	unsigned int nr;

	if ((line && !add) || !word || kstrtouint(word, 10, &nr) || nr >= NR_OPS)
		return -EBADRQC;
	t = get_ops(nr);
	if (!t)
		return -ENOMEM;
	if (what)
		return command_with(cmd, t, what, add);
	return command(cmd, nr, t);
}

static ssize_t cmd_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char *line = ftrace_test_line(ubuf, cnt);
	int ret;

	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&cmd_lock);
	ret = run_command(line);
	result = ret;
	mutex_unlock(&cmd_lock);
	kfree(line);
	return ret ?: cnt;
}

static const struct file_operations cmd_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= cmd_write,
};

static int result_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", result);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int seen_show(struct seq_file *m, void *v)
{
	unsigned int nr, i;

	guard(mutex)(&cmd_lock);
	for (nr = 0; nr < NR_OPS; nr++) {
		struct test_ops *t = all_ops[nr];

		if (!t)
			continue;
		for (i = 0; i < NR_SEEN && t->seen[i].ip; i++)
			seq_printf(m, "%u %ps %d\n", nr, (void *)t->seen[i].ip,
				   atomic_read(&t->seen[i].calls));
		if (atomic_read(&t->other))
			seq_printf(m, "%u other %d\n", nr, atomic_read(&t->other));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(seen);

static struct dentry *dir;

static int __init ftrace_test_ops_init(void)
{
	dir = debugfs_create_dir("ftrace_test_ops", NULL);
	debugfs_create_file("cmd", 0200, dir, NULL, &cmd_fops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	debugfs_create_file("seen", 0400, dir, NULL, &seen_fops);
	debugfs_create_atomic_t("other", 0400, dir, &ftrace_test_direct_others);
	return 0;
}
module_init(ftrace_test_ops_init);

static void __exit ftrace_test_ops_exit(void)
{
	unsigned int nr;

	debugfs_remove(dir);
	for (nr = 0; nr < NR_OPS; nr++)
		if (all_ops[nr])
			drop(nr);
}
module_exit(ftrace_test_ops_exit);

MODULE_DESCRIPTION("Users of ftrace, as the kselftests want them");
MODULE_LICENSE("GPL");
