/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that a test lets run as often as it likes, and how often they ran.
 */
#ifndef _KERNEL_TRACE_FTRACE_TEST_RUN_H
#define _KERNEL_TRACE_FTRACE_TEST_RUN_H

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

struct dentry;

/* More than enough for "NAME COUNT". */
#define FTRACE_TEST_LINE	256

/**
 * struct ftrace_test_func - a function to be traced
 * @name: its name
 * @func: itself; NULL: it cannot be called by name
 * @calls: how often it ran
 */
struct ftrace_test_func {
	const char	*name;
	void		(*func)(void);
	atomic_t	*calls;
};

void ftrace_test_corrupt_file(struct dentry *dir);
void ftrace_test_place_file(struct dentry *dir);
void ftrace_test_nmi_files(struct dentry *dir, void (*func)(void));

/* A function that counts how often it runs. */
#define FTRACE_TEST_FUNC(fn)			\
static atomic_t fn##_calls;			\
static noinline void fn(void)			\
{						\
	atomic_inc(&fn##_calls);		\
}

#define FTRACE_TEST_ENTRY(fn)			\
{						\
	.name = #fn,				\
	.func = fn,				\
	.calls = &fn##_calls,			\
}

/* A short write as a string that has to be freed. */
static inline char *ftrace_test_line(const char __user *ubuf, size_t cnt)
{
	char *line, *text;

	if (cnt >= FTRACE_TEST_LINE)
		return ERR_PTR(-EINVAL);
	line = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(line))
		return line;
	/* It is freed by where it begins. */
	text = strim(line);
	memmove(line, text, strlen(text) + 1);
	return line;
}

/*
 * Obey "NAME COUNT": call the function so many times. "* COUNT" calls each one
 * that can be called, in turn.
 */
static inline int ftrace_test_run(struct ftrace_test_func *funcs,
				  unsigned int nr, const char __user *ubuf,
				  size_t cnt)
{
	unsigned int count, i, found = 0;
	char *line, *name, *rest;
	int ret;

	line = ftrace_test_line(ubuf, cnt);
	if (IS_ERR(line))
		return PTR_ERR(line);

	rest = line;
	name = strsep(&rest, " ");
	ret = rest ? kstrtouint(rest, 0, &count) : -EINVAL;
	for (i = 0; !ret && i < nr; i++) {
		unsigned int n;

		if (!funcs[i].func)
			continue;
		if (strcmp(name, "*") && strcmp(name, funcs[i].name))
			continue;
		found++;
		for (n = 0; n < count; n++) {
			funcs[i].func();
			cond_resched();
		}
	}
	kfree(line);
	if (!ret && !found)
		ret = -ENOENT;
	return ret;
}

/* "NAME COUNT" for each function. */
static inline void ftrace_test_show_calls(struct ftrace_test_func *funcs,
					  unsigned int nr, struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		seq_printf(m, "%s %d\n", funcs[i].name,
			   atomic_read(funcs[i].calls));
}

#endif /* _KERNEL_TRACE_FTRACE_TEST_RUN_H */
