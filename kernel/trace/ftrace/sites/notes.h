/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rest of the core and the tests ask of notes.c.
 */
#ifndef _KERNEL_TRACE_FTRACE_NOTES_H
#define _KERNEL_TRACE_FTRACE_NOTES_H

#include <linux/sizes.h>
#include <linux/types.h>

struct ftrace_note_table;
struct ftrace_sites;

/* How large a table may be. */
#define FTRACE_SLOTS_MAX	SZ_1M

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
 * @pending: notes in the table in use, that the next round has to deal with
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
void ftrace_notes_list(struct ftrace_sites *s);
void ftrace_notes_drop(const u32 *sites, unsigned int nr, int nr_kept);
void ftrace_notes_recount(void);
void ftrace_notes_stat(struct ftrace_notes_stat *st);
bool ftrace_notes_pending(void);
void ftrace_notes_resize(void);
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

static inline void ftrace_notes_list(struct ftrace_sites *s) { }
static inline void ftrace_notes_drop(const u32 *sites, unsigned int nr,
				     int nr_kept) { }
static inline void ftrace_notes_recount(void) { }
static inline bool ftrace_notes_pending(void) { return false; }
static inline void ftrace_notes_resize(void) { }

static inline void ftrace_notes_stat(struct ftrace_notes_stat *st)
{
	*st = (struct ftrace_notes_stat) {};
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_NOTES_H */
