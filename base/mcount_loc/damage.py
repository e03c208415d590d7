# SPDX-License-Identifier: GPL-2.0
"""Tests with objects that are none: each is refused, and says why."""

import re
import struct

from elf import (EHDR_FIELDS, RELA, SHDR, SHDR_FIELDS, SHT_GROUP, SHT_REL, SHT_SHNDX,
                 SHT_SYMTAB, STT_SECTION, Elf, patch)
from sources import FUNCTIONS, KERNEL, NO_UNWIND, PG, TEMPLATES, WEAK_ONLY
from tap import expect, test


def section_damage(section, field, value, says, blame=None):
    """A value, or what makes one of the object, in a section's header."""
    def damage(elf):
        at, layout = SHDR_FIELDS[field]
        new = value(elf) if callable(value) else value
        return patch(elf.data, elf.header(section) + at, layout, new)
    blame = re.escape(blame or section)
    return damage, rf"^section \d+ \({blame}\): .*{says}"


def header_damage(field, value, says):
    def damage(elf):
        at, layout = EHDR_FIELDS[field]
        new = value(elf) if callable(value) else value
        return patch(elf.data, at, layout, new)
    return damage, says


def bytes_damage(where, layout, value, says):
    def damage(elf):
        new = value(elf) if callable(value) else value
        return patch(elf.data, where(elf), layout, new)
    return damage, says


def of(section, field):
    return lambda elf: getattr(elf.named(section), field)


def end_of(section):
    return lambda elf: elf.named(section).offset + elf.named(section).size - 1


def extended_count(value):
    """The number of sections is in section 0, and is VALUE."""
    def damage(elf):
        data = patch(elf.data, 60, "<H", 0)
        return patch(data, elf.shoff + 32, "<Q", value)
    return damage


def without_addends(elf):
    s = elf.named(".rela.text")
    packed = b"".join(struct.pack("<QQ", o, i) for o, i, _ in RELA.iter_unpack(s.data))
    data = bytearray(elf.data)
    data[s.offset:s.offset + len(packed)] = packed
    for field, value in (("type", SHT_REL), ("size", len(packed)), ("entsize", 16)):
        at, layout = SHDR_FIELDS[field]
        data = patch(data, elf.header(".rela.text") + at, layout, value)
    return data


BEYOND = "reaches beyond the end"
HUGE = (1 << 64) - 8
DAMAGE = {
    "no ELF magic": bytes_damage(lambda e: 0, "<B", 0x7e, "not an ELF object"),
    "32 bits": bytes_damage(lambda e: 4, "<B", 1, "not of a machine we know .class 1"),
    "no class": bytes_damage(lambda e: 4, "<B", 0, "not of a machine we know"),
    "big-endian": bytes_damage(lambda e: 5, "<B", 2, "not of a machine we know .*data 2"),
    "no version": bytes_damage(lambda e: 6, "<B", 0, "ELF version"),
    "another version": header_damage("e_version", 2, "ELF version"),
    "another machine": header_damage("e_machine", 183, "not of a machine we know"),
    "no machine": header_damage("e_machine", 0, "not of a machine we know"),
    "an executable": header_damage("e_type", 2, "not relocatable .ELF type 2"),
    "a shared object": header_damage("e_type", 3, "not relocatable .ELF type 3"),
    "a small ELF header": header_damage("e_ehsize", 52, "ELF header of 52 bytes"),
    "no section headers": header_damage("e_shoff", 0, "no section headers"),
    "section headers beyond the end":
        header_damage("e_shoff", lambda e: len(e.data), "beyond its end"),
    "section headers at 2^64": header_damage("e_shoff", HUGE, "beyond its end"),
    "section headers in the ELF header":
        header_damage("e_shoff", 8, r"."),
    "section headers in a section": header_damage("e_shoff", of(".text", "offset"), "."),
    "small section headers": header_damage("e_shentsize", 40, "section headers of 40 bytes"),
    "large section headers": header_damage("e_shentsize", 65, "section headers of 65 bytes"),
    "one section too many": header_damage("e_shnum", lambda e: e.nr + 1, "beyond its end"),
    "65279 sections": header_damage("e_shnum", 65279, "beyond its end"),
    "65280 sections": header_damage("e_shnum", 65280, "reserved number of sections"),
    "65535 sections": header_damage("e_shnum", 65535, "reserved number of sections"),
    "no sections": (extended_count(0), "no sections"),
    "2^32 sections": (extended_count(1 << 32), "beyond its end"),
    "2^58 sections": (extended_count(1 << 58), "beyond its end"),
    "2^64 - 1 sections": (extended_count((1 << 64) - 1), "beyond its end"),
    "one section fewer":
        header_damage("e_shnum", lambda e: e.nr - 1, "no section with section names"),
    "a section 0": bytes_damage(lambda e: e.shoff + 4, "<I", 1, "section 0 .*is not empty"),
    "no section names": header_damage("e_shstrndx", 0, "no section with section names"),
    "section names in no section":
        header_damage("e_shstrndx", lambda e: e.nr, "no section with section names"),
    "section names by way of section 0":
        header_damage("e_shstrndx", 0xffff, "no section with section names"),
    "section names in text":
        header_damage("e_shstrndx", of(".text", "index"), "not a string table"),
    "section names without an end":
        bytes_damage(end_of(".shstrtab"), "<B", 65, "not a string table that ends with 0"),
    "no bytes of section names":
        section_damage(".shstrtab", "size", 0, "not a string table", "name not known"),
    "a section name beyond them":
        section_damage(".text", "name", of(".shstrtab", "size"), "beyond the section names",
                       "name not known"),
    "a section beyond the end":
        section_damage(".text", "offset", lambda e: len(e.data), BEYOND, "name not known"),
    "a section at 2^64":
        section_damage(".text", "offset", HUGE, BEYOND, "name not known"),
    "a section of 2^64 bytes":
        section_damage(".text", "size", HUGE, BEYOND, "name not known"),
    "a section that wraps":
        section_damage(".text", "size", lambda e: (1 << 64) - e.named(".text").offset, BEYOND,
                       "name not known"),
    "a section one byte too long":
        section_damage(".text", "size", lambda e: len(e.data) - e.named(".text").offset + 1,
                       BEYOND, "name not known"),
    "a section over another one":
        section_damage(".rela.text", "offset", of(".rela.init.text", "offset"),
                       r"overlaps section \d+ \(\.rela\.init\.text\)"),
    "a section into another one":
        section_damage(".symtab", "size", lambda e: e.named(".symtab").size + 24,
                       r"overlaps section \d+ \(\.symtab\)", ".strtab"),
    "a section over the ELF header": section_damage(".text", "offset", 0, "overlaps the headers"),
    "a section over the section headers":
        section_damage(".text", "offset", lambda e: e.shoff, "overlaps the headers"),
    "symbols of 0 bytes": section_damage(".symtab", "entsize", 0, "entries of 24 bytes"),
    "symbols of 16 bytes": section_damage(".symtab", "entsize", 16, "entries of 24 bytes"),
    "half a symbol":
        section_damage(".symtab", "size", lambda e: e.named(".symtab").size - 12,
                       "entries of 24 bytes"),
    "symbol names in text":
        section_damage(".symtab", "link", of(".text", "index"), "not a string table"),
    "symbol names in no section":
        section_damage(".symtab", "link", lambda e: e.nr, "not a string table"),
    "symbol names in section 0": section_damage(".symtab", "link", 0, "not a string table"),
    "symbol names without an end":
        bytes_damage(end_of(".strtab"), "<B", 65, r"\(\.symtab\): .*ends with 0"),
    "a symbol name beyond them":
        bytes_damage(lambda e: e.named(".symtab").offset + 24, "<I", of(".strtab", "size"),
                     r"\(\.symtab\): the name of symbol 1 is beyond"),
    "no local symbols": section_damage(".symtab", "info", 0, "has 0 local symbols"),
    "more local symbols than symbols":
        section_damage(".symtab", "info", lambda e: len(e.symbols) + 1, "local symbols of"),
    "2^32 local symbols": section_damage(".symtab", "info", 0xffffffff, "local symbols of"),
    "too many local symbols":
        section_damage(".symtab", "info", lambda e: len(e.symbols), "part"),
    "too few local symbols": section_damage(".symtab", "info", 1, "part"),
    "a second symbol table":
        section_damage(".data", "type", SHT_SYMTAB, "second symbol table", ".symtab"),
    "section numbers for no symbols":
        section_damage(".data", "type", SHT_SHNDX, "not the one of the symbol table"),
    "the symbol of no section":
        bytes_damage(lambda e: e.named(".symtab").offset + 24 * [
            i for i, s in enumerate(e.symbols) if s[2] == STT_SECTION][0] + 6,
            "<H", lambda e: e.nr, r"\(\.symtab\): symbol \d+ is that of no section"),
    "the symbol of a reserved section":
        bytes_damage(lambda e: e.named(".symtab").offset + 24 * [
            i for i, s in enumerate(e.symbols) if s[2] == STT_SECTION][0] + 6,
            "<H", 0xffff, r"\(\.symtab\): symbol \d+ is that of no section"),
    "relocations of 0 bytes":
        section_damage(".rela.text", "entsize", 0, "entries of 24 bytes"),
    "relocations of 16 bytes":
        section_damage(".rela.text", "entsize", 16, "entries of 24 bytes"),
    "half a relocation":
        section_damage(".rela.text", "size", lambda e: e.named(".rela.text").size - 12,
                       "entries of 24 bytes"),
    "relocations by no symbols":
        section_damage(".rela.text", "link", 0, "not the symbol table"),
    "relocations by strange symbols":
        section_damage(".rela.text", "link", 0xffffffff, "not the symbol table"),
    "relocations by text":
        section_damage(".rela.text", "link", of(".text", "index"), "not the symbol table"),
    "relocations of nothing": section_damage(".rela.text", "info", 0, "which cannot be"),
    "relocations of no section":
        section_damage(".rela.text", "info", lambda e: e.nr, "which cannot be"),
    "relocations of 2^32 - 1":
        section_damage(".rela.text", "info", 0xffffffff, "which cannot be"),
    "relocations of themselves":
        section_damage(".rela.text", "info", of(".rela.text", "index"), "which cannot be"),
    "a relocation by no symbol":
        bytes_damage(lambda e: e.named(".rela.text").offset + 12, "<I",
                     lambda e: len(e.symbols), r"\(\.rela\.text\): relocation 0 refers to symbol"),
    "relocations without addends":
        (without_addends, r"\(\.rela\.text\): .*no addends"),
}
# Where symbols get new numbers, more has to be looked at.
RENUMBERED = {
    "an unknown user of the symbols":
        (WEAK_ONLY, "c", *section_damage(".data", "link", of(".symtab", "index"),
                                         "in a way we do not know")),
    "a group by no symbol":
        (TEMPLATES, "c++", *bytes_damage(lambda e: [
            e.shoff + s.index * SHDR.size for s in e.sections if s.type == SHT_GROUP][0] + 44,
            "<I", 0xffffffff, r"^section \d+ \(\.group\): is named by symbol 4294967295 of")),
}


def refused(p, name):
    if name in RENUMBERED:
        source, language, damage, says = RENUMBERED[name]
        path = p.compile(source, PG + NO_UNWIND, language=language)
    else:
        path, (damage, says) = p.compile(FUNCTIONS, KERNEL), DAMAGE[name]
    data = damage(Elf(path))
    expect(data != path.read_bytes(), "not damaged")
    path.write_bytes(data)
    p.refuses(path, says)


for _name in [*DAMAGE, *RENUMBERED]:
    test("refused: {0}", _name)(refused)


@test("refused: the object cut short anywhere")
def cut(p):
    path = p.compile(FUNCTIONS, KERNEL)
    elf = Elf(path)
    ends = {0, 1, 4, 15, 63, 64, 65, elf.shoff - 1, len(elf.data) - 1}
    ends |= {elf.shoff + i * SHDR.size for i in range(elf.nr)}
    for s in elf.sections[1:]:
        ends |= {s.offset - 1, s.offset, s.offset + 1, s.offset + s.size}
    for end in sorted(e for e in ends if e < len(elf.data)):
        path.write_bytes(elf.data[:end])
        p.refuses(path, "is too short for an ELF object" if end < 64 else "beyond its end")


@test("a hostile name does not reach the terminal")
def hostile(p):
    path = p.compile(FUNCTIONS, KERNEL)
    elf = Elf(path)
    at = elf.named(".shstrtab").offset + elf.named(".rela.text").name_at
    data = patch(elf.data, at, "<B", 0x1b)
    field, layout = SHDR_FIELDS["info"]
    path.write_bytes(patch(data, elf.header(".rela.text") + field, layout, 0))
    p.refuses(path, r"^section \d+ \(\?rela\.text\): ")


@test("section names that outnumber the message are cut")
def long_name(p):
    name = ".text." + "n" * 5000
    path = p.compile(f'.section {name},"ax"\ncall __fentry__\n', language="assembler")
    elf = Elf(path)
    field, layout = SHDR_FIELDS["info"]
    path.write_bytes(patch(elf.data, elf.header(".rela" + name) + field, layout, 0))
    p.refuses(path, r"^section \d+ \(\.rela\.text\.n{69}\): relocates section 0, which cannot be$")
