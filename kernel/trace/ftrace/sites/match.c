// SPDX-License-Identifier: GPL-2.0
/*
 * From a pattern to the call sites it means.
 *
 * A pattern is the name of a function, a glob, a number (the place in
 * available_filter_functions, from 1) or the address of a function or call
 * site. Any alias of a function selects it, and it need never have run.
 */
#include <linux/err.h>
#include <linux/glob.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "names.h"
#include "set.h"
#include "table.h"

/**
 * ftrace_glob_parse - parse a pattern
 * @g: where to put the result; points into @str
 * @str: the pattern; it is written to
 *
 * Context: any.
 */
void ftrace_glob_parse(struct ftrace_glob *g, char *str)
{
	g->type = filter_parse_regex(str, strlen(str), &g->search, &g->not);
	g->len = strlen(g->search);
}

/*
 * Does what strnstr() does, faster: that compares at every place, which is not
 * worth it where the first two characters do not match.
 */
static bool contains(const char *name, size_t len, const char *part,
		     size_t part_len)
{
	const char *last = name + len - part_len;
	u16 head;

	if (part_len < 2)
		return !part_len || memchr(name, *part, len);
	if (len < part_len)
		return false;
	head = get_unaligned((u16 *)part);
	for (; name <= last; name++) {
		if (get_unaligned((u16 *)name) == head &&
		    !memcmp(name, part, part_len))
			return true;
	}
	return false;
}

/**
 * ftrace_glob_match - does a name match a pattern?
 * @g: the pattern; not a number
 * @name: the name
 * @len: its length
 *
 * Context: any.
 */
bool ftrace_glob_match(const struct ftrace_glob *g, const char *name,
		       size_t len)
{
	switch (g->type) {
	case MATCH_MIDDLE_ONLY:
		return contains(name, len, g->search, g->len);
	case MATCH_FULL:
		return !strcmp(name, g->search);
	case MATCH_FRONT_ONLY:
		return !strncmp(name, g->search, g->len);
	case MATCH_END_ONLY:
		return len >= g->len &&
		       !memcmp(name + len - g->len, g->search, g->len);
	case MATCH_GLOB:
		return glob_match(g->search, name);
	default:
		return false;
	}
}

/* Does a pattern for modules mean this region? */
static bool region_wanted(const struct ftrace_region *r,
			  const struct ftrace_glob *mod)
{
	const char *name;

	/* "!*" is the kernel, "!name" all but that module, the kernel too. */
	if (!r->mod)
		return mod->not;
	name = ftrace_region_mod_name(r);
	return ftrace_glob_match(mod, name, strlen(name)) != mod->not;
}

/* Ask for all aliases, or the walk would not get past this function. */
static bool any_alias_matches(struct ftrace_names *n, unsigned long ip,
			      const struct ftrace_glob *g)
{
	const char *name;

	while ((name = ftrace_names_next_alias(n, ip))) {
		if (ftrace_glob_match(g, name, n->len))
			return true;
	}
	return false;
}

/* The literal part of a pattern. Of a glob it is not known, so nothing is sieved out. */
static void sieve_init(struct kallsyms_sieve *sieve, const struct ftrace_glob *g)
{
	kallsyms_sieve_init(sieve, g->search, g->type == MATCH_GLOB ? 0 : g->len);
}

static int match_recs(struct ftrace_names *n, const struct dyn_ftrace *rec, unsigned int nr,
		      const struct ftrace_glob *g, struct ftrace_sites *s)
{
	const struct dyn_ftrace *end = rec + nr;
	int ret = 0;

	for (; rec < end && !ret; rec++) {
		if (rec->state & FTRACE_REC_BAD)
			continue;
		if (any_alias_matches(n, ftrace_rec_ip(rec), g))
			ret = ftrace_sites_add(s, ftrace_rec_ip(rec));
	}
	return ret;
}

static int match_region(struct ftrace_region *r, const struct ftrace_glob *g,
			const struct kallsyms_sieve *sieve,
			struct ftrace_sites *s)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	struct ftrace_names n;
	unsigned int i;
	int ret;

	if (!recs)
		return 0;
	ret = ftrace_names_start(&n, r, r->start);
	if (ret)
		return ret;
	n.sieve = sieve;
	/* Not asked for each record: that is one per cent of what it takes. */
	for (i = 0; i < recs->nr && !ret; i += SZ_1K) {
		cond_resched();
		ret = match_recs(&n, recs->rec + i, min(recs->nr - i, (unsigned int)SZ_1K), g, s);
	}
	ftrace_names_stop(&n);
	return ret;
}

static int match_glob(const struct ftrace_glob *g, const struct ftrace_glob *mod,
		      struct ftrace_sites *s)
{
	struct kallsyms_sieve *sieve;
	struct ftrace_region *r;
	int ret = 0;

	sieve = kmalloc(sizeof(*sieve), GFP_KERNEL);
	if (!sieve)
		return -ENOMEM;
	sieve_init(sieve, g);
	list_for_each_entry(r, &ftrace_regions, list) {
		if (mod && !region_wanted(r, mod))
			continue;
		ret = ftrace_discover_region(r);
		if (!ret)
			ret = match_region(r, g, sieve, s);
		if (ret)
			break;
	}
	kfree(sieve);
	return ret;
}

/**
 * struct exact - looking for functions by one name
 * @name: the name
 * @mod: which modules count, or NULL
 * @s: where their call sites go
 */
struct exact {
	const char			*name;
	const struct ftrace_glob	*mod;
	struct ftrace_sites		*s;
};

static int exact_addr(void *data, unsigned long addr)
{
	unsigned long ip = ftrace_location_good(addr);
	struct exact *x = data;

	if (!ip || (x->mod && !region_wanted(ftrace_region_find(ip), x->mod)))
		return 0;
	return ftrace_sites_add(x->s, ip);
}

static int find_exact(struct exact *x)
{
	int ret = ftrace_table_rest();

	if (!ret)
		ret = kallsyms_on_each_match_symbol(exact_addr, x->name, x);
	if (!ret && IS_ENABLED(CONFIG_MODULES))
		ret = ftrace_modnames_each(x->name, exact_addr, x);
	return ret;
}

/* The @index-th line of available_filter_functions, which has no bad ones. */
static int match_index(unsigned long index, struct ftrace_sites *s)
{
	struct ftrace_region *r;
	int ret;

	ret = ftrace_discover_all();
	if (ret)
		return ret;
	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);
		unsigned int i;

		for (i = 0; recs && i < recs->nr; i++) {
			if (recs->rec[i].state & FTRACE_REC_BAD || index--)
				continue;
			return ftrace_sites_add(s, ftrace_rec_ip(&recs->rec[i]));
		}
	}
	return 0;
}

static int match_number(const struct ftrace_glob *g, struct ftrace_sites *s)
{
	unsigned long nr;

	if (kstrtoul(g->search, 0, &nr) || !nr)
		return 0;
	/* No list is that long: it is an address. */
	if (nr < PAGE_OFFSET)
		return match_index(nr - 1, s);
	/* A site that was set aside can only be taken away. */
	nr = g->not ? ftrace_location(nr) : ftrace_location_good(nr);
	return nr ? ftrace_sites_add(s, nr) : 0;
}

/**
 * ftrace_match_sites - the call sites that a pattern means
 * @g: the pattern; with its @not, the address of a bad site means that site
 * @mod: a pattern for the modules they may be in, or NULL for anywhere
 *
 * Each of them has a record afterwards.
 *
 * Context: process, ftrace_lock held. Makes pointers to records invalid.
 * Return: the sites; NULL if there are none; or ERR_PTR(-ENOMEM).
 */
struct ftrace_hash *ftrace_match_sites(const struct ftrace_glob *g,
				       const struct ftrace_glob *mod)
{
	struct ftrace_sites s = {};
	struct exact x = { .name = g->search, .mod = mod, .s = &s };
	struct ftrace_hash *hash;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (g->type == MATCH_INDEX)
		ret = match_number(g, &s);
	else if (g->type == MATCH_FULL)
		ret = find_exact(&x);
	else
		ret = match_glob(g, mod, &s);

	hash = ret ? ERR_PTR(ret) : ftrace_hash_from_sites(s.key, s.nr);
	if (!IS_ERR_OR_NULL(hash)) {
		ret = ftrace_discover_proved(hash->sites, hash->count);
		if (ret) {
			ftrace_hash_free(hash);
			hash = ERR_PTR(ret);
		}
	}
	ftrace_sites_free(&s);
	return hash;
}

/**
 * ftrace_apply_pattern - add what a pattern means to a set, or take it away
 * @hash: the set; replaced, and the old one freed, if something matched
 * @pattern: the pattern, '!' in front of it takes away; it is written to
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL if no function matches, -ENOMEM; then @hash is as it was.
 */
int ftrace_apply_pattern(struct ftrace_hash **hash, char *pattern)
{
	struct ftrace_hash *sites;
	struct ftrace_glob g;

	ftrace_glob_parse(&g, pattern);
	/* A lone '!' names nothing; so does an empty pattern. */
	if (!g.len && g.type == MATCH_FULL)
		return -EINVAL;
	sites = ftrace_match_sites(&g, NULL);
	if (IS_ERR(sites))
		return PTR_ERR(sites);
	return sites ? ftrace_hash_change(hash, sites, g.not) : -EINVAL;
}
