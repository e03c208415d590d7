// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the calls to __fentry__ in an ELF object, __mcount_loc.
 *
 * The object stays as it is, byte for byte. After it come the table, its
 * relocations, the section names with two more, and all section headers with
 * two more.  The old names and headers are left as bytes of no section.
 *
 * An address in the table is relative to the symbol of the section that the
 * call is in.  A function's own symbol will not do: where it is weak, the linker
 * may take it for that of another function.  Assemblers leave out the section
 * symbols that they do not need; what is missing is added.  Local symbols come
 * first, so that other symbols change their numbers, and everything that refers
 * to them is changed along.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG	0x6fff4c03
#endif

/**
 * struct layout - where things are in the object that it will be
 * @tail: what is to follow the old object
 * @table: the table
 * @rela: its relocations
 * @names: the section names
 * @symtab: the symbols, where there are new ones
 * @shndx: the section numbers of symbols, where there are new ones
 * @shdrs: the section headers
 * @size: its size
 * @new_symbols: number of new section symbols, after the old local ones
 */
struct layout {
	u8 *tail;
	u64 table;
	u64 rela;
	u64 names;
	u64 symtab;
	u64 shndx;
	u64 shdrs;
	u64 size;
	u32 new_symbols;
};

/* Room for @size bytes at the end of the new object. */
static u64 append(struct layout *layout, u64 size)
{
	u64 at = (layout->size + 7) & ~7ull;

	layout->size = at + size;
	return at;
}

static u8 *in_tail(const struct elf *elf, const struct layout *layout, u64 at)
{
	return layout->tail + (at - elf->size);
}

/* No sum overflows: each is at most a few times the size of the object. */
static bool lay_out(struct elf *elf, struct layout *layout)
{
	const Elf64_Shdr *sections = elf->sections;
	u64 new = layout->new_symbols;
	u8 *to;

	layout->size = elf->size;
	layout->table = append(layout, elf->nr_sites * sizeof(Elf64_Addr));
	layout->rela = append(layout, elf->nr_sites * sizeof(Elf64_Rela));
	layout->names = append(layout, sections[elf->names].sh_size +
				       sizeof(TABLE_RELA_NAME));
	if (new)
		layout->symtab = append(layout, sections[elf->symtab].sh_size +
						new * sizeof(Elf64_Sym));
	if (new && elf->shndx)
		layout->shndx = append(layout, sections[elf->shndx].sh_size +
					       new * sizeof(Elf32_Word));
	layout->shdrs = append(layout, ((u64)elf->nr_sections + 2) *
				       sizeof(Elf64_Shdr));

	if (layout->size > SIZE_MAX / 2)
		return no_memory(elf);
	layout->tail = calloc(1, layout->size - elf->size);
	if (!layout->tail)
		return no_memory(elf);
	to = in_tail(elf, layout, layout->names);
	memcpy(to, elf->bytes + sections[elf->names].sh_offset,
	       sections[elf->names].sh_size);
	memcpy(to + sections[elf->names].sh_size, TABLE_RELA_NAME,
	       sizeof(TABLE_RELA_NAME));
	return true;
}

/* Copy a table of an entry for each symbol, with a gap for the new ones. */
static void copy_with_gap(const struct elf *elf, const struct layout *layout,
			  u32 section, u64 to, size_t entsize)
{
	Elf64_Shdr *shdr = &elf->sections[section];
	const u8 *from = elf->bytes + shdr->sh_offset;
	u8 *new = in_tail(elf, layout, to);
	u64 head = (u64)elf->nr_locals * entsize;
	u64 gap = (u64)layout->new_symbols * entsize;

	memcpy(new, from, head);
	memcpy(new + head + gap, from + head, shdr->sh_size - head);
	shdr->sh_offset = to;
	shdr->sh_size += gap;
}

static void add_section_symbol(struct elf *elf, const struct layout *layout,
			       u32 symbol, u32 section)
{
	Elf64_Sym new = {
		.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
		.st_shndx = section < SHN_LORESERVE ? section : SHN_XINDEX,
	};
	u32 wide = section;

	convert_symbol(elf, &new);
	memcpy(in_tail(elf, layout, layout->symtab) + (u64)symbol * sizeof(new),
	       &new, sizeof(new));
	if (section >= SHN_LORESERVE) {
		CONVERT(elf, wide);
		memcpy(in_tail(elf, layout, layout->shndx) +
		       (u64)symbol * sizeof(wide), &wide, sizeof(wide));
	}
	elf->section_symbols[section] = symbol;
}

static bool renumber_relocations(struct elf *elf, const struct layout *layout,
				 u32 section)
{
	const Elf64_Shdr *shdr = &elf->sections[section];
	u64 end = shdr->sh_offset + shdr->sh_size, at;
	Elf64_Rela rela;
	u32 symbol;

	for (at = shdr->sh_offset; at < end; at += shdr->sh_entsize) {
		symbol = relocation_symbol(elf, at);
		if (symbol < elf->nr_locals)
			continue;
		if (symbol >= elf->nr_symbols)
			return refuse_section(elf, section,
					      "a relocation refers to symbol %u of %u",
					      symbol, elf->nr_symbols);
		rela = load_relocation(elf, at, shdr->sh_entsize);
		rela.r_info += ELF64_R_INFO((u64)layout->new_symbols, 0);
		store_relocation(elf, elf->bytes + at, shdr->sh_entsize, rela);
	}
	return true;
}

/* Let all that refers to symbols by number, in a section, have the new ones. */
static bool renumber_symbols(struct elf *elf, const struct layout *layout,
			     u32 section)
{
	Elf64_Shdr *shdr = &elf->sections[section];

	if (shdr->sh_link != elf->symtab)
		return true;
	switch (shdr->sh_type) {
	case SHT_REL:
	case SHT_RELA:
		return renumber_relocations(elf, layout, section);
	case SHT_GROUP:
		if (shdr->sh_info >= elf->nr_symbols)
			return refuse_section(elf, section,
					      "is named by symbol %u of %u",
					      shdr->sh_info, elf->nr_symbols);
		if (shdr->sh_info >= elf->nr_locals)
			shdr->sh_info += layout->new_symbols;
		return true;
	case SHT_SYMTAB_SHNDX:
		return true;
	case SHT_LLVM_ADDRSIG:
		/* Optional. This says that it is for another symbol table. */
		shdr->sh_link = 0;
		return true;
	default:
		return refuse_section(elf, section,
				      "refers to symbols in a way we do not know (type %#x)",
				      shdr->sh_type);
	}
}

static bool add_section_symbols(struct elf *elf, const struct layout *layout)
{
	u32 symbol = elf->nr_locals, i;

	for (i = 1; i < elf->nr_sections; i++) {
		if (!renumber_symbols(elf, layout, i))
			return false;
	}
	copy_with_gap(elf, layout, elf->symtab, layout->symtab,
		      sizeof(Elf64_Sym));
	elf->sections[elf->symtab].sh_info += layout->new_symbols;
	if (elf->shndx)
		copy_with_gap(elf, layout, elf->shndx, layout->shndx,
			      sizeof(Elf32_Word));
	for (i = 1; i < elf->nr_sections; i++) {
		if (elf->has_sites[i] && !elf->section_symbols[i])
			add_section_symbol(elf, layout, symbol++, i);
	}
	return true;
}

static void fill_table(const struct elf *elf, const struct layout *layout)
{
	u8 *to = in_tail(elf, layout, layout->rela);
	const struct site *site;
	Elf64_Rela rela;
	size_t i;

	/* The addresses themselves stay 0: the linker takes the addends. */
	for (i = 0; i < elf->nr_sites; i++, to += sizeof(rela)) {
		site = &elf->sites[i];
		rela.r_offset = i * sizeof(Elf64_Addr);
		rela.r_info = ELF64_R_INFO((u64)elf->section_symbols[site->section],
					   elf->arch->absolute);
		rela.r_addend = site->offset;
		store_relocation(elf, to, sizeof(rela), rela);
	}
}

static void store_section(const struct elf *elf, u8 *to, Elf64_Shdr shdr)
{
	convert_section(elf, &shdr);
	memcpy(to, &shdr, sizeof(shdr));
}

static void fill_headers(struct elf *elf, const struct layout *layout)
{
	Elf64_Shdr *names = &elf->sections[elf->names];
	u32 name = names->sh_size;
	u32 nr = elf->nr_sections, i;
	u8 *to = in_tail(elf, layout, layout->shdrs);
	const Elf64_Shdr table = {
		.sh_name = name + sizeof(TABLE_RELA_NAME) - sizeof(TABLE_NAME),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_offset = layout->table,
		.sh_size = elf->nr_sites * sizeof(Elf64_Addr),
		.sh_addralign = sizeof(Elf64_Addr),
	};
	const Elf64_Shdr rela = {
		.sh_name = name,
		.sh_type = SHT_RELA,
		.sh_flags = SHF_INFO_LINK,
		.sh_offset = layout->rela,
		.sh_size = elf->nr_sites * sizeof(Elf64_Rela),
		.sh_link = elf->symtab,
		.sh_info = nr,
		.sh_addralign = sizeof(Elf64_Addr),
		.sh_entsize = sizeof(Elf64_Rela),
	};

	/* Not before: the names are needed for complaints. */
	names->sh_offset = layout->names;
	names->sh_size += sizeof(TABLE_RELA_NAME);

	/* The number of sections may have outgrown the ELF header. */
	if (nr + 2 >= SHN_LORESERVE) {
		elf->sections[0].sh_size = nr + 2;
		elf->ehdr.e_shnum = 0;
	} else {
		if (!elf->ehdr.e_shnum)
			elf->sections[0].sh_size = 0;
		elf->ehdr.e_shnum = nr + 2;
	}
	elf->ehdr.e_shoff = layout->shdrs;
	convert_header(elf, &elf->ehdr);
	memcpy(elf->bytes, &elf->ehdr, sizeof(elf->ehdr));

	for (i = 0; i < nr; i++, to += sizeof(Elf64_Shdr))
		store_section(elf, to, elf->sections[i]);
	store_section(elf, to, table);
	store_section(elf, to + sizeof(Elf64_Shdr), rela);
}

static bool build_object(struct elf *elf, struct layout *layout)
{
	u32 i;

	for (i = 1; i < elf->nr_sections; i++) {
		if (elf->has_sites[i] && !elf->section_symbols[i])
			layout->new_symbols++;
	}
	if (layout->new_symbols > UINT32_MAX - elf->nr_symbols)
		return refuse_section(elf, elf->symtab, "has too many symbols");
	if (!lay_out(elf, layout))
		return false;
	if (layout->new_symbols && !add_section_symbols(elf, layout))
		return false;
	fill_table(elf, layout);
	fill_headers(elf, layout);
	return true;
}

/**
 * mcount_add_table - add to an object the table of its calls
 * @object: the object file; where it has one header now, and numbers of symbols,
 *	it will have others
 * @size: its size
 * @tail: set to what is to follow it, or left alone if nothing is; the caller
 *	frees it
 * @tail_size: set to the size of that
 * @report: gets what there is to say
 *
 * Context: Has no state and touches no file.
 * Return: MCOUNT_ADDED, MCOUNT_UNCHANGED (the object has a table already, or no
 *	call), or MCOUNT_REFUSED with the reason in @report; what @object holds
 *	is of no use then.
 */
enum mcount_result mcount_add_table(void *object, size_t size, void **tail,
				    size_t *tail_size,
				    struct mcount_report *report)
{
	struct elf elf = { .bytes = object, .size = size, .report = report };
	enum mcount_result result = MCOUNT_REFUSED;
	struct layout layout = { .tail = NULL };

	if (!read_elf(&elf) || !find_calls(&elf))
		goto out;
	if (elf.has_table || !elf.nr_sites) {
		result = MCOUNT_UNCHANGED;
	} else if (build_object(&elf, &layout)) {
		*tail = layout.tail;
		*tail_size = layout.size - size;
		result = MCOUNT_ADDED;
	}
out:
	if (result != MCOUNT_ADDED)
		free(layout.tail);
	free_elf(&elf);
	return result;
}
