// SPDX-License-Identifier: GPL-2.0
/*
 * The calls to __fentry__ in an object: its symbols, and its relocations.
 *
 * A reference to __fentry__ is a call where the relocation, the place that it
 * relocates, and the byte before that say so.  Nothing else is to be patched.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

/* --- Symbols */

static bool is_target_name(const struct elf *elf, const char *name)
{
	const char *const *target;

	for (target = elf->arch->targets; *target; target++) {
		if (same_name(name, *target))
			return true;
	}
	return false;
}

/*
 * Check a section that is a table of entries, and give their number. Inline, as
 * to divide by a constant is no division.
 */
static inline bool count_entries(struct elf *elf, u32 section, u64 entsize,
				 u32 *nr)
{
	const Elf64_Shdr *shdr = &elf->sections[section];

	if (shdr->sh_entsize != entsize || shdr->sh_size % entsize)
		return refuse_section(elf, section,
				      "is not made of entries of %u bytes",
				      (unsigned int)entsize);
	if (shdr->sh_size / entsize > UINT32_MAX)
		return refuse_section(elf, section, "has too many entries");
	*nr = shdr->sh_size / entsize;
	return true;
}

static bool find_symtab(struct elf *elf)
{
	u32 i, nr = 0, type;

	for (i = 1; i < elf->nr_sections; i++) {
		type = elf->sections[i].sh_type;
		if (type == SHT_SYMTAB && elf->symtab)
			return refuse_section(elf, i,
					      "is a second symbol table");
		if (type == SHT_SYMTAB)
			elf->symtab = i;
	}
	for (i = 1; i < elf->nr_sections; i++) {
		if (elf->sections[i].sh_type != SHT_SYMTAB_SHNDX)
			continue;
		if (elf->shndx || !elf->symtab ||
		    elf->sections[i].sh_link != elf->symtab)
			return refuse_section(elf, i,
					      "is not the one of the symbol table");
		elf->shndx = i;
	}
	if (!elf->symtab)
		return true;

	if (!count_entries(elf, elf->symtab, sizeof(Elf64_Sym),
			   &elf->nr_symbols))
		return false;
	if (elf->shndx) {
		if (!count_entries(elf, elf->shndx, sizeof(Elf32_Word), &nr))
			return false;
		if (nr != elf->nr_symbols)
			return refuse_section(elf, elf->shndx,
					      "has %u entries for %u symbols",
					      nr, elf->nr_symbols);
	}
	return true;
}

/* Note for which section a symbol stands. */
static bool read_section_symbol(struct elf *elf, u32 nr)
{
	Elf64_Sym symbol;
	u32 section;

	memcpy(&symbol, elf->bytes + elf->sections[elf->symtab].sh_offset +
	       (u64)nr * sizeof(symbol), sizeof(symbol));
	convert_symbol(elf, &symbol);
	section = symbol.st_shndx;
	if (section == SHN_XINDEX && elf->shndx) {
		memcpy(&section, elf->bytes + (u64)nr * sizeof(section) +
		       elf->sections[elf->shndx].sh_offset, sizeof(section));
		CONVERT(elf, section);
	} else if (section >= SHN_LORESERVE) {
		section = SHN_UNDEF;
	}
	if (!section || section >= elf->nr_sections)
		return refuse_section(elf, elf->symtab,
				      "symbol %u is that of no section", nr);
	if (!elf->section_symbols[section] && !symbol.st_value)
		elf->section_symbols[section] = nr;
	return true;
}

/* Check the symbol table as a whole, and give the names of its symbols. */
static const char *find_symbol_names(struct elf *elf, u64 *size)
{
	const Elf64_Shdr *symtab = &elf->sections[elf->symtab];
	u32 names = symtab->sh_link;

	if (!names || names >= elf->nr_sections || !is_string_table(elf, names)) {
		refuse_section(elf, elf->symtab,
			       "its names (section %u) are not a string table that ends with 0",
			       names);
		return NULL;
	}
	elf->nr_locals = symtab->sh_info;
	if (!elf->nr_locals || elf->nr_locals > elf->nr_symbols) {
		refuse_section(elf, elf->symtab, "has %u local symbols of %u",
			       elf->nr_locals, elf->nr_symbols);
		return NULL;
	}
	*size = elf->sections[names].sh_size;
	return (const char *)elf->bytes + elf->sections[names].sh_offset;
}

static bool refuse_name(struct elf *elf, u32 nr)
{
	return refuse_section(elf, elf->symtab,
			      "the name of symbol %u is beyond the names", nr);
}

static bool refuse_binding(struct elf *elf, u32 nr)
{
	return refuse_section(elf, elf->symtab,
			      "symbol %u is not where local and other symbols part",
			      nr);
}

static bool read_locals(struct elf *elf, const u8 *from, u64 names_size)
{
	Elf64_Sym symbol;
	u32 i;

	for (i = 0; i < elf->nr_locals; i++, from += sizeof(symbol)) {
		memcpy(&symbol, from, sizeof(symbol));
		CONVERT(elf, symbol.st_name);
		if (symbol.st_name >= names_size)
			return refuse_name(elf, i);
		if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
			return refuse_binding(elf, i);
		if (ELF64_ST_TYPE(symbol.st_info) == STT_SECTION &&
		    !read_section_symbol(elf, i))
			return false;
	}
	return true;
}

/* Only here: a local function of that name is not what we look for. */
static bool read_others(struct elf *elf, const u8 *from, const char *names,
			u64 names_size)
{
	Elf64_Sym symbol;
	u32 i;

	for (i = elf->nr_locals; i < elf->nr_symbols; i++, from += sizeof(symbol)) {
		memcpy(&symbol, from, sizeof(symbol));
		CONVERT(elf, symbol.st_name);
		if (symbol.st_name >= names_size)
			return refuse_name(elf, i);
		if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
			return refuse_binding(elf, i);
		elf->is_target[i] = is_target_name(elf, names + symbol.st_name);
	}
	return true;
}

static bool read_symbols(struct elf *elf)
{
	const char *names;
	u64 names_size;
	const u8 *from;

	if (!find_symtab(elf))
		return false;
	if (!elf->nr_symbols)
		return true;
	names = find_symbol_names(elf, &names_size);
	if (!names)
		return false;
	elf->is_target = calloc(elf->nr_symbols, sizeof(*elf->is_target));
	if (!elf->is_target)
		return no_memory(elf);

	from = elf->bytes + elf->sections[elf->symtab].sh_offset;
	return read_locals(elf, from, names_size) &&
	       read_others(elf, from + (u64)elf->nr_locals * sizeof(Elf64_Sym),
			   names, names_size);
}

/* --- Calls */

static bool is_call_type(const struct elf *elf, u32 type)
{
	const u32 *call;

	for (call = elf->arch->calls; *call; call++) {
		if (type == *call)
			return true;
	}
	return false;
}

/* Is the relocation, of an executable section, that of a call? */
static bool is_call(const struct elf *elf, u32 section, const Elf64_Rela *rela)
{
	const Elf64_Shdr *text = &elf->sections[section];
	const struct arch *arch = elf->arch;
	u64 offset = rela->r_offset;

	return is_call_type(elf, ELF64_R_TYPE(rela->r_info)) &&
	       rela->r_addend == arch->addend && has_bytes(text) &&
	       offset >= arch->before && offset <= text->sh_size &&
	       text->sh_size - offset >= arch->after &&
	       elf->bytes[text->sh_offset + offset - arch->before] ==
	       arch->opcode;
}

/* A power of two: more than most objects have. */
#define FEW_SITES	32

static bool add_site(struct elf *elf, u32 section, u64 offset)
{
	size_t room = elf->nr_sites;
	struct site *sites;

	/* There is room for a few, and then up to the next power of two. */
	if (!room || (room >= FEW_SITES && !(room & (room - 1)))) {
		room = room ? 2 * room : FEW_SITES;
		if (room > SIZE_MAX / sizeof(*sites))
			return no_memory(elf);
		sites = realloc(elf->sites, room * sizeof(*sites));
		if (!sites)
			return no_memory(elf);
		elf->sites = sites;
	}
	elf->sites[elf->nr_sites++] = (struct site){ section, offset };
	elf->has_sites[section] = true;
	return true;
}

/* Check the relocations of one section, and find the calls among them. */
static bool read_relocations(struct elf *elf, u32 section)
{
	const Elf64_Shdr *shdr = &elf->sections[section];
	bool addends = shdr->sh_type == SHT_RELA, text;
	u64 entsize = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	u32 target = shdr->sh_info, ignored = 0, i, nr = 0, symbol;
	const bool *is_target = elf->is_target;
	u32 nr_symbols = elf->nr_symbols;
	u64 at = shdr->sh_offset;
	Elf64_Rela rela;

	if (addends ? !count_entries(elf, section, sizeof(Elf64_Rela), &nr) :
		      !count_entries(elf, section, sizeof(Elf64_Rel), &nr))
		return false;
	if (shdr->sh_link != elf->symtab)
		return refuse_section(elf, section,
				      "its symbols (section %u) are not the symbol table",
				      shdr->sh_link);
	if (!target || target >= elf->nr_sections || target == section)
		return refuse_section(elf, section,
				      "relocates section %u, which cannot be",
				      target);
	text = elf->sections[target].sh_flags & SHF_EXECINSTR;
	/* Most relocations are those of debug info: look only if somebody asked. */
	if (!text && !elf->report->ignored)
		return true;

	for (i = 0; i < nr; i++, at += entsize) {
		symbol = relocation_symbol(elf, at);
		if (symbol >= nr_symbols)
			return refuse_section(elf, section,
					      "relocation %u refers to symbol %u of %u",
					      i, symbol, nr_symbols);
		if (!is_target[symbol])
			continue;
		rela = load_relocation(elf, at, entsize);
		if (text && !addends)
			return refuse_section(elf, section,
					      "relocates calls, but has no addends");
		if (!text || !is_call(elf, target, &rela))
			ignored++;
		else if (!add_site(elf, target,
				   rela.r_offset - elf->arch->before))
			return false;
	}
	tell_ignored(elf, target, ignored,
		     text ? "they are no calls that can be patched" :
			    "it is not executable");
	return true;
}

/**
 * find_calls - find the calls that are to be recorded
 * @elf: the object, as read_elf() left it
 *
 * Sets what @elf knows of symbols and sites.
 *
 * Context: after read_elf().
 * Return: false if the object is refused.
 */
bool find_calls(struct elf *elf)
{
	u32 i;

	if (!read_symbols(elf))
		return false;
	for (i = 1; i < elf->nr_sections; i++) {
		if (is_relocations(&elf->sections[i]) &&
		    !read_relocations(elf, i))
			return false;
	}
	return true;
}
