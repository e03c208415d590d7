// SPDX-License-Identifier: GPL-2.0
/*
 * Opens files that have been found before they went.
 *
 * usage: held FILE...
 *
 * Each is looked up, but not yet opened. "ready" on stdout says so. After a line on
 * stdin they are opened, to be read and to be written. Prints for each of these
 * "FILE: MESSAGE-OF-ERRNO", or "FILE: opened".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void try(const char *file, int held, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	fd = open(path, flags);
	printf("%s: %s\n", file, fd < 0 ? strerror(errno) : "opened");
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	int *held = calloc(argc, sizeof(*held));
	int i;

	for (i = 1; held && i < argc; i++) {
		held[i] = open(argv[i], O_PATH);
		if (held[i] < 0) {
			perror(argv[i]);
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	if (!held || getchar() == EOF)
		return 1;
	for (i = 1; i < argc; i++) {
		try(argv[i], held[i], O_RDONLY);
		try(argv[i], held[i], O_WRONLY | O_TRUNC);
	}
	return 0;
}
