// SPDX-License-Identifier: GPL-2.0
/*
 * ftraced: rounds that turn notes into records and have them patched.
 *
 * A round takes the notes the recorder has made, gives each new call site a
 * record, and writes one plan: nops, or calls for the sites that somebody
 * traces already. The boot has a round after each level of initcalls; then
 * the thread takes over, with at most one a second once the system runs. A
 * round that finds nothing leaves the system in equilibrium: no thread runs,
 * only a deferrable timer looks at two counters, and it does not wake an idle
 * CPU for that.
 *
 * With a table of call sites there are no notes, and as a rule no rounds: they
 * settle what the table lacks and somebody asks for.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/kthread.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/timer.h>

#include "ftraced.h"
#include "ops/ops.h"
#include "sites/notes.h"
#include "sites/recorder.h"
#include "sites/table.h"

/* Room for what runs until the first rounds, as ftraced_slots= may change. */
static unsigned int boot_slots __initdata = 16 * 1024;

/* Room for a second of a running system: one page, less the header. */
#define SLOTS_MIN	(PAGE_SIZE / sizeof(u32) - 40)
#define SLOTS_MAX	SZ_1M

/*
 * @enabled: rounds are made
 * @rounds: how many there were, that found something
 * @skipped_before: calls skipped when the size of the table was last judged
 * @nr_kept: notes of bad records; they stay in the table, so that the recorder
 *	knows these sites, and no round has to deal with them
 * All of them: ftrace_lock.
 */
static bool enabled = true;
static unsigned long rounds;
static unsigned long skipped_before;
static int nr_kept;

static struct task_struct *ftraced_task;

static int __init set_boot_slots(char *str)
{
	unsigned int nr;

	if (!str || kstrtouint(str, 0, &nr) || !nr || nr > SLOTS_MAX)
		pr_warn("ftraced_slots=%s is not in 1..%u\n", str ?: "",
			SLOTS_MAX);
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

static bool has_work(void)
{
	struct ftrace_notes_stat st;
	bool work;

	ftrace_notes_stat(&st);
	/* If only kept notes are pending, skipped calls need a larger table. */
	if (st.pending > READ_ONCE(nr_kept) ||
	    st.skipped != READ_ONCE(skipped_before))
		return true;
	rcu_read_lock();
	work = nr_new();
	rcu_read_unlock();
	return work;
}

/*
 * Collects the call sites that have no record yet. A note can be of text that
 * is gone, or come late, from a task that was preempted in the recorder: that
 * is why nothing is taken on trust.
 */
static bool collect(void *data, unsigned long ip)
{
	struct ftrace_sites *s = data;

	if (!ftrace_region_find(ip))
		return true;
	if (ftrace_rec_find(ip))
		return false;
	if (!ftrace_text_is_unpatched(ip))
		return true;
	/* No memory now: the note stays for the next round. */
	ftrace_sites_add(s, ip);
	return false;
}

/* A note is no longer needed once its site does not call the recorder. */
static bool is_done(void *data, unsigned long ip)
{
	struct dyn_ftrace *rec = ftrace_rec_find(ip);

	if (rec && rec->state & FTRACE_REC_BAD)
		nr_kept++;
	return rec && !(rec->state & (FTRACE_REC_NEW | FTRACE_REC_BAD));
}

static bool round_once(void)
{
	struct ftrace_sites s = {};
	struct ftrace_hash *sites;
	unsigned long before = ftrace_nr_discovered;
	bool found;

	lockdep_assert_held(&ftrace_lock);
	ftrace_notes_for_each(collect, &s);
	sites = ftrace_hash_from_sites(s.key, s.nr);
	ftrace_sites_free(&s);
	if (IS_ERR(sites))
		return true;
	if (sites)
		ftrace_discover_proved(sites->sites, sites->count);
	/* Found because they ran, not because somebody asked for them. */
	ftrace_nr_discovered = before;
	ftrace_hash_free(sites);

	found = nr_new();
	if (found) {
		ftrace_settle();
		rounds++;
	}
	nr_kept = 0;
	ftrace_notes_for_each(is_done, NULL);
	return found;
}

static bool ftraced_round(void)
{
	bool found = false;

	mutex_lock(&ftrace_lock);
	if (enabled && !ftrace_disabled)
		found = round_once();
	mutex_unlock(&ftrace_lock);
	return found;
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

/* How many slots the next round will want; the boot's batch is a large one. */
static unsigned int slots_wanted(const struct ftrace_notes_stat *st)
{
	unsigned long missed = st->skipped - skipped_before;

	WRITE_ONCE(skipped_before, st->skipped);
	if (missed)
		return min_t(unsigned long, SLOTS_MAX, 2 * st->slots);
	/* In a small table, notes that are kept could be in the way again. */
	if (!nr_kept && st->pending < st->slots / 4)
		return SLOTS_MIN;
	return st->slots;
}

/* Gives the recorder the slots for the next round. */
static void resize_notes(void)
{
	struct ftrace_note_table *t = NULL, *old = NULL;
	struct ftrace_notes_stat st;
	unsigned int want;

	mutex_lock(&ftrace_lock);
	ftrace_notes_stat(&st);
	want = slots_wanted(&st);
	if (want != st.slots)
		t = ftrace_notes_alloc(want);
	if (t) {
		old = ftrace_notes_publish(t);
		nr_kept = 0;
	}
	mutex_unlock(&ftrace_lock);
	ftrace_notes_retire(old);
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
		resize_notes();
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
	/* If start-up failed there may be no table to look into. */
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
	pr_info("allocated %lu pages with %d groups\n", pages, 1);
	return 0;
}

static int stats_show(struct seq_file *m, void *v)
{
	struct ftrace_notes_stat st;
	unsigned int new;

	mutex_lock(&ftrace_lock);
	ftrace_notes_stat(&st);
	st.pending -= nr_kept;
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

static int enabled_open(struct inode *inode, struct file *file)
{
	return tracing_check_open_get_tr(NULL);
}

static const struct file_operations enabled_fops = {
	.open		= enabled_open,
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
