// SPDX-License-Identifier: GPL-2.0
/*
 * From call sites to what a function probe keeps for each of them. A probe may
 * look its data up from anywhere that a function can be called.
 *
 * What is in the table is freed by ftrace_kvfree_rcu(), which waits for the first and
 * last calls on a CPU that comes or goes as well. The old table that rhashtable frees
 * after a resize waits only for a grace period. Left as it is: a whole resize and a grace
 * period would have to pass while such a CPU, its interrupts off, is in one look-up.
 */
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "../core.h"

/**
 * struct ftrace_func_mapper - what a probe keeps for each of its call sites
 * @table: of struct mapping
 */
struct ftrace_func_mapper {
	struct rhashtable	table;
};

struct mapping {
	struct rcu_head		rcu;
	struct rhash_head	node;
	unsigned long		ip;
	void			*data;
};

/* For ftrace_kvfree_rcu(). */
static_assert(!offsetof(struct mapping, rcu));

static const struct rhashtable_params mapper_params = {
	.key_len		= sizeof_field(struct mapping, ip),
	.key_offset		= offsetof(struct mapping, ip),
	.head_offset		= offsetof(struct mapping, node),
	.automatic_shrinking	= true,
};

/**
 * allocate_ftrace_func_mapper - make an empty mapper
 *
 * Context: process.
 * Return: the mapper, or NULL if there is no memory.
 */
struct ftrace_func_mapper *allocate_ftrace_func_mapper(void)
{
	struct ftrace_func_mapper *mapper = kzalloc(sizeof(*mapper), GFP_KERNEL);

	if (!mapper)
		return NULL;
	if (rhashtable_init(&mapper->table, &mapper_params)) {
		kfree(mapper);
		return NULL;
	}
	return mapper;
}

/**
 * ftrace_func_mapper_find_ip - where the data of a call site is kept
 * @mapper: the mapper
 * @ip: the site
 *
 * Context: any, NMI included. From the callback of a probe the result is good
 * until that returns; anywhere else the caller keeps @ip from being removed.
 * Return: a place that may also be written to, NULL if @ip has none.
 */
void **ftrace_func_mapper_find_ip(struct ftrace_func_mapper *mapper,
				  unsigned long ip)
{
	struct mapping *map;

	map = rhashtable_lookup_fast(&mapper->table, &ip, mapper_params);
	return map ? &map->data : NULL;
}

/**
 * ftrace_func_mapper_add_ip - keep data for a call site
 * @mapper: the mapper
 * @ip: the site
 * @data: the data
 *
 * Context: process; the caller serialises changes of @mapper.
 * Return: 0, -EBUSY if there is some already, -ENOMEM or another error of the
 * hash table.
 */
int ftrace_func_mapper_add_ip(struct ftrace_func_mapper *mapper,
			      unsigned long ip, void *data)
{
	struct mapping *map = kmalloc(sizeof(*map), GFP_KERNEL);
	int ret;

	if (!map)
		return -ENOMEM;
	map->ip = ip;
	map->data = data;
	ret = rhashtable_lookup_insert_fast(&mapper->table, &map->node,
					    mapper_params);
	if (ret)
		kfree(map);
	return ret == -EEXIST ? -EBUSY : ret;
}

/**
 * ftrace_func_mapper_remove_ip - stop keeping data for a call site
 * @mapper: the mapper
 * @ip: the site
 *
 * Context: process, may sleep; the caller serialises changes of @mapper.
 * Return: the data, now the caller's; NULL if there was none.
 */
void *ftrace_func_mapper_remove_ip(struct ftrace_func_mapper *mapper,
				   unsigned long ip)
{
	struct mapping *map;
	void *data;

	map = rhashtable_lookup_fast(&mapper->table, &ip, mapper_params);
	if (!map)
		return NULL;
	rhashtable_remove_fast(&mapper->table, &map->node, mapper_params);
	data = map->data;
	/* A look-up of a neighbour in the table may be walking across it. */
	ftrace_kvfree_rcu(&map->rcu);
	return data;
}

static void free_mapping(void *ptr, void *arg)
{
	ftrace_mapper_func free_func = *(ftrace_mapper_func *)arg;
	struct mapping *map = ptr;

	if (free_func)
		free_func(map->data);
	kfree(map);
}

/**
 * free_ftrace_func_mapper - free a mapper with all that is in it
 * @mapper: the mapper, which nobody can find any more; or NULL
 * @free_func: called for the data of each call site; or NULL
 *
 * Context: process, may sleep.
 */
void free_ftrace_func_mapper(struct ftrace_func_mapper *mapper,
			     ftrace_mapper_func free_func)
{
	if (!mapper)
		return;
	rhashtable_free_and_destroy(&mapper->table, free_mapping, &free_func);
	kfree(mapper);
}
