/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ftraced.c and the tests ask of the note table, see notes.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_RECORDER_H
#define _KERNEL_TRACE_FTRACE_RECORDER_H

#include <linux/types.h>

struct ftrace_note_table;

/**
 * enum ftrace_note_result - what became of a note
 * @FTRACE_NOTE_TAKEN: it is new
 * @FTRACE_NOTE_KNOWN: it is there already
 * @FTRACE_NOTE_FULL: no slot is left where it could go
 */
enum ftrace_note_result {
	FTRACE_NOTE_TAKEN,
	FTRACE_NOTE_KNOWN,
	FTRACE_NOTE_FULL,
};

/**
 * struct ftrace_notes_stat - the figures of the recorder
 * @pending: notes in the table in use, which no round has made records of yet
 * @noted: notes taken since boot
 * @skipped: calls since boot that found no slot
 * @slots: home slots of the table in use
 */
struct ftrace_notes_stat {
	int		pending;
	unsigned long	noted;
	unsigned long	skipped;
	unsigned long	slots;
};

#ifdef CONFIG_FTRACE_RECORDER
enum ftrace_note_result ftrace_note_claim(struct ftrace_note_table *t, u32 key);
size_t ftrace_notes_size(unsigned int homes);
struct ftrace_note_table *ftrace_notes_alloc(unsigned int homes);
struct ftrace_note_table *ftrace_notes_publish(struct ftrace_note_table *t);
void ftrace_notes_retire(struct ftrace_note_table *t);
void ftrace_notes_for_each(bool (*fn)(void *data, unsigned long ip),
			   void *data);
void ftrace_notes_stat(struct ftrace_notes_stat *st);
#else
/* With a table of call sites nobody takes notes. */
static inline size_t ftrace_notes_size(unsigned int homes) { return 0; }

static inline struct ftrace_note_table *ftrace_notes_alloc(unsigned int homes)
{
	return NULL;
}

static inline struct ftrace_note_table *
ftrace_notes_publish(struct ftrace_note_table *t)
{
	return NULL;
}

static inline void ftrace_notes_retire(struct ftrace_note_table *t) { }
static inline void ftrace_notes_for_each(bool (*fn)(void *data,
						    unsigned long ip),
					 void *data) { }

static inline void ftrace_notes_stat(struct ftrace_notes_stat *st)
{
	*st = (struct ftrace_notes_stat) {};
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_RECORDER_H */
