// SPDX-License-Identifier: GPL-2.0
/*
 * Add to object files the table of their calls to __fentry__, for compilers
 * that do not make it (gcc does, with -mrecord-mcount).
 *
 * An object is read, the new one is written to a file beside it and takes its
 * name when it is complete.  So a reader sees the old or the new one, and when
 * anything goes wrong the old one is still there as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recordmcount.h"

/* The object at work, as it was named on the command line. */
static const char *object;

/* The new file; empty when there is none. Signal handlers read it. */
static char temporary[PATH_MAX];

__printf(1, 2)
static bool complain(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "recordmcount: %s: ", object);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

static void warn_ignored(const char *what)
{
	complain("warning: %s", what);
}

/* "make clean" knows files of this name, should one be left after all. */
#define TEMPORARY ".tmp_XXXXXX"

static const int deadly[] = {
	SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ, 0,
};

static void take_away(int sig)
{
	if (temporary[0])
		unlink(temporary);
	/* The handler is reset, so that the sender sees what it meant to do. */
	raise(sig);
}

static void catch_signals(void)
{
	struct sigaction action = {
		.sa_handler = take_away,
		.sa_flags = SA_RESETHAND,
	};
	struct sigaction old;
	size_t i;

	for (i = 0; deadly[i]; i++) {
		sigaddset(&action.sa_mask, deadly[i]);
		/* Who is to ignore a signal goes on ignoring it. */
		if (!sigaction(deadly[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(deadly[i], &action, NULL);
	}
}

/* No signal finds a file without a name for it, or a name without a file. */
static void hold_signals(sigset_t *old)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; deadly[i]; i++)
		sigaddset(&set, deadly[i]);
	sigprocmask(SIG_BLOCK, &set, old);
}

static int make_temporary(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash + 1 - path) : 0;
	char name[PATH_MAX];
	sigset_t old;
	int fd;

	if (len + sizeof(TEMPORARY) > sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, path, len);
	memcpy(name + len, TEMPORARY, sizeof(TEMPORARY));

	hold_signals(&old);
	fd = mkstemp(name);
	if (fd >= 0)
		memcpy(temporary, name, len + sizeof(TEMPORARY));
	sigprocmask(SIG_SETMASK, &old, NULL);
	return fd;
}

static bool rename_temporary(const char *path)
{
	sigset_t old;
	int error;

	hold_signals(&old);
	error = rename(temporary, path);
	if (!error)
		temporary[0] = '\0';
	sigprocmask(SIG_SETMASK, &old, NULL);
	return !error;
}

static void drop_temporary(void)
{
	sigset_t old;

	hold_signals(&old);
	if (temporary[0])
		unlink(temporary);
	temporary[0] = '\0';
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static bool write_all(int fd, const char *data, size_t size)
{
	ssize_t done;

	while (size) {
		done = write(fd, data, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		data += done;
		size -= done;
	}
	return true;
}

static bool replace(const char *path, const struct stat *st, const void *data,
		    const void *tail, size_t tail_size)
{
	int fd = make_temporary(path);
	bool ok;

	if (fd < 0)
		return complain("cannot make a file beside it: %s",
				strerror(errno));
	ok = write_all(fd, data, st->st_size) && write_all(fd, tail, tail_size) &&
	     !fchmod(fd, st->st_mode & 07777);
	if (!ok)
		complain("cannot write the file beside it: %s",
			 strerror(errno));
	/* Some file systems say only now that there was no room. */
	if (close(fd) && ok)
		ok = complain("cannot write the file beside it: %s",
			      strerror(errno));
	if (ok && !rename_temporary(path))
		ok = complain("cannot be replaced: %s", strerror(errno));
	if (!ok)
		drop_temporary();
	return ok;
}

/* The content of @path, to be freed by the caller; NULL, with a complaint. */
static void *read_object(const char *path, struct stat *st)
{
	size_t size, done = 0;
	char *data = NULL;
	ssize_t n;
	int fd;

	/* Without O_NONBLOCK a FIFO would keep us waiting. */
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, st)) {
		complain("cannot be opened: %s", strerror(errno));
		goto out;
	}
	if (!S_ISREG(st->st_mode)) {
		complain("is not a regular file");
		goto out;
	}
	size = st->st_size;
	data = malloc(size + 1);
	if (!data) {
		complain("is too large for the memory there is");
		goto out;
	}
	while (done < size) {
		n = read(fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			complain("cannot be read: %s",
				 n ? strerror(errno) : "it shrinks");
			free(data);
			data = NULL;
			break;
		}
		done += n;
	}
out:
	if (fd >= 0)
		close(fd);
	return data;
}

static bool record(const char *name, bool warn)
{
	struct mcount_report report = {
		.ignored = warn ? warn_ignored : NULL,
	};
	void *data, *tail = NULL;
	size_t tail_size = 0;
	struct stat st;
	bool ok = false;
	char *path;

	object = name;
	/* What a symbolic link points to is replaced, not the link. */
	path = realpath(name, NULL);
	if (!path)
		return complain("cannot be opened: %s", strerror(errno));

	data = read_object(path, &st);
	if (!data)
		goto out;

	switch (mcount_add_table(data, st.st_size, &tail, &tail_size, &report)) {
	case MCOUNT_REFUSED:
		complain("%s", report.error);
		break;
	case MCOUNT_UNCHANGED:
		ok = true;
		break;
	case MCOUNT_ADDED:
		ok = replace(path, &st, data, tail, tail_size);
		break;
	}
out:
	free(tail);
	free(data);
	free(path);
	return ok;
}

static void show_help(FILE *to)
{
	fputs("usage: recordmcount [-w] FILE...\n"
	      "\n"
	      "Add to each object FILE the table of its calls to __fentry__ or\n"
	      "mcount (section __mcount_loc).  A FILE that has one, or no such\n"
	      "call, is left alone.\n"
	      "\n"
	      "  -w  say which sections refer to __fentry__ and are ignored\n"
	      "  -h  show this\n", to);
}

int main(int argc, char **argv)
{
	bool warn = false, ok = true;
	int option;

	while ((option = getopt(argc, argv, "hw")) != -1) {
		switch (option) {
		case 'h':
			show_help(stdout);
			return 0;
		case 'w':
			warn = true;
			break;
		default:
			show_help(stderr);
			return 1;
		}
	}
	if (optind == argc) {
		show_help(stderr);
		return 1;
	}

	catch_signals();
	for (; optind < argc; optind++)
		ok &= record(argv[optind], warn);
	return !ok;
}
