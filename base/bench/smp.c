// SPDX-License-Identifier: GPL-2.0
/*
 * Init of a guest: how long the switches of a tracer take by the clock, on all CPUs
 * together. Prints "row nanoseconds" lines; smp.py makes the table.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static unsigned long long clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void timed(const char *load, const char *row, const char *tracer)
{
	unsigned long long start = clock_ns();

	echo(tracer, "current_tracer");
	say("%s-%s %llu\n", load, row, clock_ns() - start);
}

/* What ours counts; 0 with the core of the base. */
static unsigned long long stat_of(const char *name)
{
	unsigned long long value = 0;
	char line[128];
	FILE *f = fopen(path_of("ftraced_stats"), "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

/*
 * Some seventy functions. One stop on and one off tell how long one is. Where stops are
 * dear there are hardly any, and one more may be ftraced's.
 */
static void switch_few(const char *load)
{
	unsigned long long stops = stat_of("stops: "), ns = stat_of("all_stops_ns: ");

	echo("vfs_*", "set_ftrace_filter");
	timed(load, "few-on", "function");
	timed(load, "few-off", "nop");
	stops = stat_of("stops: ") - stops;
	if (stops == 2)
		say("%s-stop %llu\n", load, (stat_of("all_stops_ns: ") - ns) / 2);
}

static void rounds(const char *load, int nr)
{
	while (nr--) {
		echo("", "set_ftrace_filter");
		timed(load, "all-on", "function");
		timed(load, "all-off", "nop");
		echo(TRACED, "set_ftrace_filter");
		timed(load, "one-on", "function");
		timed(load, "one-off", "nop");
		switch_few(load);
	}
	echo("", "set_ftrace_filter");
}

/* One process on each CPU that never sleeps. */
static void start_load(int nr)
{
	cpu_set_t set;
	int cpu;
	pid_t pid;

	for (cpu = 0; cpu < nr; cpu++) {
		pid = fork();
		must(pid >= 0, "fork", "");
		if (pid)
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity", "");
		for (;;)
			asm volatile("");
	}
}

/* What the kernel's command line says. */
static int number_of(const char *name)
{
	const char *value = getenv(name);

	return value ? atoi(value) : 0;
}

int main(void)
{
	int n = number_of("smp_rounds"), cpus = number_of("smp_cpus");

	begin();
	must(n > 0 && sysconf(_SC_NPROCESSORS_ONLN) == cpus, "not all CPUs are there", "");
	/* Most functions have not run yet. */
	rounds("first", 1);
	settle();
	rounds("idle", n);
	start_load(cpus);
	sleep(1);
	rounds("busy", n);
	print_file("stats", "ftraced_stats");
	finish(0);
}
