// SPDX-License-Identifier: GPL-2.0
/*
 * The filters that an open filter file shows and changes: that of its trace
 * array or of one tracer, or those of all tracers that run there.
 *
 * A tracer may leave while the file is open. So a filter is known by the id of
 * its tracer, which is looked up again when the filter is to take effect.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "edit.h"

/* All open filter files; ftrace_lock. */
static LIST_HEAD(open_files);

/* The ops of an edit, or NULL: its tracer has left. */
static struct ftrace_ops *edit_ops(const struct filter_edit *e)
{
	struct ftrace_tracer *t;

	if (e->ops)
		return e->ops;
	t = ftrace_tracer_by_id(e->id);
	return t ? t->ops : NULL;
}

static void edit_free(struct filter_edit *e)
{
	list_del(&e->list);
	ftrace_hash_free(e->hash);
	if (!hlist_empty(&e->waiting))
		ftrace_waiting_free(&e->waiting);
	kfree(e);
}

static int edit_load(const struct filter_file *ff, struct filter_edit *e)
{
	struct ftrace_ops *ops = edit_ops(e);
	struct ftrace_filter f;
	struct ftrace_hash *hash;

	if (ff->truncate)
		return 0;
	ftrace_ops_filter(ops, &f);
	hash = ftrace_hash_copy(ff->enable ? f.filter : f.skip);
	if (IS_ERR(hash))
		return PTR_ERR(hash);
	e->hash = hash;
	/* A file without a trace array does not show what waits. */
	if (!ff->tr)
		return 0;
	return ftrace_waiting_copy(&e->waiting,
				   &ops->func_hash->waiting[ff->enable]);
}

/* The filter of @t, or if that is NULL, of @ops. */
static struct filter_edit *edit_add(struct filter_file *ff, struct ftrace_ops *ops,
				    const struct ftrace_tracer *t)
{
	struct filter_edit *e = kzalloc(sizeof(*e), GFP_KERNEL);
	int ret;

	if (!e)
		return ERR_PTR(-ENOMEM);
	list_add_tail(&e->list, &ff->edits);
	if (t) {
		e->id = t->id;
		strscpy(e->name, t->name);
	} else {
		e->ops = ops;
	}
	ret = edit_load(ff, e);
	if (!ret)
		return e;
	edit_free(e);
	return ERR_PTR(ret);
}

/* With several tracers whose names somebody uses: each filter with its name. */
static int load_named(struct filter_file *ff, const struct ftrace_tracer *target)
{
	struct ftrace_tracer *t = NULL;
	struct filter_edit *e;

	ff->named = true;
	while ((t = ftrace_tracer_next(ff->tr, t))) {
		if (!ftrace_tracer_is_settable(t))
			continue;
		e = edit_add(ff, NULL, t);
		if (IS_ERR(e))
			return PTR_ERR(e);
		if (t == target)
			ff->target = e;
	}
	return 0;
}

/**
 * filter_edits_load - see whose filters a file shows and changes
 * @ff: the file, just opened
 * @ops: whose it is if tracers do not matter
 * @read: it can be read
 *
 * Context: process.
 * Return: 0 or -ENOMEM; filter_edits_free() in any case.
 */
int filter_edits_load(struct filter_file *ff, struct ftrace_ops *ops,
		      bool read)
{
	struct ftrace_tracer *t = NULL;

	guard(mutex)(&ftrace_lock);
	list_add(&ff->open, &open_files);
	ftrace_modnames_begin();
	if (ff->tr && ftrace_tracers_known(ff->tr))
		t = ftrace_tracer_default(ff->tr);
	ff->common = ff->tr && !t;
	ff->several = ff->tr && ftrace_tracers_are_several(ff->tr);
	if (t && read && ff->several)
		return load_named(ff, t);
	ff->target = edit_add(ff, ops, t);
	return PTR_ERR_OR_ZERO(ff->target);
}

/* A write without a name was for this tracer as well. */
static bool shares_with_array(const struct ftrace_tracer *t)
{
	return ftrace_tracer_follows(t) ||
	       t->ops->func_hash == t->tr->ops->func_hash;
}

/*
 * What was written without a name may have been for the same filter. That takes
 * effect before what is written with the name, so the latter begins with it.
 */
static struct filter_edit *go_on_with(struct filter_file *ff, struct filter_edit *e,
				      struct ftrace_tracer *t)
{
	struct filter_edit *first = list_first_entry(&ff->edits,
						     struct filter_edit, list);
	struct ftrace_hash *hash;
	int ret;

	if (first->id || !first->dirty || !shares_with_array(t))
		return e;
	hash = ftrace_hash_copy(first->hash);
	if (IS_ERR(hash))
		goto drop;
	ftrace_hash_free(e->hash);
	e->hash = hash;
	ftrace_waiting_free(&e->waiting);
	ret = ftrace_waiting_copy(&e->waiting, &first->waiting);
	if (!ret)
		return e;
	hash = ERR_PTR(ret);
drop:
	edit_free(e);
	return ERR_CAST(hash);
}

/* The edit for the tracer with a name; made when the name is first written. */
static struct filter_edit *edit_of(struct filter_file *ff, const char *name)
{
	struct ftrace_tracer *t = ftrace_tracer_find(ff->tr, name);
	struct filter_edit *e;

	if (!t)
		return ERR_PTR(-ENOENT);
	if (!ftrace_tracer_is_settable(t))
		return ERR_PTR(-EPERM);
	ftrace_tracers_mark_known(ff->tr);
	list_for_each_entry(e, &ff->edits, list) {
		if (e->id == t->id)
			return e;
	}
	e = edit_add(ff, NULL, t);
	return IS_ERR(e) ? e : go_on_with(ff, e, t);
}

/**
 * filter_edits_select - have what follows change the filter of a tracer
 * @ff: the file
 * @name: the name of the tracer
 *
 * Context: process, filter_file.lock held or the file being closed.
 * Return: 0; -EINVAL (no name at all), -ENOENT (no such tracer runs), -EPERM (it
 * has a filter that is not for the tracing files to change), -ENOMEM.
 */
int filter_edits_select(struct filter_file *ff, const char *name)
{
	struct filter_edit *e;

	if (!*name)
		return -EINVAL;
	guard(mutex)(&ftrace_lock);
	e = edit_of(ff, name);
	if (IS_ERR(e))
		return PTR_ERR(e);
	ff->target = e;
	ff->addressed = true;
	/* Even if nothing is written after the name. */
	if (ff->truncate)
		e->dirty = true;
	return 0;
}

/* From now on, a tracer that was named shares its filter with no other. */
static int separate(const struct filter_edit *e)
{
	return e->id ? ftrace_tracer_separate(ftrace_tracer_by_id(e->id)) : 0;
}

/* A module may have come since the file was opened, so look again. */
static int publish(struct filter_file *ff, struct filter_edit *e)
{
	/* What the file did not show is dropped only if all else is. */
	bool all = ff->tr || ff->truncate;
	struct ftrace_ops *ops = edit_ops(e);
	struct hlist_head *waiting;
	int ret;

	if (!ops)
		return -ENOENT;
	ret = ftrace_waiting_resolve(&e->waiting, NULL, &e->hash);
	if (ret < 0)
		return ret;
	ftrace_waiting_done(&e->waiting);
	ret = 0;
	if (ff->enable)
		ret = ftrace_waiting_trace_nothing(all ? &e->waiting :
						&ops->func_hash->waiting[true],
					  &e->hash);
	if (!ret)
		ret = separate(e);
	if (!ret)
		ret = ftrace_ops_replace_half(ops, e->hash, ff->enable);
	if (ret)
		return ret;
	e->hash = NULL;
	waiting = &ops->func_hash->waiting[ff->enable];
	if (all && !(hlist_empty(waiting) && hlist_empty(&e->waiting)))
		ftrace_waiting_replace(waiting, &e->waiting);
	if (ff->common && !e->id)
		ftrace_tracers_share(ff->tr);
	return 0;
}

/**
 * filter_edits_lost - say that a filter stays as it was
 * @err: why, a negative errno
 *
 * Context: any.
 */
void filter_edits_lost(int err)
{
	pr_warn("a filter that was written cannot take effect: %d\n", err);
}

/**
 * filter_edits_publish - have what has been written take effect
 * @ff: the file, being closed
 *
 * A filter for which that fails is left as it was, and the log says so: nobody
 * sees what closing a file returns.
 *
 * Context: process.
 */
void filter_edits_publish(struct filter_file *ff)
{
	struct filter_edit *e;
	int ret;

	/* A truncating open without a name emptied this filter. */
	if (ff->truncate && !ff->addressed)
		ff->target->dirty = true;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(e, &ff->edits, list) {
		ret = e->dirty ? publish(ff, e) : 0;
		if (ret)
			filter_edits_lost(ret);
	}
}

/**
 * filter_edits_free - drop what has not taken effect
 * @ff: the file, being closed
 *
 * Context: process.
 */
void filter_edits_free(struct filter_file *ff)
{
	struct filter_edit *e, *next;
	bool was_open;

	guard(mutex)(&ftrace_lock);
	was_open = !list_empty(&ff->open);
	list_del_init(&ff->open);
	list_for_each_entry_safe(e, next, &ff->edits, list)
		edit_free(e);
	if (was_open)
		ftrace_modnames_end();
}

static void edit_forget(const struct filter_file *ff, struct filter_edit *e,
			u32 start, u32 end)
{
	struct ftrace_hash *rest;

	rest = ftrace_hash_forget(e->hash, ff->enable, start, end);
	if (rest == e->hash)
		return;
	ftrace_hash_free(e->hash);
	e->hash = rest;
}

/**
 * filter_edits_forget - take the sites of text that is gone out of open files
 * @start: the first address, as ftrace_text_key()
 * @end: the first address after it, likewise
 *
 * If they stayed, they would take effect when the file is closed.
 *
 * Context: process, ftrace_lock held.
 */
void filter_edits_forget(u32 start, u32 end)
{
	struct filter_file *ff;
	struct filter_edit *e;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(ff, &open_files, open) {
		list_for_each_entry(e, &ff->edits, list)
			edit_forget(ff, e, start, end);
	}
}
