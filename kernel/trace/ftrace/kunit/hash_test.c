// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of call sites, and the filters made of them.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/prandom.h>

#include "../ops/ops.h"

KUNIT_DEFINE_ACTION_WRAPPER(free_hash, ftrace_hash_free, struct ftrace_hash *);

/* The set, which is freed when the test ends. */
static struct ftrace_hash *keep(struct kunit *test, struct ftrace_hash *hash)
{
	KUNIT_ASSERT_FALSE(test, IS_ERR(hash));
	if (hash)
		KUNIT_ASSERT_EQ(test, 0,
				kunit_add_action_or_reset(test, free_hash, hash));
	return hash;
}

/* A set of the given keys. */
#define SET(test, ...) ({						\
	u32 keys_[] = { __VA_ARGS__ };					\
									\
	keep(test, ftrace_hash_from_sites(keys_, ARRAY_SIZE(keys_)));	\
})

static void expect_set(struct kunit *test, const struct ftrace_hash *hash,
		       const u32 *keys, size_t bytes)
{
	KUNIT_ASSERT_NOT_NULL(test, hash);
	KUNIT_EXPECT_EQ(test, hash->flags, 0);
	KUNIT_ASSERT_EQ(test, hash->count, bytes / sizeof(*keys));
	KUNIT_EXPECT_MEMEQ(test, hash->sites, keys, bytes);
}

/* @hash is a set of the given keys, which ascend. */
#define EXPECT_SET(test, hash, ...)					\
	expect_set(test, hash, (const u32 []) { __VA_ARGS__ },		\
		   sizeof((const u32 []) { __VA_ARGS__ }))

/* A key with its upper bit set, as those of text are. */
#define K(n)	(0x81000000U + (n))

static void from_sites_test(struct kunit *test)
{
	u32 none[1];

	EXPECT_SET(test, SET(test, K(5)), K(5));
	EXPECT_SET(test, SET(test, K(1), K(2), K(3)), K(1), K(2), K(3));
	EXPECT_SET(test, SET(test, K(3), K(1), K(2)), K(1), K(2), K(3));
	EXPECT_SET(test, SET(test, K(2), K(2), K(2)), K(2));
	EXPECT_SET(test, SET(test, K(9), K(1), K(9), K(1), K(5)),
		   K(1), K(5), K(9));
	/* As unsigned numbers, over the whole of them. */
	EXPECT_SET(test, SET(test, U32_MAX, 0x7fffffff, 0, 0x80000000),
		   0, 0x7fffffff, 0x80000000, U32_MAX);
	KUNIT_EXPECT_NULL(test, ftrace_hash_from_sites(none, 0));
	KUNIT_EXPECT_NULL(test, ftrace_hash_from_sites(NULL, 0));
}

static bool has(const struct ftrace_hash *hash, u32 key)
{
	return ftrace_hash_has(hash, ftrace_text_addr(key));
}

static void has_test(struct kunit *test)
{
	struct ftrace_hash *hash;
	unsigned int nr, i;
	u32 keys[9];

	/* Every length up to some, so that the search takes every turn. */
	for (nr = 1; nr <= ARRAY_SIZE(keys); nr++) {
		for (i = 0; i < nr; i++)
			keys[i] = K(16 * i);
		hash = keep(test, ftrace_hash_from_sites(keys, nr));
		for (i = 0; i < nr; i++) {
			KUNIT_EXPECT_TRUE(test, has(hash, K(16 * i)));
			KUNIT_EXPECT_FALSE(test, has(hash, K(16 * i) - 1));
			KUNIT_EXPECT_FALSE(test, has(hash, K(16 * i) + 1));
			KUNIT_EXPECT_EQ(test, i,
					ftrace_hash_lower_bound(hash, K(16 * i)));
			KUNIT_EXPECT_EQ(test, i,
					ftrace_hash_lower_bound(hash, K(16 * i) - 1));
			KUNIT_EXPECT_EQ(test, i + 1,
					ftrace_hash_lower_bound(hash, K(16 * i) + 1));
		}
		KUNIT_EXPECT_FALSE(test, has(hash, K(16 * nr)));
		KUNIT_EXPECT_FALSE(test, has(hash, 0));
		KUNIT_EXPECT_FALSE(test, has(hash, U32_MAX));
		KUNIT_EXPECT_EQ(test, ftrace_hash_lower_bound(hash, 0), 0);
		KUNIT_EXPECT_EQ(test, ftrace_hash_lower_bound(hash, U32_MAX), nr);
	}
	hash = SET(test, K(1), U32_MAX);
	KUNIT_EXPECT_EQ(test, ftrace_hash_lower_bound(hash, U32_MAX), 1);
	KUNIT_EXPECT_EQ(test, ftrace_hash_lower_bound(hash, 1ULL << 32), 2);
	KUNIT_EXPECT_EQ(test, 0,
			ftrace_hash_lower_bound(keep(test, ftrace_hash_nothing()), 0));
	KUNIT_EXPECT_FALSE(test, has(NULL, K(0)));
	KUNIT_EXPECT_FALSE(test, has(keep(test, ftrace_hash_nothing()), K(0)));

	hash = SET(test, K(7));
	KUNIT_EXPECT_NOT_NULL(test, ftrace_lookup_ip(hash, ftrace_text_addr(K(7))));
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(hash, ftrace_text_addr(K(8))));
	KUNIT_EXPECT_NULL(test, ftrace_lookup_ip(NULL, ftrace_text_addr(K(7))));
}

#define UNION(test, a, b)	keep(test, ftrace_hash_union(a, b))
#define MINUS(test, a, b)	keep(test, ftrace_hash_minus(a, b))

static void union_test(struct kunit *test)
{
	struct ftrace_hash *odd = SET(test, K(1), K(3), K(5));
	struct ftrace_hash *low = SET(test, K(0), K(1), K(2));
	struct ftrace_hash *top = SET(test, K(4), U32_MAX);
	struct ftrace_hash *sum;

	EXPECT_SET(test, UNION(test, odd, low), K(0), K(1), K(2), K(3), K(5));
	EXPECT_SET(test, UNION(test, low, odd), K(0), K(1), K(2), K(3), K(5));
	EXPECT_SET(test, UNION(test, odd, top), K(1), K(3), K(4), K(5), U32_MAX);
	EXPECT_SET(test, UNION(test, top, top), K(4), U32_MAX);
	EXPECT_SET(test, UNION(test, low, SET(test, K(3))),
		   K(0), K(1), K(2), K(3));
	EXPECT_SET(test, UNION(test, SET(test, K(3)), low),
		   K(0), K(1), K(2), K(3));

	/* With the empty set it is a copy, not the set itself. */
	sum = UNION(test, odd, NULL);
	EXPECT_SET(test, sum, K(1), K(3), K(5));
	KUNIT_EXPECT_PTR_NE(test, sum, odd);
	EXPECT_SET(test, UNION(test, NULL, odd), K(1), K(3), K(5));
	KUNIT_EXPECT_NULL(test, ftrace_hash_union(NULL, NULL));
	sum = keep(test, ftrace_hash_copy(odd));
	EXPECT_SET(test, sum, K(1), K(3), K(5));
	KUNIT_EXPECT_PTR_NE(test, sum, odd);
	KUNIT_EXPECT_NULL(test, ftrace_hash_copy(NULL));

	/* And what they are made of is as it was. */
	EXPECT_SET(test, odd, K(1), K(3), K(5));
	EXPECT_SET(test, low, K(0), K(1), K(2));
}

static void minus_test(struct kunit *test)
{
	struct ftrace_hash *five = SET(test, K(1), K(2), K(3), K(4), U32_MAX);
	struct ftrace_hash *rest;

	EXPECT_SET(test, MINUS(test, five, SET(test, K(1))),
		   K(2), K(3), K(4), U32_MAX);
	EXPECT_SET(test, MINUS(test, five, SET(test, K(3))),
		   K(1), K(2), K(4), U32_MAX);
	EXPECT_SET(test, MINUS(test, five, SET(test, U32_MAX)),
		   K(1), K(2), K(3), K(4));
	EXPECT_SET(test, MINUS(test, five, SET(test, K(0), K(2), K(4), K(9))),
		   K(1), K(3), U32_MAX);
	EXPECT_SET(test, MINUS(test, five, SET(test, K(7))),
		   K(1), K(2), K(3), K(4), U32_MAX);
	KUNIT_EXPECT_NULL(test, ftrace_hash_minus(five, five));
	KUNIT_EXPECT_NULL(test, ftrace_hash_minus(SET(test, K(2)), five));
	KUNIT_EXPECT_NULL(test, ftrace_hash_minus(NULL, five));
	KUNIT_EXPECT_NULL(test, ftrace_hash_minus(NULL, NULL));
	rest = MINUS(test, five, NULL);
	EXPECT_SET(test, rest, K(1), K(2), K(3), K(4), U32_MAX);
	KUNIT_EXPECT_PTR_NE(test, rest, five);
	EXPECT_SET(test, five, K(1), K(2), K(3), K(4), U32_MAX);
}

static void expect_nothing(struct kunit *test, struct ftrace_hash *hash)
{
	KUNIT_ASSERT_NOT_NULL(test, hash);
	KUNIT_EXPECT_EQ(test, hash->count, 0);
	KUNIT_EXPECT_FALSE(test, ftrace_hash_empty(hash));
}

/* The set of no sites that does not mean everything. */
static void nothing_test(struct kunit *test)
{
	struct ftrace_hash *nothing = keep(test, ftrace_hash_nothing());
	struct ftrace_hash *one = SET(test, K(1));

	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(NULL));
	KUNIT_EXPECT_FALSE(test, ftrace_hash_empty(one));
	expect_nothing(test, nothing);
	expect_nothing(test, keep(test, ftrace_hash_copy(nothing)));
	expect_nothing(test, UNION(test, NULL, nothing));
	expect_nothing(test, MINUS(test, nothing, one));
	EXPECT_SET(test, UNION(test, nothing, one), K(1));
	EXPECT_SET(test, UNION(test, one, nothing), K(1));
	EXPECT_SET(test, MINUS(test, one, nothing), K(1));
}

static void filter_test(struct kunit *test)
{
	struct ftrace_hash *a = SET(test, K(1)), *b = SET(test, K(2));
	struct ftrace_hash *ab = SET(test, K(1), K(2));
	struct ftrace_hash *nothing = keep(test, ftrace_hash_nothing());
	const struct {
		struct ftrace_filter	f;
		bool			wants[3];	/* K(1), K(2), K(3) */
	} cases[] = {
		{ { NULL, NULL },	{ true, true, true } },
		{ { a, NULL },		{ true, false, false } },
		{ { ab, NULL },		{ true, true, false } },
		{ { NULL, a },		{ false, true, true } },
		{ { NULL, ab },		{ false, false, true } },
		{ { ab, a },		{ false, true, false } },
		{ { a, b },		{ true, false, false } },
		{ { a, a },		{ false, false, false } },
		{ { nothing, NULL },	{ false, false, false } },
		{ { nothing, a },	{ false, false, false } },
		{ { NULL, nothing },	{ true, true, true } },
		{ { a, nothing },	{ true, false, false } },
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		for (j = 0; j < 3; j++)
			KUNIT_EXPECT_EQ_MSG(test, cases[i].wants[j],
					    ftrace_filter_wants(&cases[i].f,
								ftrace_text_addr(K(j + 1))),
					    "filter %u, site %u", i, j + 1);
	}
}

static void list_test(struct kunit *test)
{
	struct ftrace_sites s = {};
	unsigned int i;

	/* Enough to grow several times; the order is that of arrival. */
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, 0,
				ftrace_sites_add(&s, ftrace_text_addr(K(1000 - i))));
	KUNIT_EXPECT_EQ(test, s.nr, 1000);
	KUNIT_EXPECT_GE(test, s.size, s.nr);
	for (i = 0; i < s.nr; i++)
		KUNIT_EXPECT_EQ(test, s.key[i], K(1000 - i));
	ftrace_sites_free(&s);
	KUNIT_EXPECT_NULL(test, s.key);
	KUNIT_EXPECT_EQ(test, s.nr, 0);
	KUNIT_EXPECT_EQ(test, s.size, 0);

	KUNIT_EXPECT_EQ(test, 0, ftrace_sites_add(&s, ftrace_text_addr(K(7))));
	KUNIT_EXPECT_EQ(test, s.nr, 1);
	ftrace_sites_free(&s);
	ftrace_sites_free(&s);
}

#define MODEL_BITS	128

static struct ftrace_hash *set_of(struct kunit *test, const unsigned long *bits)
{
	u32 keys[MODEL_BITS];
	unsigned int i, nr = 0;

	/* Descending, so that there is something to sort. */
	for (i = MODEL_BITS; i-- > 0;) {
		if (test_bit(i, bits))
			keys[nr++] = K(5 * i);
	}
	return keep(test, ftrace_hash_from_sites(keys, nr));
}

static void expect_bits(struct kunit *test, const struct ftrace_hash *hash,
			const unsigned long *bits)
{
	unsigned int i, count = hash ? hash->count : 0;

	KUNIT_EXPECT_EQ(test, count, bitmap_weight(bits, MODEL_BITS));
	for (i = 0; i < MODEL_BITS; i++)
		KUNIT_EXPECT_EQ(test, has(hash, K(5 * i)),
				(bool)test_bit(i, bits));
	for (i = 1; i < count; i++)
		KUNIT_EXPECT_LT(test, hash->sites[i - 1], hash->sites[i]);
}

/* Sets as good as bitmaps. */
static void model_test(struct kunit *test)
{
	DECLARE_BITMAP(a, MODEL_BITS);
	DECLARE_BITMAP(b, MODEL_BITS);
	DECLARE_BITMAP(both, MODEL_BITS);
	struct rnd_state rnd;
	unsigned int n, i;

	prandom_seed_state(&rnd, 6012);
	for (n = 0; n < 100; n++) {
		struct ftrace_hash *x, *y;

		/* From sparse to dense, and each against each. */
		for (i = 0; i < MODEL_BITS; i++) {
			__assign_bit(i, a, prandom_u32_state(&rnd) % 10 < n % 10);
			__assign_bit(i, b, prandom_u32_state(&rnd) % 10 < n / 10);
		}
		x = set_of(test, a);
		y = set_of(test, b);
		expect_bits(test, x, a);
		bitmap_or(both, a, b, MODEL_BITS);
		expect_bits(test, UNION(test, x, y), both);
		bitmap_andnot(both, a, b, MODEL_BITS);
		expect_bits(test, MINUS(test, x, y), both);
	}
}

static struct kunit_case hash_cases[] = {
	KUNIT_CASE(from_sites_test),
	KUNIT_CASE(has_test),
	KUNIT_CASE(union_test),
	KUNIT_CASE(minus_test),
	KUNIT_CASE(nothing_test),
	KUNIT_CASE(filter_test),
	KUNIT_CASE(list_test),
	KUNIT_CASE(model_test),
	{}
};

static struct kunit_suite hash_suite = {
	.name		= "ftrace-hash",
	.test_cases	= hash_cases,
};

kunit_test_suite(hash_suite);
