// SPDX-License-Identifier: GPL-2.0
/*
 * What a call site looks like. The bytes are spelt out here, and lie where
 * nothing executes them.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/unaligned.h>
#include <asm/ibt.h>
#include <asm/sections.h>

#include "area.h"

static void put(unsigned long ip, const u8 *bytes, size_t nr)
{
	memcpy((void *)ip, bytes, nr);
}

#define PUT(ip, ...) do {						\
	static const u8 bytes_[] = { __VA_ARGS__ };			\
									\
	put(ip, bytes_, sizeof(bytes_));				\
} while (0)

static bool is_nop(const u8 *insn)
{
	static const u8 nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const u8 jmp[] = { 0xeb, 0x03 };

	return !memcmp(insn, nop5, sizeof(nop5)) ||
	       !memcmp(insn, jmp, sizeof(jmp));
}

static void key_test(struct kunit *test)
{
	static const unsigned long addrs[] = {
		0xffffffff80000000UL, 0xffffffff81234567UL,
		0xffffffffc0000000UL, 0xffffffffffffffffUL,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		KUNIT_EXPECT_EQ(test, addrs[i],
				ftrace_text_addr(ftrace_text_key(addrs[i])));
		if (i)
			KUNIT_EXPECT_GT(test, ftrace_text_key(addrs[i]),
					ftrace_text_key(addrs[i - 1]));
	}
	/* No text is where the key would be the nop's. */
	KUNIT_EXPECT_NE(test, ftrace_text_key((unsigned long)_text), 0);
}

static void expect_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	const unsigned long targets[] = {
		(unsigned long)_text, (unsigned long)__fentry__,
		a + 0x10000, a, a + 5,
	};
	u8 insn[MCOUNT_INSN_SIZE], want[MCOUNT_INSN_SIZE];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		ftrace_test_put_call(a, targets[i]);
		memcpy(want, (void *)a, sizeof(want));
		memset(insn, 0xcc, sizeof(insn));
		ftrace_text_expect(ftrace_text_key(a), ftrace_text_key(targets[i]),
				   insn);
		KUNIT_EXPECT_MEMEQ(test, insn, want, sizeof(want));
	}
	ftrace_text_expect(ftrace_text_key(a), 0, insn);
	KUNIT_EXPECT_TRUE(test, is_nop(insn));
}

static void matches_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long target = (unsigned long)ftrace_caller;
	u32 ip = ftrace_text_key(a + 3), to = ftrace_text_key(target);
	u8 *p = (u8 *)a + 3;
	unsigned int i;

	ftrace_test_put_call(a + 3, target);
	KUNIT_EXPECT_TRUE(test, ftrace_text_matches(ip, to));
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip, to + 1));
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip, 0));
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip + 1, to));
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip - 1, to));

	/* All five bytes count, for the call and for the nop. */
	for (i = 0; i < MCOUNT_INSN_SIZE; i++) {
		p[i] ^= 0x10;
		KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip, to));
		p[i] ^= 0x10;
	}
	KUNIT_EXPECT_TRUE(test, ftrace_text_matches(ip, to));

	ftrace_text_expect(ip, 0, p);
	KUNIT_EXPECT_TRUE(test, ftrace_text_matches(ip, 0));
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip, to));
	for (i = 0; i < MCOUNT_INSN_SIZE; i++) {
		p[i] ^= 0x10;
		KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip, 0));
		p[i] ^= 0x10;
	}

	/* No page, and a page for a part of it only. */
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ftrace_text_key(a + PAGE_SIZE),
						     0));
	ip = ftrace_text_key(a + PAGE_SIZE - 2);
	memcpy((void *)(a + PAGE_SIZE - 2), p, 2);
	KUNIT_EXPECT_FALSE(test, ftrace_text_matches(ip, 0));
}

static void check_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	u32 to = ftrace_text_key((unsigned long)ftrace_caller);
	struct ftrace_plan_entry entries[4] = {};
	struct ftrace_plan plan = { .entries = entries, .nr = 4, .size = 4 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		entries[i].ip = ftrace_text_key(a + 16 * i);
		entries[i].from = i % 2 ? to : 0;
		ftrace_text_expect(entries[i].ip, entries[i].from,
				   (u8 *)a + 16 * i);
	}
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), 4);
	/* The first that is bad is the one that counts. */
	for (i = 4; i-- > 0;) {
		((u8 *)a)[16 * i + 4] ^= 1;
		KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), i);
	}
	/* @to is not looked at. */
	for (i = 0; i < 4; i++)
		((u8 *)a)[16 * i + 4] ^= 1;
	entries[2].to = 1234;
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), 4);
	entries[3].ip = ftrace_text_key(a + PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), 3);
	plan.nr = 0;
	KUNIT_EXPECT_EQ(test, ftrace_text_check(&plan), 0);
}

static void unpatched_test(struct kunit *test)
{
	unsigned long beside = MCOUNT_ADDR;
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long last = a + PAGE_SIZE - MCOUNT_INSN_SIZE;

	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(a));
	ftrace_test_put_call(a, MCOUNT_ADDR);
	KUNIT_EXPECT_TRUE(test, ftrace_text_is_unpatched(a));
	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(a + 1));
	/* Not a constant: objtool would take it for a pointer into code. */
	OPTIMIZER_HIDE_VAR(beside);
	beside++;
	ftrace_test_put_call(a, beside);
	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(a));
	ftrace_test_put_call(a, (unsigned long)ftrace_caller);
	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(a));
	/* A jump there is not a call. */
	ftrace_test_put_call(a, MCOUNT_ADDR);
	*(u8 *)a = 0xe9;
	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(a));

	ftrace_test_put_call(last, MCOUNT_ADDR);
	KUNIT_EXPECT_TRUE(test, ftrace_text_is_unpatched(last));
	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(last + 1));
	KUNIT_EXPECT_FALSE(test, ftrace_text_is_unpatched(a + PAGE_SIZE));
}

static void entry_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long end = a + PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);
	ftrace_test_put_call(a, MCOUNT_ADDR);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), a);
	/* Any other call is the function's own business. */
	ftrace_test_put_call(a, (unsigned long)ftrace_caller);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);
	PUT(a, 0x0f, 0x1f, 0x44, 0x00, 0x00);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);
	/* push %rbp before the call */
	PUT(a, 0x55);
	ftrace_test_put_call(a + 1, MCOUNT_ADDR);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);

	/* On the last bytes there are, and where there are none. */
	ftrace_test_put_call(end - MCOUNT_INSN_SIZE, MCOUNT_ADDR);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(end - MCOUNT_INSN_SIZE),
			end - MCOUNT_INSN_SIZE);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(end - 1), 0);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(end), 0);
}

#ifdef CONFIG_X86_KERNEL_IBT
/* Not spelt out: the bytes must not turn up in our text. */
static void put_endbr(unsigned long ip)
{
	put_unaligned(gen_endbr(), (u32 *)ip);
}

static void put_sealed_endbr(unsigned long ip)
{
	put_unaligned(gen_endbr_poison(), (u32 *)ip);
}

static void entry_endbr_test(struct kunit *test)
{
	unsigned long a = ftrace_test_area(test, PAGE_SIZE);
	unsigned long end = a + PAGE_SIZE;

	put_endbr(a);
	ftrace_test_put_call(a + 4, MCOUNT_ADDR);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), a + 4);
	put_sealed_endbr(a);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), a + 4);
	/* Some other nop is not an entry. */
	PUT(a, 0x0f, 0x1f, 0x40, 0x00);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);

	put_endbr(a);
	ftrace_test_put_call(a + 4, (unsigned long)ftrace_caller);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);
	PUT(a + 4, 0x0f, 0x1f, 0x44, 0x00, 0x00);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);
	put_endbr(a + 4);
	ftrace_test_put_call(a + 8, MCOUNT_ADDR);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(a), 0);

	/* All of it there, and cut off. */
	put_endbr(end - 9);
	ftrace_test_put_call(end - 5, MCOUNT_ADDR);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(end - 9), end - 5);
	put_endbr(end - 5);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(end - 5), 0);
	put_endbr(end - 4);
	KUNIT_EXPECT_EQ(test, ftrace_text_entry_site(end - 4), 0);
}
#else
static void entry_endbr_test(struct kunit *test)
{
	kunit_skip(test, "functions of this kernel have no endbr64");
}
#endif

static struct kunit_case text_cases[] = {
	KUNIT_CASE(key_test),
	KUNIT_CASE(expect_test),
	KUNIT_CASE(matches_test),
	KUNIT_CASE(check_test),
	KUNIT_CASE(unpatched_test),
	KUNIT_CASE(entry_test),
	KUNIT_CASE(entry_endbr_test),
	{}
};

static struct kunit_suite text_suite = {
	.name		= "ftrace-text",
	.test_cases	= text_cases,
};

kunit_test_suite(text_suite);
