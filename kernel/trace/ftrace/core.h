/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all of the core stands on.
 *
 * The rooms, from the top; each calls what lies below it, never what lies above:
 *
 *   boot, module, forget, ftraced, kallsyms, tracefs
 *	      boot; text that comes and goes; the thread; names for kallsyms;
 *	      which directory has which files
 *   files/   the files in tracefs
 *   users/   what the rest of the kernel calls: registration, filters, direct
 *	      calls, graph users, probes, the profiler
 *   tracers/ ops that have names: who runs, with which filter, for which tasks
 *   ops/     the registered ops, interned sets of them, and updates: from what
 *	      the ops want to a plan
 *   sites/   call sites: how they are found, their records, their names, sets
 *	      of them
 *   text/    a plan, checked and handed to the writer in slices; trampolines
 *   arch/<arch>/kernel/ftrace/
 *	      what an architecture does, see <linux/ftrace_text.h>
 *   core     ftrace_lock, whether ftrace is dead, freeing what callbacks look at
 *
 * kunit/ has the KUnit tests; test/ has modules and files for the kselftests. fgraph.h
 * is shared with kernel/trace/fgraph.c.
 *
 * sites/ knows nothing of ops; ops/ knows of text only that there are plans and
 * trampolines. A room with several subjects has a header for each of them.
 *
 * A file in files/ is about a file in tracefs; the file of the same name in another
 * room does the work. There are four filter.c. ops/: what a filter does to the ops that
 * have it. tracers/: whose filter is meant. users/: what the rest of the kernel calls.
 * files/: what is read and written. sites/set.c has sets of call sites, which filters
 * are made of; ops/sets.c has sets of ops, which call sites are served by.
 *
 * Where to look for
 *
 *   register_ftrace_function()	users/register.c, then users/attach.c
 *   register_ftrace_graph()	kernel/trace/fgraph.c, which calls users/graph.c
 *   register_ftrace_direct()	users/direct.c
 *   ftrace_set_filter_ip()	users/filter.c
 *   ftrace_location()		sites/location.c
 *   ftrace_lookup_symbols()	sites/lookup.c
 *   kernel.ftrace_enabled	users/sysctl.c, then ops/retarget.c
 *   struct dyn_ftrace		sites/records.c; its state in sites/sites.h
 *   an update of call sites	ops/update.c, then ops/commit.c and text/plan.c, then
 *				the architecture's stop.c or site.c
 *   a module that comes	module.c
 *   text that goes		forget.c
 *   the wait for tasks		users/wait.c
 *   the dispatchers		ops/list.c
 *   the recorder		the architecture's entry code, then sites/notes.c
 *   the table of call sites	sites/table.c
 *   a set of ops		ops/sets.c; what its call sites call: ops/serve.c
 *   trampolines		text/trampoline.c; their memory is in text/packs.c, their code
 *				in the architecture's trampoline.c; kallsyms.c names them
 *   ftrace_text_prepare()	x86: window.c; ftrace_text_write() and the breakpoint:
 *				stop.c; the others of that name: mostly site.c
 *   current_tracer		users/array.c, then users/register.c
 *   set_ftrace_filter		files/filter.c and sites/match.c; when it is closed
 *				files/edit.c, then ops/filter.c
 *   "f:traceoff"		users/command.c, then users/probes.c
 *   set_ftrace_pid		files/pid.c, then tracers/pid.c
 *   function_tracers		files/tracers.c, then tracers/list.c
 *   set_graph_function		files/graph.c
 *   available_filter_functions,
 *   enabled_functions		files/records.c
 *   function_profile_enabled	files/profile.c, then users/profile.c
 *   ftraced_stats		ftraced.c
 *   ftrace_filter=		boot.c; ftrace_graph_filter= is in files/graph.c
 *   ftrace_stop_us=		text/plan.c
 *   ftrace_trampolines=	text/trampoline.c
 *   ftraced_slots=		ftraced.c
 *   ftrace_nop=		x86: site.c
 *   ftrace_kill(), ftrace_lock	core.c
 *
 * Lock order: the lock of an open filter file (files/edit.h), stat_mutex (../trace_stat.c) >
 * event_mutex (../trace.h) > trace_types_lock (../trace.h) > the lock of each
 * struct ftrace_pids (tracers/tracers.h), ftrace_probe_mutex (users/probe.h),
 * direct_mutex (users/direct.c), ftrace_profile_mutex (users/profile.h) >
 * ftrace_lock > ftrace_tramp_mutex (text/packs.c) > cpus_read_lock > text_mutex >
 * the stop. module_mutex nests in ftrace_lock. Nothing is taken inside of
 * command_mutex (users/command.c).
 */
#ifndef _KERNEL_TRACE_FTRACE_CORE_H
#define _KERNEL_TRACE_FTRACE_CORE_H

#include <linux/ftrace.h>
#include <linux/rcupdate.h>

#include "../trace.h"

/*
 * Set by ftrace_kill(). Then tracers can only leave, and direct calls be replaced; call
 * sites do not change otherwise. Trampolines go on calling their tracers.
 */
extern bool ftrace_disabled;

void ftrace_synchronize_rcu(void);
void ftrace_free_when_quiet(struct rcu_head *head);

/**
 * ftrace_kvfree_rcu - free memory that callbacks and other calls may look at
 * @head: the first member of that memory
 *
 * Those who look run with preemption off. kvfree_rcu() would not do: it does not wait for
 * a CPU that comes or goes, and it holds back hundreds of objects, or those of some
 * seconds, whatever their size.
 *
 * Context: any in which call_rcu() may be called. Memory of kmalloc() or vmalloc().
 */
static inline void ftrace_kvfree_rcu(struct rcu_head *head)
{
	call_rcu_hurry(head, ftrace_free_when_quiet);
}

#endif /* _KERNEL_TRACE_FTRACE_CORE_H */
