// SPDX-License-Identifier: GPL-2.0
/*
 * The life of trampolines: from their birth to the last task that is in one.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/rbtree_latch.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <asm/text-patching.h>

#include "text.h"

/* For kallsyms and perf, which know generated code by these. */
#define TRAMP_NAME	"ftrace_trampoline"
#define TRAMP_MODULE	"__builtin__ftrace"

/**
 * struct ftrace_tramp - one trampoline
 * @rcu: to wait until nobody can be in it, and then to free it
 * @node: in tramp_tree, by address
 * @list: in tramps
 * @quiet: in quiet_tramps, once nobody can be in it
 * @ip: its first byte
 * @nr_calls: how many calls it makes
 * @has_jump: it ends with a jump to other code
 * @kept: it is never freed, see ftrace_tramp_keep()
 * @layout: where its parts lie
 *
 * While it is in use its code and @kept change under ftrace_lock, @node and @list under
 * ftrace_tramp_mutex. All else is constant, until it is @quiet.
 */
struct ftrace_tramp {
	struct rcu_head			rcu;
	struct latch_tree_node		node;
	struct list_head		list;
	struct llist_node		quiet;
	unsigned long			ip;
	unsigned int			nr_calls;
	bool				has_jump;
	bool				kept;
	struct ftrace_tramp_layout	layout;
};

static_assert(!offsetof(struct ftrace_tramp, rcu));

/*
 * How many may be in use; beyond that, sets of ops are served by ftrace_caller, which asks
 * each registered ops at each call. When a tracer joins, the old ones and the new are in
 * use at once.
 */
static unsigned int max_tramps __read_mostly = SZ_64K;

/* Changed under ftrace_tramp_mutex: how many there are, but for those that wait for RCU, */
static unsigned int nr_tramps;

/* and how many have been taken off the list, each counted after that. */
static unsigned int nr_gone;

/* Changed under ftrace_tramp_mutex, walked under RCU: the tree by anyone, NMIs as well. */
static LIST_HEAD(tramps);
static struct latch_tree_root tramp_tree __cacheline_aligned;

/* To be freed by tramp_work; needs no lock. */
static LLIST_HEAD(quiet_tramps);

/*
 * Some call site was changed without a stop of the machine. Set under ftrace_lock,
 * cleared by tramp_work.
 */
static bool tramps_need_rude;

static int __init set_max_tramps(char *str)
{
	if (!str || kstrtouint(str, 0, &max_tramps))
		pr_warn("ftrace_trampolines=%s is not a number\n", str ?: "");
	return 0;
}
early_param("ftrace_trampolines", set_max_tramps);

static bool tramp_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return container_of(a, struct ftrace_tramp, node)->ip <
	       container_of(b, struct ftrace_tramp, node)->ip;
}

static int tramp_comp(void *key, struct latch_tree_node *n)
{
	struct ftrace_tramp *t = container_of(n, struct ftrace_tramp, node);
	unsigned long ip = (unsigned long)key;

	if (ip < t->ip)
		return -1;
	return ip >= t->ip + t->layout.size;
}

static const struct latch_tree_ops tramp_tree_ops = {
	.less	= tramp_less,
	.comp	= tramp_comp,
};

/* The trampoline that an address is in; under RCU, or with preemption off. */
static struct ftrace_tramp *tramp_of(unsigned long ip)
{
	struct latch_tree_node *n;

	if (!ftrace_packs_may_have(ip))
		return NULL;
	n = latch_tree_find((void *)ip, &tramp_tree, &tramp_tree_ops);
	return n ? container_of(n, struct ftrace_tramp, node) : NULL;
}

/* ---- birth --------------------------------------------------------------- */

static void tell_perf(const struct ftrace_tramp *t, const void *code, bool gone)
{
	size_t size = t->layout.size;

	if (gone)
		perf_event_text_poke((void *)t->ip, code, size, NULL, 0);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, t->ip, size, gone,
			   TRAMP_NAME);
	if (!gone)
		perf_event_text_poke((void *)t->ip, NULL, 0, code, size);
}

/**
 * ftrace_tramp_has_room - may there be one more trampoline?
 *
 * Context: any.
 */
bool ftrace_tramp_has_room(void)
{
	return READ_ONCE(nr_tramps) < max_tramps;
}

static bool tramp_write(struct ftrace_tramp *t, u8 *code,
			const struct ftrace_tramp_spec *spec)
{
	size_t size = t->layout.size;

	guard(mutex)(&ftrace_tramp_mutex);
	if (!ftrace_tramp_has_room())
		return false;
	t->ip = ftrace_packs_alloc(size);
	if (!t->ip)
		return false;
	ftrace_tramp_emit(spec, code, t->ip, &t->layout);
	if (WARN_ON_ONCE(t->layout.size != size)) {
		ftrace_packs_free(t->ip, size);
		return false;
	}
	text_poke_copy((void *)t->ip, code, t->layout.size);
	latch_tree_insert(&t->node, &tramp_tree, &tramp_tree_ops);
	list_add_tail_rcu(&t->list, &tramps);
	WRITE_ONCE(nr_tramps, nr_tramps + 1);
	return true;
}

/**
 * ftrace_tramp_make - make a trampoline
 * @spec: what it has to do
 *
 * Until alternatives are applied, none can be made: the templates do not have
 * their final code yet.
 *
 * Context: process. Takes text_mutex.
 * Return: it, or NULL: too early, too long, too many of them, or no memory.
 */
struct ftrace_tramp *ftrace_tramp_make(const struct ftrace_tramp_spec *spec)
{
	struct ftrace_tramp *t;
	u8 *code;

	if (ftrace_text_early() || !ftrace_tramp_has_room() ||
	    !ftrace_tramp_fits(spec->nr))
		return NULL;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	code = kmalloc(ftrace_tramp_max_size(spec->nr), GFP_KERNEL);
	if (!t || !code)
		goto fail;
	t->nr_calls = spec->nr;
	t->has_jump = spec->jump;
	/* Its length does not depend on its address. */
	ftrace_tramp_emit(spec, code, 0, &t->layout);
	if (!tramp_write(t, code, spec))
		goto fail;
	tell_perf(t, code, false);
	kfree(code);
	return t;
fail:
	kfree(code);
	kfree(t);
	return NULL;
}

/**
 * ftrace_tramp_ip - where a trampoline begins
 * @t: the trampoline
 */
unsigned long ftrace_tramp_ip(const struct ftrace_tramp *t)
{
	return t->ip;
}

/**
 * ftrace_tramp_poke_call - have a trampoline call another function
 * @t: the trampoline
 * @i: which of its calls
 * @func: the function
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tramp_poke_call(struct ftrace_tramp *t, unsigned int i,
			    unsigned long func)
{
	lockdep_assert_held(&ftrace_lock);
	ftrace_tramp_set(t->ip, &t->layout, i, func);
}

/**
 * ftrace_tramp_poke_jump - have a trampoline end with a jump to other code
 * @t: the trampoline
 * @jump: the code
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_tramp_poke_jump(struct ftrace_tramp *t, unsigned long jump)
{
	lockdep_assert_held(&ftrace_lock);
	ftrace_tramp_set(t->ip, &t->layout, FTRACE_TRAMP_JUMP, jump);
}

/* ---- death --------------------------------------------------------------- */

/*
 * Up to this point it could be found by its address, and had to be: a task may
 * have slept in it, and somebody may have looked at that task's stack.
 */
static void tramp_free(struct ftrace_tramp *t)
{
	tell_perf(t, (void *)t->ip, true);
	mutex_lock(&ftrace_tramp_mutex);
	latch_tree_erase(&t->node, &tramp_tree, &tramp_tree_ops);
	list_del_rcu(&t->list);
	/* Whoever sees this number does not find it any more, see find_nth(). */
	smp_store_release(&nr_gone, nr_gone + 1);
	text_poke_set((void *)t->ip, INT3_INSN_OPCODE, t->layout.size);
	ftrace_packs_free(t->ip, t->layout.size);
	mutex_unlock(&ftrace_tramp_mutex);
	ftrace_kvfree_rcu(&t->rcu);
}

static void free_quiet(struct work_struct *work)
{
	struct llist_node *quiet = llist_del_all(&quiet_tramps);
	struct ftrace_tramp *t, *next;

	/* Idle tasks are waited for by a stop, and by this, but not by call_rcu_tasks(). */
	if (READ_ONCE(tramps_need_rude)) {
		WRITE_ONCE(tramps_need_rude, false);
		synchronize_rcu_tasks_rude();
	}
	llist_for_each_entry_safe(t, next, quiet, quiet) {
		tramp_free(t);
		cond_resched();
	}
}

static DECLARE_WORK(tramp_work, free_quiet);

static void tramp_queue_free(struct rcu_head *rcu)
{
	struct ftrace_tramp *t = container_of(rcu, struct ftrace_tramp, rcu);

	if (llist_add(&t->quiet, &quiet_tramps))
		schedule_work(&tramp_work);
}

/**
 * ftrace_tramp_keep - never free a trampoline
 * @t: the trampoline
 *
 * For one whose call has been overwritten at a call site. Whoever did that may
 * put the call back at any time, as debuggers do.
 *
 * Context: process, ftrace_lock held; before ftrace_tramp_free().
 */
void ftrace_tramp_keep(struct ftrace_tramp *t)
{
	lockdep_assert_held(&ftrace_lock);
	t->kept = true;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static void disarm_jump(struct ftrace_tramp *t)
{
	if (t->has_jump)
		ftrace_tramp_poke_jump(t, (unsigned long)ftrace_stub_direct_tramp);
}
#else
static void disarm_jump(struct ftrace_tramp *t) { }
#endif

/*
 * Have a trampoline call nobody. The ops that it was made for, and the code
 * that it jumps to at the end, may be gone soon.
 */
static void tramp_disarm(struct ftrace_tramp *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_calls; i++)
		ftrace_tramp_poke_call(t, i, (unsigned long)ftrace_stub);
	disarm_jump(t);
	/*
	 * A call that was overwritten may have been put back earlier, and no
	 * stop has taken place since. So a callback may still be under way with
	 * preemption off. Whoever frees an ops waits for tasks.
	 */
	synchronize_rcu_tasks_rude();
}

/**
 * ftrace_tramp_free - free a trampoline once nobody is in it
 * @t: the trampoline, that no call site calls any more; may be NULL
 *
 * Only preempted tasks can still be in it. A stop that took the last call away has seen
 * to that; after a poke free_quiet() waits, see ftrace_sites_poked().
 *
 * A trampoline that is kept stays, and calls nobody from then on. For that alone this
 * may wait for a grace period.
 *
 * Context: process; ftrace_lock held if it is kept.
 */
void ftrace_tramp_free(struct ftrace_tramp *t)
{
	if (!t)
		return;
	if (t->kept) {
		tramp_disarm(t);
		return;
	}
	/* From now on there is room for another one. */
	mutex_lock(&ftrace_tramp_mutex);
	WRITE_ONCE(nr_tramps, nr_tramps - 1);
	mutex_unlock(&ftrace_tramp_mutex);
	call_rcu_tasks(&t->rcu, tramp_queue_free);
}

/**
 * ftrace_sites_poked - call sites were changed without a stop
 *
 * Context: process, ftrace_lock held; after the change, so that the grace
 * period that it asks for begins there, and before ftrace_tramp_free().
 */
void ftrace_sites_poked(void)
{
	lockdep_assert_held(&ftrace_lock);
	WRITE_ONCE(tramps_need_rude, true);
}

/* ---- known by their addresses -------------------------------------------- */

/**
 * is_ftrace_trampoline - is an address in a trampoline?
 * @addr: the address
 *
 * Context: any; RCU has to be watching.
 */
bool is_ftrace_trampoline(unsigned long addr)
{
	guard(preempt_notrace)();
	return tramp_of(addr);
}

/**
 * ftrace_trampoline_template - which static code a trampoline is a copy of
 * @ip: an address in no kernel and no module text
 *
 * The ORC unwinder has no table for generated code; it looks up the place in
 * the template instead.
 *
 * Context: any, NMI included; RCU has to be watching.
 * Return: the address in the template that corresponds to @ip; 0 if @ip is in
 * no trampoline.
 */
unsigned long ftrace_trampoline_template(unsigned long ip)
{
	struct ftrace_tramp *t;

	guard(preempt_notrace)();
	t = tramp_of(ip);
	return t ? ftrace_tramp_template_at(&t->layout, ip - t->ip) : 0;
}

/**
 * ftrace_tramp_lookup - name an address in a trampoline
 * @addr: the address
 * @size: gets the length of the trampoline; may be NULL
 * @off: gets the offset of @addr in it; may be NULL
 * @modname: gets what stands for a module; may be NULL
 * @sym: gets the name, KSYM_NAME_LEN at most
 *
 * Context: any; RCU has to be watching.
 * Return: the length of the name, 0 if @addr is in no trampoline.
 */
int ftrace_tramp_lookup(unsigned long addr, unsigned long *size,
			unsigned long *off, char **modname, char *sym)
{
	struct ftrace_tramp *t;

	guard(preempt_notrace)();
	t = tramp_of(addr);
	if (!t)
		return 0;
	if (size)
		*size = t->layout.size;
	if (off)
		*off = addr - t->ip;
	if (modname)
		*modname = TRAMP_MODULE;
	return strscpy(sym, TRAMP_NAME, KSYM_NAME_LEN);
}

/*
 * The last answer for /proc/kallsyms, which asks for one after the other, and how many
 * trampolines had gone by then. Never waited for: a debugger may ask.
 */
static struct {
	struct ftrace_tramp	*t;
	unsigned int		n;
	unsigned int		nr_gone;
} last_nth;
static DEFINE_RAW_SPINLOCK(last_nth_lock);

/*
 * Preemption is off. If nr_gone is as it was, the last answer is still on the list, or its
 * removal was counted only after this began. Then it is freed only after this has ended.
 */
static struct ftrace_tramp *find_nth(unsigned int n)
{
	/* Before the list is looked at, see tramp_free(). */
	unsigned int gone = smp_load_acquire(&nr_gone), i = 0;
	struct ftrace_tramp *t = NULL;

	if (raw_spin_trylock(&last_nth_lock)) {
		if (last_nth.nr_gone == gone && last_nth.n <= n) {
			t = last_nth.t;
			i = last_nth.n;
		}
		raw_spin_unlock(&last_nth_lock);
	}
	if (!t)
		t = list_first_or_null_rcu(&tramps, struct ftrace_tramp, list);
	while (t && i < n) {
		t = list_next_or_null_rcu(&tramps, &t->list, struct ftrace_tramp, list);
		i++;
	}
	if (t && raw_spin_trylock(&last_nth_lock)) {
		last_nth.t = t;
		last_nth.n = n;
		last_nth.nr_gone = gone;
		raw_spin_unlock(&last_nth_lock);
	}
	return t;
}

/**
 * ftrace_tramp_nth - the n-th trampoline, for /proc/kallsyms
 * @n: which one, from 0
 * @value: gets its address
 * @name: gets its name, KSYM_NAME_LEN at most
 * @module_name: gets what stands for a module, MODULE_NAME_LEN at most
 *
 * Context: process.
 * Return: true if there are that many.
 */
bool ftrace_tramp_nth(unsigned int n, unsigned long *value, char *name,
		      char *module_name)
{
	struct ftrace_tramp *t;

	guard(preempt)();
	t = find_nth(n);
	if (!t)
		return false;
	*value = t->ip;
	strscpy(name, TRAMP_NAME, KSYM_NAME_LEN);
	strscpy(module_name, TRAMP_MODULE, MODULE_NAME_LEN);
	return true;
}
