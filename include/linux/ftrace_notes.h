/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the recorder's entry code, in assembly, has to know of the note table. Its first
 * two probes of the table are in that code; all else, and what a note is, is in
 * kernel/trace/ftrace/sites/note_table.h.
 */
#ifndef _LINUX_FTRACE_NOTES_H
#define _LINUX_FTRACE_NOTES_H

/* Odd, with its bits well mixed: 2^32 divided by the golden ratio. */
#define FTRACE_NOTE_MULT	0x9e3779b1

/* Offsets in struct ftrace_note_table. */
#define FTRACE_NOTES_HOMES	0
#define FTRACE_NOTES_SLOTS	128

#endif /* _LINUX_FTRACE_NOTES_H */
