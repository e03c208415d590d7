/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What start-up, modules and the tests ask of the table of call sites, see
 * table.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_TABLE_H
#define _KERNEL_TRACE_FTRACE_TABLE_H

#include <linux/module.h>
#include <linux/types.h>

struct ftrace_region;

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
void ftrace_table_module_init(struct module *mod);
int ftrace_table_module(struct ftrace_region *r, bool settled);

/* Has a module come without the table that modules should have? */
static inline bool ftrace_table_is_missing(const struct module *mod)
{
	return !mod->ftrace_callsites;
}
#else
static inline int ftrace_table_kernel(void) { return 0; }
static inline void ftrace_table_module_init(struct module *mod) { }
static inline int ftrace_table_module(struct ftrace_region *r, bool settled)
{
	return 0;
}

/* If it brings one nevertheless, nobody looks at it. */
static inline bool ftrace_table_is_missing(const struct module *mod)
{
	return false;
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_TABLE_H */
