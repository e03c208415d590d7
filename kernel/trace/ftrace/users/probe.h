/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function probes: probe.c is about a single one, probes.c about all of them.
 */
#ifndef _KERNEL_TRACE_FTRACE_PROBE_H
#define _KERNEL_TRACE_FTRACE_PROBE_H

#include <linux/mutex.h>

#include "../ops/ops.h"

/*
 * Serialises all that adds or removes probes, including text that goes away.
 * init() and free() of a probe are called with it held. Those may disable
 * events, and with them kprobes, which need ftrace_lock: so that one cannot be
 * held here. It is held from the look-up of a function until the function has its
 * probe, so that nobody gives a probe to text that is going away.
 *
 * Order: event_mutex > trace_types_lock > ftrace_probe_mutex > ftrace_lock.
 */
extern struct mutex ftrace_probe_mutex;

/**
 * struct func_probe - one kind of probe in one trace array
 * @ops: has the call sites call
 * @list: in trace_array.func_probes; changed under ftrace_probe_mutex and ftrace_lock,
 *	  either is enough to read it
 * @tr: the trace array
 * @id: larger than that of any probe made before; constant
 * @probe_ops: what to do
 * @live: the sites to do it for, NULL for none; locked as @list, and read by
 *	  the callback under RCU
 * @data: the probe's own, made by its first init(); ftrace_probe_mutex
 * @before: what was in @live, until the data of the sites that have left it is
 *	freed; ftrace_probe_mutex
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
	u64				id;
	struct ftrace_probe_ops		*probe_ops;
	struct ftrace_hash __rcu	*live;
	void				*data;
	struct ftrace_hash		*before;
	struct rcu_head			rcu;
};

struct ftrace_hash *ftrace_probe_live(struct func_probe *probe);
struct func_probe *ftrace_probe_find(struct trace_array *tr,
				     struct ftrace_probe_ops *probe_ops);
struct func_probe *ftrace_probe_create(struct trace_array *tr,
				       struct ftrace_probe_ops *probe_ops);
void ftrace_probe_destroy(struct func_probe *probe);
int ftrace_probe_extend(struct func_probe *probe,
			const struct ftrace_hash *sites, void *init_data);
int ftrace_probe_shrink(struct func_probe *probe, struct ftrace_hash *rest);
bool ftrace_probe_retire(struct func_probe *probe, struct ftrace_hash *rest);
void ftrace_probe_free_retired(struct func_probe *probe, u32 start, u32 end);
bool ftrace_probe_leave(struct func_probe *probe);

#endif /* _KERNEL_TRACE_FTRACE_PROBE_H */
