// SPDX-License-Identifier: GPL-2.0
/*
 * Named tracers of a trace array that nobody else knows. They join without being
 * registered, so no text changes.
 *
 * No KUNIT_ASSERT under ftrace_lock: it would not be unlocked.
 */
#include <kunit/test.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "../tracers/tracers.h"

#define NR_OPS	4

/**
 * struct names - what each test has
 * @tr: the trace array
 * @own: its own ops
 * @ops: others
 * @graph: the array's own graph tracer, for one of them
 */
struct names {
	struct trace_array	tr;
	struct ftrace_ops	own;
	struct ftrace_ops	ops[NR_OPS];
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	struct fgraph_ops	graph;
#endif
};

static int names_init(struct kunit *test)
{
	struct names *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);
	unsigned int i;

	if (!n)
		return -ENOMEM;
	n->tr.ops = &n->own;
	n->own.name = "trace";
	n->own.tr = &n->tr;
	ftrace_ops_init(&n->own);
	for (i = 0; i < NR_OPS; i++) {
		n->ops[i].name = "mine";
		n->ops[i].tr = &n->tr;
		ftrace_ops_init(&n->ops[i]);
	}
	test->priv = n;
	return 0;
}

static void names_exit(struct kunit *test)
{
	struct names *n = test->priv;
	unsigned int i;

	scoped_guard(mutex, &ftrace_lock) {
		ftrace_tracer_leave(&n->own);
		for (i = 0; i < NR_OPS; i++)
			ftrace_tracer_leave(&n->ops[i]);
	}
	ftrace_free_filter(&n->own);
	for (i = 0; i < NR_OPS; i++)
		ftrace_free_filter(&n->ops[i]);
	/* The tracers lead here until then. */
	synchronize_rcu();
}

static int join(struct ftrace_ops *ops)
{
	int ret = ftrace_tracer_prepare(ops);

	if (!ret)
		ftrace_tracer_join(ops);
	return ret;
}

/* A filter with one site, which need not be one. */
static int give_filter(struct ftrace_ops *ops, u32 site)
{
	struct ftrace_hash *hash = ftrace_hash_from_sites(&site, 1);

	if (IS_ERR(hash))
		return PTR_ERR(hash);
	return ftrace_ops_replace_half(ops, hash, true);
}

/* The only site in a filter; 0: it is empty. */
static u32 site_of(struct ftrace_ops *ops)
{
	struct ftrace_filter f;

	ftrace_ops_filter(ops, &f);
	return ftrace_hash_empty(f.filter) ? 0 : f.filter->sites[0];
}

static void suffix_test(struct kunit *test)
{
	struct names *n = test->priv;

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_name(&n->ops[0]));
	KUNIT_EXPECT_EQ(test, join(&n->ops[0]), 0);
	KUNIT_EXPECT_EQ(test, join(&n->ops[1]), 0);
	KUNIT_EXPECT_EQ(test, join(&n->ops[2]), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_tracer_name(&n->ops[0]), "mine");
	KUNIT_EXPECT_STREQ(test, ftrace_tracer_name(&n->ops[1]), "mine_2");
	KUNIT_EXPECT_STREQ(test, ftrace_tracer_name(&n->ops[2]), "mine_3");
	/* The first that is free. */
	ftrace_tracer_leave(&n->ops[1]);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_name(&n->ops[1]));
	KUNIT_EXPECT_EQ(test, join(&n->ops[3]), 0);
	KUNIT_EXPECT_STREQ(test, ftrace_tracer_name(&n->ops[3]), "mine_2");
	KUNIT_EXPECT_PTR_EQ(test, ftrace_tracer_find(&n->tr, "mine_2")->ops,
			    &n->ops[3]);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_find(&n->tr, "min"));
	KUNIT_EXPECT_NULL(test, ftrace_tracer_find(NULL, "mine"));
}

static void bad_name_test(struct kunit *test)
{
	static const char *const bad[] = {
		"", " ", "a b", "a\n", "[a", "a]", "*a", "a\t", "\x80",
		"56characters456789012345678901234567890123456789012345678",
	};
	struct names *n = test->priv;
	unsigned int i;

	guard(mutex)(&ftrace_lock);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		n->ops[0].name = bad[i];
		KUNIT_EXPECT_EQ_MSG(test, join(&n->ops[0]), -EINVAL, "'%s'",
				    bad[i]);
		KUNIT_EXPECT_NULL(test, n->ops[0].tracer);
	}
	n->ops[0].name = NULL;
	KUNIT_EXPECT_EQ(test, join(&n->ops[0]), 0);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_next(&n->tr, NULL));
}

static void default_test(struct kunit *test)
{
	struct names *n = test->priv;

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_default(&n->tr));
	join(&n->ops[0]);
	join(&n->ops[1]);
	n->ops[2].flags |= FTRACE_OPS_FL_OWN_FILTER;
	join(&n->ops[2]);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_tracer_default(&n->tr),
			    n->ops[1].tracer);
	KUNIT_EXPECT_EQ(test, ftrace_tracer_make_default(&n->tr, "mine_3"),
			-EPERM);
	KUNIT_EXPECT_EQ(test, ftrace_tracer_make_default(&n->tr, "mine_4"),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, ftrace_tracer_make_default(&n->tr, "mine"), 0);
	join(&n->ops[3]);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_tracer_default(&n->tr),
			    n->ops[3].tracer);
	ftrace_tracer_leave(&n->ops[3]);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_tracer_default(&n->tr),
			    n->ops[0].tracer);
	ftrace_tracer_leave(&n->ops[0]);
	KUNIT_EXPECT_PTR_EQ(test, ftrace_tracer_default(&n->tr),
			    n->ops[1].tracer);
	ftrace_tracer_leave(&n->ops[1]);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_default(&n->tr));
}

static void known_test(struct kunit *test)
{
	struct names *n = test->priv;

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_TRUE(test, ftrace_tracers_known(&n->tr));
	join(&n->ops[0]);
	KUNIT_EXPECT_FALSE(test, ftrace_tracers_known(&n->tr));
	ftrace_tracers_mark_known(&n->tr);
	KUNIT_EXPECT_TRUE(test, ftrace_tracers_known(&n->tr));
	/* It has nothing to do with the filters that are written. */
	n->ops[1].flags |= FTRACE_OPS_FL_OWN_FILTER;
	join(&n->ops[1]);
	KUNIT_EXPECT_TRUE(test, ftrace_tracers_known(&n->tr));
	join(&n->ops[2]);
	KUNIT_EXPECT_FALSE(test, ftrace_tracers_known(&n->tr));
	ftrace_tracer_leave(&n->ops[2]);
	KUNIT_EXPECT_TRUE(test, ftrace_tracers_known(&n->tr));
}

static void begin_test(struct kunit *test)
{
	struct names *n = test->priv;

	guard(mutex)(&ftrace_lock);
	give_filter(&n->own, 16);
	join(&n->own);
	/* Nobody has looked. */
	join(&n->ops[0]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[0]), 0);
	ftrace_tracer_leave(&n->ops[0]);
	ftrace_tracers_mark_known(&n->tr);
	/* The second time it is not new. */
	join(&n->ops[0]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[0]), 0);
	ftrace_tracer_leave(&n->ops[0]);
	join(&n->ops[1]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[1]), 16);
	give_filter(&n->ops[1], 32);
	KUNIT_EXPECT_EQ(test, site_of(&n->own), 16);
	ftrace_tracers_mark_known(&n->tr);
	/* It has one. */
	give_filter(&n->ops[2], 48);
	join(&n->ops[2]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[2]), 48);
	ftrace_tracer_leave(&n->ops[2]);
	/* It wants none. */
	n->ops[3].flags |= FTRACE_OPS_FL_OWN_FILTER;
	join(&n->ops[3]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[3]), 0);
}

static void cancel_test(struct kunit *test)
{
	struct names *n = test->priv;

	guard(mutex)(&ftrace_lock);
	give_filter(&n->own, 16);
	join(&n->own);
	ftrace_tracers_mark_known(&n->tr);
	KUNIT_EXPECT_EQ(test, ftrace_tracer_prepare(&n->ops[0]), 0);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[0]), 16);
	ftrace_tracer_cancel(&n->ops[0]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[0]), 0);
	KUNIT_EXPECT_NULL(test, n->ops[0].tracer);
	KUNIT_EXPECT_NULL(test, ftrace_tracer_find(&n->tr, "mine"));
	/* What it was before it is again: not new. */
	join(&n->ops[1]);
	KUNIT_EXPECT_EQ(test, give_filter(&n->ops[1], 32), 0);
	ftrace_tracer_leave(&n->ops[1]);
	KUNIT_EXPECT_EQ(test, ftrace_tracer_prepare(&n->ops[1]), 0);
	ftrace_tracer_cancel(&n->ops[1]);
	KUNIT_EXPECT_EQ(test, site_of(&n->ops[1]), 32);
	KUNIT_EXPECT_EQ(test, n->ops[1].local_hash.past, FTRACE_FILTER_USED);
}

/* What waits for a module goes where the filter goes. */
static void waiting_test(struct kunit *test)
{
	struct names *n = test->priv;
	struct hlist_head *own = &n->own.local_hash.waiting[false];
	struct hlist_head *first = &n->ops[0].local_hash.waiting[false];
	struct hlist_head *second = &n->ops[1].local_hash.waiting[false];
	struct ftrace_hash *none = NULL;

	guard(mutex)(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, 0, ftrace_apply_mod_pattern(&none, own, "f",
							  "no_such_a"));
	n->ops[0].func_hash = &n->own.local_hash;
	join(&n->ops[0]);
	KUNIT_EXPECT_TRUE(test, hlist_empty(first));
	KUNIT_EXPECT_EQ(test, ftrace_tracer_separate(n->ops[0].tracer), 0);
	KUNIT_EXPECT_FALSE(test, hlist_empty(first));
	ftrace_tracers_mark_known(&n->tr);
	KUNIT_EXPECT_EQ(test, ftrace_tracer_prepare(&n->ops[1]), 0);
	KUNIT_EXPECT_FALSE(test, hlist_empty(second));
	ftrace_tracer_cancel(&n->ops[1]);
	KUNIT_EXPECT_TRUE(test, hlist_empty(second));
	/* Also when its tracer leaves and comes back. */
	ftrace_tracer_leave(&n->ops[0]);
	KUNIT_EXPECT_FALSE(test, hlist_empty(first));
	join(&n->ops[0]);
	KUNIT_EXPECT_FALSE(test, hlist_empty(first));
	KUNIT_EXPECT_FALSE(test, hlist_empty(own));
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* As allocate_fgraph_ops() makes it: the array's own tracer. */
static struct ftrace_ops *graph_of(struct names *n)
{
	n->tr.gops = &n->graph;
	fgraph_init_ops(&n->graph.ops, &n->own);
	return &n->graph.ops;
}

/* An array's filter is not new while its graph tracer runs with it. */
static void both_test(struct kunit *test)
{
	struct names *n = test->priv;
	struct ftrace_ops *graph = graph_of(n);

	guard(mutex)(&ftrace_lock);
	join(graph);
	give_filter(&n->ops[0], 16);
	join(&n->ops[0]);
	ftrace_tracers_mark_known(&n->tr);
	join(&n->own);
	KUNIT_EXPECT_EQ(test, site_of(graph), 0);
	ftrace_tracer_leave(graph);
}

/* Two that have the filter of the array, until one of them is addressed. */
static void separate_test(struct kunit *test)
{
	struct names *n = test->priv;
	struct ftrace_ops *graph = graph_of(n), *shares = &n->ops[1];

	guard(mutex)(&ftrace_lock);
	give_filter(&n->own, 16);
	shares->func_hash = &n->own.local_hash;
	join(graph);
	join(shares);
	KUNIT_EXPECT_TRUE(test, ftrace_tracer_is_array_own(graph->tracer));
	KUNIT_EXPECT_FALSE(test, ftrace_tracer_is_array_own(shares->tracer));
	KUNIT_EXPECT_PTR_EQ(test, shares->func_hash, &n->own.local_hash);

	/* It is the other one that gets a filter of its own, the same. */
	KUNIT_EXPECT_EQ(test, ftrace_tracer_separate(graph->tracer), 0);
	KUNIT_EXPECT_PTR_EQ(test, graph->func_hash, &n->own.local_hash);
	KUNIT_EXPECT_PTR_EQ(test, shares->func_hash, &shares->local_hash);
	KUNIT_EXPECT_EQ(test, site_of(shares), 16);
	give_filter(graph, 32);
	KUNIT_EXPECT_EQ(test, site_of(&n->own), 32);
	KUNIT_EXPECT_EQ(test, site_of(shares), 16);

	/* Also if it has been away. */
	ftrace_tracer_leave(shares);
	join(shares);
	KUNIT_EXPECT_EQ(test, site_of(shares), 16);
	ftrace_tracers_share(&n->tr);
	KUNIT_EXPECT_PTR_EQ(test, shares->func_hash, &n->own.local_hash);
	KUNIT_EXPECT_EQ(test, site_of(shares), 32);
	ftrace_tracer_leave(graph);
	/* As if the array's own ops had run. */
	KUNIT_EXPECT_EQ(test, n->own.local_hash.past, FTRACE_FILTER_USED);
}
#endif

static struct kunit_case tracers_cases[] = {
	KUNIT_CASE(suffix_test),
	KUNIT_CASE(bad_name_test),
	KUNIT_CASE(default_test),
	KUNIT_CASE(known_test),
	KUNIT_CASE(begin_test),
	KUNIT_CASE(cancel_test),
	KUNIT_CASE(waiting_test),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(both_test),
	KUNIT_CASE(separate_test),
#endif
	{}
};

static struct kunit_suite tracers_suite = {
	.name		= "ftrace-tracers",
	.init		= names_init,
	.exit		= names_exit,
	.test_cases	= tracers_cases,
};

kunit_test_suite(tracers_suite);
