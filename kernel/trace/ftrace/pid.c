// SPDX-License-Identifier: GPL-2.0
/*
 * set_ftrace_pid and set_ftrace_notrace_pid: tracing some tasks only.
 *
 * Looking a pid up in a list is too much for each traced call. So it is done
 * when a CPU switches to a task, and the outcome is left in that CPU's
 * ftrace_ignore_pid. While a trace array has a list, pid_func() stands in front
 * of the callbacks of its ops and compares.
 *
 * The files change the lists of the trace array, which are for its own tracer, or
 * those of another tracer, if that is the default and somebody knows it.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <trace/events/sched.h>

#include "internal.h"
#include "tracers.h"
#include "../ftrace_internal.h"

/*
 * Serialises the writers of all lists, and is held while user memory is read. A
 * list is replaced under this and ftrace_lock, so holding either keeps it; it is
 * freed after tracepoints have been waited for.
 *
 * Order: trace_types_lock > pid_mutex > ftrace_lock.
 */
static DEFINE_MUTEX(pid_mutex);

/**
 * struct pid_file - an open set_ftrace_pid or set_ftrace_notrace_pid
 * @tr: the trace array, referenced
 * @of_tracer: the lists of one of its tracers, referenced; NULL: those of @tr
 * @type: which of the lists: TRACE_PIDS or TRACE_NO_PIDS
 */
struct pid_file {
	struct trace_array		*tr;
	struct ftrace_tracer_pids	*of_tracer;
	int				type;
};

/* What a start function returns for a list that is not there. */
static char no_list;

static struct trace_pid_list __rcu **pid_slot(struct trace_array *tr, int type)
{
	return type == TRACE_PIDS ? &tr->function_pids : &tr->function_no_pids;
}

static struct trace_pid_list *pid_list(struct trace_array *tr, int type)
{
	return rcu_dereference_protected(*pid_slot(tr, type),
					 lockdep_is_held(&pid_mutex));
}

static bool has_pids(struct trace_array *tr)
{
	return rcu_access_pointer(tr->function_pids) ||
	       rcu_access_pointer(tr->function_no_pids);
}

/* Decide for a task that is about to run here, or does. Preemption is off. */
static void judge_task(struct trace_array *tr, struct task_struct *task)
{
	struct trace_pid_list *no_pids, *pids;
	bool ignore;

	pids = rcu_dereference_sched(tr->function_pids);
	no_pids = rcu_dereference_sched(tr->function_no_pids);
	ignore = trace_ignore_this_task(pids, no_pids, task);
	this_cpu_write(tr->array_buffer.data->ftrace_ignore_pid,
		       ignore ? FTRACE_PID_IGNORE : task->pid);
}

static void on_sched_switch(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	judge_task(data, next);
}

/* By on_each_cpu(), so with interrupts off. */
static void judge_current(void *data)
{
	judge_task(data, current);
}

static void on_fork(void *data, struct task_struct *self,
		    struct task_struct *child)
{
	struct trace_array *tr = data;

	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_pids),
				     self, child);
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_no_pids),
				     self, child);
}

static void on_free(void *data, struct task_struct *task)
{
	struct trace_array *tr = data;

	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_pids),
				     NULL, task);
	trace_filter_add_remove_task(rcu_dereference_sched(tr->function_no_pids),
				     NULL, task);
}

/**
 * ftrace_pid_follow_fork - have the pid lists follow forks and exits, or not
 * @tr: the trace array
 * @enable: follow
 *
 * A pid leaves the lists when its task is freed, not when it begins to exit:
 * the last it does is traced as well.
 *
 * Context: process, trace_types_lock held.
 * Return: 0, or an error of a tracepoint, and nothing follows.
 */
int ftrace_pid_follow_fork(struct trace_array *tr, bool enable)
{
	int ret;

	if (!enable) {
		/* Before it frees @tr the base waits for tracepoints. */
		ftrace_tracers_follow_fork(tr, false);
		unregister_trace_sched_process_fork(on_fork, tr);
		unregister_trace_sched_process_free(on_free, tr);
		return 0;
	}
	ret = register_trace_sched_process_fork(on_fork, tr);
	if (ret)
		return ret;
	ret = register_trace_sched_process_free(on_free, tr);
	if (ret)
		goto no_forks;
	ret = ftrace_tracers_follow_fork(tr, true);
	if (!ret)
		return 0;
	unregister_trace_sched_process_free(on_free, tr);
no_forks:
	unregister_trace_sched_process_fork(on_fork, tr);
	return ret;
}

/*
 * The callback in front of that of an ops which obeys the lists. Any context.
 *
 * What a CPU notes about the task it runs holds for that task wherever it is
 * moved to, so preemption between the reads is no matter.
 */
static void pid_func(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct trace_array *tr = op->private;
	int pid = this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid);
	ftrace_func_t func;

	if (pid == FTRACE_PID_IGNORE)
		return;
	/* After sched_switch, but still the task before: it is not known. */
	if (pid != FTRACE_PID_TRACE && pid != current->pid)
		return;
	/* ftrace_set_callback() may be at it. */
	func = READ_ONCE(op->saved_func);
	func(ip, parent_ip, op, fregs);
}

/**
 * ftrace_pids_enabled - does a pid list restrict an ops?
 * @ops: the ops
 *
 * Context: any; the answer holds as long as ftrace_lock does.
 */
bool ftrace_pids_enabled(struct ftrace_ops *ops)
{
	struct trace_array *tr;

	if (!(ops->flags & FTRACE_OPS_FL_PID) || !ops->private)
		return false;
	tr = ops->private;
	return has_pids(tr);
}

/**
 * ftrace_pid_update_ops - put what looks at lists before a callback, or take it away
 * @ops: the ops, its own callback in @ops->saved_func
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_pid_update_ops(struct ftrace_ops *ops)
{
	ftrace_func_t func = ops->saved_func;

	lockdep_assert_held(&ftrace_lock);
	/* A graph user has its own entry function for that. */
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		return;
	if (ftrace_tracer_has_pids(ops))
		func = ftrace_tracer_pid_func;
	else if (ftrace_pids_enabled(ops))
		func = pid_func;
	if (ops->func != func)
		ftrace_ops_set_func(ops, func);
}

/* Put a list in its place, and let every CPU and ops know. */
static void publish_list(struct trace_array *tr, int type,
			 struct trace_pid_list *list)
{
	struct ftrace_ops *ops = NULL;

	guard(mutex)(&ftrace_lock);
	rcu_assign_pointer(*pid_slot(tr, type), list);

	/* The tasks that run now had their switch before. */
	if (has_pids(tr))
		on_each_cpu(judge_current, tr, 1);
	while ((ops = ftrace_next_ops(ops)))
		ftrace_pid_update_ops(ops);
	fgraph_update_pid_func();
}

static void forget_cpus(struct trace_array *tr)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(tr->array_buffer.data, cpu)->ftrace_ignore_pid =
			FTRACE_PID_TRACE;
}

/* Takes @list over, if all goes well. */
static int replace_list(struct trace_array *tr, int type,
			struct trace_pid_list *list)
{
	struct trace_pid_list *old = pid_list(tr, type);
	int ret;

	if (!old && !list)
		return 0;
	if (!has_pids(tr)) {
		ret = register_trace_sched_switch(on_sched_switch, tr);
		if (ret)
			return ret;
	}

	publish_list(tr, type, list);

	if (!has_pids(tr))
		unregister_trace_sched_switch(on_sched_switch, tr);
	if (old)
		tracepoint_synchronize_unregister();
	/* Not before: the last switch may only now have written its verdict. */
	if (!has_pids(tr))
		forget_cpus(tr);
	trace_pid_list_free(old);
	return 0;
}

/**
 * ftrace_clear_pids - empty both pid lists of a trace array
 * @tr: the trace array
 *
 * Context: process, may hold trace_types_lock.
 */
void ftrace_clear_pids(struct trace_array *tr)
{
	guard(mutex)(&pid_mutex);
	replace_list(tr, TRACE_PIDS, NULL);
	replace_list(tr, TRACE_NO_PIDS, NULL);
}

static struct trace_pid_list *file_list(const struct pid_file *pf)
{
	if (pf->of_tracer)
		return ftrace_tracer_pids_list(pf->of_tracer, pf->type);
	return pid_list(pf->tr, pf->type);
}

static int file_replace(const struct pid_file *pf, struct trace_pid_list *list)
{
	if (pf->of_tracer)
		return ftrace_tracer_pids_replace(pf->of_tracer, pf->type, list);
	return replace_list(pf->tr, pf->type, list);
}

/* The tracer whose lists a file is to change, if it is not the array's own. */
static int find_lists(struct pid_file *pf)
{
	struct ftrace_tracer *t;
	int ret;

	guard(mutex)(&ftrace_lock);
	t = ftrace_tracers_known(pf->tr) ? ftrace_tracer_default(pf->tr) : NULL;
	if (!t || ftrace_tracer_is_current(t))
		return 0;
	pf->of_tracer = ftrace_tracer_pids_get(t);
	ret = PTR_ERR_OR_ZERO(pf->of_tracer);
	if (ret)
		pf->of_tracer = NULL;
	return ret;
}

static void *pids_start(struct seq_file *m, loff_t *pos)
{
	struct pid_file *pf = m->private;
	struct trace_pid_list *list;

	mutex_lock(&pid_mutex);
	list = file_list(pf);
	if (list)
		return trace_pid_start(list, pos);
	return *pos ? NULL : &no_list;
}

static void *pids_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct pid_file *pf = m->private;

	if (v == &no_list) {
		(*pos)++;
		return NULL;
	}
	return trace_pid_next(file_list(pf), v, pos);
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
	mutex_unlock(&pid_mutex);
}

static const struct seq_operations pids_seq_ops = {
	.start	= pids_start,
	.next	= pids_next,
	.show	= pids_show,
	.stop	= pids_stop,
};

static int open_pids(struct inode *inode, struct file *file, int type)
{
	struct trace_array *tr = inode->i_private;
	struct pid_file *pf;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	pf = __seq_open_private(file, &pids_seq_ops, sizeof(*pf));
	if (!pf) {
		trace_array_put(tr);
		return -ENOMEM;
	}
	pf->tr = tr;
	pf->type = type;
	ret = find_lists(pf);
	if (ret) {
		seq_release_private(inode, file);
		trace_array_put(tr);
		return ret;
	}

	if (file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC) {
		guard(mutex)(&pid_mutex);
		file_replace(pf, NULL);
	}
	return 0;
}

static int pid_open(struct inode *inode, struct file *file)
{
	return open_pids(inode, file, TRACE_PIDS);
}

static int no_pid_open(struct inode *inode, struct file *file)
{
	return open_pids(inode, file, TRACE_NO_PIDS);
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

	guard(mutex)(&pid_mutex);
	ret = trace_pid_write(file_list(pf), &list, ubuf, cnt);
	if (ret < 0)
		return ret;
	err = file_replace(pf, list);
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

	if (pf->of_tracer)
		ftrace_tracer_pids_put(pf->of_tracer);
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
 * ftrace_init_tracefs - create the files that each trace array has
 * @tr: the trace array
 * @d_tracer: its directory
 *
 * Context: process.
 */
void ftrace_init_tracefs(struct trace_array *tr, struct dentry *d_tracer)
{
	trace_create_file("set_ftrace_pid", TRACE_MODE_WRITE, d_tracer, tr,
			  &pid_fops);
	trace_create_file("set_ftrace_notrace_pid", TRACE_MODE_WRITE, d_tracer,
			  tr, &no_pid_fops);
}
