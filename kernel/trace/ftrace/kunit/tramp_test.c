// SPDX-License-Identifier: GPL-2.0
/*
 * Trampolines: the code that is written, what it does when it runs, and its end.
 *
 * No KUNIT_ASSERT under the lock: it would not be unlocked.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/memory.h>
#include <linux/slab.h>
#include <asm/alternative.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#include "../ops/ops.h"
#include "victim.h"

#define MAX_CALLS	4

/* What a callback has seen, in the order of the calls. */
static struct seen {
	unsigned long		ip;
	unsigned long		parent_ip;
	struct ftrace_ops	*op;
	unsigned long		arg[6];
	unsigned long		sp;
	unsigned long		rip;
	bool			regs;
} seen[MAX_CALLS];

static unsigned int nr_seen;

/* Where the next callback sends the function on; 0: where it was going. */
static unsigned long go_to;

static notrace void callback(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct seen *s = &seen[nr_seen++ % MAX_CALLS];
	unsigned int i;

	s->ip = ip;
	s->parent_ip = parent_ip;
	s->op = op;
	for (i = 0; i < 6; i++)
		s->arg[i] = ftrace_regs_get_argument(fregs, i);
	s->sp = ftrace_regs_get_stack_pointer(fregs);
	s->rip = ftrace_regs_get_instruction_pointer(fregs);
	s->regs = ftrace_get_regs(fregs);
	if (go_to)
		ftrace_regs_set_instruction_pointer(fregs, go_to);
}

static notrace void other_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op,
				   struct ftrace_regs *fregs)
{
	nr_seen += 100;
}

/* It stands in for the function that it was sent to instead. */
static notrace noinline unsigned long instead(unsigned long a, unsigned long b,
					      unsigned long c, unsigned long d,
					      unsigned long e, unsigned long f)
{
	return ftrace_kunit_six_answer(a, b, c, d, e, f) + 1000;
}

static struct ftrace_tramp_spec *spec_of(struct kunit *test, unsigned int nr,
					 bool regs, bool follow,
					 unsigned long jump)
{
	struct ftrace_tramp_spec *spec;
	unsigned int i;

	spec = kunit_kzalloc(test, struct_size(spec, call, nr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, spec);
	spec->nr = nr;
	spec->regs = regs;
	spec->follow = follow;
	spec->jump = jump;
	for (i = 0; i < nr; i++) {
		spec->call[i].func = (unsigned long)callback;
		spec->call[i].arg = 0xabcd00000000 + i;
	}
	return spec;
}

/* ---- what is written ----------------------------------------------------- */

/* Where calls of a function lead, with call depth tracking to code before it. */
static unsigned long entry_of(unsigned long func)
{
	guard(mutex)(&text_mutex);
	return (unsigned long)callthunks_translate_call_dest((void *)func);
}

static unsigned long branch_target(const struct insn *insn, unsigned long ip)
{
	return ip + insn->length + insn->immediate.value;
}

/*
 * Every byte belongs to an instruction that is one, the parts begin with one,
 * and calls and the last jump lead where they should.
 */
static void expect_code(struct kunit *test, const struct ftrace_tramp_spec *spec,
			const u8 *code, unsigned long ip,
			const struct ftrace_tramp_layout *l)
{
	unsigned int at, calls = 0, starts = 0;
	unsigned long jump = 0;
	struct insn insn;

	for (at = 0; at < l->size; at += insn.length) {
		int ret = insn_decode(&insn, code + at, l->size - at,
				      INSN_MODE_64);

		KUNIT_EXPECT_EQ(test, 0, ret);
		if (ret)
			return;
		starts += at == l->save || at == l->calls || at == l->restore ||
			  at == l->leave;
		if (at < l->save)
			continue;
		if (insn.opcode.bytes[0] == CALL_INSN_OPCODE) {
			KUNIT_EXPECT_EQ(test, branch_target(&insn, ip + at),
					entry_of(spec->call[calls].func));
			KUNIT_EXPECT_GE(test, at, l->calls);
			KUNIT_EXPECT_LT(test, at, l->restore);
			calls++;
		}
		if (at == l->leave && insn.opcode.bytes[0] == JMP32_INSN_OPCODE)
			jump = branch_target(&insn, ip + at);
	}
	KUNIT_EXPECT_EQ(test, at, l->size);
	KUNIT_EXPECT_EQ(test, calls, spec->nr);
	/* One after the other, though some may be empty. */
	KUNIT_EXPECT_GE(test, starts, 2);
	KUNIT_EXPECT_LE(test, l->save, l->calls);
	KUNIT_EXPECT_LE(test, l->calls, l->restore);
	KUNIT_EXPECT_LT(test, l->restore, l->leave);
	KUNIT_EXPECT_LT(test, l->leave, l->size);
	if (spec->jump)
		KUNIT_EXPECT_EQ(test, jump, spec->jump);
}

/* Where the stack is the same, in code that the unwinder has a table for. */
static void expect_template(struct kunit *test,
			    const struct ftrace_tramp_layout *l, const u8 *code)
{
	unsigned long base = l->regs ? FTRACE_REGS_ADDR : FTRACE_ADDR;
	unsigned int at;

	for (at = 0; at < l->size; at++) {
		unsigned long t = ftrace_tramp_template_at(l, at);

		KUNIT_EXPECT_GE(test, t, base);
		KUNIT_EXPECT_LT(test, t, base + 1024);
		if ((at >= l->save && at < l->calls) ||
		    (at >= l->restore && at < l->leave))
			KUNIT_EXPECT_EQ(test, *(u8 *)t, code[at]);
	}
	if (!l->regs && l->calls < l->restore)
		KUNIT_EXPECT_EQ(test, ftrace_tramp_template_at(l, l->calls),
				(unsigned long)ftrace_call);
}

static void emit_test(struct kunit *test)
{
	unsigned int nr, kind;

	for (nr = 0; nr <= MAX_CALLS; nr++) {
		for (kind = 0; kind < 8; kind++) {
			unsigned long jump = kind & 4 ?
				(unsigned long)ftrace_stub_direct_tramp : 0;
			struct ftrace_tramp_spec *spec =
				spec_of(test, nr, kind & 1, kind & 2, jump);
			size_t size = ftrace_tramp_max_size(nr);
			u8 *code = kunit_kzalloc(test, size, GFP_KERNEL);
			struct ftrace_tramp_layout l;
			unsigned long ip = (unsigned long)_text + 0x1000;

			KUNIT_ASSERT_NOT_NULL(test, code);
			ftrace_tramp_emit(spec, code, ip, &l);
			KUNIT_EXPECT_LE(test, l.size, size);
			KUNIT_EXPECT_EQ(test, l.regs, spec->regs);
			expect_code(test, spec, code, ip, &l);
			expect_template(test, &l, code);
		}
	}
}

/* ---- what it does -------------------------------------------------------- */

static void switch_site(struct kunit *test, struct dyn_ftrace *rec, u32 from,
			u32 to)
{
	struct ftrace_plan plan = {};
	unsigned int bad;

	ftrace_plan_add(&plan, rec, from, to, 0);
	KUNIT_EXPECT_EQ(test, 0, ftrace_plan_write(&plan, &bad));
	ftrace_plan_free(&plan);
}

static unsigned long run_six(void)
{
	nr_seen = 0;
	memset(seen, 0, sizeof(seen));
	return ftrace_kunit_six(1, 2, 3, 4, 5, 6);
}

static void expect_seen(struct kunit *test, const struct ftrace_tramp_spec *spec)
{
	unsigned int i, k;

	KUNIT_EXPECT_EQ(test, nr_seen, spec->nr);
	for (i = 0; i < spec->nr; i++) {
		KUNIT_EXPECT_EQ(test, seen[i].ip, ftrace_kunit_six_site());
		KUNIT_EXPECT_EQ(test, (unsigned long)seen[i].op,
				spec->call[i].arg);
		KUNIT_EXPECT_EQ(test, seen[i].regs, spec->regs);
		/* Where the caller's return address lies. */
		KUNIT_EXPECT_EQ(test, seen[i].sp, seen[0].sp);
		KUNIT_EXPECT_EQ(test, seen[i].parent_ip, seen[0].parent_ip);
		KUNIT_EXPECT_TRUE(test, kernel_text_address(seen[i].parent_ip));
		for (k = 0; k < 6; k++)
			KUNIT_EXPECT_EQ(test, seen[i].arg[k], k + 1);
	}
	if (spec->nr && !go_to)
		KUNIT_EXPECT_EQ(test, seen[0].rip, ftrace_kunit_six_site() + MCOUNT_INSN_SIZE);
}

/* Runs through a trampoline for @spec; the lock is held. */
static void run_tramp(struct kunit *test, struct dyn_ftrace *rec,
		      const struct ftrace_tramp_spec *spec)
{
	struct ftrace_tramp *t = ftrace_tramp_make(spec);
	unsigned long answer = ftrace_kunit_six_answer(1, 2, 3, 4, 5, 6);
	u32 key;

	KUNIT_EXPECT_NOT_NULL(test, t);
	if (!t)
		return;
	key = ftrace_text_key(ftrace_tramp_ip(t));
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(ftrace_tramp_ip(t)));
	switch_site(test, rec, 0, key);

	go_to = 0;
	KUNIT_EXPECT_EQ(test, answer, run_six());
	expect_seen(test, spec);

	/* Only a trampoline that follows lets itself be sent elsewhere. */
	go_to = (unsigned long)instead;
	if (spec->nr && spec->follow)
		answer += 1000;
	KUNIT_EXPECT_EQ(test, answer, run_six());
	expect_seen(test, spec);
	go_to = 0;

	if (spec->nr) {
		ftrace_tramp_poke_call(t, spec->nr - 1,
				       (unsigned long)other_callback);
		run_six();
		KUNIT_EXPECT_EQ(test, nr_seen, spec->nr - 1 + 100);
	}
	switch_site(test, rec, key, 0);
	KUNIT_EXPECT_EQ(test, run_six(),
			ftrace_kunit_six_answer(1, 2, 3, 4, 5, 6));
	KUNIT_EXPECT_EQ(test, nr_seen, 0);
	ftrace_tramp_free(t);
}

static struct dyn_ftrace *six_rec(struct kunit *test)
{
	u32 site = ftrace_text_key(ftrace_kunit_six_site());
	struct dyn_ftrace *rec;

	KUNIT_EXPECT_EQ(test, 0, ftrace_discover_sites(&site, 1));
	KUNIT_EXPECT_LE(test, 0, ftrace_settle());
	rec = ftrace_rec_find(ftrace_kunit_six_site());
	KUNIT_EXPECT_NOT_NULL(test, rec);
	if (rec && ftrace_rec_text(rec)) {
		KUNIT_FAIL(test, "someone traces it");
		rec = NULL;
	}
	return rec;
}

static void run_test(struct kunit *test)
{
	struct ftrace_tramp_spec *spec[2 * 2 * 2 * 3];
	struct dyn_ftrace *rec;
	unsigned int i, nr = 0;

	for (i = 0; i < 8; i++) {
		unsigned long jump = i & 4 ?
			(unsigned long)ftrace_stub_direct_tramp : 0;

		spec[nr++] = spec_of(test, 0, i & 1, i & 2, jump);
		spec[nr++] = spec_of(test, 1, i & 1, i & 2, jump);
		spec[nr++] = spec_of(test, MAX_CALLS, i & 1, i & 2, jump);
	}
	guard(mutex)(&ftrace_lock);
	rec = six_rec(test);
	for (i = 0; rec && i < nr; i++)
		run_tramp(test, rec, spec[i]);
}

/* A direct call gets the function's arguments, and returns into it. */
static void jump_test(struct kunit *test)
{
	struct ftrace_tramp_spec *spec =
		spec_of(test, 1, false, false,
			(unsigned long)ftrace_stub_direct_tramp);
	struct dyn_ftrace *rec;
	struct ftrace_tramp *t;
	u32 key;

	guard(mutex)(&ftrace_lock);
	rec = six_rec(test);
	if (!rec)
		return;
	t = ftrace_tramp_make(spec);
	KUNIT_EXPECT_NOT_NULL(test, t);
	if (!t)
		return;
	key = ftrace_text_key(ftrace_tramp_ip(t));
	switch_site(test, rec, 0, key);
	KUNIT_EXPECT_EQ(test, run_six(),
			ftrace_kunit_six_answer(1, 2, 3, 4, 5, 6));
	KUNIT_EXPECT_EQ(test, nr_seen, 1);

	/* Another one: this code may spoil what any callee may. */
	ftrace_tramp_poke_jump(t, (unsigned long)ftrace_kunit_target_tramp);
	atomic_set(&ftrace_kunit_hits, 0);
	KUNIT_EXPECT_EQ(test, ftrace_kunit_six(1, 2, 3, 4, 5, 6),
			ftrace_kunit_six_answer(1, 2, 3, 4, 5, 6));
	KUNIT_EXPECT_EQ(test, atomic_read(&ftrace_kunit_hits), 1);
	switch_site(test, rec, key, 0);
	ftrace_tramp_free(t);
}

/* ---- its end ------------------------------------------------------------- */

static bool is_int3(unsigned long ip, unsigned long size)
{
	return !memchr_inv((void *)ip, INT3_INSN_OPCODE, size);
}

static void put_test(struct kunit *test)
{
	struct ftrace_tramp_spec *spec = spec_of(test, 2, false, false, 0);
	unsigned long value, ip, size = 0, offset = 0;
	char name[KSYM_NAME_LEN], module[MODULE_NAME_LEN];
	struct ftrace_tramp *t = ftrace_tramp_make(spec);
	unsigned int nr, found = 0, tries;

	KUNIT_ASSERT_NOT_NULL(test, t);
	ip = ftrace_tramp_ip(t);
	/* One that dies meanwhile could hide it. */
	for (tries = 0; tries < 100 && !found; tries++) {
		for (nr = 0; ftrace_tramp_nth(nr, &value, name, module); nr++)
			found += value == ip;
	}
	KUNIT_EXPECT_EQ(test, found, 1);
	KUNIT_EXPECT_GT(test, ftrace_tramp_lookup(ip + 7, &size, &offset, NULL,
						  name), 0);
	KUNIT_EXPECT_STREQ(test, name, "ftrace_trampoline");
	KUNIT_EXPECT_EQ(test, offset, 7);
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(ip));
	KUNIT_EXPECT_TRUE(test, is_ftrace_trampoline(ip + size - 1));
	KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline(ip + size));
	KUNIT_EXPECT_TRUE(test, kernel_text_address(ip + 1));

	/* It goes when no task can be in it any more, and leaves no code. */
	ftrace_tramp_free(t);
	for (tries = 0; tries < 6000 && !is_int3(ip, size); tries++)
		msleep(20);
	KUNIT_EXPECT_FALSE(test, is_ftrace_trampoline(ip));
	KUNIT_EXPECT_EQ(test, ftrace_tramp_lookup(ip, NULL, NULL, NULL, name), 0);
	KUNIT_EXPECT_TRUE(test, is_int3(ip, size));
	/* It was the answer to this; others may have gone as well, but none has come. */
	KUNIT_EXPECT_FALSE(test, ftrace_tramp_nth(nr - 1, &value, name, module));
	while (nr--) {
		if (ftrace_tramp_nth(nr, &value, name, module))
			KUNIT_EXPECT_NE(test, value, ip);
	}
}

/* Some begin where another one ends: nothing is lost between them. */
static void dense_test(struct kunit *test)
{
	struct ftrace_tramp_spec *spec = spec_of(test, 1, false, false, 0);
	unsigned long size, offset, ip, last = 0;
	struct ftrace_tramp *t[16];
	unsigned int i, nr_next = 0;
	char name[KSYM_NAME_LEN];

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		t[i] = ftrace_tramp_make(spec);
		KUNIT_ASSERT_NOT_NULL(test, t[i]);
		ip = ftrace_tramp_ip(t[i]);
		ftrace_tramp_lookup(ip, &size, &offset, NULL, name);
		nr_next += ip == last;
		last = ALIGN(ip + size, 64);
	}
	for (i = 0; i < ARRAY_SIZE(t); i++)
		ftrace_tramp_free(t[i]);
	/* Some fill what others have left; the rest lie side by side. */
	KUNIT_EXPECT_GT(test, nr_next, 1);
}

static struct kunit_case tramp_cases[] = {
	KUNIT_CASE(emit_test),
	KUNIT_CASE(run_test),
	KUNIT_CASE(jump_test),
	KUNIT_CASE(put_test),
	KUNIT_CASE(dense_test),
	{}
};

static struct kunit_suite tramp_suite = {
	.name		= "ftrace-tramp",
	.test_cases	= tramp_cases,
};

kunit_test_suite(tramp_suite);
