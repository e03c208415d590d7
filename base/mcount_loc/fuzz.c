// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer harness for mcount_add_table() of scripts/mcount_loc.
 *
 * Whatever the bytes are: it must not crash, it says why it refuses, and a new
 * object is one that it has nothing to add to, holds all that the old one held,
 * and has in its table nothing but calls.
 *
 * For the byte order of x86 hosts.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcount_loc.h"

#define CHECK(what)							\
	do {								\
		if (!(what)) {						\
			fprintf(stderr, "%s:%d: not so: %s\n",		\
				__FILE__, __LINE__, #what);		\
			abort();					\
		}							\
	} while (0)

/**
 * struct object - an object that was found good
 * @bytes: it
 * @sections: its section headers
 * @nr: their number
 * @symtab: its symbol table, or section 0
 * @strings: the section with the section names
 */
struct object {
	const unsigned char *bytes;
	Elf64_Shdr *sections;
	size_t nr;
	size_t symtab;
	size_t strings;
};

static void open_object(struct object *o, const void *bytes)
{
	Elf64_Shdr first;
	Elf64_Ehdr ehdr;
	size_t i;

	o->bytes = bytes;
	memcpy(&ehdr, bytes, sizeof(ehdr));
	memcpy(&first, o->bytes + ehdr.e_shoff, sizeof(first));
	o->nr = ehdr.e_shnum ? ehdr.e_shnum : first.sh_size;
	o->strings = ehdr.e_shstrndx == SHN_XINDEX ? first.sh_link :
						     ehdr.e_shstrndx;
	o->sections = malloc(o->nr * sizeof(first));
	CHECK(o->sections);
	memcpy(o->sections, o->bytes + ehdr.e_shoff, o->nr * sizeof(first));
	o->symtab = 0;
	for (i = 1; i < o->nr; i++) {
		if (o->sections[i].sh_type == SHT_SYMTAB)
			o->symtab = i;
	}
}

static const char *name_of(const struct object *o, size_t section)
{
	return (const char *)o->bytes + o->sections[o->strings].sh_offset +
	       o->sections[section].sh_name;
}

/* The entry of a table of them. */
static void entry(const struct object *o, size_t section, size_t i, void *to,
		  size_t size)
{
	memcpy(to, o->bytes + o->sections[section].sh_offset + i * size, size);
}

static size_t count(const struct object *o, size_t section, size_t size)
{
	return o->sections[section].sh_size / size;
}

/* The number in the new object of a symbol of the old one. */
static size_t moved(const struct object *old, const struct object *new,
		    size_t symbol)
{
	if (symbol < old->sections[old->symtab].sh_info)
		return symbol;
	return symbol + count(new, new->symtab, sizeof(Elf64_Sym)) -
	       count(old, old->symtab, sizeof(Elf64_Sym));
}

static void check_symbols(const struct object *old, const struct object *new,
			  size_t section, size_t size)
{
	unsigned char a[sizeof(Elf64_Sym)], b[sizeof(Elf64_Sym)];
	size_t i;

	for (i = 0; i < count(old, section, size); i++) {
		entry(old, section, i, a, size);
		entry(new, section, moved(old, new, i), b, size);
		CHECK(!memcmp(a, b, size));
	}
}

static void check_relocations(const struct object *old,
			      const struct object *new, size_t section)
{
	size_t size = old->sections[section].sh_entsize, i;
	Elf64_Rela a = { .r_addend = 0 }, b = { .r_addend = 0 };

	CHECK(count(old, section, size) == count(new, section, size));
	for (i = 0; i < count(old, section, size); i++) {
		entry(old, section, i, &a, size);
		entry(new, section, i, &b, size);
		CHECK(ELF64_R_SYM(b.r_info) ==
		      moved(old, new, ELF64_R_SYM(a.r_info)));
		b.r_info = a.r_info;
		CHECK(!memcmp(&a, &b, size));
	}
}

/* Nothing of the old section is lost. */
static void check_section(const struct object *old, const struct object *new,
			  size_t i)
{
	Elf64_Shdr a = old->sections[i], b = new->sections[i];

	CHECK(!strcmp(name_of(old, i), name_of(new, i)));
	if (i == 0)
		return;
	if (a.sh_type == SHT_SYMTAB || a.sh_type == SHT_SYMTAB_SHNDX) {
		check_symbols(old, new, i, a.sh_entsize);
		CHECK(a.sh_type != SHT_SYMTAB ||
		      b.sh_info == moved(old, new, a.sh_info));
		/* These may have moved, and grown. */
		b.sh_offset = a.sh_offset;
		b.sh_size = a.sh_size;
		b.sh_info = a.sh_info;
	} else if (a.sh_type == SHT_REL || a.sh_type == SHT_RELA) {
		check_relocations(old, new, i);
	} else if (a.sh_type != SHT_NOBITS && a.sh_type != SHT_NULL) {
		CHECK(!a.sh_size || !memcmp(old->bytes + a.sh_offset,
					    new->bytes + b.sh_offset,
					    a.sh_size));
	}
	if (i == old->strings) {
		b.sh_offset = a.sh_offset;
		b.sh_size = a.sh_size;
	}
	if (a.sh_type == SHT_GROUP && a.sh_link == old->symtab) {
		CHECK(b.sh_info == moved(old, new, a.sh_info));
		b.sh_info = a.sh_info;
	}
	/* LLVM's table of addresses says when it does not hold any more. */
	if (a.sh_type == 0x6fff4c03 && a.sh_link == old->symtab && !b.sh_link)
		b.sh_link = a.sh_link;
	CHECK(!memcmp(&a, &b, sizeof(a)));
}

static size_t section_of(const struct object *o, size_t symbol,
			 const Elf64_Sym *sym)
{
	uint32_t section;
	size_t i;

	if (sym->st_shndx != SHN_XINDEX)
		return sym->st_shndx;
	for (i = 1; o->sections[i].sh_type != SHT_SYMTAB_SHNDX; i++)
		CHECK(i + 1 < o->nr);
	entry(o, i, symbol, &section, sizeof(section));
	return section;
}

/* Each entry is relative to the symbol of a section, and is a call in it. */
static void check_table(const struct object *new)
{
	size_t table = new->nr - 2, rela = new->nr - 1, i, section;
	const Elf64_Shdr *shdr = &new->sections[rela], *text;
	Elf64_Sym sym;
	Elf64_Rela r;

	CHECK(!strcmp(name_of(new, table), "__mcount_loc"));
	CHECK(!strcmp(name_of(new, rela), ".rela__mcount_loc"));
	CHECK(shdr->sh_info == table && shdr->sh_link == new->symtab);
	CHECK(count(new, rela, sizeof(r)) == count(new, table, 8));
	CHECK(count(new, table, 8));

	for (i = 0; i < count(new, table, 8); i++) {
		entry(new, rela, i, &r, sizeof(r));
		CHECK(r.r_offset == 8 * i);
		CHECK(ELF64_R_TYPE(r.r_info) == R_X86_64_64);
		entry(new, new->symtab, ELF64_R_SYM(r.r_info), &sym,
		      sizeof(sym));
		CHECK(sym.st_info == ELF64_ST_INFO(STB_LOCAL, STT_SECTION));
		CHECK(!sym.st_value);
		section = section_of(new, ELF64_R_SYM(r.r_info), &sym);
		CHECK(section && section < table);
		text = &new->sections[section];
		CHECK(text->sh_flags & SHF_EXECINSTR);
		CHECK((uint64_t)r.r_addend < text->sh_size);
		CHECK(text->sh_size - r.r_addend >= 5);
		CHECK(new->bytes[text->sh_offset + r.r_addend] == 0xe8);
	}
}

static void check_new(const void *old_bytes, const void *new_bytes)
{
	struct object old, new;
	size_t i;

	open_object(&old, old_bytes);
	open_object(&new, new_bytes);
	CHECK(new.nr == old.nr + 2);
	CHECK(new.symtab == old.symtab && new.strings == old.strings);
	for (i = 0; i < old.nr; i++)
		check_section(&old, &new, i);
	check_table(&new);
	free(old.sections);
	free(new.sections);
}

static void ignored(const char *what)
{
	CHECK(strlen(what) > 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A caller that asks what is ignored has more of the object read. */
	struct mcount_report report = { .ignored = size & 1 ? ignored : NULL };
	void *tail = NULL, *again = NULL;
	size_t tail_size, again_size;
	char *object = malloc(size ? size : 1);

	CHECK(object);
	memcpy(object, data, size);
	switch (mcount_add_table(object, size, &tail, &tail_size, &report)) {
	case MCOUNT_REFUSED:
		CHECK(report.error[0] && !tail);
		break;
	case MCOUNT_UNCHANGED:
		CHECK(!tail && !memcmp(object, data, size));
		break;
	case MCOUNT_ADDED:
		object = realloc(object, size + tail_size);
		CHECK(object);
		memcpy(object + size, tail, tail_size);
		check_new(data, object);
		CHECK(mcount_add_table(object, size + tail_size, &again,
				       &again_size, &report) == MCOUNT_UNCHANGED);
		CHECK(!again);
		break;
	}
	free(tail);
	free(object);
	return 0;
}
