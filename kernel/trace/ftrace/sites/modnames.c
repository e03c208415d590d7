// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of modules by one name.
 *
 * The kernel's own symbols are sorted by name, those of modules are in no order: to
 * find a name is to look at all of them. For a few words that will do. But somebody
 * may write thousands of words to a filter file, and a module for which thousands wait
 * may come. So meanwhile what the first searches read again and again is kept, by the
 * hashes of the names.
 *
 * What is kept is not used any more once text has come or gone: there may be other
 * symbols, and something else at an address. The names are copies, for their own
 * memory may go earlier than the text.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "names.h"

/* To read all and keep it takes about as long as this many searches. */
#define SEARCHES	16

/**
 * struct mod_symbol - a function of a module
 * @addr: its address
 * @name: where in mod_names.text its name is
 * @next: 1 + the index of the next one with such a hash; 0: none
 */
struct mod_symbol {
	unsigned long	addr;
	u32		name;
	u32		next;
};

/**
 * struct mod_names - all functions of modules, by name
 * @gen: ftrace_regions_gen when they were read
 * @symbol: the functions
 * @nr: how many there are
 * @nr_max: how many @symbol has room for
 * @text: their names
 * @len: how long @text is
 * @len_max: how much room it has
 * @first: for each hash, 1 + the index of a symbol; 0: none
 * @bits: of the hashes
 * @salt: of the hashes, so that nobody can choose names that have the same
 */
struct mod_names {
	u64			gen;
	struct mod_symbol	*symbol;
	u32			nr;
	u32			nr_max;
	char			*text;
	size_t			len;
	size_t			len_max;
	u32			*first;
	unsigned int		bits;
	unsigned long		salt;
};

/*
 * What is kept; NULL: nothing. For how many users it is kept, and how many searches there
 * were since nothing was. ftrace_lock.
 */
static struct mod_names *kept;
static unsigned int users, searches;

static u32 bucket_of(const struct mod_names *names, const char *name)
{
	return hash_32(hashlen_hash(hashlen_string((void *)names->salt, name)),
		       names->bits);
}

static void names_free(struct mod_names *names)
{
	if (!names)
		return;
	kvfree(names->symbol);
	kvfree(names->text);
	kvfree(names->first);
	kfree(names);
}

static int count_symbol(void *data, const char *name, unsigned long addr)
{
	struct mod_names *names = data;

	cond_resched();
	if (!ftrace_region_find(addr))
		return 0;
	names->nr_max++;
	names->len_max += strlen(name) + 1;
	return 0;
}

/*
 * What is in a region is the same as when it was counted, for that comes and goes under
 * ftrace_lock. Should that ever change, this is given up.
 */
static int add_symbol(void *data, const char *name, unsigned long addr)
{
	struct mod_names *names = data;
	size_t size = strlen(name) + 1;
	struct mod_symbol *s;
	u32 *first;

	cond_resched();
	if (!ftrace_region_find(addr))
		return 0;
	if (names->nr == names->nr_max || names->len_max - names->len < size)
		return -EAGAIN;
	s = &names->symbol[names->nr++];
	s->addr = addr;
	s->name = names->len;
	memcpy(names->text + names->len, name, size);
	names->len += size;
	first = &names->first[bucket_of(names, name)];
	s->next = *first;
	*first = names->nr;
	return 0;
}

/* NULL if there is no memory: then all symbols are searched each time. */
static struct mod_names *names_read(void)
{
	struct mod_names *names = kzalloc(sizeof(*names), GFP_KERNEL);

	if (!names)
		return NULL;
	module_kallsyms_on_each_symbol(NULL, count_symbol, names);
	if (names->len_max > U32_MAX)
		goto fail;
	names->gen = ftrace_regions_gen;
	names->bits = ilog2(names->nr_max | 1) + 1;
	names->salt = get_random_long();
	names->symbol = kvmalloc_array(names->nr_max, sizeof(*names->symbol), GFP_KERNEL);
	names->text = kvmalloc(names->len_max, GFP_KERNEL);
	names->first = kvcalloc(BIT(names->bits), sizeof(*names->first), GFP_KERNEL);
	if (!names->symbol || !names->text || !names->first)
		goto fail;
	if (!module_kallsyms_on_each_symbol(NULL, add_symbol, names))
		return names;
fail:
	names_free(names);
	return NULL;
}

static void drop(void)
{
	names_free(kept);
	kept = NULL;
	searches = 0;
}

/**
 * struct search - for the functions of one name
 * @name: the name
 * @fn: what to call for each
 * @data: its first argument
 */
struct search {
	const char	*name;
	int		(*fn)(void *data, unsigned long addr);
	void		*data;
};

static int compare_symbol(void *data, const char *name, unsigned long addr)
{
	const struct search *s = data;

	return strcmp(name, s->name) ? 0 : s->fn(s->data, addr);
}

/**
 * ftrace_modnames_each - look for the functions of modules that have a name
 * @name: the name
 * @fn: called for the address of each symbol of that name, in any order, until it does
 *	not return 0; it has to judge whether that is a function
 * @data: its first argument
 *
 * Context: process, ftrace_lock held.
 * Return: what @fn returned last; 0 if it was never called.
 */
int ftrace_modnames_each(const char *name, int (*fn)(void *data, unsigned long addr),
			 void *data)
{
	struct search search = { .name = name, .fn = fn, .data = data };
	const struct mod_symbol *s;
	int ret = 0;
	u32 i;

	lockdep_assert_held(&ftrace_lock);
	if (kept && kept->gen != ftrace_regions_gen)
		drop();
	if (users && !kept && ++searches > SEARCHES) {
		kept = names_read();
		searches = 0;
	}
	if (!kept)
		return module_kallsyms_on_each_symbol(NULL, compare_symbol, &search);
	for (i = kept->first[bucket_of(kept, name)]; i && !ret; i = s->next) {
		s = &kept->symbol[i - 1];
		if (!strcmp(kept->text + s->name, name))
			ret = fn(data, s->addr);
	}
	return ret;
}

/**
 * ftrace_modnames_begin - many names may be looked for from now on
 *
 * Context: process, ftrace_lock held, which may be dropped before the end.
 */
void ftrace_modnames_begin(void)
{
	lockdep_assert_held(&ftrace_lock);
	users++;
}

/**
 * ftrace_modnames_end - no more for now
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_modnames_end(void)
{
	lockdep_assert_held(&ftrace_lock);
	if (!WARN_ON_ONCE(!users) && !--users)
		drop();
}
