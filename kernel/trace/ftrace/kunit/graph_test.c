// SPDX-License-Identifier: GPL-2.0
/*
 * Graph users: which calls they see begin and end, alone, together and beside
 * other ops.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <asm/text-patching.h>

#include "../fgraph.h"
#include "victim.h"

/**
 * struct graph_user - a graph user that counts
 * @gops: to register it
 * @skip: let returns alone
 * @entries: calls it has seen
 * @returns: of them, those it has seen end
 * @func: the last call site
 * @retval: what that function returned
 */
struct graph_user {
	struct fgraph_ops	gops;
	bool			skip;
	unsigned int		entries;
	unsigned int		returns;
	unsigned long		func;
	unsigned long		retval;
};

static notrace int on_entry(struct ftrace_graph_ent *trace,
			    struct fgraph_ops *gops)
{
	struct graph_user *u = container_of(gops, struct graph_user, gops);

	u->entries++;
	u->func = trace->func;
	return !u->skip;
}

static notrace void on_return(struct ftrace_graph_ret *trace,
			      struct fgraph_ops *gops)
{
	struct graph_user *u = container_of(gops, struct graph_user, gops);

	u->returns++;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	u->retval = trace->retval;
#endif
}

static struct graph_user *graph_user_of(struct kunit *test)
{
	struct graph_user *u = kunit_kzalloc(test, sizeof(*u), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, u);
	u->gops.entryfunc = on_entry;
	u->gops.retfunc = on_return;
	return u;
}

static unsigned long site_of(unsigned int victim)
{
	return ftrace_location((unsigned long)ftrace_victims[victim].func);
}

static void add_to(struct kunit *test, struct ftrace_ops *ops,
		   unsigned int victim)
{
	KUNIT_ASSERT_EQ(test, 0,
			ftrace_set_filter_ip(ops, site_of(victim), 0, 0));
}

/* Each of them once: nobody may notice in what they return. */
static void call_all(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < FTRACE_NR_VICTIMS; i++)
		KUNIT_EXPECT_EQ(test, ftrace_victims[i].func(),
				ftrace_victims[i].answer);
}

static void alone_test(struct kunit *test)
{
	struct graph_user *u = graph_user_of(test);

	add_to(test, &u->gops.ops, 1);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&u->gops));
	call_all(test);
	call_all(test);
	unregister_ftrace_graph(&u->gops);
	call_all(test);
	KUNIT_EXPECT_EQ(test, u->entries, 2);
	KUNIT_EXPECT_EQ(test, u->returns, 2);
	KUNIT_EXPECT_EQ(test, u->func, site_of(1));
	if (IS_ENABLED(CONFIG_FUNCTION_GRAPH_RETVAL))
		KUNIT_EXPECT_EQ(test, (unsigned int)u->retval,
				ftrace_victims[1].answer);
	ftrace_free_filter(&u->gops.ops);
}

static void skip_test(struct kunit *test)
{
	struct graph_user *u = graph_user_of(test);

	u->skip = true;
	add_to(test, &u->gops.ops, 1);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&u->gops));
	call_all(test);
	unregister_ftrace_graph(&u->gops);
	KUNIT_EXPECT_EQ(test, u->entries, 1);
	KUNIT_EXPECT_EQ(test, u->returns, 0);
	ftrace_free_filter(&u->gops.ops);
}

/*
 * They share the function in the middle. fgraph.c shows the first graph user
 * more returns than it asked for.
 */
static void several_test(struct kunit *test)
{
	struct graph_user *a = graph_user_of(test), *b = graph_user_of(test);

	add_to(test, &a->gops.ops, 0);
	add_to(test, &a->gops.ops, 1);
	add_to(test, &b->gops.ops, 1);
	add_to(test, &b->gops.ops, 2);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&a->gops));
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&b->gops));
	call_all(test);
	KUNIT_EXPECT_EQ(test, a->entries, 2);
	KUNIT_EXPECT_EQ(test, b->entries, 2);
	KUNIT_EXPECT_EQ(test, b->returns, b->gops.idx ? 2 : 3);
	unregister_ftrace_graph(&a->gops);
	call_all(test);
	KUNIT_EXPECT_EQ(test, a->entries, 2);
	KUNIT_EXPECT_EQ(test, b->entries, 4);
	unregister_ftrace_graph(&b->gops);
	call_all(test);
	KUNIT_EXPECT_EQ(test, b->entries, 4);
	ftrace_free_filter(&a->gops.ops);
	ftrace_free_filter(&b->gops.ops);
}

static unsigned int nr_called;
static unsigned long parent, return_now;

static notrace void callback(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	nr_called++;
	parent = parent_ip;
	return_now = *(unsigned long *)ftrace_regs_get_stack_pointer(fregs);
}

/*
 * Whichever comes first, other ops see who called, not what took its place. The
 * graph user replaces the return address after all others: what an unwinder finds
 * on the stack is that of the graph user, and only then another's.
 */
static void beside_test(struct kunit *test)
{
	struct ftrace_ops *ops;
	struct graph_user *u;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		u = graph_user_of(test);
		ops = kunit_kzalloc(test, sizeof(*ops), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, ops);
		ops->func = callback;
		nr_called = 0;
		add_to(test, &u->gops.ops, 0);
		add_to(test, ops, 0);
		if (i)
			KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(ops));
		KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&u->gops));
		if (!i)
			KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(ops));
		call_all(test);
		KUNIT_EXPECT_EQ(test, nr_called, 1);
		KUNIT_EXPECT_NE(test, parent, (unsigned long)return_to_handler);
		KUNIT_EXPECT_TRUE(test, kernel_text_address(parent));
		KUNIT_EXPECT_EQ(test, return_now, parent);
		KUNIT_EXPECT_EQ(test, u->entries, 1);
		KUNIT_EXPECT_EQ(test, u->returns, 1);
		unregister_ftrace_graph(&u->gops);
		KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(ops));
		ftrace_free_filter(&u->gops.ops);
		ftrace_free_filter(ops);
	}
}

/* The static path is a nop again when the last user is gone. */
static void switch_test(struct kunit *test)
{
	struct graph_user *u = graph_user_of(test);
	u8 *sites[] = { ftrace_graph_call, ftrace_graph_regs_call };
	unsigned int i;

	KUNIT_ASSERT_FALSE_MSG(test, ftrace_graph_active,
			       "someone traces with the graph tracer");
	add_to(test, &u->gops.ops, 0);
	for (i = 0; i < ARRAY_SIZE(sites); i++)
		KUNIT_EXPECT_NE(test, *sites[i], CALL_INSN_OPCODE);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&u->gops));
	for (i = 0; i < ARRAY_SIZE(sites); i++)
		KUNIT_EXPECT_EQ(test, *sites[i], CALL_INSN_OPCODE);
	unregister_ftrace_graph(&u->gops);
	for (i = 0; i < ARRAY_SIZE(sites); i++)
		KUNIT_EXPECT_NE(test, *sites[i], CALL_INSN_OPCODE);
	ftrace_free_filter(&u->gops.ops);
}

static struct kunit_case graph_cases[] = {
	KUNIT_CASE(alone_test),
	KUNIT_CASE(skip_test),
	KUNIT_CASE(several_test),
	KUNIT_CASE(beside_test),
	KUNIT_CASE(switch_test),
	{}
};

static struct kunit_suite graph_suite = {
	.name		= "ftrace-graph",
	.test_cases	= graph_cases,
};

kunit_test_suite(graph_suite);
