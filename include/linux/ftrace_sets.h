/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracing with CONFIG_FTRACE_SETS: what the rest of the kernel may ask of it.
 *
 * The code behind this header is in kernel/trace/ftrace/; core.h there says
 * what is where. Users register a struct ftrace_ops; its filter chooses the
 * functions that it is called for.
 */
#ifndef _LINUX_FTRACE_SETS_H
#define _LINUX_FTRACE_SETS_H

/* Included first by linux/ftrace.h, which then has nothing more to say. */
#ifdef _LINUX_FTRACE_H
#error "include <linux/ftrace.h>"
#endif
#define _LINUX_FTRACE_H

#include <linux/trace_recursion.h>
#include <linux/trace_clock.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/linkage.h>
#include <linux/bitops.h>
#include <linux/ptrace.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/fs.h>

#include <asm/ftrace.h>

/* Architectures whose trampolines pass no ops and no regs say 0 here. */
#ifndef ARCH_SUPPORTS_FTRACE_OPS
# define ARCH_SUPPORTS_FTRACE_OPS 0
#endif

void trace_init(void);
void early_trace_init(void);
void ftrace_boot_snapshot(void);

struct ftrace_ops;
struct ftrace_regs;
struct ftrace_hash;
struct ftrace_tracer;
struct dyn_ftrace;
struct module;
struct seq_file;
struct trace_array;

/* Names of code that is not in any symbol table (any more). */
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size,
			      unsigned long *off, char **modname,
			      const unsigned char **modbuildid, char *sym);
int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value,
			   char *type, char *name, char *module_name,
			   int *exported);

/* What a callback is handed as its last argument. */
#include <linux/ftrace_regs.h>

static __always_inline struct pt_regs *
ftrace_get_regs(struct ftrace_regs *fregs)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
	return fregs ? arch_ftrace_get_regs(fregs) : NULL;
#else
	return fregs ? &arch_ftrace_regs(fregs)->regs : NULL;
#endif
}

/*
 * True if every argument can be read from @fregs. Where the architecture does
 * not save the arguments as a rule, that takes SAVE_REGS.
 */
static __always_inline bool ftrace_regs_has_args(struct ftrace_regs *fregs)
{
	return IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) ||
	       ftrace_get_regs(fregs);
}

typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs);

extern int ftrace_enabled;

/*
 * enum - flags of struct ftrace_ops
 *
 * Set by the user of the ops, before it is registered:
 * @FTRACE_OPS_FL_DYNAMIC: the ops may be freed once it is unregistered; the
 *	core sets it by itself for an ops outside of the kernel's static data
 * @FTRACE_OPS_FL_SAVE_REGS: the callback needs the full registers
 * @FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED: it takes them where they can be had
 * @FTRACE_OPS_FL_RECURSION: it has no recursion guard of its own
 * @FTRACE_OPS_FL_STUB: never called, only holds its call sites
 * @FTRACE_OPS_FL_IPMODIFY: it may change the instruction pointer
 * @FTRACE_OPS_FL_PID: it obeys set_ftrace_pid of the trace array in @private
 * @FTRACE_OPS_FL_RCU: it needs RCU to be watching
 * @FTRACE_OPS_FL_PERMANENT: kernel.ftrace_enabled cannot turn it off
 * @FTRACE_OPS_FL_DIRECT: its sites call a user's own trampoline
 * @FTRACE_OPS_FL_OWN_FILTER: with a name: it never starts with the default tracer's
 *	filter, and never is the default
 *
 * Set by the core:
 * @FTRACE_OPS_FL_ENABLED: registered
 * @FTRACE_OPS_FL_INITIALIZED: its filter is set up
 * @FTRACE_OPS_FL_DELETED: its trace array is going away
 * @FTRACE_OPS_FL_TRACE_ARRAY: it belongs to a trace array
 * @FTRACE_OPS_FL_SUBOP: it is one of several behind another ops
 * @FTRACE_OPS_FL_UNRECORDED: when its filter came into force a site on it had no
 *	record, because its text was not there, but may get one
 * @FTRACE_OPS_FL_SHARES_IPMODIFY: it is a direct call whose code has agreed that another
 *	ops may change where one of its functions continues
 * @FTRACE_OPS_FL_TOLD_IPMODIFY: it has been told of such an ops, and not yet that there
 *	is none any more
 */
enum {
	FTRACE_OPS_FL_ENABLED			= BIT(0),
	FTRACE_OPS_FL_DYNAMIC			= BIT(1),
	FTRACE_OPS_FL_SAVE_REGS			= BIT(2),
	FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED	= BIT(3),
	FTRACE_OPS_FL_RECURSION			= BIT(4),
	FTRACE_OPS_FL_STUB			= BIT(5),
	FTRACE_OPS_FL_INITIALIZED		= BIT(6),
	FTRACE_OPS_FL_DELETED			= BIT(7),
	FTRACE_OPS_FL_IPMODIFY			= BIT(8),
	FTRACE_OPS_FL_PID			= BIT(9),
	FTRACE_OPS_FL_RCU			= BIT(10),
	FTRACE_OPS_FL_TRACE_ARRAY		= BIT(11),
	FTRACE_OPS_FL_PERMANENT			= BIT(12),
	FTRACE_OPS_FL_DIRECT			= BIT(13),
	FTRACE_OPS_FL_SUBOP			= BIT(14),
	FTRACE_OPS_FL_SHARES_IPMODIFY		= BIT(15),
	FTRACE_OPS_FL_OWN_FILTER		= BIT(16),
	FTRACE_OPS_FL_UNRECORDED		= BIT(17),
	FTRACE_OPS_FL_TOLD_IPMODIFY		= BIT(18),
};

/*
 * enum ftrace_ops_cmd - what an ops with a direct call is told or asked
 *
 * Another ops, with FTRACE_OPS_FL_IPMODIFY, is on one of its functions or is
 * to be. A direct call that runs the function has to find it by the return
 * address on the stack from then on.
 *
 * @FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF: the other is there, and the one
 *	asked is about to be registered
 * @FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER: the other is about to be
 * @FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER: the other has gone
 */
enum ftrace_ops_cmd {
	FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF,
	FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER,
	FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER,
};

/* 0: it can be shared. -EAGAIN: ask again. Others: it cannot. May sleep. */
typedef int (*ftrace_ops_func_t)(struct ftrace_ops *op, enum ftrace_ops_cmd cmd);

/**
 * enum ftrace_filter_past - the history of a filter, as named tracers need it
 * @FTRACE_FILTER_NEW: none: the first tracer to run with it may begin with a
 *	copy of the default tracer's filter
 * @FTRACE_FILTER_USED: a tracer has run with it, or with another in its place
 * @FTRACE_FILTER_PARTED: besides, it began as a copy of the trace array's
 *	filter, and still follows when a program that knows no names changes
 *	that one
 * @FTRACE_FILTER_CHOSEN: besides, it was set for this tracer after that, and
 *	does not follow while the tracer is stopped
 */
enum ftrace_filter_past {
	FTRACE_FILTER_NEW,
	FTRACE_FILTER_USED,
	FTRACE_FILTER_PARTED,
	FTRACE_FILTER_CHOSEN,
};

/**
 * struct ftrace_ops_hash - the filter of an ops
 * @notrace_hash: call sites not to trace; NULL: none
 * @filter_hash: call sites to trace; NULL: all
 * @waiting: patterns for modules yet to come, the latest first: of what not to
 *	     trace, and of what to trace; see sites/waiting.c. ftrace_lock
 * @past: of the filter that an ops has of its own; ftrace_lock
 * @regex_lock: fgraph.c sets it up; not used here
 *
 * A hash is immutable once it is published. It is replaced under ftrace_lock,
 * and freed after a grace period, see ftrace_hash_free_rcu().
 */
struct ftrace_ops_hash {
	struct ftrace_hash __rcu	*notrace_hash;
	struct ftrace_hash __rcu	*filter_hash;
	struct hlist_head		waiting[2];
	enum ftrace_filter_past		past;
	struct mutex			regex_lock; /* not used, see above */
};

void ftrace_free_init_mem(void);
void ftrace_free_mem(struct module *mod, void *start, void *end);

/**
 * struct ftrace_ops - one tracer
 * @func: the callback
 * @node: in the list of registered ops; ftrace_lock to change, preemption off to
 *	walk
 * @flags: FTRACE_OPS_FL_*; those of the core change under ftrace_lock
 * @private: for the user; with FTRACE_OPS_FL_PID NULL or the struct trace_array whose
 *	PIDs it obeys
 * @saved_func: @func while set_ftrace_pid stands in front of it; ftrace_lock
 * @local_hash: the filter
 * @func_hash: the filter in force: @local_hash, or that of another ops
 * @list: for the user of sub-ops
 * @subop_list: the sub-ops behind this one
 * @ops_func: of a direct call: asked before other ops may change where its
 *	functions continue; NULL: they must not
 * @name: what function_tracers is to call it, NULL: nothing; set before it is
 *	registered, and has to stay valid
 * @tr: the trace array in whose function_tracers it shall be, NULL: the top level;
 *	it has to stay until the ops is unregistered
 * @tracer: what function_tracers knows of it; NULL: nothing. ftrace_lock
 * @pids: the lists of tasks that its calls ask, NULL: none; of a trace array's own:
 *	those of the array. ftrace_lock to change, calls read it with preemption off
 * @left: of a trace array's own: see ftrace_array_left(); ftrace_lock
 * @arrival: the number of its registration: of several ops on a function, the one with
 *	the largest is called first; ftrace_lock
 * @direct_call: the code that its call sites call; 0: none; ftrace_lock
 */
struct ftrace_ops {
	ftrace_func_t			func;
	struct list_head		node;
	unsigned long			flags;
	void				*private;
	ftrace_func_t			saved_func;
	struct ftrace_ops_hash		local_hash;
	struct ftrace_ops_hash		*func_hash;
	struct list_head		list;
	struct list_head		subop_list;
	ftrace_ops_func_t		ops_func;
	const char			*name;
	struct trace_array		*tr;
	struct ftrace_tracer		*tracer;
	struct ftrace_pids		*pids;
	u64				left;
	u64				arrival;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	unsigned long			direct_call;
#endif
};

int register_ftrace_function(struct ftrace_ops *ops);
int unregister_ftrace_function(struct ftrace_ops *ops);

void ftrace_stub(unsigned long a0, unsigned long a1, struct ftrace_ops *op,
		 struct ftrace_regs *fregs);

int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt,
			  unsigned long *addrs);
void ftrace_kill(void);
bool ftrace_pids_enabled(struct ftrace_ops *ops);

/*
 * For kexec: kernel.ftrace_enabled reads 0, and no FTRACE_OPS_FL_PERMANENT ops may come
 * meanwhile. Callbacks go on, so whoever moves text has to see to that itself.
 */
static inline int __ftrace_enabled_save(void)
{
	return xchg(&ftrace_enabled, 0);
}

static inline void __ftrace_enabled_restore(int enabled)
{
	ftrace_enabled = enabled;
}

#ifdef CONFIG_STACK_TRACER

extern int stack_tracer_enabled;

int stack_trace_sysctl(const struct ctl_table *table, int write, void *buffer,
		       size_t *lenp, loff_t *ppos);

/* Above zero: the stack tracer keeps out on this CPU. */
DECLARE_PER_CPU(int, disable_stack_tracer);

/**
 * stack_tracer_disable - keep the stack tracer out on this CPU
 *
 * Nests. Preemption and interrupts have to be off until stack_tracer_enable().
 */
static inline void stack_tracer_disable(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_PREEMPT))
		WARN_ON_ONCE(!preempt_count() || !irqs_disabled());
	this_cpu_inc(disable_stack_tracer);
}

/**
 * stack_tracer_enable - undo one stack_tracer_disable()
 */
static inline void stack_tracer_enable(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_PREEMPT))
		WARN_ON_ONCE(!preempt_count() || !irqs_disabled());
	this_cpu_dec(disable_stack_tracer);
}
#else
static inline void stack_tracer_disable(void) { }
static inline void stack_tracer_enable(void) { }
#endif

/**
 * struct dyn_ftrace - what is known of one call site
 * @key: the call site, as ftrace_text_key()
 * @state: the set of ops that trace it and FTRACE_REC_* flags, see
 *	   kernel/trace/ftrace/sites/sites.h; written under ftrace_lock
 * @arch: for the architecture
 */
struct dyn_ftrace {
	u32			key;
	u32			state;
	struct dyn_arch_ftrace	arch;
};

enum {
	FTRACE_ITER_FILTER	= BIT(0),
	FTRACE_ITER_NOTRACE	= BIT(1),
};

extern struct mutex ftrace_lock;

#ifdef CONFIG_FTRACE_MCOUNT_RECORD
/* Where the build leaves the addresses of call sites. */
#define FTRACE_CALLSITE_SECTION	"__mcount_loc"
#endif

void ftrace_init(void);
void ftrace_module_init(struct module *mod);
void ftrace_module_enable(struct module *mod);
void ftrace_release_mod(struct module *mod);

int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len,
		      int reset);
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len,
		       int reset);
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove,
			 int reset);
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset);
void ftrace_set_global_filter(unsigned char *buf, int len, int reset);
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset);
void ftrace_free_filter(struct ftrace_ops *ops);
void ftrace_ops_set_global_filter(struct ftrace_ops *ops);
void ftrace_set_early_filter(struct ftrace_ops *ops, char *buf, int enable);

int ftrace_regex_open(struct trace_array *tr, struct ftrace_ops *ops, int flag,
		      struct inode *inode, struct file *file);
ssize_t ftrace_filter_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos);
ssize_t ftrace_notrace_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos);
int ftrace_regex_release(struct inode *inode, struct file *file);

unsigned long ftrace_location(unsigned long ip);
unsigned long ftrace_location_range(unsigned long start, unsigned long end);
int ftrace_text_reserved(const void *start, const void *end);
bool is_ftrace_trampoline(unsigned long addr);

int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec,
		    unsigned long addr);
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr);

/*
 * What the core asks of an architecture, with <linux/ftrace_text.h>: to get ready to
 * write text; and to have ftrace_caller, which is below, call @func.
 */
int ftrace_dyn_arch_init(void);
int ftrace_update_ftrace_func(ftrace_func_t func);

void ftrace_caller(void);
void ftrace_call(void);

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr);
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr,
			     bool free_filters);
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr);
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr);
#else
static inline int register_ftrace_direct(struct ftrace_ops *ops,
					 unsigned long addr)
{
	return -EOPNOTSUPP;
}

static inline int unregister_ftrace_direct(struct ftrace_ops *ops,
					   unsigned long addr,
					   bool free_filters)
{
	return -EOPNOTSUPP;
}

static inline int modify_ftrace_direct(struct ftrace_ops *ops,
				       unsigned long addr)
{
	return -EOPNOTSUPP;
}

static inline int modify_ftrace_direct_nolock(struct ftrace_ops *ops,
					      unsigned long addr)
{
	return -EOPNOTSUPP;
}
#endif

/* Who called whom, for the latency tracers and lockdep. */
#ifndef ftrace_return_address0
# define ftrace_return_address0 __builtin_return_address(0)
#endif
#ifndef ftrace_return_address
# ifdef CONFIG_FRAME_POINTER
#  define ftrace_return_address(n) __builtin_return_address(n)
# else
#  define ftrace_return_address(...) 0UL
# endif
#endif

#define CALLER_ADDR0 ((unsigned long)ftrace_return_address0)
#define CALLER_ADDR1 ((unsigned long)ftrace_return_address(1))
#define CALLER_ADDR2 ((unsigned long)ftrace_return_address(2))
#define CALLER_ADDR3 ((unsigned long)ftrace_return_address(3))
#define CALLER_ADDR4 ((unsigned long)ftrace_return_address(4))
#define CALLER_ADDR5 ((unsigned long)ftrace_return_address(5))
#define CALLER_ADDR6 ((unsigned long)ftrace_return_address(6))

static __always_inline unsigned long get_lock_parent_ip(void)
{
	unsigned long caller = CALLER_ADDR0;

	if (!in_lock_functions(caller))
		return caller;

	/* The rest is 0 at compile time unless there are frame pointers. */
	caller = CALLER_ADDR1;
	return caller && in_lock_functions(caller) ? CALLER_ADDR2 : caller;
}

#ifdef CONFIG_TRACE_PREEMPT_TOGGLE
void trace_preempt_on(unsigned long a0, unsigned long a1);
void trace_preempt_off(unsigned long a0, unsigned long a1);
#else
# define trace_preempt_on(...) do { } while (0)
# define trace_preempt_off(...) do { } while (0)
#endif

#include <linux/ftrace_graph.h>

#define MAX_TRACER_SIZE		100
extern char ftrace_dump_on_oops[];
int ftrace_dump_on_oops_enabled(void);
extern int tracepoint_printk;

void disable_trace_on_warning(void);
extern int __disable_trace_on_warning;

int tracepoint_printk_sysctl(const struct ctl_table *table, int write,
			     void *buffer, size_t *lenp, loff_t *ppos);

#ifdef CONFIG_FTRACE_SYSCALLS
unsigned long arch_syscall_addr(int nr);
#endif

#endif /* _LINUX_FTRACE_SETS_H */
