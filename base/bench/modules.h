/* SPDX-License-Identifier: GPL-2.0 */
/* Modules of many functions. Those with arguments that are not used are for sample(). */
#ifndef MODULES_H
#define MODULES_H

#define NAME		"many_000"

void modules_begin(int size);
void modules_end(void);
void modules_load(int size, int nr);
void modules_unload(int nr);
void module_number(int nr);
void module_load(const char *unused, const char *neither);
void module_unload(const char *name, const char *unused);

#endif
