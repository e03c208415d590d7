// SPDX-License-Identifier: GPL-2.0
/*
 * The files set_ftrace_filter and set_ftrace_notrace, of the top level and of
 * every instance, and the filter files of other tracers.
 *
 * What is written is collected in a set of the writer's own and takes effect
 * as a whole when the file is closed.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

/* Room for a word that is written: a name, a command, its arguments. */
#define WORD_SIZE	512

/**
 * struct filter_file - one open filter file
 * @tr: the trace array whose probes are shown and whose commands are run; NULL:
 *	the file belongs to a tracer without one
 * @ops: whose filter it is
 * @enable: it is the list of what to trace; otherwise, what not to
 * @dirty: something has been written that changes @hash
 * @hash: the filter as read or being written; only this file's
 * @waiting: the same of what waits for modules
 * @parser: cuts what is written into words
 * @names: the names that are shown
 * @failed: a word was refused: nothing of what this file wrote takes effect
 * @lock: serialises writers of this open file; covers all but @names
 *
 * The reader is serialised by seq_file.
 */
struct filter_file {
	struct trace_array	*tr;
	struct ftrace_ops	*ops;
	bool			enable;
	bool			dirty;
	bool			failed;
	struct mutex		lock;	/* see above */
	struct ftrace_hash	*hash;
	struct list_head	waiting;
	struct trace_parser	parser;
	struct ftrace_names	names;
};

static unsigned int nr_sites(const struct filter_file *ff)
{
	return ff->hash ? ff->hash->count : 0;
}

/* Behind line 0 and the sites: what waits for modules, then the probes. */
static bool has_more(struct filter_file *ff, loff_t n)
{
	if (ftrace_waiting_nth(&ff->waiting, n))
		return true;
	/* Probes stand in one of the two files only. */
	if (!ff->tr || !ff->enable)
		return false;
	return ftrace_probes_exist(ff->tr, n - list_count_nodes(&ff->waiting));
}

/* A position that has something to show, or NULL. */
static void *filter_at(struct filter_file *ff, loff_t *pos)
{
	loff_t nr = nr_sites(ff) + 1;

	return *pos < nr || has_more(ff, *pos - nr) ? pos : NULL;
}

/*
 * Line 0 says what an empty filter means; if it is not empty the lines begin
 * at 1.
 */
static void *filter_start(struct seq_file *m, loff_t *pos)
{
	struct filter_file *ff = m->private;

	mutex_lock(&ftrace_lock);
	if (!*pos && !ftrace_hash_empty(ff->hash))
		*pos = 1;
	return filter_at(ff, pos);
}

static void *filter_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return filter_at(m->private, pos);
}

static void filter_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int show_site(struct seq_file *m, struct filter_file *ff,
		     unsigned long ip)
{
	struct ftrace_region *r = ftrace_region_find(ip);
	int ret;

	/* The module it was in is gone. */
	if (!r)
		return SEQ_SKIP;
	ret = ftrace_names_show(&ff->names, m, r, ip);
	seq_putc(m, '\n');
	return ret;
}

static int filter_show(struct seq_file *m, void *v)
{
	struct filter_file *ff = m->private;
	loff_t pos = *(loff_t *)v;
	struct ftrace_mod_load *w;

	if (!pos) {
		seq_puts(m, ff->enable ? "#### all functions enabled ####\n" :
					 "#### no functions disabled ####\n");
		return 0;
	}
	pos--;
	if (pos < nr_sites(ff))
		return show_site(m, ff, ftrace_text_addr(ff->hash->sites[pos]));
	pos -= nr_sites(ff);
	w = ftrace_waiting_nth(&ff->waiting, pos);
	if (w) {
		seq_printf(m, "%s:mod:%s\n", w->func, w->module);
		return 0;
	}
	pos -= list_count_nodes(&ff->waiting);
	return ftrace_probes_show(ff->tr, m, pos);
}

static const struct seq_operations filter_seq_ops = {
	.start	= filter_start,
	.next	= filter_next,
	.stop	= filter_stop,
	.show	= filter_show,
};

static struct filter_file *filter_file_alloc(struct trace_array *tr,
					     struct ftrace_ops *ops, int flag)
{
	struct filter_file *ff = kzalloc(sizeof(*ff), GFP_KERNEL);

	if (!ff)
		return NULL;
	if (trace_parser_get_init(&ff->parser, WORD_SIZE)) {
		kfree(ff);
		return NULL;
	}
	mutex_init(&ff->lock);
	INIT_LIST_HEAD(&ff->waiting);
	ff->tr = tr;
	ff->ops = ops;
	ff->enable = flag & FTRACE_ITER_FILTER;
	return ff;
}

static void filter_file_free(struct filter_file *ff)
{
	ftrace_names_stop(&ff->names);
	trace_parser_put(&ff->parser);
	ftrace_hash_free(ff->hash);
	ftrace_waiting_free(&ff->waiting);
	kfree(ff);
}

/* What the file starts from. Truncated, it starts from nothing. */
static int filter_file_load(struct filter_file *ff, bool truncate)
{
	struct ftrace_filter f;
	struct ftrace_hash *hash;
	int ret = 0;

	if (truncate) {
		ff->dirty = true;
		return 0;
	}
	mutex_lock(&ftrace_lock);
	ftrace_ops_filter(ff->ops, &f);
	hash = ftrace_hash_copy(ff->enable ? f.filter : f.skip);
	if (IS_ERR(hash))
		ret = PTR_ERR(hash);
	else
		ff->hash = hash;
	if (!ret && ff->tr)
		ret = ftrace_waiting_copy(&ff->waiting,
					  ftrace_waiting(ff->tr, ff->enable));
	mutex_unlock(&ftrace_lock);
	return ret;
}

static int filter_file_attach(struct filter_file *ff, struct file *file)
{
	bool truncate = file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC;
	int ret;

	ret = filter_file_load(ff, truncate);
	if (ret)
		return ret;
	if (!(file->f_mode & FMODE_READ)) {
		file->private_data = ff;
		return 0;
	}
	ret = seq_open(file, &filter_seq_ops);
	if (!ret)
		((struct seq_file *)file->private_data)->private = ff;
	return ret;
}

static struct filter_file *filter_file_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;
	return file->private_data;
}

/**
 * ftrace_regex_open - open a filter file
 * @tr: the trace array it belongs to, or NULL
 * @ops: whose filter it is
 * @flag: FTRACE_ITER_FILTER, what to trace; FTRACE_ITER_NOTRACE, what not to
 * @inode: of the file
 * @file: the file
 *
 * Context: process.
 * Return: 0; -ENOMEM, -ENODEV, -EPERM under lockdown.
 */
int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file)
{
	struct filter_file *ff;
	int ret;

	if (ftrace_disabled)
		return -ENODEV;
	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ftrace_ops_init(ops);
	ff = filter_file_alloc(tr, ops, flag);
	ret = ff ? filter_file_attach(ff, file) : -ENOMEM;
	if (!ret)
		return 0;
	if (ff)
		filter_file_free(ff);
	if (tr)
		trace_array_put(tr);
	return ret;
}

/* What follows the colon of "mod:module", NULL if it is another command. */
static char *mod_of(char *words)
{
	size_t len = str_has_prefix(words, "mod");

	if (!len)
		return NULL;
	return words[len] == ':' ? words + len + 1 :
	       words[len] ? NULL : words + len;
}

/* A pattern, alone or for a module, or with a command for what it matches. */
static int take_word(struct filter_file *ff, char *word)
{
	char *func = strsep(&word, ":");
	char *mod = word ? mod_of(word) : NULL;
	int ret;

	if (word && !mod)
		return ff->tr ? ftrace_run_command(ff->tr, ff->hash, func, word,
						   ff->enable) : -EINVAL;
	mutex_lock(&ftrace_lock);
	if (mod)
		ret = ftrace_apply_mod_pattern(&ff->hash,
					       ff->tr ? &ff->waiting : NULL,
					       func, mod, ff->enable);
	else
		ret = ftrace_apply_pattern(&ff->hash, func);
	mutex_unlock(&ftrace_lock);
	if (!ret)
		ff->dirty = true;
	return ret;
}

static int take_parsed(struct filter_file *ff)
{
	struct trace_parser *parser = &ff->parser;
	int ret;

	/* What follows a zero byte would silently be dropped. */
	if (memchr(parser->buffer, 0, parser->idx))
		ret = -EINVAL;
	else
		ret = take_word(ff, parser->buffer);
	trace_parser_clear(parser);
	return ret;
}

static ssize_t take_words(struct filter_file *ff, const char __user *ubuf,
			  size_t cnt, loff_t *ppos)
{
	size_t done = 0;
	ssize_t len;
	int ret;

	while (done < cnt) {
		len = trace_get_user(&ff->parser, ubuf + done, cnt - done, ppos);
		if (len < 0)
			return len;
		done += len;
		/* The word may go on with the next write. */
		if (!trace_parser_loaded(&ff->parser) ||
		    trace_parser_cont(&ff->parser))
			continue;
		ret = take_parsed(ff);
		if (ret)
			return ret;
	}
	return done;
}

static ssize_t filter_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos)
{
	struct filter_file *ff = filter_file_of(file);
	ssize_t ret;

	if (unlikely(ftrace_disabled))
		return -ENODEV;
	mutex_lock(&ff->lock);
	ret = take_words(ff, ubuf, cnt, ppos);
	if (ret < 0)
		ff->failed = true;
	mutex_unlock(&ff->lock);
	return ret;
}

/**
 * ftrace_filter_write - write to a file of functions to trace
 * @file: the file
 * @ubuf: words, separated by white space
 * @cnt: how many bytes
 * @ppos: position in the file
 *
 * Context: process.
 * Return: bytes taken; -EINVAL (no function matches, no such command, a word
 * is too long), -ENOMEM, -ENODEV, -EFAULT. After an error nothing that was
 * written through this open file takes effect.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos)
{
	return filter_write(file, ubuf, cnt, ppos);
}

/**
 * ftrace_notrace_write - write to a file of functions not to trace
 * @file: the file
 * @ubuf: words, separated by white space
 * @cnt: how many bytes
 * @ppos: position in the file
 *
 * Context: process.
 * Return: as ftrace_filter_write().
 */
ssize_t ftrace_notrace_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	return filter_write(file, ubuf, cnt, ppos);
}

/* While somebody waits for a module, an empty filter must not mean all. */
static int hold_for_waiting(struct filter_file *ff)
{
	struct ftrace_hash *nothing;

	if (!ff->enable || ff->hash || list_empty(&ff->waiting))
		return 0;
	nothing = ftrace_hash_nothing();
	if (IS_ERR(nothing))
		return PTR_ERR(nothing);
	ff->hash = nothing;
	return 0;
}

/* A module may have come since the file was opened, so look again. */
static int publish(struct filter_file *ff)
{
	LIST_HEAD(came);
	int ret;

	ret = ftrace_waiting_resolve(&ff->waiting, &ff->hash, &came);
	ftrace_waiting_free(&came);
	if (!ret)
		ret = hold_for_waiting(ff);
	if (!ret)
		ret = ftrace_ops_set_filter(ff->ops, ff->hash, ff->enable);
	if (ret)
		return ret;
	ff->hash = NULL;
	if (!ff->tr)
		return 0;
	ftrace_waiting_free(ftrace_waiting(ff->tr, ff->enable));
	list_splice_init(&ff->waiting, ftrace_waiting(ff->tr, ff->enable));
	return 0;
}

static void filter_file_apply(struct filter_file *ff)
{
	struct ftrace_ops_hash *h = ff->ops->func_hash;
	int ret;

	/* The last word needs no white space behind it. */
	if (!ff->failed && trace_parser_loaded(&ff->parser) && take_parsed(ff))
		ff->failed = true;
	if (ff->failed || !ff->dirty)
		return;

	mutex_lock(&h->regex_lock);
	mutex_lock(&ftrace_lock);
	ret = publish(ff);
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&h->regex_lock);
	/* Nobody hears what closing a file returns. */
	if (ret)
		pr_warn("a filter that was written cannot take effect: %d\n", ret);
}

/**
 * ftrace_regex_release - close a filter file; what was written takes effect
 * @inode: of the file
 * @file: the file
 *
 * Context: process.
 * Return: 0.
 */
int ftrace_regex_release(struct inode *inode, struct file *file)
{
	struct filter_file *ff = filter_file_of(file);

	if (file->f_mode & FMODE_WRITE)
		filter_file_apply(ff);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	if (ff->tr)
		trace_array_put(ff->tr);
	filter_file_free(ff);
	return 0;
}

static int filter_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;

	return ftrace_regex_open(tr, tr->ops, FTRACE_ITER_FILTER, inode, file);
}

static int notrace_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;

	return ftrace_regex_open(tr, tr->ops, FTRACE_ITER_NOTRACE, inode, file);
}

static const struct file_operations filter_fops = {
	.open		= filter_open,
	.read		= seq_read,
	.write		= ftrace_filter_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

static const struct file_operations notrace_fops = {
	.open		= notrace_open,
	.read		= seq_read,
	.write		= ftrace_notrace_write,
	.llseek		= tracing_lseek,
	.release	= ftrace_regex_release,
};

/**
 * ftrace_create_filter_files - make the filter files of a trace array
 * @tr: the array
 * @parent: its directory
 *
 * Context: process.
 */
void ftrace_create_filter_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("set_ftrace_filter", TRACE_MODE_WRITE, parent, tr,
			  &filter_fops);
	trace_create_file("set_ftrace_notrace", TRACE_MODE_WRITE, parent, tr,
			  &notrace_fops);
}

/**
 * ftrace_destroy_filter_files - the ops of an instance is going away
 * @ops: the ops
 *
 * Its files are gone already; a file that is still open pins the instance, so
 * there is none.
 *
 * Context: process; sleeps for a grace period.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->private;

	mutex_lock(&ftrace_lock);
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_shutdown(ops);
	ops->flags |= FTRACE_OPS_FL_DELETED;
	ftrace_waiting_free(ftrace_waiting(tr, true));
	ftrace_waiting_free(ftrace_waiting(tr, false));
	mutex_unlock(&ftrace_lock);
	/* Since its last tracer was turned off nobody has waited yet. */
	synchronize_rcu_tasks();
	ftrace_free_filter(ops);
}
