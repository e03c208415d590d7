// SPDX-License-Identifier: GPL-2.0
/*
 * Where call sites are: for whoever has an address and wants to know.
 */
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>

#include "sites.h"

/*
 * The first record from @ip on tells whether there is one of @ip itself, or of the
 * function that begins there.
 */
static unsigned long locate_in(struct ftrace_region *r, struct ftrace_recs *recs,
			       unsigned long ip, bool good)
{
	struct dyn_ftrace *rec = ftrace_rec_in(recs, ip, r->end);
	unsigned long site = rec ? ftrace_rec_ip(rec) : 0;
	unsigned long size, offset;

	/* No need to look for a symbol where an entry leads right to a site. */
	if (site != ip && !(rec && site == ftrace_text_entry(ip))) {
		if (ftrace_text_is_unpatched(ip))
			return ip;
		if (!kallsyms_lookup_size_offset(ip, &size, &offset) || offset)
			return 0;
		if (!rec || site - ip >= size)
			return ftrace_text_entry_site(ip);
	}
	return good && READ_ONCE(rec->state) & FTRACE_REC_BAD ? 0 : site;
}

/*
 * Newer records than @seen, if there are any: a site gets its record before its text
 * changes, so text that was not what it should be without a record has one in these.
 */
static struct ftrace_recs *newer_recs(struct ftrace_region *r, struct ftrace_recs *seen)
{
	struct ftrace_recs *recs;

	/* The text was read before. Pairs with ftrace_recs_add(). */
	smp_rmb();
	recs = rcu_dereference_sched(r->recs);
	return recs != seen ? recs : NULL;
}

/*
 * Text in a region stays mapped for an RCU reader: module text is freed after a grace
 * period.
 */
static unsigned long locate(unsigned long ip, bool good)
{
	struct ftrace_recs *recs;
	struct ftrace_region *r;
	unsigned long site;

	guard(preempt_notrace)();
	r = ftrace_region_find(ip);
	if (!r)
		return 0;
	recs = rcu_dereference_sched(r->recs);
	do {
		site = locate_in(r, recs, ip, good);
	} while (!site && (recs = newer_recs(r, recs)));
	return site;
}

/**
 * ftrace_location - the call site that belongs to an address
 * @ip: a call site, or the first byte of a function
 *
 * The site need not have a record yet.
 *
 * Context: any but NMI.
 * Return: the address of the site, 0 if the function has none.
 */
unsigned long ftrace_location(unsigned long ip)
{
	return locate(ip, false);
}

/**
 * ftrace_location_good - the same for whoever wants to trace it
 * @ip: a call site, or the first byte of a function
 *
 * Context: any but NMI.
 * Return: the address of the site, 0 if the function has none, or one that was set
 * aside.
 */
unsigned long ftrace_location_good(unsigned long ip)
{
	return locate(ip, true);
}

/**
 * ftrace_location_range - the first call site in a range of text
 * @start: first address
 * @end: last address, included
 *
 * Sites without a record count too, if they are at @start or at the entry of a
 * function that begins there.
 *
 * Context: any but NMI.
 * Return: the address of the site, 0 if there is none.
 */
unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	struct ftrace_recs *recs;
	struct ftrace_region *r;
	struct dyn_ftrace *rec;
	unsigned long site;

	guard(preempt_notrace)();
	r = ftrace_region_find(start);
	if (!r)
		return 0;
	recs = rcu_dereference_sched(r->recs);
	do {
		rec = ftrace_rec_in(recs, start, end);
		site = rec ? ftrace_rec_ip(rec) : ftrace_text_entry_site(start);
	} while (!site && (recs = newer_recs(r, recs)));
	return site <= end ? site : 0;
}

/**
 * ftrace_text_reserved - does a stretch of text touch a call site?
 * @start: its first byte
 * @end: its last byte, included
 *
 * For those who patch text of their own: 1 means that these bytes are ours.
 *
 * Context: any but NMI.
 */
int ftrace_text_reserved(const void *start, const void *end)
{
	unsigned long ip = (unsigned long)start - MCOUNT_INSN_SIZE + 1;
	bool reserved = false;

	preempt_disable_notrace();
	for (; ip <= (unsigned long)end && !reserved; ip++) {
		if (!ftrace_region_find(ip))
			continue;
		reserved = ftrace_text_is_unpatched(ip);
		/* Text first, as in newer_recs(). */
		smp_rmb();
		reserved |= !!ftrace_rec_find(ip);
	}
	preempt_enable_notrace();
	return reserved;
}
