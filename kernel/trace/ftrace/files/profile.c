// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: what user space sees of it, function_profile_enabled
 * and trace_stat/function<cpu>.
 *
 * trace_stat.c sorts what a file shows when the file is opened, and prints it
 * when it is read. In between calls are counted, and the profile may be
 * replaced. So an open file shows a copy.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/kallsyms.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace_seq.h>
#include <linux/uaccess.h>

#include "../sites/sites.h"
#include "../users/profile.h"
#include "files.h"
#include "../../trace_stat.h"

/**
 * struct profile_row - a line of a file
 * @copy: the copy it is part of
 * @key: the function, as ftrace_text_key()
 * @hits: how often it was called
 * @time: how long those calls took that have returned, in ns
 * @squares: the squares of those times, added up
 */
struct profile_row {
	struct profile_copy	*copy;
	u32			key;
	u64			hits;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	u64			time;
	u128			squares;
#endif
};

/**
 * struct profile_copy - the counts of one CPU, as they were at some time
 * @file: whose copy it is
 * @nr: how many rows
 * @nr_out: how many of them trace_stat.c holds
 * @name: room for the name of a function
 * @seq: room to print a time
 * @rows: one for each function that was called
 */
struct profile_copy {
	struct profile_file	*file;
	unsigned int		nr;
	unsigned int		nr_out;
	char			name[KSYM_NAME_LEN];
	struct trace_seq	seq;
	struct profile_row	rows[] __counted_by(nr);
};

/**
 * struct profile_file - the file of one CPU
 * @stat: for trace_stat.c
 * @cpu: the CPU
 * @copy: what it shows; NULL: nothing
 *
 * trace_stat.c has a mutex for each file, and holds it whenever it calls.
 */
struct profile_file {
	struct tracer_stat	stat;
	unsigned int		cpu;
	struct profile_copy	*copy;
};

/* ---- copying ------------------------------------------------------------- */

/* What one slot has to show; false: nothing. */
static bool read_row(const struct ftrace_profile *p, unsigned int cpu,
		     unsigned long at, struct profile_row *row)
{
	u64 slot = READ_ONCE(p->slots[at]);
	struct ftrace_profile_counter *c;

	if (!slot)
		return false;
	c = &p->of_cpu[cpu][slot >> 32];
	row->key = slot;
	row->hits = local_read(&c->hits);
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	row->time = atomic64_read(&c->time);
	row->squares = (u128)atomic64_read(&c->squares_high) << 64 |
		       (u64)atomic64_read(&c->squares_low);
#endif
	return row->hits;
}

static unsigned int count_rows(const struct ftrace_profile *p, unsigned int cpu)
{
	struct profile_row row;
	unsigned int nr = 0;
	unsigned long at;

	for (at = 0; at < BIT(p->bits); at++)
		nr += read_row(p, cpu, at, &row);
	return nr;
}

/* Skip functions that were first called after the count. */
static void copy_rows(const struct ftrace_profile *p, struct profile_copy *copy,
		      unsigned int max)
{
	struct profile_row row = { .copy = copy };
	unsigned long at;

	for (at = 0; at < BIT(p->bits) && copy->nr < max; at++) {
		if (!read_row(p, copy->file->cpu, at, &row))
			continue;
		copy->nr++;
		copy->rows[copy->nr - 1] = row;
	}
}

/* NULL if there is nothing to show, or no memory to do so. */
static struct profile_copy *make_copy(struct profile_file *file)
{
	struct profile_copy *copy;
	unsigned int max;

	guard(mutex)(&ftrace_profile_mutex);
	if (!ftrace_profile)
		return NULL;
	if (!ftrace_profile->reported)
		ftrace_profile_report_lost(ftrace_profile);
	max = count_rows(ftrace_profile, file->cpu);
	if (!max)
		return NULL;
	copy = kvzalloc(struct_size(copy, rows, max), GFP_KERNEL);
	if (!copy)
		return NULL;
	copy->file = file;
	copy_rows(ftrace_profile, copy, max);
	return copy;
}

static void drop_copy(struct profile_file *file)
{
	kvfree(file->copy);
	file->copy = NULL;
}

static void *next_row(struct profile_copy *copy)
{
	return copy->nr_out < copy->nr ? &copy->rows[copy->nr_out++] : NULL;
}

static void *rows_start(struct tracer_stat *stat)
{
	struct profile_file *file;

	file = container_of(stat, struct profile_file, stat);
	/*
	 * A row that was not sorted in, as memory was short, is not released.
	 */
	drop_copy(file);
	file->copy = make_copy(file);
	return file->copy ? next_row(file->copy) : NULL;
}

static void *rows_next(void *prev, int idx)
{
	struct profile_row *row = prev;

	return next_row(row->copy);
}

/* trace_stat.c releases all rows in one go; the last one drops the copy. */
static void row_release(void *v)
{
	struct profile_row *row = v;

	if (!--row->copy->nr_out)
		drop_copy(row->copy->file);
}

/* ---- showing ------------------------------------------------------------- */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/*
 * The variance of the times, (squares - time * time / hits) / (hits - 1), in
 * ns^2 / 1000: printed as if that were ns it comes out in us^2.
 *
 * With time = mean * hits + rest, time * time / hits is
 * mean * (time + rest) + rest * rest / hits, which needs no division of more
 * than 64 bits. What is left may still have more than those: then the lowest
 * bits do not matter.
 */
static u64 row_variance(const struct profile_row *row)
{
	u64 mean, rest, var;
	unsigned int shift;
	u128 expected, dev;

	if (row->hits < 2)
		return 0;
	mean = div64_u64_rem(row->time, row->hits, &rest);
	expected = (u128)mean * (row->time + rest) +
		   mul_u64_u64_div_u64(rest, rest, row->hits);
	/* The sums were not read at one moment. */
	if (row->squares < expected)
		return 0;
	dev = row->squares - expected;

	shift = fls64(dev >> 64);
	var = div_u64(div64_u64(dev >> shift, row->hits - 1), 1000);
	return var > U64_MAX >> shift ? U64_MAX : var << shift;
}

static int row_cmp(const void *va, const void *vb)
{
	const struct profile_row *a = va, *b = vb;

	return (a->time > b->time) - (a->time < b->time);
}

static int rows_headers(struct seq_file *m)
{
	seq_printf(m, "  %-30s  %10s    %-12s    %-12s    %s\n",
		   "Function", "Hit", "Time", "Avg", "s^2");
	seq_printf(m, "  %-30s  %10s    %-12s    %-12s    %s\n",
		   "--------", "---", "----", "---", "---");
	return 0;
}

/* tracing_thresh leaves out the functions that are quicker; 0: none are. */
static bool is_too_short(const struct profile_row *row)
{
	return div64_u64(row->time, row->hits) < READ_ONCE(tracing_thresh);
}

static void show_times(struct seq_file *m, const struct profile_row *row)
{
	struct trace_seq *s = &row->copy->seq;

	trace_seq_init(s);
	trace_seq_puts(s, "    ");
	trace_print_graph_duration(row->time, s);
	trace_seq_puts(s, "    ");
	trace_print_graph_duration(div64_u64(row->time, row->hits), s);
	trace_seq_puts(s, "    ");
	trace_print_graph_duration(row_variance(row), s);
	trace_print_seq(m, s);
}

#else /* !CONFIG_FUNCTION_GRAPH_TRACER */

static int row_cmp(const void *va, const void *vb)
{
	const struct profile_row *a = va, *b = vb;

	return (a->hits > b->hits) - (a->hits < b->hits);
}

static int rows_headers(struct seq_file *m)
{
	seq_printf(m, "  %-30s  %10s\n", "Function", "Hit");
	seq_printf(m, "  %-30s  %10s\n", "--------", "---");
	return 0;
}

static bool is_too_short(const struct profile_row *row)
{
	return false;
}

static void show_times(struct seq_file *m, const struct profile_row *row)
{
}

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

/* A function without a name went with its module. */
static int row_show(struct seq_file *m, void *v)
{
	const struct profile_row *row = v;
	char *name = row->copy->name;

	if (is_too_short(row))
		return SEQ_SKIP;
	if (!kallsyms_lookup(ftrace_text_addr(row->key), NULL, NULL, NULL, name))
		return SEQ_SKIP;
	seq_printf(m, "  %-30.30s  %10llu", name, row->hits);
	show_times(m, row);
	seq_putc(m, '\n');
	return 0;
}

static const struct tracer_stat profile_stat = {
	.stat_start	= rows_start,
	.stat_next	= rows_next,
	.stat_cmp	= row_cmp,
	.stat_show	= row_show,
	.stat_release	= row_release,
	.stat_headers	= rows_headers,
};

static int __init create_stat_file(unsigned int cpu)
{
	struct profile_file *file;
	int ret = -ENOMEM;

	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return ret;
	file->stat = profile_stat;
	file->cpu = cpu;
	file->stat.name = kasprintf(GFP_KERNEL, "function%u", cpu);
	if (file->stat.name)
		ret = register_stat_tracer(&file->stat);
	if (ret) {
		kfree(file->stat.name);
		kfree(file);
	}
	return ret;
}

/* ---- function_profile_enabled -------------------------------------------- */

static ssize_t enabled_read(struct file *file, char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	char buf[] = { ftrace_profile_on() ? '1' : '0', '\n' };

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, sizeof(buf));
}

static ssize_t enabled_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (!ret)
		ret = ftrace_profile_set(val);
	if (ret)
		return ret;
	*ppos += cnt;
	return cnt;
}

static const struct file_operations enabled_fops = {
	.open		= tracing_open_generic,
	.read		= enabled_read,
	.write		= enabled_write,
	.llseek		= generic_file_llseek,
};

/**
 * ftrace_profile_create_files - make function_profile_enabled, and a file in
 * trace_stat for each CPU
 * @parent: the top-level directory
 *
 * Context: boot, process.
 */
void __init ftrace_profile_create_files(struct dentry *parent)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (create_stat_file(cpu)) {
			pr_warn("could not create trace_stat/function%u\n", cpu);
			return;
		}
	}
	trace_create_file("function_profile_enabled", TRACE_MODE_WRITE, parent,
			  NULL, &enabled_fops);
}
