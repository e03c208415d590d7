// SPDX-License-Identifier: GPL-2.0
/*
 * What many functions, modules, words, probes and programs take: init of a guest, as
 * bench.c. Prints "row sample" lines; many.py makes the table.
 *
 * The functions are those of modules, see modules.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bpf.h"
#include "modules.h"

#define CROWD		64	/* instances that have words waiting */
#define KPROBES		1000
#define MANY_WORDS	10000
#define FRESH_WORDS	1000	/* of functions that never ran */
#define KEPT		50000	/* functions of which memory is measured */
#define SMALL		400	/* functions of a module of many */

/*
 * The stock core takes the square of a module's functions to load it, and a walk over all
 * functions for each word: it is not asked for the most of either.
 */
static int stock;

/* ---- more of tracefs ---- */

static void read_all(const char *file, const char *unused)
{
	static char buf[1 << 17];
	int fd = open(path_of(file), O_RDONLY);
	ssize_t n;

	(void)unused;
	must(fd >= 0, "open", file);
	do {
		n = read(fd, buf, sizeof(buf));
	} while (n > 0);
	must(!n, "read", file);
	close(fd);
}

/* A row's name with a number. */
static const char *row(const char *what, const char *of)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s-%s", what, of);
	return name;
}

static const char *row_nr(const char *what, int nr)
{
	char of[16];

	snprintf(of, sizeof(of), "%d", nr);
	return row(what, of);
}

/* ---- functions ---- */

static void function_rows(const char *of)
{
	read_all("available_filter_functions", NULL);
	settle();
	sample(row("list", of), 1, read_all, "available_filter_functions", NULL);
	sample(row("one", of), 1, echo, NAME "_f_000000", "set_ftrace_filter");
	sample(row("glob", of), 1, echo, "*any_*_f_*", "set_ftrace_filter");
	settle();
	sample(row("on", of), 1, echo, "function", "current_tracer");
	sample(row("enabled", of), 1, read_all, "enabled_functions", NULL);
	settle();
	sample(row("off", of), 1, echo, "nop", "current_tracer");
	echo("", "set_ftrace_filter");
	settle();
}

static void one_module_rows(int size)
{
	char of[16];

	snprintf(of, sizeof(of), "%d", size);
	modules_begin(size);
	module_load(NULL, NULL);
	settle();
	module_unload(NAME, NULL);
	settle();
	sample(row("load", of), 1, module_load, NULL, NULL);
	settle();
	function_rows(of);
	sample(row("unload", of), 1, module_unload, NAME, NULL);
	settle();
	modules_end();
}

static void many_modules_rows(int nr, int size)
{
	char of[32];

	snprintf(of, sizeof(of), "%dx%d", nr, size);
	modules_load(size, nr - 1);
	module_number(nr - 1);
	settle();
	sample(row("load", of), 1, module_load, NULL, NULL);
	settle();
	function_rows(of);
	module_number(0);
	sample(row("unload", of), 1, module_unload, NAME, NULL);
	module_load(NULL, NULL);
	modules_unload(nr);
}

/* ---- kprobe.multi ---- */

static struct {
	int		nr;
	uint64_t	*name;	/* pointers to names, or NULL */
	uint64_t	*addr;
	int		prog;
	int		link;
} multi;

static void multi_attach(const char *unused, const char *neither)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd	= multi.prog,
			.attach_type	= BPF_TRACE_KPROBE_MULTI,
			.kprobe_multi	= {
				.cnt	= multi.nr,
				.syms	= (uintptr_t)multi.name,
				.addrs	= multi.name ? 0 : (uintptr_t)multi.addr,
			},
		},
	};

	(void)unused;
	(void)neither;
	multi.link = bpf(BPF_LINK_CREATE, &attr);
	must(multi.link >= 0, "BPF_LINK_CREATE", "kprobe.multi");
}

static void multi_detach(const char *unused, const char *neither)
{
	(void)unused;
	(void)neither;
	close(multi.link);
}

static void multi_row(const char *on, const char *off)
{
	settle();
	sample(row_nr(on, multi.nr), 1, multi_attach, NULL, NULL);
	settle();
	sample(row_nr(off, multi.nr), 1, multi_detach, NULL, NULL);
}

static uint64_t *make_names(int nr)
{
	uint64_t *name = calloc(nr, sizeof(*name));
	char function[32];
	int i;

	must(!!name, "calloc", "names");
	for (i = 0; i < nr; i++) {
		snprintf(function, sizeof(function), "many_%03d_f_%06d", i / SMALL, i % SMALL);
		name[i] = (uintptr_t)strdup(function);
	}
	return name;
}

static void multi_begin(int nr)
{
	multi.addr = calloc(nr, sizeof(*multi.addr));
	must(!!multi.addr, "calloc", "addresses");
	multi.prog = program_of(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0);
	must(multi.prog >= 0, "BPF_PROG_LOAD", "kprobe.multi");
	some_addresses(" many_", "[many_", multi.addr, nr);
}

static void programs_rows(int few, int many)
{
	uint64_t *name = make_names(many);

	modules_load(SMALL, many / SMALL);
	multi_begin(many);
	for (multi.nr = few; multi.nr <= many; multi.nr += many - few) {
		multi.name = NULL;
		multi_row("multi-on", "multi-off");
		multi.name = name;
		multi_row("names-on", "names-off");
	}
	close(multi.prog);
	settle();
	modules_unload(many / SMALL);
}

/* ---- words ---- */

static char *words(int nr, const char *tail)
{
	char *text = malloc(64 * nr + 1), *to = text;
	int i;

	must(!!text, "malloc", "words");
	*to = 0;
	for (i = 0; i < nr; i++)
		to += sprintf(to, "many_%03d_f_%06d%s ", i / SMALL, i % SMALL, tail);
	return text;
}

static void filter_words_rows(int nr)
{
	char *text = words(nr, "");

	sample(row_nr("words", nr), 1, echo, text, "set_ftrace_filter");
	echo("", "set_ftrace_filter");
	free(text);
}

/* Of functions that do nothing here, and of which none is notrace. */
static int is_fresh(const char *name)
{
	static const char *const begin[] = {
		"acpi_ds_", "acpi_ev_", "acpi_ex_", "acpi_ns_", "acpi_ut_", "dev_", "fib",
		"rtnl_", "skb_", "tcp_",
	};
	unsigned int i;

	for (i = 0; i < sizeof(begin) / sizeof(*begin); i++) {
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return !strchr(name, '.');
	}
	return 0;
}

static char *fresh_words(int nr)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char *text = malloc(64 * nr + 1), line[256], name[64], kind;
	int i = 0, in_text = 0;

	must(f && text, "open", "/proc/kallsyms");
	*text = 0;
	while (i < nr && fgets(line, sizeof(line), f)) {
		must(sscanf(line, "%*s %c %62s", &kind, name) == 2, "read", "/proc/kallsyms");
		in_text |= !strcmp(name, "_stext");
		if (!strcmp(name, "_etext"))
			break;
		if (in_text && strchr("tT", kind) && is_fresh(name)) {
			strcat(strcat(text, name), " ");
			i++;
		}
	}
	fclose(f);
	must(i == nr, "too few functions in", "/proc/kallsyms");
	return text;
}

/* Before anybody has asked for all functions. */
static void fresh_words_row(void)
{
	int nr = stock ? FRESH_WORDS / 10 : FRESH_WORDS;
	char *text = fresh_words(nr);

	sample_early(stock ? "fresh-100" : "fresh-1000", echo, text, "set_ftrace_filter");
	must(!file_has("set_ftrace_filter", "all functions"), "filter", "not set");
	echo("", "set_ftrace_filter");
	sample_early("fresh-quiet", quiet, NULL, NULL);
	free(text);
}

static void load_row(const char *what, int nr)
{
	settle();
	sample(row_nr(what, nr), 1, module_load, NULL, NULL);
	settle();
	module_unload(NAME, NULL);
}

static void each_instance(int (*f)(const char *path), const char *text)
{
	char file[64];
	int i;

	for (i = 0; i < CROWD; i++) {
		snprintf(file, sizeof(file), "instances/many%d", i);
		must(!f(path_of(file)), "instance", file);
		if (!text)
			continue;
		snprintf(file, sizeof(file), "instances/many%d/set_ftrace_filter", i);
		echo(text, file);
	}
}

static int make(const char *path)
{
	return mkdir(path, 0755);
}

/* Words that wait for a module, written at once. */
static void late_words_row(int nr)
{
	char *text = words(nr, ":mod:absent");

	sample(row_nr("late", nr), 1, echo, text, "set_ftrace_filter");
	echo("", "set_ftrace_filter");
	free(text);
}

static void waiting_words_rows(void)
{
	char *one = words(1, ":mod:absent"), *many = words(1000, ":mod:absent");

	late_words_row(MANY_WORDS / 10);
	late_words_row(MANY_WORDS);
	modules_begin(SMALL);
	load_row("load-words", 0);
	load_row("load-words", 0);
	echo(one, "set_ftrace_filter");
	load_row("load-words", 1);
	echo(many, "set_ftrace_filter");
	load_row("load-words", 1000);
	if (!stock) {
		each_instance(make, many);
		load_row("load-instances", CROWD);
		each_instance(rmdir, NULL);
	}
	echo("", "set_ftrace_filter");
	modules_end();
	free(one);
	free(many);
	settle();
}

/* ---- kprobes and programs ---- */

static void kprobe_rows_of(int nr)
{
	char text[128];
	int i;

	modules_load(SMALL, (nr - 1) / SMALL + 1);
	for (i = 0; i < nr; i++) {
		int fd = open(path_of("kprobe_events"), O_WRONLY | O_APPEND);

		snprintf(text, sizeof(text), "p:kprobes/k%d many_%03d_f_%06d\n", i, i / SMALL,
			 i % SMALL);
		must(write(fd, text, strlen(text)) > 0, "write", "kprobe_events");
		close(fd);
	}
	settle();
	sample(row_nr("kprobes-on", nr), 1, echo, "1", "events/kprobes/enable");
	settle();
	sample(row_nr("kprobes-off", nr), 1, echo, "0", "events/kprobes/enable");
	echo("", "kprobe_events");
	settle();
	modules_unload((nr - 1) / SMALL + 1);
}

/* ---- memory ---- */

static char *late;

/* The lists of functions are asked for, or ours would know none of them. */
static void load_and_list(void)
{
	modules_load(SMALL, KEPT / SMALL);
	read_all("available_filter_functions", NULL);
}

static void unload(void)
{
	modules_unload(KEPT / SMALL);
}

static void trace(void)
{
	echo("many_*", "set_ftrace_filter");
	echo("function", "current_tracer");
}

static void trace_no_more(void)
{
	echo("nop", "current_tracer");
	echo("", "set_ftrace_filter");
}

static void attach(void)
{
	multi_attach(NULL, NULL);
}

static void detach(void)
{
	multi_detach(NULL, NULL);
}

static void wait_for_modules(void)
{
	echo(late, "set_ftrace_filter");
}

static void wait_no_more(void)
{
	echo("", "set_ftrace_filter");
}

static void memory_rows(void)
{
	sample_kept("loaded", load_and_list, unload);
	load_and_list();
	sample_kept("traced", trace, trace_no_more);
	multi.nr = KEPT;
	multi.name = NULL;
	multi_begin(KEPT);
	sample_kept("multi", attach, detach);
	close(multi.prog);
	late = words(MANY_WORDS, ":mod:absent");
	sample_kept("late", wait_for_modules, wait_no_more);
	free(late);
	settle();
	unload();
}

static void functions_rows(void)
{
	one_module_rows(1000);
	one_module_rows(10000);
	if (!stock) {
		one_module_rows(50000);
		many_modules_rows(4, 50000);
	}
}

static void words_rows(void)
{
	modules_load(SMALL, MANY_WORDS / SMALL);
	filter_words_rows(100);
	if (!stock)
		filter_words_rows(MANY_WORDS);
	modules_unload(MANY_WORDS / SMALL);
}

/* On the command line of the kernel: only=GROUP. */
static int asked(const char *group)
{
	const char *only = getenv("only");

	return !only || !strcmp(only, group);
}

int main(void)
{
	begin();
	stock = access(path_of("ftraced_stats"), F_OK);
	samples_begin();
	if (asked("fresh"))
		fresh_words_row();
	samples_settle();
	/* The first time takes more, for whatever reason. */
	echo("function", "current_tracer");
	echo("nop", "current_tracer");
	if (asked("functions"))
		functions_rows();
	if (asked("modules"))
		many_modules_rows(500, SMALL);
	if (asked("programs"))
		programs_rows(1500, 50000);
	if (asked("waiting"))
		waiting_words_rows();
	if (asked("kprobes"))
		kprobe_rows_of(KPROBES);
	if (asked("words"))
		words_rows();
	if (asked("memory"))
		memory_rows();
	finish(0);
}
