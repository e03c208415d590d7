// SPDX-License-Identifier: GPL-2.0
/*
 * The file function_tracers of a trace array.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../core.h"
#include "../tracers/tracers.h"
#include "files.h"

static void *tracers_start(struct seq_file *m, loff_t *pos)
{
	struct trace_array *tr = m->private;
	struct ftrace_tracer *t;
	loff_t n = *pos;

	mutex_lock(&ftrace_lock);
	t = ftrace_tracer_next(tr, NULL);
	while (t && n--)
		t = ftrace_tracer_next(tr, t);
	return t;
}

static void *tracers_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ftrace_tracer_next(m->private, v);
}

static void tracers_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int tracers_show(struct seq_file *m, void *v)
{
	struct ftrace_tracer *t = v;

	if (t == ftrace_tracer_default(t->tr))
		seq_putc(m, '*');
	seq_puts(m, t->name);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations tracers_seq_ops = {
	.start	= tracers_start,
	.next	= tracers_next,
	.stop	= tracers_stop,
	.show	= tracers_show,
};

static int tracers_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	ret = seq_open(file, &tracers_seq_ops);
	if (ret) {
		trace_array_put(tr);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = tr;
	scoped_guard(mutex, &ftrace_lock)
		ftrace_tracers_mark_known(tr);
	return 0;
}

/* One name, and the end of the line that echo puts after it. */
static ssize_t tracers_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	char name[FTRACE_TRACER_NAME + 1];
	int ret;

	if (cnt > FTRACE_TRACER_NAME)
		return -ENAMETOOLONG;
	if (copy_from_user(name, ubuf, cnt))
		return -EFAULT;
	if (cnt && name[cnt - 1] == '\n')
		name[cnt - 1] = 0;
	name[cnt] = 0;
	if (!name[0] || strlen(name) + 1 < cnt || strpbrk(name, " \t\n"))
		return -EINVAL;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_tracer_make_default(tr, name);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static int tracers_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return seq_release(inode, file);
}

static const struct file_operations tracers_fops = {
	.open		= tracers_open,
	.read		= seq_read,
	.write		= tracers_write,
	.llseek		= tracing_lseek,
	.release	= tracers_release,
};

/**
 * ftrace_tracers_create_file - make the function_tracers of a trace array
 * @tr: the trace array
 * @parent: its directory
 *
 * Context: process.
 */
void ftrace_tracers_create_file(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, tr,
			  &tracers_fops);
}
