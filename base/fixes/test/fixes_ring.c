// SPDX-License-Identifier: GPL-2.0
/*
 * An event that is discarded when there is another one after it, for the tests of
 * base/fixes: what time has that other one, for a reader that leaves it and for one
 * that takes it?
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/ring_buffer.h>

static const u64 first = 1, taken_back = 2, second = 3;

/* Returns a time after the event that is discarded and before the second one. */
static u64 write(struct trace_buffer *ring)
{
	struct ring_buffer_event *event;
	u64 ns;

	ring_buffer_write(ring, sizeof(first), (void *)&first);
	mdelay(2);
	event = ring_buffer_lock_reserve(ring, sizeof(taken_back));
	if (!event)
		return 0;
	memcpy(ring_buffer_event_data(event), &taken_back, sizeof(taken_back));
	ns = ring_buffer_time_stamp(ring);
	/* As an interrupt would: the ring buffer takes this for one that has just begun. */
	ring_buffer_write(ring, sizeof(second), (void *)&second);
	ring_buffer_discard_commit(ring, event);
	return ns;
}

static bool is_second(struct ring_buffer_event *event)
{
	return event && *(u64 *)ring_buffer_event_data(event) == second;
}

static void tell(const char *reader, bool found, u64 ns, u64 before)
{
	if (!found)
		pr_info("fixes_ring: %s: not found\n", reader);
	else
		pr_info("fixes_ring: %s: %llu ns early\n", reader,
			ns < before ? before - ns : 0);
}

static void read(struct trace_buffer *ring, int cpu, u64 before)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(ring, cpu, GFP_KERNEL);
	bool found = false;
	u64 ns = 0;

	if (!iter)
		return;
	while (!found && ring_buffer_iter_peek(iter, &ns)) {
		found = is_second(ring_buffer_iter_peek(iter, &ns));
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
	tell("iterator", found, ns, before);

	ring_buffer_consume(ring, cpu, NULL, NULL);
	found = is_second(ring_buffer_consume(ring, cpu, &ns, NULL));
	tell("consumer", found, ns, before);
}

static int __init fixes_ring_init(void)
{
	struct trace_buffer *ring = ring_buffer_alloc(4 * PAGE_SIZE, 0);
	u64 before;
	int cpu;

	if (!ring)
		return -ENOMEM;
	preempt_disable();
	cpu = smp_processor_id();
	before = write(ring);
	preempt_enable();
	if (before)
		read(ring, cpu, before);
	ring_buffer_free(ring);
	return 0;
}

static void __exit fixes_ring_exit(void)
{
}

module_init(fixes_ring_init);
module_exit(fixes_ring_exit);
MODULE_DESCRIPTION("Discard an event before another");
MODULE_LICENSE("GPL");
