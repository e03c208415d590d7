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
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>

#include <asm/nmi.h>

#include "run.h"

#define MAX_EVENTS	10000000

/* In bytes, for each CPU: small, so that events are lost, too. */
#define SMALL		(4 * PAGE_SIZE)
#define LARGE		(64 * PAGE_SIZE)

/* How far apart the writes of a timer are. */
#define IRQ_NS		(300 * NSEC_PER_USEC)
#define SOFTIRQ_NS	(400 * NSEC_PER_USEC)

/* So often a context has to write while another one does. */
#define NESTED		20

/* Above 112 bytes, the length of an event has a word of its own: have both. */
#define BYTES		150

/* In seconds: nothing of what a run waits for takes that long. */
#define PATIENCE	60

/* Longer than the header of an event can say. */
#define PAUSE_MS	150

enum context { TASK, SOFTIRQ, HARDIRQ, NMI, CONTEXTS };

static const char * const context_name[] = { "task", "softirq", "irq", "nmi" };

/**
 * struct record - what an event holds
 * @seq: which of those that this context has written on this CPU
 * @before: a time before it was written
 * @after: a time after that, or 0
 * @ended: a time after the one before it was written
 * @cpu: of its writer
 * @context: of its writer
 * @bytes: how many there are of @byte
 * @byte: follows from all above but the times
 */
struct record {
	u64	seq;
	u64	before;
	u64	after;
	u64	ended;
	u16	cpu;
	u16	context;
	u32	bytes;
	u8	byte[];
};

/**
 * struct side - what one CPU has written, and what was read of it
 * @written: events of each context
 * @refused: events for which there was no room, or that came while the size changed
 * @discarded: events that were taken back
 * @nested: writes that interrupted another one
 * @inside: who is writing, a bit for each context
 * @ended: when each context had written its last event
 * @read: events of each context
 * @next: the number of the next event of each context, if none is lost
 * @ns: when the last event of each context that was read was written
 * @last_ns: when the last one of all was
 * @lost: what the ring buffer says of lost events
 * @irq: writes with interrupts off
 * @softirq: writes in softirq context
 * @task: writes in task context
 *
 * Each context has counters of its own; those from @read to @lost are the reader's.
 */
struct side {
	u64			written[CONTEXTS];
	u64			refused[CONTEXTS];
	u64			discarded[CONTEXTS];
	u64			nested[CONTEXTS];
	unsigned int		inside;
	u64			ended[CONTEXTS];
	u64			read[CONTEXTS];
	u64			next[CONTEXTS];
	u64			ns[CONTEXTS];
	u64			last_ns;
	u64			lost;
	struct hrtimer		irq;
	struct hrtimer		softirq;
	struct task_struct	*task;
};

static DEFINE_PER_CPU(struct side, sides);

/* Held while the size changes, and while nothing may. */
static DEFINE_MUTEX(size_mutex);

/* Held while a run goes on; covers all below. */
static DEFINE_MUTEX(run_mutex);

static struct trace_buffer *ring;
static struct cpumask ring_cpus;
static bool writing;
static char found[160];
static atomic_t finds;
static unsigned int resized;

static bool nmi = true;
module_param(nmi, bool, 0600);

static __printf(1, 2) void find(const char *fmt, ...)
{
	va_list args;

	/* The first is what counts. */
	if (atomic_inc_return(&finds) > 1)
		return;
	va_start(args, fmt);
	vsnprintf(found, sizeof(found), fmt, args);
	va_end(args);
}

static unsigned int size_of(unsigned int bytes)
{
	return offsetof(struct record, byte) + bytes;
}

/* Of all lengths, and now and then the longest there is. */
static unsigned int bytes_of(u64 seq)
{
	if (seq % 61 == 60)
		return ring_buffer_max_event_size(ring) - size_of(0);
	return seq * 7 % BYTES;
}

static u8 byte_of(const struct record *r, unsigned int i)
{
	return r->seq * 31 + r->cpu * 17 + (r->context << 6) + r->bytes + i;
}

static void fill(struct record *r, u64 seq, enum context context, unsigned int bytes)
{
	unsigned int i;

	r->seq = seq;
	r->cpu = smp_processor_id();
	r->context = context;
	r->bytes = bytes;
	r->after = 0;
	r->ended = this_cpu_read(sides.ended[context]);
	for (i = 0; i < bytes; i++)
		r->byte[i] = byte_of(r, i);
}

/* ---- writing --------------------------------------------------------------- */

/* Interrupts of the same CPU write between any two steps of this. */
static bool write_at_once(enum context context, u64 seq, unsigned int bytes)
{
	union {
		struct record	r;
		u8		room[offsetof(struct record, byte) + BYTES];
	} event;

	event.r.before = ring_buffer_time_stamp(ring);
	fill(&event.r, seq, context, bytes);
	return !ring_buffer_write(ring, size_of(bytes), &event);
}

static bool write_in_place(enum context context, u64 seq, unsigned int bytes, bool discard)
{
	u64 before = ring_buffer_time_stamp(ring);
	struct ring_buffer_event *event;
	struct record *r;

	event = ring_buffer_lock_reserve(ring, size_of(bytes));
	if (!event)
		return false;
	r = ring_buffer_event_data(event);
	r->before = before;
	fill(r, seq, context, bytes);
	r->after = ring_buffer_time_stamp(ring);
	if (discard) {
		/* A reader that sees it all the same finds no sense in it. */
		r->context = CONTEXTS;
		ring_buffer_discard_commit(ring, event);
	} else {
		ring_buffer_unlock_commit(ring);
	}
	return true;
}

static bool write_one(struct side *s, enum context context)
{
	u64 seq = s->written[context];
	unsigned int bytes = bytes_of(seq);

	if (seq % 4 < 2 && bytes < BYTES)
		return write_at_once(context, seq, bytes);

	/* One of eight is taken back, and written again. */
	if (seq % 8 == 2) {
		if (!write_in_place(context, seq, bytes, true))
			return false;
		s->discarded[context]++;
	}
	return write_in_place(context, seq, bytes, false);
}

static void write_in(enum context context)
{
	struct side *s = this_cpu_ptr(&sides);
	unsigned int inside = s->inside;

	if (!READ_ONCE(writing))
		return;
	if (inside)
		WRITE_ONCE(s->nested[context], s->nested[context] + 1);
	WRITE_ONCE(s->inside, inside | BIT(context));
	if (write_one(s, context)) {
		s->ended[context] = ring_buffer_time_stamp(ring);
		WRITE_ONCE(s->written[context], s->written[context] + 1);
	} else {
		WRITE_ONCE(s->refused[context], s->refused[context] + 1);
	}
	WRITE_ONCE(s->inside, inside);
}

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	write_in(NMI);
	return NMI_DONE;
}

static enum hrtimer_restart on_irq(struct hrtimer *timer)
{
	write_in(HARDIRQ);
	hrtimer_forward_now(timer, ns_to_ktime(IRQ_NS));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart on_softirq(struct hrtimer *timer)
{
	write_in(SOFTIRQ);
	write_in(SOFTIRQ);
	hrtimer_forward_now(timer, ns_to_ktime(SOFTIRQ_NS));
	return HRTIMER_RESTART;
}

static int write_in_task(void *unused)
{
	struct side *s = this_cpu_ptr(&sides);
	unsigned int i;

	/* Timers of a mode that is pinned stay on the CPU that starts them. */
	hrtimer_start(&s->irq, ns_to_ktime(IRQ_NS), HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&s->softirq, ns_to_ktime(SOFTIRQ_NS), HRTIMER_MODE_REL_PINNED_SOFT);
	while (!kthread_should_stop()) {
		for (i = 0; i < 50; i++) {
			preempt_disable();
			write_in(TASK);
			preempt_enable();
		}
		usleep_range(200, 1000);
	}
	return 0;
}

static void stop_writers(void)
{
	int cpu;

	WRITE_ONCE(writing, false);
	for_each_cpu(cpu, &ring_cpus) {
		struct side *s = per_cpu_ptr(&sides, cpu);

		if (IS_ERR_OR_NULL(s->task))
			continue;
		kthread_stop(s->task);
		hrtimer_cancel(&s->irq);
		hrtimer_cancel(&s->softirq);
	}
	/* NMIs that have seen the flag, too. */
	synchronize_rcu();
}

static int start_writers(void)
{
	int cpu;

	for_each_cpu(cpu, &ring_cpus) {
		struct side *s = per_cpu_ptr(&sides, cpu);

		memset(s, 0, sizeof(*s));
		hrtimer_init(&s->irq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		s->irq.function = on_irq;
		hrtimer_init(&s->softirq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
		s->softirq.function = on_softirq;
	}
	WRITE_ONCE(writing, true);
	for_each_cpu(cpu, &ring_cpus) {
		struct side *s = per_cpu_ptr(&sides, cpu);

		s->task = kthread_run_on_cpu(write_in_task, NULL, cpu, "ring_writer/%u");
		if (IS_ERR(s->task))
			return PTR_ERR(s->task);
	}
	return 0;
}

/* ---- changing the size ------------------------------------------------------- */

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
			find("the size cannot be changed: %d", ret);
		resized++;
	}
	return 0;
}

/* ---- reading --------------------------------------------------------------- */

static void check_event(int cpu, struct ring_buffer_event *event, u64 ns)
{
	struct side *s = per_cpu_ptr(&sides, cpu);
	const struct record *r = ring_buffer_event_data(event);
	unsigned int i;

	if (r->cpu != cpu || r->context >= CONTEXTS || r->bytes != bytes_of(r->seq) ||
	    ring_buffer_event_length(event) != ALIGN(size_of(r->bytes), 4)) {
		find("cpu %d: no event of ours: %u bytes, number %llu, context %u, cpu %u",
		     cpu, ring_buffer_event_length(event), r->seq, r->context, r->cpu);
		return;
	}
	for (i = 0; i < r->bytes; i++)
		if (r->byte[i] != byte_of(r, i))
			find("cpu %d: event %llu of %s is torn at byte %u", cpu, r->seq,
			     context_name[r->context], i);

	if (ns < s->last_ns || ns < r->before || (r->after && ns > r->after))
		find("cpu %d: event %llu of %s has time %llu: the last %llu, between %llu and %llu",
		     cpu, r->seq, context_name[r->context], ns, s->last_ns, r->before,
		     r->after);
	if (r->seq && r->seq == s->next[r->context] && s->ns[r->context] > r->ended)
		find("cpu %d: event %llu of %s has time %llu, and had ended by %llu", cpu,
		     r->seq - 1, context_name[r->context], s->ns[r->context], r->ended);
	s->ns[r->context] = ns;
	s->last_ns = ns;

	if (r->seq < s->next[r->context])
		find("cpu %d: event %llu of %s, when %llu is due", cpu, r->seq,
		     context_name[r->context], s->next[r->context]);
	s->next[r->context] = r->seq + 1;
	s->read[r->context]++;
}

/* Read what there is; tell whether there was anything. */
static bool read_all(void)
{
	struct ring_buffer_event *event;
	bool any = false;
	int cpu, n;
	u64 ns;

	for_each_cpu(cpu, &ring_cpus) {
		for (n = 0; n < 1000; n++) {
			event = ring_buffer_consume(ring, cpu, &ns, NULL);
			if (!event)
				break;
			check_event(cpu, event, ns);
			any = true;
		}
		cond_resched();
	}
	return any;
}

static u64 sum_of(const u64 *counter, int contexts)
{
	u64 sum = 0;

	while (contexts--)
		sum += READ_ONCE(counter[contexts]);
	return sum;
}

/* While nobody writes: everything is read, or known to be lost or refused. */
static void check_counts(void)
{
	int cpu, tries = 0;

	while (read_all() && ++tries < 1000)
		cond_resched();

	for_each_cpu(cpu, &ring_cpus) {
		struct side *s = per_cpu_ptr(&sides, cpu);
		u64 written = sum_of(s->written, CONTEXTS), read = sum_of(s->read, CONTEXTS);
		u64 refused = sum_of(s->refused, CONTEXTS);
		u64 no_room = ring_buffer_dropped_events_cpu(ring, cpu) +
			      ring_buffer_commit_overrun_cpu(ring, cpu);

		s->lost = ring_buffer_overrun_cpu(ring, cpu);
		if (written != read + s->lost)
			find("cpu %d: of %llu events %llu were read, %llu were counted as lost",
			     cpu, written, read, s->lost);
		/* While the size changes, NMIs find the buffer disabled. */
		if (no_room > refused || no_room < refused - s->refused[NMI])
			find("cpu %d: %llu events were refused, %llu of them for want of room",
			     cpu, refused, no_room);
		if (ring_buffer_entries_cpu(ring, cpu))
			find("cpu %d: %lu events are left", cpu,
			     ring_buffer_entries_cpu(ring, cpu));
	}
}

/* ---- a run ----------------------------------------------------------------- */

/* All writers at rest: nothing that was committed may wait for another commit. */
static void pause_and_check(unsigned int ms)
{
	mutex_lock(&size_mutex);
	WRITE_ONCE(writing, false);
	synchronize_rcu();
	check_counts();
	msleep(ms);
	WRITE_ONCE(writing, true);
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
		struct side *s = per_cpu_ptr(&sides, cpu);

		for (context = 0; context < contexts; context++) {
			want(goal, READ_ONCE(s->written[context]), events);
			nested[context] += READ_ONCE(s->nested[context]);
		}
		no_room += overwrite ? s->lost : sum_of(s->refused, CONTEXTS);
	}
	for (context = HARDIRQ; context < contexts; context++)
		want(goal, nested[context], NESTED);
	want(goal, no_room, 1);

	if (goal->is > was)
		goal->since = jiffies;
	else if (time_after(jiffies, goal->since + PATIENCE * HZ))
		find("only %llu of %llu happen: see who writes too little", goal->is,
		     goal->of);
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
	ret = start_writers();
	while (!ret && !is_reached(&goal, events, overwrite) && !atomic_read(&finds)) {
		read_all();
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
	stop_writers();
	kthread_stop(resizer);
	if (ret)
		return ret;
	check_counts();
	return atomic_read(&finds) ? -EIO : 0;
}

static int prepare_and_run(u64 events, bool overwrite)
{
	int ret;

	found[0] = 0;
	atomic_set(&finds, 0);
	resized = 0;
	ring = ring_buffer_alloc(SMALL, overwrite ? RB_FL_OVERWRITE : 0);
	if (!ring)
		return -ENOMEM;
	cpu_hotplug_disable();
	cpumask_copy(&ring_cpus, cpu_online_mask);
	ret = register_nmi_handler(NMI_LOCAL, nmi_handler, 0, "ftrace_test_ring");
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
		const struct side *s = per_cpu_ptr(&sides, cpu);

		for (context = 0; context < CONTEXTS; context++)
			seq_printf(m, "cpu %d %s written %llu read %llu refused %llu discarded %llu nested %llu\n",
				   cpu, context_name[context], s->written[context],
				   s->read[context], s->refused[context],
				   s->discarded[context], s->nested[context]);
		seq_printf(m, "cpu %d lost %llu\n", cpu, s->lost);
	}
	seq_printf(m, "resized %u\n", resized);
	if (found[0])
		seq_printf(m, "found: %s\n", found);
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
