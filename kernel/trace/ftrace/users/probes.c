// SPDX-License-Identifier: GPL-2.0
/*
 * The function probes of all trace arrays: they are set and taken away by commands,
 * shown in the filter files, and go with the text or the instance they are for.
 */
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../sites/names.h"
#include "probe.h"
#include "users.h"

/*
 * The filter of the ops has lost these sites already. If none is left the probe
 * stays, until whoever set it takes it away: a command may have to undo more
 * than the probe itself, as snapshot has.
 */
static bool forget_sites(struct func_probe *probe, u32 start, u32 end)
{
	struct ftrace_hash *live = ftrace_probe_live(probe);

	return ftrace_probe_retire(probe, ftrace_hash_forget(live, false, start, end));
}

/**
 * ftrace_probes_forget - take all probes away from text that is gone
 * @start: the first address, as ftrace_text_key()
 * @end: the first address after it, likewise
 *
 * The data that they keep for these functions goes, too. Other text may come to
 * lie there, for whose calls the probes were not set.
 *
 * Context: process, event_mutex held, for the sake of free(), trace_types_lock, and
 * ftrace_probe_mutex; not ftrace_lock. Waits for one grace period if there are
 * any.
 */
void ftrace_probes_forget(u32 start, u32 end)
{
	struct func_probe *probe;
	struct trace_array *tr;
	bool any = false;

	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	lockdep_assert_held(&ftrace_probe_mutex);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry(probe, &tr->func_probes, list)
			any |= forget_sites(probe, start, end);
	}
	if (!any)
		return;
	ftrace_synchronize_rcu();
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry(probe, &tr->func_probes, list)
			ftrace_probe_free_retired(probe, start, end);
	}
}

/* The call sites that a pattern means, which is written to. */
static struct ftrace_hash *match_sites(char *glob)
{
	struct ftrace_hash *sites;
	struct ftrace_glob g;

	ftrace_glob_parse(&g, glob);
	if (g.not)
		return ERR_PTR(-EINVAL);
	mutex_lock(&ftrace_lock);
	sites = ftrace_match_sites(&g, NULL);
	mutex_unlock(&ftrace_lock);
	return sites ?: ERR_PTR(-EINVAL);
}

static bool means_all(const char *glob)
{
	return !*glob || !strcmp(glob, "*");
}

/* The sites that keep a probe when @glob loses it. */
static struct ftrace_hash *sites_but(struct func_probe *probe, char *glob)
{
	struct ftrace_hash *sites, *rest;

	if (means_all(glob))
		return NULL;
	sites = match_sites(glob);
	if (IS_ERR(sites))
		return sites;
	rest = ftrace_hash_minus(ftrace_probe_live(probe), sites);
	ftrace_hash_free(sites);
	return rest;
}

static int reduce_probe(struct func_probe *probe, char *glob)
{
	struct ftrace_hash *rest;
	int ret;

	/* All text that it was for is gone. */
	if (!ftrace_probe_live(probe) && means_all(glob)) {
		ftrace_probe_destroy(probe);
		return 0;
	}
	rest = sites_but(probe, glob);
	if (IS_ERR(rest))
		return PTR_ERR(rest);
	ret = ftrace_probe_shrink(probe, rest);
	if (ret)
		ftrace_hash_free(rest);
	return ret;
}

/**
 * register_ftrace_function_probe - have a probe called for functions
 * @glob: which functions; is written to
 * @tr: the trace array it is for; the caller keeps it
 * @probe_ops: the probe
 * @data: handed to its init() for each function
 *
 * Functions that have it in @tr already keep it as it is; a count of theirs is
 * not set again. init() and free() are called with ftrace_probe_mutex held, and what
 * the caller holds.
 *
 * Context: process, may sleep. The caller may hold event_mutex and
 * trace_types_lock, but not ftrace_lock.
 * Return: to how many functions it was given anew; -EINVAL if there are none,
 * -ENOMEM, an error of init() or of ftrace_startup(), and nothing has changed.
 */
int register_ftrace_function_probe(char *glob, struct trace_array *tr,
				   struct ftrace_probe_ops *probe_ops,
				   void *data)
{
	struct func_probe *known, *probe;
	struct ftrace_hash *sites;
	int ret = -ENOMEM;

	/* Functions that were found stay until they have the probe. */
	guard(mutex)(&ftrace_probe_mutex);
	sites = match_sites(glob);
	if (IS_ERR(sites))
		return PTR_ERR(sites);

	known = ftrace_probe_find(tr, probe_ops);
	probe = known ?: ftrace_probe_create(tr, probe_ops);
	if (probe) {
		ret = ftrace_probe_extend(probe, sites, data);
		if (!known && !ftrace_probe_live(probe))
			ftrace_probe_destroy(probe);
	}
	ftrace_hash_free(sites);
	return ret;
}

/**
 * unregister_ftrace_function_probe_func - take a probe away from functions
 * @glob: which functions; is written to. "*" or nothing are all that have it
 * @tr: the trace array
 * @probe_ops: the probe
 *
 * Context: process, may sleep. The caller may hold event_mutex and
 * trace_types_lock, but not ftrace_lock.
 * Return: 0; -ENODEV if no function of @tr has been given the probe, -EINVAL if none
 * that matches has it; -ENOMEM, and nothing has changed.
 */
int unregister_ftrace_function_probe_func(char *glob, struct trace_array *tr,
					  struct ftrace_probe_ops *probe_ops)
{
	struct func_probe *probe;

	guard(mutex)(&ftrace_probe_mutex);
	probe = ftrace_probe_find(tr, probe_ops);
	return probe ? reduce_probe(probe, glob) : -ENODEV;
}

/**
 * clear_ftrace_function_probes - take all probes of a trace array away
 * @tr: the trace array
 *
 * Context: process, event_mutex held, for the sake of free(); may hold
 * trace_types_lock. Waits for one grace period if any of them has functions, and for
 * one of another kind if no stop of the machine has made it unnecessary.
 */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct func_probe *probe, *next;
	bool any = false, called = false;

	guard(mutex)(&ftrace_probe_mutex);
	/* Not ftrace_probe_shrink(): this may not fail for want of memory. */
	list_for_each_entry(probe, &tr->func_probes, list)
		any |= ftrace_probe_retire(probe, NULL);
	if (any)
		ftrace_synchronize_rcu();
	list_for_each_entry(probe, &tr->func_probes, list) {
		ftrace_probe_free_retired(probe, 0, U32_MAX);
		called |= ftrace_probe_leave(probe);
	}
	if (called)
		synchronize_rcu_tasks_rude();
	list_for_each_entry_safe(probe, next, &tr->func_probes, list)
		ftrace_probe_destroy(probe);
}

/*
 * The probe that has the first line at @pos or after it, NULL: there is none. @n
 * becomes the index in its live sites.
 */
static struct func_probe *probe_at(struct trace_array *tr,
				   const struct ftrace_probe_pos *pos,
				   unsigned int *n)
{
	struct func_probe *probe;
	struct ftrace_hash *live;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(probe, &tr->func_probes, list) {
		live = ftrace_probe_live(probe);
		if (!live || probe->id > pos->id)
			continue;
		*n = ftrace_hash_lower_bound(live, probe->id == pos->id ?
					     pos->key : 0);
		if (*n < live->count)
			return probe;
	}
	return NULL;
}

/**
 * ftrace_probes_seek - find the line that ftrace_probes_show() is to print
 * @tr: the trace array; NULL has none
 * @pos: a place; it becomes that of the first line there or after it
 *
 * Context: process, ftrace_lock held.
 */
bool ftrace_probes_seek(struct trace_array *tr, struct ftrace_probe_pos *pos)
{
	struct func_probe *probe;
	unsigned int n;

	probe = tr ? probe_at(tr, pos, &n) : NULL;
	if (!probe)
		return false;
	pos->id = probe->id;
	pos->key = ftrace_probe_live(probe)->sites[n];
	return true;
}

/**
 * ftrace_probes_show - print one function of one probe of a trace array
 * @tr: the trace array
 * @m: where to print
 * @pos: which one, as ftrace_probes_seek() has found it
 *
 * Context: process, ftrace_lock held.
 * Return: 0, SEQ_SKIP if its text is gone, or -ENOENT if there is no such line.
 */
int ftrace_probes_show(struct trace_array *tr, struct seq_file *m,
		       const struct ftrace_probe_pos *pos)
{
	struct ftrace_probe_ops *ops;
	struct func_probe *probe;
	struct ftrace_filter f;
	unsigned long ip;
	unsigned int n;

	probe = probe_at(tr, pos, &n);
	if (!probe)
		return -ENOENT;
	ops = probe->probe_ops;
	ip = ftrace_text_addr(ftrace_probe_live(probe)->sites[n]);
	/* Its text is gone, and ftrace_probes_forget() is about to come. */
	ftrace_ops_filter(&probe->ops, &f);
	if (!ftrace_hash_has(f.filter, ip))
		return SEQ_SKIP;
	if (ops->print)
		ops->print(m, ip, ops, probe->data);
	else
		seq_printf(m, "%ps:%ps\n", (void *)ip, ops->func);
	return 0;
}
