// SPDX-License-Identifier: GPL-2.0
/*
 * Add to object files the table of their calls to __fentry__, for compilers
 * that do not make it (gcc does, with -mrecord-mcount).
 *
 * An object is mapped, the new one is written to a file beside it and takes its
 * name when it is complete.  So a reader sees the old or the new one, and when
 * anything goes wrong the old one is still there as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcount_loc.h"

/* The object at work, as it was named on the command line. */
static const char *object;

__printf(1, 2)
static bool complain(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "mcount_loc: %s: ", object);
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

/* Have what would end us wait, so that no file beside the object is left. */
static void hold_signals(sigset_t *old)
{
	static const int deadly[] = {
		SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ,
	};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		sigaddset(&set, deadly[i]);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* A name for mkstemp(), in the folder of @path; NULL without memory. */
static char *name_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash + 1 - path) : 0;
	char *name = malloc(len + sizeof(TEMPORARY));

	if (name) {
		memcpy(name, path, len);
		memcpy(name + len, TEMPORARY, sizeof(TEMPORARY));
	}
	return name;
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

/* Signals are held. @name is for mkstemp(); no file of it is left behind. */
static bool write_beside(char *name, const char *path, const struct stat *st,
			 const void *data, const void *tail, size_t tail_size)
{
	int fd = mkstemp(name);
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
	if (ok && rename(name, path))
		ok = complain("cannot be replaced: %s", strerror(errno));
	if (!ok)
		unlink(name);
	return ok;
}

static bool replace(const char *path, const struct stat *st, const void *data,
		    const void *tail, size_t tail_size)
{
	char *name = name_beside(path);
	sigset_t old;
	bool ok;

	if (!name)
		return complain("cannot make a file beside it: %s",
				strerror(errno));
	hold_signals(&old);
	ok = write_beside(name, path, st, data, tail, tail_size);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(name);
	return ok;
}

/* What a symbolic link points to is replaced, not the link. */
static char *path_to_replace(const char *name)
{
	struct stat st;

	if (!lstat(name, &st) && S_ISLNK(st.st_mode))
		return realpath(name, NULL);
	return strdup(name);
}

/* There is no map without a length. */
static size_t map_size(const struct stat *st)
{
	return st->st_size + 1;
}

/*
 * The content of @path, to be unmapped by the caller; NULL, with a complaint.
 *
 * Mapped, since a build starts a process for each object, and a page for each
 * page of it, zeroed and copied to, would be most of what that process costs.
 * It can be written to, and the file does not change by that. Nobody else may
 * write to the file meanwhile: if it is cut short, SIGBUS ends us, but no file is
 * left beside it then, since write() says EFAULT.
 */
static void *map_object(const char *path, struct stat *st)
{
	void *data = NULL;
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
	data = mmap(NULL, map_size(st), PROT_READ | PROT_WRITE, MAP_PRIVATE,
		    fd, 0);
	if (data == MAP_FAILED) {
		complain("cannot be mapped: %s", strerror(errno));
		data = NULL;
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
	path = path_to_replace(name);
	if (!path)
		return complain("cannot be opened: %s", strerror(errno));

	data = map_object(path, &st);
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
	munmap(data, map_size(&st));
out:
	free(tail);
	free(path);
	return ok;
}

static void show_help(FILE *to)
{
	fputs("usage: mcount_loc [-w] FILE...\n"
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

	for (; optind < argc; optind++)
		ok &= record(argv[optind], warn);
	return !ok;
}
