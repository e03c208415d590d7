// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of ops, as the rest of the kernel sets them.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../internal.h"
#include "../tracers/tracers.h"

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

/* Nobody means to send all functions to one place. */
static bool needs_list(const struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT);
}

/* A call site that has been set aside, and so never calls anything. */
static bool is_bad(unsigned long ip)
{
	struct dyn_ftrace *rec = ftrace_rec_find(ip);

	return rec && rec->state & FTRACE_REC_BAD;
}

/**
 * ftrace_filter_fits - can an ops keep its promise with the filter it has?
 * @ops: the ops, not registered yet
 * @f: its filter
 *
 * Who sends functions elsewhere takes for granted that they go there, each of
 * them.
 *
 * Context: process, ftrace_lock held.
 */
bool ftrace_filter_fits(const struct ftrace_ops *ops,
			const struct ftrace_filter *f)
{
	unsigned int i;

	lockdep_assert_held(&ftrace_lock);
	if (!needs_list(ops))
		return true;
	if (ftrace_hash_empty(f->filter))
		return false;
	for (i = 0; i < f->filter->count; i++) {
		if (is_bad(ftrace_text_addr(f->filter->sites[i])))
			return false;
	}
	return true;
}

/* How many registered ops use a filter; -EINVAL if one of them cannot use @new. */
static int nr_users(struct ftrace_ops_hash *h, const struct ftrace_filter *new)
{
	struct ftrace_ops *ops = NULL;
	int nr = 0;

	while ((ops = ftrace_next_ops(ops))) {
		if (ops->func_hash != h)
			continue;
		if (needs_list(ops) && ftrace_hash_empty(new->filter))
			return -EINVAL;
		nr++;
	}
	return nr;
}

/**
 * ftrace_ops_set_filter - replace one half of an ops' filter
 * @ops: the ops, registered or not
 * @hash: the set of call sites, NULL for none; not the caller's any more if
 *	  this succeeds
 * @enable: it is what to trace; otherwise, what not to
 *
 * Context: process, ftrace_lock held.
 * Return: 0; -EINVAL (a registered ops that sends functions elsewhere would mean
 * all of them), -ENODEV (ftrace is dead) or an error as of ftrace_update_ops(), and
 * nothing has changed.
 */
int ftrace_ops_set_filter(struct ftrace_ops *ops, struct ftrace_hash *hash,
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

	ret = nr_users(h, &new);
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

/* The set that a change starts from; the caller's own. */
static struct ftrace_hash *working_copy(struct ftrace_ops *ops, bool enable,
					bool reset)
{
	return reset ? NULL : ftrace_hash_copy(half_of(ops->func_hash, enable));
}

static int set_pattern(struct ftrace_ops *ops, const char *buf, int len,
		       bool reset, bool enable)
{
	struct ftrace_hash *hash;
	char *pattern = NULL;
	int ret = 0;

	if (ftrace_disabled)
		return -ENODEV;
	if (buf) {
		pattern = kmemdup_nul(buf, len, GFP_KERNEL);
		if (!pattern)
			return -ENOMEM;
	}

	ftrace_ops_init(ops);
	mutex_lock(&ftrace_lock);
	hash = working_copy(ops, enable, reset);
	if (IS_ERR(hash)) {
		ret = PTR_ERR(hash);
		goto unlock;
	}
	if (pattern)
		ret = ftrace_apply_pattern(&hash, pattern);
	if (!ret)
		ret = ftrace_ops_set_filter(ops, hash, enable);
	if (ret)
		ftrace_hash_free(hash);
	else if (reset)
		ftrace_waiting_free(&ops->func_hash->waiting[enable]);
unlock:
	mutex_unlock(&ftrace_lock);
	kfree(pattern);
	return ret;
}

/**
 * ftrace_set_filter - set which functions an ops traces, by pattern
 * @ops: the ops
 * @buf: the pattern, see match.c; NULL: none
 * @len: its length in bytes
 * @reset: forget what was set before; NULL with @reset means all functions
 *
 * Context: process.
 * Return: 0; -EINVAL (no function matches), -ENOMEM, -ENODEV or an error as of
 * ftrace_update_ops(); then the filter is as it was.
 */
int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len,
		      int reset)
{
	return set_pattern(ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

/**
 * ftrace_set_notrace - set which functions an ops does not trace, by pattern
 * @ops: the ops
 * @buf: the pattern, see match.c; NULL: none
 * @len: its length in bytes
 * @reset: forget what was set before
 *
 * Context: process.
 * Return: as ftrace_set_filter().
 */
int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len,
		       int reset)
{
	return set_pattern(ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

/**
 * ftrace_set_global_filter - ftrace_set_filter() for the top-level tracer
 * @buf: the pattern or NULL
 * @len: its length in bytes
 * @reset: forget what was set before
 *
 * Context: process.
 */
void ftrace_set_global_filter(unsigned char *buf, int len, int reset)
{
	set_pattern(&global_ops, buf, len, reset, true);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_filter);

/**
 * ftrace_set_global_notrace - ftrace_set_notrace() for the top-level tracer
 * @buf: the pattern or NULL
 * @len: its length in bytes
 * @reset: forget what was set before
 *
 * Context: process.
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	set_pattern(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/*
 * The call sites of given functions. -EINVAL if one of them has none, or has one
 * that has been set aside: it could only be taken away.
 */
static struct ftrace_hash *sites_of(const unsigned long *ips, unsigned int cnt,
				    bool remove)
{
	struct ftrace_sites s = {};
	struct ftrace_hash *hash;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < cnt && !ret; i++) {
		unsigned long ip = ftrace_location(ips[i]);

		ret = !ip || (!remove && is_bad(ip)) ? -EINVAL :
						       ftrace_sites_add(&s, ip);
	}
	hash = ret ? ERR_PTR(ret) : ftrace_hash_from_sites(s.key, s.nr);
	ftrace_sites_free(&s);
	return hash;
}

/* A set without some sites, each of which has to be in it. */
static struct ftrace_hash *without(const struct ftrace_hash *hash,
				   const struct ftrace_hash *sites)
{
	unsigned int i;

	for (i = 0; sites && i < sites->count; i++) {
		if (!ftrace_hash_has(hash, ftrace_text_addr(sites->sites[i])))
			return ERR_PTR(-ENOENT);
	}
	return ftrace_hash_minus(hash, sites);
}

static int change_ips(struct ftrace_ops *ops, const unsigned long *ips,
		      unsigned int cnt, bool remove, bool reset)
{
	struct ftrace_hash *sites, *hash, *result;
	int ret;

	lockdep_assert_held(&ftrace_lock);
	sites = sites_of(ips, cnt, remove);
	if (IS_ERR(sites))
		return PTR_ERR(sites);
	hash = working_copy(ops, true, reset);
	result = IS_ERR(hash) ? hash :
		 remove ? without(hash, sites) : ftrace_hash_union(hash, sites);
	ret = PTR_ERR_OR_ZERO(result);
	if (!ret && sites)
		ret = ftrace_discover_proved(sites->sites, sites->count);
	if (!ret)
		ret = ftrace_ops_set_filter(ops, result, true);
	if (ret && result != hash)
		ftrace_hash_free(result);
	if (!ret && reset)
		ftrace_waiting_free(&ops->func_hash->waiting[true]);
	ftrace_hash_free(hash);
	ftrace_hash_free(sites);
	return ret;
}

/**
 * ftrace_set_filter_ips - set which functions an ops traces, by address
 * @ops: the ops
 * @ips: addresses of functions or of call sites
 * @cnt: how many
 * @remove: take them away; otherwise add them
 * @reset: forget what was set before
 *
 * Context: process.
 * Return: 0; -EINVAL (one of them cannot be traced, or is the last one of an ops
 * that sends functions elsewhere), -ENOENT (one that is to be taken away is not
 * there), -ENOMEM, -ENODEV or an error as of ftrace_update_ops(); then the filter
 * is as it was.
 */
int ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
			  unsigned int cnt, int remove, int reset)
{
	if (ftrace_disabled)
		return -ENODEV;
	ftrace_ops_init(ops);
	guard(mutex)(&ftrace_lock);
	return change_ips(ops, ips, cnt, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ips);

/**
 * ftrace_set_filter_ip - ftrace_set_filter_ips() for one function
 * @ops: the ops
 * @ip: address of the function or of its call site
 * @remove: take it away; otherwise add it
 * @reset: forget what was set before
 *
 * Context: process.
 * Return: as ftrace_set_filter_ips().
 */
int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove,
			 int reset)
{
	return ftrace_set_filter_ips(ops, &ip, 1, remove, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/**
 * ftrace_ops_set_global_filter - have an ops use the top-level tracer's filter
 * @ops: the ops; it has not been registered yet
 *
 * Context: process.
 */
void ftrace_ops_set_global_filter(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_INITIALIZED)
		return;
	ftrace_ops_init(ops);
	ops->func_hash = &global_ops.local_hash;
}
EXPORT_SYMBOL_GPL(ftrace_ops_set_global_filter);

/**
 * ftrace_free_filter - free what the filter of an ops holds
 * @ops: the ops, not registered
 *
 * Context: process.
 */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	ftrace_ops_init(ops);
	if (WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;
	guard(mutex)(&ftrace_lock);
	ftrace_tracer_forget(ops);
	ops->func_hash = &ops->local_hash;
	ftrace_filter_clear(&ops->local_hash);
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

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

/*
 * A filter that keeps sites of text that is gone would mean other functions
 * once other text is there.
 */
static void forget_in(struct ftrace_ops_hash *h, bool enable, u32 start, u32 end)
{
	struct ftrace_hash *hash = half_of(h, enable), *rest;

	rest = ftrace_hash_forget(hash, enable, start, end);
	if (rest != hash)
		replace_half(h, rest, enable);
}

/**
 * ftrace_filter_forget - take the sites of a stretch of text out of a filter
 * @h: the filter
 * @start: the first address, as ftrace_text_key()
 * @end: the first address behind it, likewise
 *
 * Context: process, ftrace_lock held.
 */
void ftrace_filter_forget(struct ftrace_ops_hash *h, u32 start, u32 end)
{
	forget_in(h, true, start, end);
	forget_in(h, false, start, end);
}
