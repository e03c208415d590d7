/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an open filter file shows and changes: filter.c, edit.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_FILTER_EDIT_H
#define _KERNEL_TRACE_FTRACE_FILTER_EDIT_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "../sites/names.h"
#include "../tracers/tracers.h"
#include "../users/users.h"

/**
 * struct filter_edit - the filter of one tracer, as a file shows or changes it
 * @list: member of filter_file.edits
 * @ops: whose filter it is, which the file or its trace array pins; NULL: that of
 *	 the tracer @id
 * @id: the tracer, see ftrace_tracer.id; it may leave at any time
 * @dirty: something has been written that changes @hash
 * @hash: the filter as read or being written; changes under ftrace_lock, too,
 *	  because text may go
 * @waiting: the same of what waits for modules
 * @name: what the tracer is called
 */
struct filter_edit {
	struct list_head	list;
	struct ftrace_ops	*ops;
	u64			id;
	bool			dirty;
	struct ftrace_hash	*hash;
	struct hlist_head	waiting;
	char			name[FTRACE_TRACER_NAME];
};

/**
 * struct filter_cursor - the line of a filter file that is read next
 * @edit: the filter it is in; NULL: it is that of a probe
 * @key: the lowest key still to be listed, as ftrace_text_key(); 0: nothing has been
 *	 listed yet, not even the line for an empty filter
 * @nr_waiting: how many waiting patterns have been listed
 * @probe: where the line is among those of probes
 * @is_waiting: the line is @waiter; otherwise it is about sites
 * @idx: which site
 * @waiter: which one of what waits is the next; NULL: none
 *
 * Sites come and go between two reads. So the first four say what is still to be
 * listed, and the others where that is while ftrace_lock is held.
 */
struct filter_cursor {
	struct filter_edit		*edit;
	u64				key;
	unsigned int			nr_waiting;
	struct ftrace_probe_pos		probe;
	bool				is_waiting;
	unsigned int			idx;
	struct ftrace_waiter		*waiter;
};

/**
 * struct filter_file - one open filter file
 * @open: in the list of all of them; ftrace_lock
 * @tr: the trace array whose tracers have the filters, whose probes are shown and
 *	whose commands are run; NULL: the file belongs to a tracer without one
 * @enable: it is the list of what to trace; otherwise, what not to
 * @truncate: what is written takes the place of what was there
 * @several: there are several filters that it can be about
 * @named: each line shows whose it is
 * @addressed: a name has been written
 * @in_name: the beginning of a name has been written, but not its end
 * @common: a write is for all tracers that have the filter in common
 * @failed: a word was refused: no pattern written through this file takes effect
 * @lock: serialises writers of this open file; covers all but @open, @cursor and
 *	  @names
 * @edits: the filters, those of a set_ftrace_filter with several tracers in the
 *	   order in which these joined
 * @target: the edit that the next word is for
 * @parser: cuts what is written into words
 * @cursor: where the reader is
 * @names: the names of functions that are shown
 *
 * The reader is serialised by seq_file.
 */
struct filter_file {
	struct list_head	open;
	struct trace_array	*tr;
	bool			enable;
	bool			truncate;
	bool			several;
	bool			named;
	bool			addressed;
	bool			in_name;
	bool			common;
	bool			failed;
	struct mutex		lock;	/* see above */
	struct list_head	edits;
	struct filter_edit	*target;
	struct trace_parser	parser;
	struct filter_cursor	cursor;
	struct ftrace_names	names;
};

int filter_edits_load(struct filter_file *ff, struct ftrace_ops *ops,
		      bool read);
int filter_edits_select(struct filter_file *ff, const char *name);
void filter_edits_lost(int err);
void filter_edits_publish(struct filter_file *ff);
void filter_edits_free(struct filter_file *ff);
void filter_edits_forget(u32 start, u32 end);

#endif /* _KERNEL_TRACE_FTRACE_FILTER_EDIT_H */
