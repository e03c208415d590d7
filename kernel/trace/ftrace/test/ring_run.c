// SPDX-License-Identifier: GPL-2.0
/*
 * Writers of all contexts on each CPU, one reader, and a thread that changes the size
 * of the ring buffer, for the kselftests: each event that was counted as written is
 * read or counted as lost, in order, as it was written, with a time between the one
 * before and the one after it was written.
 *
 * In debugfs, below ftrace_test_ring/:
 *
 * run     takes "EVENTS overwrite" or "EVENTS keep": go on until each context of
 *         each CPU has written so many, interrupts and NMIs have done so while
 *         another context wrote, and the buffer has overwritten its oldest events
 *         or refused new ones, whichever is its way. EIO if something is wrong.
 * report  what the last run has counted, and the first thing that was found
 *
 * NMIs come from ftrace_test_nmi. With the parameter nmi=0 nobody waits for them.
 * With PREEMPT_RT, timers of softirq context are tasks to the ring buffer.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/seq_file.h>

#include <asm/nmi.h>

#include "ring.h"
#include "run.h"

#define MAX_EVENTS	10000000

/* In bytes, for each CPU: small, so that events are lost, too. */
#define SMALL		(4 * PAGE_SIZE)
#define LARGE		(64 * PAGE_SIZE)

/* So often a context has to write while another one does. */
#define NESTED		20

/* In seconds: nothing of what a run waits for takes that long. */
#define PATIENCE	60

/* Longer than the header of an event can say. */
#define PAUSE_MS	150

/* Held while the size changes, and while nothing may. */
static DEFINE_MUTEX(size_mutex);

/* Held while a run goes on; covers all below. */
static DEFINE_MUTEX(run_mutex);

static unsigned int resized;

static bool nmi = true;
module_param(nmi, bool, 0600);

static int change_size(void *unused)
{
	int ret;

	while (!kthread_should_stop()) {
		usleep_range(10000, 30000);
		/* Events that go with their page are counted when it is gone. */
		mutex_lock(&size_mutex);
		ret = ring_buffer_resize(ring, resized % 2 ? SMALL : LARGE,
					 RING_BUFFER_ALL_CPUS);
		mutex_unlock(&size_mutex);
		if (ret < 0)
			ring_find("the size cannot be changed: %d", ret);
		resized++;
	}
	return 0;
}

/* ---- a run ----------------------------------------------------------------- */

/* All writers at rest: nothing that was committed may wait for another commit. */
static void pause_and_check(unsigned int ms)
{
	mutex_lock(&size_mutex);
	WRITE_ONCE(ring_writing, false);
	synchronize_rcu();
	ring_check_counts();
	msleep(ms);
	WRITE_ONCE(ring_writing, true);
	mutex_unlock(&size_mutex);
}

/**
 * struct goal - how far a run is
 * @is: how much there is of what it waits for
 * @of: how much it waits for
 * @since: in jiffies, when @is was less
 */
struct goal {
	u64		is;
	u64		of;
	unsigned long	since;
};

static void want(struct goal *goal, u64 is, u64 of)
{
	goal->is += min(is, of);
	goal->of += of;
}

/* What each context has written, and what happened while it did. */
static bool is_reached(struct goal *goal, u64 events, bool overwrite)
{
	int contexts = nmi ? CONTEXTS : NMI, cpu, context;
	u64 no_room = 0, nested[CONTEXTS] = {}, was = goal->is;

	goal->is = 0;
	goal->of = 0;
	for_each_cpu(cpu, &ring_cpus) {
		struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);

		for (context = 0; context < contexts; context++) {
			want(goal, READ_ONCE(s->written[context]), events);
			nested[context] += READ_ONCE(s->nested[context]);
		}
		no_room += overwrite ? s->lost : ring_sum(s->refused, CONTEXTS);
	}
	for (context = HARDIRQ; context < contexts; context++)
		want(goal, nested[context], NESTED);
	want(goal, no_room, 1);

	if (goal->is > was)
		goal->since = jiffies;
	else if (time_after(jiffies, goal->since + PATIENCE * HZ))
		ring_find("only %llu of %llu happen: see who writes too little",
			  goal->is, goal->of);
	return goal->is == goal->of;
}

static int run(u64 events, bool overwrite)
{
	struct goal goal = { .since = jiffies };
	struct task_struct *resizer;
	unsigned int n = 0, late_ms = 50;
	int ret;

	resizer = kthread_run(change_size, NULL, "ring_resizer");
	if (IS_ERR(resizer))
		return PTR_ERR(resizer);
	ret = ring_start_writers();
	while (!ret && !is_reached(&goal, events, overwrite) && !atomic_read(&ring_finds)) {
		ring_read_all();
		usleep_range(500, 3000);
		/* Now and then the reader is too slow, or there is nothing to read. */
		if (++n % 16 == 0)
			msleep(late_ms);
		/* Where writing takes long, so does it until there is no room. */
		if (n % 256 == 0 && late_ms < 2000)
			late_ms *= 2;
		if (n % 8 == 0)
			pause_and_check(n % 128 ? 0 : PAUSE_MS);
		if (signal_pending(current))
			ret = -EINTR;
	}
	ring_stop_writers();
	kthread_stop(resizer);
	if (ret)
		return ret;
	ring_check_counts();
	return atomic_read(&ring_finds) ? -EIO : 0;
}

static int prepare_and_run(u64 events, bool overwrite)
{
	int ret;

	ring_found[0] = 0;
	atomic_set(&ring_finds, 0);
	resized = 0;
	ring = ring_buffer_alloc(SMALL, overwrite ? RB_FL_OVERWRITE : 0);
	if (!ring)
		return -ENOMEM;
	cpu_hotplug_disable();
	cpumask_copy(&ring_cpus, cpu_online_mask);
	ret = register_nmi_handler(NMI_LOCAL, ring_nmi_handler, 0, "ftrace_test_ring");
	if (!ret) {
		ret = run(events, overwrite);
		unregister_nmi_handler(NMI_LOCAL, "ftrace_test_ring");
	}
	cpu_hotplug_enable();
	ring_buffer_free(ring);
	ring = NULL;
	return ret;
}

static ssize_t run_write(struct file *file, const char __user *ubuf, size_t cnt,
			 loff_t *ppos)
{
	unsigned int events;
	bool overwrite;
	char *line, *mode;
	int ret;

	line = ftrace_test_line(ubuf, cnt);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mode = line;
	ret = kstrtouint(strsep(&mode, " "), 0, &events);
	overwrite = mode && !strcmp(mode, "overwrite");
	if (!ret && (!events || events > MAX_EVENTS || !mode ||
		     (!overwrite && strcmp(mode, "keep"))))
		ret = -EINVAL;
	kfree(line);
	if (ret)
		return ret;

	ret = mutex_lock_interruptible(&run_mutex);
	if (ret)
		return ret;
	ret = prepare_and_run(events, overwrite);
	mutex_unlock(&run_mutex);
	return ret ?: cnt;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.write	= run_write,
	.llseek	= noop_llseek,
};

static int report_show(struct seq_file *m, void *v)
{
	int cpu, context, ret;

	ret = mutex_lock_interruptible(&run_mutex);
	if (ret)
		return ret;
	for_each_cpu(cpu, &ring_cpus) {
		const struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);

		for (context = 0; context < CONTEXTS; context++)
			seq_printf(m, "cpu %d %s written %llu read %llu refused %llu discarded %llu nested %llu\n",
				   cpu, ring_context_name[context], s->written[context],
				   s->read[context], s->refused[context],
				   s->discarded[context], s->nested[context]);
		seq_printf(m, "cpu %d lost %llu\n", cpu, s->lost);
	}
	seq_printf(m, "resized %u\n", resized);
	if (ring_found[0])
		seq_printf(m, "found: %s\n", ring_found);
	mutex_unlock(&run_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

/* ---- the module ------------------------------------------------------------ */

static struct dentry *dir;

static int __init ftrace_test_ring_init(void)
{
	dir = debugfs_create_dir("ftrace_test_ring", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("report", 0400, dir, NULL, &report_fops);
	return 0;
}
module_init(ftrace_test_ring_init);

static void __exit ftrace_test_ring_exit(void)
{
	debugfs_remove(dir);
}
module_exit(ftrace_test_ring_exit);

MODULE_DESCRIPTION("Writers and a reader of a ring buffer, for the kselftests of ftrace");
MODULE_LICENSE("GPL");
