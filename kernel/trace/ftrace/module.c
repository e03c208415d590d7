// SPDX-License-Identifier: GPL-2.0
/*
 * Text that comes and goes with modules.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/module.h>

#include "forget.h"
#include "ops/ops.h"
#include "sites/names.h"
#include "sites/table.h"
#include "tracers/tracers.h"

static bool all_functions_wanted(void)
{
	struct ftrace_filter f;
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops) {
		ftrace_ops_filter(ops, &f);
		if (ftrace_hash_empty(f.filter))
			return true;
	}
	return false;
}

/* ---- the table of a module ------------------------------------------------ */

#ifdef CONFIG_FTRACE_MCOUNT_RECORD
/*
 * Make its call sites nops. What is left of the table is what can be trusted
 * from then on.
 */
static void use_table(struct module *mod)
{
	unsigned int nr;

	if (!mod->ftrace_callsites)
		return;
	nr = ftrace_table_tidy(mod, mod->ftrace_callsites,
			       mod->num_ftrace_callsites);
	mod->num_ftrace_callsites =
		ftrace_text_make_nops(mod->ftrace_callsites, nr);
}

/* Has it come without the table that modules should have? */
static bool lacks_table(const struct module *mod)
{
	return !mod->ftrace_callsites;
}
#else
/* If it brings a table nevertheless, nobody looks at it. */
static void use_table(struct module *mod) { }
static bool lacks_table(const struct module *mod) { return false; }
#endif

/* ---- the text of a module ------------------------------------------------- */

/* By its table, and if that is not enough by a look at each of its functions. */
static void add_mod_text(struct module *mod, enum mod_mem_type type,
			 bool traced, bool discover)
{
	const struct module_memory *mem = &mod->mem[type];
	unsigned long start = (unsigned long)mem->base;
	struct ftrace_region *r;

	if (!mem->size)
		return;
	r = ftrace_region_add(start, start + mem->size, mod);
	if (!r) {
		pr_warn("no memory: functions of module %s cannot be traced\n",
			mod->name);
		return;
	}
	/* What is missing is found when somebody asks for it. */
	if (ftrace_table_region(r, !traced) ||
	    (discover && ftrace_discover_region(r)))
		pr_warn("no memory for the functions of module %s\n",
			mod->name);
}

/* ---- what waited for it --------------------------------------------------- */

/* For a trace array and all its tracers. A filter they share is done by the first call. */
static void resolve_all(struct trace_array *tr, const char *module)
{
	struct ftrace_tracer *t = NULL;
	int err = ftrace_filter_resolve(tr->ops, module);

	while ((t = ftrace_tracer_next_any(tr, t)))
		err = ftrace_filter_resolve(t->ops, module) ?: err;
	if (err)
		pr_warn("a filter for module %s cannot take effect: %d\n",
			module, err);
}

static void resolve_waiting(const char *module)
{
	struct trace_array *tr;

	lockdep_assert_held(&trace_types_lock);
	guard(mutex)(&ftrace_lock);
	/* In many instances words may wait for the same module. */
	ftrace_modnames_begin();
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->ops && tr->ops->flags & FTRACE_OPS_FL_INITIALIZED)
			resolve_all(tr, module);
	}
	ftrace_modnames_end();
}

/**
 * ftrace_module_init - a module is being loaded
 * @mod: the module
 *
 * Nothing of it can run, and its text is still being written: if there is a
 * table of its call sites, this is the time to make them nops.
 *
 * Context: process.
 */
void ftrace_module_init(struct module *mod)
{
	if (!ftrace_disabled)
		use_table(mod);
}

/**
 * ftrace_module_enable - the text of a module is in place
 * @mod: the module; nothing of it has run yet
 *
 * From now on its functions are found as they run. If somebody traces all
 * functions that would be one call too late: then they are found at once, as
 * are those that a filter waits for. Where modules should have a table, its
 * functions are known from now on, and found at once if it has none.
 *
 * Context: process.
 */
void ftrace_module_enable(struct module *mod)
{
	bool traced, discover;

	if (ftrace_disabled)
		return;
	mutex_lock(&trace_types_lock);
	mutex_lock(&ftrace_lock);
	traced = !list_empty(&ftrace_ops_list);
	discover = all_functions_wanted() || lacks_table(mod);
	add_mod_text(mod, MOD_TEXT, traced, discover);
	add_mod_text(mod, MOD_INIT_TEXT, traced, discover);
	if (discover || IS_ENABLED(CONFIG_FTRACE_MCOUNT_RECORD)) {
		/* Each failure sets one bad site aside. The others are still to be settled. */
		while (ftrace_settle() == -EINVAL)
			;
	}
	mutex_unlock(&ftrace_lock);
	resolve_waiting(mod->name);
	mutex_unlock(&trace_types_lock);
}

static void remove_mod_text(struct module *mod, enum mod_mem_type type)
{
	const struct module_memory *mem = &mod->mem[type];

	if (mem->size)
		ftrace_forget((unsigned long)mem->base,
			      (unsigned long)mem->base + mem->size);
}

/**
 * ftrace_release_mod - a module is going away, or its load has failed
 * @mod: the module; nothing of it runs any more
 *
 * Context: process.
 */
void ftrace_release_mod(struct module *mod)
{
	ftrace_forget_begin();
	remove_mod_text(mod, MOD_TEXT);
	remove_mod_text(mod, MOD_INIT_TEXT);
	scoped_guard(mutex, &ftrace_lock)
		ftrace_gone_drop(mod);
	ftrace_forget_end();
}

/**
 * ftrace_free_mem - init text of a module is about to be freed
 * @mod: the module
 * @start: first byte
 * @end: first byte after it
 *
 * Context: process.
 */
void ftrace_free_mem(struct module *mod, void *start, void *end)
{
	struct ftrace_region *r;

	if (start == end)
		return;
	ftrace_forget_begin();
	scoped_guard(mutex, &ftrace_lock) {
		r = ftrace_region_find((unsigned long)start);
		if (r)
			ftrace_gone_keep(r);
	}
	ftrace_forget((unsigned long)start, (unsigned long)end);
	ftrace_forget_end();
}
