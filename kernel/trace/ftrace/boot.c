// SPDX-License-Identifier: GPL-2.0
/*
 * Start-up, what the command line asks for, and the end of the boot.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/setup.h>

#include "files/files.h"
#include "forget.h"
#include "ftraced.h"
#include "ops/ops.h"
#include "sites/table.h"

/* The command line has a filter: self-tests keep away. */
bool ftrace_filter_param __initdata;

static char filter_buf[COMMAND_LINE_SIZE] __initdata;
static char notrace_buf[COMMAND_LINE_SIZE] __initdata;

static int __init set_boot_filter(char *str)
{
	ftrace_filter_param = true;
	strscpy(filter_buf, str, sizeof(filter_buf));
	return 1;
}
__setup("ftrace_filter=", set_boot_filter);

static int __init set_boot_notrace(char *str)
{
	ftrace_filter_param = true;
	strscpy(notrace_buf, str, sizeof(notrace_buf));
	return 1;
}
__setup("ftrace_notrace=", set_boot_notrace);

static int __init add_text(char *start, char *end)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_region_add((unsigned long)start, (unsigned long)end,
				 NULL) ? 0 : -ENOMEM;
}

static int __init add_kernel_text(void)
{
	return add_text(_stext, _etext);
}

static int __init add_init_text(void)
{
	return add_text(_sinittext, _einittext);
}

static int __init take_table(void)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_table_kernel();
}

static int __init set_dispatcher(void)
{
	return ftrace_update_ftrace_func(ftrace_ops_list_func);
}

static int (*const steps[])(void) __initconst = {
	add_kernel_text,
	add_init_text,
	take_table,
	ftraced_init,
	ftrace_dyn_arch_init,
	set_dispatcher,
};

#ifdef CONFIG_FTRACE_KSELFTEST
/*
 * For a test of what becomes of a kernel whose start-up fails: the number of
 * the step that is to fail, from 1; 0: none.
 */
static unsigned int fail_step __initdata;

static int __init set_fail_step(char *str)
{
	if (!str || kstrtouint(str, 0, &fail_step))
		pr_warn("ftrace_fail_start=%s is not a number\n", str ?: "");
	return 0;
}
early_param("ftrace_fail_start", set_fail_step);

static bool __init is_to_fail(unsigned int step)
{
	if (step != fail_step)
		return false;
	pr_info("step %u of %zu fails, as ftrace_fail_start= says\n", step,
		ARRAY_SIZE(steps));
	return true;
}
#else
static bool __init is_to_fail(unsigned int step)
{
	return false;
}
#endif

static int __init start(void)
{
	unsigned int i;
	int ret = 0;

	ftrace_ops_init(&global_ops);
	for (i = 0; i < ARRAY_SIZE(steps) && !ret; i++)
		ret = is_to_fail(i + 1) ? -ENOMEM : steps[i]();
	return ret;
}

/**
 * ftrace_init - start function tracing
 *
 * Call sites are noted from here on; or they are all known, if there is a table.
 *
 * Context: early boot, one CPU, interrupts off, memory is up.
 */
void __init ftrace_init(void)
{
	int ret = start();

	if (ret) {
		pr_err("no function tracing: start-up failed (%d)\n", ret);
		ftrace_kill();
		return;
	}
	ftrace_text_arm_recorder();
	if (filter_buf[0])
		ftrace_set_early_filter(&global_ops, filter_buf, 1);
	if (notrace_buf[0])
		ftrace_set_early_filter(&global_ops, notrace_buf, 0);
	ftrace_graph_set_early_filters();
}

/**
 * ftrace_free_init_mem - init text of the kernel is about to be freed
 *
 * This is the end of the boot, and the last moment at which all that was traced
 * is still there.
 *
 * Context: process, end of boot.
 */
void __init ftrace_free_init_mem(void)
{
	ftrace_boot_snapshot();
	ftrace_forget_begin();
	ftrace_forget((unsigned long)__init_begin, (unsigned long)__init_end);
	ftrace_forget_end();
}

/* Tracers on the command line came before trampolines could be made. */
static int __init make_tramps(void)
{
	guard(mutex)(&ftrace_lock);
	return ftrace_update_tramps();
}
early_initcall(make_tramps);
