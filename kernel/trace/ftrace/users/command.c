// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: what "function:command:parameters" in a filter file means.
 *
 * A command is told the set that the file is editing, but cannot change it: it hangs a
 * probe on the functions, as "traceoff" and most others do. "mod" is no command here;
 * files/filter.c takes it.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "users.h"

static LIST_HEAD(command_list);

/* Covers command_list. Nothing else is taken inside it. */
static DEFINE_MUTEX(command_mutex);

static struct ftrace_func_command *find_command(const char *name)
{
	struct ftrace_func_command *cmd;

	lockdep_assert_held(&command_mutex);
	list_for_each_entry(cmd, &command_list, list) {
		if (!strcmp(cmd->name, name))
			return cmd;
	}
	return NULL;
}

/**
 * register_ftrace_command - make a command known to the filter files
 * @cmd: the command; stays in use until it is unregistered
 *
 * Context: process, at boot only.
 * Return: 0, or -EBUSY if there is a command of that name.
 */
int __init register_ftrace_command(struct ftrace_func_command *cmd)
{
	guard(mutex)(&command_mutex);
	if (find_command(cmd->name))
		return -EBUSY;
	list_add_tail(&cmd->list, &command_list);
	return 0;
}

/**
 * unregister_ftrace_command - take a command away again
 * @cmd: the command
 *
 * For an initcall that fails half way. After the boot nothing may do this, see
 * ftrace_run_command().
 *
 * Context: process, at boot only.
 * Return: 0, or -ENODEV if the command is not registered.
 */
int __init unregister_ftrace_command(struct ftrace_func_command *cmd)
{
	guard(mutex)(&command_mutex);
	if (find_command(cmd->name) != cmd)
		return -ENODEV;
	list_del_init(&cmd->list);
	return 0;
}

/**
 * ftrace_run_command - carry out one command of a filter file
 * @tr: the trace array that the file belongs to; NULL: it belongs to none
 * @hash: the set of call sites that is being edited
 * @func: the functions, as written: a pattern, with '!' in front to undo
 * @words: "command[:parameters]"; is cut up in place
 * @enable: the file is a set_ftrace_filter, not a set_ftrace_notrace
 *
 * A command goes on to take event_mutex, trace_types_lock and the filter locks
 * of other ops.
 *
 * Context: process, with no lock of tracing held but that of a filter file.
 * Return: -EINVAL if there is no such command, else what the command says.
 */
int ftrace_run_command(struct trace_array *tr, struct ftrace_hash *hash,
		       char *func, char *words, int enable)
{
	struct ftrace_func_command *cmd;
	char *name;

	if (!words)
		return -EINVAL;
	name = strsep(&words, ":");

	/*
	 * The lock is not held over the call. Once the kernel is up no command
	 * goes away, so what was found stays.
	 */
	scoped_guard(mutex, &command_mutex)
		cmd = find_command(name);
	if (!cmd)
		return -EINVAL;
	return cmd->func(tr, hash, func, name, words, enable);
}
