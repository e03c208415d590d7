// SPDX-License-Identifier: GPL-2.0
/*
 * The files that list records: available_filter_functions, the same with
 * addresses, enabled_functions and touched_functions.
 */
#include <linux/seq_file.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "../tracers/tracers.h"
#include "files.h"

/**
 * struct rec_list - what one of the files lists
 * @complete: call sites that never ran too
 * @addrs: each call site with its address
 * @wanted: only those for which this is true, and who traces them; NULL: all
 */
struct rec_list {
	bool	complete;
	bool	addrs;
	bool	(*wanted)(const struct dyn_ftrace *rec);
};

/* No set has that number. */
#define NOBODY	U32_MAX

/**
 * struct rec_iter - a walk over the records for one open file
 * @list: what is listed
 * @r: the region the walk is in
 * @idx: the index of the record in it
 * @set: the set whose callees are written in the buffer of the file; 0: none;
 *	 NOBODY: what is said of a call site that calls nobody
 * @said: where they are in it
 * @len: how long they are
 * @names: the names
 */
struct rec_iter {
	const struct rec_list	*list;
	struct ftrace_region	*r;
	unsigned int		idx;
	u32			set;
	size_t			said;
	size_t			len;
	struct ftrace_names	names;
};

static struct dyn_ftrace *rec_of(const struct rec_iter *it)
{
	return &ftrace_region_recs(it->r)->rec[it->idx];
}

/*
 * Records come and go between two reads of a file. So a position is an address, as
 * ftrace_text_key(): the lowest that may be listed next.
 */
static void *seek(struct rec_iter *it, loff_t pos)
{
	struct ftrace_recs *recs;
	struct dyn_ftrace *rec;

	if (pos > U32_MAX)
		return NULL;
	list_for_each_entry(it->r, &ftrace_regions, list) {
		if (it->r->end <= ftrace_text_addr(pos))
			continue;
		recs = ftrace_region_recs(it->r);
		rec = ftrace_rec_in(recs, ftrace_text_addr(pos), ULONG_MAX);
		if (rec) {
			it->idx = rec - recs->rec;
			return it;
		}
	}
	return NULL;
}

static void *rec_start(struct seq_file *m, loff_t *pos)
{
	struct rec_iter *it = m->private;

	mutex_lock(&ftrace_lock);
	/* The buffer is empty again, and sets may have changed meanwhile. */
	it->set = 0;
	return ftrace_disabled ? NULL : seek(it, *pos);
}

static void *rec_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct rec_iter *it = v;

	*pos = (loff_t)rec_of(it)->key + 1;
	if (++it->idx < ftrace_region_nr(it->r))
		return it;
	return seek(it, *pos);
}

static void rec_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static void show_flag(struct seq_file *m, bool has, char letter)
{
	seq_putc(m, ' ');
	seq_putc(m, has ? letter : ' ');
}

/*
 * What 6.12 says of the same: for a single ops the trampoline, with its
 * callback and what the trampoline calls for it; otherwise what is called in
 * the place of a callback, which is the code that calls several of them, or
 * somebody's own code, or nothing.
 */
static void show_callback(struct seq_file *m, const struct ftrace_opset *set)
{
	unsigned long target = set ? ftrace_text_addr(set->target) : 0;

	if (!set)
		seq_printf(m, "  ->%pS", ftrace_stub);
	else if (set->tramp && set->nr == 1)
		seq_printf(m, " \ttramp: %pS (%pS) ->%pS", (void *)target,
			   set->ops[0]->func,
			   (void *)ftrace_ops_callee(set->ops[0]));
	else if (target == FTRACE_ADDR || target == FTRACE_REGS_ADDR)
		seq_printf(m, "  ->%pS", ftrace_ops_list_func);
	else
		seq_printf(m, "  ->%pS", (void *)target);
}

static void show_callee(struct seq_file *m, const struct ftrace_ops *ops,
			const char *before)
{
	const char *name = ftrace_tracer_name(ops);

	seq_printf(m, "%s%ps", before, ops->func);
	if (name)
		seq_printf(m, " [%s]", name);
}

/* What the call site calls, all of them, and the names of those that have one. */
static void show_callees(struct seq_file *m, const struct ftrace_opset *set)
{
	unsigned int i;

	seq_printf(m, " \tcall site -> %pS",
		   (void *)ftrace_text_addr(set->target));
	for (i = 0; i < set->nr; i++)
		show_callee(m, set->ops[i], i ? ", " : " -> ");
}

/* The code that is called directly, on a line of its own, as in 6.12. */
static void show_direct(struct seq_file *m, const struct ftrace_opset *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i]->flags & FTRACE_OPS_FL_DIRECT)
			seq_printf(m, "\n\tdirect-->%pS",
				   (void *)ftrace_ops_direct(set->ops[i]));
	}
}

/*
 * Looking up the names takes ten times as long as all else, and most sites call
 * the same.
 */
static void show_calls(struct seq_file *m, struct rec_iter *it,
		       const struct ftrace_opset *set)
{
	u32 id = set ? set->id : NOBODY;

	if (it->set == id) {
		seq_write(m, m->buf + it->said, it->len);
		return;
	}
	it->set = id;
	it->said = m->count;
	show_callback(m, set);
	if (set) {
		show_callees(m, set);
		show_direct(m, set);
	}
	it->len = m->count - it->said;
}

/* How many ops there are, what they ask for, what the call site calls. */
static void show_set(struct seq_file *m, struct rec_iter *it,
		     const struct dyn_ftrace *rec, bool traced)
{
	struct ftrace_opset *set;

	set = traced ? ftrace_opset_find(ftrace_rec_set(rec)) : NULL;
	seq_printf(m, " (%u)", set ? set->nr : 0);
	show_flag(m, set && set->flags & FTRACE_OPS_FL_SAVE_REGS, 'R');
	show_flag(m, set && set->flags & FTRACE_OPS_FL_IPMODIFY, 'I');
	show_flag(m, set && set->flags & FTRACE_OPS_FL_DIRECT, 'D');
	/* O: for architectures that keep the ops in front of the function. */
	show_flag(m, false, 'O');
	show_flag(m, rec->state & FTRACE_REC_MODIFIED, 'M');
	show_calls(m, it, set);
}

/* Not by its set alone: kernel.ftrace_enabled may hold it at a nop. */
static bool is_traced(const struct dyn_ftrace *rec)
{
	return ftrace_rec_set(rec) && ftrace_rec_text(rec);
}

static int rec_show(struct seq_file *m, void *v)
{
	struct rec_iter *it = v;
	const struct rec_list *list = it->list;
	struct dyn_ftrace *rec = rec_of(it);
	unsigned long ip = ftrace_rec_ip(rec);
	int ret;

	/* A read from somewhere in the middle has to go there line by line. */
	if (m->count < it->said + it->len)
		it->set = 0;
	if (rec->state & FTRACE_REC_BAD)
		return SEQ_SKIP;
	if (list->wanted && !list->wanted(rec))
		return SEQ_SKIP;
	if (list->addrs)
		seq_printf(m, "%lx ", ip);
	ret = ftrace_names_show(&it->names, m, it->r, ip);
	if (list->wanted)
		show_set(m, it, rec, is_traced(rec));
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
static int open_complete(void)
{
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;
	mutex_lock(&ftrace_lock);
	ret = ftrace_disabled ? -ENODEV : ftrace_discover_all();
	mutex_unlock(&ftrace_lock);
	return ret;
}

static int rec_open(struct inode *inode, struct file *file)
{
	const struct rec_list *list = inode->i_private;
	struct rec_iter *it;
	int ret;

	/* Who traces which function can be read under lockdown, too. */
	ret = list->complete ? open_complete() : 0;
	if (ret)
		return ret;
	it = __seq_open_private(file, &rec_seq_ops, sizeof(*it));
	if (!it)
		return -ENOMEM;
	it->list = list;
	return 0;
}

static int rec_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct rec_iter *it = m->private;

	ftrace_names_stop(&it->names);
	return seq_release_private(inode, file);
}

static const struct file_operations rec_fops = {
	.open		= rec_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= rec_release,
};

static const struct rec_list available = { .complete = true };
static const struct rec_list available_addrs = { .complete = true, .addrs = true };
static const struct rec_list enabled = { .wanted = is_traced };
static const struct rec_list touched = { .wanted = ftrace_rec_was_traced };

static void __init create_list(const char *name, struct dentry *parent,
			       const struct rec_list *list)
{
	trace_create_file(name, TRACE_MODE_READ, parent, (void *)list, &rec_fops);
}

/**
 * ftrace_records_create_files - make the files that list functions
 * @parent: the top-level directory
 *
 * Context: boot, process.
 */
void __init ftrace_records_create_files(struct dentry *parent)
{
	create_list("available_filter_functions", parent, &available);
	create_list("available_filter_functions_addrs", parent,
		    &available_addrs);
	create_list("enabled_functions", parent, &enabled);
	create_list("touched_functions", parent, &touched);
}
