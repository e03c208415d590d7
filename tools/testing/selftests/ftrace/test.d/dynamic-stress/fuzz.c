// SPDX-License-Identifier: GPL-2.0
/*
 * Write to files whatever comes up: words they know, words they nearly know, and
 * bytes.
 *
 * usage: fuzz SEED COUNT FILE...
 *
 * Runs in the root of tracefs. The same seed, count, files and kernel give the
 * same writes. Prints how many writes and closes ended how. It is for others to
 * see that the kernel is well; here no more than the errors is looked at: those
 * that are no answer to bad input end the program with 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_TEXT	(64 * 1024)
#define MAX_ERRNO	134

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static uint64_t state;

/* splitmix64 */
static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static unsigned int below(unsigned int n)
{
	return rnd() % n;
}

static bool percent(unsigned int n)
{
	return below(100) < n;
}

/* ---- words ----------------------------------------------------------------- */

static char **names;
static unsigned int nr_names;

static void read_names(void)
{
	FILE *f = fopen("available_filter_functions", "r");
	size_t size = 0;
	char *line = NULL;

	while (f && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n ")] = '\0';
		if (!(nr_names & 1023))
			names = realloc(names, (nr_names + 1024) * sizeof(*names));
		if (!names)
			exit(1);
		names[nr_names++] = strdup(line);
	}
	if (!nr_names) {
		perror("available_filter_functions");
		exit(1);
	}
	free(line);
	fclose(f);
}

static char text[MAX_TEXT];
static size_t len;

static void add(const char *s)
{
	size_t l = strlen(s);

	if (len + l > sizeof(text))
		l = sizeof(text) - len;
	memcpy(text + len, s, l);
	len += l;
}

static void add_one(const char * const *list, unsigned int nr)
{
	add(list[below(nr)]);
}

static void add_number(void)
{
	static const char * const odd[] = {
		"-1", "0", "00", "0x", "0x10", "+1", "2147483647", "2147483648",
		"4294967295", "4294967296", "18446744073709551615",
		"18446744073709551616", "1e3", "1.5", "32768", "4194304",
		"4194305", "999999999999999999999999999999",
	};
	char buf[24];

	if (percent(30)) {
		add_one(odd, ARRAY_SIZE(odd));
		return;
	}
	snprintf(buf, sizeof(buf), "%u", below(percent(50) ? 10 : 40000));
	add(buf);
}

/* Patterns go through all functions: they are a small part. */
static void add_pattern(void)
{
	static const char * const patterns[] = {
		"vfs_*", "*_read", "*sched*", "ftrace_test_*", "v?s_[rw]*", "*",
		"**", "*no_such*", "[a-c]*x", "?", "*[", "\\*", "tcp_*_*_*",
		"*lock*:mod:ftrace_test_mod", "*:mod:ftrace_test_mod",
		"*:mod:*", "vfs_*:mod:no_such_module", ":mod:ftrace_test_mod",
	};

	add_one(patterns, ARRAY_SIZE(patterns));
}

/* Probes, on functions that hardly ever run: what they do is not the point. */
static void add_probe(void)
{
	static const char * const on[] = {
		"ftrace_test_first", "ftrace_test_twin", "ftrace_test_victim0",
		"ftrace_test_mod_f00", "ftrace_test_mod_f1*", "no_such_function",
	};
	/*
	 * Not snapshot: the base arms it once for each command and disarms it
	 * for each removal, however many functions either of them has.
	 */
	static const char * const commands[] = {
		"traceon", "traceoff", "stacktrace",
		"enable_event:sched:sched_switch", "disable_event:sched:sched_switch",
		"enable_event:no:such", "enable_event:sched", "mod", "nonsense", "",
	};

	if (percent(50))
		add("!");
	add_one(on, ARRAY_SIZE(on));
	add(":");
	add_one(commands, ARRAY_SIZE(commands));
	while (percent(40)) {
		add(":");
		if (percent(80))
			add_number();
	}
}

static void add_address(void)
{
	static const char * const odd[] = {
		"0x0", "0xffffffffffffffff", "0xffffffff81000000", "0xffff",
		"ffffffff81000000", "0xffff888000000000",
	};

	add_one(odd, ARRAY_SIZE(odd));
}

static void add_name(void)
{
	if (percent(20))
		add("!");
	add(percent(50) ? names[below(nr_names)] :
	    percent(50) ? "ftrace_test_mod_f00" : "no_such_function");
}

/* Names of tracers, which say in brackets whose filter follows them. */
static void add_tracer(bool brackets)
{
	static const char * const tracers[] = {
		"trace", "trace_profile", "trace_stack", "trace_probe",
		"trace_perf", "trace_2", "nobody", "", "*trace", "]", "[",
	};

	if (brackets)
		add(percent(50) ? "[" : "[ ");
	add_one(tracers, ARRAY_SIZE(tracers));
	if (brackets)
		add(percent(80) ? "] " : "]");
}

static void add_raw(void)
{
	unsigned int n = below(percent(95) ? 40 : percent(80) ? 600 : 9000);

	while (n-- && len < sizeof(text))
		text[len++] = percent(70) ? 1 + below(126) : below(256);
}

static void add_space(void)
{
	static const char * const spaces[] = { " ", "\n", "\t", "  ", "\r\n", "\v", "" };

	if (percent(3) && len < sizeof(text))
		text[len++] = '\0';
	else
		add_one(spaces, ARRAY_SIZE(spaces));
}

/* Spoil what there is: a byte changed, or one half gone. */
static void spoil(void)
{
	if (!len)
		return;
	if (percent(70))
		text[below(len)] = below(256);
	else
		len = below(len) + 1;
}

enum kind { FILTER, PIDS, TRACERS, NUMBER };

static enum kind kind_of(const char *file)
{
	const char *base = strrchr(file, '/');

	base = base ? base + 1 : file;
	if (strstr(base, "_pid"))
		return PIDS;
	if (strstr(base, "filter") || strstr(base, "notrace"))
		return FILTER;
	if (!strcmp(base, "function_tracers"))
		return TRACERS;
	return NUMBER;
}

static void add_word(enum kind kind)
{
	unsigned int n = below(1000);

	if (n < 250) {
		add_raw();
	} else if (kind == TRACERS) {
		add_tracer(percent(10));
	} else if (kind != FILTER) {
		if (n < 900)
			add_number();
		else
			add_name();
	} else if (n < 258) {
		add_pattern();
	} else if (n < 320) {
		add_probe();
	} else if (n < 360) {
		add_address();
	} else if (n < 400) {
		add_number();
	} else if (n < 440) {
		add_tracer(true);
	} else {
		add_name();
	}
}

static void make_text(enum kind kind)
{
	unsigned int words = percent(70) ? 1 : below(6);

	len = 0;
	if (kind == NUMBER && percent(60)) {
		/* Most of what these take is one figure. */
		add(percent(50) ? "0\n" : "1\n");
		return;
	}
	while (words--) {
		add_word(kind);
		add_space();
	}
	if (percent(10))
		spoil();
}

/* ---- writes ---------------------------------------------------------------- */

static unsigned long ended[MAX_ERRNO];
static unsigned long writes, opens;

/*
 * What bad input may be answered with. EPERM is what the base says of a pid that
 * is too large.
 */
static bool is_answer(int err)
{
	static const int answers[] = {
		0, EINVAL, ENOENT, EFAULT, E2BIG, EBUSY, EEXIST, ENODEV, ENOSPC,
		ERANGE, ESRCH, EBADF, ESPIPE, ENAMETOOLONG,
		EPERM,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(answers); i++)
		if (answers[i] == err)
			return true;
	return false;
}

/* The text at the end of what can be read, some of it beyond that. */
static const char *beyond(char *page, size_t page_size, size_t bytes)
{
	size_t there = below(bytes + 1);

	if (there > page_size)
		there = page_size;
	memcpy(page + page_size - there, text, there);
	return page + page_size - there;
}

static void write_once(int fd, char *page, size_t page_size)
{
	ssize_t ret;
	int err;

	if (percent(2)) {
		ret = write(fd, beyond(page, page_size, len), len);
	} else if (percent(3)) {
		struct iovec v[2] = { { text, len / 2 },
				      { text + len / 2, len - len / 2 } };

		ret = writev(fd, v, 2);
	} else if (percent(3)) {
		ret = pwrite(fd, text, len, rnd() >> below(64));
	} else {
		ret = write(fd, text, len);
	}
	err = ret < 0 ? errno : 0;
	if (err >= MAX_ERRNO)
		err = MAX_ERRNO - 1;
	writes++;
	ended[err]++;
}

static void read_some(int fd)
{
	char buf[512];
	unsigned int n = below(3);

	if (percent(20))
		lseek(fd, rnd() >> below(64), below(3));
	while (n-- && read(fd, buf, sizeof(buf)) > 0)
		;
}

static void use_file(const char *file, unsigned long count, char *page, size_t page_size)
{
	static const int modes[] = {
		O_WRONLY, O_WRONLY | O_TRUNC, O_WRONLY | O_APPEND, O_RDWR,
		O_RDWR | O_TRUNC, O_RDWR | O_APPEND,
	};
	unsigned int n = 1 + below(percent(30) ? 20 : 3);
	int mode = modes[below(ARRAY_SIZE(modes))];
	int fd = open(file, mode);

	if (fd < 0) {
		printf("cannot open %s: %s\n", file, strerror(errno));
		exit(1);
	}
	opens++;
	while (n-- && writes < count) {
		make_text(kind_of(file));
		write_once(fd, page, page_size);
		if ((mode & O_ACCMODE) == O_RDWR && percent(20))
			read_some(fd);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	unsigned long count;
	int i, bad = 0;
	char *page;

	if (argc < 4)
		return 2;
	state = strtoull(argv[1], NULL, 0);
	count = strtoul(argv[2], NULL, 0);
	read_names();
	page = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap(page + page_size, page_size)) {
		perror("mmap");
		return 1;
	}

	while (writes < count) {
		const char *file = argv[3 + below(argc - 3)];

		/* Each list of pids that is replaced takes a grace period. */
		if (kind_of(file) != PIDS || percent(15))
			use_file(file, count, page, page_size);
	}

	printf("%lu writes to %d files, %lu opens:", writes, argc - 3, opens);
	for (i = 0; i < MAX_ERRNO; i++) {
		if (!ended[i])
			continue;
		printf(" %lu %s", ended[i], i ? strerrorname_np(i) ?: "?" : "taken");
		if (!is_answer(i))
			bad = i;
	}
	putchar('\n');
	if (bad)
		printf("%s is no answer to bad input\n", strerror(bad));
	return !!bad;
}
