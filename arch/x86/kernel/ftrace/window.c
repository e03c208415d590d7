// SPDX-License-Identifier: GPL-2.0
/*
 * The patch window: where a plan is written through.
 *
 * Text is read-only for ever. A plan is written through a stretch of user address
 * space in an mm of its own, where the pages of the plan, and no others, are mapped
 * writable and not executable. The window is as large as all of text can be, and a
 * page lies in it where it lies in text, so that the place to write is one addition
 * away from the address of the site, and a site that straddles two pages is no
 * special case.
 *
 * Only the stop loads that mm.
 */
#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include <asm/kaslr.h>
#include <asm/paravirt.h>
#include <asm/sections.h>
#include <asm/tlbflush.h>

#include "window.h"

/* Text is in the top 2 GiB, from here on. */
#define TEXT_BASE	__START_KERNEL_map
#define TEXT_SIZE	SZ_2G

/* Set once, by ftrace_dyn_arch_init(); see window.h. */
struct mm_struct *ftrace_window_mm __ro_after_init;
unsigned long ftrace_window_bias __ro_after_init;

const struct ftrace_plan *ftrace_window_plan;

/*
 * The page tables that map its pages, counted from that of the first page of the
 * window; ftrace_lock.
 */
static DECLARE_BITMAP(window_tables, TEXT_SIZE / PMD_SIZE + 1);

/**
 * ftrace_dyn_arch_init() - get ready to patch call sites
 *
 * Makes the mm of the patch window, with nothing in it.
 *
 * Context: boot CPU, once, before the first plan is written. poking_init() has
 * run, so page tables can be allocated.
 *
 * Return: 0; -ENOMEM, and then text can only be written while
 * ftrace_text_early() is true.
 */
int __init ftrace_dyn_arch_init(void)
{
	unsigned long start = __TASK_UNMAPPED_BASE(DEFAULT_MAP_WINDOW);

	/* Now, so that mm->owner is a task that never exits. */
	ftrace_window_mm = mm_alloc();
	if (!ftrace_window_mm)
		return -ENOMEM;

	/* As for poking_mm: Xen PV wants the page tables pinned. */
	paravirt_enter_mmap(ftrace_window_mm);

	if (IS_ENABLED(CONFIG_RANDOMIZE_BASE))
		start += (kaslr_get_random_long("Patch window") & PAGE_MASK) %
			 (DEFAULT_MAP_WINDOW - start - TEXT_SIZE);
	ftrace_window_bias = start - ftrace_text_key(TEXT_BASE);
	return 0;
}

/* Goes through the pages of a plan, ascending. 0: before the first. */
struct page_walk {
	const struct ftrace_plan_entry	*e;
	const struct ftrace_plan_entry	*end;
	u32				page;
};

/* The next page, as the upper bits of a key; 0: there is none. */
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
	return ftrace_window_bias + ((unsigned long)page << PAGE_SHIFT);
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

		pte = get_locked_pte(ftrace_window_mm, table, &ptl);
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
			set_pte_at(ftrace_window_mm, addr, pte + pte_index(addr),
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
		pte = get_locked_pte(ftrace_window_mm, addr, &ptl);
		if (WARN_ON_ONCE(!pte))
			continue;
		__acquire(ptl);
		for (p = pte; p < pte + PTRS_PER_PTE; p++, addr += PAGE_SIZE) {
			if (!pte_none(*p))
				pte_clear(ftrace_window_mm, addr, p);
		}
		pte_unmap_unlock(pte, ptl);
	}
	bitmap_zero(window_tables, TEXT_SIZE / PMD_SIZE + 1);

	/*
	 * The mm is loaded nowhere, so no CPU is interrupted for this: it makes
	 * each flush what it has of the mm when it next loads it.
	 */
	flush_tlb_mm_range(ftrace_window_mm, first_table(),
			   ftrace_window_bias + (1UL << 32), PAGE_SHIFT, false);
}

/**
 * ftrace_text_prepare() - map the pages of a plan into the patch window
 * @plan: the plan, ascending by address
 *
 * Nothing can be written yet: the window is not loaded outside of a stop. Its
 * page tables are kept for the next plan. In early boot it is not used.
 *
 * Context: process context, may sleep; before text_mutex, so that the wait for
 * memory is not under it. One plan at a time, and the text in it must not go
 * away until ftrace_text_finish(): the caller holds ftrace_lock.
 *
 * Return: 0; -ENOMEM; -EFAULT if there is no page under a site. On failure the
 * window is empty, and ftrace_text_finish() is not called.
 */
int ftrace_text_prepare(const struct ftrace_plan *plan)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_text_early())
		return 0;
	if (!ftrace_window_mm)
		return -ENOMEM;
	if (WARN_ON_ONCE(ftrace_window_plan))
		return -EBUSY;

	ret = window_fill(plan);
	if (ret)
		window_clear();
	else
		ftrace_window_plan = plan;
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
	lockdep_assert_held(&ftrace_lock);
	if (ftrace_text_early() || WARN_ON_ONCE(!ftrace_window_plan))
		return;
	window_clear();
	ftrace_window_plan = NULL;
}
