// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns: what they are taken for, and which names they match.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "../sites/names.h"

static void parse_test(struct kunit *test)
{
	static const struct {
		const char	*str;
		enum regex_type	type;
		const char	*search;
		int		not;
	} cases[] = {
		{ "schedule",	MATCH_FULL,		"schedule",	0 },
		{ "!schedule",	MATCH_FULL,		"schedule",	1 },
		{ "sched*",	MATCH_FRONT_ONLY,	"sched",	0 },
		{ "!sched*",	MATCH_FRONT_ONLY,	"sched",	1 },
		{ "*lock",	MATCH_END_ONLY,		"lock",		0 },
		{ "*lock*",	MATCH_MIDDLE_ONLY,	"lock",		0 },
		{ "!*lock*",	MATCH_MIDDLE_ONLY,	"lock",		1 },
		{ "a*b",	MATCH_GLOB,		"a*b",		0 },
		{ "*a*b*",	MATCH_GLOB,		"*a*b*",	0 },
		{ "a?b",	MATCH_GLOB,		"a?b",		0 },
		{ "a[bc]",	MATCH_GLOB,		"a[bc]",	0 },
		{ "*",		MATCH_END_ONLY,		"",		0 },
		{ "!*",		MATCH_END_ONLY,		"",		1 },
		{ "**",		MATCH_MIDDLE_ONLY,	"",		0 },
		{ "",		MATCH_FULL,		"",		0 },
		{ "!",		MATCH_FULL,		"",		1 },
		{ "!!a",	MATCH_FULL,		"!a",		1 },
		{ "12",		MATCH_INDEX,		"12",		0 },
		{ "!0xffff",	MATCH_INDEX,		"0xffff",	1 },
	};
	struct ftrace_glob g;
	char str[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strscpy(str, cases[i].str);
		ftrace_glob_parse(&g, str);
		KUNIT_EXPECT_EQ_MSG(test, g.type, cases[i].type, "'%s'",
				    cases[i].str);
		KUNIT_EXPECT_STREQ(test, g.search, cases[i].search);
		KUNIT_EXPECT_EQ_MSG(test, g.not, cases[i].not, "'%s'",
				    cases[i].str);
		KUNIT_EXPECT_EQ_MSG(test, g.len, strlen(cases[i].search), "'%s'",
				    cases[i].str);
	}
}

static void glob_test(struct kunit *test)
{
	static const struct {
		const char	*pattern;
		const char	*name;
		bool		match;
	} cases[] = {
		{ "lock",	"lock",		true },
		{ "lock",	"lock_",	false },
		{ "lock",	"_lock",	false },
		{ "lock",	"loc",		false },
		{ "lock",	"Lock",		false },
		{ "lock",	"",		false },
		{ "lock*",	"lock",		true },
		{ "lock*",	"lock_irq",	true },
		{ "lock*",	"loc",		false },
		{ "lock*",	"a_lock",	false },
		{ "*lock",	"lock",		true },
		{ "*lock",	"a_lock",	true },
		{ "*lock",	"lock_irq",	false },
		/* Not even if an l lies before it in memory. */
		{ "*lock",	&"lock"[1],	false },
		{ "*lock",	"locklock",	true },
		{ "*lock",	"",		false },
		{ "*lock*",	"lock",		true },
		{ "*lock*",	"a_lock_irq",	true },
		{ "*lock*",	"a_loc_k",	false },
		{ "a*k",	"ak",		true },
		{ "a*k",	"a_lock",	true },
		{ "a*k",	"a_lock_",	false },
		{ "a*k",	"ba_lock",	false },
		{ "*a*k",	"ba_lock",	true },
		{ "*a*k*",	"ba_lock_",	true },
		{ "*a*k*",	"kb_a",		false },
		{ "a?b",	"axb",		true },
		{ "a?b",	"ab",		false },
		{ "a[xy]b",	"ayb",		true },
		{ "a[xy]b",	"azb",		false },
		{ "*",		"anything",	true },
		{ "*",		"",		true },
		{ "**",		"anything",	true },
		{ "",		"anything",	false },
		{ "",		"",		true },
		/* A number is a position in the list, never part of a name. */
		{ "12",		"12",		false },
		/* The caller turns it round, not the match. */
		{ "!lock",	"lock",		true },
		{ "!lock",	"!lock",	false },
	};
	struct ftrace_glob g;
	char str[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strscpy(str, cases[i].pattern);
		ftrace_glob_parse(&g, str);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].match,
				    ftrace_glob_match(&g, cases[i].name,
						      strlen(cases[i].name)),
				    "'%s' and '%s'", cases[i].pattern,
				    cases[i].name);
	}
}

static struct kunit_case glob_cases[] = {
	KUNIT_CASE(parse_test),
	KUNIT_CASE(glob_test),
	{}
};

static struct kunit_suite glob_suite = {
	.name		= "ftrace-glob",
	.test_cases	= glob_cases,
};

kunit_test_suite(glob_suite);
