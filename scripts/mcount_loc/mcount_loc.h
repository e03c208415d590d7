/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SCRIPTS_MCOUNT_LOC_H
#define _SCRIPTS_MCOUNT_LOC_H

#include <stddef.h>

#ifndef __printf
#define __printf(fmt, args) \
	__attribute__((__format__(__printf__, fmt, args)))
#endif

enum mcount_result {
	MCOUNT_REFUSED,		/* the object is not one we can trust */
	MCOUNT_UNCHANGED,	/* it has a table already, or needs none */
	MCOUNT_ADDED,		/* the object has a table now */
};

/**
 * struct mcount_report - what there is to say of an object
 * @error: why it was refused, and which section is to blame
 * @ignored: told of each section with references to __fentry__ that are not
 *	recorded; NULL if nobody wants to know
 *
 * Names from the object that come with it are made printable.
 */
struct mcount_report {
	char error[256];
	void (*ignored)(const char *what);
};

enum mcount_result mcount_add_table(void *object, size_t size, void **tail,
				    size_t *tail_size,
				    struct mcount_report *report);

#endif /* _SCRIPTS_MCOUNT_LOC_H */
