// SPDX-License-Identifier: GPL-2.0
/*
 * An ELF object: its machine, its header, and its sections.
 *
 * The object is bytes from anywhere: nothing in it is used before it has been
 * checked, and it is read byte by byte, so that neither its alignment nor the
 * byte order of the host matters.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

static const struct arch archs[] = {
	{
		.machine = EM_X86_64,
		.class = ELFCLASS64,
		.data = ELFDATA2LSB,
		.absolute = R_X86_64_64,
		.calls = { R_X86_64_PC32, R_X86_64_PLT32 },
		.addend = -4,
		.opcode = 0xe8,
		.before = 1,
		.after = 4,
		.targets = { "__fentry__", "mcount" },
	},
	{ .machine = EM_NONE }
};

/* --- Bytes */

/**
 * convert_header - turn an ELF header between the two byte orders
 * @elf: the object; its @arch is known
 * @ehdr: the header
 *
 * Context: any.
 */
void convert_header(const struct elf *elf, Elf64_Ehdr *ehdr)
{
	CONVERT(elf, ehdr->e_type);
	CONVERT(elf, ehdr->e_machine);
	CONVERT(elf, ehdr->e_version);
	CONVERT(elf, ehdr->e_entry);
	CONVERT(elf, ehdr->e_phoff);
	CONVERT(elf, ehdr->e_shoff);
	CONVERT(elf, ehdr->e_flags);
	CONVERT(elf, ehdr->e_ehsize);
	CONVERT(elf, ehdr->e_phentsize);
	CONVERT(elf, ehdr->e_phnum);
	CONVERT(elf, ehdr->e_shentsize);
	CONVERT(elf, ehdr->e_shnum);
	CONVERT(elf, ehdr->e_shstrndx);
}

/**
 * convert_section - turn a section header between the two byte orders
 * @elf: the object; its @arch is known
 * @shdr: the header
 *
 * Context: any.
 */
void convert_section(const struct elf *elf, Elf64_Shdr *shdr)
{
	CONVERT(elf, shdr->sh_name);
	CONVERT(elf, shdr->sh_type);
	CONVERT(elf, shdr->sh_flags);
	CONVERT(elf, shdr->sh_addr);
	CONVERT(elf, shdr->sh_offset);
	CONVERT(elf, shdr->sh_size);
	CONVERT(elf, shdr->sh_link);
	CONVERT(elf, shdr->sh_info);
	CONVERT(elf, shdr->sh_addralign);
	CONVERT(elf, shdr->sh_entsize);
}

/**
 * convert_symbol - turn a symbol between the two byte orders
 * @elf: the object; its @arch is known
 * @symbol: the symbol
 *
 * Context: any.
 */
void convert_symbol(const struct elf *elf, Elf64_Sym *symbol)
{
	CONVERT(elf, symbol->st_name);
	CONVERT(elf, symbol->st_shndx);
	CONVERT(elf, symbol->st_value);
	CONVERT(elf, symbol->st_size);
}

/**
 * store_relocation - write a relocation
 * @elf: the object that it is for
 * @to: where to
 * @entsize: the size it is to have there, of Elf64_Rel or Elf64_Rela
 * @rela: the relocation, in the host's byte order
 *
 * Context: any.
 */
void store_relocation(const struct elf *elf, u8 *to, u64 entsize,
		      Elf64_Rela rela)
{
	CONVERT(elf, rela.r_offset);
	CONVERT(elf, rela.r_info);
	CONVERT(elf, rela.r_addend);
	memcpy(to, &rela, entsize);
}

static bool in_object(const struct elf *elf, u64 offset, u64 size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

/* --- Complaints */

static void make_printable(char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

static const char *section_name(const struct elf *elf, u32 section)
{
	const Elf64_Shdr *names = &elf->sections[elf->names];
	u32 name = elf->sections[section].sh_name;

	if (!elf->names || name >= names->sh_size)
		return "name not known";
	return (const char *)elf->bytes + names->sh_offset + name;
}

__printf(2, 3)
static bool refuse(struct elf *elf, const char *fmt, ...)
{
	struct mcount_report *report = elf->report;
	va_list args;

	va_start(args, fmt);
	vsnprintf(report->error, sizeof(report->error), fmt, args);
	va_end(args);
	return false;
}

/**
 * refuse_section - say what is wrong with the object, and which section it is
 * @elf: the object; its section headers have been read
 * @section: the section that is to blame
 * @fmt: what is wrong, as for printf()
 *
 * Context: once for an object: the last word counts.
 * Return: false, for the caller to pass on.
 */
bool refuse_section(struct elf *elf, u32 section, const char *fmt, ...)
{
	struct mcount_report *report = elf->report;
	va_list args;
	int len;

	len = snprintf(report->error, sizeof(report->error),
		       "section %u (%.80s): ", section,
		       section_name(elf, section));
	va_start(args, fmt);
	vsnprintf(report->error + len, sizeof(report->error) - len, fmt, args);
	va_end(args);
	make_printable(report->error);
	return false;
}

/**
 * no_memory - say that the object cannot be dealt with for want of memory
 * @elf: the object
 *
 * Context: as refuse_section(), but at any time.
 * Return: false, for the caller to pass on.
 */
bool no_memory(struct elf *elf)
{
	return refuse(elf, "is too large for the memory there is");
}

/**
 * tell_ignored - tell the caller, if it asked, that references are not recorded
 * @elf: the object
 * @section: the section that they are in
 * @nr: how many there are; nothing is told of none
 * @why: what is wrong with them
 *
 * Context: any, once the sections have been read.
 */
void tell_ignored(struct elf *elf, u32 section, u32 nr, const char *why)
{
	char text[256];

	if (!nr || !elf->report->ignored)
		return;
	snprintf(text, sizeof(text),
		 "section %u (%.80s): %u references to %s are ignored: %s",
		 section, section_name(elf, section), nr,
		 elf->arch->targets[0], why);
	make_printable(text);
	elf->report->ignored(text);
}

/* --- What the object is */

static bool check_machine(struct elf *elf)
{
	const u8 *ident = elf->bytes;
	const struct arch *arch;

	if (elf->size < sizeof(Elf64_Ehdr))
		return refuse(elf, "is too short for an ELF object");
	if (memcmp(ident, ELFMAG, SELFMAG))
		return refuse(elf, "is not an ELF object");

	for (arch = archs; arch->machine; arch++) {
		elf->arch = arch;
		elf->foreign = arch->data != HOST_DATA;
		memcpy(&elf->ehdr, elf->bytes, sizeof(elf->ehdr));
		convert_header(elf, &elf->ehdr);
		if (ident[EI_CLASS] == arch->class &&
		    ident[EI_DATA] == arch->data &&
		    elf->ehdr.e_machine == arch->machine)
			return true;
	}
	/* Its number is not told: it may be in another byte order. */
	return refuse(elf, "is not of a machine we know (class %u, data %u)",
		      ident[EI_CLASS], ident[EI_DATA]);
}

static bool read_header(struct elf *elf)
{
	const Elf64_Ehdr *ehdr = &elf->ehdr;
	Elf64_Shdr first;
	u64 nr;

	if (!check_machine(elf))
		return false;
	if (elf->bytes[EI_VERSION] != EV_CURRENT ||
	    ehdr->e_version != EV_CURRENT)
		return refuse(elf, "is of an ELF version we do not know");
	if (ehdr->e_type != ET_REL)
		return refuse(elf, "is not relocatable (ELF type %u)",
			      ehdr->e_type);
	if (ehdr->e_ehsize != sizeof(Elf64_Ehdr))
		return refuse(elf, "has an ELF header of %u bytes",
			      ehdr->e_ehsize);
	if (!ehdr->e_shoff)
		return refuse(elf, "has no section headers");
	if (ehdr->e_shentsize != sizeof(Elf64_Shdr))
		return refuse(elf, "has section headers of %u bytes",
			      ehdr->e_shentsize);
	if (ehdr->e_shnum >= SHN_LORESERVE)
		return refuse(elf, "has a reserved number of sections (%u)",
			      ehdr->e_shnum);
	if (!in_object(elf, ehdr->e_shoff, sizeof(Elf64_Shdr)))
		return refuse(elf, "has section headers beyond its end");

	/* What does not fit into the header is in section 0. */
	memcpy(&first, elf->bytes + ehdr->e_shoff, sizeof(first));
	convert_section(elf, &first);
	nr = ehdr->e_shnum ? ehdr->e_shnum : first.sh_size;
	if (!nr)
		return refuse(elf, "has no sections");
	if (nr > UINT32_MAX - 2 ||
	    !in_object(elf, ehdr->e_shoff, nr * sizeof(Elf64_Shdr)))
		return refuse(elf, "has section headers beyond its end");
	elf->nr_sections = nr;
	return true;
}

/**
 * is_string_table - is any offset into the section that of a string?
 * @elf: the object; its section headers have been checked
 * @section: the section
 *
 * Context: any.
 * Return: whether the section is a string table that ends with 0.
 */
bool is_string_table(const struct elf *elf, u32 section)
{
	const Elf64_Shdr *shdr = &elf->sections[section];

	return shdr->sh_type == SHT_STRTAB && shdr->sh_size &&
	       !elf->bytes[shdr->sh_offset + shdr->sh_size - 1];
}

static bool read_section_names(struct elf *elf)
{
	u32 names = elf->ehdr.e_shstrndx, i;

	if (names == SHN_XINDEX)
		names = elf->sections[0].sh_link;
	if (!names || names >= elf->nr_sections)
		return refuse(elf, "has no section with section names");
	if (!is_string_table(elf, names))
		return refuse_section(elf, names,
				      "holds the section names, but is not a string table that ends with 0");
	if (elf->sections[names].sh_size > UINT32_MAX - sizeof(TABLE_RELA_NAME))
		return refuse_section(elf, names, "has no room for more names");
	elf->names = names;

	for (i = 0; i < elf->nr_sections; i++) {
		if (elf->sections[i].sh_name >= elf->sections[names].sh_size)
			return refuse_section(elf, i,
					      "its name is beyond the section names");
		if (same_name(section_name(elf, i), TABLE_NAME))
			elf->has_table = true;
	}
	return true;
}

static bool read_sections(struct elf *elf)
{
	const Elf64_Shdr *shdr;
	u32 i;

	elf->sections = calloc(elf->nr_sections, sizeof(*elf->sections));
	elf->section_symbols = calloc(elf->nr_sections,
				      sizeof(*elf->section_symbols));
	elf->has_sites = calloc(elf->nr_sections, sizeof(*elf->has_sites));
	if (!elf->sections || !elf->section_symbols || !elf->has_sites)
		return no_memory(elf);

	memcpy(elf->sections, elf->bytes + elf->ehdr.e_shoff,
	       elf->nr_sections * sizeof(*elf->sections));
	for (i = 0; i < elf->nr_sections; i++)
		convert_section(elf, &elf->sections[i]);

	if (elf->sections[0].sh_type != SHT_NULL)
		return refuse_section(elf, 0, "is not empty");
	for (i = 1; i < elf->nr_sections; i++) {
		shdr = &elf->sections[i];
		if (has_bytes(shdr) &&
		    !in_object(elf, shdr->sh_offset, shdr->sh_size))
			return refuse_section(elf, i,
					      "reaches beyond the end of the object");
	}
	return read_section_names(elf);
}

/* Bytes of the object and the section that they belong to. */
struct range {
	u64 begin;
	u64 end;
	u32 section;
};

static int compare_ranges(const void *_a, const void *_b)
{
	const struct range *a = _a, *b = _b;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* The first of the ranges that does not lie wholly after the one before it. */
static size_t find_overlap(const struct range *ranges, size_t nr)
{
	size_t at;

	for (at = 1; at < nr && ranges[at - 1].end <= ranges[at].begin; at++)
		;
	return at;
}

static struct range range_of(const struct elf *elf, u32 section)
{
	const Elf64_Shdr *shdr = &elf->sections[section];

	return (struct range){
		shdr->sh_offset, shdr->sh_offset + shdr->sh_size, section,
	};
}

/*
 * All that has a place in the object, in the order in which assemblers put it
 * there: relocations after the other sections, and section names after those.
 * @ranges has room for three more than there are sections; @rest for as many.
 */
static size_t list_ranges(const struct elf *elf, struct range *ranges,
			  struct range *rest)
{
	u64 shdrs = (u64)elf->nr_sections * sizeof(Elf64_Shdr);
	size_t nr = 0, nr_rest = 0;
	const Elf64_Shdr *shdr;
	u32 i;

	ranges[nr++] = (struct range){ 0, sizeof(Elf64_Ehdr), 0 };
	for (i = 1; i < elf->nr_sections; i++) {
		shdr = &elf->sections[i];
		if (!has_bytes(shdr) || i == elf->names)
			continue;
		if (is_relocations(shdr))
			rest[nr_rest++] = range_of(elf, i);
		else
			ranges[nr++] = range_of(elf, i);
	}
	memcpy(&ranges[nr], rest, nr_rest * sizeof(*rest));
	nr += nr_rest;
	ranges[nr++] = range_of(elf, elf->names);
	ranges[nr++] = (struct range){
		elf->ehdr.e_shoff, elf->ehdr.e_shoff + shdrs, 0,
	};
	return nr;
}

/*
 * What is changed for the sake of one section must not be a part of another one,
 * nor of the headers.
 */
static bool check_overlaps(struct elf *elf)
{
	size_t room = (size_t)elf->nr_sections + 3, nr, at;
	struct range *ranges;
	u32 a = 0, b = 0;

	ranges = malloc(2 * room * sizeof(*ranges));
	if (!ranges)
		return no_memory(elf);
	nr = list_ranges(elf, ranges, ranges + room);
	at = find_overlap(ranges, nr);
	if (at < nr) {
		/* Or they are just not in that order. */
		qsort(ranges, nr, sizeof(*ranges), compare_ranges);
		at = find_overlap(ranges, nr);
	}
	if (at < nr) {
		a = ranges[at].section;
		b = ranges[at - 1].section;
	}
	free(ranges);
	if (at == nr)
		return true;
	if (a && b)
		return refuse_section(elf, a, "overlaps section %u (%.80s)", b,
				      section_name(elf, b));
	if (a || b)
		return refuse_section(elf, a ? a : b, "overlaps the headers");
	return refuse(elf, "has section headers in its ELF header");
}

/**
 * read_elf - check the header and the sections of an object
 * @elf: the object; all but its @bytes, @size and @report is 0
 *
 * Afterwards all section headers are known, each section is inside the object,
 * and none of them overlaps another one or the headers.
 *
 * Context: first of all. free_elf() is called even when it fails.
 * Return: false if the object is refused.
 */
bool read_elf(struct elf *elf)
{
	return read_header(elf) && read_sections(elf) && check_overlaps(elf);
}

/**
 * free_elf - free what is known of an object
 * @elf: the object; its bytes stay
 *
 * Context: any, and after it nobody uses @elf any more.
 */
void free_elf(struct elf *elf)
{
	free(elf->sections);
	free(elf->section_symbols);
	free(elf->has_sites);
	free(elf->is_target);
	free(elf->sites);
}
