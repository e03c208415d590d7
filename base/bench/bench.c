// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark: init of a guest whose time stamp counter counts instructions
 * (QEMU, -icount shift=0).  Prints "row sample" lines; bench.py makes the table.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define ELSEWHERE	"__do_sys_sync"
#define GRAPH_ROUNDS	2	/* the same, for rows that take billions */
#define BATCH		1000	/* calls in one sample of the per-call rows */
#define BATCHES		31
#define TOGETHER	10	/* tracers on one function */
#define CROWD		64	/* instances that trace one function each */

static size_t cat(const char *file)
{
	static char buf[1 << 17];
	const char *path = path_of(file);
	int fd = open(path, O_RDONLY);
	size_t len = 0;
	ssize_t n;

	must(fd >= 0, "open", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		len += n;
	must(!n, "read", path);
	close(fd);
	return len;
}

static void read_all(const char *file, const char *unused)
{
	(void)unused;
	must(cat(file) > 10000, "too little in", file);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* One getppid(), as the median of many batches: ticks fall out of it. */
double per_call(void)
{
	static uint64_t took[BATCHES];
	uint64_t begin;
	int i, k;

	for (i = 0; i < BATCHES; i++) {
		begin = now();
		for (k = 0; k < BATCH; k++)
			syscall(SYS_getppid);
		took[i] = now() - begin;
	}
	qsort(took, BATCHES, sizeof(*took), by_value);
	return (double)took[BATCHES / 2] / BATCH;
}

static void tracefs_rows(void)
{
	int i;

	echo("", "set_ftrace_filter");
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("enable-all", i, echo, "function", "current_tracer");
		settle();
		sample("disable-all", i, echo, "nop", "current_tracer");
	}
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("filter-exact", i, echo, TRACED, "set_ftrace_filter");
		settle();
		sample("enable-one", i, echo, "function", "current_tracer");
		settle();
		sample("disable-one", i, echo, "nop", "current_tracer");
		settle();
		sample("filter-glob", i, echo, "*sched*", "set_ftrace_filter");
		echo("", "set_ftrace_filter");
	}
	for (i = 0; i < ROUNDS; i++)
		sample("read-available", i, read_all, "available_filter_functions", NULL);
}

static void graph_rows(void)
{
	int i;

	if (!file_has("available_tracers", "function_graph"))
		return;
	for (i = 0; i < GRAPH_ROUNDS; i++) {
		settle();
		sample("enable-graph", i, echo, "function_graph", "current_tracer");
		settle();
		sample("disable-graph", i, echo, "nop", "current_tracer");
	}
}

static void instance(const char *name, const char *function)
{
	char file[256];

	snprintf(file, sizeof(file), "instances/%s", name);
	must(!mkdir(path_of(file), 0755), "mkdir", file);
	snprintf(file, sizeof(file), "instances/%s/set_ftrace_filter", name);
	echo(function, file);
	snprintf(file, sizeof(file), "instances/%s/current_tracer", name);
	echo("function", file);
}

static void remove_instance(const char *name)
{
	char file[256];

	snprintf(file, sizeof(file), "instances/%s/current_tracer", name);
	echo("nop", file);
	snprintf(file, sizeof(file), "instances/%s", name);
	must(!rmdir(path_of(file)), "rmdir", file);
}

/* The first names of system calls among the functions that can be traced. */
static int some_functions(char name[][64], int nr)
{
	FILE *f = fopen(path_of("available_filter_functions"), "r");
	char line[256], call[41];
	int i = 0;

	must(!!f, "open", "available_filter_functions");
	while (i < nr && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "__x64_sys_%40s", call) == 1)
			snprintf(name[i++], sizeof(*name), "__x64_sys_%s", call);
	}
	fclose(f);
	return i;
}

/* A call that is seen to return, by the graph tracer alone and with others. */
static void graph_call_rows(void)
{
	double plain;

	if (!file_has("available_tracers", "function_graph"))
		return;
	settle();
	per_call();
	plain = per_call();
	echo(TRACED, "set_ftrace_filter");
	echo("function_graph", "current_tracer");
	settle();
	per_call();
	say("graph-call-one %.1f\n", per_call() - plain);

	instance("beside", TRACED);
	settle();
	per_call();
	say("graph-call-beside %.1f\n", per_call() - plain);
	remove_instance("beside");
	echo("nop", "current_tracer");
	echo("", "set_ftrace_filter");
}

static char crowd_function[CROWD][64];

static void make_crowd(const char *unused, const char *neither)
{
	char name[16];
	int i;

	(void)unused;
	(void)neither;
	for (i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "crowd%d", i);
		instance(name, crowd_function[i]);
	}
}

static void remove_crowd(const char *unused, const char *neither)
{
	char name[16];
	int i;

	(void)unused;
	(void)neither;
	for (i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "crowd%d", i);
		remove_instance(name);
	}
}

/* What one instance costs to change among many that trace something else, and all of them. */
static void crowd_rows(void)
{
	char filter[64], tracer[64];
	int i;

	must(some_functions(crowd_function, CROWD) == CROWD, "too few in",
	     "available_filter_functions");
	settle();
	sample("crowd-make", 1, make_crowd, NULL, NULL);
	snprintf(filter, sizeof(filter), "instances/crowd%d/set_ftrace_filter", CROWD / 2);
	snprintf(tracer, sizeof(tracer), "instances/crowd%d/current_tracer", CROWD / 2);
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("crowd-filter", i, echo, i % 2 ? TRACED : ELSEWHERE, filter);
		settle();
		sample("crowd-disable", i, echo, "nop", tracer);
		settle();
		sample("crowd-enable", i, echo, "function", tracer);
	}
	settle();
	sample("crowd-remove", 1, remove_crowd, NULL, NULL);
}

/* All functions counted, and no longer. */
static void profile_rows(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("profile-on", i, echo, "1", "function_profile_enabled");
		settle();
		sample("profile-off", i, echo, "0", "function_profile_enabled");
	}
}

/* Tracers elsewhere, as many as there are limits for. */
static void elsewhere_rows(double plain)
{
	static const int steps[] = { 1, 8, 64 };
	char name[16];
	unsigned int i;
	int n = 0;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		for (; n < steps[i]; n++) {
			snprintf(name, sizeof(name), "else%d", n);
			instance(name, ELSEWHERE);
		}
		settle();
		per_call();
		say("call-else-%d %.1f\n", steps[i], (per_call() - plain) / steps[i]);
	}
	while (n--) {
		snprintf(name, sizeof(name), "else%d", n);
		remove_instance(name);
	}
}

/* A traced call with an option of the function tracer. */
static void option_row(const char *row, const char *option, double plain)
{
	if (access(path_of(option), F_OK))
		return;
	echo("1", option);
	settle();
	per_call();
	say("%s %.1f\n", row, per_call() - plain);
	echo("0", option);
}

static void call_rows(void)
{
	double plain, one;
	char name[16];
	int i;

	settle();
	per_call();
	plain = per_call();
	say("call-untraced %.1f\n", plain);

	echo(TRACED, "set_ftrace_filter");
	echo("function", "current_tracer");
	settle();
	per_call();
	one = per_call();
	say("call-one %.1f\n", one - plain);
	option_row("call-stack", "options/func_stack_trace", plain);
	option_row("call-repeated", "options/func-no-repeats", plain);

	elsewhere_rows(one);
	for (i = 2; i <= TOGETHER; i++) {
		snprintf(name, sizeof(name), "with%d", i);
		instance(name, TRACED);
		if (i != 2 && i != TOGETHER)
			continue;
		settle();
		per_call();
		say("call-%d %.1f\n", i, per_call() - plain);
	}
	for (i = 2; i <= TOGETHER; i++) {
		snprintf(name, sizeof(name), "with%d", i);
		remove_instance(name);
	}
	echo("nop", "current_tracer");
	echo("", "set_ftrace_filter");
}

/* When most functions never ran, and all that is put off, until nothing is left. */
static void first_rows(void)
{
	sample_early("first-on", echo, "function", "current_tracer");
	sample_early("first-off", echo, "nop", "current_tracer");
	sample_early("first-quiet", quiet, NULL, NULL);
}

int main(void)
{
	uint64_t boot = now();

	begin();
	say("boot %llu\n", (unsigned long long)boot);
	/* Of a kernel that cannot trace functions the boot is all there is to tell. */
	if (getenv("only_boot") || access(TRACING "set_ftrace_filter", F_OK))
		finish(0);
	samples_begin();
	if (getenv("only_compile")) {
		samples_settle();
		compile_rows();
		finish(0);
	}
	if (getenv("only_fentries")) {
		samples_settle();
		fentry_host_rows();
		finish(0);
	}
	first_rows();
	samples_settle();
	tracefs_rows();
	graph_rows();
	call_rows();
	graph_call_rows();
	crowd_rows();
	profile_rows();
	kprobe_rows();
	multi_rows();
	fentry_rows();
	ops_rows();
	named_rows();
	fentry_crowd_rows();
	print_file("total", "dyn_ftrace_total_info");
	print_file("stats", "ftraced_stats");
	finish(0);
}
