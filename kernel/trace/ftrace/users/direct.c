// SPDX-License-Identifier: GPL-2.0
/*
 * Direct calls: call sites that call code of the user's own.
 *
 * The user registers an ops whose filter says where, and the address of code
 * that may be called in the place of a trampoline. A site that nobody else
 * traces calls it straight; otherwise the trampoline of the site's set leaves
 * for it when it is done with the others.
 *
 * A function can have one direct call, and one ops that changes where it goes
 * on (FTRACE_OPS_FL_IPMODIFY, as livepatch does). It can have both if the
 * direct call, when it runs the function, calls it at the address on the stack.
 * So the ops with the direct call is asked before the other comes, and notified
 * when it has gone.
 */

#include "../ops/ops.h"
#include "users.h"

/*
 * Covers the coming and going of ops with direct calls and of ops that change
 * where functions continue, and FTRACE_OPS_FL_(SHARES|TOLD)_IPMODIFY. Taken outside of
 * ftrace_lock, because ops_func() may call modify_ftrace_direct_nolock().
 */
static DEFINE_MUTEX(direct_mutex);

/* How many ops that redirect functions are registered; direct_mutex. */
static unsigned int nr_ipmodify;

static bool hashes_meet(const struct ftrace_hash *a, const struct ftrace_hash *b)
{
	unsigned int i;

	if (a->count > b->count)
		swap(a, b);
	for (i = 0; i < a->count; i++) {
		if (ftrace_hash_has(b, ftrace_text_addr(a->sites[i])))
			return true;
	}
	return false;
}

/* Do two ops trace the same function? Both have a filter that is a list. */
static bool ops_meet(struct ftrace_ops *a, struct ftrace_ops *b)
{
	struct ftrace_filter fa, fb;

	ftrace_ops_filter(a, &fa);
	ftrace_ops_filter(b, &fb);
	if (ftrace_hash_empty(fa.filter) || ftrace_hash_empty(fb.filter))
		return false;
	return hashes_meet(fa.filter, fb.filter);
}

/*
 * The next registered ops after @at, NULL for the first, that has @flag and
 * traces a function that @ops traces.
 */
static struct ftrace_ops *next_meeting(struct ftrace_ops *at,
				       struct ftrace_ops *ops, unsigned long flag)
{
	lockdep_assert_held(&ftrace_lock);
	at = list_prepare_entry(at, &ftrace_ops_list, node);
	list_for_each_entry_continue(at, &ftrace_ops_list, node) {
		if (at != ops && at->flags & flag && ops_meet(at, ops))
			return at;
	}
	return NULL;
}

/* ---- ops that redirect functions ----------------------------------------- */

/*
 * A direct ops on the functions of @ops to be notified that it now shares one of
 * them, or that it no longer does. It cannot go while direct_mutex is held.
 */
static struct ftrace_ops *find_to_notify(struct ftrace_ops *ops, bool share)
{
	struct ftrace_ops *direct = NULL;

	guard(mutex)(&ftrace_lock);
	while ((direct = next_meeting(direct, ops, FTRACE_OPS_FL_DIRECT))) {
		if (share && !(direct->flags & FTRACE_OPS_FL_SHARES_IPMODIFY))
			break;
		/* Another one of its functions may be shared with others. */
		if (!share && direct->flags & FTRACE_OPS_FL_TOLD_IPMODIFY &&
		    !next_meeting(NULL, direct, FTRACE_OPS_FL_IPMODIFY))
			break;
	}
	return direct;
}

#define SHARES_AND_TOLD (FTRACE_OPS_FL_SHARES_IPMODIFY | FTRACE_OPS_FL_TOLD_IPMODIFY)

/* A kprobe may have come to its function, and been let in, while it was notified. */
static void set_shared(struct ftrace_ops *direct, bool shared)
{
	guard(mutex)(&ftrace_lock);
	if (shared)
		direct->flags |= SHARES_AND_TOLD;
	else if (!next_meeting(NULL, direct, FTRACE_OPS_FL_IPMODIFY))
		direct->flags &= ~SHARES_AND_TOLD;
}

/* Notify all direct ops on the functions of @ops; -EAGAIN: try again. */
static int notify_direct(struct ftrace_ops *ops, bool share)
{
	struct ftrace_ops *direct;
	int ret;

	lockdep_assert_held(&direct_mutex);
	while ((direct = find_to_notify(ops, share))) {
		if (!direct->ops_func)
			return -EBUSY;
		ret = direct->ops_func(direct, share ?
				FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_PEER :
				FTRACE_OPS_CMD_DISABLE_SHARE_IPMODIFY_PEER);
		/* An ops that cannot go back goes on as it is, which works. */
		if (ret && (share || ret == -EAGAIN))
			return ret;
		set_shared(direct, share);
	}
	return 0;
}

/*
 * Notify the direct ops that no longer share a function with @ops. One of them
 * may hold a lock of its own and wait for direct_mutex; then it answers -EAGAIN.
 */
static void notify_unshared(struct ftrace_ops *ops)
{
	while (notify_direct(ops, false) == -EAGAIN) {
		mutex_unlock(&direct_mutex);
		cond_resched();
		mutex_lock(&direct_mutex);
	}
}

static int register_ipmodify(struct ftrace_ops *ops)
{
	int ret;

	guard(mutex)(&direct_mutex);
	ret = notify_direct(ops, true);
	if (!ret) {
		mutex_lock(&ftrace_lock);
		ret = ftrace_startup(ops);
		mutex_unlock(&ftrace_lock);
	}
	if (ret)
		notify_unshared(ops);
	else
		nr_ipmodify++;
	return ret;
}

/**
 * ftrace_register_ipmodify - register an ops that redirects functions
 * @ops: the ops, initialised
 *
 * Context: process.
 * Return: 0 or an error of ftrace_startup(); -EBUSY as well if a direct call
 * on one of its functions cannot be shared with it.
 */
int ftrace_register_ipmodify(struct ftrace_ops *ops)
{
	int ret;

	/* Whoever keeps a direct call busy waits for direct_mutex, perhaps for this CPU. */
	while ((ret = register_ipmodify(ops)) == -EAGAIN)
		cond_resched();
	return ret;
}

/**
 * ftrace_unregister_ipmodify - undo ftrace_register_ipmodify()
 * @ops: the ops
 *
 * Context: process.
 * Return: 0 or an error of ftrace_shutdown().
 */
int ftrace_unregister_ipmodify(struct ftrace_ops *ops)
{
	int ret;

	guard(mutex)(&direct_mutex);
	mutex_lock(&ftrace_lock);
	ret = ftrace_shutdown(ops);
	mutex_unlock(&ftrace_lock);
	if (!ret) {
		nr_ipmodify--;
		notify_unshared(ops);
	}
	return ret;
}

/* ---- ops with direct calls ----------------------------------------------- */

/* For ftrace_regs_caller, where there is no trampoline. Any context. */
static void notrace direct_func(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	unsigned long addr = ftrace_ops_direct(ops);

	/*
	 * Where a call was overwritten modify_ftrace_direct() is refused. The code may
	 * be gone when the call is put back.
	 */
	if (addr && !ftrace_site_is_bad(ip))
		arch_ftrace_set_direct_caller(fregs, addr);
}

static bool can_be_called(unsigned long addr)
{
	return addr && ftrace_text_addr(ftrace_text_key(addr)) == addr;
}

/* Can @ops, with the code that it is about to call, live with those that redirect? */
static int ask_to_share(struct ftrace_ops *ops)
{
	bool meets;
	int ret;

	lockdep_assert_held(&direct_mutex);
	mutex_lock(&ftrace_lock);
	meets = nr_ipmodify && next_meeting(NULL, ops, FTRACE_OPS_FL_IPMODIFY);
	/*
	 * Old code may have agreed to share with an ops that has left the function
	 * since. Who comes there next has to ask the new code.
	 */
	if (!meets)
		ops->flags &= ~FTRACE_OPS_FL_SHARES_IPMODIFY;
	mutex_unlock(&ftrace_lock);
	if (!meets)
		return 0;
	if (!ops->ops_func)
		return -EBUSY;
	ret = ops->ops_func(ops, FTRACE_OPS_CMD_ENABLE_SHARE_IPMODIFY_SELF);
	if (!ret)
		set_shared(ops, true);
	return ret;
}

static int start_direct(struct ftrace_ops *ops)
{
	int ret;

	lockdep_assert_held(&direct_mutex);
	ret = ask_to_share(ops);
	if (ret)
		return ret;
	mutex_lock(&ftrace_lock);
	ret = ftrace_startup(ops);
	mutex_unlock(&ftrace_lock);
	return ret;
}

static void clear_direct(struct ftrace_ops *ops)
{
	ops->func = NULL;
	ops->flags &= ~(FTRACE_OPS_FL_DIRECT | SHARES_AND_TOLD);
	WRITE_ONCE(ops->direct_call, 0);
}

/**
 * register_ftrace_direct - have functions call other code at their entry
 * @ops: says which, by ftrace_set_filter_ip() and the like
 * @addr: the code; it is called like the trampolines here, see
 *	  ftrace-sets-uses.rst
 *
 * Context: process.
 * Return: 0; -EINVAL (no filter, in use, @addr is out of reach of a call, or a call site
 * is not what it should be), -EBUSY (a function has a direct call, or is changed by an
 * ops that cannot share it), -EAGAIN from @ops->ops_func, -ENODEV, -ENOMEM; then
 * nothing has changed.
 */
int register_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	int ret;

	guard(mutex)(&direct_mutex);
	if (ops->func || ops->direct_call || !can_be_called(addr))
		return -EINVAL;
	if (!(ops->flags & FTRACE_OPS_FL_INITIALIZED) ||
	    ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EINVAL;

	ops->func = direct_func;
	ops->flags |= FTRACE_OPS_FL_DIRECT;
	WRITE_ONCE(ops->direct_call, addr);
	ret = start_direct(ops);
	if (ret)
		clear_direct(ops);
	return ret;
}
EXPORT_SYMBOL_GPL(register_ftrace_direct);

static bool is_registered(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_DIRECT &&
	       ops->flags & FTRACE_OPS_FL_ENABLED;
}

/**
 * unregister_ftrace_direct - have functions no longer call other code
 * @ops: as registered
 * @addr: the code, as registered
 * @free_filters: free the filter of @ops, too
 *
 * When it returns, no new call of the code begins, unless @ops is part of the kernel's
 * own static data; but a task may be asleep in it.
 *
 * Context: process; may sleep for a grace period.
 * Return: 0; -EINVAL if that is not registered.
 */
int unregister_ftrace_direct(struct ftrace_ops *ops, unsigned long addr,
			     bool free_filters)
{
	int ret;

	mutex_lock(&direct_mutex);
	if (!is_registered(ops) || ops->direct_call != addr) {
		mutex_unlock(&direct_mutex);
		return -EINVAL;
	}
	mutex_lock(&ftrace_lock);
	ret = ftrace_shutdown(ops);
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&direct_mutex);
	if (ret)
		return ret;

	ftrace_ops_wait(ops);
	clear_direct(ops);
	if (free_filters)
		ftrace_free_filter(ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_ftrace_direct);

static int modify_direct(struct ftrace_ops *ops, unsigned long addr)
{
	struct ftrace_filter f;
	int ret;

	lockdep_assert_held(&direct_mutex);
	if (!is_registered(ops) || !can_be_called(addr))
		return -EINVAL;
	/* What was asked before was asked of other code. */
	ret = ask_to_share(ops);
	if (ret)
		return ret;
	guard(mutex)(&ftrace_lock);
	ftrace_ops_filter(ops, &f);
	if (!ftrace_filter_is_usable(&f, true))
		return -EINVAL;
	ret = ftrace_update_direct(ops, addr);
	if (ret)
		return ret;
	WRITE_ONCE(ops->direct_call, addr);
	ftrace_update_jumps(ops);
	return 0;
}

/**
 * modify_ftrace_direct - have functions call different code
 * @ops: as registered
 * @addr: the code to call from now on
 *
 * No call is lost: it goes to the old code or to the new.
 *
 * Context: process.
 * Return: 0; -EINVAL if @ops is not registered, @addr is out of reach of a call, or a
 * call site is not what it should be; an error of @ops->ops_func, which is asked again if
 * an ops with IPMODIFY is on one of the functions; -ENOMEM; then nothing has changed, and
 * the old code may still be called.
 */
int modify_ftrace_direct(struct ftrace_ops *ops, unsigned long addr)
{
	guard(mutex)(&direct_mutex);
	return modify_direct(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct);

/**
 * modify_ftrace_direct_nolock - the same, from @ops->ops_func
 * @ops: as registered
 * @addr: the code to call from now on
 *
 * Context: process, inside of ops_func(), which is called with the lock held.
 * Return: as modify_ftrace_direct().
 */
int modify_ftrace_direct_nolock(struct ftrace_ops *ops, unsigned long addr)
{
	if (WARN_ON_ONCE(!mutex_is_locked(&direct_mutex)))
		return -EINVAL;
	return modify_direct(ops, addr);
}
EXPORT_SYMBOL_GPL(modify_ftrace_direct_nolock);
