/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing functions at their entry and at their return.
 *
 * Included by linux/ftrace_sets.h, which says what a struct ftrace_ops is. A graph
 * user registers a struct fgraph_ops; kernel/trace/fgraph.c keeps the shadow
 * stacks on which return addresses wait meanwhile.
 */
#ifndef _LINUX_FTRACE_GRAPH_H
#define _LINUX_FTRACE_GRAPH_H

/*
 * What the graph tracer writes into the ring buffer: user space reads these
 * layouts, with and without a graph tracer in the kernel.
 */
struct ftrace_graph_ent {
	unsigned long	func;
	int		depth;
} __packed;

struct ftrace_graph_ret {
	unsigned long	func;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	unsigned long	retval;
#endif
	int		depth;
	unsigned int	overrun;
	unsigned long long calltime;
	unsigned long long rettime;
} __packed;

struct fgraph_ops;

typedef int (*trace_func_graph_ent_t)(struct ftrace_graph_ent *trace,
				      struct fgraph_ops *gops);
typedef void (*trace_func_graph_ret_t)(struct ftrace_graph_ret *trace,
				       struct fgraph_ops *gops);

int ftrace_graph_entry_stub(struct ftrace_graph_ent *trace,
			    struct fgraph_ops *gops);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/**
 * struct fgraph_ops - one graph user
 * @entryfunc: called where a function begins; 0: leave its return alone
 * @retfunc: called where it returns
 * @ops: its filter
 * @private: for the user
 * @saved_func: @entryfunc while set_ftrace_pid stands in front of it
 * @idx: its number among the graph users
 *
 * @saved_func and @idx are fgraph.c's, under ftrace_lock, and so is @ops once this is
 * registered, except its filter.
 */
struct fgraph_ops {
	trace_func_graph_ent_t	entryfunc;
	trace_func_graph_ret_t	retfunc;
	struct ftrace_ops	ops;
	void			*private;
	trace_func_graph_ent_t	saved_func;
	int			idx;
};

/**
 * struct ftrace_ret_stack - a function under way, on its task's shadow stack
 * @ret: its real return address
 * @func: its call site
 * @calltime: when it was called, as of trace_clock_local()
 * @fp: its frame, on architectures that check it
 * @retp: where on the stack its return address was
 */
struct ftrace_ret_stack {
	unsigned long		ret;
	unsigned long		func;
	unsigned long long	calltime;
#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	unsigned long		fp;
#endif
	unsigned long		*retp;
};

/* How deep the graph tracer indents by default. */
#define FTRACE_RETFUNC_DEPTH		50

/* How many tasks are given a shadow stack at a time. */
#define FTRACE_RETSTACK_ALLOC_SIZE	32

/* For functions that replace their own stack frame: their return must not be hooked. */
#define __notrace_funcgraph		notrace

int register_ftrace_graph(struct fgraph_ops *gops);
void unregister_ftrace_graph(struct fgraph_ops *gops);
void ftrace_graph_stop(void);

void *fgraph_reserve_data(int idx, int size_bytes);
void *fgraph_retrieve_data(int idx, int *size_bytes);
unsigned long *fgraph_get_task_var(struct fgraph_ops *gops);

/* What an architecture calls at a function's entry, and at its return. */
int function_graph_enter(unsigned long ret, unsigned long func,
			 unsigned long frame_pointer, unsigned long *retp);
#ifdef CONFIG_HAVE_FUNCTION_GRAPH_FREGS
unsigned long ftrace_return_to_handler(struct ftrace_regs *fregs);
#else
unsigned long ftrace_return_to_handler(unsigned long frame_pointer);
#endif

/* What an architecture provides: where hooked functions return to. */
void return_to_handler(void);

/* And: have ftrace_caller serve graph users, or no longer. */
int ftrace_enable_ftrace_graph_caller(void);
int ftrace_disable_ftrace_graph_caller(void);

/* The callback of all graph users is the architecture's. */
#ifndef ftrace_graph_func
# error "FTRACE_SETS needs an ftrace_graph_func()"
#endif
#define FTRACE_OPS_GRAPH_STUB 0

/* Some architectures look here whether there is any graph user. */
extern trace_func_graph_ret_t ftrace_graph_return;
extern trace_func_graph_ent_t ftrace_graph_entry;

/* For unwinders. */
struct ftrace_ret_stack *
ftrace_graph_get_ret_stack(struct task_struct *task, int idx);
unsigned long ftrace_graph_ret_addr(struct task_struct *task, int *idx,
				    unsigned long ret, unsigned long *retp);

void ftrace_graph_init_task(struct task_struct *t);
void ftrace_graph_exit_task(struct task_struct *t);
void ftrace_graph_init_idle_task(struct task_struct *t, int cpu);

DECLARE_STATIC_KEY_FALSE(kill_ftrace_graph);

/**
 * ftrace_graph_is_dead - has ftrace_graph_stop() ended graph tracing?
 *
 * Context: any.
 */
static inline bool ftrace_graph_is_dead(void)
{
	return static_branch_unlikely(&kill_ftrace_graph);
}

/**
 * pause_graph_tracing - keep the graph tracer off what this task calls
 *
 * Nests. Functions that are under way are still seen to return.
 */
static inline void pause_graph_tracing(void)
{
	atomic_inc(&current->tracing_graph_pause);
}

/**
 * unpause_graph_tracing - undo one pause_graph_tracing()
 */
static inline void unpause_graph_tracing(void)
{
	atomic_dec(&current->tracing_graph_pause);
}

#else /* !CONFIG_FUNCTION_GRAPH_TRACER */

#define __notrace_funcgraph
static inline void ftrace_graph_init_task(struct task_struct *t) { }
static inline void ftrace_graph_exit_task(struct task_struct *t) { }
static inline void ftrace_graph_init_idle_task(struct task_struct *t, int cpu) { }

/* Macros: their callers have no ops of that type to pass. */
#define register_ftrace_graph(...) ({ -1; })
#define unregister_ftrace_graph(...) do { } while (0)

static inline unsigned long
ftrace_graph_ret_addr(struct task_struct *task, int *idx, unsigned long ret,
		      unsigned long *retp)
{
	return ret;
}

static inline void pause_graph_tracing(void) { }
static inline void unpause_graph_tracing(void) { }

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
#endif /* _LINUX_FTRACE_GRAPH_H */
