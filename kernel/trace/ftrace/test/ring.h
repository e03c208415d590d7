/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of ftrace_test_ring share: what is written, and what is known of it.
 */
#ifndef _FTRACE_TEST_RING_H
#define _FTRACE_TEST_RING_H

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>

/* Above 112 bytes, the length of an event has a word of its own: have both. */
#define RING_BYTES	150

enum ring_context { TASK, SOFTIRQ, HARDIRQ, NMI, CONTEXTS };

/**
 * struct ring_record - what an event holds
 * @seq: which of those that this context has written on this CPU
 * @before: a time before it was written
 * @after: a time after that, or 0
 * @ended: a time after the one before it was written
 * @cpu: of its writer
 * @context: of its writer
 * @bytes: how many there are of @byte
 * @byte: follows from all above but the times
 */
struct ring_record {
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
 * struct ring_side - what one CPU has written, and what was read of it
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
struct ring_side {
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

DECLARE_PER_CPU(struct ring_side, ring_sides);

/* While a run goes on: what it is about, on which CPUs, and whether anybody may write. */
extern struct trace_buffer *ring;
extern struct cpumask ring_cpus;
extern bool ring_writing;

extern const char * const ring_context_name[CONTEXTS];

static inline unsigned int ring_record_size(unsigned int bytes)
{
	return offsetof(struct ring_record, byte) + bytes;
}

/* Of all lengths, and now and then the longest there is. */
static inline unsigned int ring_record_bytes(u64 seq)
{
	if (seq % 61 == 60)
		return ring_buffer_max_event_size(ring) - ring_record_size(0);
	return seq * 7 % RING_BYTES;
}

static inline u8 ring_record_byte(const struct ring_record *r, unsigned int i)
{
	return r->seq * 31 + r->cpu * 17 + (r->context << 6) + r->bytes + i;
}

static inline u64 ring_sum(const u64 *counter, int contexts)
{
	u64 sum = 0;

	while (contexts--)
		sum += READ_ONCE(counter[contexts]);
	return sum;
}

/* ring_write.c */
int ring_nmi_handler(unsigned int type, struct pt_regs *regs);
int ring_start_writers(void);
void ring_stop_writers(void);

/* ring_read.c: what the first find was, and how many there were */
extern char ring_found[160];
extern atomic_t ring_finds;
__printf(1, 2) void ring_find(const char *fmt, ...);
bool ring_read_all(void);
void ring_check_counts(void);

#endif /* _FTRACE_TEST_RING_H */
