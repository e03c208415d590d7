// SPDX-License-Identifier: GPL-2.0
/*
 * Where call sites are: for whoever has an address and wants to know.
 */
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>

#include "sites.h"

/*
 * The first record from @ip on tells whether there is one of @ip itself, or of the
 * function that begins there. Text in a region stays mapped for an RCU reader: module
 * text is freed after a grace period.
 */
static unsigned long locate(unsigned long ip, bool good)
{
	unsigned long site = 0, size, offset;
	struct dyn_ftrace *rec;
	struct ftrace_region *r;

	guard(preempt_notrace)();
	r = ftrace_region_find(ip);
	if (!r)
		return 0;
	rec = ftrace_rec_in(rcu_dereference_sched(r->recs), ip, r->end);
	if (rec)
		site = ftrace_rec_ip(rec);
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
	struct dyn_ftrace *rec = NULL;
	struct ftrace_region *r;
	unsigned long site = 0;

	preempt_disable_notrace();
	r = ftrace_region_find(start);
	if (r) {
		rec = ftrace_rec_in(rcu_dereference_sched(r->recs), start, end);
		site = rec ? ftrace_rec_ip(rec) : ftrace_text_entry_site(start);
	}
	preempt_enable_notrace();
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
		if (ftrace_region_find(ip))
			reserved = ftrace_rec_find(ip) ||
				   ftrace_text_is_unpatched(ip);
	}
	preempt_enable_notrace();
	return reserved;
}
