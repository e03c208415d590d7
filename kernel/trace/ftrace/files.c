// SPDX-License-Identifier: GPL-2.0
/*
 * The files that list records: available_filter_functions, the same with
 * addresses, and enabled_functions.
 */
#include <linux/seq_file.h>

#include "internal.h"

/**
 * struct rec_iter - a walk over the records for one open file
 * @r: the region the walk is in
 * @idx: the index of the record in it
 * @first: position of its first record in the walk
 * @addrs: print addresses too
 * @enabled: only those that are traced
 * @names: the names
 */
struct rec_iter {
	struct ftrace_region	*r;
	unsigned int		idx;
	loff_t			first;
	bool			addrs;
	bool			enabled;
	struct ftrace_names	names;
};

static struct dyn_ftrace *rec_of(const struct rec_iter *it)
{
	return &ftrace_region_recs(it->r)->rec[it->idx];
}

/* The record at a position, or NULL behind the last. */
static void *seek(struct rec_iter *it, loff_t pos)
{
	it->first = 0;
	list_for_each_entry(it->r, &ftrace_regions, list) {
		unsigned int nr = ftrace_region_nr(it->r);

		if (pos - it->first < nr) {
			it->idx = pos - it->first;
			return it;
		}
		it->first += nr;
	}
	return NULL;
}

static void *rec_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&ftrace_lock);
	return ftrace_disabled ? NULL : seek(m->private, *pos);
}

static void *rec_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct rec_iter *it = v;

	++*pos;
	if (++it->idx < ftrace_region_nr(it->r))
		return it;
	return seek(it, *pos);
}

static void rec_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

/* How many ops, what they ask for, and what the call site calls. */
static void show_set(struct seq_file *m, u32 id)
{
	struct ftrace_opset *set = ftrace_opset_find(id);
	bool regs = false, ipmodify = false;
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		regs |= set->ops[i]->flags & FTRACE_OPS_FL_SAVE_REGS;
		ipmodify |= set->ops[i]->flags & FTRACE_OPS_FL_IPMODIFY;
	}
	seq_printf(m, " (%u)%s%s", set->nr, regs ? " R" : "  ",
		   ipmodify ? " I" : "  ");
	seq_printf(m, "\tcall site -> %ps",
		   (void *)ftrace_text_addr(set->target));
}

static int rec_show(struct seq_file *m, void *v)
{
	struct rec_iter *it = v;
	struct dyn_ftrace *rec = rec_of(it);
	unsigned long ip = ftrace_rec_ip(rec);
	int ret;

	if (rec->state & FTRACE_REC_BAD)
		return SEQ_SKIP;
	/* Not by its set alone: kernel.ftrace_enabled may hold it at a nop. */
	if (it->enabled && (!ftrace_rec_set(rec) || !ftrace_rec_text(rec)))
		return SEQ_SKIP;
	if (it->addrs)
		seq_printf(m, "%lx ", ip);
	ret = ftrace_names_show(&it->names, m, it->r, ip);
	if (it->enabled)
		show_set(m, ftrace_rec_set(rec));
	seq_putc(m, '\n');
	return ret;
}

static const struct seq_operations rec_seq_ops = {
	.start	= rec_start,
	.next	= rec_next,
	.stop	= rec_stop,
	.show	= rec_show,
};

/* What is listed as available has to be all there is. */
static int discover(void)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_disabled ? -ENODEV : ftrace_discover_all();
	mutex_unlock(&ftrace_lock);
	return ret;
}

static struct rec_iter *open_iter(struct file *file)
{
	return __seq_open_private(file, &rec_seq_ops, sizeof(struct rec_iter));
}

static int avail_open(struct inode *inode, struct file *file)
{
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (!ret)
		ret = discover();
	if (ret)
		return ret;
	return open_iter(file) ? 0 : -ENOMEM;
}

static int avail_addrs_open(struct inode *inode, struct file *file)
{
	struct rec_iter *it;
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (!ret)
		ret = discover();
	if (ret)
		return ret;
	it = open_iter(file);
	if (!it)
		return -ENOMEM;
	it->addrs = true;
	return 0;
}

static int enabled_open(struct inode *inode, struct file *file)
{
	struct rec_iter *it;
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;
	it = open_iter(file);
	if (!it)
		return -ENOMEM;
	it->enabled = true;
	return 0;
}

static int rec_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct rec_iter *it = m->private;

	ftrace_names_stop(&it->names);
	return seq_release_private(inode, file);
}

static const struct file_operations avail_fops = {
	.open		= avail_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= rec_release,
};

static const struct file_operations avail_addrs_fops = {
	.open		= avail_addrs_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= rec_release,
};

static const struct file_operations enabled_fops = {
	.open		= enabled_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= rec_release,
};

/**
 * ftrace_init_tracefs_toplevel - make the files that are there only once
 * @tr: the top-level trace array
 * @d_tracer: its directory
 *
 * Context: boot, process.
 */
__init void ftrace_init_tracefs_toplevel(struct trace_array *tr,
					 struct dentry *d_tracer)
{
	trace_create_file("available_filter_functions", TRACE_MODE_READ,
			  d_tracer, NULL, &avail_fops);
	trace_create_file("available_filter_functions_addrs", TRACE_MODE_READ,
			  d_tracer, NULL, &avail_addrs_fops);
	trace_create_file("enabled_functions", TRACE_MODE_READ,
			  d_tracer, NULL, &enabled_fops);
	ftrace_create_filter_files(tr, d_tracer);
	ftraced_create_files(d_tracer);
}
