// SPDX-License-Identifier: GPL-2.0
/*
 * What the programs here have in common: each is init of a guest, and prints lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

static int out = 1;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vdprintf(out, format, args);
	va_end(args);
}

void finish(int status)
{
	say("\n@guest-exit %d@\n", status);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

void must(int ok, const char *what, const char *where)
{
	if (ok)
		return;
	say("error: %s %s: %s\n", what, where, strerror(errno));
	finish(1);
}

/* To be called first. */
void begin(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	out = open("/dev/hvc0", O_WRONLY | O_NOCTTY);
	must(out >= 0, "open", "/dev/hvc0");
	must(!mount("tracefs", TRACING, "tracefs", 0, NULL), "mount", TRACING);
}

const char *path_of(const char *file)
{
	static char path[512];

	snprintf(path, sizeof(path), TRACING "%s", file);
	return path;
}

/* What the shell's "echo text > file" does. */
void echo(const char *text, const char *file)
{
	const char *path = path_of(file);
	int fd = open(path, O_WRONLY | O_TRUNC);

	must(fd >= 0, "open", path);
	must(dprintf(fd, "%s\n", text) > 0, text, path);
	must(!close(fd), "close", path);
}

void print_file(const char *row, const char *file)
{
	char buf[8192], *line, *save;
	const char *path = path_of(file);
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		say("%s %s\n", row, line);
}

int file_has(const char *file, const char *word)
{
	static char buf[8192];
	const char *path = path_of(file);
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return !!strstr(buf, word);
}

/* The machine at rest: nothing left to find, no grace period under way. */
void settle(void)
{
	int i;

	for (i = 0; i < 120; i++) {
		sleep(1);
		if (access(path_of("ftraced_stats"), R_OK))
			break;
		if (i > 2 && file_has("ftraced_stats", "equilibrium: yes"))
			break;
	}
	must(i < 120, "no equilibrium", "");
	sleep(2);
}

/* The same, as something to be measured. */
void quiet(const char *unused, const char *neither)
{
	(void)unused;
	(void)neither;
	settle();
}
