// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into the base's tests of user events. They delete an event as soon as they
 * no longer use it, but the kernel takes a grace period and two works to notice; so a
 * busy event is asked for again before the test is told of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/user_events.h>

#define TRIES		500
#define WAIT_US		10000

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	long ret, arg;
	int i;

	va_start(args, request);
	arg = va_arg(args, long);
	va_end(args);
	for (i = 0;; i++) {
		ret = syscall(SYS_ioctl, fd, request, arg);
		if (request != DIAG_IOCSDEL || !ret || errno != EBUSY || i == TRIES)
			return ret;
		usleep(WAIT_US);
	}
}
