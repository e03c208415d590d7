/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of call sites: immutable ones, and lists of sites that grow.
 *
 * kernel/trace/trace.h declares struct ftrace_hash, an immutable set, since the
 * rest of kernel/trace/ looks into the filters of the graph tracer.
 */
#ifndef _KERNEL_TRACE_FTRACE_SET_H
#define _KERNEL_TRACE_FTRACE_SET_H

#include <linux/err.h>
#include <linux/ftrace_text.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../core.h"

/* With FTRACE_HASH_FL_MOD: the set means nothing only because patterns wait. */
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
unsigned int ftrace_hash_lower_bound(const struct ftrace_hash *hash, u64 key);
void ftrace_hash_free_rcu(struct ftrace_hash *hash);

/* Free a set that nobody else has seen, be it NULL or an error pointer. */
static inline void ftrace_hash_free(struct ftrace_hash *hash)
{
	if (!IS_ERR(hash))
		kvfree(hash);
}

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
void ftrace_sites_sort(struct ftrace_sites *s);

/* Free what a list holds; it is empty afterwards. */
static inline void ftrace_sites_free(struct ftrace_sites *s)
{
	kvfree(s->key);
	memset(s, 0, sizeof(*s));
}

/**
 * ftrace_hash_has - is a call site in a set?
 * @hash: the set, may be NULL for the empty one
 * @ip: the call site
 *
 * Searched by hand: it is asked for each record of an update, and gcc takes 12
 * instructions for a step of __inline_bsearch(), 9 or 10 for one of this.
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

#endif /* _KERNEL_TRACE_FTRACE_SET_H */
