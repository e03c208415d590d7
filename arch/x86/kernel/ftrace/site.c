// SPDX-License-Identifier: GPL-2.0
/*
 * What a call site looks like, and changing one or a few. stop.c changes many.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sync_core.h>
#include <linux/uaccess.h>
#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "site.h"

struct ftrace_site_insn ftrace_site_nop __ro_after_init = {
	.first	= 0x0f,		/* nopl 0(%rax,%rax,1) */
	.tail	= 0x0000441f,
};

/*
 * A jump over a 3-byte nop, so that a decoder that starts from the function's
 * entry and does not follow jumps keeps in step.
 */
static const struct ftrace_site_insn nop_jmp __initconst = {
	.first	= JMP8_INSN_OPCODE,
	.tail	= 0x001f0f03,
};

static int __init set_nop(char *str)
{
	if (str && !strcmp(str, "jmp"))
		ftrace_site_nop = nop_jmp;
	else if (!str || strcmp(str, "nop5"))
		pr_warn("ftrace_nop=%s: neither nop5 nor jmp, using nop5\n",
			str ?: "");
	return 0;
}
early_param("ftrace_nop", set_nop);

/*
 * The five bytes at @ip; false if there is no reading them. Not
 * copy_from_kernel_nofault(): every site of a plan passes through here, and
 * these are two loads.
 *
 * Page faults are disabled by the caller.
 */
static __always_inline bool load_site(unsigned long ip,
				      struct ftrace_site_insn *insn)
{
	u8 *p = (u8 *)ip;
	u32 tail;
	u8 first;

	__get_kernel_nofault(&first, p, u8, unreadable);
	__get_kernel_nofault(&tail, p + 1, u32, unreadable);
	insn->first = first;
	insn->tail = tail;
	return true;

unreadable:
	return false;
}

/**
 * ftrace_site_read() - the bytes of a call site
 * @ip: the site; any kernel address
 * @insn: where to put them
 *
 * Context: any.
 *
 * Return: true; false if they cannot be read.
 */
bool ftrace_site_read(unsigned long ip, struct ftrace_site_insn *insn)
{
	bool ok;

	pagefault_disable();
	ok = load_site(ip, insn);
	pagefault_enable();
	return ok;
}

static __always_inline bool is_site_insn(const struct ftrace_site_insn *insn,
					 u32 ip, u32 target)
{
	return insn->first == ftrace_site_first(target) &&
	       insn->tail == ftrace_site_tail(ip, target);
}

/**
 * ftrace_text_expect() - the bytes of a call site in a given state
 * @ip: the site, as ftrace_text_key()
 * @target: what it calls, a key, or 0 for a nop
 * @insn: where to put the MCOUNT_INSN_SIZE bytes
 *
 * Context: any.
 */
void ftrace_text_expect(u32 ip, u32 target, u8 *insn)
{
	struct ftrace_site_insn site = {
		.first	= ftrace_site_first(target),
		.tail	= ftrace_site_tail(ip, target),
	};

	memcpy(insn, &site, sizeof(site));
}

/**
 * ftrace_text_check() - are the call sites of a plan what it takes them for?
 * @plan: the plan
 *
 * As a nop only the one that ftrace_nop= chose will do: sites are compiled as
 * calls, so whoever wrote another nop was not us.
 *
 * Context: any that may read the text; nothing is assumed about it. The answer
 * lasts as long as the caller holds text_mutex.
 *
 * Return: the first entry whose site is not in the state @from names, be it that
 * the bytes differ or cannot be read; @plan->nr if there is none.
 */
unsigned int ftrace_text_check(const struct ftrace_plan *plan)
{
	const struct ftrace_plan_entry *e, *end = plan->entries + plan->nr;

	pagefault_disable();
	for (e = plan->entries; e < end; e++) {
		struct ftrace_site_insn insn;

		if (!load_site(ftrace_text_addr(e->ip), &insn) ||
		    !is_site_insn(&insn, e->ip, e->from))
			break;
	}
	pagefault_enable();
	return e - plan->entries;
}

/* Where a function at @addr would have its call site, and what is there. */
static bool read_entry(unsigned long *addr, struct ftrace_site_insn *insn)
{
	u32 endbr;

	if (!ftrace_site_read(*addr, insn))
		return false;
	memcpy(&endbr, insn, sizeof(endbr));
	if (!HAS_KERNEL_IBT || !is_endbr(endbr))
		return true;
	*addr += ENDBR_INSN_SIZE;
	return ftrace_site_read(*addr, insn);
}

/**
 * ftrace_text_entry() - where a function would have its call site
 * @addr: the function's first byte; any kernel address
 *
 * A function that is traced begins with an endbr64, if it may be called through
 * a pointer and the kernel is built for that, then the call of __fentry__. When
 * nothing took the address after all, apply_seal_endbr() has turned the endbr64
 * into a nop of its own kind, which is_endbr() knows too.
 *
 * Context: any.
 *
 * Return: the address after the endbr64; @addr if there is none; 0 if nothing can
 * be read there.
 */
unsigned long ftrace_text_entry(unsigned long addr)
{
	struct ftrace_site_insn insn;

	return read_entry(&addr, &insn) ? addr : 0;
}

/**
 * ftrace_text_entry_site() - recognise the call site of a function
 * @addr: the function's first byte; any kernel address
 *
 * Context: any.
 *
 * Return: the address of the call, see ftrace_text_entry(); 0 if there is none, or
 * it is patched.
 */
unsigned long ftrace_text_entry_site(unsigned long addr)
{
	struct ftrace_site_insn insn;

	if (!read_entry(&addr, &insn))
		return 0;
	return is_site_insn(&insn, ftrace_text_key(addr),
			    ftrace_text_key(MCOUNT_ADDR)) ? addr : 0;
}

/**
 * ftrace_site_poke() - write five bytes of text without stopping the machine
 * @ip: where
 * @insn: what
 * @emulate: the instruction that whoever comes by meanwhile is to execute
 *
 * Context: process context, text_mutex held, cpus_read_lock() if the machine is
 * past ftrace_text_early().
 */
void __ref ftrace_site_poke(unsigned long ip, const void *insn,
			    const void *emulate)
{
	/* text_poke_early() is init text, but until then it is there. */
	if (ftrace_text_early())
		text_poke_early((void *)ip, insn, MCOUNT_INSN_SIZE);
	else
		text_poke_bp((void *)ip, insn, MCOUNT_INSN_SIZE, emulate);
}

/* Whichever nop it is, whoever comes by meanwhile steps over it. */
static const void *as_emulated(u32 to, const u8 *insn)
{
	return to ? insn : x86_nops[MCOUNT_INSN_SIZE];
}

/**
 * ftrace_text_poke() - change a few call sites without stopping the machine
 * @plan: the plan, ascending by address, every entry checked with
 *	ftrace_text_check() since text_mutex was taken
 *
 * It cannot fail. When it returns every CPU executes the new bytes, but as nobody
 * was stopped anybody may be inside a call of the old ones.
 *
 * Context: process context; text_mutex and cpus_read_lock() held; not while
 * ftrace_text_early().
 */
void ftrace_text_poke(const struct ftrace_plan *plan)
{
	const struct ftrace_plan_entry *e, *end = plan->entries + plan->nr;
	u8 insn[MCOUNT_INSN_SIZE];

	lockdep_assert_cpus_held();
	lockdep_assert_held(&text_mutex);
	for (e = plan->entries; e < end; e++) {
		if (e->from == e->to)
			continue;
		ftrace_text_expect(e->ip, e->to, insn);
		text_poke_queue((void *)ftrace_text_addr(e->ip), insn,
				MCOUNT_INSN_SIZE, as_emulated(e->to, insn));
	}
	text_poke_finish();
}

/**
 * ftrace_text_write_one() - change one call site without stopping the machine
 * @ip: the site, as ftrace_text_key()
 * @from: what it has to call now, a key, or 0 for a nop
 * @to: what it shall call, a key, or 0 for a nop
 *
 * Needs no memory. For many sites use a plan.
 *
 * Context: process context, text_mutex held, cpus_read_lock() if the machine is
 * past ftrace_text_early().
 *
 * Return: 0; -EFAULT if the site cannot be read, -EINVAL if it is not in the
 * state @from. Nothing is written then.
 */
int ftrace_text_write_one(u32 ip, u32 from, u32 to)
{
	unsigned long addr = ftrace_text_addr(ip);
	struct ftrace_site_insn now;
	u8 insn[MCOUNT_INSN_SIZE];

	lockdep_assert_held(&text_mutex);

	if (!ftrace_site_read(addr, &now))
		return -EFAULT;
	if (!is_site_insn(&now, ip, from))
		return -EINVAL;

	ftrace_text_expect(ip, to, insn);
	ftrace_site_poke(addr, insn, as_emulated(to, insn));
	return 0;
}

#ifdef CONFIG_FTRACE_MCOUNT_RECORD
/* What the build has left there: a call of __fentry__, or a nop for it. */
static bool is_as_built(const struct ftrace_site_insn *insn, u32 ip)
{
	if (__is_defined(CC_USING_NOP_MCOUNT) &&
	    !memcmp(insn, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE))
		return true;
	return is_site_insn(insn, ip, ftrace_text_key(MCOUNT_ADDR));
}

/*
 * The only ones who can run this meanwhile are NMIs on this CPU, in early boot.
 * They find a whole instruction at any time: a jump over what is written.
 */
static void write_first_nop(unsigned long ip)
{
	static const u8 jump_over[] = { JMP8_INSN_OPCODE, 0x03 };
	const u8 *nop = (const u8 *)&ftrace_site_nop;
	u8 *p = (u8 *)ip;

	WRITE_ONCE(*(u16 *)p, *(const u16 *)jump_over);
	barrier();
	p[2] = nop[2];
	p[3] = nop[3];
	p[4] = nop[4];
	barrier();
	WRITE_ONCE(*(u16 *)p, *(const u16 *)nop);
}

/**
 * ftrace_text_make_nops() - make call sites nops that nobody can run yet
 * @sites: where the sites should be, in text that can be written to; those that
 *	the build has left no call at, nor a nop for it, are taken out
 * @nr: how many
 *
 * Context: boot CPU, while ftrace_text_early() is true, interrupts off; or
 * process context for text of a module that is being put together.
 *
 * Return: how many are left, all of them nops.
 */
unsigned int ftrace_text_make_nops(unsigned long *sites, unsigned int nr)
{
	unsigned int i, left = 0;

	pagefault_disable();
	for (i = 0; i < nr; i++) {
		u32 key = ftrace_text_key(sites[i]);
		struct ftrace_site_insn insn;

		if (!load_site(sites[i], &insn) || !is_as_built(&insn, key))
			continue;
		if (!is_site_insn(&insn, key, 0))
			write_first_nop(sites[i]);
		sites[left++] = sites[i];
	}
	pagefault_enable();
	/* Once is enough: what this CPU has prefetched is no longer valid. */
	sync_core();
	return left;
}
#endif /* CONFIG_FTRACE_MCOUNT_RECORD */
