// SPDX-License-Identifier: GPL-2.0
/*
 * From the names of functions to their addresses, many at once.
 *
 * Few names are searched for one by one. Many are put into a table by their
 * hashes, and one walk over the functions there are asks for each whether it is
 * among them.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "names.h"
#include "table.h"

/* Beyond this many, one walk over all functions is quicker than to search for each. */
#define MANY_NAMES	1024

/**
 * struct name_slot - a place for a name in the table
 * @nr: 1 + its index; 0: free
 * @len: how long it is
 */
struct name_slot {
	u32	nr;
	u32	len;
};

/**
 * struct lookup - names that are looked up in a walk over functions
 * @name: all of them, sorted
 * @nr: how many
 * @addr: the address of each; 0: not found yet
 * @missing: how many names, each counted once, there are without
 * @twins: some are there more than once, one after the other
 * @slot: where each is by its hash, or in the next slot that was free; at least half
 *	  of them are
 * @mask: the number of slots, less 1
 * @salt: of the hashes, so that nobody can choose names that have the same
 */
struct lookup {
	const char		**name;
	size_t			nr;
	unsigned long		*addr;
	size_t			missing;
	bool			twins;
	struct name_slot	*slot;
	u32			mask;
	unsigned long		salt;
};

static void add_name(struct lookup *l, size_t i, u64 hashlen)
{
	u32 at = hashlen_hash(hashlen) & l->mask;

	while (l->slot[at].nr)
		at = (at + 1) & l->mask;
	l->slot[at].nr = i + 1;
	l->slot[at].len = hashlen_len(hashlen);
}

/* Of twins only the first is looked for. */
static int hash_names(struct lookup *l)
{
	u64 hashlen, before = 0;
	size_t i, size;

	if (l->nr > U32_MAX / 4)
		return -ENOMEM;
	size = roundup_pow_of_two(2 * l->nr + 1);
	l->slot = kvcalloc(size, sizeof(*l->slot), GFP_KERNEL);
	if (!l->slot)
		return -ENOMEM;
	l->mask = size - 1;
	l->salt = get_random_long();
	for (i = 0; i < l->nr; i++, before = hashlen) {
		cond_resched();
		hashlen = hashlen_string((void *)l->salt, l->name[i]);
		if (hashlen != before || !i || strcmp(l->name[i], l->name[i - 1])) {
			add_name(l, i, hashlen);
			continue;
		}
		l->twins = true;
		l->missing -= !l->addr[i];
	}
	return 0;
}

static void copy_to_twins(struct lookup *l)
{
	size_t i;

	for (i = 1; l->twins && i < l->nr; i++) {
		if (!l->addr[i] && !strcmp(l->name[i], l->name[i - 1]))
			l->addr[i] = l->addr[i - 1];
	}
}

/* The index of a name that is looked for, @l->nr if it is not. */
static size_t name_index(const struct lookup *l, const char *name)
{
	u64 hashlen = hashlen_string((void *)l->salt, name);
	u32 at = hashlen_hash(hashlen) & l->mask, len = hashlen_len(hashlen);
	const struct name_slot *slot;

	for (slot = &l->slot[at]; slot->nr; slot = &l->slot[at]) {
		if (slot->len == len && !memcmp(l->name[slot->nr - 1], name, len))
			return slot->nr - 1;
		at = (at + 1) & l->mask;
	}
	return l->nr;
}

/* The first function of a name counts. */
static void found(struct lookup *l, size_t i, unsigned long addr)
{
	l->addr[i] = addr;
	l->missing--;
}

/*
 * Ask for all aliases, or the walk would not get past this function. Not every symbol
 * close to a call site is that of its function.
 */
static void take_aliases(struct lookup *l, struct ftrace_names *n,
			 const struct dyn_ftrace *rec)
{
	unsigned long ip = ftrace_rec_ip(rec);
	const char *name;
	size_t i;

	while ((name = ftrace_names_next_alias(n, ip))) {
		i = name_index(l, name);
		if (i < l->nr && !l->addr[i] &&
		    ftrace_location_good(n->last_addr) == ip)
			found(l, i, n->last_addr);
	}
}

static int walk_region(struct lookup *l, struct ftrace_region *r)
{
	struct ftrace_recs *recs;
	struct ftrace_names n;
	unsigned int i;
	int ret;

	ret = ftrace_discover_region(r);
	if (ret)
		return ret;
	recs = ftrace_region_recs(r);
	if (!recs)
		return 0;
	ret = ftrace_names_start(&n, r, r->start);
	if (ret)
		return ret;
	for (i = 0; i < recs->nr && l->missing; i++) {
		cond_resched();
		if (!(recs->rec[i].state & FTRACE_REC_BAD))
			take_aliases(l, &n, &recs->rec[i]);
	}
	ftrace_names_stop(&n);
	return 0;
}

static int take_mod_symbol(void *data, const char *name, unsigned long addr)
{
	struct lookup *l = data;
	size_t i;

	/* The padding before a function. */
	if (str_has_prefix(name, "__pfx_"))
		return 0;
	i = name_index(l, name);
	if (i < l->nr && !l->addr[i] && ftrace_location_good(addr))
		found(l, i, addr);
	/* Anything but 0 ends the walk. */
	return !l->missing;
}

/* Regions are in the order of addresses: the lowest function comes first. */
static int walk_kernel(struct lookup *l)
{
	struct ftrace_region *r;
	int ret = 0;

	guard(mutex)(&ftrace_lock);
	list_for_each_entry(r, &ftrace_regions, list) {
		if (!r->mod && l->missing)
			ret = walk_region(l, r);
		if (ret)
			break;
	}
	return ret;
}

static int take_lowest(void *data, unsigned long addr)
{
	unsigned long *lowest = data;

	if ((!*lowest || addr < *lowest) && ftrace_location_good(addr))
		*lowest = addr;
	return 0;
}

static void search_each(struct lookup *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++) {
		kallsyms_on_each_match_symbol(take_lowest, l->name[i], &l->addr[i]);
		l->missing -= !!l->addr[i];
	}
}

/*
 * Symbols of modules are in no order, and to sort them takes longer than to look
 * at each.
 */
static int lookup(struct lookup *l)
{
	bool many = l->nr >= MANY_NAMES;
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_table_rest();
	if (ret)
		return ret;
	if (!many)
		search_each(l);
	if (!l->missing)
		return 0;
	ret = hash_names(l);
	if (!ret && many)
		ret = walk_kernel(l);
	if (!ret && l->missing && IS_ENABLED(CONFIG_MODULES))
		module_kallsyms_on_each_symbol(NULL, take_mod_symbol, l);
	return ret;
}

/**
 * ftrace_lookup_symbols - the addresses of functions by their names
 * @sorted_syms: the names
 * @cnt: how many
 * @addrs: gets the address of a function of each name that can be traced: of
 *	   several in the kernel the lowest; one in a module if the kernel has none
 *
 * Many names are a reason to find every call site of the kernel, as a glob is.
 *
 * Context: process.
 * Return: 0, -ESRCH if one of them cannot be found, -ENOMEM.
 */
int ftrace_lookup_symbols(const char **sorted_syms, size_t cnt,
			  unsigned long *addrs)
{
	struct lookup l = {
		.name = sorted_syms, .nr = cnt, .addr = addrs, .missing = cnt,
	};
	int ret;

	memset(addrs, 0, array_size(cnt, sizeof(*addrs)));
	ret = lookup(&l);
	kvfree(l.slot);
	if (ret)
		return ret;
	copy_to_twins(&l);
	return l.missing ? -ESRCH : 0;
}
