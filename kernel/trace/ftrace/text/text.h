/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text: a plan of changes, and the code that call sites call.
 */
#ifndef _KERNEL_TRACE_FTRACE_TEXT_H
#define _KERNEL_TRACE_FTRACE_TEXT_H

#include <linux/ftrace_text.h>

#include "../core.h"

/* The last one is for stops of half an hour and more. */
#define FTRACE_STOP_CLASSES	33

/**
 * struct ftrace_stop_stats - stops of the machine, written under text_mutex
 * @nr: how many there were since boot
 * @longest_ns: how long the longest one lasted, in nanoseconds
 * @all_ns: how long they lasted together, in nanoseconds
 * @below: how many lasted less than 2^i microseconds, but not less than half of that;
 *	the last one counts all that were longer, too; none counts those early in the
 *	boot that the clock did not see
 */
struct ftrace_stop_stats {
	unsigned long	nr;
	u64		longest_ns;
	u64		all_ns;
	unsigned long	below[FTRACE_STOP_CLASSES];
};

extern struct ftrace_stop_stats ftrace_stops;

/*
 * Slices smaller than this are not worth a stop, nor do they tell what one takes. It is
 * low enough for a slow machine to begin with.
 */
#define FTRACE_SLICE_MIN	1024

/**
 * struct ftrace_slices - what is known of how long stops take
 * @fixed_ns: how long one takes as a rule whatever it writes, in nanoseconds
 * @mean_ns: how long that is in the mean
 * @learned: how many stops have been learned from, FTRACE_SLICES_NEW at most
 * @last_ns: how long the fixed part of the last one of these took
 * @sites: how many sites the last one changed that was large enough to tell; 0: none
 * @sites_ns: how long these took
 * @stop_ns: how long that stop took
 * @pokes: how many plans have been poked because stops are dear, since one was
 */
struct ftrace_slices {
	u64		fixed_ns;
	u64		mean_ns;
	u64		last_ns;
	u64		sites_ns;
	u64		stop_ns;
	unsigned int	sites;
	unsigned int	pokes;
	unsigned int	learned;
};

/* The first stops of all, of which so little is known that two are believed. */
#define FTRACE_SLICES_NEW	8

/* After this many of them a stop is tried again. */
#define FTRACE_POKES_MAX	256

void ftrace_slices_learn(struct ftrace_slices *s, unsigned int sites,
			 struct ftrace_stop_time time, u64 bound_ns);
unsigned int ftrace_slices_next(const struct ftrace_slices *s, u64 bound_ns);
bool ftrace_slices_avoid(const struct ftrace_slices *s, u64 bound_ns);

int ftrace_plan_reserve(struct ftrace_plan *plan, unsigned int nr);

/**
 * ftrace_plan_add - add a change to a plan
 * @plan: the plan
 * @rec: the record of the site; its address is above all that are in @plan
 * @from: what the site has to call now, 0 for a nop
 * @to: what it shall call, 0 for a nop
 * @state: what @rec->state is to become
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
static __always_inline int
ftrace_plan_add(struct ftrace_plan *plan, struct dyn_ftrace *rec,
		u32 from, u32 to, u32 state)
{
	struct ftrace_plan_entry *e;

	if (unlikely(plan->nr == plan->size) &&
	    ftrace_plan_reserve(plan, max(32U, 2 * plan->size)))
		return -ENOMEM;

	e = &plan->entries[plan->nr++];
	e->rec = rec;
	e->ip = rec->key;
	e->from = from;
	e->to = to;
	e->state = state;
	plan->nr_text += from != to;
	return 0;
}

/* plan.c */
int ftrace_plan_write_one(const struct ftrace_plan_entry *e);
int ftrace_plan_write(struct ftrace_plan *plan, unsigned int *bad);
void ftrace_plan_free(struct ftrace_plan *plan);

/* packs.c: no trampoline is longer than this. */
#define FTRACE_PACK_SIZE	SZ_16K

extern struct mutex ftrace_tramp_mutex;

unsigned long ftrace_packs_alloc(size_t size);
void ftrace_packs_free(unsigned long ip, size_t size);
bool ftrace_packs_may_have(unsigned long ip);
bool ftrace_packs_refused(void);
#if IS_ENABLED(CONFIG_KUNIT)
extern size_t ftrace_packs_max_size;
#endif

/* Is a trampoline with so many calls not too long? */
static inline bool ftrace_tramp_fits(unsigned int nr)
{
	return ftrace_tramp_max_size(nr) <= FTRACE_PACK_SIZE;
}

/* trampoline.c */
struct ftrace_tramp;

struct ftrace_tramp *ftrace_tramp_make(const struct ftrace_tramp_spec *spec);
bool ftrace_tramp_has_room(void);
unsigned long ftrace_tramp_ip(const struct ftrace_tramp *t);
void ftrace_tramp_poke_call(struct ftrace_tramp *t, unsigned int i,
			    unsigned long func);
void ftrace_tramp_poke_jump(struct ftrace_tramp *t, unsigned long jump);
void ftrace_tramp_keep(struct ftrace_tramp *t);
void ftrace_tramp_free(struct ftrace_tramp *t);
void ftrace_sites_poked(void);
int ftrace_tramp_lookup(unsigned long addr, unsigned long *size,
			unsigned long *off, char **modname, char *sym);
bool ftrace_tramp_nth(unsigned int n, unsigned long *value, char *name,
		      char *module_name);

#endif /* _KERNEL_TRACE_FTRACE_TEXT_H */
