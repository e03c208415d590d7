// SPDX-License-Identifier: GPL-2.0
/*
 * Do something again and again while one allocation after the other fails in it,
 * and see whether it either works or changes nothing.
 *
 * usage: fault WHAT BEFORE DO STATE-FILE...
 *
 * BEFORE and DO are lists of steps, separated by ';': "FILE>TEXT" opens with
 * O_TRUNC and writes, "FILE>>TEXT" opens to append and writes, "FILE>" only
 * opens; "+DIR" makes a directory and "-DIR" removes one. In TEXT, '|' stands
 * for ';'. BEFORE leads to where DO begins; it has to work whatever the state.
 *
 * For N = 1, 2, ... until DO runs through without a fault: BEFORE, then DO with
 * its Nth allocation failing (fail-nth). If a step gives an error it has to be
 * ENOMEM and the contents of the STATE-FILEs as before; then DO has to work when
 * it is done again. If no step does, the contents have to be what DO makes of
 * them; but a filter takes effect when its file is closed, and nobody may hear
 * of an error then: so it may be as before, too, if the log says so in one line.
 * Without such a loss it says nothing of the kind. Where there is no memory for a
 * trampoline, the code may be called that is always there: these are the same
 * here. And each time enabled_functions has to say what the text says.
 *
 * Runs in the root of tracefs. Prints what was counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"

#define MAX_FAULTS	5000
#define CALLS		"/sys/kernel/debug/ftrace_test/calls"

static const char *what;
static int nth_fd = -1, calls_fd = -1, log_fd = -1;
static unsigned int nth;

void die(const char *fmt, ...)
{
	va_list ap;

	printf("%s: ", what);
	if (nth)
		printf("allocation %u: ", nth);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(1);
}

/* ---- steps ----------------------------------------------------------------- */

struct step {
	char	*path;
	char	*text;
	int	flags;
	bool	make;
	bool	remove;
};

static struct step *parse(char *list, unsigned int *nr)
{
	struct step *steps = NULL;
	char *word, *s;

	for (*nr = 0; (word = strsep(&list, ";"));) {
		struct step *st;

		if (!*word)
			continue;
		steps = realloc(steps, (*nr + 1) * sizeof(*steps));
		if (!steps)
			die("no memory");
		st = &steps[(*nr)++];
		memset(st, 0, sizeof(*st));
		st->path = word;
		st->make = *word == '+';
		st->remove = *word == '-';
		if (st->make || st->remove) {
			st->path++;
			continue;
		}
		s = strchr(word, '>');
		if (!s)
			die("no step: %s", word);
		*s++ = '\0';
		st->flags = O_WRONLY | O_TRUNC;
		if (*s == '>') {
			st->flags = O_WRONLY | O_APPEND;
			s++;
		}
		st->text = s;
		while ((s = strchr(s, '|')))
			*s = ';';
	}
	return steps;
}

/* 0 or a negative errno. */
static int do_step(const struct step *st)
{
	size_t len = st->text ? strlen(st->text) : 0;
	int fd, ret = 0;

	if (st->make)
		return mkdir(st->path, 0700) ? -errno : 0;
	if (st->remove)
		return rmdir(st->path) ? -errno : 0;

	fd = open(st->path, st->flags);
	if (fd < 0)
		return -errno;
	if (len) {
		ssize_t done = write(fd, st->text, len);

		if (done < 0)
			ret = -errno;
		else if ((size_t)done != len)
			ret = -EIO;
	}
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int do_steps(const struct step *st, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = do_step(&st[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * What stands for ENOMEM: the base cannot put a pid into a list, and says EPERM;
 * of an option that a tracer refuses it says EINVAL, whatever the tracer said.
 */
static bool is_no_memory(int err, const struct step *st, unsigned int nr)
{
	const char *path = st[nr - 1].path;
	size_t len = strlen(path);

	return err == -ENOMEM ||
	       (err == -EPERM && len > 4 && !strcmp(path + len - 4, "_pid")) ||
	       (err == -EINVAL && !strncmp(path, "options/", 8));
}

/* Does the last step take effect only when its file is closed? */
static bool is_filter(const struct step *st, unsigned int nr)
{
	const char *base = strrchr(st[nr - 1].path, '/');

	base = base ? base + 1 : st[nr - 1].path;
	return !strcmp(base, "set_ftrace_filter") ||
	       !strcmp(base, "set_ftrace_notrace") ||
	       !strcmp(base, "set_graph_function") ||
	       !strcmp(base, "set_graph_notrace") ||
	       !strcmp(base, "stack_trace_filter");
}

/*
 * How many filters the kernel has said to be lost since this was asked last, for
 * whatever reason: the base turns ENOMEM into other errors, and what counts is that
 * somebody says so.
 */
static unsigned int lost_in_log(void)
{
	static char record[8192];
	unsigned int nr = 0;
	ssize_t len;

	/* A read gives one record. */
	while ((len = read(log_fd, record, sizeof(record) - 1)) > 0) {
		record[len] = '\0';
		nr += !!strstr(record, "a filter that was written cannot take effect: -");
	}
	if (len < 0 && errno != EAGAIN)
		die("cannot read the log: %s", strerror(errno));
	return nr;
}

static void arm(unsigned int n)
{
	char buf[16];
	int len = snprintf(buf, sizeof(buf), "%u", n);

	if (pwrite(nth_fd, buf, len, 0) != len)
		die("cannot write fail-nth: %s", strerror(errno));
}

/* Was there a fault? */
static bool disarm(void)
{
	char buf[16] = "";

	if (pread(nth_fd, buf, sizeof(buf) - 1, 0) <= 0)
		die("cannot read fail-nth: %s", strerror(errno));
	arm(0);
	return !atoi(buf);
}

int main(int argc, char **argv)
{
	static struct text before, after, now;
	unsigned int nr_setup, nr_op, said, errors = 0, worked = 0, lost = 0;
	struct step *setup, *op;
	char **files;
	bool fault, is_lost;
	int ret;

	if (argc < 5)
		return 2;
	what = argv[1];
	setup = parse(argv[2], &nr_setup);
	op = parse(argv[3], &nr_op);
	files = argv + 4;
	setvbuf(stdout, NULL, _IOLBF, 0);

	/* Or it would be our own pages that cannot be had. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall: %s", strerror(errno));
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		die("no fail-nth: %s", strerror(errno));

	log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (log_fd < 0 || lseek(log_fd, 0, SEEK_END) < 0)
		die("no log: %s", strerror(errno));

	/* To open it takes long; no function comes or goes. It knows call sites. */
	calls_fd = open_file(CALLS);
	ret = do_steps(setup, nr_setup);
	if (ret)
		die("it cannot begin: %s", strerror(-ret));
	read_funcs();
	read_state(&before, files);
	ret = do_steps(op, nr_op);
	if (ret)
		die("it does not work at all: %s", strerror(-ret));
	read_state(&after, files);
	if (same(&before, &after))
		die("a bad test: it changes nothing");
	check_text(calls_fd);

	do {
		if (++nth > MAX_FAULTS)
			die("there is no end to the faults");
		ret = do_steps(setup, nr_setup);
		if (ret)
			die("it cannot begin again: %s", strerror(-ret));
		read_state(&now, files);
		if (!same(&now, &before)) {
			show_difference(&before, &now);
			die("it does not begin as it did");
		}

		lost_in_log();
		arm(nth);
		ret = do_steps(op, nr_op);
		fault = disarm();
		said = lost_in_log();

		read_state(&now, files);
		is_lost = !ret && fault && is_filter(op, nr_op) && same(&now, &before);
		if (said != is_lost)
			die("%u filters are lost, the log says %u", is_lost, said);
		if (is_lost) {
			lost++;
			ret = -ENOMEM;
		}
		if (ret && !is_no_memory(ret, op, nr_op))
			die("the error is %s", strerror(-ret));
		if (ret && !fault)
			die("an error without a fault");
		if (!same(&now, ret ? &before : &after)) {
			show_difference(ret ? &before : &after, &now);
			die("%s", ret ? "an error, and something changed" :
			    same(&now, &before) ? "no error, and nothing changed" :
			    "no error, and something else than it does");
		}
		check_text(calls_fd);
		if (ret) {
			ret = do_steps(op, nr_op);
			if (ret)
				die("not even the next time: %s", strerror(-ret));
			read_state(&now, files);
			if (!same(&now, &after)) {
				show_difference(&after, &now);
				die("the next time it does something else");
			}
			errors++;
		} else if (fault) {
			worked++;
		}
	} while (fault);
	if (!errors && !worked)
		die("a bad test: nothing can fail");
	printf("%s: %u allocations failed, %u errors, %u done all the same, %u lost at close, %s\n",
	       what, nth - 1, errors - lost, worked, lost,
	       fallbacks ? "with fallbacks" : "without fallbacks");
	return 0;
}
