// SPDX-License-Identifier: GPL-2.0
/*
 * Load a module while one allocation fails in it.
 *
 * usage: load NTH FILE
 *
 * Exit status 0: loaded, with a failure; 1: not loaded, with one; 2: no failure
 * came, for there are fewer allocations than that; 3: none could be asked for.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int nth, file, ret;
	char left[16] = "";

	if (argc != 3)
		return 3;
	file = open(argv[2], O_RDONLY | O_CLOEXEC);
	nth = open("/proc/thread-self/fail-nth", O_RDWR);
	/* Or it would be our own pages that cannot be had. */
	if (file < 0 || nth < 0 || mlockall(MCL_CURRENT | MCL_FUTURE) ||
	    pwrite(nth, argv[1], strlen(argv[1]), 0) < 0) {
		perror("load");
		return 3;
	}
	ret = syscall(SYS_finit_module, file, "", 0);
	if (pread(nth, left, sizeof(left) - 1, 0) <= 0)
		return 3;
	pwrite(nth, "0", 1, 0);
	if (atoi(left))
		return 2;
	return ret ? 1 : 0;
}
