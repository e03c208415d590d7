// SPDX-License-Identifier: GPL-2.0
/*
 * Init of a guest: calls one traced function again and again, each way of tracing it
 * between a line "begin NAME" and a line "end". profile.py counts meanwhile.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define CALLS	200

static void calls(const char *name)
{
	int i;

	settle();
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	say("begin %s\n", name);
	/* Until whoever counts has begun. */
	sleep(3);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	say("end\n");
	sleep(1);
}

int main(void)
{
	begin();
	calls("untraced");

	echo(TRACED, "set_ftrace_filter");
	echo("function", "current_tracer");
	calls("function");

	must(!mkdir(path_of("instances/beside"), 0755), "mkdir", "instances/beside");
	echo(TRACED, "instances/beside/set_ftrace_filter");
	echo("function", "instances/beside/current_tracer");
	calls("function-twice");
	echo("nop", "instances/beside/current_tracer");

	echo("1", "options/func_stack_trace");
	calls("function-stack");
	echo("0", "options/func_stack_trace");

	if (file_has("available_tracers", "function_graph")) {
		echo("function_graph", "current_tracer");
		calls("graph");
	}
	finish(0);
}
