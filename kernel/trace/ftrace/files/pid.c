// SPDX-License-Identifier: GPL-2.0
/*
 * set_ftrace_pid and set_ftrace_notrace_pid: tracing some tasks only.
 *
 * The files change the lists of the trace array, which are for its own tracer, or
 * those of another tracer, if that is the default and somebody knows it. What the
 * lists do is in tracers/pid.c.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "../core.h"
#include "../tracers/tracers.h"
#include "files.h"

/**
 * struct pid_file - an open set_ftrace_pid or set_ftrace_notrace_pid
 * @pids: the lists, referenced
 * @which: which of them
 */
struct pid_file {
	struct ftrace_pids	*pids;
	enum ftrace_pid_list	which;
};

/* What a seq_file start function returns for a list that does not exist. */
static char no_list;

/* The lists that the files of a trace array are to change now. */
static struct ftrace_pids *get_pids(struct trace_array *tr)
{
	struct ftrace_tracer *t;

	guard(mutex)(&ftrace_lock);
	t = ftrace_tracers_known(tr) ? ftrace_tracer_default(tr) : NULL;
	if (t && ftrace_tracer_is_array_own(t))
		t = NULL;
	return ftrace_pids_get(tr, t);
}

static struct trace_pid_list *file_list(const struct pid_file *pf)
{
	return ftrace_pids_list(pf->pids, pf->which);
}

static void *pids_start(struct seq_file *m, loff_t *pos)
{
	struct pid_file *pf = m->private;
	struct trace_pid_list *list;

	mutex_lock(&pf->pids->lock);
	list = file_list(pf);
	if (list)
		return trace_pid_start(list, pos);
	return *pos ? NULL : &no_list;
}

static void *pids_next(struct seq_file *m, void *v, loff_t *pos)
{
	if (v == &no_list) {
		(*pos)++;
		return NULL;
	}
	return trace_pid_next(file_list(m->private), v, pos);
}

static int pids_show(struct seq_file *m, void *v)
{
	if (v != &no_list)
		return trace_pid_show(m, v);
	seq_puts(m, "no pid\n");
	return 0;
}

static void pids_stop(struct seq_file *m, void *v)
{
	struct pid_file *pf = m->private;

	mutex_unlock(&pf->pids->lock);
}

static const struct seq_operations pids_seq_ops = {
	.start	= pids_start,
	.next	= pids_next,
	.show	= pids_show,
	.stop	= pids_stop,
};

static int open_pids(struct inode *inode, struct file *file,
		     enum ftrace_pid_list which)
{
	struct trace_array *tr = inode->i_private;
	struct ftrace_pids *pids;
	struct pid_file *pf;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	pids = get_pids(tr);
	if (IS_ERR(pids)) {
		ret = PTR_ERR(pids);
		goto put_array;
	}
	pf = __seq_open_private(file, &pids_seq_ops, sizeof(*pf));
	if (!pf) {
		ret = -ENOMEM;
		goto put_pids;
	}
	pf->pids = pids;
	pf->which = which;

	if (file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC) {
		guard(mutex)(&pids->lock);
		ftrace_pids_replace(pids, which, NULL);
	}
	return 0;

put_pids:
	ftrace_pids_put(pids);
put_array:
	trace_array_put(tr);
	return ret;
}

static int pid_open(struct inode *inode, struct file *file)
{
	return open_pids(inode, file, FTRACE_PIDS);
}

static int no_pid_open(struct inode *inode, struct file *file)
{
	return open_pids(inode, file, FTRACE_NO_PIDS);
}

static ssize_t pids_write(struct file *file, const char __user *ubuf,
			  size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct pid_file *pf = m->private;
	struct trace_pid_list *list;
	int ret, err;

	if (!cnt)
		return 0;

	guard(mutex)(&pf->pids->lock);
	ret = trace_pid_write(file_list(pf), &list, ubuf, cnt);
	if (ret < 0)
		return ret;
	err = ftrace_pids_replace(pf->pids, pf->which, list);
	if (err) {
		trace_pid_list_free(list);
		return err;
	}
	*ppos += ret;
	return ret;
}

static int pids_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct pid_file *pf = m->private;

	ftrace_pids_put(pf->pids);
	trace_array_put(inode->i_private);
	return seq_release_private(inode, file);
}

static const struct file_operations pid_fops = {
	.open		= pid_open,
	.read		= seq_read,
	.write		= pids_write,
	.llseek		= tracing_lseek,
	.release	= pids_release,
};

static const struct file_operations no_pid_fops = {
	.open		= no_pid_open,
	.read		= seq_read,
	.write		= pids_write,
	.llseek		= tracing_lseek,
	.release	= pids_release,
};

/**
 * ftrace_pid_create_files - make the files that say which tasks are traced
 * @tr: the trace array
 * @parent: its directory
 *
 * Context: process.
 */
void ftrace_pid_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, parent, tr,
			  &pid_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, parent,
			  tr, &no_pid_fops);
}
