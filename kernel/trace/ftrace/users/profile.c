// SPDX-License-Identifier: GPL-2.0
/*
 * The function profiler: counting.
 *
 * A call may come from any context, an NMI in the midst of counting another one
 * included. So counting takes no lock and allocates nothing: when a profile is
 * started it gets a counter for every function there is, and some more for
 * modules to come. Which counter is whose is settled at the first call of a
 * function, for all CPUs at once. From then on a call is one look-up and one
 * increment that nothing on the same CPU can interrupt.
 *
 * It needs no guard against recursion, which would lose the calls that an
 * interrupt makes: whatever is called from here is not traced. Nor does it need
 * RCU to be watching.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "../sites/sites.h"
#include "../tracers/tracers.h"
#include "profile.h"
#include "users.h"

/* Room for functions of modules that come while a profile runs. */
#define PROFILE_ROOM	4096

/* For starting, stopping or reading a profile. */
DEFINE_MUTEX(ftrace_profile_mutex);
struct ftrace_profile *ftrace_profile;

/*
 * The profile that calls are counted in; NULL: none. Changed under
 * ftrace_profile_mutex, read with preemption off: see stop_counting().
 */
static struct ftrace_profile *counting;

/* ---- the call path ------------------------------------------------------- */

/* Claim a counter for a function. The slot's value; 0: all are taken. */
static u64 claim_counter(struct ftrace_profile *p, u32 key)
{
	u32 nr = atomic_fetch_add_unless(&p->nr_used, 1, p->nr_counters);

	return nr < p->nr_counters ? (u64)nr << 32 | key : 0;
}

/*
 * The number of a function's counter, or -1. There are more slots than
 * counters, so a free one ends the search. If somebody else enters the same
 * function meanwhile, the counter claimed here is wasted.
 */
static int find_counter(struct ftrace_profile *p, u32 key)
{
	u32 mask = BIT(p->bits) - 1;
	u32 at = hash_32(key, p->bits);
	u64 mine = 0, seen;

	for (;; at = (at + 1) & mask) {
		seen = READ_ONCE(p->slots[at]);
		if (!seen) {
			if (!mine)
				mine = claim_counter(p, key);
			if (!mine)
				return -1;
			if (try_cmpxchg(&p->slots[at], &seen, mine))
				seen = mine;
		}
		if ((u32)seen == key)
			return seen >> 32;
	}
}

/* Preemption is off. Returns the number of the counter, or -1. */
static int count_call(struct ftrace_profile *p, unsigned long ip)
{
	int nr = find_counter(p, ftrace_text_key(ip));

	if (nr < 0)
		atomic_long_inc(&p->lost);
	else
		local_inc(&p->of_cpu[raw_smp_processor_id()][nr].hits);
	return nr;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/**
 * struct profile_call - a call that has not returned, on the shadow stack
 * @session: of the profile it was counted in
 * @cpu: where it was counted
 * @nr: in which counter
 * @callees: how long callees of its caller took that had returned before, in ns
 */
struct profile_call {
	u32		session;
	u32		cpu;
	u32		nr;
	unsigned long	callees;
};

/* The option graph-time: time spent in callees is the caller's, too. */
static bool with_callees = true;

/**
 * ftrace_graph_graph_time_control - set what counts as a function's time
 * @enable: that of its callees does, too
 *
 * Context: process.
 */
void ftrace_graph_graph_time_control(bool enable)
{
	WRITE_ONCE(with_callees, enable);
}

static void add_time(struct ftrace_profile_counter *c, u64 time)
{
	u128 square = (u128)time * time;
	u64 low = square, high = square >> 64;

	atomic64_add(time, &c->time);
	if ((u64)atomic64_add_return(low, &c->squares_low) < low)
		high++;
	if (high)
		atomic64_add(high, &c->squares_high);
}

/*
 * The task variable holds how long callees took that have returned: those of
 * the function at hand, while it runs. An interrupt between the two lines that
 * change it leaves it as it found it, or loses its own time, no more.
 */
static int graph_enter(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	unsigned long *callees = fgraph_get_task_var(gops);
	struct profile_call *call = NULL;
	struct ftrace_profile *p;
	int nr;

	preempt_disable_notrace();
	p = ftrace_pids_ignore(&gops->ops) ? NULL : READ_ONCE(counting);
	nr = p ? count_call(p, trace->func) : -1;
	if (nr >= 0)
		call = fgraph_reserve_data(gops->idx, sizeof(*call));
	if (call) {
		call->session = p->session;
		call->cpu = raw_smp_processor_id();
		call->nr = nr;
		call->callees = *callees;
		*callees = 0;
	}
	preempt_enable_notrace();
	return !!call;
}

/*
 * A call may return in another session than it began in. What is on the shadow
 * stack may even be of another graph user that had the same index.
 */
static bool call_is_of(const struct profile_call *call,
		       const struct ftrace_profile *p)
{
	return call->session == p->session && call->cpu < nr_cpu_ids &&
	       p->of_cpu[call->cpu] && call->nr < p->nr_counters;
}

static void graph_return(struct ftrace_graph_ret *trace,
			 struct fgraph_ops *gops)
{
	unsigned long *callees = fgraph_get_task_var(gops);
	struct profile_call *call;
	struct ftrace_profile *p;
	u64 total, own;
	int size;

	call = fgraph_retrieve_data(gops->idx, &size);
	if (!call || size != sizeof(*call))
		return;

	/* Another CPU's clock may be behind. */
	total = trace->rettime > trace->calltime ?
		trace->rettime - trace->calltime : 0;

	preempt_disable_notrace();
	p = READ_ONCE(counting);
	if (p && call_is_of(call, p)) {
		own = total > *callees ? total - *callees : 0;
		*callees = call->callees + total;
		add_time(&p->of_cpu[call->cpu][call->nr],
			 READ_ONCE(with_callees) ? total : own);
	}
	preempt_enable_notrace();
}

static struct fgraph_ops profile_ops = {
	.entryfunc	= graph_enter,
	.retfunc	= graph_return,
	.ops.name	= "trace_profile",
	/* This flag: graph_enter() itself checks which task it is. */
	.ops.flags	= FTRACE_OPS_FL_PID,
};

static int attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops.ops);
	return register_ftrace_graph(&profile_ops);
}

static void detach(void)
{
	unregister_ftrace_graph(&profile_ops);
}

static void clear_counter(struct ftrace_profile_counter *c)
{
	local_set(&c->hits, 0);
	atomic64_set(&c->time, 0);
	atomic64_set(&c->squares_low, 0);
	atomic64_set(&c->squares_high, 0);
}

#else /* !CONFIG_FUNCTION_GRAPH_TRACER */

static void function_called(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_profile *p;

	preempt_disable_notrace();
	p = READ_ONCE(counting);
	if (p)
		count_call(p, ip);
	preempt_enable_notrace();
}

static struct ftrace_ops profile_ops = {
	.func	= function_called,
	.name	= "trace_profile",
};

static int attach(void)
{
	ftrace_ops_set_global_filter(&profile_ops);
	return register_ftrace_function(&profile_ops);
}

/* The ops is registered, so nothing can fail. */
static void detach(void)
{
	unregister_ftrace_function(&profile_ops);
}

static void clear_counter(struct ftrace_profile_counter *c)
{
	local_set(&c->hits, 0);
}

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

/* ---- starting and stopping ----------------------------------------------- */

/* How many functions there are, or an error. */
static int count_functions(void)
{
	struct ftrace_region *r;
	int nr;

	guard(mutex)(&ftrace_lock);
	nr = ftrace_disabled ? -ENODEV : ftrace_discover_all();
	if (nr)
		return nr;
	list_for_each_entry(r, &ftrace_regions, list)
		nr += ftrace_region_nr(r);
	return nr;
}

static void profile_free(struct ftrace_profile *p)
{
	unsigned int cpu;

	if (!p)
		return;
	for_each_possible_cpu(cpu)
		vfree(p->of_cpu[cpu]);
	vfree(p->slots);
	kfree(p);
}

/* From vmalloc(): an NMI can read that whatever mm is loaded. */
static struct ftrace_profile *profile_alloc(unsigned int nr_counters)
{
	size_t size = array_size(nr_counters,
				 sizeof(struct ftrace_profile_counter));
	static u32 last_session;
	struct ftrace_profile *p;
	unsigned int cpu;
	bool ok;

	p = kzalloc(struct_size(p, of_cpu, nr_cpu_ids), GFP_KERNEL);
	if (!p)
		return NULL;
	p->session = ++last_session;
	p->nr_counters = nr_counters;
	p->bits = order_base_2(2 * nr_counters);
	p->slots = vzalloc(sizeof(u64) << p->bits);
	ok = p->slots;
	for_each_possible_cpu(cpu) {
		if (!ok)
			break;
		p->of_cpu[cpu] = vzalloc_node(size, cpu_to_node(cpu));
		ok = p->of_cpu[cpu];
	}
	if (ok)
		return p;
	profile_free(p);
	return NULL;
}

/* Returns what was there before; the caller's own. */
static struct ftrace_profile *profile_replace(struct ftrace_profile *p)
{
	guard(mutex)(&ftrace_lock);
	swap(ftrace_profile, p);
	return p;
}

/*
 * When this returns, no count changes any more and the profile can be freed.
 * Whatever counts has preemption off.
 */
static void stop_counting(void)
{
	WRITE_ONCE(counting, NULL);
	ftrace_synchronize_rcu();
}

static int start(void)
{
	struct ftrace_profile *p;
	int nr, ret;

	nr = count_functions();
	if (nr < 0)
		return nr;
	p = profile_alloc(nr + nr / 4 + PROFILE_ROOM);
	if (!p)
		return -ENOMEM;

	p = profile_replace(p);
	/* Whatever counts from now on finds counters that are 0. */
	smp_store_release(&counting, ftrace_profile);
	ret = attach();
	if (ret) {
		stop_counting();
		p = profile_replace(p);
	}
	profile_free(p);
	return ret;
}

static void stop(void)
{
	detach();
	stop_counting();
	ftrace_profile_report_lost(ftrace_profile);
}

/**
 * ftrace_profile_on - are calls being counted?
 *
 * Context: any.
 */
bool ftrace_profile_on(void)
{
	return READ_ONCE(counting);
}

/**
 * ftrace_profile_set - start or stop the profiler
 * @on: start it, with all counts at 0; otherwise stop it, and keep them
 *
 * Context: process.
 * Return: 0, also if it was so already; -ENOMEM, -ENODEV (ftrace is dead) or an
 * error of registration; then the profiler is off, and the last counts are kept.
 */
int ftrace_profile_set(bool on)
{
	guard(mutex)(&ftrace_profile_mutex);
	if (on == ftrace_profile_on())
		return 0;
	if (on)
		return start();
	stop();
	return 0;
}

/**
 * ftrace_profile_report_lost - tell the log of calls that were not counted
 * @p: the profile
 *
 * There may be ever more of them while calls are counted.
 *
 * Context: process, ftrace_profile_mutex held.
 */
void ftrace_profile_report_lost(struct ftrace_profile *p)
{
	unsigned long lost = atomic_long_read(&p->lost);

	lockdep_assert_held(&ftrace_profile_mutex);
	if (lost == p->reported)
		return;
	p->reported = lost;
	pr_warn("profile: %lu calls not counted, no room for more than %u functions\n",
		lost, p->nr_counters);
}

/**
 * ftrace_profile_forget - other functions will be in a stretch of text
 * @start: first address
 * @end: first address after it
 *
 * What was counted there must not be taken for theirs.
 *
 * Context: ftrace_lock held; nothing in that text runs.
 */
void ftrace_profile_forget(unsigned long start, unsigned long end)
{
	struct ftrace_profile *p = ftrace_profile;
	unsigned int cpu;
	unsigned long at;

	lockdep_assert_held(&ftrace_lock);
	for (at = 0; p && at < BIT(p->bits); at++) {
		u64 slot = READ_ONCE(p->slots[at]);
		unsigned long ip = ftrace_text_addr((u32)slot);

		if (!slot || ip < start || ip >= end)
			continue;
		for_each_possible_cpu(cpu)
			clear_counter(&p->of_cpu[cpu][slot >> 32]);
	}
}
