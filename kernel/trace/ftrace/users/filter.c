// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of ops, as the rest of the kernel sets them.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ops/ops.h"
#include "../sites/names.h"
#include "../tracers/tracers.h"

/* The set that a change starts from; the caller's own. */
static struct ftrace_hash *working_copy(struct ftrace_ops *ops, bool enable,
					bool reset)
{
	struct ftrace_filter f;

	if (reset)
		return NULL;
	ftrace_ops_filter(ops, &f);
	return ftrace_hash_copy(enable ? f.filter : f.skip);
}

/*
 * Have a set take effect, which then is not the caller's any more. Patterns that
 * wait for modules stay, unless all of it is dropped.
 */
static int set_half(struct ftrace_ops *ops, struct ftrace_hash **hash,
		    bool enable, bool reset)
{
	struct hlist_head *waiting = &ops->func_hash->waiting[enable];
	int ret = 0;

	if (enable && !reset)
		ret = ftrace_waiting_trace_nothing(waiting, hash);
	if (!ret)
		ret = ftrace_ops_replace_half(ops, *hash, enable);
	if (!ret && reset)
		ftrace_waiting_free(waiting);
	return ret;
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
		ret = set_half(ops, &hash, enable, reset);
	if (ret)
		ftrace_hash_free(hash);
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
 * @reset: drop what was set before; NULL with @reset means all functions
 *
 * Context: process.
 * Return: 0; -EINVAL (no function matches), -ENOMEM, -ENODEV or an error of
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
 * @reset: drop what was set before
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
 * @reset: drop what was set before
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
 * @reset: drop what was set before
 *
 * Context: process.
 */
void ftrace_set_global_notrace(unsigned char *buf, int len, int reset)
{
	set_pattern(&global_ops, buf, len, reset, false);
}
EXPORT_SYMBOL_GPL(ftrace_set_global_notrace);

/*
 * The call sites of given functions. -EINVAL if one of them has none, or has
 * one that was set aside, which can only be taken out of a filter.
 */
static struct ftrace_hash *sites_of(const unsigned long *ips, unsigned int cnt,
				    bool remove)
{
	struct ftrace_sites s = {};
	struct ftrace_hash *hash;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < cnt && !ret; i++) {
		unsigned long ip = remove ? ftrace_location(ips[i]) :
					    ftrace_location_good(ips[i]);

		ret = ip ? ftrace_sites_add(&s, ip) : -EINVAL;
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
		ret = set_half(ops, &result, true, reset);
	if (ret && result != hash)
		ftrace_hash_free(result);
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
 * @reset: drop what was set before
 *
 * Context: process.
 * Return: 0; -EINVAL (one of them cannot be traced, or is the last one of an ops
 * that sends functions elsewhere), -ENOENT (one that is to be taken away is not
 * there), -ENOMEM, -ENODEV or an error of ftrace_update_ops(); then the filter
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
 * @reset: drop what was set before
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
	ftrace_tracer_release(ops);
	ops->func_hash = &ops->local_hash;
	ftrace_filter_clear(&ops->local_hash);
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);

/**
 * ftrace_set_early_filter - apply a list of patterns from the command line
 * @ops: whose filter it is
 * @buf: the patterns, separated by commas; it is written to
 * @enable: what to trace; otherwise, what not to
 *
 * A pattern that means nothing is reported and passed over.
 *
 * Context: boot, process.
 */
void __init ftrace_set_early_filter(struct ftrace_ops *ops, char *buf,
				    int enable)
{
	char *pattern;
	int ret;

	while ((pattern = strsep(&buf, ","))) {
		if (!*pattern)
			continue;
		if (enable)
			ret = ftrace_set_filter(ops, pattern, strlen(pattern), 0);
		else
			ret = ftrace_set_notrace(ops, pattern, strlen(pattern), 0);
		if (ret)
			pr_warn("%s: no such function (%d)\n", pattern, ret);
	}
}
