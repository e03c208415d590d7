// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs that somebody outside sends; for the kselftests.
 *
 * In debugfs, below ftrace_test/:
 *
 * nmi       takes 1 and 0: let NMIs of no known source run functions, or not;
 *           gives their number
 * nmi_cpus  the same for each CPU that is online: CPU, number
 * nmi_ack   takes the number of an I/O port to which each such NMI writes its
 *           CPU, so that whoever sends them knows; 0 for none
 */

#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/nmi.h>

#include <asm/nmi.h>

#include "run.h"

static DEFINE_PER_CPU(unsigned int, nmis);
static u16 nmi_ack;
static bool nmi_on;
static void (*nmi_func)(void) __ro_after_init;
static DEFINE_MUTEX(nmi_lock);

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	u16 port = READ_ONCE(nmi_ack);

	this_cpu_inc(nmis);
	nmi_func();
	if (port)
		outb(smp_processor_id(), port);
	return NMI_HANDLED;
}

static int nmi_set(void *data, u64 val)
{
	int ret = 0;

	if (val > 1)
		return -EINVAL;
	mutex_lock(&nmi_lock);
	if (val && !nmi_on)
		ret = register_nmi_handler(NMI_UNKNOWN, nmi_handler, 0,
					   "ftrace_test");
	else if (!val && nmi_on)
		unregister_nmi_handler(NMI_UNKNOWN, "ftrace_test");
	if (!ret)
		nmi_on = val;
	mutex_unlock(&nmi_lock);
	return ret;
}

static int nmi_get(void *data, u64 *val)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(nmis, cpu));
	*val = sum;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(nmi_fops, nmi_get, nmi_set, "%llu\n");

static int nmi_cpus_show(struct seq_file *m, void *v)
{
	int cpu;

	for_each_online_cpu(cpu)
		seq_printf(m, "%d %u\n", cpu, READ_ONCE(per_cpu(nmis, cpu)));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nmi_cpus);

/**
 * ftrace_test_nmi_files - make the files of this part
 * @dir: the directory
 * @func: what each NMI runs
 */
void __init ftrace_test_nmi_files(struct dentry *dir, void (*func)(void))
{
	nmi_func = func;
	debugfs_create_file_unsafe("nmi", 0600, dir, NULL, &nmi_fops);
	debugfs_create_file("nmi_cpus", 0400, dir, NULL, &nmi_cpus_fops);
	debugfs_create_u16("nmi_ack", 0600, dir, &nmi_ack);
}
