// SPDX-License-Identifier: GPL-2.0
/*
 * Writing many call sites at once.
 *
 * Text is read-only for ever. A plan is written through the patch window: a
 * stretch of user address space in an mm of its own, where the pages of the
 * plan, and no others, are mapped writable and not executable. The window is as
 * large as all of text can be, and a page lies in it where it lies in text, so
 * that the place to write is one addition away from the address of the site,
 * and a site that straddles two pages is no special case.
 *
 * All CPUs are stopped, load the window and write a share each. NMIs and
 * machine checks go on meanwhile, and run whatever code they like, which may be
 * what is being written; so the rules for cross-modifying code hold (Intel SDM
 * volume 3A, "Handling Self- and Cross-Modifying Code"), and the way out is the
 * one of text_poke_bp(): a breakpoint first, then what is behind it, then the
 * breakpoint's own byte, and all CPUs serialise between one step and the next.
 * Who runs into a breakpoint is sent on by ftrace_int3_handler() as if the new
 * bytes had been there.
 *
 * Nothing here is traced or instrumented (see the Makefile): sanitizers have no
 * shadow for the window.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bsearch.h>
#include <linux/bug.h>
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/stop_machine.h>
#include <linux/sync_core.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include <asm/kaslr.h>
#include <asm/paravirt.h>
#include <asm/sections.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "site.h"

/* Text is in the top 2 GiB, from here on. */
#define TEXT_BASE	__START_KERNEL_map
#define TEXT_SIZE	SZ_2G

/* ---- the window -------------------------------------------------------- */

/*
 * Set once, by ftrace_window_init(). NULL: there was no memory for it. The mm
 * is loaded only inside patch_share(), interrupts off, by all CPUs at once.
 */
static struct mm_struct *window_mm __ro_after_init;

/* What to add to a site's key to get its place in the window. */
static unsigned long window_bias __ro_after_init;

/*
 * @window_plan: the plan whose pages are in the window, or NULL
 * @window_tables: the page tables that map them, counted from that of the
 *	first page of the window
 * Both: ftrace_lock.
 */
static const struct ftrace_plan *window_plan;
static DECLARE_BITMAP(window_tables, TEXT_SIZE / PMD_SIZE + 1);

/**
 * ftrace_window_init() - make the mm of the patch window, with nothing in it
 *
 * Context: boot CPU, after poking_init().
 *
 * Return: 0 or -ENOMEM.
 */
int __init ftrace_window_init(void)
{
	unsigned long start = __TASK_UNMAPPED_BASE(DEFAULT_MAP_WINDOW);

	/* Now, so that mm->owner is a task that never exits. */
	window_mm = mm_alloc();
	if (!window_mm)
		return -ENOMEM;

	/* As for poking_mm: Xen PV wants the page tables pinned. */
	paravirt_enter_mmap(window_mm);

	if (IS_ENABLED(CONFIG_RANDOMIZE_BASE))
		start += (kaslr_get_random_long("Patch window") & PAGE_MASK) %
			 (DEFAULT_MAP_WINDOW - start - TEXT_SIZE);
	window_bias = start - ftrace_text_key(TEXT_BASE);
	return 0;
}

/* Goes through the pages of a plan, ascending. 0: before the first. */
struct page_walk {
	const struct ftrace_plan_entry	*e;
	const struct ftrace_plan_entry	*end;
	u32				page;
};

/* The next page, as the upper bits of a key; 0: no more. */
static __always_inline u32 next_page(struct page_walk *w)
{
	for (; w->e < w->end; w->e++) {
		u32 last = (w->e->ip + MCOUNT_INSN_SIZE - 1) >> PAGE_SHIFT;

		/*
		 * If the last page of the site was dealt with, so was the first:
		 * only a site at or before this one can have led to it.
		 */
		if (w->page == last)
			continue;
		w->page = max(w->e->ip >> PAGE_SHIFT, w->page + 1);
		return w->page;
	}
	return 0;
}

static bool page_to_write(u32 page, unsigned long *pfn)
{
	unsigned long addr = ftrace_text_addr(page << PAGE_SHIFT);
	struct page *p;

	if (addr >= (unsigned long)_text && addr < (unsigned long)_end) {
		*pfn = __pa_symbol(addr) >> PAGE_SHIFT;
		return true;
	}
	if (!is_vmalloc_or_module_addr((void *)addr))
		return false;
	p = vmalloc_to_page((void *)addr);
	if (!p)
		return false;
	*pfn = page_to_pfn(p);
	return true;
}

static unsigned long window_addr(u32 page)
{
	return window_bias + ((unsigned long)page << PAGE_SHIFT);
}

static unsigned long first_table(void)
{
	return window_addr(ftrace_text_key(TEXT_BASE) >> PAGE_SHIFT) & PMD_MASK;
}

/*
 * Put the pages of @plan into the window, one page table at a time: its lock is
 * taken once for what can be 512 pages.
 */
static int window_fill(const struct ftrace_plan *plan)
{
	/* Not global: flush_tlb_mm_range() leaves global entries alone. */
	pgprot_t prot = __pgprot(pgprot_val(PAGE_KERNEL) & ~_PAGE_GLOBAL);
	struct page_walk w = {
		.e	= plan->entries,
		.end	= plan->entries + plan->nr,
	};
	u32 page = next_page(&w);
	int ret = 0;

	while (page && !ret) {
		unsigned long addr = window_addr(page);
		unsigned long table = addr & PMD_MASK;
		spinlock_t *ptl;	/* of the page table at @pte */
		pte_t *pte;

		pte = get_locked_pte(window_mm, table, &ptl);
		if (!pte)
			return -ENOMEM;
		__acquire(ptl);
		__set_bit((table - first_table()) / PMD_SIZE, window_tables);
		do {
			unsigned long pfn;

			if (!page_to_write(page, &pfn)) {
				ret = -EFAULT;
				break;
			}
			set_pte_at(window_mm, addr, pte + pte_index(addr),
				   pfn_pte(pfn, prot));
			page = next_page(&w);
			addr = window_addr(page);
		} while (page && (addr & PMD_MASK) == table);
		pte_unmap_unlock(pte, ptl);
	}
	return ret;
}

/* Take out all there is. */
static void window_clear(void)
{
	unsigned int i;

	for_each_set_bit(i, window_tables, TEXT_SIZE / PMD_SIZE + 1) {
		unsigned long addr = first_table() + i * PMD_SIZE;
		spinlock_t *ptl;	/* of the page table at @pte */
		pte_t *pte, *p;

		/* It is there, so this is no allocation that could fail. */
		pte = get_locked_pte(window_mm, addr, &ptl);
		if (WARN_ON_ONCE(!pte))
			continue;
		__acquire(ptl);
		for (p = pte; p < pte + PTRS_PER_PTE; p++, addr += PAGE_SIZE) {
			if (!pte_none(*p))
				pte_clear(window_mm, addr, p);
		}
		pte_unmap_unlock(pte, ptl);
	}
	bitmap_zero(window_tables, TEXT_SIZE / PMD_SIZE + 1);

	/*
	 * The mm is loaded nowhere, so no CPU is interrupted for this: it makes
	 * each flush what it has of the mm when it next loads it.
	 */
	flush_tlb_mm_range(window_mm, first_table(),
			   window_bias + (1UL << 32), PAGE_SHIFT, false);
}

/**
 * ftrace_text_prepare() - map the pages of a plan into the patch window
 * @plan: the plan, ascending by address
 *
 * Nothing can be written yet: the window is not loaded outside of a stop. Its
 * page tables are kept for the next plan.
 *
 * Context: process context, may sleep; before text_mutex, so that the wait for
 * memory is not under it. One plan at a time, and the text in it must not go
 * away until ftrace_text_finish(): the caller holds ftrace_lock.
 *
 * Return: 0; -ENOMEM; -EFAULT if there is no page behind a site. On failure the
 * window is empty, and ftrace_text_finish() is not called.
 */
int ftrace_text_prepare(const struct ftrace_plan *plan)
{
	int ret;

	if (!window_mm)
		return -ENOMEM;
	if (WARN_ON_ONCE(window_plan))
		return -EBUSY;

	ret = window_fill(plan);
	if (ret)
		window_clear();
	else
		window_plan = plan;
	return ret;
}

/**
 * ftrace_text_finish() - empty the patch window
 *
 * Context: process context, interrupts on, may sleep; ftrace_lock held since
 * ftrace_text_prepare(). With or without text_mutex.
 */
void ftrace_text_finish(void)
{
	if (WARN_ON_ONCE(!window_plan))
		return;
	window_clear();
	window_plan = NULL;
}

/* ---- the breakpoint ---------------------------------------------------- */

/*
 * The entries under change, for ftrace_int3_handler(). @nr is 0 when there are
 * none. It is written last, and it alone is cleared: a handler that has read it
 * before goes on to read @entries, which must still be those it belongs to. What
 * stays in @entries is stale, and is not read before publish() has replaced it.
 *
 * There is no reference count, because nobody who reads this outlives it. It is
 * set and cleared inside the stop, when everything but NMIs (say: whatever is
 * not maskable) stands still. An NMI handler that reads it has to return before
 * its CPU can go on to the next meeting, and no CPU leaves the stop before the
 * meeting that follows the clearing. So when the stop is over no one is left
 * who saw the entries, and they may be freed.
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
 * between this and the next publish(), all CPUs meet. In early boot the only
 * handlers there are run on the CPU that writes.
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
	 * Who saw the breakpoint sees what was published before it was written;
	 * pairs with the first meeting in patch_share().
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
 * Read what was written, where it is executed, in samples. There is no way back
 * from a wrong mapping, but it shall not go unnoticed.
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

/**
 * ftrace_text_early() - does text have to be written directly?
 *
 * As long as the boot CPU is alone in start_kernel(): no other CPU, no other
 * task, no module, and the kernel's text is not yet protected.
 *
 * Context: any.
 *
 * Return: true while ftrace_text_write_early() is the way, false from then on.
 */
bool ftrace_text_early(void)
{
	return system_state == SYSTEM_BOOTING;
}

/**
 * ftrace_text_write_early() - write a plan during early boot
 * @plan: the plan, checked
 *
 * One CPU sees its own stores, so there is no meeting and no window. The order
 * of the steps is kept for the sake of an NMI.
 *
 * Context: boot CPU, while ftrace_text_early() is true.
 */
void ftrace_text_write_early(const struct ftrace_plan *plan)
{
	struct share all = {
		.first	= plan->entries,
		.end	= plan->entries + plan->nr,
		.bias	= TEXT_BASE - ftrace_text_key(TEXT_BASE),
	};
	unsigned long flags;

	if (WARN_ON_ONCE(!ftrace_text_early()))
		return;

	local_irq_save(flags);
	publish(plan->entries, plan->nr);
	barrier();
	write_breakpoints(&all);
	sync_core();
	write_tails(&all);
	sync_core();
	write_firsts(&all);
	sync_core();
	unpublish();
	local_irq_restore(flags);

	check_written(plan->entries, plan->nr);
}

/* ---- the stop ---------------------------------------------------------- */

/**
 * struct text_stop - one stop of the machine
 * @entries: what to write
 * @nr: how many
 * @nr_cpus: how many CPUs share the work
 * @shares: how many shares are taken
 * @arrived: arrivals at all meetings so far; never goes back, so that a meeting
 *	needs no second phase to reset it
 * @ns: how long it took; the first CPU to take a share writes it
 */
struct text_stop {
	const struct ftrace_plan_entry	*entries;
	unsigned int			nr;
	unsigned int			nr_cpus;
	atomic_t			shares;
	atomic_t			arrived;
	u64				ns;
};

/*
 * Wait until all CPUs are here. What each wrote before, all see after. Raw
 * atomics: an instrumented one could call a function that is half written.
 */
static __always_inline void meet(struct text_stop *stop, unsigned int *meeting)
{
	*meeting += stop->nr_cpus;
	/* Pairs with the last barrier here, on the CPUs that wait for us. */
	smp_mb__before_atomic();
	raw_atomic_inc(&stop->arrived);
	while ((unsigned int)raw_atomic_read(&stop->arrived) < *meeting)
		cpu_relax();
	/* Pairs with the first barrier here, on the CPUs we waited for. */
	smp_mb();
}

/*
 * The end of a step: all stores are done, then all CPUs serialise, and only
 * then does anyone begin with the next.
 */
static __always_inline void end_step(struct text_stop *stop,
				     unsigned int *meeting)
{
	meet(stop, meeting);
	sync_core();
	meet(stop, meeting);
}

/* Runs on every CPU, interrupts off. */
static int patch_share(void *data)
{
	struct text_stop *stop = data;
	unsigned int n = raw_atomic_fetch_inc(&stop->shares);
	struct share share = {
		.first	= stop->entries + (u64)stop->nr * n / stop->nr_cpus,
		.end	= stop->entries + (u64)stop->nr * (n + 1) / stop->nr_cpus,
		.bias	= window_bias,
	};
	u64 start = ktime_get_mono_fast_ns();
	unsigned int meeting = 0;
	struct temp_mm_state prev;

	/*
	 * These are functions like any other, with call sites. They are called
	 * before the first breakpoint is written and after the last is gone, so
	 * that NMIs are the only ones to run into any.
	 */
	prev = use_temporary_mm(window_mm);

	if (!n)
		publish(stop->entries, stop->nr);
	meet(stop, &meeting);

	write_breakpoints(&share);
	end_step(stop, &meeting);
	write_tails(&share);
	end_step(stop, &meeting);
	write_firsts(&share);
	end_step(stop, &meeting);

	/*
	 * All breakpoints are gone and all CPUs have serialised since: no NMI
	 * runs into one any more, and those that did have returned.
	 */
	if (!n)
		unpublish();
	meet(stop, &meeting);

	unuse_temporary_mm(prev);
	if (!n)
		stop->ns = ktime_get_mono_fast_ns() - start;
	return 0;
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
 * Context: process context; cpus_read_lock() and text_mutex held.
 *
 * Return: how long the machine stood, in nanoseconds.
 */
u64 ftrace_text_write(const struct ftrace_plan *plan, unsigned int first,
		      unsigned int nr)
{
	struct text_stop stop = {
		.entries	= plan->entries + first,
		.nr		= nr,
		.nr_cpus	= num_online_cpus(),
	};

	lockdep_assert_cpus_held();
	lockdep_assert_held(&text_mutex);

	if (!nr || WARN_ON_ONCE(plan != window_plan))
		return 0;

	stop_machine_cpuslocked(patch_share, &stop, cpu_online_mask);
	check_written(stop.entries, nr);
	return stop.ns;
}
