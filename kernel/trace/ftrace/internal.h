/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types and calls that cross the files of kernel/trace/ftrace/.
 *
 *   discovery   notes.c     the note table that the recorder fills
 *               ftraced.c   the rounds: notes become records, records are settled
 *               table.c     or: the sites that the build has collected
 *               discover.c  sites asked for by name or address
 *   state       regions.c   stretches of text and their records
 *               opsets.c    interned sets of ops: what a record's state points at
 *               update.c    who wants what: the changes of one update
 *   text        plan.c      a plan, checked and handed to the writer in slices
 *               trampoline.c  the life of the code that serves one set
 *   users       ops.c       registration, and the dispatcher behind ftrace_caller
 *               array.c     the ops of trace arrays
 *               direct.c    ops whose call sites call other code directly
 *               subops.c    ops that share one callback: graph users
 *               hash.c      immutable sets of call sites
 *               filter.c    filters, as the kernel sets them
 *               names.c     the names of records, in address order
 *               match.c     from a pattern to a set of call sites
 *               mod_filter.c  patterns for modules, also for those yet to come
 *               gone.c      names of functions whose text has been freed
 *               forget.c    what else knew of that text
 *               profile.c   how often each function is called, and how long it takes
 *               tracers.c   ops that have names, and the default one
 *               tracer_pid.c  the tasks that an ops is for
 *               filter_edit.c  filters as a file of tracefs changes them
 *               filter_file.c, files.c, graph.c, pid.c, command.c, probe.c, boot.c
 *
 * Discovery knows nothing of ops, ops know nothing of text.
 *
 * Lock order: event_mutex (base) > trace_types_lock > the lock of each
 * struct ftrace_pids (tracers.h), probe_mutex (probe.c), direct_mutex (direct.c),
 * ftrace_profile_mutex (profile.h) > ftrace_lock > tramp_mutex (trampoline.c) > cpus_read_lock >
 * text_mutex > the stop.
 * module_mutex nests in ftrace_lock.
 */
#ifndef _KERNEL_TRACE_FTRACE_INTERNAL_H
#define _KERNEL_TRACE_FTRACE_INTERNAL_H

#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <asm/sections.h>

#include "../trace.h"

/* Set by ftrace_kill(): who is in may go, and nothing else happens any more. */
extern bool ftrace_disabled;

/* ---- records and the text they lie in: regions.c ---------------------- */

/*
 * The low bits of dyn_ftrace.state hold the id of an interned set of ops: who
 * traces this site, and so what its text calls. The others:
 * NEW: the text still calls __fentry__; the set is empty, and not yet what the ops
 *	ask for
 * BAD: the text was not what it should be; the record is left alone for good
 * TOUCHED: at some time the text called somebody other than __fentry__
 * MODIFIED: and that could change where the function goes on
 * NOP: with NEW, the text is the nop that a table had it made at once
 */
#define FTRACE_REC_SET_MASK	GENMASK(23, 0)
#define FTRACE_REC_NEW		BIT(24)
#define FTRACE_REC_BAD		BIT(25)
#define FTRACE_REC_TOUCHED	BIT(26)
#define FTRACE_REC_MODIFIED	BIT(27)
#define FTRACE_REC_NOP		BIT(28)

/* What a record keeps, whatever set it gets. */
#define FTRACE_REC_KEPT		(FTRACE_REC_TOUCHED | FTRACE_REC_MODIFIED)

/**
 * struct ftrace_recs - the records of one region, ascending by address
 * @rcu: to free it once lock-free readers are done
 * @nr: how many there are
 * @rec: the records
 *
 * Page-allocated. What is in it changes under ftrace_lock; a batch is added by
 * replacing the whole, so a reader under RCU always finds it sorted.
 */
struct ftrace_recs {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct dyn_ftrace	rec[];
};

/**
 * struct ftrace_region - a stretch of text that comes and goes as one
 * @list: in ftrace_regions, ascending by address
 * @rcu: to free it
 * @start: first address
 * @end: first address behind it
 * @mod: the module it belongs to; NULL: the kernel
 * @recs: its records; NULL: none yet
 * @nr_new: how many of them are FTRACE_REC_NEW
 * @complete: each of its symbols has been looked at, so no site is unknown
 * @tabled: the table of its module has been taken
 * @gen: differs between any two regions ever made
 *
 * All of it: written under ftrace_lock, read under it or under RCU-sched.
 */
struct ftrace_region {
	struct list_head		list;
	struct rcu_head			rcu;
	unsigned long			start;
	unsigned long			end;
	struct module			*mod;
	struct ftrace_recs __rcu	*recs;
	unsigned int			nr_new;
	bool				complete;
	bool				tabled;
	u64				gen;
};

extern struct list_head ftrace_regions;

/* Of a region that has one. A kernel without modules does not say what one is. */
#ifdef CONFIG_MODULES
static inline const char *ftrace_region_mod_name(const struct ftrace_region *r)
{
	return r->mod->name;
}
#else
static inline const char *ftrace_region_mod_name(const struct ftrace_region *r)
{
	return "";
}
#endif

static inline unsigned long ftrace_rec_ip(const struct dyn_ftrace *rec)
{
	return ftrace_text_addr(rec->key);
}

static inline u32 ftrace_rec_set(const struct dyn_ftrace *rec)
{
	return READ_ONCE(rec->state) & FTRACE_REC_SET_MASK;
}

/* The records of a region, for those who hold ftrace_lock. */
static inline struct ftrace_recs *ftrace_region_recs(struct ftrace_region *r)
{
	return rcu_dereference_protected(r->recs,
					 lockdep_is_held(&ftrace_lock));
}

static inline unsigned int ftrace_region_nr(struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);

	return recs ? recs->nr : 0;
}

struct ftrace_region *ftrace_region_add(unsigned long start, unsigned long end,
					struct module *mod);
void ftrace_region_remove(unsigned long start, unsigned long end);
struct ftrace_region *ftrace_region_find(unsigned long ip);
struct dyn_ftrace *ftrace_rec_find(unsigned long ip);
struct dyn_ftrace *ftrace_rec_in(struct ftrace_recs *recs, unsigned long start,
				 unsigned long end);
int ftrace_recs_add(struct ftrace_region *r, const u32 *sites, unsigned int nr);
int ftrace_recs_add_nops(struct ftrace_region *r, const u32 *sites,
			 unsigned int nr, bool settled);

/* ---- discovery: discover.c, ftraced.c; see recorder.h, table.h too ---- */

int ftrace_discover_all(void);
int ftrace_discover_region(struct ftrace_region *r);
int ftrace_discover_sites(const u32 *sites, unsigned int nr);
int ftrace_discover_proved(const u32 *sites, unsigned int nr);
extern unsigned long ftrace_nr_discovered;
int ftraced_init(void);
void ftraced_create_files(struct dentry *parent);

/* ---- sets of call sites: hash.c ---------------------------------------- */

/* With FTRACE_HASH_FL_MOD: until the module comes that a pattern waits for. */
#define FTRACE_HASH_FL_WAITS	BIT(1)

bool ftrace_ascends(const void *base, unsigned int nr, size_t size,
		    cmp_func_t cmp, bool strictly);
unsigned int ftrace_sort_unique(void *base, unsigned int nr, size_t size,
				cmp_func_t cmp);
struct ftrace_hash *ftrace_hash_from_sites(u32 *sites, unsigned int nr);
int ftrace_hash_change(struct ftrace_hash **hash, struct ftrace_hash *sites,
		       bool remove);
struct ftrace_hash *ftrace_hash_union(const struct ftrace_hash *a,
				      const struct ftrace_hash *b);
struct ftrace_hash *ftrace_hash_minus(const struct ftrace_hash *a,
				      const struct ftrace_hash *b);
struct ftrace_hash *ftrace_hash_nothing(void);
struct ftrace_hash *ftrace_hash_copy(const struct ftrace_hash *hash);
struct ftrace_hash *ftrace_hash_forget(struct ftrace_hash *hash, bool enable,
				       u32 start, u32 end);
void ftrace_hash_free(struct ftrace_hash *hash);
void ftrace_hash_free_rcu(struct ftrace_hash *hash);

/**
 * struct ftrace_sites - a list of call sites that grows
 * @key: the sites, as ftrace_text_key(), in the order they came
 * @nr: how many there are
 * @size: how many @key has room for
 */
struct ftrace_sites {
	u32		*key;
	unsigned int	nr;
	unsigned int	size;
};

int ftrace_sites_add(struct ftrace_sites *s, unsigned long ip);
void ftrace_sites_free(struct ftrace_sites *s);

/**
 * ftrace_hash_has - is a call site in a set?
 * @hash: the set, may be NULL for the empty one
 * @ip: the call site
 *
 * Searched by hand: it is asked for each record of an update, and of what gcc makes
 * of __inline_bsearch() a step takes a quarter more instructions.
 *
 * Any context; the caller keeps @hash from being freed.
 */
static __always_inline bool ftrace_hash_has(const struct ftrace_hash *hash,
					    unsigned long ip)
{
	unsigned int low = 0, high;
	u32 key = ftrace_text_key(ip);

	if (!hash)
		return false;
	high = hash->count;
	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (hash->sites[mid] == key)
			return true;
		if (hash->sites[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/**
 * struct ftrace_filter - the two halves of an ops' filter
 * @filter: what to trace; NULL or empty: everything
 * @skip: what not to trace; NULL or empty: nothing
 */
struct ftrace_filter {
	struct ftrace_hash	*filter;
	struct ftrace_hash	*skip;
};

static __always_inline bool ftrace_filter_wants(const struct ftrace_filter *f,
						unsigned long ip)
{
	if (!ftrace_hash_empty(f->filter) && !ftrace_hash_has(f->filter, ip))
		return false;
	return !ftrace_hash_has(f->skip, ip);
}

/* ---- sets of ops: opsets.c --------------------------------------------- */

/**
 * struct ftrace_opset_step - where one ops leads to from a set
 * @ops: the ops; NULL: none has been asked for
 * @with: the set that has it too; -1: not known
 * @without: the set that lacks it; -1: not known
 */
struct ftrace_opset_step {
	const struct ftrace_ops	*ops;
	int			with;
	int			without;
};

/**
 * struct ftrace_opset - an interned set of ops, served by one trampoline
 * @node: in the table of all sets, by content
 * @id: what the records that have it carry in their state; never 0, which is
 *	the empty set
 * @nr_recs: how many records carry @id
 * @target: what their text calls, as ftrace_text_key()
 * @next: what it is to call; differs from @target only during an update
 * @tramp: the trampoline; NULL: @target is a direct call, or the one trampoline
 *	   that serves all sets
 * @flags: FTRACE_OPS_FL_* that any of the ops has
 * @step: where the last ops leads to that was added or taken away
 * @nr: how many ops
 * @ops: the ops, ascending by address, so that order of arrival is no matter
 *
 * ftrace_lock.
 */
struct ftrace_opset {
	struct hlist_node		node;
	u32				id;
	u32				nr_recs;
	u32				target;
	u32				next;
	struct ftrace_tramp		*tramp;
	unsigned long			flags;
	struct ftrace_opset_step	step;
	unsigned int			nr;
	struct ftrace_ops		*ops[] __counted_by(nr);
};

struct ftrace_opset *ftrace_opset_find(u32 id);
int ftrace_opset_with(u32 id, struct ftrace_ops *ops);
int ftrace_opset_without(u32 id, struct ftrace_ops *ops);
bool ftrace_opset_has(u32 id, struct ftrace_ops *ops);
u32 ftrace_opset_target(u32 id);
void ftrace_opset_move(u32 from, u32 to, unsigned int nr);
void ftrace_opset_keep(u32 id);
void ftrace_opset_gc(void);
void ftrace_opsets_set_func(struct ftrace_ops *ops);
void ftrace_opsets_plan_direct(struct ftrace_ops *ops, unsigned long addr);
void ftrace_opsets_poke_direct(struct ftrace_ops *ops);
bool ftrace_opsets_plan_tramps(void);
void ftrace_opsets_retargeted(bool done);
u32 ftrace_opset_next(u32 id);
unsigned long ftrace_ops_callee(const struct ftrace_ops *ops);

/* ---- trampolines: trampoline.c ----------------------------------------- */

struct ftrace_tramp;

struct ftrace_tramp *ftrace_tramp_make(const struct ftrace_tramp_spec *spec);
unsigned long ftrace_tramp_ip(const struct ftrace_tramp *t);
void ftrace_tramp_poke_call(struct ftrace_tramp *t, unsigned int i,
			    unsigned long func);
void ftrace_tramp_poke_jump(struct ftrace_tramp *t, unsigned long jump);
void ftrace_tramp_keep(struct ftrace_tramp *t);
void ftrace_tramp_put(struct ftrace_tramp *t);
void ftrace_tramps_poked(void);
int ftrace_tramp_lookup(unsigned long addr, unsigned long *size,
			unsigned long *off, char **modname, char *sym);
bool ftrace_tramp_nth(unsigned int n, unsigned long *value, char *name,
		      char *module_name);

/* ---- text: plan.c, update.c -------------------------------------------- */

/* No stop is worth its while for less. */
#define FTRACE_SLICE_MIN	1024

int ftrace_plan_reserve(struct ftrace_plan *plan, unsigned int nr);
/**
 * ftrace_plan_add - add a change to a plan
 * @plan: the plan
 * @rec: the record of the site; its address is above all that are in @plan
 * @from: what the site has to call now, 0 for a nop
 * @to: what it shall call, 0 for a nop
 * @state: what @rec->state is to become
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
static __always_inline int
ftrace_plan_add(struct ftrace_plan *plan, struct dyn_ftrace *rec,
		u32 from, u32 to, u32 state)
{
	struct ftrace_plan_entry *e;

	if (unlikely(plan->nr == plan->size) &&
	    ftrace_plan_reserve(plan, max(32U, 2 * plan->size)))
		return -ENOMEM;

	e = &plan->entries[plan->nr++];
	e->rec = rec;
	e->ip = rec->key;
	e->from = from;
	e->to = to;
	e->state = state;
	plan->nr_text += from != to;
	return 0;
}

/* Of kernel/events/core.c: how many events want to hear of changed text. */
extern atomic_t nr_text_poke_events;

int ftrace_plan_write_one(const struct ftrace_plan_entry *e);
int ftrace_plan_write(struct ftrace_plan *plan, unsigned int *bad);
void ftrace_plan_free(struct ftrace_plan *plan);
unsigned int ftrace_plan_next_slice(unsigned int slice, unsigned int sites,
				    u64 ns, u64 bound_ns);

int ftrace_update_ops(struct ftrace_ops *ops, const struct ftrace_filter *old,
		      const struct ftrace_filter *new);
int ftrace_update_filter(struct ftrace_ops_hash *h,
			 const struct ftrace_filter *old,
			 const struct ftrace_filter *new);
bool ftrace_update_leave(struct ftrace_ops *ops,
			 const struct ftrace_filter *old);
int ftrace_settle(void);
int ftrace_update_enabled(bool on);
int ftrace_update_direct(struct ftrace_ops *ops, unsigned long addr);
int ftrace_update_tramps(void);
u32 ftrace_rec_text(const struct dyn_ftrace *rec);

/* ---- ops and their filters: ops.c, filter.c ---------------------------- */

extern struct ftrace_ops global_ops;
extern struct ftrace_ops __rcu *ftrace_ops_list;

/* The registered ops that follows @ops, the first one after NULL. */
static inline struct ftrace_ops *ftrace_next_ops(struct ftrace_ops *ops)
{
	return rcu_dereference_protected(ops ? ops->next : ftrace_ops_list,
					 lockdep_is_held(&ftrace_lock));
}

void ftrace_ops_init(struct ftrace_ops *ops);
void ftrace_ops_filter(struct ftrace_ops *ops, struct ftrace_filter *f);
int ftrace_startup(struct ftrace_ops *ops);
int ftrace_shutdown(struct ftrace_ops *ops);
void ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func);
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs);
void ftrace_ops_wait(const struct ftrace_ops *ops);
void ftrace_ops_guarded(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *op, struct ftrace_regs *fregs);
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_pid_update_ops(struct ftrace_ops *ops);
bool ftrace_filter_fits(const struct ftrace_ops *ops,
			const struct ftrace_filter *f);
int ftrace_ops_set_filter(struct ftrace_ops *ops, struct ftrace_hash *hash,
			  bool enable);
int ftrace_filter_copy(struct ftrace_ops_hash *to,
		       const struct ftrace_ops_hash *from);
void ftrace_filter_clear(struct ftrace_ops_hash *h);
void ftrace_filter_forget(struct ftrace_ops_hash *h, u32 start, u32 end);

/* ---- ops of trace arrays: array.c ---------------------------------------- */

void ftrace_array_left(struct ftrace_ops *ops);
void ftrace_array_wait(const struct ftrace_ops *ops);

/* ---- text that is gone: forget.c ----------------------------------------- */

void ftrace_forget_begin(void);
void ftrace_forget_end(void);
void ftrace_forget(unsigned long start, unsigned long end);

/* ---- direct calls: direct.c --------------------------------------------- */

/* The code that an ops with FTRACE_OPS_FL_DIRECT has its call sites call. */
static inline unsigned long ftrace_ops_direct(const struct ftrace_ops *ops)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	return READ_ONCE(ops->direct_call);
#else
	return 0;
#endif
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
int ftrace_register_ipmodify(struct ftrace_ops *ops);
int ftrace_unregister_ipmodify(struct ftrace_ops *ops);
#else
static inline int ftrace_register_ipmodify(struct ftrace_ops *ops)
{
	return -EOPNOTSUPP;
}

static inline int ftrace_unregister_ipmodify(struct ftrace_ops *ops)
{
	return -EOPNOTSUPP;
}
#endif

/* ---- the graph tracer: subops.c, graph.c ------------------------------- */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
void ftrace_graph_list_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_graph_set_early_filters(void);
void ftrace_graph_create_files(struct dentry *parent);
void ftrace_graph_forget(u32 start, u32 end);
#else
static inline void ftrace_graph_set_early_filters(void) { }
static inline void ftrace_graph_create_files(struct dentry *parent) { }
static inline void ftrace_graph_forget(u32 start, u32 end) { }
#endif

/* ---- the profiler: profile.c -------------------------------------------- */

#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_create_files(struct dentry *parent);
void ftrace_profile_forget(unsigned long start, unsigned long end);
#else
static inline void ftrace_profile_create_files(struct dentry *parent) { }
static inline void ftrace_profile_forget(unsigned long start,
					 unsigned long end) { }
#endif

/* ---- patterns, names, commands: match.c, names.c, command.c ------------ */

/**
 * struct ftrace_glob - a pattern for function names, parsed
 * @type: how to compare
 * @search: the text to compare with, without the asterisks @type stands for
 * @len: its length
 * @not: the pattern began with '!': take away what matches
 */
struct ftrace_glob {
	enum regex_type	type;
	char		*search;
	unsigned int	len;
	int		not;
};

void ftrace_glob_parse(struct ftrace_glob *g, char *str);
bool ftrace_glob_match(const struct ftrace_glob *g, const char *name,
		       size_t len);
struct ftrace_hash *ftrace_match_sites(const struct ftrace_glob *g,
				       const struct ftrace_glob *mod);
int ftrace_apply_pattern(struct ftrace_hash **hash, char *pattern);

/**
 * struct ftrace_waiter - a pattern that waits for a module
 * @node: in the list of what waits with it
 * @func: which functions
 * @module: of which modules
 * @came: they are there, as the latest ftrace_waiting_resolve() found
 *
 * ftrace_lock, or the file that it is being written to.
 */
struct ftrace_waiter {
	struct hlist_node	node;
	char			*func;
	char			*module;
	bool			came;
};

int ftrace_apply_mod_pattern(struct ftrace_hash **hash,
			     struct hlist_head *waiting, const char *func,
			     const char *module);
void ftrace_waiting_free(struct hlist_head *waiting);
void ftrace_waiting_replace(struct hlist_head *to, struct hlist_head *from);
int ftrace_waiting_copy(struct hlist_head *to, const struct hlist_head *from);
struct ftrace_waiter *ftrace_waiting_nth(const struct hlist_head *waiting,
					 loff_t n);
int ftrace_waiting_resolve(struct hlist_head *waiting, const char *module,
			   struct ftrace_hash **hash);
void ftrace_waiting_done(struct hlist_head *waiting);
void ftrace_waiting_module(const char *module);

struct ftrace_mod_syms;

/**
 * struct ftrace_names - the names of a region's records, in address order
 * @r: the region; NULL: not started
 * @gen: its ftrace_region.gen, to know it again after the lock was dropped
 * @last: the last call site whose name was printed
 * @addr: address of the symbol the walk is at, ULONG_MAX at the end
 * @pos: the kernel's symbols: where the walk is
 * @mod: a module's symbols, sorted by address; NULL for the kernel
 * @mod_idx: where in @mod the walk is
 * @sieve: if set, names of the kernel that it holds back are passed over
 * @len: length of the last name
 * @name: room for one name
 *
 * A walk goes forward only. ftrace_lock.
 */
struct ftrace_names {
	struct ftrace_region	*r;
	u64			gen;
	unsigned long		last;
	unsigned long		addr;
	struct kallsyms_cursor	pos;
	struct ftrace_mod_syms	*mod;
	unsigned int		mod_idx;
	const struct kallsyms_sieve *sieve;
	unsigned int		len;
	char			name[KSYM_NAME_LEN];
};

int ftrace_names_start(struct ftrace_names *n, struct ftrace_region *r,
		       unsigned long addr);
void ftrace_names_stop(struct ftrace_names *n);
unsigned long ftrace_names_symbol(struct ftrace_names *n);
bool ftrace_names_has(struct ftrace_names *n, unsigned long ip);
const char *ftrace_names_alias(struct ftrace_names *n, unsigned long ip);
int ftrace_names_show(struct ftrace_names *n, struct seq_file *m,
		      struct ftrace_region *r, unsigned long ip);

void ftrace_gone_keep(struct ftrace_region *r);
void ftrace_gone_forget(const struct module *mod);

int ftrace_run_command(struct trace_array *tr, struct ftrace_hash *hash,
		       char *func, char *words, int enable);
int ftrace_probes_show(struct trace_array *tr, struct seq_file *m, loff_t n);
bool ftrace_probes_exist(struct trace_array *tr, loff_t n);
void ftrace_probes_lock(void);
void ftrace_probes_unlock(void);
void ftrace_probes_forget(u32 start, u32 end);

#endif /* _KERNEL_TRACE_FTRACE_INTERNAL_H */
