// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the base's tests of user events. They delete an event as soon as they
 * no longer use it, and begin the next test, but the kernel takes a grace period and two
 * works to notice. So each process registers its first event when those of others are
 * gone, and a busy event is asked for again before the test is told of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/user_events.h>

#define TRIES		500
#define WAIT_US		10000

static bool any_event(void)
{
	FILE *f = fopen("/sys/kernel/tracing/dynamic_events", "r");
	bool any = false;
	char line[4096];

	if (!f)
		return false;
	while (!any && fgets(line, sizeof(line), f))
		any = !strncmp(line, "u:", 2);
	fclose(f);
	return any;
}

static void wait_for_others(void)
{
	static pid_t began;
	int i;

	if (began == getpid())
		return;
	began = getpid();
	for (i = 0; i < TRIES && any_event(); i++)
		usleep(WAIT_US);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	long ret, arg;
	int i;

	va_start(args, request);
	arg = va_arg(args, long);
	va_end(args);
	if (request == DIAG_IOCSREG)
		wait_for_others();
	for (i = 0;; i++) {
		ret = syscall(SYS_ioctl, fd, request, arg);
		if (request != DIAG_IOCSDEL || !ret || errno != EBUSY || i == TRIES)
			return ret;
		usleep(WAIT_US);
	}
}
