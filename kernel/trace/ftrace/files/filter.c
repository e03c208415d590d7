// SPDX-License-Identifier: GPL-2.0
/*
 * The files set_ftrace_filter and set_ftrace_notrace, of the top level and of
 * every instance, and the filter files of other tracers.
 *
 * Patterns are collected in sets of the writer's own, one for each filter, and each
 * set takes effect as a whole when the file is closed. A command ("f:traceoff") takes
 * effect at once.
 */
#include <linux/kallsyms.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../ops/ops.h"
#include "../users/users.h"
#include "edit.h"
#include "files.h"

/*
 * Room for a word that is written: a symbol in its longest form, which leaves some
 * for a command and its arguments.
 */
#define WORD_SIZE	KSYM_SYMBOL_LEN

/* ---- reading ------------------------------------------------------------- */

/*
 * A filter is a line for each site, or one that says what an empty filter means;
 * then one for each that waits.
 */
static void enter_edit(struct filter_cursor *c, struct filter_edit *e)
{
	c->edit = e;
	c->key = 0;
	c->nr_waiting = 0;
	c->waiter = e ? ftrace_waiting_nth(&e->waiting, 0) : NULL;
}

/* Is a line about sites left in the filter? */
static bool find_site(struct filter_cursor *c)
{
	struct ftrace_hash *hash = c->edit->hash;

	if (ftrace_hash_empty(hash))
		return !c->key;
	c->idx = ftrace_hash_lower_bound(hash, c->key);
	return c->idx < hash->count;
}

/* Come to the first line that is left, NULL: there is none. */
static void *find_line(struct filter_file *ff)
{
	struct filter_cursor *c = &ff->cursor;

	while (c->edit) {
		c->is_waiting = !find_site(c);
		if (!c->is_waiting || c->waiter)
			return c;
		enter_edit(c, list_is_last(&c->edit->list, &ff->edits) ? NULL :
			      list_next_entry(c->edit, list));
	}
	/* Probes stand in one of the two files only. */
	return ff->enable && ftrace_probes_seek(ff->tr, &c->probe) ? c : NULL;
}

/* Have the line that has been shown not be left any more. */
static void pass_line(struct filter_cursor *c)
{
	if (!c->edit) {
		c->probe.key++;
	} else if (c->is_waiting) {
		c->waiter = ftrace_waiting_next(c->waiter);
		c->nr_waiting++;
	} else if (ftrace_hash_empty(c->edit->hash)) {
		c->key = 1;
	} else {
		c->key = (u64)c->edit->hash->sites[c->idx] + 1;
	}
}

/* A position is 0, or where the reader is. */
static void *filter_start(struct seq_file *m, loff_t *pos)
{
	struct filter_file *ff = m->private;
	struct filter_cursor *c = &ff->cursor;

	mutex_lock(&ftrace_lock);
	if (!*pos) {
		enter_edit(c, list_first_entry(&ff->edits, struct filter_edit, list));
		c->probe = FTRACE_PROBE_FIRST;
	} else if (c->edit) {
		c->waiter = ftrace_waiting_nth(&c->edit->waiting, c->nr_waiting);
	}
	return find_line(ff);
}

static void *filter_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	pass_line(v);
	return find_line(m->private);
}

static void filter_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int show_site(struct seq_file *m, struct filter_file *ff,
		     const struct filter_edit *e, unsigned long ip)
{
	struct ftrace_region *r = ftrace_region_find(ip);
	int ret;

	/* The module it was in is gone. */
	if (!r)
		return SEQ_SKIP;
	if (ff->named)
		seq_printf(m, "[ %s] ", e->name);
	ret = ftrace_names_show(&ff->names, m, r, ip);
	seq_putc(m, '\n');
	return ret;
}

static int filter_show(struct seq_file *m, void *v)
{
	struct filter_file *ff = m->private;
	struct filter_cursor *c = v;
	struct filter_edit *e = c->edit;

	if (!e)
		return ftrace_probes_show(ff->tr, m, &c->probe);
	if (!c->is_waiting && !ftrace_hash_empty(e->hash))
		return show_site(m, ff, e,
				 ftrace_text_addr(e->hash->sites[c->idx]));
	if (ff->named)
		seq_printf(m, "[ %s] ", e->name);
	if (c->is_waiting)
		seq_printf(m, "%s:mod:%s\n", c->waiter->func, c->waiter->module);
	else
		seq_puts(m, ff->enable ? "#### all functions enabled ####\n" :
					 "#### no functions disabled ####\n");
	return 0;
}

static const struct seq_operations filter_seq_ops = {
	.start	= filter_start,
	.next	= filter_next,
	.stop	= filter_stop,
	.show	= filter_show,
};

/* ---- opening ------------------------------------------------------------- */

static struct filter_file *filter_file_alloc(struct trace_array *tr, int flag)
{
	struct filter_file *ff = kzalloc(sizeof(*ff), GFP_KERNEL);

	if (!ff)
		return NULL;
	if (trace_parser_get_init(&ff->parser, WORD_SIZE)) {
		kfree(ff);
		return NULL;
	}
	mutex_init(&ff->lock);
	INIT_LIST_HEAD(&ff->open);
	INIT_LIST_HEAD(&ff->edits);
	ff->tr = tr;
	ff->enable = flag & FTRACE_ITER_FILTER;
	return ff;
}

static void filter_file_free(struct filter_file *ff)
{
	filter_edits_free(ff);
	ftrace_names_stop(&ff->names);
	trace_parser_put(&ff->parser);
	kfree(ff);
}

static int filter_file_attach(struct filter_file *ff, struct ftrace_ops *ops,
			      struct file *file)
{
	int ret;

	ff->truncate = file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC;
	ret = filter_edits_load(ff, ops, file->f_mode & FMODE_READ);
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
 * @ops: whose filter it is; NULL: that of @tr, which may be about to go away
 *	 until this has taken a reference
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

	if (!ops)
		ops = tr->ops;
	ftrace_ops_init(ops);
	ff = filter_file_alloc(tr, flag);
	ret = ff ? filter_file_attach(ff, ops, file) : -ENOMEM;
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
static int take_pattern(struct filter_file *ff, char *word)
{
	struct filter_edit *e = ff->target;
	char *func = strsep(&word, ":");
	char *mod = word ? mod_of(word) : NULL;
	int ret;

	if (word && !mod) {
		/* Probes belong to a trace array, not to one of its tracers. */
		if (!ff->tr || ff->addressed)
			return -EINVAL;
		return ftrace_run_command(ff->tr, e->hash, func, word, ff->enable);
	}
	mutex_lock(&ftrace_lock);
	if (mod)
		ret = ftrace_apply_mod_pattern(&e->hash,
					       ff->tr ? &e->waiting : NULL,
					       func, mod);
	else
		ret = ftrace_apply_pattern(&e->hash, func);
	mutex_unlock(&ftrace_lock);
	if (!ret)
		e->dirty = true;
	return ret;
}

/*
 * A name stands in brackets. Patterns have brackets, too, but hardly one pair
 * around the whole word. With several tracers the files show a space after the
 * opening bracket, so when what was read is written again, that bracket is a
 * word of its own.
 */
static int take_word(struct filter_file *ff, char *word)
{
	char *end = word + strlen(word) - 1, *name;

	if (!ff->tr)
		return take_pattern(ff, word);
	if (ff->several && !ff->in_name && !strcmp(word, "[")) {
		ff->in_name = true;
		return 0;
	}
	name = word + !ff->in_name;
	if ((!ff->in_name && word[0] != '[') || strcspn(name, "[]") != end - name ||
	    *end != ']')
		return ff->in_name ? -EINVAL : take_pattern(ff, word);
	*end = 0;
	ff->in_name = false;
	return filter_edits_select(ff, name);
}

static int take_parsed(struct filter_file *ff)
{
	struct trace_parser *parser = &ff->parser;
	int ret = take_word(ff, parser->buffer);

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
		/* Each word may be a glob, and there may be thousands of them. */
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
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

/**
 * ftrace_filter_write - write to a file of functions to trace
 * @file: the file
 * @ubuf: words, separated by white space
 * @cnt: how many bytes
 * @ppos: position in the file
 *
 * Context: process.
 * Return: bytes taken; -EINVAL (no function matches, no such command, a word
 * is too long), -ENOENT (no tracer of that name), -EPERM (not for the files to
 * change), -ENOMEM, -ENODEV, -EFAULT, -EINTR (the task is being killed). After an
 * error no pattern that was written through this open file takes effect; commands that
 * were carried out stay.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf,
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
	return ftrace_filter_write(file, ubuf, cnt, ppos);
}

/*
 * The last word needs no white space after it, and is taken here. Nobody sees
 * what closing a file returns, so errors go to the log.
 */
static int take_last(struct filter_file *ff)
{
	int ret = 0;

	if (trace_parser_loaded(&ff->parser))
		ret = take_parsed(ff);
	/* A name in brackets that did not end. */
	if (!ret && ff->in_name)
		ret = -EINVAL;
	if (ret)
		filter_edits_lost(ret);
	return ret;
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

	if (file->f_mode & FMODE_WRITE && !ff->failed && !take_last(ff))
		filter_edits_publish(ff);
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	if (ff->tr)
		trace_array_put(ff->tr);
	filter_file_free(ff);
	return 0;
}

static int filter_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_FILTER,
				 inode, file);
}

static int notrace_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(inode->i_private, NULL, FTRACE_ITER_NOTRACE,
				 inode, file);
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
	ftrace_tracers_create_file(tr, parent);
}

/**
 * ftrace_destroy_filter_files - the ops of an instance is going away
 * @ops: the ops
 *
 * Its files are gone already. None is open any more, because an open file pins
 * the instance.
 *
 * Context: process; may sleep for a grace period.
 */
void ftrace_destroy_filter_files(struct ftrace_ops *ops)
{
	mutex_lock(&ftrace_lock);
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_shutdown(ops);
	ops->flags |= FTRACE_OPS_FL_DELETED;
	mutex_unlock(&ftrace_lock);
	ftrace_array_wait(ops);
	ftrace_free_filter(ops);
}
