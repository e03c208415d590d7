/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What boot, modules, discovery and the tests ask of the table of call sites, see
 * table.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_TABLE_H
#define _KERNEL_TRACE_FTRACE_TABLE_H

#include <linux/types.h>

struct ftrace_region;
struct module;

/* Sites that became records because of a table; ftrace_lock. */
extern unsigned long ftrace_nr_table;

#ifdef CONFIG_FTRACE_MCOUNT_RECORD
/* The kernel's table, in init data. */
extern unsigned long __start_mcount_loc[];
extern unsigned long __stop_mcount_loc[];

unsigned int ftrace_table_tidy(const struct module *mod, unsigned long *table,
			       unsigned int nr);
int ftrace_table_fill(struct ftrace_region *r, const unsigned long *table,
		      unsigned int nr, bool settled);
int ftrace_table_kernel(void);
#else
static inline int ftrace_table_kernel(void) { return 0; }
#endif

#if defined(CONFIG_FTRACE_MCOUNT_RECORD) && defined(CONFIG_MODULES)
int ftrace_table_region(struct ftrace_region *r, bool settled);
int ftrace_table_rest(void);
#else
static inline int ftrace_table_region(struct ftrace_region *r, bool settled)
{
	return 0;
}

static inline int ftrace_table_rest(void) { return 0; }
#endif

#endif /* _KERNEL_TRACE_FTRACE_TABLE_H */
