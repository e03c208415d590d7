// SPDX-License-Identifier: GPL-2.0
/*
 * What fault.c compares: the contents of files, and enabled_functions with the text.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

/* A function that can be traced. */
struct func {
	unsigned long long	ip;
	const char		*name;
};

/* ---- files --------------------------------------------------------------- */

static void add_text(struct text *t, const char *s, size_t len)
{
	if (t->len + len + 1 > t->size) {
		t->size = 2 * (t->len + len + 1);
		t->s = realloc(t->s, t->size);
		if (!t->s)
			die("no memory");
	}
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = '\0';
}

int open_file(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		die("cannot open %s: %s", path, strerror(errno));
	return fd;
}

static void add_from(struct text *t, int fd)
{
	static char buf[1 << 16];
	ssize_t len;

	while ((len = read(fd, buf, sizeof(buf))) > 0)
		add_text(t, buf, len);
	if (len < 0)
		die("cannot read: %s", strerror(errno));
}

static void add_file(struct text *t, const char *path)
{
	int fd = open_file(path);

	add_from(t, fd);
	close(fd);
}

unsigned int fallbacks;

/* Where a line begins to tell what the call site calls: after the last flag. */
static size_t len_to_flags(const char *line, size_t len)
{
	static const char tramp[] = " \ttramp: ", callback[] = "  ->";
	char *end = memmem(line, len, tramp, sizeof(tramp) - 1);

	if (!end)
		end = memmem(line, len, callback, sizeof(callback) - 1);
	return end ? (size_t)(end - line) : len;
}

/* Cut what follows @from: which of the codes it is that calls the tracers. */
static void level_targets(struct text *t, size_t from)
{
	static const char arrow[] = "call site -> ";
	char *to = t->s + from, *line, *next;

	for (line = to; *line; line = next) {
		size_t len = strcspn(line, "\n");
		char *target = memmem(line, len, arrow, sizeof(arrow) - 1);

		next = line + len + (line[len] == '\n');
		if (target) {
			target += sizeof(arrow) - 1;
			fallbacks += !strncmp(target, "ftrace_caller+", 14) ||
				     !strncmp(target, "ftrace_regs_caller+", 19);
			if (!strncmp(target, "ftrace_trampoline+", 18) ||
			    !strncmp(target, "ftrace_caller+", 14) ||
			    !strncmp(target, "ftrace_regs_caller+", 19))
				len = len_to_flags(line, len);
		}
		memmove(to, line, len);
		to += len;
		*to++ = '\n';
	}
	*to = '\0';
	t->len = to - t->s;
}

void read_state(struct text *t, char **files)
{
	t->len = 0;
	for (; *files; files++) {
		size_t from;

		add_text(t, "== ", 3);
		add_text(t, *files, strlen(*files));
		add_text(t, "\n", 1);
		from = t->len;
		add_file(t, *files);
		if (!strcmp(*files, "enabled_functions"))
			level_targets(t, from);
	}
}

bool same(const struct text *a, const struct text *b)
{
	return a->len == b->len && !memcmp(a->s, b->s, a->len);
}

/* The first line that differs, of each, and the file it is in. */
void show_difference(const struct text *want, const struct text *got)
{
	const char *a = want->s, *b = got->s, *file = a;

	while (*a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || memcmp(a, b, la))
			break;
		if (!strncmp(a, "== ", 3))
			file = a;
		a += la + (a[la] == '\n');
		b += lb + (b[lb] == '\n');
	}
	printf("%.*s\nwanted: %.*s\n   got: %.*s\n",
	       (int)strcspn(file, "\n"), file, (int)strcspn(a, "\n"), a,
	       (int)strcspn(b, "\n"), b);
}

/* ---- what the text says ---------------------------------------------------- */

static struct func *funcs;
static size_t nr_funcs;

void read_funcs(void)
{
	struct text t = {};
	char *line, *next;

	add_file(&t, "available_filter_functions_addrs");
	for (line = t.s; line && *line; line = next) {
		char *name;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!(nr_funcs & 1023)) {
			funcs = realloc(funcs, (nr_funcs + 1024) * sizeof(*funcs));
			if (!funcs)
				die("no memory");
		}
		funcs[nr_funcs].ip = strtoull(line, &name, 16);
		funcs[nr_funcs++].name = name + 1;
	}
}

static int cmp_func(const void *key, const void *elem)
{
	unsigned long long ip = *(const unsigned long long *)key;
	const struct func *f = elem;

	return ip < f->ip ? -1 : ip > f->ip;
}

/*
 * Skip functions that call the one of a module, and no tracer, and lines that tell of
 * a direct call.
 */
static const char *skip_direct(const char *line)
{
	static const char direct[] = "call site -> ftrace_test_direct+";
	size_t len;

	for (; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (*line != '\t' && !memmem(line, len, direct, sizeof(direct) - 1))
			break;
	}
	return line;
}

/* enabled_functions lists those that call a tracer, in the same order. */
void check_text(int calls_fd)
{
	static struct text calls, enabled;
	const char *e;
	char *c;

	calls.len = 0;
	enabled.len = 0;
	add_text(&calls, "", 0);
	add_text(&enabled, "", 0);
	lseek(calls_fd, 0, SEEK_SET);
	add_from(&calls, calls_fd);
	add_file(&enabled, "enabled_functions");
	e = enabled.s;
	for (c = calls.s; *c; c += strcspn(c, "\n") + 1) {
		char *kind;
		unsigned long long ip = strtoull(c, &kind, 16);
		const struct func *f;
		size_t len;

		if (strncmp(kind, " tracer", 7))
			continue;
		f = bsearch(&ip, funcs, nr_funcs, sizeof(*funcs), cmp_func);
		if (!f)
			die("an unknown call site calls a tracer: %llx", ip);
		len = strlen(f->name);
		e = skip_direct(e);
		if (strncmp(e, f->name, len) || strncmp(e + len, " (", 2))
			die("%s calls a tracer, enabled_functions says: %.*s",
			    f->name, (int)strcspn(e, "\n"), e);
		e += strcspn(e, "\n") + 1;
	}
	e = skip_direct(e);
	if (*e)
		die("enabled, but no call: %.*s", (int)strcspn(e, "\n"), e);
}
