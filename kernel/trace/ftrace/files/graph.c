// SPDX-License-Identifier: GPL-2.0
/*
 * set_graph_function and set_graph_notrace: from which functions on the graph
 * tracer follows calls.
 *
 * They do not change call sites: the graph tracer looks at these filters once
 * it has been called.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/setup.h>

#include "../ops/ops.h"
#include "files.h"

/* Read by the graph tracer with preemption off; freed as other filters are. */
struct ftrace_ops_hash ftrace_graph_filter;

/* So that they work like other filter files; never registered. */
static struct ftrace_ops graph_filter_ops = {
	.func		= ftrace_stub,
	.func_hash	= &ftrace_graph_filter,
	.flags		= FTRACE_OPS_FL_INITIALIZED,
};

static char graph_buf[COMMAND_LINE_SIZE] __initdata;
static char graph_notrace_buf[COMMAND_LINE_SIZE] __initdata;

static int __init set_boot_graph(char *str)
{
	strscpy(graph_buf, str, sizeof(graph_buf));
	return 1;
}
__setup("ftrace_graph_filter=", set_boot_graph);

static int __init set_boot_graph_notrace(char *str)
{
	strscpy(graph_notrace_buf, str, sizeof(graph_notrace_buf));
	return 1;
}
__setup("ftrace_graph_notrace=", set_boot_graph_notrace);

static int __init set_boot_max_depth(char *str)
{
	if (kstrtouint(str, 0, &fgraph_max_depth))
		pr_warn("ftrace_graph_max_depth=%s is not a number\n", str);
	return 1;
}
__setup("ftrace_graph_max_depth=", set_boot_max_depth);

/**
 * ftrace_graph_set_early_filters - apply what the command line says
 *
 * Context: boot, process.
 */
void __init ftrace_graph_set_early_filters(void)
{
	if (graph_buf[0])
		ftrace_set_early_filter(&graph_filter_ops, graph_buf, 1);
	if (graph_notrace_buf[0])
		ftrace_set_early_filter(&graph_filter_ops, graph_notrace_buf, 0);
}

/**
 * ftrace_graph_forget - take call sites whose text goes out of the filters
 * @start: first of them, as ftrace_text_key()
 * @end: first address after them, likewise
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_graph_forget(u32 start, u32 end)
{
	ftrace_filter_forget(&ftrace_graph_filter, start, end);
}

static int graph_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(NULL, &graph_filter_ops, FTRACE_ITER_FILTER,
				 inode, file);
}

static int graph_notrace_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(NULL, &graph_filter_ops, FTRACE_ITER_NOTRACE,
				 inode, file);
}

static const struct file_operations graph_fops = {
	.open		= graph_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

static const struct file_operations graph_notrace_fops = {
	.open		= graph_notrace_open,
	.read		= seq_read,
	.write		= ftrace_notrace_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_graph_create_files - make the filter files of the graph tracer
 * @parent: the top-level directory
 *
 * Context: boot, process.
 */
void __init ftrace_graph_create_files(struct dentry *parent)
{
	trace_create_file("set_graph_function", TRACE_MODE_WRITE, parent, NULL,
			  &graph_fops);
	trace_create_file("set_graph_notrace", TRACE_MODE_WRITE, parent, NULL,
			  &graph_notrace_fops);
}
