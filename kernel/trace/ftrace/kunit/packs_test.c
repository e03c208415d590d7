// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of trampolines when it is used up.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "../ops/ops.h"

#define SMALL_PIECE	64
#define LARGE_PIECE	(FTRACE_PACK_SIZE / 2)

/* There are no more pieces than these, unless others give memory back all the time. */
#define MAX_PIECES	1024

/* More ops than a trampoline can call. */
#define CROWD	600

/**
 * struct pieces - what a test has taken
 * @at: where
 * @size: how large
 * @nr: how many
 * @begin: when the test began to take all, in jiffies
 */
struct pieces {
	unsigned long	at[MAX_PIECES];
	size_t		size[MAX_PIECES];
	unsigned int	nr;
	unsigned long	begin;
};

static bool take(struct pieces *p, size_t size)
{
	unsigned long at = p->nr < MAX_PIECES ? ftrace_packs_alloc(size) : 0;

	if (!at)
		return false;
	p->at[p->nr] = at;
	p->size[p->nr++] = size;
	return true;
}

static void take_all(struct pieces *p, size_t size)
{
	size_t max = ftrace_packs_max_size;

	ftrace_packs_max_size = 0;
	while (take(p, size))
		;
	ftrace_packs_max_size = max;
}

static void give_back(struct pieces *p)
{
	while (p->nr--)
		ftrace_packs_free(p->at[p->nr], p->size[p->nr]);
}

/* The next one who asks for a large piece is refused; there are small ones. */
static void use_up(struct kunit *test, struct pieces *p)
{
	KUNIT_EXPECT_TRUE(test, take(p, SMALL_PIECE));
	KUNIT_EXPECT_FALSE(test, ftrace_packs_refused());
	p->begin = jiffies;
	take_all(p, LARGE_PIECE);
	KUNIT_EXPECT_LT(test, p->nr, MAX_PIECES);
	KUNIT_EXPECT_TRUE(test, ftrace_packs_refused());
}

static void expect_piece(struct kunit *test, size_t size)
{
	unsigned long at = ftrace_packs_alloc(size);

	KUNIT_EXPECT_NE(test, at, 0);
	if (at)
		ftrace_packs_free(at, size);
}

static void refuse(struct kunit *test, struct pieces *p)
{
	unsigned long at = ftrace_packs_alloc(LARGE_PIECE);

	/* Memory could be added now, but so soon nobody asks for a large piece. */
	if (time_before(jiffies, p->begin + 5 * HZ))
		KUNIT_EXPECT_EQ(test, at, 0);
	if (at)
		ftrace_packs_free(at, LARGE_PIECE);
	/* A small one is still given. Once it comes back, all are. */
	expect_piece(test, SMALL_PIECE);
	KUNIT_EXPECT_FALSE(test, ftrace_packs_refused());
	expect_piece(test, LARGE_PIECE);
}

/* Somebody takes less until there has to be more: that is there for all. */
static void grow(struct kunit *test, struct pieces *p)
{
	while (ftrace_packs_refused() && take(p, LARGE_PIECE / 2))
		;
	KUNIT_EXPECT_FALSE(test, ftrace_packs_refused());
	KUNIT_EXPECT_LT(test, p->nr, MAX_PIECES);
	expect_piece(test, LARGE_PIECE);
}

/* ftraced has looked for sets without a trampoline, and found none. */
static bool ftraced_has_looked(void)
{
	return !READ_ONCE(ftrace_tramps_wanted);
}

static void refuse_for_long(struct kunit *test, struct pieces *p)
{
	bool early;

	msleep(2500);
	early = ftraced_has_looked();
	/* Unless a host held this up until it was time: REFUSED_TIME in packs.c. */
	if (time_before(jiffies, p->begin + 5 * HZ))
		KUNIT_EXPECT_FALSE(test, early);
	while (!ftraced_has_looked() && time_before(jiffies, p->begin + 60 * HZ))
		msleep(100);
	KUNIT_EXPECT_TRUE(test, ftraced_has_looked());
	expect_piece(test, LARGE_PIECE);
}

static void with_pieces(struct kunit *test, void (*fn)(struct kunit *test, struct pieces *p))
{
	struct pieces *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	mutex_lock(&ftrace_lock);
	/* Nobody else takes memory, or gives it back. */
	mutex_lock(&ftrace_tramp_mutex);
	use_up(test, p);
	/* Something for ftraced to look for. */
	WRITE_ONCE(ftrace_tramps_wanted, true);
	mutex_unlock(&ftrace_lock);
	fn(test, p);
	give_back(p);
	mutex_unlock(&ftrace_tramp_mutex);
}

static void refuse_test(struct kunit *test)
{
	with_pieces(test, refuse);
}

static void grow_test(struct kunit *test)
{
	with_pieces(test, grow);
}

static void refuse_for_long_test(struct kunit *test)
{
	if (!ftrace_tramp_has_room())
		kunit_skip(test, "there are to be no more trampolines");
	with_pieces(test, refuse_for_long);
}

/* A set of so many ops that no callback is called of. */
static int make_stubs(struct ftrace_ops *ops, unsigned int nr)
{
	unsigned int i;
	int id = 0;

	for (i = 0; i < nr && id >= 0; i++) {
		ops[i].func = ftrace_stub;
		ops[i].flags = FTRACE_OPS_FL_STUB;
		/* Of the last one alone. */
		WRITE_ONCE(ftrace_tramps_wanted, false);
		id = ftrace_opset_with(id, &ops[i]);
	}
	return id;
}

/* A set that is refused memory is to have a trampoline later, if that is not too long. */
static void refuse_set_test(struct kunit *test)
{
	struct ftrace_ops *ops = kunit_kcalloc(test, CROWD, sizeof(*ops), GFP_KERNEL);
	struct pieces *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct ftrace_opset *set;
	size_t size;

	KUNIT_ASSERT_TRUE(test, ops && p);
	mutex_lock(&ftrace_lock);
	mutex_lock(&ftrace_tramp_mutex);
	for (size = LARGE_PIECE; size >= SMALL_PIECE; size /= 2)
		take_all(p, size);
	KUNIT_EXPECT_LT(test, p->nr, MAX_PIECES);
	mutex_unlock(&ftrace_tramp_mutex);
	set = ftrace_opset_find(make_stubs(ops, CROWD));
	KUNIT_EXPECT_NOT_NULL(test, set);
	/* Unless somebody has given memory back meanwhile. */
	if (set && !set->tramp)
		KUNIT_EXPECT_TRUE(test, ftrace_tramps_wanted);
	mutex_lock(&ftrace_tramp_mutex);
	give_back(p);
	mutex_unlock(&ftrace_tramp_mutex);
	ftrace_opset_gc();
	WRITE_ONCE(ftrace_tramps_wanted, ftrace_opsets_lack_tramps());
	mutex_unlock(&ftrace_lock);
}

static struct kunit_case packs_cases[] = {
	KUNIT_CASE(refuse_test),
	KUNIT_CASE(grow_test),
	KUNIT_CASE(refuse_for_long_test),
	KUNIT_CASE(refuse_set_test),
	{}
};

static struct kunit_suite packs_suite = {
	.name		= "ftrace-packs",
	.test_cases	= packs_cases,
};

kunit_test_suite(packs_suite);
