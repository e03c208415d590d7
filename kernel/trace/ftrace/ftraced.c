// SPDX-License-Identifier: GPL-2.0
/*
 * ftraced: rounds that turn notes into records and have them patched.
 *
 * A round takes the notes the recorder has made, gives each new call site a
 * record, and writes one plan: nops, or calls for the sites that somebody
 * traces already. The boot has a round after each level of initcalls; then
 * the thread takes over, with at most one a second once the system runs. A
 * round that finds nothing leaves the system in equilibrium: no thread runs. Once a
 * second a deferrable timer looks at the counters of the recorder and at one of each
 * region, and it does not wake an idle CPU for that.
 *
 * With a table of call sites there are no notes, and as a rule no rounds: they
 * settle what the table lacks and somebody asks for.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/kthread.h>
#include <linux/seq_file.h>
#include <linux/timer.h>

#include "ftraced.h"
#include "ops/ops.h"
#include "sites/note_table.h"
#include "sites/notes.h"
#include "sites/set.h"
#include "sites/table.h"

/* Room for what runs until the first rounds; ftraced_slots= overrides it. */
static unsigned int boot_slots __initdata = 16 * 1024;

/* Are rounds made? How many found something, or failed? ftrace_lock. */
static bool enabled = true;
static unsigned long rounds;

static struct task_struct *ftraced_task;

static int __init set_boot_slots(char *str)
{
	unsigned int nr;

	if (!str || kstrtouint(str, 0, &nr) || !nr || nr > FTRACE_SLOTS_MAX)
		pr_warn("ftraced_slots=%s is not in 1..%u\n", str ?: "",
			FTRACE_SLOTS_MAX);
	else
		boot_slots = nr;
	return 0;
}
early_param("ftraced_slots", set_boot_slots);

static unsigned int nr_new(void)
{
	struct ftrace_region *r;
	unsigned int nr = 0;

	list_for_each_entry_rcu(r, &ftrace_regions, list,
				lockdep_is_held(&ftrace_lock) ||
				rcu_read_lock_any_held())
		nr += READ_ONCE(r->nr_new);
	return nr;
}

/*
 * There was no room for some trampoline, or no memory: there may be now. As long as a long
 * one is refused nobody looks for a short one.
 */
static bool tramps_can_be_had(void)
{
	return READ_ONCE(ftrace_tramps_wanted) && ftrace_tramp_has_room() &&
	       !ftrace_packs_refused();
}

static bool has_work(void)
{
	bool work;

	rcu_read_lock();
	work = nr_new();
	rcu_read_unlock();
	return work || ftrace_notes_pending() || tramps_can_be_had();
}

/*
 * A note can be of text that is gone, or come late, from somebody who was held up in
 * the recorder: that is why nothing is taken on trust.
 */
static void round_once(void)
{
	struct ftrace_sites s = {};
	struct ftrace_region *near = NULL;
	unsigned long before = ftrace_nr_discovered;
	unsigned int i, done = 0;
	int ret, nr_kept = 0;

	lockdep_assert_held(&ftrace_lock);
	ftrace_notes_list(&s);
	ftrace_sites_sort(&s);
	ret = ftrace_discover_sites(s.key, s.nr);
	/* Found because they ran, not because somebody asked for them. */
	ftrace_nr_discovered = before;
	if (ftrace_settle())
		rounds++;

	/* A note is no longer needed once its site does not call the recorder. */
	for (i = 0; i < s.nr; i++) {
		struct dyn_ftrace *rec;

		rec = ftrace_rec_near(&near, ftrace_text_addr(s.key[i]));
		if (rec && rec->state & FTRACE_REC_BAD)
			nr_kept++;
		/* Nor if there is no such site. But after an error that is not known. */
		else if (rec ? !(rec->state & FTRACE_REC_NEW) : !ret)
			s.key[done++] = s.key[i];
	}
	ftrace_notes_drop(s.key, done, nr_kept);
	ftrace_sites_free(&s);
}

static void ftraced_round(void)
{
	guard(mutex)(&ftrace_lock);
	if (!enabled || ftrace_disabled)
		return;
	round_once();
	if (tramps_can_be_had())
		ftrace_update_tramps();
}

static int __init boot_round(void)
{
	ftraced_round();
	return 0;
}
early_initcall(boot_round);
pure_initcall(boot_round);
core_initcall_sync(boot_round);
postcore_initcall_sync(boot_round);
arch_initcall_sync(boot_round);
subsys_initcall_sync(boot_round);
fs_initcall_sync(boot_round);
rootfs_initcall(boot_round);
device_initcall_sync(boot_round);

static struct timer_list ftraced_timer;

/*
 * Either re-arms the timer, or wakes the thread, which re-arms it after its
 * round. Once ftrace is dead, this does neither.
 */
static void ftraced_tick(struct timer_list *t)
{
	if (READ_ONCE(ftrace_disabled))
		return;
	if (READ_ONCE(enabled) && has_work())
		wake_up_process(ftraced_task);
	else
		mod_timer(&ftraced_timer, jiffies + HZ);
}

static int ftraced(void *unused)
{
	/*
	 * The end of the boot runs through much that has not run before, and
	 * over and over: that is worth more than one round.
	 */
	while (system_state < SYSTEM_RUNNING) {
		schedule_timeout_idle(HZ / 50);
		if (has_work())
			ftraced_round();
	}
	for (;;) {
		ftrace_notes_resize();
		/*
		 * In this order: a tick that finds work may come before this
		 * thread gets to sleep, and it does not arm the timer again.
		 */
		set_current_state(TASK_IDLE);
		mod_timer(&ftraced_timer, jiffies + HZ);
		schedule();
		ftraced_round();
	}
	return 0;
}

static int __init ftraced_start(void)
{
	/* If the boot failed there may be no note table. */
	if (ftrace_disabled)
		return 0;
	ftraced_round();
	timer_setup(&ftraced_timer, ftraced_tick, TIMER_DEFERRABLE);
	ftraced_task = kthread_run(ftraced, NULL, "ftraced");
	if (IS_ERR(ftraced_task)) {
		pr_err("no thread: call sites that run from now on are found only on demand\n");
		return PTR_ERR(ftraced_task);
	}
	return 0;
}
late_initcall_sync(ftraced_start);

/**
 * ftraced_init - allocate the boot's batch of slots
 *
 * Context: early boot, before the recorder is armed.
 * Return: 0 or -ENOMEM.
 */
int __init ftraced_init(void)
{
	unsigned long pages = PFN_UP(ftrace_notes_size(boot_slots));
	struct ftrace_note_table *t;

	if (!IS_ENABLED(CONFIG_FTRACE_RECORDER))
		return 0;
	/* 6.12 says so of its records. Here those come one batch after the other. */
	pr_info("allocating %u entries in %lu pages\n", boot_slots, pages);
	t = ftrace_notes_alloc(boot_slots);
	if (!t)
		return -ENOMEM;
	ftrace_notes_publish(t);
	/* Tools know this line of 6.12's log. */
	pr_info("allocated %lu pages with %d groups\n", pages, 1);
	return 0;
}

static int stats_show(struct seq_file *m, void *v)
{
	struct ftrace_notes_stat st;
	unsigned int new, i;

	mutex_lock(&ftrace_lock);
	ftrace_notes_stat(&st);
	new = nr_new();
	seq_printf(m, "rounds: %lu\n", rounds);
	seq_printf(m, "notes: %lu\n", st.noted);
	seq_printf(m, "pending: %d\n", st.pending);
	seq_printf(m, "slots: %lu\n", st.slots);
	seq_printf(m, "skipped: %lu\n", st.skipped);
	if (IS_ENABLED(CONFIG_FTRACE_MCOUNT_RECORD))
		seq_printf(m, "table: %lu\n", ftrace_nr_table);
	seq_printf(m, "discovered: %lu\n", ftrace_nr_discovered);
	seq_printf(m, "records: %lu\n", ftrace_update_tot_cnt);
	seq_printf(m, "new: %u\n", new);
	seq_printf(m, "bad: %lu\n", ftrace_nr_bad);
	seq_printf(m, "record_size: %zu\n", sizeof(struct dyn_ftrace));
	seq_printf(m, "stops: %lu\n", ftrace_stops.nr);
	seq_printf(m, "longest_stop_ns: %llu\n", ftrace_stops.longest_ns);
	seq_printf(m, "all_stops_ns: %llu\n", ftrace_stops.all_ns);
	for (i = 0; i < FTRACE_STOP_CLASSES; i++)
		if (ftrace_stops.below[i])
			seq_printf(m, "stops_below_%lluus: %lu\n", 1ULL << i,
				   ftrace_stops.below[i]);
	seq_printf(m, "equilibrium: %s\n", st.pending || new ? "no" : "yes");
	mutex_unlock(&ftrace_lock);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, stats_show, NULL);
}

static const struct file_operations stats_fops = {
	.open		= stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static ssize_t enabled_read(struct file *file, char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	char buf[] = { READ_ONCE(enabled) ? '1' : '0', '\n' };

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, sizeof(buf));
}

static ssize_t enabled_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	int ret;
	u8 val;

	/* Of a longer write, only the beginning would be read. */
	ret = cnt < 8 ? kstrtou8_from_user(ubuf, cnt, 10, &val) : -EINVAL;
	if (ret == -EFAULT)
		return ret;
	if (ret || val > 1)
		return -EINVAL;
	mutex_lock(&ftrace_lock);
	WRITE_ONCE(enabled, val);
	mutex_unlock(&ftrace_lock);
	*ppos += cnt;
	return cnt;
}

static const struct file_operations enabled_fops = {
	.open		= tracing_open_generic,
	.read		= enabled_read,
	.write		= enabled_write,
	.llseek		= generic_file_llseek,
};

/**
 * ftraced_create_files - make the files ftraced_enabled and ftraced_stats
 * @parent: the top-level directory
 *
 * Context: boot, process.
 */
void __init ftraced_create_files(struct dentry *parent)
{
	trace_create_file("ftraced_enabled", TRACE_MODE_WRITE, parent, NULL,
			  &enabled_fops);
	trace_create_file("ftraced_stats", TRACE_MODE_READ, parent, NULL,
			  &stats_fops);
}
