// SPDX-License-Identifier: GPL-2.0
/* What it takes to compile a small C file, with and without tracing all functions. */
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static void compile(const char *unused, const char *neither)
{
	pid_t pid = fork();
	int status;

	(void)unused;
	(void)neither;
	must(pid >= 0, "fork", "compiler");
	if (!pid) {
		execl("/ld-linux-x86-64.so.2", "ld.so", "--library-path", "/", "/cc1", "-quiet",
		      "-O1", "-fpreprocessed", "/small.i", "-o", "/small.s", NULL);
		_exit(127);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "compiling", "/small.i");
}

void compile_rows(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("compile", i, compile, NULL, NULL);
	}
	echo("function", "current_tracer");
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("compile-traced", i, compile, NULL, NULL);
	}
	echo("nop", "current_tracer");
}
