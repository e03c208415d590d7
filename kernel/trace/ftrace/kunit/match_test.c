// SPDX-License-Identifier: GPL-2.0
/*
 * From patterns to call sites, and names.
 *
 * No KUNIT_ASSERT under the lock: it would not be unlocked.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../sites/names.h"
#include "../sites/set.h"
#include "victim.h"

/* ---- names and call sites ------------------------------------------------ */

#define ALL_VICTIMS	(BIT(FTRACE_NR_VICTIMS) - 1)

static unsigned long site_of(unsigned int victim)
{
	return ftrace_location((unsigned long)ftrace_victims[victim].func);
}

/* The sites that a pattern means, in modules that @mod means; not an error. */
static struct ftrace_hash *sites_of(struct kunit *test, const char *pattern,
				    const char *mod)
{
	char pattern_buf[64], mod_buf[64];
	struct ftrace_glob g, m;
	struct ftrace_hash *hash;

	strscpy(pattern_buf, pattern);
	ftrace_glob_parse(&g, pattern_buf);
	if (mod) {
		strscpy(mod_buf, mod);
		ftrace_glob_parse(&m, mod_buf);
	}
	hash = ftrace_match_sites(&g, mod ? &m : NULL);
	KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(hash), "'%s': %pe", pattern, hash);
	return IS_ERR(hash) ? NULL : hash;
}

/* What is in @hash: a bit for each victim, and nothing else. */
static void expect_victims(struct kunit *test, const struct ftrace_hash *hash,
			   unsigned long want, const char *why)
{
	unsigned int i;

	KUNIT_EXPECT_EQ_MSG(test, hash ? hash->count : 0, hweight_long(want),
			    "'%s'", why);
	for (i = 0; i < FTRACE_NR_VICTIMS; i++)
		KUNIT_EXPECT_EQ_MSG(test, ftrace_hash_has(hash, site_of(i)),
				    !!(want & BIT(i)), "'%s', victim %u", why, i);
	/* Whatever is found has a record. */
	for (i = 0; hash && i < hash->count; i++)
		KUNIT_EXPECT_NOT_NULL(test, ftrace_rec_find(ftrace_text_addr(hash->sites[i])));
}

static void expect_match(struct kunit *test, const char *pattern,
			 const char *mod, unsigned long want)
{
	struct ftrace_hash *hash = sites_of(test, pattern, mod);

	expect_victims(test, hash, want, pattern);
	ftrace_hash_free(hash);
}

static void match_name_test(struct kunit *test)
{
	guard(mutex)(&ftrace_lock);
	expect_match(test, "ftrace_kunit_victim0", NULL, BIT(0));
	expect_match(test, "ftrace_kunit_victim2", NULL, BIT(2));
	expect_match(test, "ftrace_kunit_victim", NULL, 0);
	expect_match(test, "ftrace_kunit_victim3", NULL, 0);
	expect_match(test, "FTRACE_KUNIT_VICTIM0", NULL, 0);
	expect_match(test, "no such function", NULL, 0);
	/* It has a name, and no call site. */
	expect_match(test, "ftrace_kunit_target", NULL, 0);

	expect_match(test, "ftrace_kunit_victim*", NULL, ALL_VICTIMS);
	expect_match(test, "*_kunit_victim1", NULL, BIT(1));
	expect_match(test, "*ce_kunit_vic*", NULL, ALL_VICTIMS);
	expect_match(test, "ftrace_k*m2", NULL, BIT(2));
	expect_match(test, "ftrace_kunit_victim?", NULL, ALL_VICTIMS);
	expect_match(test, "ftrace_kunit_victim[02]", NULL, BIT(0) | BIT(2));
	expect_match(test, "ftrace_kunit_v*x", NULL, 0);
}

/* Any name of a function means it, and means it once. */
static void match_alias_test(struct kunit *test)
{
	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, (unsigned long)ftrace_kunit_alias,
			(unsigned long)ftrace_victims[0].func);
	expect_match(test, "ftrace_kunit_alias", NULL, BIT(0));
	expect_match(test, "ftrace_kunit_al*", NULL, BIT(0));
	expect_match(test, "*trace_kunit_alias", NULL, BIT(0));
	expect_match(test, "*ace_kunit_alias*", NULL, BIT(0));
	expect_match(test, "ftrace_kunit_[va][il]*", NULL, ALL_VICTIMS);
}

static void match_module_test(struct kunit *test)
{
	guard(mutex)(&ftrace_lock);
	expect_match(test, "ftrace_kunit_victim*", "no_such_module", 0);
	expect_match(test, "ftrace_kunit_victim0", "no_such_module", 0);
	expect_match(test, "ftrace_kunit_victim*", "*", 0);
	/* All but the modules so named: the kernel is not among them. */
	expect_match(test, "ftrace_kunit_victim*", "!*", ALL_VICTIMS);
	expect_match(test, "ftrace_kunit_victim1", "!no_such_module", BIT(1));
}

/* The line of available_filter_functions that a victim is in, from 1. */
static unsigned int line_of(unsigned int victim)
{
	struct ftrace_region *r;
	unsigned int i, line = 0;

	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);

		for (i = 0; recs && i < recs->nr; i++) {
			if (recs->rec[i].state & FTRACE_REC_BAD)
				continue;
			line++;
			if (ftrace_rec_ip(&recs->rec[i]) == site_of(victim))
				return line;
		}
	}
	return 0;
}

static void match_number_test(struct kunit *test)
{
	unsigned long func = (unsigned long)ftrace_victims[1].func;
	char str[32];

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, ftrace_discover_all(), 0);
	snprintf(str, sizeof(str), "%u", line_of(1));
	expect_match(test, str, NULL, BIT(1));
	snprintf(str, sizeof(str), "%#x", line_of(2));
	expect_match(test, str, NULL, BIT(2));
	expect_match(test, "0", NULL, 0);
	expect_match(test, "4000000000", NULL, 0);
	expect_match(test, "12abc", NULL, 0);
	expect_match(test, "99999999999999999999999999", NULL, 0);

	/* The address of the function, of its call site, and of neither. */
	snprintf(str, sizeof(str), "%#lx", func);
	expect_match(test, str, NULL, BIT(1));
	snprintf(str, sizeof(str), "%#lx", site_of(1));
	expect_match(test, str, NULL, BIT(1));
	snprintf(str, sizeof(str), "%#lx", site_of(1) + 1);
	expect_match(test, str, NULL, 0);
	snprintf(str, sizeof(str), "%#lx", (unsigned long)ftrace_victims);
	expect_match(test, str, NULL, 0);
}

/* ---- a set under change -------------------------------------------------- */

static int apply(struct ftrace_hash **hash, const char *pattern)
{
	char str[64];

	strscpy(str, pattern);
	return ftrace_apply_pattern(hash, str);
}

static unsigned int nr_good(void)
{
	struct ftrace_region *r;
	unsigned int i, nr = 0;

	list_for_each_entry(r, &ftrace_regions, list) {
		struct ftrace_recs *recs = ftrace_region_recs(r);

		for (i = 0; recs && i < recs->nr; i++)
			nr += !(recs->rec[i].state & FTRACE_REC_BAD);
	}
	return nr;
}

static void apply_test(struct kunit *test)
{
	static const char * const wrong[] = {
		"", "!", "no_such_function", "!no_such_function", "no_such*",
		"0", "!0", "ftrace_kunit_target",
	};
	struct ftrace_hash *hash = NULL, *was;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, apply(&hash, "ftrace_kunit_victim1"), 0);
	expect_victims(test, hash, BIT(1), "one");
	KUNIT_EXPECT_EQ(test, apply(&hash, "ftrace_kunit_alias"), 0);
	expect_victims(test, hash, BIT(0) | BIT(1), "two");
	KUNIT_EXPECT_EQ(test, apply(&hash, "ftrace_kunit_victim0"), 0);
	expect_victims(test, hash, BIT(0) | BIT(1), "two again");

	/* What fails leaves the very same set. */
	was = hash;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_EQ_MSG(test, apply(&hash, wrong[i]), -EINVAL, "'%s'",
				    wrong[i]);
		KUNIT_EXPECT_PTR_EQ(test, hash, was);
	}
	expect_victims(test, hash, BIT(0) | BIT(1), "two still");

	KUNIT_EXPECT_EQ(test, apply(&hash, "!ftrace_kunit_victim0"), 0);
	expect_victims(test, hash, BIT(1), "without the first");
	/* It is a function, and not in the set. */
	KUNIT_EXPECT_EQ(test, apply(&hash, "!ftrace_kunit_victim2"), 0);
	expect_victims(test, hash, BIT(1), "without the last");
	KUNIT_EXPECT_EQ(test, apply(&hash, "ftrace_kunit_vic*"), 0);
	expect_victims(test, hash, ALL_VICTIMS, "all");
	KUNIT_EXPECT_EQ(test, apply(&hash, "!ftrace_kunit_[va]*"), 0);
	KUNIT_EXPECT_NULL(test, hash);

	KUNIT_EXPECT_EQ(test, apply(&hash, "*"), 0);
	KUNIT_EXPECT_EQ(test, hash ? hash->count : 0, nr_good());
	KUNIT_EXPECT_EQ(test, apply(&hash, "!*"), 0);
	KUNIT_EXPECT_NULL(test, hash);
	ftrace_hash_free(hash);
}

/* An address belongs to a site if it is that, or the first of its function. */
static void location_test(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < FTRACE_NR_VICTIMS; i++) {
		unsigned long first = (unsigned long)ftrace_victims[i].func;
		unsigned long site = site_of(i), ip;

		KUNIT_EXPECT_NE(test, site, 0);
		for (ip = first - 16; ip <= site + MCOUNT_INSN_SIZE; ip++)
			KUNIT_EXPECT_EQ_MSG(test, ftrace_location(ip),
					    ip == first || ip == site ? site : 0,
					    "%ld after the first", (long)(ip - first));
	}
}

static void lookup_test(struct kunit *test)
{
	unsigned long first = min(ftrace_kunit_addr_twin0(), ftrace_kunit_addr_twin1());
	unsigned long addrs[2] = {};
	const char *syms[2];

	syms[0] = "ftrace_kunit_alias";
	syms[1] = "ftrace_kunit_victim2";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, 2, addrs), 0);
	/* Of the functions, not of the call sites in them. */
	KUNIT_EXPECT_EQ(test, addrs[0], (unsigned long)ftrace_victims[0].func);
	KUNIT_EXPECT_EQ(test, addrs[1], (unsigned long)ftrace_victims[2].func);
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, 0, addrs), 0);
	/* The first of several, and as often as it is asked for. */
	syms[0] = "ftrace_kunit_twin";
	syms[1] = "ftrace_kunit_twin";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, 2, addrs), 0);
	KUNIT_EXPECT_EQ(test, addrs[0], first);
	KUNIT_EXPECT_EQ(test, addrs[1], addrs[0]);
	syms[0] = "ftrace_kunit_alias";
	syms[1] = "no_such_function";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, 2, addrs), -ESRCH);
	syms[0] = "ftrace_kunit_target";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, 1, addrs), -ESRCH);
}

/* So many that no single one is searched for. */
static void lookup_many_test(struct kunit *test)
{
	unsigned long first = min(ftrace_kunit_addr_twin0(), ftrace_kunit_addr_twin1());
	const size_t nr = 10000;
	unsigned long *addrs = kunit_kcalloc(test, nr, sizeof(*addrs), GFP_KERNEL);
	const char **syms = kunit_kcalloc(test, nr, sizeof(*syms), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_TRUE(test, addrs && syms);
	for (i = 0; i < nr; i++) {
		syms[i] = i < nr / 2 ? "ftrace_kunit_alias" : "ftrace_kunit_twin";
		addrs[i] = i;
	}
	syms[nr - 1] = "ftrace_kunit_victim2";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, nr, addrs), 0);
	for (i = 0; i < nr - 1; i++)
		KUNIT_EXPECT_EQ(test, addrs[i], i < nr / 2 ?
				(unsigned long)ftrace_victims[0].func : first);
	KUNIT_EXPECT_EQ(test, addrs[nr - 1], (unsigned long)ftrace_victims[2].func);
	syms[nr - 1] = "no_such_function";
	KUNIT_EXPECT_EQ(test, ftrace_lookup_symbols(syms, nr, addrs), -ESRCH);
}

/* ---- what waits for a module --------------------------------------------- */

static void expect_waiting(struct kunit *test, struct hlist_head *waiting,
			   unsigned int n, const char *func, const char *module)
{
	struct ftrace_waiter *w = ftrace_waiting_nth(waiting, n);

	KUNIT_EXPECT_NOT_NULL(test, w);
	if (!w)
		return;
	KUNIT_EXPECT_STREQ(test, w->func, func);
	KUNIT_EXPECT_STREQ(test, w->module, module);
}

static void waiting_test(struct kunit *test)
{
	struct ftrace_hash *hash = NULL;
	HLIST_HEAD(waiting);
	HLIST_HEAD(copy);

	guard(mutex)(&ftrace_lock);
	/* Nothing may wait: it is an error. */
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ftrace_apply_mod_pattern(&hash, NULL, "f", "no_such_a"));
	KUNIT_EXPECT_EQ(test, 0, ftrace_apply_mod_pattern(&hash, &waiting, "f",
							  "no_such_a"));
	KUNIT_EXPECT_EQ(test, 0, ftrace_apply_mod_pattern(&hash, &waiting, "g*",
							  "no_such_*"));
	/* Twice is once; the latest is the first. */
	KUNIT_EXPECT_EQ(test, 0, ftrace_apply_mod_pattern(&hash, &waiting, "f",
							  "no_such_a"));
	expect_waiting(test, &waiting, 0, "g*", "no_such_*");
	expect_waiting(test, &waiting, 1, "f", "no_such_a");
	KUNIT_EXPECT_NULL(test, ftrace_waiting_nth(&waiting, 2));
	KUNIT_EXPECT_NULL(test, hash);

	KUNIT_EXPECT_EQ(test, 0, ftrace_waiting_copy(&copy, &waiting));
	expect_waiting(test, &copy, 0, "g*", "no_such_*");
	expect_waiting(test, &copy, 1, "f", "no_such_a");
	ftrace_waiting_free(&copy);
	KUNIT_EXPECT_TRUE(test, hlist_empty(&copy));

	/* What is there does not wait, nor what is taken away and is not. */
	KUNIT_EXPECT_EQ(test, 0,
			ftrace_apply_mod_pattern(&hash, &waiting,
						 "ftrace_kunit_victim1",
						 "!no_such_a"));
	KUNIT_EXPECT_EQ(test, 1, hash ? hash->count : 0);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ftrace_apply_mod_pattern(&hash, &waiting, "!f",
						 "no_such_b"));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ftrace_apply_mod_pattern(&hash, &waiting, "5",
						 "no_such_a"));
	KUNIT_EXPECT_EQ(test, 0, ftrace_apply_mod_pattern(&hash, &waiting, "!f",
							  "no_such_a"));
	expect_waiting(test, &waiting, 0, "g*", "no_such_*");
	KUNIT_EXPECT_NULL(test, ftrace_waiting_nth(&waiting, 1));
	KUNIT_EXPECT_EQ(test, 1, hash ? hash->count : 0);

	ftrace_waiting_free(&waiting);
	ftrace_hash_free(hash);
}

#ifdef CONFIG_MODULES
static void expect_come(struct kunit *test, struct hlist_head *waiting,
			const char *module, unsigned long want)
{
	struct ftrace_hash *hash = NULL;

	KUNIT_EXPECT_EQ(test, hweight_long(want),
			ftrace_waiting_resolve(waiting, module, &hash));
	expect_victims(test, hash, want, module ?: "any module");
	ftrace_waiting_done(waiting);
	ftrace_hash_free(hash);
}

static void expect_taken(struct kunit *test, struct ftrace_hash **hash,
			 struct hlist_head *waiting, const char *func, const char *mod)
{
	KUNIT_EXPECT_EQ(test, 0, ftrace_apply_mod_pattern(hash, waiting, func, mod));
}

/*
 * Text that is known to be of a module is not yet of one that has come. Whoever
 * waits for that module is not looked at until then, whichever else comes. The
 * kernel's text stands in for a module's, so that there are functions to find.
 */
static void resolve_test(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	struct ftrace_hash *hash = NULL;
	struct ftrace_region *r;
	HLIST_HEAD(waiting);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	guard(mutex)(&ftrace_lock);
	r = ftrace_region_find(site_of(0));
	KUNIT_EXPECT_NOT_NULL(test, r);
	if (!r)
		return;
	expect_taken(test, &hash, &waiting, "ftrace_kunit_victim0", "no_such_a");
	expect_taken(test, &hash, &waiting, "ftrace_kunit_victim1", "no_such_a");
	expect_taken(test, &hash, &waiting, "ftrace_kunit_victim2", "no_such_[bc]");
	KUNIT_EXPECT_NULL(test, hash);
	/* They come without the functions. */
	expect_come(test, &waiting, "no_such_a", 0);
	expect_come(test, &waiting, "no_such_b", 0);
	expect_come(test, &waiting, NULL, 0);

	strscpy(mod->name, "no_such_a");
	r->mod = mod;
	expect_come(test, &waiting, "no_such_b", 0);
	expect_come(test, &waiting, "no_such", 0);
	KUNIT_EXPECT_EQ(test, hlist_count_nodes(&waiting), 3);
	expect_come(test, &waiting, "no_such_a", BIT(0) | BIT(1));

	strscpy(mod->name, "no_such_c");
	expect_come(test, &waiting, "no_such_a", 0);
	expect_waiting(test, &waiting, 0, "ftrace_kunit_victim2", "no_such_[bc]");
	expect_come(test, &waiting, "no_such_c", BIT(2));
	KUNIT_EXPECT_TRUE(test, hlist_empty(&waiting));
	r->mod = NULL;

	/* Any may have come since a file was opened. */
	expect_taken(test, &hash, &waiting, "ftrace_kunit_victim1", "no_such_a");
	strscpy(mod->name, "no_such_a");
	r->mod = mod;
	expect_come(test, &waiting, NULL, 0);
	/* What comes brings a region. */
	ftrace_regions_gen++;
	expect_come(test, &waiting, NULL, BIT(1));
	r->mod = NULL;

	ftrace_waiting_free(&waiting);
	ftrace_hash_free(hash);
}
#endif /* CONFIG_MODULES */

/* ---- the walk over names ------------------------------------------------- */

static void names_test(struct kunit *test)
{
	unsigned int i, nr = 0, victim = 0, alias = 0, none = 0;
	struct ftrace_names *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);
	struct ftrace_region *r;
	struct ftrace_recs *recs;
	const char *name;

	KUNIT_ASSERT_NOT_NULL(test, n);
	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, ftrace_discover_all(), 0);
	r = ftrace_region_find(site_of(0));
	KUNIT_EXPECT_NOT_NULL(test, r);
	if (!r || ftrace_names_start(n, r, r->start))
		return;
	recs = ftrace_region_recs(r);
	for (i = 0; recs && i < recs->nr; i++) {
		unsigned long ip = ftrace_rec_ip(&recs->rec[i]);
		unsigned int before = nr;

		while ((name = ftrace_names_next_alias(n, ip))) {
			nr++;
			if (ip != site_of(0))
				continue;
			victim += !strcmp(name, "ftrace_kunit_victim0");
			alias += !strcmp(name, "ftrace_kunit_alias");
		}
		none += nr == before;
		/* There is no other, however often one asks. */
		KUNIT_EXPECT_NULL(test, ftrace_names_next_alias(n, ip));
	}
	ftrace_names_stop(n);
	KUNIT_EXPECT_EQ(test, victim, 1);
	KUNIT_EXPECT_EQ(test, alias, 1);
	/* A function of the kernel has a name. */
	KUNIT_EXPECT_EQ(test, none, 0);
	KUNIT_EXPECT_GT(test, nr, ftrace_region_nr(r));
}

static struct kunit_case match_cases[] = {
	KUNIT_CASE(match_name_test),
	KUNIT_CASE(match_alias_test),
	KUNIT_CASE(match_module_test),
	KUNIT_CASE(match_number_test),
	KUNIT_CASE(apply_test),
	KUNIT_CASE(waiting_test),
#ifdef CONFIG_MODULES
	KUNIT_CASE(resolve_test),
#endif
	KUNIT_CASE(location_test),
	KUNIT_CASE(lookup_test),
	KUNIT_CASE(lookup_many_test),
	KUNIT_CASE(names_test),
	{}
};

static struct kunit_suite match_suite = {
	.name		= "ftrace-match",
	.test_cases	= match_cases,
};

kunit_test_suite(match_suite);
