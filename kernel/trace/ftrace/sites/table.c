// SPDX-License-Identifier: GPL-2.0
/*
 * Discovery by a table that the build has made.
 *
 * What lies in __mcount_loc has come a long way: from the compiler or a tool
 * that reads objects, through a linker that keeps one of several functions of a
 * name and drops no code, and through sorttable, which makes entries zero. So
 * the table is a list of places to look at. A call site is what lies in text,
 * holds what the compiler puts there, and is the entry of a function that has a
 * name, so that the table finds what a look at each symbol would find. What it
 * lacks is found on demand, as if there were none.
 *
 * The calls become nops before anybody can run them: those of the kernel before
 * there is a second CPU, those of a module while it is still put together. That
 * takes neither a plan nor a stop.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "names.h"
#include "set.h"
#include "table.h"

/* Sites that became records because of a table; ftrace_lock. */
unsigned long ftrace_nr_table;

#ifdef CONFIG_MODULES
static bool is_mod_text(const struct module *mod, unsigned long ip)
{
	return within_module_mem_type(ip, mod, MOD_TEXT) ||
	       within_module_mem_type(ip, mod, MOD_INIT_TEXT);
}
#else
static bool is_mod_text(const struct module *mod, unsigned long ip)
{
	return false;
}
#endif

static bool is_text(const struct module *mod, unsigned long ip)
{
	return mod ? is_mod_text(mod, ip) :
		     __is_kernel_text(ip) || is_kernel_inittext(ip);
}

static int cmp_sites(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a;
	unsigned long y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/**
 * ftrace_table_tidy - have a table hold places in text, in order, each once
 * @mod: the module it belongs to; NULL: the kernel
 * @table: the table, which is written to
 * @nr: how many entries it has
 *
 * Nothing is read at the places: what is no text need not be there at all. The
 * kernel's table comes sorted, and one of a module is short.
 *
 * Context: process, or early boot.
 * Return: how many entries are left.
 */
unsigned int ftrace_table_tidy(const struct module *mod, unsigned long *table,
			       unsigned int nr)
{
	unsigned int i, left = 0;

	for (i = 0; i < nr; i++) {
		unsigned long ip = ftrace_call_adjust(table[i]);

		if (is_text(mod, ip) && is_text(mod, ip + MCOUNT_INSN_SIZE - 1))
			table[left++] = ip;
	}
	return ftrace_sort_unique(table, left, sizeof(*table), cmp_sites);
}

/* The sites of a table that lie in @r, with @n only those that have a name. */
static int sites_in(struct ftrace_sites *s, const struct ftrace_region *r,
		    struct ftrace_names *n, const unsigned long *table,
		    unsigned int nr)
{
	unsigned int i;

	s->key = kvmalloc_array(nr, sizeof(*s->key), GFP_KERNEL);
	if (!s->key)
		return -ENOMEM;
	s->size = nr;
	for (i = 0; i < nr && table[i] < r->end; i++) {
		if (table[i] < r->start)
			continue;
		if (!n || ftrace_names_has(n, table[i]))
			s->key[s->nr++] = ftrace_text_key(table[i]);
	}
	return 0;
}

static int add_sites(struct ftrace_region *r, const struct ftrace_sites *s,
		     bool settled)
{
	int ret = ftrace_recs_add_nops(r, s->key, s->nr, settled);

	if (!ret)
		ftrace_nr_table += s->nr;
	return ret;
}

/**
 * ftrace_table_fill - give the call sites of a table their records
 * @r: the region; sites that lie elsewhere are passed over
 * @table: the sites, ascending, all of them nops, none with a record
 * @nr: how many
 * @settled: a nop is what they have to be; otherwise the records are
 *	FTRACE_REC_NEW, and ftrace_settle() has to follow
 *
 * Code without a name gets no record: it belongs to a function that the linker
 * has replaced by another one, and never runs.
 *
 * Context: process, ftrace_lock held. Takes module_mutex.
 * Return: 0 or -ENOMEM.
 */
int ftrace_table_fill(struct ftrace_region *r, const unsigned long *table,
		      unsigned int nr, bool settled)
{
	struct ftrace_sites s = {};
	struct ftrace_names n;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = ftrace_names_start(&n, r, r->start);
	if (ret)
		return ret;
	ret = sites_in(&s, r, &n, table, nr);
	ftrace_names_stop(&n);

	if (!ret)
		ret = add_sites(r, &s, settled);
	ftrace_sites_free(&s);
	return ret;
}

#ifdef CONFIG_MODULES
/**
 * ftrace_table_region - take what the table of a module has in a region of it
 * @r: the region; nothing happens if its table has been taken
 * @settled: as for ftrace_table_fill()
 *
 * The sites have been nops since the module was put together, so nothing but
 * the table can find them. If there is no memory for the records, whoever looks
 * for functions in the region next has to call this first.
 *
 * Context: process, ftrace_lock held. Takes module_mutex.
 * Return: 0 or -ENOMEM.
 */
int ftrace_table_region(struct ftrace_region *r, bool settled)
{
	const struct module *mod = r->mod;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (r->tabled || !mod || !mod->num_ftrace_callsites)
		return 0;
	ret = ftrace_table_fill(r, mod->ftrace_callsites,
				mod->num_ftrace_callsites, settled);
	r->tabled = !ret;
	return ret;
}

/**
 * ftrace_table_rest - take the tables for which there has been no memory
 *
 * Context: process, ftrace_lock held. Takes module_mutex.
 * Return: 0 or -ENOMEM.
 */
int ftrace_table_rest(void)
{
	struct ftrace_region *r;
	int ret;

	list_for_each_entry(r, &ftrace_regions, list) {
		ret = ftrace_table_region(r, false);
		if (ret)
			return ret;
	}
	return 0;
}
#endif

/*
 * A table that sorttable has processed holds no places outside of functions:
 * sorttable asks nm for the symbols, and kallsyms got its names from there,
 * too.
 */
static int __init fill_kernel(struct ftrace_region *r,
			      const unsigned long *table, unsigned int nr)
{
	struct ftrace_sites s = {};
	int ret;

	if (!IS_ENABLED(CONFIG_BUILDTIME_MCOUNT_SORT))
		return ftrace_table_fill(r, table, nr, true);

	ret = sites_in(&s, r, NULL, table, nr);
	if (!ret)
		ret = add_sites(r, &s, true);
	ftrace_sites_free(&s);
	return ret;
}

/**
 * ftrace_table_kernel - make the records of all that the kernel's table has
 *
 * Context: early boot, one CPU, interrupts off, ftrace_lock held; the kernel's
 * regions are there, and no ops is.
 * Return: 0 or -ENOMEM.
 */
int __init ftrace_table_kernel(void)
{
	unsigned int nr = __stop_mcount_loc - __start_mcount_loc, left;
	struct ftrace_region *r;
	int ret;

	if (IS_ENABLED(CONFIG_FTRACE_SORT_STARTUP_TEST) &&
	    !ftrace_ascends(__start_mcount_loc, nr, sizeof(long), cmp_sites,
			    false))
		pr_warn("the table of call sites is not sorted\n");

	left = ftrace_table_tidy(NULL, __start_mcount_loc, nr);
	left = ftrace_text_make_nops(__start_mcount_loc, left);
	list_for_each_entry(r, &ftrace_regions, list) {
		ret = fill_kernel(r, __start_mcount_loc, left);
		if (ret)
			return ret;
	}
	pr_info("%lu call sites in the table, and %lu entries that are not call sites\n",
		ftrace_nr_table, nr - ftrace_nr_table);
	/* As 6.12 says it. */
	pr_info("allocating %lu entries in %lu pages\n", ftrace_update_tot_cnt,
		ftrace_number_of_pages);
	pr_info("allocated %lu pages with %lu groups\n", ftrace_number_of_pages,
		ftrace_number_of_groups);
	return 0;
}
