// SPDX-License-Identifier: GPL-2.0
/*
 * Function probes: something to do when a function is called, such as to stop
 * tracing or to enable an event. They come from commands in a filter file.
 *
 * All functions of a trace array that have the same probe share one ops. Two
 * sets say which functions these are. The filter of the ops says which call
 * sites call; @live says for which of them the probe is ready, and has the last
 * word. So text changes first on the way in, when it may fail and nothing else
 * has been done yet, and last on the way out, where nothing depends on it any
 * more.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "users.h"

/*
 * Serialises all that adds or removes probes, text that goes included, and is
 * what init() and free() of a probe are called under. Those may disable events,
 * and with them kprobes, which need ftrace_lock: it cannot be held over them.
 *
 * Order: event_mutex > trace_types_lock > probe_mutex > ftrace_lock.
 */
static DEFINE_MUTEX(probe_mutex);

/**
 * struct func_probe - one kind of probe in one trace array
 * @ops: has the call sites call
 * @list: in trace_array.func_probes; changed under probe_mutex and ftrace_lock,
 *	  either is enough to read it
 * @tr: the trace array
 * @probe_ops: what to do
 * @live: the sites to do it for, NULL for none; locked as @list, and read by
 *	  the callback under RCU
 * @data: the probe's own, made by its first init(); probe_mutex
 * @before: what was in @live, until the data of the sites that have left it is
 *	freed; probe_mutex
 * @rcu: to free it
 *
 * The data of a site is there as long as the site is in @live, and a grace
 * period longer. So whoever finds it there while holding ftrace_lock may look
 * at its data until letting go.
 */
struct func_probe {
	struct ftrace_ops		ops;
	struct list_head		list;
	struct trace_array		*tr;
	struct ftrace_probe_ops		*probe_ops;
	struct ftrace_hash __rcu	*live;
	void				*data;
	struct ftrace_hash		*before;
	struct rcu_head			rcu;
};

/* ---- the call ----------------------------------------------------------- */

/*
 * Under the recursion guard of the core, and where RCU watches. The base's
 * stack trace probe counts this function as a frame, see FTRACE_STACK_SKIP:
 * it has to have one, so the probe must not be a tail call.
 */
static void probe_call(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct func_probe *probe = container_of(op, struct func_probe, ops);

	preempt_disable_notrace();
	if (ftrace_hash_has(rcu_dereference_sched(probe->live), ip)) {
		/*
		 * What init() did for the site comes after the site is seen in
		 * @live; pairs with rcu_assign_pointer() in publish_live().
		 */
		smp_rmb();
		probe->probe_ops->func(ip, parent_ip, probe->tr,
				       probe->probe_ops, probe->data);
	}
	preempt_enable_notrace();
}

/* ---- which functions call ------------------------------------------------ */

static struct ftrace_hash *live_sites(struct func_probe *probe)
{
	return rcu_dereference_protected(probe->live,
					 lockdep_is_held(&probe_mutex) ||
					 lockdep_is_held(&ftrace_lock));
}

/* Takes @live over. What is no more in it is not called after a grace period. */
static void publish_live(struct func_probe *probe, struct ftrace_hash *live)
{
	struct ftrace_hash *old;

	lockdep_assert_held(&probe_mutex);
	scoped_guard(mutex, &ftrace_lock)
		old = rcu_replace_pointer(probe->live, live,
					  lockdep_is_held(&ftrace_lock));
	ftrace_hash_free_rcu(old);
}

/* Have these sites call, and no others. There is at least one. */
static int set_callers(struct func_probe *probe, const struct ftrace_hash *sites)
{
	struct ftrace_ops *ops = &probe->ops;
	struct ftrace_hash *filter;
	int ret;

	filter = ftrace_hash_copy(sites);
	if (IS_ERR(filter))
		return PTR_ERR(filter);

	guard(mutex)(&ftrace_lock);
	ret = ftrace_ops_set_filter(ops, filter, true);
	if (ret)
		ftrace_hash_free(filter);
	else if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		ret = ftrace_startup(ops);
	return ret;
}

/* Have no site call any more. */
static void clear_callers(struct func_probe *probe)
{
	guard(mutex)(&ftrace_lock);
	if (probe->ops.flags & FTRACE_OPS_FL_ENABLED)
		ftrace_shutdown(&probe->ops);
}

/* ---- their data ---------------------------------------------------------- */

/* The first @nr of @sites. Nobody is called for them, nor will be. */
static void free_sites(struct func_probe *probe, const struct ftrace_hash *sites,
		       unsigned int nr)
{
	struct ftrace_probe_ops *ops = probe->probe_ops;
	unsigned int i;

	if (!ops->free)
		return;
	for (i = 0; i < nr; i++)
		ops->free(ops, probe->tr, ftrace_text_addr(sites->sites[i]),
			  probe->data);
}

static int init_sites(struct func_probe *probe, const struct ftrace_hash *sites,
		      void *init_data)
{
	struct ftrace_probe_ops *ops = probe->probe_ops;
	unsigned int i;
	int ret;

	if (!ops->init)
		return 0;
	for (i = 0; i < sites->count; i++) {
		ret = ops->init(ops, probe->tr,
				ftrace_text_addr(sites->sites[i]), init_data,
				&probe->data);
		if (ret) {
			free_sites(probe, sites, i);
			return ret;
		}
	}
	return 0;
}

/* ---- a probe's life ------------------------------------------------------ */

static struct func_probe *find_probe(struct trace_array *tr,
				     struct ftrace_probe_ops *probe_ops)
{
	struct func_probe *probe;

	lockdep_assert_held(&probe_mutex);
	list_for_each_entry(probe, &tr->func_probes, list) {
		if (probe->probe_ops == probe_ops)
			return probe;
	}
	return NULL;
}

static struct func_probe *create_probe(struct trace_array *tr,
				       struct ftrace_probe_ops *probe_ops)
{
	struct func_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;
	probe->tr = tr;
	probe->probe_ops = probe_ops;
	probe->ops.func = probe_call;
	/* FL_RCU: only where RCU watches does its grace period mean anything. */
	probe->ops.flags = FTRACE_OPS_FL_DYNAMIC | FTRACE_OPS_FL_RECURSION |
			   FTRACE_OPS_FL_RCU | FTRACE_OPS_FL_OWN_FILTER;
	probe->ops.name = "trace_probe";
	probe->ops.tr = tr;
	ftrace_ops_init(&probe->ops);

	scoped_guard(mutex, &ftrace_lock)
		list_add(&probe->list, &tr->func_probes);
	return probe;
}

static void free_probe(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct func_probe, rcu));
}

/*
 * Nothing of it is live, and a grace period has passed since something was. But
 * a task may be preempted on its way to the callback, to find nothing there.
 */
static void destroy_probe(struct func_probe *probe)
{
	struct ftrace_probe_ops *ops = probe->probe_ops;

	clear_callers(probe);
	scoped_guard(mutex, &ftrace_lock)
		list_del(&probe->list);
	if (ops->free)
		ops->free(ops, probe->tr, 0, probe->data);
	ftrace_free_filter(&probe->ops);
	call_rcu_tasks(&probe->rcu, free_probe);
}

/*
 * Give the probe to those of @sites that do not have it yet. If that fails, all
 * is as before, but that some sites may go on calling in vain.
 */
static int extend_probe(struct func_probe *probe,
			const struct ftrace_hash *sites, void *init_data)
{
	struct ftrace_hash *live = live_sites(probe), *fresh, *all;
	int ret;

	fresh = ftrace_hash_minus(sites, live);
	if (!fresh)
		return -EINVAL;
	if (IS_ERR(fresh))
		return PTR_ERR(fresh);
	all = ftrace_hash_union(live, fresh);
	ret = PTR_ERR_OR_ZERO(all);
	if (ret)
		goto free_fresh;

	ret = set_callers(probe, all);
	if (!ret)
		ret = init_sites(probe, fresh, init_data);
	if (!ret) {
		publish_live(probe, all);
		ret = fresh->count;
		goto free_fresh;
	}
	ftrace_hash_free(all);
	if (live)
		set_callers(probe, live);
	else
		clear_callers(probe);
free_fresh:
	ftrace_hash_free(fresh);
	return ret;
}

/* Leave the probe to none but @rest; takes that over if it succeeds. */
static int shrink_probe(struct func_probe *probe, struct ftrace_hash *rest)
{
	struct ftrace_hash *gone;

	gone = ftrace_hash_minus(live_sites(probe), rest);
	if (IS_ERR(gone))
		return PTR_ERR(gone);
	if (!gone)
		return -EINVAL;

	/* The last site's calls end with the ops, in destroy_probe(). */
	publish_live(probe, rest);
	if (rest)
		set_callers(probe, rest);

	/*
	 * probe_call() keeps preemption off from where it looks at @live until
	 * the probe returns.
	 */
	synchronize_rcu();
	free_sites(probe, gone, gone->count);
	if (!rest)
		destroy_probe(probe);
	ftrace_hash_free(gone);
	return 0;
}

/* ---- many at once --------------------------------------------------------- */

/*
 * When text or an instance goes, any number of probes may: first none of them is
 * live any more, then a single grace period is enough for all of them, then their
 * data is freed.
 */

/* The first step: leave the probe to none but @rest. Was it live for more? */
static bool retire_live(struct func_probe *probe, struct ftrace_hash *rest)
{
	struct ftrace_hash *live = live_sites(probe);

	lockdep_assert_held(&probe_mutex);
	if (rest == live)
		return false;
	scoped_guard(mutex, &ftrace_lock)
		rcu_assign_pointer(probe->live, rest);
	probe->before = live;
	return true;
}

/* The last step, for what has left in this stretch of text. */
static void free_retired(struct func_probe *probe, u32 start, u32 end)
{
	struct ftrace_probe_ops *ops = probe->probe_ops;
	const struct ftrace_hash *before = probe->before;
	unsigned int i;

	if (!before)
		return;
	for (i = 0; ops->free && i < before->count; i++) {
		if (before->sites[i] >= start && before->sites[i] < end)
			ops->free(ops, probe->tr,
				  ftrace_text_addr(before->sites[i]),
				  probe->data);
	}
	ftrace_hash_free(probe->before);
	probe->before = NULL;
}

/*
 * The filter of the ops has lost these sites already. If none is left the probe
 * stays, for whoever set it to take away: a command may have to undo more than the
 * probe itself, as that of a snapshot has.
 */
static bool forget_sites(struct func_probe *probe, u32 start, u32 end)
{
	struct ftrace_hash *live = live_sites(probe);

	return retire_live(probe, ftrace_hash_forget(live, false, start, end));
}

/**
 * ftrace_probes_lock - have nobody add or remove probes
 *
 * Who names a function for a probe has it until then, so text can go in here with
 * no one left who would bring a site of it back.
 *
 * Context: process; may hold event_mutex and trace_types_lock, not ftrace_lock.
 */
void ftrace_probes_lock(void)
{
	mutex_lock(&probe_mutex);
}

/**
 * ftrace_probes_unlock - let others add and remove probes again
 */
void ftrace_probes_unlock(void)
{
	mutex_unlock(&probe_mutex);
}

/**
 * ftrace_probes_forget - take all probes away from text that is gone
 * @start: the first address, as ftrace_text_key()
 * @end: the first address behind it, likewise
 *
 * With what they keep for these functions. Other text may come to lie there, whose
 * calls are not what they were set for.
 *
 * Context: process, event_mutex held, for the sake of free(), trace_types_lock, and
 * ftrace_probes_lock(); not ftrace_lock. Waits for one grace period if there are
 * any.
 */
void ftrace_probes_forget(u32 start, u32 end)
{
	struct func_probe *probe;
	struct trace_array *tr;
	bool any = false;

	lockdep_assert_held(&event_mutex);
	lockdep_assert_held(&trace_types_lock);
	lockdep_assert_held(&probe_mutex);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry(probe, &tr->func_probes, list)
			any |= forget_sites(probe, start, end);
	}
	if (!any)
		return;
	synchronize_rcu();
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		list_for_each_entry(probe, &tr->func_probes, list)
			free_retired(probe, start, end);
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
	rest = ftrace_hash_minus(live_sites(probe), sites);
	ftrace_hash_free(sites);
	return rest;
}

static int reduce_probe(struct func_probe *probe, char *glob)
{
	struct ftrace_hash *rest;
	int ret;

	/* All text that it was for is gone. */
	if (!live_sites(probe) && means_all(glob)) {
		destroy_probe(probe);
		return 0;
	}
	rest = sites_but(probe, glob);
	if (IS_ERR(rest))
		return PTR_ERR(rest);
	ret = shrink_probe(probe, rest);
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
 * not set again. init() and free() are called with probe_mutex held, and what
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

	/* Text whose functions have been found stays until they have the probe. */
	guard(mutex)(&probe_mutex);
	sites = match_sites(glob);
	if (IS_ERR(sites))
		return PTR_ERR(sites);

	known = find_probe(tr, probe_ops);
	probe = known ?: create_probe(tr, probe_ops);
	if (probe) {
		ret = extend_probe(probe, sites, data);
		if (!known && !live_sites(probe))
			destroy_probe(probe);
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

	guard(mutex)(&probe_mutex);
	probe = find_probe(tr, probe_ops);
	return probe ? reduce_probe(probe, glob) : -ENODEV;
}

/**
 * clear_ftrace_function_probes - take all probes of a trace array away
 * @tr: the trace array
 *
 * Context: process, event_mutex held, for the sake of free(); may hold
 * trace_types_lock. Waits for one grace period if there are any.
 */
void clear_ftrace_function_probes(struct trace_array *tr)
{
	struct func_probe *probe, *next;
	bool any = false;

	guard(mutex)(&probe_mutex);
	/* Not shrink_probe(): this may not fail for want of memory. */
	list_for_each_entry(probe, &tr->func_probes, list)
		any |= retire_live(probe, NULL);
	if (any)
		synchronize_rcu();
	list_for_each_entry_safe(probe, next, &tr->func_probes, list) {
		free_retired(probe, 0, U32_MAX);
		destroy_probe(probe);
	}
}

/* The probe that has the @n-th line; @n becomes the index in its live sites. */
static struct func_probe *probe_at(struct trace_array *tr, loff_t *n)
{
	struct func_probe *probe;
	struct ftrace_hash *live;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(probe, &tr->func_probes, list) {
		live = live_sites(probe);
		if (!live)
			continue;
		if (*n < live->count)
			return probe;
		*n -= live->count;
	}
	return NULL;
}

/**
 * ftrace_probes_exist - is there a line for ftrace_probes_show() to print?
 * @tr: the trace array; NULL has none
 * @n: which one, from 0
 *
 * Context: process, ftrace_lock held.
 */
bool ftrace_probes_exist(struct trace_array *tr, loff_t n)
{
	return tr && probe_at(tr, &n);
}

/**
 * ftrace_probes_show - print one function of one probe of a trace array
 * @tr: the trace array
 * @m: where to print
 * @n: which one, from 0: the newest probe first, then by address
 *
 * Context: process, ftrace_lock held.
 * Return: 0, SEQ_SKIP if its text is gone, or -ENOENT if there are not that many.
 */
int ftrace_probes_show(struct trace_array *tr, struct seq_file *m, loff_t n)
{
	struct func_probe *probe = probe_at(tr, &n);
	struct ftrace_probe_ops *ops;
	struct ftrace_filter f;
	unsigned long ip;

	if (!probe)
		return -ENOENT;
	ops = probe->probe_ops;
	ip = ftrace_text_addr(live_sites(probe)->sites[n]);
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
