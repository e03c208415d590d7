// SPDX-License-Identifier: GPL-2.0
/* What something keeps in memory. */
#include <stdio.h>
#include <unistd.h>

#include "bench.h"

#define TIMES	3

/* Bytes that nobody has, with those that CPUs keep for themselves. */
static long long free_bytes(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	long long nr, pages = 0;
	char line[128];

	must(!!f, "open", "/proc/zoneinfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " pages free %lld", &nr) == 1 ||
		    sscanf(line, " count: %lld", &nr) == 1)
			pages += nr;
	}
	fclose(f);
	must(pages > 0, "read", "/proc/zoneinfo");
	return pages * sysconf(_SC_PAGESIZE);
}

/* RCU has freed what it was given, which may take five seconds, and counters are up to date. */
static long long free_at_rest(void)
{
	settle();
	sleep(8);
	return free_bytes();
}

/* How many bytes are in use after on() that were free before, a few times. */
void sample_kept(const char *row, void (*on)(void), void (*off)(void))
{
	long long before;
	int i;

	for (i = 0; i < TIMES; i++) {
		before = free_at_rest();
		on();
		say("memory-%s %lld\n", row, before - free_at_rest());
		off();
	}
}
