// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of ftrace_test_ring, and what it has to find.
 */
#include <linux/minmax.h>
#include <linux/sched.h>

#include "ring.h"

const char * const ring_context_name[CONTEXTS] = { "task", "softirq", "irq", "nmi" };

char ring_found[160];
atomic_t ring_finds;

/* Take note of something that is wrong. */
void ring_find(const char *fmt, ...)
{
	va_list args;

	/* The first is what counts. */
	if (atomic_inc_return(&ring_finds) > 1)
		return;
	va_start(args, fmt);
	vsnprintf(ring_found, sizeof(ring_found), fmt, args);
	va_end(args);
}

static void check_event(int cpu, struct ring_buffer_event *event, u64 ns)
{
	struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);
	const struct ring_record *r = ring_buffer_event_data(event);
	unsigned int i;

	if (r->cpu != cpu || r->context >= CONTEXTS || r->bytes != ring_record_bytes(r->seq) ||
	    ring_buffer_event_length(event) != ALIGN(ring_record_size(r->bytes), 4)) {
		ring_find("cpu %d: no event of ours: %u bytes, number %llu, context %u, cpu %u",
			  cpu, ring_buffer_event_length(event), r->seq, r->context,
			  r->cpu);
		return;
	}
	for (i = 0; i < r->bytes; i++)
		if (r->byte[i] != ring_record_byte(r, i))
			ring_find("cpu %d: event %llu of %s is torn at byte %u",
				  cpu, r->seq, ring_context_name[r->context], i);

	if (ns < s->last_ns || ns < r->before || (r->after && ns > r->after))
		ring_find("cpu %d: event %llu of %s has time %llu, the last %llu, of %llu to %llu",
			  cpu, r->seq, ring_context_name[r->context], ns, s->last_ns,
			  r->before, r->after);
	if (r->seq && r->seq == s->next[r->context] && s->ns[r->context] > r->ended)
		ring_find("cpu %d: event %llu of %s has time %llu, and had ended by %llu",
			  cpu, r->seq - 1, ring_context_name[r->context],
			  s->ns[r->context], r->ended);
	s->ns[r->context] = ns;
	s->last_ns = ns;

	if (r->seq < s->next[r->context])
		ring_find("cpu %d: event %llu of %s, when %llu is due",
			  cpu, r->seq, ring_context_name[r->context], s->next[r->context]);
	s->next[r->context] = r->seq + 1;
	s->read[r->context]++;
}

/* Read what there is; tell whether there was anything. */
bool ring_read_all(void)
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

/* While nobody writes: everything is read, or known to be lost or refused. */
void ring_check_counts(void)
{
	int cpu, tries = 0;

	while (ring_read_all() && ++tries < 1000)
		cond_resched();

	for_each_cpu(cpu, &ring_cpus) {
		struct ring_side *s = per_cpu_ptr(&ring_sides, cpu);
		u64 written = ring_sum(s->written, CONTEXTS), read = ring_sum(s->read, CONTEXTS);
		u64 refused = ring_sum(s->refused, CONTEXTS);
		u64 no_room = ring_buffer_dropped_events_cpu(ring, cpu) +
			      ring_buffer_commit_overrun_cpu(ring, cpu);

		s->lost = ring_buffer_overrun_cpu(ring, cpu);
		if (written != read + s->lost)
			ring_find("cpu %d: of %llu events %llu were read, %llu counted as lost",
				  cpu, written, read, s->lost);
		/* While the size changes, NMIs find the buffer disabled. */
		if (no_room > refused || no_room < refused - s->refused[NMI])
			ring_find("cpu %d: %llu events were refused, %llu of them for want of room",
				  cpu, refused, no_room);
		if (ring_buffer_entries_cpu(ring, cpu))
			ring_find("cpu %d: %lu events are left",
				  cpu, ring_buffer_entries_cpu(ring, cpu));
	}
}
