// SPDX-License-Identifier: GPL-2.0
/*
 * How a set of ops is served: what its call sites call, and what that calls in
 * turn.
 */
#include <linux/slab.h>

#include "ops.h"

bool ftrace_list_used;
bool ftrace_tramps_wanted;

/**
 * ftrace_ops_callee - what a trampoline calls for an ops
 * @ops: the ops
 *
 * An ops that leaves its protection to the core is called by
 * ftrace_ops_guarded().
 *
 * Context: any.
 */
unsigned long ftrace_ops_callee(const struct ftrace_ops *ops)
{
	if (ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU))
		return (unsigned long)ftrace_ops_guarded;
	return (unsigned long)READ_ONCE(ops->func);
}

/*
 * A stub is only there to hold its call sites, and is not called. A direct call
 * is made last. One call for all graph users comes just before it, after all
 * other callbacks: an unwinder looks for the graph users' return address first,
 * and then for those of rethook and kretprobes, so graph users have to replace
 * it after them.
 */
static bool is_called(const struct ftrace_ops *ops)
{
	return !(ops->flags & (FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_STUB |
			       FTRACE_OPS_FL_SUBOP));
}

static void add_call(struct ftrace_tramp_spec *spec, const struct ftrace_ops *ops)
{
	spec->nr++;
	spec->call[spec->nr - 1].func = ftrace_ops_callee(ops);
	spec->call[spec->nr - 1].arg = (unsigned long)ops;
}

static struct ftrace_tramp_spec *spec_of(const struct ftrace_opset *set)
{
	const struct ftrace_ops *graph = NULL;
	struct ftrace_tramp_spec *spec;
	unsigned int i;

	spec = kvzalloc(struct_size(spec, call, set->nr), GFP_KERNEL);
	if (!spec)
		return NULL;
	spec->regs = set->flags & FTRACE_OPS_FL_SAVE_REGS;
	/*
	 * A callback that gets all registers may change where the function goes
	 * on, too: a probe whose handler returns 1, error injection, BPF.
	 */
	spec->follow = set->flags & (FTRACE_OPS_FL_IPMODIFY |
				     FTRACE_OPS_FL_SAVE_REGS);
	for (spec->nr = 0, i = 0; i < set->nr; i++) {
		struct ftrace_ops *ops = set->ops[i];

		if (ops->flags & FTRACE_OPS_FL_DIRECT)
			spec->jump = ftrace_ops_direct(ops);
		if (ops->flags & FTRACE_OPS_FL_SUBOP)
			graph = ops;
		if (is_called(ops))
			add_call(spec, ops);
	}
	if (graph)
		add_call(spec, graph);
	return spec;
}

static struct ftrace_tramp *make_tramp(const struct ftrace_opset *set)
{
	struct ftrace_tramp_spec *spec;
	struct ftrace_tramp *t;

	spec = spec_of(set);
	t = spec ? ftrace_tramp_make(spec) : NULL;
	kvfree(spec);
	return t;
}

/* A direct call that is all there is needs no trampoline of ours. */
static bool is_direct(const struct ftrace_opset *set)
{
	return set->nr == 1 && set->flags & FTRACE_OPS_FL_DIRECT;
}

/* Which of the calls of a set's trampoline is the one for its i-th ops? */
static unsigned int call_of(const struct ftrace_opset *set, unsigned int i)
{
	unsigned int nr = 0;

	while (i--)
		nr += is_called(set->ops[i]);
	return nr;
}

/* Would the trampoline of a set not be too long? */
static bool fits(const struct ftrace_opset *set)
{
	bool graph = set->flags & FTRACE_OPS_FL_SUBOP;

	return ftrace_tramp_fits(call_of(set, set->nr) + graph);
}

/* Have a set served by ftrace_caller or ftrace_regs_caller: slower, but always there. */
static unsigned long use_fallback(const struct ftrace_opset *set)
{
	ftrace_list_used = true;
	if (fits(set))
		WRITE_ONCE(ftrace_tramps_wanted, true);
	if (set->flags & (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY |
			  FTRACE_OPS_FL_DIRECT))
		return FTRACE_REGS_ADDR;
	return FTRACE_ADDR;
}

/**
 * ftrace_serve_set - decide what the call sites of a new set call
 * @set: the set
 *
 * A trampoline of its own, what it calls directly, or ftrace_caller.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_serve_set(struct ftrace_opset *set)
{
	unsigned long addr;

	if (is_direct(set)) {
		addr = ftrace_ops_direct(set->ops[0]);
	} else {
		set->tramp = make_tramp(set);
		addr = set->tramp ? ftrace_tramp_ip(set->tramp) :
				    use_fallback(set);
	}
	set->target = ftrace_text_key(addr);
	set->aim = set->target;
}

/**
 * ftrace_serve_func - one ops of a set has another callback
 * @set: the set
 * @i: which of its ops
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_serve_func(struct ftrace_opset *set, unsigned int i)
{
	const struct ftrace_ops *ops = set->ops[i];

	if (!set->tramp || !is_called(ops) ||
	    ftrace_ops_callee(ops) == (unsigned long)ftrace_ops_guarded)
		return;
	ftrace_tramp_poke_call(set->tramp, call_of(set, i),
			       ftrace_ops_callee(ops));
}

/**
 * ftrace_serve_by_list - is a set served by the list of ops?
 * @set: the set
 *
 * Context: ftrace_lock held.
 */
bool ftrace_serve_by_list(const struct ftrace_opset *set)
{
	return !set->tramp && !is_direct(set);
}

/**
 * ftrace_serve_lacks_tramp - might a set get a trampoline that has none?
 * @set: the set
 *
 * Context: ftrace_lock held.
 */
bool ftrace_serve_lacks_tramp(const struct ftrace_opset *set)
{
	return ftrace_serve_by_list(set) && fits(set);
}

/**
 * ftrace_serve_better - make a trampoline for a set that should have one
 * @set: the set
 *
 * Its call sites have to be changed then, see ftrace_opset.aim.
 *
 * Context: process, ftrace_lock held.
 * Return: was one made?
 */
bool ftrace_serve_better(struct ftrace_opset *set)
{
	if (!ftrace_serve_lacks_tramp(set))
		return false;
	set->tramp = make_tramp(set);
	if (!set->tramp)
		return false;
	set->aim = ftrace_text_key(ftrace_tramp_ip(set->tramp));
	return true;
}
