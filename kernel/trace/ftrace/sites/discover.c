// SPDX-License-Identifier: GPL-2.0
/*
 * Discovery on demand.
 *
 * A call site that never ran can be recognised by its bytes: at the entry of a
 * function, a call whose target is __fentry__. So whoever asks for functions,
 * by name, by address or for all of them, need not care which of them ran.
 */
#include <linux/sizes.h>
#include <linux/slab.h>

#include "names.h"
#include "set.h"
#include "table.h"

/* Sites that became records because somebody asked; ftrace_lock. */
unsigned long ftrace_nr_discovered;

/**
 * ftrace_discover_region - find every call site in a region
 * @r: the region
 *
 * Looks at the entry of each of its functions. That has to be done only once:
 * text does not grow functions.
 *
 * Context: process, ftrace_lock held. Makes pointers to records invalid.
 * Return: 0 or -ENOMEM.
 */
int ftrace_discover_region(struct ftrace_region *r)
{
	struct ftrace_sites s = {};
	struct ftrace_names n;
	unsigned long addr, ip, last = 0;
	unsigned int nr = 0;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (r->complete)
		return 0;

	ret = ftrace_table_region(r, false);
	if (ret)
		return ret;
	ret = ftrace_names_start(&n, r, r->start);
	if (ret)
		return ret;
	while (!ret && (addr = ftrace_names_next_symbol(&n))) {
		if (!(++nr % SZ_1K))
			cond_resched();
		ip = ftrace_text_entry_site(addr);
		if (!ip || ip == last || ip >= r->end ||
		    ftrace_rec_in(ftrace_region_recs(r), ip, ip))
			continue;
		last = ip;
		ret = ftrace_sites_add(&s, ip);
	}
	ftrace_names_stop(&n);

	if (!ret)
		ret = ftrace_recs_add(r, s.key, s.nr);
	if (!ret) {
		ftrace_nr_discovered += s.nr;
		r->complete = true;
	}
	ftrace_sites_free(&s);
	return ret;
}

/**
 * ftrace_discover_all - find every call site there is
 *
 * Context: process, ftrace_lock held. Makes pointers to records invalid.
 * Return: 0 or -ENOMEM; what was found before that stays.
 */
int ftrace_discover_all(void)
{
	struct ftrace_region *r;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(r, &ftrace_regions, list) {
		ret = r->complete ? 0 : ftrace_discover_region(r);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * To add a site, the records of its region are copied, and the old ones stay for a grace
 * period. Whoever asks for one function after another would do little but copy, and fill
 * the memory with copies where RCU is slow: after this many in some seconds, all
 * functions are looked at instead, which takes twice as long as these copies.
 */
#define COPIES_MAX	32
#define COPIES_TIME	(5 * HZ)

/* One more copy for the sake of a few sites: is that one too many? */
static bool count_copy(struct ftrace_region *r)
{
	if (time_after(jiffies, r->copies_since + COPIES_TIME))
		r->nr_copies = 0;
	if (!r->nr_copies)
		r->copies_since = jiffies;
	return ++r->nr_copies > COPIES_MAX;
}

/*
 * Somebody asks for sites of @r that have no record. Is it time to look for all that are
 * left, and have they been found? Without memory for all there may be some for these.
 */
static bool discover_rest(struct ftrace_region *r)
{
	if (r->complete || !count_copy(r))
		return false;
	if (!ftrace_discover_region(r))
		return true;
	r->nr_copies = 0;
	return false;
}

/* @proved: the caller has checked each site; otherwise each is checked here. */
static int discover(const u32 *sites, unsigned int nr, bool proved)
{
	u32 *found = kvmalloc_array(nr, sizeof(*found), GFP_KERNEL);
	int ret = found ? ftrace_table_rest() : -ENOMEM;
	const u32 *end = sites + nr, *first;
	struct ftrace_region *r;
	unsigned int i, left;

	lockdep_assert_held(&ftrace_lock);
	list_for_each_entry(r, &ftrace_regions, list) {
		if (ret)
			break;
		first = sites;
		nr = ftrace_recs_missing(r, &sites, end, found);
		if (nr && proved && discover_rest(r))
			nr = ftrace_recs_missing(r, &first, end, found);
		for (i = 0, left = 0; i < nr; i++) {
			if (proved || ftrace_text_is_unpatched(ftrace_text_addr(found[i])))
				found[left++] = found[i];
		}
		ret = ftrace_recs_add(r, found, left);
		if (!ret)
			ftrace_nr_discovered += left;
	}
	kvfree(found);
	return ret;
}

/**
 * ftrace_discover_sites - make sure that given call sites have records
 * @sites: the sites, as ftrace_text_key(), ascending; what is not a call site
 *	   (any more) is passed over
 * @nr: how many
 *
 * Context: process, ftrace_lock held. Makes pointers to records invalid.
 * Return: 0 or -ENOMEM; what was found before that stays.
 */
int ftrace_discover_sites(const u32 *sites, unsigned int nr)
{
	return discover(sites, nr, false);
}

/**
 * ftrace_discover_proved - the same for sites that the caller has checked
 * @sites: the sites, as ftrace_text_key(), ascending; since ftrace_lock was taken,
 *	   each has been seen to have a record, or to call __fentry__
 * @nr: how many
 *
 * Context: as ftrace_discover_sites().
 * Return: as ftrace_discover_sites().
 */
int ftrace_discover_proved(const u32 *sites, unsigned int nr)
{
	return discover(sites, nr, true);
}
