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
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "probe.h"
#include "users.h"

/* See probe.h. */
DEFINE_MUTEX(ftrace_probe_mutex);

/* ---- the call ----------------------------------------------------------- */

/*
 * Under the recursion guard of the core, and where RCU watches. The stack trace
 * probe of ../trace_functions.c counts this function as a frame, see FTRACE_STACK_SKIP:
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

/**
 * ftrace_probe_live - the call sites that a probe is ready for
 * @probe: the probe
 *
 * Context: ftrace_probe_mutex or ftrace_lock held.
 */
struct ftrace_hash *ftrace_probe_live(struct func_probe *probe)
{
	return rcu_dereference_protected(probe->live,
					 lockdep_is_held(&ftrace_probe_mutex) ||
					 lockdep_is_held(&ftrace_lock));
}

/* Takes @live over. Sites no longer in it get no call after a grace period. */
static void publish_live(struct func_probe *probe, struct ftrace_hash *live)
{
	struct ftrace_hash *old;

	lockdep_assert_held(&ftrace_probe_mutex);
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
	ret = ftrace_ops_replace_half(ops, filter, true);
	if (ret)
		ftrace_hash_free(filter);
	else if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		ret = ftrace_startup(ops);
	return ret;
}

/* Have no site call the probe any more. */
static void clear_callers(struct func_probe *probe)
{
	guard(mutex)(&ftrace_lock);
	if (probe->ops.flags & FTRACE_OPS_FL_ENABLED)
		ftrace_shutdown(&probe->ops);
}

/* ---- their data ---------------------------------------------------------- */

/* Free the data of the first @nr of @sites, which get no more calls. */
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

/**
 * ftrace_probe_find - the probe of a trace array that does something
 * @tr: the trace array
 * @probe_ops: what it is to do
 *
 * Context: ftrace_probe_mutex held.
 * Return: the probe or NULL.
 */
struct func_probe *ftrace_probe_find(struct trace_array *tr,
				     struct ftrace_probe_ops *probe_ops)
{
	struct func_probe *probe;

	lockdep_assert_held(&ftrace_probe_mutex);
	list_for_each_entry(probe, &tr->func_probes, list) {
		if (probe->probe_ops == probe_ops)
			return probe;
	}
	return NULL;
}

/**
 * ftrace_probe_create - make a probe that no call site has yet
 * @tr: the trace array
 * @probe_ops: what it is to do
 *
 * Context: process, ftrace_probe_mutex held.
 * Return: the probe or NULL.
 */
struct func_probe *ftrace_probe_create(struct trace_array *tr,
				       struct ftrace_probe_ops *probe_ops)
{
	struct func_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	static u64 last_id;

	lockdep_assert_held(&ftrace_probe_mutex);
	if (!probe)
		return NULL;
	probe->tr = tr;
	probe->id = ++last_id;
	probe->probe_ops = probe_ops;
	probe->ops.func = probe_call;
	/* FL_RCU: where RCU does not watch, a grace period means nothing. */
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

/**
 * ftrace_probe_destroy - a probe has no call site any more
 * @probe: the probe
 *
 * Nothing of it is live, and a grace period has passed since something was. But
 * a preempted task may still be on its way to the callback, which then finds
 * nothing live.
 *
 * Context: process, ftrace_probe_mutex held.
 */
void ftrace_probe_destroy(struct func_probe *probe)
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

/**
 * ftrace_probe_extend - give a probe to call sites
 * @probe: the probe
 * @sites: the sites; those that have it already are passed over
 * @init_data: for init() of the probe
 *
 * Context: process, ftrace_probe_mutex held.
 * Return: how many got it; -EINVAL if none is left; -ENOMEM or another error, and
 * nothing has changed, except that some sites may still call the probe, which ignores
 * them.
 */
int ftrace_probe_extend(struct func_probe *probe,
			const struct ftrace_hash *sites, void *init_data)
{
	struct ftrace_hash *live = ftrace_probe_live(probe), *fresh, *all;
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

/**
 * ftrace_probe_shrink - leave a probe to fewer call sites
 * @probe: the probe; it goes with the last of them
 * @rest: those that keep it; not the caller's any more if this succeeds
 *
 * Context: process, ftrace_probe_mutex held; waits for a grace period.
 * Return: 0; -EINVAL if all keep it, -ENOMEM.
 */
int ftrace_probe_shrink(struct func_probe *probe, struct ftrace_hash *rest)
{
	struct ftrace_hash *gone;

	gone = ftrace_hash_minus(ftrace_probe_live(probe), rest);
	if (IS_ERR(gone))
		return PTR_ERR(gone);
	if (!gone)
		return -EINVAL;

	/* The calls of the last site end in ftrace_probe_destroy(). */
	publish_live(probe, rest);
	if (rest)
		set_callers(probe, rest);

	/*
	 * probe_call() keeps preemption off from where it looks at @live until
	 * the probe returns.
	 */
	ftrace_synchronize_rcu();
	free_sites(probe, gone, gone->count);
	if (!rest)
		ftrace_probe_destroy(probe);
	ftrace_hash_free(gone);
	return 0;
}

/* ---- many at once --------------------------------------------------------- */

/*
 * When text or an instance goes, any number of probes may: first none of them is
 * live any more, then a single grace period is enough for all of them, then their
 * data is freed. If they go with it themselves, no site calls them from then on,
 * and again they are waited for together.
 */

/**
 * ftrace_probe_retire - the first step: leave a probe to fewer call sites
 * @probe: the probe
 * @rest: those that keep it
 *
 * Context: process, ftrace_probe_mutex held.
 * Return: was it live for more?
 */
bool ftrace_probe_retire(struct func_probe *probe, struct ftrace_hash *rest)
{
	struct ftrace_hash *live = ftrace_probe_live(probe);

	lockdep_assert_held(&ftrace_probe_mutex);
	if (rest == live)
		return false;
	scoped_guard(mutex, &ftrace_lock)
		rcu_assign_pointer(probe->live, rest);
	probe->before = live;
	return true;
}

/**
 * ftrace_probe_free_retired - the last step: free the data of those that have left
 * @probe: the probe
 * @start: the first address of the text that goes, as ftrace_text_key()
 * @end: the first address after it, likewise
 *
 * Context: process, ftrace_probe_mutex held, a grace period after
 * ftrace_probe_retire().
 */
void ftrace_probe_free_retired(struct func_probe *probe, u32 start, u32 end)
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

/**
 * ftrace_probe_leave - have no call site call a probe that is about to go
 * @probe: the probe; nothing of it is live
 *
 * Context: process, ftrace_probe_mutex held.
 * Return: does ftrace_probe_destroy() have to wait for synchronize_rcu_tasks_rude()?
 */
bool ftrace_probe_leave(struct func_probe *probe)
{
	lockdep_assert_held(&ftrace_probe_mutex);
	guard(mutex)(&ftrace_lock);
	return probe->ops.flags & FTRACE_OPS_FL_ENABLED &&
	       ftrace_shutdown_unwaited(&probe->ops);
}
