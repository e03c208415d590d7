// SPDX-License-Identifier: GPL-2.0
/*
 * The writers of ftrace_test_ring: a task, timers of softirqs and of interrupts, and NMIs
 * on each CPU.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include <asm/nmi.h>

#include "ring.h"

/* How far apart the writes of a timer are. */
#define IRQ_NS		(300 * NSEC_PER_USEC)
#define SOFTIRQ_NS	(400 * NSEC_PER_USEC)

DEFINE_PER_CPU(struct ring_side, ring_sides);
struct trace_buffer *ring;
struct cpumask ring_cpus;
bool ring_writing;

static void fill(struct ring_record *r, u64 seq, enum ring_context context, unsigned int bytes)
{
	unsigned int i;

	r->seq = seq;
	r->cpu = smp_processor_id();
	r->context = context;
	r->bytes = bytes;
	r->after = 0;
	r->ended = this_cpu_read(ring_sides.ended[context]);
	for (i = 0; i < bytes; i++)
		r->byte[i] = ring_record_byte(r, i);
}

/* Interrupts of the same CPU write between any two steps of this. */
static bool write_at_once(enum ring_context context, u64 seq, unsigned int bytes)
{
	union {
		struct ring_record	r;
		u8		room[offsetof(struct ring_record, byte) + RING_BYTES];
	} event;

	event.r.before = ring_buffer_time_stamp(ring);
	fill(&event.r, seq, context, bytes);
	return !ring_buffer_write(ring, ring_record_size(bytes), &event);
}

static bool write_in_place(enum ring_context context, u64 seq, unsigned int bytes, bool discard)
{
	u64 before = ring_buffer_time_stamp(ring);
	struct ring_buffer_event *event;
	struct ring_record *r;

	event = ring_buffer_lock_reserve(ring, ring_record_size(bytes));
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

static bool write_one(struct ring_side *s, enum ring_context context)
{
	u64 seq = s->written[context];
	unsigned int bytes = ring_record_bytes(seq);

	if (seq % 4 < 2 && bytes < RING_BYTES)
		return write_at_once(context, seq, bytes);

	/* One of eight is taken back, and written again. */
	if (seq % 8 == 2) {
		if (!write_in_place(context, seq, bytes, true))
			return false;
		s->discarded[context]++;
	}
	return write_in_place(context, seq, bytes, false);
}

static void write_in(enum ring_context context)
{
	struct ring_side *s = this_cpu_ptr(&ring_sides);
	unsigned int inside = s->inside;

	if (!READ_ONCE(ring_writing))
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

int ring_nmi_handler(unsigned int type, struct pt_regs *regs)
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
	struct ring_side *s = this_cpu_ptr(&ring_sides);
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

void ring_stop_writers(void)
{
	int cpu;

	WRITE_ONCE(ring_writing, false);
	for_each_cpu(cpu, &ring_cpus) {
		struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);

		if (IS_ERR_OR_NULL(s->task))
			continue;
		kthread_stop(s->task);
		hrtimer_cancel(&s->irq);
		hrtimer_cancel(&s->softirq);
	}
	/* NMIs that have seen the flag, too. */
	synchronize_rcu();
}

int ring_start_writers(void)
{
	int cpu;

	for_each_cpu(cpu, &ring_cpus) {
		struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);

		memset(s, 0, sizeof(*s));
		hrtimer_init(&s->irq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		s->irq.function = on_irq;
		hrtimer_init(&s->softirq, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
		s->softirq.function = on_softirq;
	}
	WRITE_ONCE(ring_writing, true);
	for_each_cpu(cpu, &ring_cpus) {
		struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);

		s->task = kthread_run_on_cpu(write_in_task, NULL, cpu, "ring_writer/%u");
		if (IS_ERR(s->task))
			return PTR_ERR(s->task);
	}
	return 0;
}
