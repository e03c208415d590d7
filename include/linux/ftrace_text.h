/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The line between the ftrace core and an architecture's text writer.
 *
 * The core decides what every call site shall call and hands that over as a
 * plan. The architecture knows what such a site looks like in memory, and how
 * to change it while the machine runs.
 */
#ifndef _LINUX_FTRACE_TEXT_H
#define _LINUX_FTRACE_TEXT_H

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
 * @to: what it shall call (a key, 0: a nop); may be the same as @from
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
 * @nr_stops: how many stops of the machine it took to write them
 */
struct ftrace_plan {
	struct ftrace_plan_entry	*entries;
	unsigned int			nr;
	unsigned int			nr_text;
	unsigned int			size;
	unsigned int			nr_stops;
};

/* What the writer asks of an architecture. All of it: process context. */
int ftrace_text_prepare(const struct ftrace_plan *plan);
void ftrace_text_finish(void);
bool ftrace_text_early(void);
bool ftrace_text_matches(u32 ip, u32 target);
/* The first entry whose site is not what @from says; plan->nr: there is none. */
unsigned int ftrace_text_check(const struct ftrace_plan *plan);
/* One stop; returns how long the machine stood, in nanoseconds. */
u64 ftrace_text_write(const struct ftrace_plan *plan, unsigned int first,
		      unsigned int nr);
void ftrace_text_write_early(const struct ftrace_plan *plan);
int ftrace_text_write_one(u32 ip, u32 from, u32 to);
void ftrace_text_expect(u32 ip, u32 target, u8 *insn);

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
 * @follow: obey a change of where the traced function goes on
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

size_t ftrace_tramp_max_size(unsigned int nr);
void ftrace_tramp_emit(const struct ftrace_tramp_spec *spec, u8 *buf,
		       unsigned long ip, struct ftrace_tramp_layout *layout);
unsigned long ftrace_tramp_template(const struct ftrace_tramp_layout *layout,
				    unsigned int offset);
void ftrace_tramp_set_call(unsigned long ip,
			   const struct ftrace_tramp_layout *layout,
			   unsigned int i, unsigned long func);
void ftrace_tramp_set_jump(unsigned long ip,
			   const struct ftrace_tramp_layout *layout,
			   unsigned long jump);

#ifdef CONFIG_FTRACE_RECORDER
/* From then on __fentry__ takes notes. */
void ftrace_text_arm_recorder(void);
#else
static inline void ftrace_text_arm_recorder(void) { }
#endif

/* For sites that nobody can run yet: no plan, no stop. */
unsigned int ftrace_text_make_nops(unsigned long *sites, unsigned int nr);

/* Decoding of a function's entry: the call site at @addr, or 0. */
unsigned long ftrace_text_entry_site(unsigned long addr);
bool ftrace_text_is_unpatched(unsigned long ip);

#endif /* _LINUX_FTRACE_TEXT_H */
