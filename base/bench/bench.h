/* SPDX-License-Identifier: GPL-2.0 */
/* What the rows of the benchmark share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

#define TRACING		"/sys/kernel/tracing/"
#define TRACED		"__do_sys_getppid"
#define ROUNDS		4	/* samples of a row; the first is a warm-up */

void begin(void);
void say(const char *format, ...);
void finish(int status);
void must(int ok, const char *what, const char *where);
void settle(void);
void quiet(const char *unused, const char *neither);
void echo(const char *text, const char *file);
const char *path_of(const char *file);
void print_file(const char *row, const char *file);
int file_has(const char *file, const char *word);

uint64_t now(void);
void samples_begin(void);
void samples_settle(void);
void sample_early(const char *row, void (*f)(const char *, const char *),
		  const char *a, const char *b);
void sample(const char *row, int keep, void (*f)(const char *, const char *),
	    const char *a, const char *b);
void sample_kept(const char *row, void (*on)(void), void (*off)(void));

void kprobe_rows(void);
void multi_rows(void);
void fentry_rows(void);
void fentry_crowd_rows(void);
void fentry_host_rows(void);
void ops_rows(void);
void named_rows(void);
void compile_rows(void);
double per_call(void);

#endif
