// SPDX-License-Identifier: GPL-2.0
/*
 * Writing many call sites at once.
 *
 * All CPUs are stopped, load the patch window (see window.c) and write a share
 * each. NMIs and machine checks go on meanwhile, and run whatever code they like,
 * which may be what is being written; so the rules for cross-modifying code hold
 * (Intel SDM volume 3A, "Handling Self- and Cross-Modifying Code"), and the way out
 * is the one of text_poke_bp(): a breakpoint first, then what comes after it, then
 * the breakpoint's own byte, and all CPUs serialise between one step and the next.
 * Whoever runs into a breakpoint is sent on by ftrace_int3_handler() as if the new
 * bytes had been there.
 *
 * Nothing here is traced or instrumented (see the Makefile): sanitizers have no
 * shadow for the window.
 */
#include <linux/atomic.h>
#include <linux/bsearch.h>
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/memory.h>
#include <linux/stop_machine.h>
#include <linux/sync_core.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

#include "site.h"
#include "window.h"

/* ---- the breakpoint ---------------------------------------------------- */

/*
 * The entries under change, for ftrace_int3_handler(). @nr is 0 when there are
 * none. It is written last, and it alone is cleared: a handler that has read it
 * before goes on to read @entries, which must still be those it belongs to. What
 * stays in @entries is stale, and is not read before publish() has replaced it.
 *
 * There is no reference count, because no reader outlives it. It is set before the
 * stop, and cleared inside of it, when everything but NMIs (say: whatever is not
 * maskable) stands still. Whoever hits a breakpoint, one of ours or a kprobe's, is in
 * exc_int3() with interrupts off: its CPU cannot come to the stop before it has left
 * that. An NMI handler that has read it has to return before its CPU can leave the stop,
 * and no CPU leaves before the clearing. So when the stop is over nobody still looks at
 * the entries, and they may be freed.
 */
static struct {
	const struct ftrace_plan_entry	*entries;
	unsigned int			nr;
} changing;

static __always_inline void publish(const struct ftrace_plan_entry *entries,
				    unsigned int nr)
{
	WRITE_ONCE(changing.entries, entries);
	/* Pairs with the second barrier of ftrace_int3_handler(). */
	smp_wmb();
	WRITE_ONCE(changing.nr, nr);
}

/*
 * Needs no barrier of its own: between this and the freeing of the entries, as
 * between this and the next publish(), is the end of the stop. In early boot only the
 * CPU that writes can run a handler.
 */
static __always_inline void unpublish(void)
{
	WRITE_ONCE(changing.nr, 0);
}

static __always_inline int cmp_entry(const void *key, const void *entry)
{
	u32 x = *(const u32 *)key, y = ((const struct ftrace_plan_entry *)entry)->ip;

	return x < y ? -1 : x > y;
}

/**
 * ftrace_int3_handler() - was that a breakpoint in a call site under change?
 * @regs: the registers at the breakpoint
 *
 * If so the function goes on as if the site were written already. It could as
 * well go on in the old way; every mixture of old and new sites is valid.
 *
 * Context: first thing in exc_int3(), so any at all: no lock, no RCU, nothing
 * that is instrumented.
 *
 * Return: 1 if it was one, and @regs lead on; 0 if it is someone else's.
 */
noinstr int ftrace_int3_handler(struct pt_regs *regs)
{
	const struct ftrace_plan_entry *entries, *e;
	unsigned int nr;
	unsigned long ip;
	u32 key;

	if (user_mode(regs))
		return 0;

	/*
	 * Whoever saw the breakpoint also sees what was published before it was
	 * written; pairs with the barriers of stop_machine().
	 */
	smp_rmb();
	nr = READ_ONCE(changing.nr);
	if (!nr)
		return 0;
	/* Pairs with publish(): @nr is never that of other entries. */
	smp_rmb();
	entries = READ_ONCE(changing.entries);

	ip = regs->ip - INT3_INSN_SIZE;
	key = ftrace_text_key(ip);
	if (ip != ftrace_text_addr(key))
		return 0;

	e = __inline_bsearch(&key, entries, nr, sizeof(*e), cmp_entry);
	if (!e || e->from == e->to)
		return 0;

	if (e->to)
		int3_emulate_call(regs, ftrace_text_addr(e->to));
	else
		int3_emulate_jmp(regs, ip + MCOUNT_INSN_SIZE);
	return 1;
}

/* ---- the three steps --------------------------------------------------- */

/* Where and what to write; @bias leads from a key to its writable place. */
struct share {
	const struct ftrace_plan_entry	*first;
	const struct ftrace_plan_entry	*end;
	unsigned long			bias;
};

static __always_inline struct ftrace_site_insn *
place_of(const struct share *share, const struct ftrace_plan_entry *e)
{
	return (struct ftrace_site_insn *)(share->bias + e->ip);
}

static __always_inline void write_breakpoints(const struct share *share)
{
	const struct ftrace_plan_entry *e;

	for (e = share->first; e < share->end; e++) {
		if (e->from != e->to)
			WRITE_ONCE(place_of(share, e)->first, INT3_INSN_OPCODE);
	}
}

static __always_inline void write_tails(const struct share *share)
{
	const struct ftrace_plan_entry *e;

	for (e = share->first; e < share->end; e++) {
		if (e->from != e->to)
			place_of(share, e)->tail =
				ftrace_site_tail(e->ip, e->to);
	}
}

static __always_inline void write_firsts(const struct share *share)
{
	const struct ftrace_plan_entry *e;

	for (e = share->first; e < share->end; e++) {
		if (e->from != e->to)
			WRITE_ONCE(place_of(share, e)->first,
				   ftrace_site_first(e->to));
	}
}

/*
 * Read samples of what was written, at the addresses where it is executed. A
 * wrong mapping cannot be undone any more, but must not go unnoticed.
 */
static void check_written(const struct ftrace_plan_entry *first,
			  unsigned int nr)
{
	const struct ftrace_plan_entry *e;

	for (e = first; e < first + nr; e += 64) {
		struct ftrace_site_insn *insn = (void *)ftrace_text_addr(e->ip);

		WARN_ONCE(insn->first != ftrace_site_first(e->to) ||
			  insn->tail != ftrace_site_tail(e->ip, e->to),
			  "%pS does not hold what was written there\n", insn);
	}
}

/*
 * Early boot. One CPU sees its own stores, so there is no meeting and no window. The
 * order of the steps is kept for the sake of an NMI.
 */
static void write_alone(const struct ftrace_plan_entry *entries, unsigned int nr)
{
	struct share all = {
		.first	= entries,
		.end	= entries + nr,
		.bias	= __START_KERNEL_map - ftrace_text_key(__START_KERNEL_map),
	};
	unsigned long flags;

	local_irq_save(flags);
	publish(entries, nr);
	barrier();
	write_breakpoints(&all);
	sync_core();
	write_tails(&all);
	sync_core();
	write_firsts(&all);
	sync_core();
	unpublish();
	local_irq_restore(flags);
}

/* ---- the stop ---------------------------------------------------------- */

/**
 * struct text_stop - one stop of the machine
 * @entries: what to write
 * @nr: how many
 * @nr_cpus: how many CPUs share the work
 * @start: when it began, in nanoseconds, and
 * @first: the same in cycles; the first CPU to take a share writes both
 * @last: when the last CPU came to the last meeting, in cycles
 * @meetings: how many cycles CPUs took to come to the two before which nobody writes
 * @ns: how long it took, and
 * @cycles: the same in cycles; the last CPU to be through writes both
 * @shares: how many shares are taken
 * @arrived: arrivals at all meetings so far; never goes back, so that a meeting
 *	needs no second phase to reset it
 * @passed: arrivals at the meetings that are over. Those who wait look at this alone,
 *	so that they do not take the line from those who are to arrive
 */
struct text_stop {
	const struct ftrace_plan_entry	*entries;
	unsigned int			nr;
	unsigned int			nr_cpus;
	u64				start;
	u64				first;
	u64				last;
	u64				meetings;
	u64				ns;
	u64				cycles;
	atomic_t			shares;
	atomic_t			arrived ____cacheline_aligned_in_smp;
	unsigned int			passed ____cacheline_aligned_in_smp;
};

/*
 * Come to the next meeting; true if all others are there already. Raw atomics: an
 * instrumented one could call a function that is half written. This one is a full
 * barrier.
 */
static __always_inline bool arrive(struct text_stop *stop, unsigned int *meeting)
{
	*meeting += stop->nr_cpus;
	return (unsigned int)raw_atomic_inc_return(&stop->arrived) == *meeting;
}

/*
 * Wait until all CPUs are here. What each wrote before, all see after. The last to come
 * notes when that was: those who wait may get to run much later, when others have gone
 * on to write. The clock has a call site, the counter has none; it may differ a little
 * from one CPU to another.
 */
static __always_inline void meet(struct text_stop *stop, unsigned int *meeting,
				 bool written)
{
	if (arrive(stop, meeting)) {
		u64 now = rdtsc();

		if (!written && now > stop->last)
			stop->meetings += now - stop->last;
		stop->last = now;
		/* Pairs with the acquire below, on the CPUs that wait. */
		smp_store_release(&stop->passed, *meeting);
		return;
	}
	smp_cond_load_acquire(&stop->passed, VAL >= *meeting);
}

/*
 * The end of a step: all stores are done, then all CPUs serialise, and only
 * then does anyone begin with the next.
 */
static __always_inline void end_step(struct text_stop *stop,
				     unsigned int *meeting)
{
	meet(stop, meeting, true);
	sync_core();
	meet(stop, meeting, false);
}

/* Runs on every CPU, interrupts off. */
static int patch_share(void *data)
{
	struct text_stop *stop = data;
	unsigned int n = raw_atomic_fetch_inc(&stop->shares);
	struct share share = {
		.first	= stop->entries + (u64)stop->nr * n / stop->nr_cpus,
		.end	= stop->entries + (u64)stop->nr * (n + 1) / stop->nr_cpus,
		.bias	= ftrace_window_bias,
	};
	unsigned int meeting = 0;
	struct mm_struct *prev;

	/*
	 * These are functions like any other, with call sites. They may run into the
	 * breakpoint of a CPU that was faster. Nobody writes more than breakpoints
	 * before this CPU is at the first meeting.
	 */
	if (!n) {
		stop->start = ktime_get_mono_fast_ns();
		stop->first = rdtsc();
	}
	prev = text_poke_load_mm(ftrace_window_mm);

	write_breakpoints(&share);
	end_step(stop, &meeting);
	write_tails(&share);
	end_step(stop, &meeting);
	write_firsts(&share);
	meet(stop, &meeting, true);
	sync_core();

	/*
	 * All breakpoints are gone. Once the last CPU has serialised no NMI runs into
	 * one any more, and those that did have returned. Nobody has to wait for that
	 * here: no CPU leaves the stop before this one.
	 */
	if (arrive(stop, &meeting)) {
		unpublish();
		/* Other clocks than this CPU's may have begun, or a coarse one stood still. */
		stop->ns = max_t(s64, ktime_get_mono_fast_ns() - stop->start, 1);
		stop->cycles = max_t(s64, rdtsc() - stop->first, 1);
	}

	text_poke_unload_mm(prev);
	return 0;
}

static struct ftrace_stop_time write_in_stop(const struct ftrace_plan_entry *entries,
					     unsigned int nr)
{
	static struct text_stop stop;
	struct ftrace_stop_time time;
	u64 idle;

	lockdep_assert_held(&text_mutex);
	stop = (struct text_stop) {
		.entries	= entries,
		.nr		= nr,
		.nr_cpus	= num_online_cpus(),
	};
	publish(entries, nr);
	if (WARN_ON_ONCE(stop_machine_cpuslocked(patch_share, &stop, cpu_online_mask)))
		unpublish();
	time.all = max(stop.ns, 1ULL);
	/* Two of five meetings are measured. The CPUs write before the others: as long each. */
	idle = min(stop.meetings * 5 / 2, stop.cycles);
	time.fixed = mul_u64_u64_div_u64(time.all, idle, max(stop.cycles, 1ULL));
	return time;
}

/**
 * ftrace_text_write() - write a slice of a plan, in one stop of the machine
 * @plan: the plan given to ftrace_text_prepare(), every entry of the slice
 *	checked with ftrace_text_check() since text_mutex was taken
 * @first: the first entry of the slice
 * @nr: how many; entries that keep what they call cost next to nothing
 *
 * It cannot fail. When it returns every CPU executes the new bytes, and no task
 * is inside a call of the old ones except where it was preempted.
 *
 * Context: process context, early boot included; cpus_read_lock() and text_mutex
 * held.
 *
 * Return: how long the machine was stopped, at least 1 ns, and how much of that it would
 * have been for a single site; 0 in early boot, where nothing has to stop.
 */
struct ftrace_stop_time ftrace_text_write(const struct ftrace_plan *plan,
					  unsigned int first, unsigned int nr)
{
	const struct ftrace_plan_entry *entries = plan->entries + first;
	struct ftrace_stop_time time = {};

	lockdep_assert_cpus_held();
	lockdep_assert_held(&text_mutex);

	if (!nr)
		return time;
	if (ftrace_text_early()) {
		write_alone(entries, nr);
	} else {
		lockdep_assert_held(&ftrace_lock);
		if (WARN_ON_ONCE(plan != ftrace_window_plan))
			return time;
		time = write_in_stop(entries, nr);
	}
	check_written(entries, nr);
	return time;
}
