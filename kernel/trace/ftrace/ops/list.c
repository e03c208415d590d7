// SPDX-License-Identifier: GPL-2.0
/*
 * The list of registered ops, and the dispatchers for call sites without a
 * trampoline.
 *
 * A call site that is traced calls the trampoline of its set of ops, which calls
 * each of them. If there is none, it calls ftrace_caller, which calls the
 * dispatcher, which calls each registered ops that wants the site.
 *
 * Order matters. An ops goes on the list after its call sites have been
 * switched on, so until then those without a trampoline find nobody to call. It
 * leaves the list before its sites are turned off: the stop of the machine that
 * turns them off then also ends every walk of the list that may still have seen
 * it, since walkers cannot be preempted and a stop waits for all that cannot
 * be. While every set has had a trampoline there are no walkers, and no stop is
 * needed: see ftrace_list_used. A callback that a trampoline calls may be
 * preempted: ftrace_ops_wait() waits for that.
 *
 * A filter that changes is replaced after the call sites, too. So a walker may find
 * an ops that has just left the site, which may have gone from ftrace_regs_caller to
 * ftrace_caller by then; or one that came to it while the walker was preempted in
 * ftrace_caller. Neither may be called without the registers that it counts on.
 */
#include <linux/preempt.h>
#include <linux/rculist.h>

#include "ops.h"

/*
 * The registered ops, the newest first. Changed under ftrace_lock; walked with
 * preemption off. RCU does not watch walkers on a CPU that comes or goes, see
 * ftrace_kvfree_rcu().
 */
LIST_HEAD(ftrace_ops_list);

/* The tracer of the top-level trace array, whose filter others may use. */
struct ftrace_ops global_ops = {
	.func		= ftrace_stub,
	.flags		= FTRACE_OPS_FL_PID,
	.name		= "trace",
};

/**
 * arch_ftrace_ops_list_func - call every ops that wants a call site
 * @ip: the call site
 * @parent_ip: where its function returns to
 * @op: not used
 * @fregs: for the callbacks
 *
 * What ftrace_call calls, by the name ftrace_ops_list_func that the linker script gives
 * it. An ops is called once for a call, under one recursion guard for all of them; one
 * that needs RCU is passed over where RCU does not watch, and one that needs all registers
 * where there are none. After ftrace_kill(), and where the guard holds, only those are
 * called that send functions elsewhere, unless they count on the guard: a function is not
 * itself without its direct call. Livepatch and kprobes have guards of their own.
 *
 * Context: any, NMI included.
 */
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	int bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	bool only_diverts = READ_ONCE(ftrace_disabled) || bit < 0;
	bool has_regs = ftrace_get_regs(fregs);

	if (bit < 0)
		preempt_disable_notrace();
	list_for_each_entry_lockless(op, &ftrace_ops_list, node) {
		if (op->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_SUBOP))
			continue;
		if (unlikely(only_diverts) && !(op->flags & FTRACE_OPS_DIVERTS))
			continue;
		if (unlikely(bit < 0) && op->flags & FTRACE_OPS_FL_RECURSION)
			continue;
		if (op->flags & FTRACE_OPS_FL_RCU && !rcu_is_watching())
			continue;
		if (op->flags & FTRACE_OPS_FL_SAVE_REGS && !has_regs)
			continue;
		if (ftrace_ops_test(op, ip, NULL))
			op->func(ip, parent_ip, op, fregs);
	}
	if (bit < 0)
		preempt_enable_notrace();
	else
		trace_clear_recursion(bit);
}

/**
 * ftrace_graph_list_func - hook a call's return if any graph user wants it
 * @ip: the call site
 * @parent_ip: where its function returns to
 * @op: not used
 * @fregs: of the call
 *
 * What ftrace_graph_call leads to.
 *
 * Context: any, NMI included.
 */
void ftrace_graph_list_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	if (unlikely(READ_ONCE(ftrace_disabled)))
		return;
	/* A stop waits for it to end, as for any walker of the list. */
	guard(preempt_notrace)();
	list_for_each_entry_lockless(op, &ftrace_ops_list, node) {
		if (!(op->flags & FTRACE_OPS_FL_SUBOP) ||
		    !ftrace_ops_test(op, ip, NULL))
			continue;
		op->func(ip, parent_ip, op, fregs);
		break;
	}
}

/**
 * ftrace_ops_guarded - call one ops that needs a guard in front of it
 * @ip: the call site
 * @parent_ip: where its function returns to
 * @op: the ops
 * @fregs: for the callback
 *
 * What a trampoline calls for an ops with FTRACE_OPS_FL_RECURSION or
 * FTRACE_OPS_FL_RCU.
 *
 * Context: any, NMI included.
 */
void ftrace_ops_guarded(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	bool needs_rcu = op->flags & FTRACE_OPS_FL_RCU;
	int level;

	if (needs_rcu && !rcu_is_watching())
		return;
	level = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);
	if (level >= 0) {
		op->func(ip, parent_ip, op, fregs);
		trace_clear_recursion(level);
	}
}

/**
 * ftrace_ops_test - does an ops want a call site?
 * @ops: the ops
 * @ip: the call site
 * @regs: not used, a site is known by its address alone
 *
 * Context: any, with preemption off.
 */
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs)
{
	/* A tracer may get another filter meanwhile: both halves are of one. */
	struct ftrace_ops_hash *h = READ_ONCE(ops->func_hash);
	struct ftrace_filter f = {
		.filter	 = rcu_dereference_raw(h->filter_hash),
		.skip	 = rcu_dereference_raw(h->notrace_hash),
	};

	return ftrace_filter_wants(&f, ip);
}
