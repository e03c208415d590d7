/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What files/ and forget.c call here, besides the public API, and what the files
 * here call of each other.
 */
#ifndef _KERNEL_TRACE_FTRACE_USERS_H
#define _KERNEL_TRACE_FTRACE_USERS_H

#include <linux/ftrace.h>

#include "../core.h"

/* attach.c */
int ftrace_startup(struct ftrace_ops *ops);
int ftrace_shutdown(struct ftrace_ops *ops);
bool ftrace_shutdown_unwaited(struct ftrace_ops *ops);
void ftrace_ops_wait(const struct ftrace_ops *ops);

/* array.c */
void ftrace_array_left(struct ftrace_ops *ops);
void ftrace_array_wait(const struct ftrace_ops *ops);

/* wait.c */
void ftrace_wait_for_tasks(unsigned long direct);

/* direct.c */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
int ftrace_register_ipmodify(struct ftrace_ops *ops);
int ftrace_unregister_ipmodify(struct ftrace_ops *ops);
#else
/* There is no direct call that has to know of it. */
static inline int ftrace_register_ipmodify(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_startup(ops);
}

static inline int ftrace_unregister_ipmodify(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_shutdown(ops);
}
#endif

/* command.c */
int ftrace_run_command(struct trace_array *tr, struct ftrace_hash *hash,
		       char *func, char *words, int enable);

/**
 * struct ftrace_probe_pos - a place in the lines of a trace array's probes
 * @id: of the probe; all that are newer have been listed
 * @key: no site of that one is listed below this, as ftrace_text_key()
 *
 * The newest probe comes first, its sites by address. It stays what it is when probes
 * and sites come and go.
 */
struct ftrace_probe_pos {
	u64	id;
	u64	key;
};

#define FTRACE_PROBE_FIRST	((struct ftrace_probe_pos) { .id = U64_MAX })

/* probes.c */
bool ftrace_probes_seek(struct trace_array *tr, struct ftrace_probe_pos *pos);
int ftrace_probes_show(struct trace_array *tr, struct seq_file *m,
		       const struct ftrace_probe_pos *pos);

void ftrace_probes_forget(u32 start, u32 end);

/* profile.c */
#ifdef CONFIG_FUNCTION_PROFILER
void ftrace_profile_forget(unsigned long start, unsigned long end);
#else
static inline void ftrace_profile_forget(unsigned long start,
					 unsigned long end) { }
#endif

#endif /* _KERNEL_TRACE_FTRACE_USERS_H */
