// SPDX-License-Identifier: GPL-2.0
/*
 * The sysctl kernel.ftrace_enabled.
 */
#include <linux/init.h>
#include <linux/sysctl.h>

#include "../ops/ops.h"

static bool permanent_ops_active(void)
{
	struct ftrace_ops *ops;

	for_each_ftrace_ops(ops) {
		if (ops->flags & FTRACE_OPS_FL_PERMANENT)
			return true;
	}
	return false;
}

static int ftrace_enable_sysctl(const struct ctl_table *table, int write,
				void *buffer, size_t *lenp, loff_t *ppos)
{
	int was, ret;

	mutex_lock(&ftrace_lock);
	was = ftrace_enabled;
	ret = ftrace_disabled ? -ENODEV :
	      proc_dointvec(table, write, buffer, lenp, ppos);
	if (ret || !write || !was == !ftrace_enabled)
		goto out;

	if (!ftrace_enabled && permanent_ops_active())
		ret = -EBUSY;
	else
		ret = ftrace_update_enabled(ftrace_enabled);
	if (ret)
		ftrace_enabled = was;
out:
	mutex_unlock(&ftrace_lock);
	return ret;
}

static struct ctl_table enabled_table = {
	.procname	= "ftrace_enabled",
	.mode		= 0644,
	.proc_handler	= ftrace_enable_sysctl,
	.data		= &ftrace_enabled,
	.maxlen		= sizeof(ftrace_enabled),
};

static int __init add_sysctl(void)
{
	return register_sysctl_sz("kernel", &enabled_table, 1) ? 0 : -ENOMEM;
}
late_initcall(add_sysctl);
