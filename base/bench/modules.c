// SPDX-License-Identifier: GPL-2.0
/*
 * The modules of many.c, which many.py makes: /many_SIZE.ko. A module is loaded more than
 * once by giving each copy a number of its own, which is part of all its names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "modules.h"

struct image {
	char	*data;
	size_t	len;
};

/* The module that is being loaded. */
static struct image the_image;

static struct image image_of(int size)
{
	struct image m;
	struct stat st;
	size_t at = 0;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/many_%d.ko", size);
	fd = open(path, O_RDONLY);
	must(fd >= 0 && !fstat(fd, &st), "open", path);
	m.len = st.st_size;
	m.data = malloc(m.len);
	must(!!m.data, "malloc", path);
	for (; at < m.len; at += n) {
		n = read(fd, m.data + at, m.len - at);
		must(n > 0, "read", path);
	}
	close(fd);
	return m;
}

void module_number(int nr)
{
	char *at = the_image.data, *end = at + the_image.len, digits[16];

	snprintf(digits, sizeof(digits), "%03d", nr);
	while ((at = memmem(at, end - at, "many_", 5))) {
		if (at[8] == 0 || at[8] == '_')
			memcpy(at + 5, digits, 3);
		at += 5;
	}
}

void module_load(const char *unused, const char *neither)
{
	(void)unused;
	(void)neither;
	must(!syscall(SYS_init_module, the_image.data, the_image.len, ""), "init_module", NAME);
}

void module_unload(const char *name, const char *unused)
{
	(void)unused;
	must(!syscall(SYS_delete_module, name, O_NONBLOCK), "delete_module", name);
}

void modules_begin(int size)
{
	the_image = image_of(size);
	module_number(0);
}

void modules_end(void)
{
	free(the_image.data);
}

void modules_load(int size, int nr)
{
	int i;

	modules_begin(size);
	for (i = 0; i < nr; i++) {
		module_number(i);
		module_load(NULL, NULL);
	}
}

void modules_unload(int nr)
{
	char name[16];
	int i;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "many_%03d", i);
		module_unload(name, NULL);
	}
	modules_end();
	settle();
}
