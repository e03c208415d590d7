// SPDX-License-Identifier: GPL-2.0
/*
 * What the core says of a place in the text; for the kselftests.
 *
 * In debugfs, below ftrace_test/:
 *
 * place     takes "PLACE FIRST LAST": the call site of a function or an address,
 *           and from which byte to which, counted from there. Gives a line: what
 *           ftrace_text_reserved(), ftrace_location_range() of these bytes say
 *           and ftrace_location() of the place, 0 for no site
 */

#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>

#include "run.h"
#include "site.h"

static struct {
	unsigned long	ip;
	long		first;
	long		last;
} place;

static DEFINE_MUTEX(place_lock);

static int place_set(char *line)
{
	char *word = strsep(&line, " "), *first = strsep(&line, " ");
	unsigned long ip;

	if (!line || kstrtol(first, 10, &place.first) ||
	    kstrtol(line, 10, &place.last))
		return -EINVAL;
	if (strlen(word) != 2 * sizeof(ip) || kstrtoul(word, 16, &ip)) {
		ip = kallsyms_lookup_name(word);
		if (!ip)
			return -ENOENT;
		ip = ftrace_test_site_of(ip);
	}
	place.ip = ip;
	return 0;
}

static ssize_t place_write(struct file *file, const char __user *ubuf,
			   size_t cnt, loff_t *ppos)
{
	char *line = ftrace_test_line(ubuf, cnt);
	int ret;

	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&place_lock);
	ret = place_set(line);
	mutex_unlock(&place_lock);
	kfree(line);
	return ret ?: cnt;
}

static int place_show(struct seq_file *m, void *v)
{
	unsigned long first, last;

	mutex_lock(&place_lock);
	first = place.ip + place.first;
	last = place.ip + place.last;
	seq_printf(m, "reserved %d range %lx location %lx\n",
		   ftrace_text_reserved((void *)first, (void *)last),
		   ftrace_location_range(first, last), ftrace_location(place.ip));
	mutex_unlock(&place_lock);
	return 0;
}

static int place_open(struct inode *inode, struct file *file)
{
	return single_open(file, place_show, NULL);
}

static const struct file_operations place_fops = {
	.owner		= THIS_MODULE,
	.open		= place_open,
	.read		= seq_read,
	.write		= place_write,
	.release	= single_release,
};

/**
 * ftrace_test_place_file - make the file of this part
 * @dir: the directory
 *
 * Context: process, once, at boot.
 */
void __init ftrace_test_place_file(struct dentry *dir)
{
	debugfs_create_file("place", 0600, dir, NULL, &place_fops);
}
