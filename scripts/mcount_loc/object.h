/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files that make up mcount_add_table() have in common: an object, as
 * it was read.
 */
#ifndef _SCRIPTS_MCOUNT_LOC_OBJECT_H
#define _SCRIPTS_MCOUNT_LOC_OBJECT_H

#include <byteswap.h>
#include <elf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "mcount_loc.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

/* The table, and its relocations: the one name is the end of the other. */
#define TABLE_NAME		"__mcount_loc"
#define TABLE_RELA_NAME		".rela" TABLE_NAME

/**
 * struct arch - what calls and addresses look like in the objects of a machine
 * @machine: e_machine
 * @class: e_ident[EI_CLASS]; all types here are those of 64 bits
 * @data: e_ident[EI_DATA]
 * @absolute: type of the relocation that makes an address of eight bytes
 * @calls: types of the relocation of a call, up to the first 0
 * @addend: what the assembler adds to the target of a call
 * @opcode: first byte of a call
 * @before: bytes from the start of a call to the field that is relocated
 * @after: bytes from there to the end of the call
 * @targets: names of the functions whose calls are sites, up to the first NULL
 */
struct arch {
	u16 machine;
	u8 class;
	u8 data;
	u32 absolute;
	u32 calls[3];
	s64 addend;
	u8 opcode;
	u8 before;
	u8 after;
	const char *targets[3];
};

/**
 * struct site - a call to be recorded
 * @section: the section it is in
 * @offset: where it begins there
 */
struct site {
	u32 section;
	u64 offset;
};

/**
 * struct elf - an object, as far as it has been checked
 * @bytes: the object
 * @size: its size
 * @arch: its machine; NULL until that is known
 * @foreign: its byte order is not the host's; see CONVERT()
 * @ehdr: its header, in the host's byte order
 * @sections: its section headers, in the host's byte order
 * @nr_sections: their number
 * @names: the section that holds their names; 0 until that is known
 * @symtab: the section that holds the symbols, or 0
 * @shndx: the section that holds the section numbers that do not fit, or 0
 * @nr_symbols: number of symbols
 * @nr_locals: how many of them, the first ones, are local
 * @is_target: for each symbol, whether it is one of @arch->targets
 * @section_symbols: for each section the number of its symbol, or 0
 * @has_sites: for each section, whether a site is in it
 * @sites: the calls to be recorded
 * @nr_sites: their number
 * @has_table: there is a table already
 * @report: what there is to say
 */
struct elf {
	u8 *bytes;
	size_t size;
	const struct arch *arch;
	bool foreign;
	Elf64_Ehdr ehdr;
	Elf64_Shdr *sections;
	u32 nr_sections;
	u32 names;
	u32 symtab;
	u32 shndx;
	u32 nr_symbols;
	u32 nr_locals;
	bool *is_target;
	u32 *section_symbols;
	bool *has_sites;
	struct site *sites;
	size_t nr_sites;
	bool has_table;
	struct mcount_report *report;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA	ELFDATA2LSB
#else
#define HOST_DATA	ELFDATA2MSB
#endif

/* A number from the byte order of the object to the host's, or back. */
#define CONVERT(elf, value)						\
	do {								\
		typeof(value) *_value = &(value);			\
									\
		if ((elf)->foreign)					\
			*_value = sizeof(*_value) == 8 ? bswap_64(*_value) : \
				  sizeof(*_value) == 4 ? bswap_32(*_value) : \
				  bswap_16(*_value);			\
	} while (0)

void convert_header(const struct elf *elf, Elf64_Ehdr *ehdr);
void convert_section(const struct elf *elf, Elf64_Shdr *shdr);
void convert_symbol(const struct elf *elf, Elf64_Sym *symbol);
void store_relocation(const struct elf *elf, u8 *to, u64 entsize,
		      Elf64_Rela rela);

/**
 * has_bytes - are there bytes of the section in the object?
 * @shdr: its header
 *
 * Context: any.
 * Return: whether its offset and its size mean something.
 */
static inline bool has_bytes(const Elf64_Shdr *shdr)
{
	return shdr->sh_type != SHT_NULL && shdr->sh_type != SHT_NOBITS &&
	       shdr->sh_size;
}

/**
 * is_relocations - does the section consist of relocations?
 * @shdr: its header
 *
 * Context: any.
 * Return: whether it does, with or without addends.
 */
static inline bool is_relocations(const Elf64_Shdr *shdr)
{
	return shdr->sh_type == SHT_RELA || shdr->sh_type == SHT_REL;
}

/**
 * same_name - are two names the same?
 * @a: the one
 * @b: the other
 *
 * Few of the many names that are looked at get beyond the first letters, so a
 * call of strcmp() would be most of it.
 *
 * Context: any.
 * Return: whether they are.
 */
static inline bool same_name(const char *a, const char *b)
{
	for (; *a == *b; a++, b++) {
		if (!*a)
			return true;
	}
	return false;
}

/**
 * relocation_symbol - the symbol that a relocation of the object refers to
 * @elf: the object
 * @at: where in it the relocation is, with or without an addend; has been checked
 *
 * There are more relocations than anything else in an object, and of most of them
 * nobody wants to know more than this.
 *
 * Context: any.
 * Return: the number of the symbol; has not been checked.
 */
static inline u32 relocation_symbol(const struct elf *elf, u64 at)
{
	u64 info;

	memcpy(&info, elf->bytes + at + offsetof(Elf64_Rela, r_info),
	       sizeof(info));
	CONVERT(elf, info);
	return ELF64_R_SYM(info);
}

/**
 * load_relocation - a relocation of the object
 * @elf: the object
 * @at: where in it; has been checked
 * @entsize: the size that it has there, of Elf64_Rel or Elf64_Rela
 *
 * Context: any.
 * Return: the relocation, in the host's byte order. One without an addend has 0
 *	for it.
 */
static inline Elf64_Rela load_relocation(const struct elf *elf, u64 at,
					 u64 entsize)
{
	Elf64_Rela rela = { .r_addend = 0 };

	if (entsize == sizeof(rela))
		memcpy(&rela, elf->bytes + at, sizeof(rela));
	else
		memcpy(&rela, elf->bytes + at, sizeof(Elf64_Rel));
	CONVERT(elf, rela.r_offset);
	CONVERT(elf, rela.r_info);
	CONVERT(elf, rela.r_addend);
	return rela;
}

__printf(3, 4)
bool refuse_section(struct elf *elf, u32 section, const char *fmt, ...);
bool no_memory(struct elf *elf);
void tell_ignored(struct elf *elf, u32 section, u32 nr, const char *why);

bool is_string_table(const struct elf *elf, u32 section);

bool read_elf(struct elf *elf);
bool find_calls(struct elf *elf);
void free_elf(struct elf *elf);

#endif /* _SCRIPTS_MCOUNT_LOC_OBJECT_H */
