// SPDX-License-Identifier: GPL-2.0
/*
 * What all of the core stands on: its lock, and whether it is alive.
 */
#include <linux/kprobes.h>

#include "core.h"

/* Records, sets of ops, the list of ops and their filters. */
DEFINE_MUTEX(ftrace_lock);

bool ftrace_disabled __read_mostly;
int ftrace_enabled __read_mostly = 1;

/**
 * ftrace_kill - end function tracing for good
 *
 * For when the kernel can no more be trusted with it. Nobody is let in any more:
 * no ops is registered, no filter changes, ftraced makes no round, and modules that
 * come are not looked at. All that answers -ENODEV.
 *
 * This may be called from anywhere, so it turns no call site off; it leaves those
 * without a trampoline nobody to call. But whoever is in is let out: those who
 * unregister free what their sites call, most of them whatever the answer is. So
 * ftrace_shutdown() works as ever, and so does modify_ftrace_direct(), by which
 * one BPF program of several leaves. They alone still change call sites, those that
 * are what they should be.
 *
 * Context: any.
 */
void ftrace_kill(void)
{
	/*
	 * The list stays: an update that this comes into still has to find all who
	 * want a site. The dispatchers look at the flag.
	 */
	WRITE_ONCE(ftrace_disabled, true);
	ftrace_enabled = 0;
	kprobe_ftrace_kill();
}

/**
 * ftrace_is_dead - has function tracing been ended?
 *
 * Context: any.
 */
int ftrace_is_dead(void)
{
	return ftrace_disabled;
}
