// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of call sites: sorted, immutable once made, and so free to be read by a
 * callback in any context. The empty set is NULL. As a filter of what to trace,
 * it means everything. A set of no sites that is marked FTRACE_HASH_FL_MOD
 * means nothing at all: its sites went away with a module or, with
 * FTRACE_HASH_FL_WAITS, have not come yet.
 */
#include <linux/err.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/workqueue.h>

#include "set.h"
#include "sites.h"

static struct ftrace_hash *hash_alloc(unsigned int count, gfp_t gfp)
{
	struct ftrace_hash *hash;

	hash = kvmalloc(struct_size(hash, sites, count), gfp);
	if (!hash)
		return ERR_PTR(-ENOMEM);
	hash->count = 0;
	hash->flags = 0;
	return hash;
}

/* An empty result is NULL, like any other empty set, unless it is marked. */
static struct ftrace_hash *hash_done(struct ftrace_hash *hash)
{
	if (hash->count || hash->flags)
		return hash;
	kvfree(hash);
	return NULL;
}

static unsigned int count_of(const struct ftrace_hash *hash)
{
	return hash ? hash->count : 0;
}

/**
 * ftrace_ascends - is an array sorted?
 * @base: the array
 * @nr: how many elements it has
 * @size: how long one is
 * @cmp: as for sort()
 * @strictly: no two may be alike
 *
 * Context: any.
 */
bool ftrace_ascends(const void *base, unsigned int nr, size_t size,
		    cmp_func_t cmp, bool strictly)
{
	const void *last = base;

	for (; nr > 1; nr--, last += size) {
		if (cmp(last + size, last) < strictly)
			return false;
	}
	return true;
}

/**
 * ftrace_sort_unique - sort an array and have it hold each value once
 * @base: the array; as a rule it is so already
 * @nr: how many elements it has
 * @size: how long one is
 * @cmp: as for sort()
 *
 * Context: any that may take the time.
 * Return: how many elements are left.
 */
unsigned int ftrace_sort_unique(void *base, unsigned int nr, size_t size,
				cmp_func_t cmp)
{
	void *last = base, *at;

	if (ftrace_ascends(base, nr, size, cmp, true))
		return nr;
	sort(base, nr, size, cmp, NULL);
	for (at = base + size; at < base + nr * size; at += size) {
		if (!cmp(at, last))
			continue;
		last += size;
		memmove(last, at, size);
	}
	return (last - base) / size + 1;
}

static int cmp_keys(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/**
 * ftrace_hash_from_sites - make a set of a list of call sites
 * @sites: the sites, as ftrace_text_key(); sorted in place, each left once
 * @nr: how many
 *
 * Context: process.
 * Return: the set, NULL if it is empty, or ERR_PTR(-ENOMEM).
 */
struct ftrace_hash *ftrace_hash_from_sites(u32 *sites, unsigned int nr)
{
	struct ftrace_hash *hash;

	nr = ftrace_sort_unique(sites, nr, sizeof(*sites), cmp_keys);
	hash = hash_alloc(nr, GFP_KERNEL);
	if (IS_ERR(hash))
		return hash;
	hash->count = nr;
	memcpy(hash->sites, sites, array_size(nr, sizeof(*sites)));
	return hash_done(hash);
}

/**
 * struct part - the sites of a set from some place on
 * @at: the first of them
 * @end: the address after the last one
 */
struct part {
	const u32	*at;
	const u32	*end;
};

static struct part whole(const struct ftrace_hash *hash)
{
	if (!hash)
		return (struct part) {};
	return (struct part) { hash->sites, hash->sites + hash->count };
}

/* The first of sites @low to @high that is not below @key; @high: there is none before it. */
static unsigned int lower_bound(const u32 *sites, unsigned int low, unsigned int high,
				u64 key)
{
	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (sites[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* How many sites of @p are below @key? Takes steps that double, then a search. */
static unsigned int nr_below(const struct part *p, u32 key)
{
	unsigned int left = p->end - p->at, low = 0, high = 1;

	while (high <= left && p->at[high - 1] < key) {
		low = high;
		high *= 2;
	}
	return lower_bound(p->at, low, min(high - 1, left), key);
}

/* Move the first @nr sites of @p to the end of @hash. */
static void move(struct ftrace_hash *hash, struct part *p, unsigned int nr)
{
	memcpy(hash->sites + hash->count, p->at, array_size(nr, sizeof(u32)));
	hash->count += nr;
	p->at += nr;
}

/* So many sites are sooner moved one by one. */
#define FEW	8

/* Move those below @key to the end of @hash; NULL: drop them. */
static __always_inline void move_below(struct ftrace_hash *hash, struct part *p, u32 key)
{
	unsigned int i;

	for (i = 0; i < FEW; i++) {
		if (p->at == p->end || *p->at >= key)
			return;
		if (hash)
			hash->sites[hash->count++] = *p->at;
		p->at++;
	}
	if (hash)
		move(hash, p, nr_below(p, key));
	else
		p->at += nr_below(p, key);
}

/**
 * ftrace_hash_union - the sites that are in either of two sets
 * @a: a set, or NULL
 * @b: a set, or NULL
 *
 * Context: process; the caller keeps both from being freed.
 * Return: a new set, NULL if it is empty, or ERR_PTR(-ENOMEM).
 */
struct ftrace_hash *ftrace_hash_union(const struct ftrace_hash *a,
				      const struct ftrace_hash *b)
{
	unsigned int na = count_of(a), nb = count_of(b);
	struct ftrace_hash *hash = hash_alloc(na + nb, GFP_KERNEL);
	struct part x = whole(a), y = whole(b);

	if (IS_ERR(hash))
		return hash;
	if (!na && !nb)
		hash->flags = (a ? a->flags : 0) | (b ? b->flags : 0);
	while (x.at < x.end && y.at < y.end) {
		if (*x.at < *y.at) {
			move_below(hash, &x, *y.at);
		} else {
			/* What both have comes from @b. */
			x.at += *x.at == *y.at;
			hash->sites[hash->count++] = *y.at++;
			if (x.at < x.end)
				move_below(hash, &y, *x.at);
		}
	}
	move(hash, &x, x.end - x.at);
	move(hash, &y, y.end - y.at);
	return hash_done(hash);
}

/**
 * ftrace_hash_minus - the sites of one set that are not in another
 * @a: the set to take from, or NULL
 * @b: the set to take away, or NULL
 *
 * Context: process; the caller keeps both from being freed.
 * Return: a new set, NULL if it is empty, or ERR_PTR(-ENOMEM).
 */
struct ftrace_hash *ftrace_hash_minus(const struct ftrace_hash *a,
				      const struct ftrace_hash *b)
{
	struct ftrace_hash *hash = hash_alloc(count_of(a), GFP_KERNEL);
	struct part x = whole(a), y = whole(b);

	if (IS_ERR(hash))
		return hash;
	while (x.at < x.end && y.at < y.end) {
		if (*x.at < *y.at) {
			move_below(hash, &x, *y.at);
		} else {
			x.at += *x.at == *y.at;
			y.at++;
			if (x.at < x.end)
				move_below(NULL, &y, *x.at);
		}
	}
	move(hash, &x, x.end - x.at);
	if (a && !a->count)
		hash->flags = a->flags;
	return hash_done(hash);
}

/**
 * ftrace_hash_change - add sites to a set, or take them away
 * @hash: the set; replaced, and the old one freed, if that succeeds
 * @sites: the sites; freed in any case
 * @remove: take away
 *
 * Context: process; nobody else has seen @hash.
 * Return: 0 or -ENOMEM.
 */
int ftrace_hash_change(struct ftrace_hash **hash, struct ftrace_hash *sites,
		       bool remove)
{
	struct ftrace_hash *result;

	result = remove ? ftrace_hash_minus(*hash, sites) :
			  ftrace_hash_union(*hash, sites);
	ftrace_hash_free(sites);
	if (IS_ERR(result))
		return PTR_ERR(result);
	ftrace_hash_free(*hash);
	*hash = result;
	return 0;
}

/**
 * ftrace_hash_nothing - a set of no sites that does not mean everything
 *
 * Context: process.
 * Return: the set or ERR_PTR(-ENOMEM).
 */
struct ftrace_hash *ftrace_hash_nothing(void)
{
	struct ftrace_hash *hash = hash_alloc(0, GFP_KERNEL);

	if (!IS_ERR(hash))
		hash->flags = FTRACE_HASH_FL_MOD;
	return hash;
}

/**
 * ftrace_hash_copy - a copy of a set
 * @hash: the set, or NULL
 *
 * Context: process; the caller keeps @hash from being freed.
 * Return: the copy, NULL if it is empty, or ERR_PTR(-ENOMEM).
 */
struct ftrace_hash *ftrace_hash_copy(const struct ftrace_hash *hash)
{
	return ftrace_hash_union(hash, NULL);
}

/**
 * ftrace_hash_lower_bound - find the first site of a set at or above an address
 * @hash: the set
 * @key: the address as ftrace_text_key(), or one more than any can be
 *
 * Context: any; the caller keeps @hash from being freed.
 * Return: the index of that site, or how many sites @hash has if there is none.
 */
unsigned int ftrace_hash_lower_bound(const struct ftrace_hash *hash, u64 key)
{
	return lower_bound(hash->sites, 0, hash->count, key);
}

/**
 * ftrace_hash_forget - a set without the sites of text that is gone
 * @hash: the set, or NULL
 * @enable: it is what to trace: if nothing is left of it, it means nothing
 * @start: the first address, as ftrace_text_key()
 * @end: the first address after it, likewise
 *
 * Context: process; the caller keeps @hash from being freed.
 * Return: a new set or NULL; or @hash itself, if none of its sites is in that
 * text.
 */
struct ftrace_hash *ftrace_hash_forget(struct ftrace_hash *hash, bool enable,
				       u32 start, u32 end)
{
	struct ftrace_hash *rest;
	unsigned int from, to, left;

	if (ftrace_hash_empty(hash))
		return hash;
	from = ftrace_hash_lower_bound(hash, start);
	to = ftrace_hash_lower_bound(hash, end);
	/* Most modules are in nobody's filter. */
	if (from >= to)
		return hash;
	left = hash->count - (to - from);
	/* The text goes whatever happens, so wait for memory as long as it takes. */
	rest = hash_alloc(left, GFP_KERNEL | __GFP_NOFAIL);
	rest->count = left;
	memcpy(rest->sites, hash->sites, array_size(from, sizeof(u32)));
	memcpy(rest->sites + from, hash->sites + to,
	       array_size(hash->count - to, sizeof(u32)));
	if (enable && !left)
		rest->flags = FTRACE_HASH_FL_MOD;
	return hash_done(rest);
}

/**
 * ftrace_hash_free_rcu - free a set that was published
 * @hash: the set, or NULL
 *
 * Callbacks that still look at it run with preemption off.
 *
 * Context: process.
 */
void ftrace_hash_free_rcu(struct ftrace_hash *hash)
{
	static_assert(!offsetof(struct ftrace_hash, rcu));
	if (hash)
		ftrace_kvfree_rcu(&hash->rcu);
}

/**
 * ftrace_sites_add - append a call site to a list
 * @s: the list
 * @ip: the site
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ftrace_sites_add(struct ftrace_sites *s, unsigned long ip)
{
	if (s->nr == s->size) {
		unsigned int size = max(32U, 2 * s->size);
		u32 *key = kvrealloc(s->key, array_size(size, sizeof(*key)),
				     GFP_KERNEL);

		if (!key)
			return -ENOMEM;
		s->key = key;
		s->size = size;
	}
	s->key[s->nr++] = ftrace_text_key(ip);
	return 0;
}

/**
 * ftrace_sites_sort - sort a list of call sites
 * @s: the list; what is in it twice stays so
 *
 * Context: process.
 */
void ftrace_sites_sort(struct ftrace_sites *s)
{
	sort(s->key, s->nr, sizeof(*s->key), cmp_keys, NULL);
}

/**
 * ftrace_lookup_ip - is a call site in a set?
 * @hash: the set
 * @ip: the site
 *
 * For users of kernel/trace/trace.h, who only want to know whether it is there.
 *
 * Context: any; the caller keeps @hash from being freed.
 * Return: NULL if it is not.
 */
struct ftrace_func_entry *
ftrace_lookup_ip(struct ftrace_hash *hash, unsigned long ip)
{
	return ftrace_hash_has(hash, ip) ? (void *)hash : NULL;
}
