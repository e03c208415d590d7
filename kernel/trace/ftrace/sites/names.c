// SPDX-License-Identifier: GPL-2.0
/*
 * The names of records.
 *
 * Records and the kernel's symbols are both in the order of addresses, so one
 * walk through both finds every name, with all aliases, and no look-up. The
 * symbols of a module are not in order: a sorted index of them is made for the
 * time of the walk.
 */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "names.h"

/*
 * How far after the start of its function a call site can lie: an endbr64 may
 * come before it.
 */
#define SITE_OFFSET_MAX	4

/* A symbol of a module: where it is, and where in the pool its name begins. */
struct mod_sym {
	u32	key;
	u32	name;
};

/**
 * struct ftrace_mod_syms - the function symbols of one region of a module
 * @r: the region
 * @sym: the symbols, ascending by address
 * @nr: how many
 * @size: how many @sym has room for
 * @pool: the names, copied, since the module may drop its own
 * @used: how much of @pool is in use
 * @room: how long @pool is
 */
struct ftrace_mod_syms {
	struct ftrace_region	*r;
	struct mod_sym		*sym;
	unsigned int		nr;
	unsigned int		size;
	char			*pool;
	unsigned int		used;
	unsigned int		room;
};

static int add_mod_sym(void *data, const char *name, unsigned long addr)
{
	struct ftrace_mod_syms *s = data;
	size_t len;

	if (addr < s->r->start || addr >= s->r->end || !*name)
		return 0;
	/* The padding before a function, further from its site than SITE_OFFSET_MAX. */
	if (str_has_prefix(name, "__pfx_"))
		return 0;
	len = strlen(name) + 1;
	if (s->nr == s->size) {
		unsigned int size = max(64U, 2 * s->size);
		void *p = kvrealloc(s->sym, array_size(size, sizeof(*s->sym)),
				    GFP_KERNEL);

		if (!p)
			return -ENOMEM;
		s->sym = p;
		s->size = size;
	}
	if (s->used + len > s->room) {
		unsigned int room = max_t(size_t, 2048, 2 * (s->used + len));
		void *p = kvrealloc(s->pool, room, GFP_KERNEL);

		if (!p)
			return -ENOMEM;
		s->pool = p;
		s->room = room;
	}
	memcpy(s->pool + s->used, name, len);
	s->sym[s->nr].key = ftrace_text_key(addr);
	s->sym[s->nr++].name = s->used;
	s->used += len;
	return 0;
}

static int cmp_mod_syms(const void *a, const void *b)
{
	const struct mod_sym *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void free_mod_syms(struct ftrace_mod_syms *s)
{
	if (!s)
		return;
	kvfree(s->sym);
	kvfree(s->pool);
	kfree(s);
}

static struct ftrace_mod_syms *index_mod_syms(struct ftrace_region *r)
{
	struct ftrace_mod_syms *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->r = r;
	if (module_kallsyms_on_each_symbol(ftrace_region_mod_name(r),
					   add_mod_sym, s)) {
		free_mod_syms(s);
		return NULL;
	}
	sort(s->sym, s->nr, sizeof(*s->sym), cmp_mod_syms, NULL);
	return s;
}

/* Address of the symbol the walk is at, ULONG_MAX at the end. */
static unsigned long mod_addr(const struct ftrace_names *n)
{
	if (n->mod_idx == n->mod->nr)
		return ULONG_MAX;
	return ftrace_text_addr(n->mod->sym[n->mod_idx].key);
}

/* Go to the first symbol that does not lie below @addr, from wherever the walk is. */
static void seek_mod_sym(struct ftrace_names *n, unsigned long addr)
{
	unsigned int low = 0, high = n->mod->nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ftrace_text_addr(n->mod->sym[mid].key) < addr)
			low = mid + 1;
		else
			high = mid;
	}
	n->mod_idx = low;
	n->addr = mod_addr(n);
}

/* Go on to the first symbol that does not lie below @addr. */
static void skip_to(struct ftrace_names *n, unsigned long addr)
{
	if (n->addr >= addr)
		return;
	if (!n->mod) {
		n->addr = kallsyms_cursor_skip(&n->pos, addr);
		if (n->addr >= n->r->end)
			n->addr = ULONG_MAX;
		return;
	}
	do {
		n->mod_idx++;
		n->addr = mod_addr(n);
	} while (n->addr < addr);
}

/* Go on to the next symbol, even if it is at the same address. */
static void advance(struct ftrace_names *n)
{
	if (n->mod) {
		n->mod_idx++;
		n->addr = mod_addr(n);
		return;
	}
	n->addr = kallsyms_cursor_next(&n->pos);
	if (n->addr >= n->r->end)
		n->addr = ULONG_MAX;
}

static void step_back(struct ftrace_names *n, unsigned long addr)
{
	if (n->mod)
		seek_mod_sym(n, addr);
	else
		n->addr = kallsyms_cursor_seek(&n->pos, addr);
}

/**
 * ftrace_names_start - begin a walk over the names in a region
 * @n: the walk
 * @r: the region
 * @addr: where in the region to begin
 *
 * Context: process, ftrace_lock held. Takes module_mutex.
 * Return: 0 or -ENOMEM.
 */
int ftrace_names_start(struct ftrace_names *n, struct ftrace_region *r,
		       unsigned long addr)
{
	lockdep_assert_held(&ftrace_lock);
	n->r = NULL;
	n->sieve = NULL;
	n->last = 0;
	n->mod = NULL;
	if (r->mod) {
		n->mod = index_mod_syms(r);
		if (!n->mod)
			return -ENOMEM;
		seek_mod_sym(n, addr);
	} else {
		n->addr = kallsyms_cursor_seek(&n->pos, addr);
		if (n->addr >= r->end)
			n->addr = ULONG_MAX;
	}
	n->r = r;
	n->gen = r->gen;
	return 0;
}

/**
 * ftrace_names_stop - end a walk over names
 * @n: the walk; one that was never started will do if it is all zero
 */
void ftrace_names_stop(struct ftrace_names *n)
{
	free_mod_syms(n->mod);
	n->mod = NULL;
	n->r = NULL;
}

static const char *name_at(struct ftrace_names *n)
{
	const char *name;

	if (n->mod) {
		name = n->mod->pool + n->mod->sym[n->mod_idx].name;
		n->len = strlen(name);
		return name;
	}
	n->len = kallsyms_cursor_name(&n->pos, n->name);
	return n->name;
}

static bool held_back(const struct ftrace_names *n)
{
	return n->sieve && !n->mod && !kallsyms_cursor_sieve(&n->pos, n->sieve);
}

/**
 * ftrace_names_next_symbol - the next symbol of the region
 * @n: the walk
 *
 * Context: ftrace_lock held.
 * Return: its address, 0 when there is none left.
 */
unsigned long ftrace_names_next_symbol(struct ftrace_names *n)
{
	unsigned long addr = n->addr;

	if (addr == ULONG_MAX)
		return 0;
	advance(n);
	return addr;
}

/**
 * ftrace_names_has - is a call site that of a function with a name?
 * @n: the walk
 * @ip: the call site, not below any asked for before
 *
 * Context: ftrace_lock held.
 */
bool ftrace_names_has(struct ftrace_names *n, unsigned long ip)
{
	skip_to(n, ip - SITE_OFFSET_MAX);
	return n->addr <= ip;
}

/* Go on to the next name of the function of a call site. */
static bool find_alias(struct ftrace_names *n, unsigned long ip)
{
	skip_to(n, ip - SITE_OFFSET_MAX);
	while (n->addr <= ip && held_back(n))
		advance(n);
	return n->addr <= ip;
}

/**
 * ftrace_names_next_alias - the next name of the function of a call site
 * @n: the walk
 * @ip: the call site, not below any asked for before
 *
 * Context: ftrace_lock held.
 * Return: the name, @n->len characters, good until the next call; NULL if there
 * is no other.
 */
const char *ftrace_names_next_alias(struct ftrace_names *n, unsigned long ip)
{
	const char *name;

	if (!find_alias(n, ip))
		return NULL;
	name = name_at(n);
	n->last_addr = n->addr;
	advance(n);
	return name;
}

/* Have the walk stand before the name of @ip, in whatever region that is. */
static int walk_to(struct ftrace_names *n, struct ftrace_region *r,
		   unsigned long ip)
{
	bool known = n->r == r && n->gen == r->gen;
	int ret;

	if (!known) {
		ftrace_names_stop(n);
		ret = ftrace_names_start(n, r, ip - SITE_OFFSET_MAX);
		if (ret)
			return ret;
	} else if (ip <= n->last) {
		/* A line that found no room is printed again. */
		step_back(n, ip - SITE_OFFSET_MAX);
	}
	n->last = ip;
	return 0;
}

/* Where there is room, the name is made in the buffer itself. */
static void put_name(struct ftrace_names *n, struct seq_file *m)
{
	const char *name;
	char *buf;

	if (!n->mod && seq_get_buf(m, &buf) >= FTRACE_NAME_SIZE) {
		seq_commit(m, kallsyms_cursor_name(&n->pos, buf));
		return;
	}
	name = name_at(n);
	seq_write(m, name, n->len);
}

/**
 * ftrace_names_show - print the name under which a call site is listed
 * @n: a walk; started anew where needed, and good over a drop of the lock
 * @m: where to print
 * @r: the region of the site
 * @ip: the site
 *
 * Context: process, ftrace_lock held.
 * Return: 0 or -ENOMEM.
 */
int ftrace_names_show(struct ftrace_names *n, struct seq_file *m,
		      struct ftrace_region *r, unsigned long ip)
{
	int ret;

	ret = walk_to(n, r, ip);
	if (ret)
		return ret;
	if (find_alias(n, ip)) {
		put_name(n, m);
		advance(n);
	} else {
		seq_printf(m, "%ps", (void *)ip);
	}
	if (r->mod) {
		seq_puts(m, " [");
		seq_puts(m, ftrace_region_mod_name(r));
		seq_putc(m, ']');
	}
	return 0;
}
