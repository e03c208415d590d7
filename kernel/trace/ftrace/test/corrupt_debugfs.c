// SPDX-License-Identifier: GPL-2.0
/*
 * A call site that is not what it should be; for the kselftests.
 *
 * In debugfs, below ftrace_test/:
 *
 * corrupt   takes "NAME BYTES" and writes the bytes (ten hex digits) over the
 *           call site of a function made for that; takes "restore"
 */

#include <linux/debugfs.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/module.h>

#include <asm/text-patching.h>

#include "run.h"
#include "site.h"

/**
 * struct corruption - the call site that is spoilt
 * @ip: where it is; 0: there is none
 * @was: its bytes before
 * @mod: the module it is in; we hold a reference
 */
static struct corruption {
	unsigned long	ip;
	u8		was[MCOUNT_INSN_SIZE];
	struct module	*mod;
} corruption;

static DEFINE_MUTEX(corrupt_lock);

static void poke_site(unsigned long ip, const u8 *insn)
{
	mutex_lock(&text_mutex);
	text_poke((void *)ip, insn, MCOUNT_INSN_SIZE);
	text_poke_sync();
	mutex_unlock(&text_mutex);
}

static int corrupt(const char *name, const u8 *insn)
{
	unsigned long ip;
	int ret;

	if (corruption.ip)
		return -EBUSY;
	/* The name of a victim: nobody misses it. */
	if (!str_has_prefix(name, "ftrace_test_"))
		return -EPERM;
	ip = kallsyms_lookup_name(name);
	if (!ip)
		return -ENOENT;

	preempt_disable();
	corruption.mod = __module_text_address(ip);
	if (corruption.mod && !try_module_get(corruption.mod))
		ip = 0;
	preempt_enable();
	if (!ip)
		return -ENOENT;

	ip = ftrace_test_site_of(ip);
	ret = ftrace_test_read_site(ip, corruption.was);
	if (ret) {
		module_put(corruption.mod);
		return ret;
	}
	corruption.ip = ip;
	poke_site(ip, insn);
	return 0;
}

static int restore(void)
{
	if (!corruption.ip)
		return -ENOENT;
	poke_site(corruption.ip, corruption.was);
	corruption.ip = 0;
	module_put(corruption.mod);
	return 0;
}

static ssize_t corrupt_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	u8 insn[MCOUNT_INSN_SIZE];
	char *line, *name, *rest;
	int ret;

	line = ftrace_test_line(ubuf, cnt);
	if (IS_ERR(line))
		return PTR_ERR(line);

	rest = line;
	name = strsep(&rest, " ");
	mutex_lock(&corrupt_lock);
	if (!strcmp(name, "restore") && !rest)
		ret = restore();
	else if (rest && strlen(rest) == 2 * sizeof(insn) &&
		 !hex2bin(insn, rest, sizeof(insn)))
		ret = corrupt(name, insn);
	else
		ret = -EINVAL;
	mutex_unlock(&corrupt_lock);
	kfree(line);
	return ret ?: cnt;
}

static int corrupt_show(struct seq_file *m, void *v)
{
	mutex_lock(&corrupt_lock);
	if (corruption.ip)
		seq_printf(m, "%lx %*phN\n", corruption.ip, MCOUNT_INSN_SIZE,
			   corruption.was);
	mutex_unlock(&corrupt_lock);
	return 0;
}

static int corrupt_open(struct inode *inode, struct file *file)
{
	return single_open(file, corrupt_show, NULL);
}

static const struct file_operations corrupt_fops = {
	.owner		= THIS_MODULE,
	.open		= corrupt_open,
	.read		= seq_read,
	.write		= corrupt_write,
	.release	= single_release,
};

/**
 * ftrace_test_corrupt_file - make the file of this part
 * @dir: the directory
 *
 * Context: process, once, at boot.
 */
void __init ftrace_test_corrupt_file(struct dentry *dir)
{
	debugfs_create_file("corrupt", 0600, dir, NULL, &corrupt_fops);
}
