// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of call sites: made ones, and the kernel's own against a look at each
 * of its functions.
 */
#include <kunit/test.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "../sites/names.h"
#include "../sites/table.h"
#include "area.h"

static void tidy_test(struct kunit *test)
{
	unsigned long start = (unsigned long)_stext;
	unsigned long end = (unsigned long)_etext;
	unsigned long init = (unsigned long)_sinittext;
	unsigned long init_end = (unsigned long)_einittext;
	/* The last place is the last where a whole site has room. */
	const unsigned long good[] = {
		start, start + 5, start + 64, end - 5, init, init_end - 5,
	};
	unsigned long table[] = {
		/* sorttable makes it 0; once relocated, it is the offset. */
		0, 0x1a000000, init, start + 64, end - 5, start + 5, start,
		start, init_end - 5, start + 64, start - 1, end - 4, end - 1,
		end, init - 1, init_end - 4, init_end, start + 5, ULONG_MAX,
	};
	unsigned int nr;

	/* Nobody looks at what is there: init text may be gone. */
	nr = ftrace_table_tidy(NULL, table, ARRAY_SIZE(table));
	KUNIT_ASSERT_EQ(test, nr, ARRAY_SIZE(good));
	KUNIT_EXPECT_MEMEQ(test, table, good, sizeof(good));

	/* Nothing is left to be done; and nothing at all. */
	KUNIT_EXPECT_EQ(test, ftrace_table_tidy(NULL, table, nr), nr);
	KUNIT_EXPECT_MEMEQ(test, table, good, sizeof(good));
	KUNIT_EXPECT_EQ(test, ftrace_table_tidy(NULL, table, 0), 0);
}

static void put_call(unsigned long ip, unsigned long target)
{
	s32 offset = target - (ip + MCOUNT_INSN_SIZE);

	*(u8 *)ip = CALL_INSN_OPCODE;
	memcpy((u8 *)ip + 1, &offset, sizeof(offset));
}

#define STRIDE	16

static void nops_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long last = a + PAGE_SIZE - MCOUNT_INSN_SIZE;
	unsigned long table[] = {
		a, a + STRIDE, a + 2 * STRIDE, a + 3 * STRIDE, a + 4 * STRIDE,
		last, last + 2, a + PAGE_SIZE,
	};
	static const u8 rest[STRIDE - MCOUNT_INSN_SIZE];
	unsigned int i, nr;
	u8 other[MCOUNT_INSN_SIZE];

	put_call(a, MCOUNT_ADDR);
	put_call(a + STRIDE, (unsigned long)ftrace_caller);
	memcpy(other, (u8 *)a + STRIDE, sizeof(other));
	put_call(a + 2 * STRIDE, MCOUNT_ADDR);
	*(u8 *)(a + 2 * STRIDE) = JMP32_INSN_OPCODE;
	put_call(a + 4 * STRIDE, MCOUNT_ADDR);
	put_call(last, MCOUNT_ADDR);

	nr = ftrace_text_make_nops(table, ARRAY_SIZE(table));
	KUNIT_ASSERT_EQ(test, nr, 3);
	KUNIT_EXPECT_EQ(test, table[0], a);
	KUNIT_EXPECT_EQ(test, table[1], a + 4 * STRIDE);
	KUNIT_EXPECT_EQ(test, table[2], last);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_TRUE(test, ftrace_text_matches(ftrace_text_key(table[i]), 0));

	/* Five bytes, and what is no call site is left alone. */
	KUNIT_EXPECT_MEMEQ(test, (u8 *)a + MCOUNT_INSN_SIZE, rest, sizeof(rest));
	KUNIT_EXPECT_MEMEQ(test, (u8 *)a + STRIDE, other, sizeof(other));
	KUNIT_EXPECT_EQ(test, *(u8 *)(a + 2 * STRIDE), JMP32_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, *(u8 *)(a + 3 * STRIDE), 0);
}

/* A nop is a call site only where the build makes call sites nops. */
static void nop_as_built_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long table[] = { a };

	memcpy((u8 *)a, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE);
	if (__is_defined(CC_USING_NOP_MCOUNT)) {
		KUNIT_EXPECT_EQ(test, ftrace_text_make_nops(table, 1), 1);
		KUNIT_EXPECT_EQ(test, table[0], a);
		KUNIT_EXPECT_TRUE(test, ftrace_text_matches(ftrace_text_key(a), 0));
	} else {
		KUNIT_EXPECT_EQ(test, ftrace_text_make_nops(table, 1), 0);
		KUNIT_EXPECT_MEMEQ(test, (u8 *)a, x86_nops[MCOUNT_INSN_SIZE],
				   MCOUNT_INSN_SIZE);
	}
}

/* As it is with a function that gave way to another one of its name. */
static void nameless_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long table[] = { a, a + STRIDE, a + 3 * STRIDE };
	unsigned long before;
	struct ftrace_region *r;

	guard(mutex)(&ftrace_lock);
	r = ftrace_region_add(a, a + PAGE_SIZE, NULL);
	if (!r) {
		KUNIT_FAIL(test, "no memory");
		return;
	}
	before = ftrace_nr_table;
	KUNIT_EXPECT_EQ(test, ftrace_table_fill(r, table, ARRAY_SIZE(table), true),
			0);
	KUNIT_EXPECT_EQ(test, ftrace_region_nr(r), 0);
	KUNIT_EXPECT_EQ(test, ftrace_nr_table, before);
	ftrace_region_remove(a, a + PAGE_SIZE);
}

static void expect_names(struct kunit *test, struct ftrace_region *r)
{
	struct ftrace_recs *recs = ftrace_region_recs(r);
	struct ftrace_names n;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ftrace_names_start(&n, r, r->start), 0);
	for (i = 0; recs && i < recs->nr; i++) {
		unsigned long ip = ftrace_rec_ip(&recs->rec[i]);

		KUNIT_EXPECT_TRUE_MSG(test, ftrace_names_has(&n, ip),
				      "%pS is in no function", (void *)ip);
		KUNIT_EXPECT_FALSE_MSG(test, ftrace_text_is_unpatched(ip),
				       "%pS calls __fentry__", (void *)ip);
		if (recs->rec[i].state & FTRACE_REC_NEW)
			KUNIT_FAIL(test, "%pS was not in the table", (void *)ip);
	}
	ftrace_names_stop(&n);
}

/*
 * A scan of each function finds only what the table found. It skips functions that
 * have a record, and call sites that are nops: it adds what the table lacks.
 * expect_names() has seen that there is nothing else.
 */
static void kernel_test(struct kunit *test)
{
	unsigned long before;
	struct ftrace_region *r;
	unsigned int nr;

	guard(mutex)(&ftrace_lock);
	before = ftrace_nr_discovered;
	list_for_each_entry(r, &ftrace_regions, list) {
		if (r->mod)
			continue;
		nr = ftrace_region_nr(r);
		KUNIT_EXPECT_GT(test, nr, 0);
		if (r->complete) {
			kunit_mark_skipped(test, "somebody has asked for all functions");
			return;
		}
		KUNIT_EXPECT_EQ(test, ftrace_discover_region(r), 0);
		KUNIT_EXPECT_EQ(test, ftrace_region_nr(r), nr);
		KUNIT_EXPECT_EQ(test, r->nr_new, 0);
		expect_names(test, r);
	}
	KUNIT_EXPECT_EQ(test, ftrace_nr_discovered, before);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(kernel_test),
	KUNIT_CASE(tidy_test),
	KUNIT_CASE(nops_test),
	KUNIT_CASE(nop_as_built_test),
	KUNIT_CASE(nameless_test),
	{}
};

static struct kunit_suite table_suite = {
	.name		= "ftrace-table",
	.test_cases	= table_cases,
};

kunit_test_suite(table_suite);
