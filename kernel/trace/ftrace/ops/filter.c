// SPDX-License-Identifier: GPL-2.0
/*
 * The filters of ops, half by half.
 */
#include "../sites/names.h"
#include "ops.h"

static struct ftrace_hash *half_of(const struct ftrace_ops_hash *h, bool enable)
{
	return rcu_dereference_protected(enable ? h->filter_hash : h->notrace_hash,
					 lockdep_is_held(&ftrace_lock));
}

/* Callbacks may still look at what was there. */
static void replace_half(struct ftrace_ops_hash *h, struct ftrace_hash *hash,
			 bool enable)
{
	struct ftrace_hash *old = half_of(h, enable);

	if (enable)
		rcu_assign_pointer(h->filter_hash, hash);
	else
		rcu_assign_pointer(h->notrace_hash, hash);
	ftrace_hash_free_rcu(old);
}

/**
 * ftrace_filter_is_usable - are the call sites of a filter good enough for an ops?
 * @f: the filter
 * @all: the ops sends functions elsewhere, and relies on each of them going there: no
 *	 site may have been set aside, and the filter has to be a list.
 *	 For any other ops one good site is enough, and so is a list of which
 *	 nothing is left, because the text has gone or notrace takes it away.
 *
 * Context: process, ftrace_lock held.
 */
bool ftrace_filter_is_usable(const struct ftrace_filter *f, bool all)
{
	bool any_bad = false;
	unsigned int i;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_hash_empty(f->filter))
		return !all;
	for (i = 0; i < f->filter->count; i++) {
		unsigned long ip = ftrace_text_addr(f->filter->sites[i]);
		bool bad;

		if (!ftrace_filter_wants(f, ip))
			continue;
		bad = ftrace_site_is_bad(ip);
		if (bad == all)
			return !all;
		any_bad |= bad;
	}
	return !any_bad;
}

static bool can_use(const struct ftrace_ops *ops, const struct ftrace_filter *f)
{
	return !(ops->flags & FTRACE_OPS_DIVERTS) || !ftrace_hash_empty(f->filter);
}

/* Only the filter of a trace array can be shared; then all who have it are looked at. */
static bool is_for_itself(const struct ftrace_ops *ops)
{
	return !ops->tr && ops != &global_ops && ops->func_hash == &ops->local_hash;
}

/*
 * How many registered ops use the filter of @ops; -EINVAL if one of them cannot use
 * @new.
 */
static int check_users(const struct ftrace_ops *ops, const struct ftrace_filter *new)
{
	struct ftrace_ops *user;
	int nr = 0;

	if (is_for_itself(ops)) {
		if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
			return 0;
		return can_use(ops, new) ? 1 : -EINVAL;
	}
	for_each_ftrace_ops(user) {
		if (user->func_hash != ops->func_hash)
			continue;
		if (!can_use(user, new))
			return -EINVAL;
		nr++;
	}
	return nr;
}

/**
 * ftrace_ops_replace_half - replace one half of an ops' filter
 * @ops: the ops, registered or not
 * @hash: the set of call sites, NULL for none; not the caller's any more if
 *	  this succeeds
 * @enable: it is what to trace; otherwise, what not to
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL (a registered ops that sends functions elsewhere would mean
 * all of them), -ENODEV (ftrace is dead) or an error of ftrace_update_ops(), and
 * nothing has changed.
 */
int ftrace_ops_replace_half(struct ftrace_ops *ops, struct ftrace_hash *hash,
			    bool enable)
{
	struct ftrace_ops_hash *h = ops->func_hash;
	struct ftrace_filter old, new;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	if (ftrace_disabled)
		return -ENODEV;
	ftrace_ops_filter(ops, &old);
	new = old;
	if (enable)
		new.filter = hash;
	else
		new.skip = hash;

	ret = check_users(ops, &new);
	if (ret > 0) {
		ret = ftrace_hash_empty(new.filter) ? ftrace_discover_all() : 0;
		if (!ret)
			ret = ftrace_update_filter(h, &old, &new);
	}
	if (ret)
		return ret;
	replace_half(h, hash, enable);
	return 0;
}

static int copy_half(struct ftrace_ops_hash *to, const struct ftrace_ops_hash *from,
		     bool enable)
{
	struct ftrace_hash *hash = ftrace_hash_copy(half_of(from, enable));

	if (IS_ERR(hash))
		return PTR_ERR(hash);
	replace_half(to, hash, enable);
	return ftrace_waiting_copy(&to->waiting[enable], &from->waiting[enable]);
}

/**
 * ftrace_filter_clear - empty a filter
 * @h: the filter, of no registered ops; a callback may still look at it
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_filter_clear(struct ftrace_ops_hash *h)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(h->waiting); i++) {
		replace_half(h, NULL, i);
		ftrace_waiting_free(&h->waiting[i]);
	}
}

/**
 * ftrace_filter_copy - copy a filter
 * @to: an empty filter
 * @from: the filter to copy
 *
 * What waits for modules goes with it: without that it would mean something else.
 *
 * Context: process, ftrace_lock held.
 * Return: 0, or -ENOMEM and @to is still empty.
 */
int ftrace_filter_copy(struct ftrace_ops_hash *to,
		       const struct ftrace_ops_hash *from)
{
	int ret;

	ret = copy_half(to, from, true) ?: copy_half(to, from, false);
	if (ret)
		ftrace_filter_clear(to);
	return ret;
}

/**
 * ftrace_filter_forget - take the sites of a stretch of text out of a filter
 * @h: the filter
 * @start: the first address, as ftrace_text_key()
 * @end: the first address after it, likewise
 *
 * If it kept them, it would mean other functions once other text is there.
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_filter_forget(struct ftrace_ops_hash *h, u32 start, u32 end)
{
	struct ftrace_hash *skip = half_of(h, false), *filter = half_of(h, true);
	struct ftrace_hash *skip_rest, *filter_rest;

	skip_rest = ftrace_hash_forget(skip, false, start, end);
	filter_rest = ftrace_hash_forget(filter, true, start, end);
	if (skip_rest != skip)
		replace_half(h, skip_rest, false);
	if (filter_rest != filter)
		replace_half(h, filter_rest, true);
}

/* Add what has come to one half of the filter of an ops. */
static int add_to_half(struct ftrace_ops *ops, const struct ftrace_hash *sites,
		       bool enable)
{
	struct ftrace_hash *hash;
	unsigned long nr_bad;
	int ret;

	hash = ftrace_hash_union(half_of(ops->func_hash, enable), sites);
	if (IS_ERR(hash))
		return PTR_ERR(hash);
	/* As long as that sets one more bad site aside. */
	do {
		nr_bad = ftrace_nr_bad;
		ret = ftrace_ops_replace_half(ops, hash, enable);
	} while (ret == -EINVAL && ftrace_nr_bad != nr_bad);
	if (ret)
		ftrace_hash_free(hash);
	return ret;
}

static int resolve_half(struct ftrace_ops *ops, const char *module, bool enable)
{
	struct hlist_head *waiting = &ops->func_hash->waiting[enable];
	struct ftrace_hash *sites = NULL;
	int ret;

	ret = ftrace_waiting_resolve(waiting, module, &sites);
	if (ret > 0) {
		ret = add_to_half(ops, sites, enable);
		if (!ret)
			ftrace_waiting_done(waiting);
	}
	ftrace_hash_free(sites);
	return ret;
}

/**
 * ftrace_filter_resolve - put functions that have come into an ops' filter
 * @ops: the ops, registered or not
 * @module: the module that has come; NULL: any may have
 *
 * They take the place of the patterns that waited for them. If that fails for one
 * half of the filter, that half is as it was.
 *
 * Context: process, ftrace_lock held.
 * Return: 0, -ENOMEM or an error of ftrace_ops_replace_half().
 */
int ftrace_filter_resolve(struct ftrace_ops *ops, const char *module)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);
	ret = resolve_half(ops, module, true);
	return resolve_half(ops, module, false) ?: ret;
}
