// SPDX-License-Identifier: GPL-2.0
/*
 * A plan: checked as a whole, then written, in slices if it is long.
 *
 * Either all of a plan is written or nothing. What could go wrong is found out
 * before the first byte changes: memory is taken first, then text_mutex, so
 * that what the check finds stays true.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/memory.h>
#include <linux/once_lite.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/sections.h>

#include "text.h"

/*
 * At most this many sites are poked in one batch while everything runs: each CPU is
 * interrupted three times, but none waits for another. A poke is more work than a write
 * in a stop, so more sites are poked only where a stop is dear. One batch of
 * text_poke_queue() takes those, too: x86 has room for 256.
 */
#define POKES		16
#define POKES_DEAR	128

/* How long one stop of the machine is to last, in microseconds; it may be longer. */
static unsigned int ftrace_stop_us __read_mostly = 1000;

static struct ftrace_slices slices;	/* ftrace_lock */

struct ftrace_stop_stats ftrace_stops;

static int __init set_stop_us(char *str)
{
	unsigned int us;

	if (!str || kstrtouint(str, 0, &us) || !us)
		pr_warn("ftrace_stop_us=%s is not a time in microseconds\n", str ?: "");
	else
		ftrace_stop_us = us;
	return 0;
}
early_param("ftrace_stop_us", set_stop_us);

/*
 * Large arrays do not come from kvmalloc() if they can be had in one piece:
 * freeing the compound page that it returns takes a call for each page in it.
 * By then all functions may be traced, and those calls would be most of what is
 * left to do.
 */
static struct ftrace_plan_entry *entries_alloc(unsigned int nr)
{
	size_t size = array_size(nr, sizeof(struct ftrace_plan_entry));
	unsigned long pages = 0;

	if (size <= KMALLOC_MAX_CACHE_SIZE)
		return kmalloc(size, GFP_KERNEL);
	if (get_order(size) <= MAX_PAGE_ORDER)
		pages = __get_free_pages(GFP_KERNEL | __GFP_NORETRY |
					 __GFP_NOWARN, get_order(size));
	return pages ? (void *)pages : vmalloc(size);
}

static void entries_free(struct ftrace_plan_entry *entries, unsigned int nr)
{
	size_t size = array_size(nr, sizeof(*entries));

	if (size <= KMALLOC_MAX_CACHE_SIZE)
		kfree(entries);
	else if (is_vmalloc_addr(entries))
		vfree(entries);
	else
		free_pages((unsigned long)entries, get_order(size));
}

/**
 * ftrace_plan_reserve - make room in a plan
 * @plan: the plan
 * @nr: for how many entries in all
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int ftrace_plan_reserve(struct ftrace_plan *plan, unsigned int nr)
{
	struct ftrace_plan_entry *e;

	if (nr <= plan->size)
		return 0;
	e = entries_alloc(nr);
	if (!e)
		return -ENOMEM;
	if (plan->nr)
		memcpy(e, plan->entries, array_size(plan->nr, sizeof(*e)));
	entries_free(plan->entries, plan->size);
	plan->entries = e;
	plan->size = nr;
	return 0;
}

/**
 * ftrace_plan_free - free what a plan holds
 * @plan: the plan; it is empty afterwards, but still knows its @nr_stops
 */
void ftrace_plan_free(struct ftrace_plan *plan)
{
	entries_free(plan->entries, plan->size);
	*plan = (struct ftrace_plan) { .nr_stops = plan->nr_stops };
}

#define BAD_SITE "call site 0x%lx (%pS)%s, flags %#x; it is left alone\n"

/*
 * A site that is not what its record says: someone else wrote there, or the
 * record is wrong. Either way it is not ours to write to. The first one is a
 * warning, for panic_on_warn and for those who watch the log; a line will do for
 * the others.
 */
static noinline void report_bad(const struct ftrace_plan_entry *e)
{
	unsigned long ip = ftrace_text_addr(e->ip);
	u8 want[MCOUNT_INSN_SIZE], found[MCOUNT_INSN_SIZE] = {};
	char what[64];

	ftrace_text_expect(e->ip, e->from, want);
	if (copy_from_kernel_nofault(found, (void *)ip, sizeof(found)))
		snprintf(what, sizeof(what), " cannot be read, expected %*ph",
			 (int)sizeof(want), want);
	else
		snprintf(what, sizeof(what), ": expected %*ph, found %*ph",
			 (int)sizeof(want), want, (int)sizeof(found), found);

	if (__ONCE_LITE_IF(true))
		WARN(true, pr_fmt(BAD_SITE), ip, (void *)ip, what, e->rec->state);
	else
		pr_err(BAD_SITE, ip, (void *)ip, what, e->rec->state);
}

/* Is the fixed cost of a stop so high that the bound cannot be kept? */
static bool is_dear(u64 fixed_ns, u64 bound_ns)
{
	return fixed_ns > bound_ns / 2;
}

/* What to reckon the fixed part of a stop at: where some are late by far, the mean. */
static u64 expected_ns(const struct ftrace_slices *s)
{
	return max(s->fixed_ns, s->mean_ns);
}

/*
 * The fixed part is measured in part, and may seem to be all of a stop. So a site does not
 * get cheaper by more than a factor of four: what @sites take at least, of @all_ns.
 */
static u64 least_ns(const struct ftrace_slices *s, unsigned int sites, u64 all_ns)
{
	if (!s->sites)
		return 1;
	/* On x86 a quotient of more than 64 bits is an exception. */
	if (div64_u64(s->sites_ns, 4ULL * s->sites) > div64_u64(all_ns, sites))
		return all_ns;
	return clamp(mul_u64_u64_div_u64(s->sites_ns, sites, 4ULL * s->sites), 1ULL, all_ns);
}

/**
 * ftrace_slices_learn - take note of how long a stop took
 * @s: what is known; changed
 * @sites: how many sites it changed
 * @time: how long it took
 * @bound_ns: how long one is to last, in nanoseconds
 *
 * A single stop is no measure: a CPU may have been late for once, or none. So what the
 * fixed part is as a rule moves by a factor of two. Two in a row may have been late of one
 * cause, and are believed only of the first stops of all. One that was late by far counts
 * for 16 times the sum of the mean and the bound: for much only if others were late a short
 * time ago. What the rule does not explain of the time is charged to the sites, unless the
 * stop was much later than that: then nobody knows where else it was late.
 *
 * Context: any.
 */
void ftrace_slices_learn(struct ftrace_slices *s, unsigned int sites,
			 struct ftrace_stop_time time, u64 bound_ns)
{
	u64 by_far = 16 * (s->mean_ns + bound_ns);
	u64 most = 2 * s->fixed_ns + bound_ns / 64;

	/* A clock that stood still tells nothing. */
	if (time.all <= 1)
		return;
	if (is_dear(time.fixed, bound_ns))
		s->pokes = 0;
	if (s->learned < FTRACE_SLICES_NEW) {
		s->learned++;
		most = max(most, min(s->last_ns, by_far));
		s->last_ns = time.fixed;
	}
	s->mean_ns = s->mean_ns - s->mean_ns / 8 + min(time.fixed, by_far) / 8;
	s->fixed_ns = clamp(time.fixed, s->fixed_ns / 2, most);
	/* Nor do a few sites tell what many take. */
	if (sites < FTRACE_SLICE_MIN || (s->sites && time.fixed > most))
		return;
	s->sites_ns = max(time.all - min(time.fixed, s->fixed_ns),
			  least_ns(s, sites, time.all));
	s->sites = sites;
	s->stop_ns = time.all;
}

/**
 * ftrace_slices_avoid - is it better to poke some more sites than to stop?
 * @s: what is known
 * @bound_ns: how long a stop is to last, in nanoseconds
 *
 * It is where stops are dear. But plans that are poked tell nothing about stops, and a
 * host that was busy once may be idle now. So after FTRACE_POKES_MAX of them stops are
 * tried again: one if that is dear by itself, else until they are not dear in the mean.
 *
 * Context: any.
 * Return: whether to poke.
 */
bool ftrace_slices_avoid(const struct ftrace_slices *s, u64 bound_ns)
{
	return is_dear(expected_ns(s), bound_ns) && s->pokes < FTRACE_POKES_MAX;
}

/**
 * ftrace_slices_next - how many sites may the next stop change?
 * @s: what is known
 * @bound_ns: how long it is to last, in nanoseconds
 *
 * Each stop has a fixed cost: all CPUs have to meet several times. A slice is sized to
 * fill three quarters of what that leaves of the bound. If the fixed cost is more than
 * half of the bound, as on a host with fewer CPUs than it pretends, short slices would
 * only add stops: then the bound is given up, and a slice is sized to take four times
 * the fixed cost.
 *
 * The fixed cost is measured in part, and may have seemed to be all of a stop that was
 * late. Where the bound is to be kept, sites are reckoned at a quarter of it at least.
 *
 * Context: any.
 * Return: the number, at least FTRACE_SLICE_MIN.
 */
unsigned int ftrace_slices_next(const struct ftrace_slices *s, u64 bound_ns)
{
	u64 fixed_ns = expected_ns(s), sites_ns = s->sites_ns, room = 4 * fixed_ns;

	if (!s->sites)
		return FTRACE_SLICE_MIN;
	if (!is_dear(fixed_ns, bound_ns)) {
		room = (bound_ns - fixed_ns) * 3 / 4;
		sites_ns = max(sites_ns, s->stop_ns / 4);
	}
	/* On x86 a quotient of more than 64 bits is an exception. */
	if (div64_u64(room, sites_ns) >= UINT_MAX / s->sites)
		return UINT_MAX;
	return max_t(u64, FTRACE_SLICE_MIN, mul_u64_u64_div_u64(room, s->sites, sites_ns));
}

static u64 bound(void)
{
	return (u64)ftrace_stop_us * NSEC_PER_USEC;
}

/* In early boot nobody has to stop. */
static void note_stop(unsigned int sites, struct ftrace_stop_time time)
{
	u64 us = div_u64(time.all, NSEC_PER_USEC);

	if (!time.all)
		return;
	ftrace_stops.nr++;
	/* A clock that stood still tells nothing. */
	if (time.all > 1)
		ftrace_stops.below[min(fls64(us), FTRACE_STOP_CLASSES - 1)]++;
	ftrace_stops.longest_ns = max(ftrace_stops.longest_ns, time.all);
	ftrace_stops.all_ns += time.all;
	ftrace_slices_learn(&slices, sites, time, bound());
}

/*
 * How many entries, of those from @lo to @hi, contain @sites that change; all,
 * if there are fewer. Counted from the end if the plan is written from there.
 */
static unsigned int next_slice(const struct ftrace_plan *plan, unsigned int lo,
			       unsigned int hi, bool from_end, unsigned int *sites)
{
	const struct ftrace_plan_entry *e;
	unsigned int i, nr = 0;

	if (plan->nr_text == plan->nr) {
		*sites = min(*sites, hi - lo);
		return *sites;
	}
	for (i = 0; lo + i < hi && nr < *sites; i++) {
		e = &plan->entries[from_end ? hi - 1 - i : lo + i];
		nr += e->from != e->to;
	}
	*sites = nr;
	return i;
}

/*
 * A tool that decodes instructions from a trace has to know what they were, and
 * when. This is not done in the stop, so perf hears of it a little late: CPUs
 * may run the new bytes before that. text_poke_bp() tells perf by itself.
 */
static void tell_perf(const struct ftrace_plan_entry *e, unsigned int nr)
{
	u8 from[MCOUNT_INSN_SIZE], to[MCOUNT_INSN_SIZE];

	lockdep_assert_held(&text_mutex);
	if (!perf_event_wants_text_poke())
		return;
	for (; nr; nr--, e++) {
		if (e->from == e->to)
			continue;
		ftrace_text_expect(e->ip, e->from, from);
		ftrace_text_expect(e->ip, e->to, to);
		perf_event_text_poke((void *)ftrace_text_addr(e->ip), from,
				     sizeof(from), to, sizeof(to));
	}
}

/*
 * During a stop hundreds of functions are called: of the scheduler, of timers
 * that are late, of RCU. They are in the first half of the kernel's text. So a
 * plan that switches sites on is written from the end: then these are not
 * traced until the last stop. One that switches sites off is written from the
 * start, which begins with these.
 *
 * That is only for speed. Between two stops, and in an NMI within one, some
 * sites are written and others are not; each is whole, and all that it can call
 * is there.
 */
static void write_slices(struct ftrace_plan *plan)
{
	unsigned int lo = 0, hi = plan->nr, first, nr, sites;
	bool from_end = plan->entries[0].to;
	struct ftrace_stop_time time;

	lockdep_assert_held(&ftrace_lock);
	lockdep_assert_held(&text_mutex);
	while (lo < hi) {
		sites = ftrace_slices_next(&slices, bound());
		nr = next_slice(plan, lo, hi, from_end, &sites);
		first = from_end ? hi - nr : lo;
		if (from_end)
			hi -= nr;
		else
			lo += nr;
		if (!sites)
			continue;
		time = ftrace_text_write(plan, first, nr);
		plan->nr_stops += !!time.all;
		note_stop(sites, time);
		tell_perf(&plan->entries[first], nr);
	}
}

/* When init text is about to be freed text_poke_queue() takes it for a module's. */
static bool is_in_init_text(const struct ftrace_plan *plan)
{
	const struct ftrace_plan_entry *e, *end = plan->entries + plan->nr;

	for (e = plan->entries; e < end; e++) {
		if (e->from != e->to && is_kernel_inittext(ftrace_text_addr(e->ip)))
			return true;
	}
	return false;
}

static bool is_sliced(const struct ftrace_plan *plan)
{
	lockdep_assert_held(&ftrace_lock);
	if (plan->stop || ftrace_text_early())
		return plan->nr_text;
	if (plan->nr_text > POKES_DEAR)
		return true;
	if (plan->nr_text && is_in_init_text(plan))
		return true;
	return plan->nr_text > POKES && !ftrace_slices_avoid(&slices, bound());
}

/* This also tells perf. */
static void poke(const struct ftrace_plan *plan)
{
	lockdep_assert_held(&ftrace_lock);
	ftrace_text_poke(plan);
	ftrace_sites_poked();
	slices.pokes += plan->nr_text > POKES;
}

/**
 * ftrace_plan_write_one - write one call site, with no memory and no stop
 * @e: the change
 *
 * Context: process, ftrace_lock held. Takes cpus_read_lock and text_mutex.
 * Return: 0; or -EINVAL if the site is not what it should be: that has been
 * reported, and nothing is written.
 */
int ftrace_plan_write_one(const struct ftrace_plan_entry *e)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	cpus_read_lock();
	mutex_lock(&text_mutex);
	ret = ftrace_text_write_one(e->ip, e->from, e->to);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
	if (!ret)
		return 0;
	report_bad(e);
	return -EINVAL;
}

/**
 * ftrace_plan_write - write a plan
 * @plan: the plan; its @nr_stops tells how often that stopped the machine
 * @bad: with -EINVAL, the index of the first entry whose site is not what it
 *	 should be; it has been reported
 *
 * Sites that keep what they call are checked, too: an ops must not be told that it is
 * served by a site whose call somebody has overwritten. Between two slices other CPUs
 * run, with some sites old and some new.
 *
 * Context: process, ftrace_lock held. Takes cpus_read_lock and text_mutex.
 * Return: 0; or -ENOMEM, -EINVAL, or -EFAULT if there is no page where a site is, and
 * nothing has been written.
 */
int ftrace_plan_write(struct ftrace_plan *plan, unsigned int *bad)
{
	bool sliced = is_sliced(plan);
	int err = 0, ret;

	lockdep_assert_held(&ftrace_lock);
	if (!plan->nr)
		return 0;

	if (sliced)
		err = ftrace_text_prepare(plan);
	/* If text is missing, the check says where. */
	if (err && err != -EFAULT)
		return err;
	ret = err;
	cpus_read_lock();
	mutex_lock(&text_mutex);
	*bad = ftrace_text_check(plan);
	if (*bad < plan->nr) {
		report_bad(&plan->entries[*bad]);
		ret = -EINVAL;
	}
	if (!ret && sliced)
		write_slices(plan);
	else if (!ret && plan->nr_text)
		poke(plan);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
	if (sliced && !err)
		ftrace_text_finish();
	return ret;
}

/* ---- what 6.12 offers besides; nothing in this core calls it -------------- */

/**
 * ftrace_make_nop - turn one call into a nop
 * @mod: the module the site is in, or NULL
 * @rec: the call site
 * @addr: what it calls now
 *
 * Context: process, text_mutex held, and cpus_read_lock unless ftrace_text_early().
 * Return: 0; -EFAULT if the site cannot be read, -EINVAL if it does not call
 * @addr. Nothing is written then.
 */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	return ftrace_text_write_one(rec->key, ftrace_text_key(addr), 0);
}

/**
 * ftrace_make_call - turn one nop into a call
 * @rec: the call site
 * @addr: what it shall call: code that accounts for its own call depth
 *
 * Context: as ftrace_make_nop().
 * Return: 0; -EFAULT if the site cannot be read, -EINVAL if it is no nop.
 * Nothing is written then.
 */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	return ftrace_text_write_one(rec->key, 0, ftrace_text_key(addr));
}
