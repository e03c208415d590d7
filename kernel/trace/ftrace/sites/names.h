/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of call sites: patterns and what they mean, patterns that wait for a module,
 * names of text that is gone.
 */
#ifndef _KERNEL_TRACE_FTRACE_NAMES_H
#define _KERNEL_TRACE_FTRACE_NAMES_H

#include <linux/kallsyms.h>

#include "sites.h"

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

/* match.c */
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
 * @hash: of the name of the module; 0: @module is a pattern
 * @word_hash: of @func and @module, to find the same word
 * @gen: ftrace_regions_gen at the last search that found no such function; 0: search
 *	 again
 * @came: the latest ftrace_waiting_resolve() has found such functions
 *
 * ftrace_lock, or the file that it is being written to.
 */
struct ftrace_waiter {
	struct hlist_node	node;
	char			*func;
	char			*module;
	u32			hash;
	u32			word_hash;
	u64			gen;
	bool			came;
};

/* waiting.c */
int ftrace_apply_mod_pattern(struct ftrace_hash **hash,
			     struct hlist_head *waiting, const char *func,
			     const char *module);
void ftrace_waiting_free(struct hlist_head *waiting);
void ftrace_waiting_replace(struct hlist_head *to, struct hlist_head *from);
int ftrace_waiting_copy(struct hlist_head *to, const struct hlist_head *from);
int ftrace_waiting_trace_nothing(const struct hlist_head *waiting,
				 struct ftrace_hash **hash);
struct ftrace_waiter *ftrace_waiting_nth(const struct hlist_head *waiting,
					 loff_t n);

/* The one that stands after another in a list of what waits, or NULL. */
static inline struct ftrace_waiter *ftrace_waiting_next(const struct ftrace_waiter *w)
{
	return hlist_entry_safe(w->node.next, struct ftrace_waiter, node);
}

int ftrace_waiting_resolve(struct hlist_head *waiting, const char *module,
			   struct ftrace_hash **hash);
void ftrace_waiting_done(struct hlist_head *waiting);

/* modnames.c */
int ftrace_modnames_each(const char *name, int (*fn)(void *data, unsigned long addr),
			 void *data);
void ftrace_modnames_begin(void);
void ftrace_modnames_end(void);

struct ftrace_mod_syms;

/* What kallsyms_cursor_name() needs. */
#define FTRACE_NAME_SIZE	(KSYM_NAME_LEN + sizeof(u64))

/**
 * struct ftrace_names - the names of a region's records, in address order
 * @r: the region; NULL: not started
 * @gen: its ftrace_region.gen, to know it again after the lock was dropped
 * @last: the last call site whose name was printed
 * @addr: address of the symbol the walk is at, ULONG_MAX at the end
 * @last_addr: address of the symbol whose name came last from ftrace_names_next_alias()
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
	unsigned long		last_addr;
	struct kallsyms_cursor	pos;
	struct ftrace_mod_syms	*mod;
	unsigned int		mod_idx;
	const struct kallsyms_sieve *sieve;
	unsigned int		len;
	char			name[FTRACE_NAME_SIZE];
};

/* names.c */
int ftrace_names_start(struct ftrace_names *n, struct ftrace_region *r,
		       unsigned long addr);
void ftrace_names_stop(struct ftrace_names *n);
unsigned long ftrace_names_next_symbol(struct ftrace_names *n);
bool ftrace_names_has(struct ftrace_names *n, unsigned long ip);
const char *ftrace_names_next_alias(struct ftrace_names *n, unsigned long ip);
int ftrace_names_show(struct ftrace_names *n, struct seq_file *m,
		      struct ftrace_region *r, unsigned long ip);

/* gone.c */
void ftrace_gone_keep(struct ftrace_region *r);
void ftrace_gone_drop(const struct module *mod);
int ftrace_gone_lookup(unsigned long addr, unsigned long *size,
		       unsigned long *off, char **modname, char *sym);
bool ftrace_gone_nth(unsigned int *n, unsigned long *value, char *name,
		     char *module_name);

#endif /* _KERNEL_TRACE_FTRACE_NAMES_H */
