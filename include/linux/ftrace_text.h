/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the ftrace core and an architecture.
 *
 * The core decides what every call site is to call, and hands that over as a
 * plan. The architecture knows what such a site looks like in memory, and how
 * to change it while the machine runs; and it writes the code of trampolines.
 *
 * It has to provide the functions that are declared here without a body, with
 * one sentence for each, and those that <linux/ftrace_sets.h> and
 * <linux/ftrace_graph.h> list for it. The kernel-doc of x86
 * (arch/x86/kernel/ftrace/) has the context of each and its errors, and
 * Documentation/trace/ftrace-sets-design.rst says how they work together, and what
 * else a port needs.
 */
#ifndef _LINUX_FTRACE_TEXT_H
#define _LINUX_FTRACE_TEXT_H

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/types.h>

struct dyn_ftrace;

/*
 * All kernel and module text lies in the top 2 GiB, so an address is known by
 * its low half: in notes, records, filters and plans. As the target of a call site,
 * 0 stands for a nop.
 */
static __always_inline u32 ftrace_text_key(unsigned long addr)
{
	return (u32)addr;
}

static __always_inline unsigned long ftrace_text_addr(u32 key)
{
	return (unsigned long)(long)(s32)key;
}

/**
 * struct ftrace_plan_entry - one change of one call site
 * @rec: the record of the site; the architecture does not look at it
 * @ip: the site, as ftrace_text_key()
 * @from: what the site has to call now (a key, 0: it is a nop)
 * @to: what it is to call (a key, 0: a nop); may be the same as @from
 * @state: what @rec->state becomes once the text is written
 */
struct ftrace_plan_entry {
	struct dyn_ftrace	*rec;
	u32			ip;
	u32			from;
	u32			to;
	u32			state;
};

/**
 * struct ftrace_plan - the changes of one update, ascending by @ip
 * @entries: the changes. An NMI reads them, whatever mm is loaded: so they are
 *	     where every mm maps them, in memory of kmalloc(), the page allocator or
 *	     vmalloc()
 * @nr: how many there are
 * @nr_text: how many of them change text
 * @size: how many @entries has room for
 * @stop: write them in stops of the machine, however few they are
 * @nr_stops: how many stops it took to write them
 */
struct ftrace_plan {
	struct ftrace_plan_entry	*entries;
	unsigned int			nr;
	unsigned int			nr_text;
	unsigned int			size;
	bool				stop;
	unsigned int			nr_stops;
};

/**
 * ftrace_text_early - is the boot CPU alone in start_kernel()?
 *
 * Then there is no other CPU, no other task and no module, and the kernel's text is
 * not yet protected.
 *
 * Context: any.
 * Return: true if so, false from then on.
 */
static inline bool ftrace_text_early(void)
{
	return system_state == SYSTEM_BOOTING;
}

/* ---- call sites: what the core asks of an architecture ------------------- */

/* Get ready to write @plan: take the memory, so that nothing can fail later. */
int ftrace_text_prepare(const struct ftrace_plan *plan);

/* Find the first entry whose site is not what @from says; @plan->nr: none. */
unsigned int ftrace_text_check(const struct ftrace_plan *plan);

/**
 * struct ftrace_stop_time - how long a stop of the machine took, in nanoseconds
 * @all: from when all CPUs had come; 0: nothing was stopped
 * @fixed: how much of that it would have taken for a single site, too
 */
struct ftrace_stop_time {
	u64	all;
	u64	fixed;
};

/*
 * Write @nr entries of a plan that is prepared and checked, from @first on; say how
 * long the machine was stopped for it.
 */
struct ftrace_stop_time ftrace_text_write(const struct ftrace_plan *plan,
					  unsigned int first, unsigned int nr);

/* Let go of what ftrace_text_prepare() has taken. */
void ftrace_text_finish(void);

/* Write up to 128 sites of a plan that is checked, with neither memory nor a stop. */
void ftrace_text_poke(const struct ftrace_plan *plan);

/* Check and write a single site, with neither memory nor a stop. */
int ftrace_text_write_one(u32 ip, u32 from, u32 to);

/* Give the MCOUNT_INSN_SIZE bytes of a site that calls @target. */
void ftrace_text_expect(u32 ip, u32 target, u8 *insn);

/* Say where the function at @addr would have its call site; 0: nothing is there. */
unsigned long ftrace_text_entry(unsigned long addr);

/* Find the call site of the function at @addr; 0: none, or it is patched. */
unsigned long ftrace_text_entry_site(unsigned long addr);

/* For a table: make nops of sites that nobody can run yet, drop what is no site. */
unsigned int ftrace_text_make_nops(unsigned long *sites, unsigned int nr);

#ifdef CONFIG_FTRACE_RECORDER
/* For the recorder: have MCOUNT_ADDR take notes from now on. */
void ftrace_text_arm_recorder(void);
#else
static inline void ftrace_text_arm_recorder(void) { }
#endif

/**
 * ftrace_text_matches - is a call site in a given state?
 * @ip: the site, as ftrace_text_key()
 * @target: what it should call, a key, or 0 for a nop
 *
 * Context: as ftrace_text_check().
 * Return: true if so; false if the bytes differ or cannot be read.
 */
static inline bool ftrace_text_matches(u32 ip, u32 target)
{
	struct ftrace_plan_entry entry = { .ip = ip, .from = target };
	struct ftrace_plan plan = { .entries = &entry, .nr = 1 };

	return ftrace_text_check(&plan) == plan.nr;
}

/**
 * ftrace_text_is_unpatched - does a call site call MCOUNT_ADDR?
 * @ip: where the site would be; any kernel address
 *
 * Context: as ftrace_text_check().
 * Return: true if so; false if not, or if it cannot be read.
 */
static inline bool ftrace_text_is_unpatched(unsigned long ip)
{
	u32 key = ftrace_text_key(ip);

	return ftrace_text_addr(key) == ip &&
	       ftrace_text_matches(key, ftrace_text_key(MCOUNT_ADDR));
}

/* ---- trampolines: code that serves one set of tracers -------------------- */

/**
 * struct ftrace_tramp_call - one call that a trampoline makes
 * @func: of type ftrace_func_t
 * @arg: its third argument
 */
struct ftrace_tramp_call {
	unsigned long	func;
	unsigned long	arg;
};

/**
 * struct ftrace_tramp_spec - what a trampoline has to do
 * @regs: hand out all registers, and obey changes of them
 * @follow: obey a change of where the traced function continues
 * @jump: code to leave for as if the site had called it; 0: just return
 * @nr: how many calls
 * @call: the calls, in their order
 */
struct ftrace_tramp_spec {
	bool				regs;
	bool				follow;
	unsigned long			jump;
	unsigned int			nr;
	struct ftrace_tramp_call	call[] __counted_by(nr);
};

/**
 * struct ftrace_tramp_layout - where the parts of a trampoline lie, in bytes
 * @regs: it hands out all registers
 * @save: where registers are saved
 * @calls: where what is common to all calls is prepared
 * @first: where the first call is prepared; the others follow
 * @restore: where registers are restored
 * @leave: the last instruction
 * @size: of all of it
 */
struct ftrace_tramp_layout {
	bool	regs;
	u16	save;
	u16	calls;
	u16	first;
	u16	restore;
	u16	leave;
	u16	size;
};

/* Say how many bytes are enough for a trampoline that makes @nr calls. */
size_t ftrace_tramp_max_size(unsigned int nr);

/* Write the code of a trampoline to @buf, as it has to be at @ip. */
void ftrace_tramp_emit(const struct ftrace_tramp_spec *spec, u8 *buf,
		       unsigned long ip, struct ftrace_tramp_layout *layout);

/* Have the @i-th call of a trampoline in use, or its jump, go to @dest. */
#define FTRACE_TRAMP_JUMP	UINT_MAX
void ftrace_tramp_set(unsigned long ip, const struct ftrace_tramp_layout *layout,
		      unsigned int i, unsigned long dest);

/* Is @addr in the code that leads to callbacks where there is no trampoline, or back? */
bool ftrace_text_in_entry_code(unsigned long addr);

/* Find the place in the kernel's text where the stack is as at @offset. */
unsigned long ftrace_tramp_template_at(const struct ftrace_tramp_layout *layout,
				       unsigned int offset);

#endif /* _LINUX_FTRACE_TEXT_H */
