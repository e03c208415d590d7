/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two parts of fault have of each other.
 */
#ifndef _FAULT_H
#define _FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* What has been read of some files. */
struct text {
	char	*s;
	size_t	len;
	size_t	size;
};

/* Lines so far that called the code which is always there. */
extern unsigned int fallbacks;

/* Tell what was tried, and end. */
void die(const char *fmt, ...);

int open_file(const char *path);
void read_state(struct text *t, char **files);
bool same(const struct text *a, const struct text *b);
void show_difference(const struct text *want, const struct text *got);

/* Take in the names that check_text() knows call sites by. */
void read_funcs(void);
void check_text(int calls_fd);

#endif /* _FAULT_H */
