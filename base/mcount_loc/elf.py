# SPDX-License-Identifier: GPL-2.0
"""Objects as we read them, on our own, and how to change them."""

import pathlib
import struct

from tap import equal, expect

EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
SHDR = struct.Struct("<IIQQQQIIQQ")
SYM = struct.Struct("<IBBHQQ")
RELA = struct.Struct("<QQq")
EHDR_FIELDS = {"e_type": (16, "<H"), "e_machine": (18, "<H"),
               "e_version": (20, "<I"), "e_shoff": (40, "<Q"),
               "e_ehsize": (52, "<H"), "e_shentsize": (58, "<H"),
               "e_shnum": (60, "<H"), "e_shstrndx": (62, "<H")}
SHDR_FIELDS = {"name": (0, "<I"), "type": (4, "<I"), "flags": (8, "<Q"),
               "offset": (24, "<Q"), "size": (32, "<Q"), "link": (40, "<I"),
               "info": (44, "<I"), "align": (48, "<Q"), "entsize": (56, "<Q")}
RELOCATIONS = {"R_X86_64_64": 1}
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_GROUP, SHT_SHNDX = 2, 4, 8, 9, 17, 18
STT_SECTION = 3


class Section:
    def __init__(self, elf, index, header):
        (self.name_at, self.type, self.flags, _, self.offset, self.size,
         self.link, self.info, self.align, self.entsize) = header
        self.index = index
        held = self.type not in (0, SHT_NOBITS)
        self.data = elf.data[self.offset:self.offset + self.size] if held else b""
        self.name = ""


def string(data, at):
    return data[at:data.index(b"\0", at)].decode()


class Elf:
    """An object as we read it, on our own."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        ehdr = EHDR.unpack_from(self.data)
        self.shoff, nr, names = ehdr[6], ehdr[12], ehdr[13]
        first = SHDR.unpack_from(self.data, self.shoff)
        self.nr = nr or first[5]
        self.names = first[6] if names == 0xffff else names
        self.sections = [
            Section(self, i, SHDR.unpack_from(self.data, self.shoff + i * SHDR.size))
            for i in range(self.nr)]
        for s in self.sections:
            s.name = string(self.sections[self.names].data, s.name_at)
        self.symbols = []
        tables = [s for s in self.sections if s.type == SHT_SYMTAB]
        wide = [s for s in self.sections if s.type == SHT_SHNDX]
        for i, (name, info, _, shndx, value, _) in enumerate(
                SYM.iter_unpack(tables[0].data) if tables else ()):
            if shndx == 0xffff:
                shndx = struct.unpack_from("<I", wide[0].data, 4 * i)[0]
            name = string(self.sections[tables[0].link].data, name)
            self.symbols.append((name, info >> 4, info & 15, shndx, value))

    def named(self, name):
        found = [s for s in self.sections if s.name == name]
        expect(len(found) == 1, f"{len(found)} sections {name}")
        return found[0]

    def header(self, section):
        return self.shoff + self.named(section).index * SHDR.size

    def relocations(self, section):
        """Of a section: offset, type, symbol, addend."""
        for s in self.sections:
            if s.type == SHT_RELA and s.info == section.index:
                for offset, info, addend in RELA.iter_unpack(s.data):
                    yield offset, info & 0xffffffff, info >> 32, addend

    def sites(self):
        """What the table names: section and offset, in order of both."""
        if not any(s.name == "__mcount_loc" for s in self.sections):
            return []
        table = self.named("__mcount_loc")
        found = []
        for n, (offset, kind, symbol, addend) in enumerate(self.relocations(table)):
            _, _, _, section, value = self.symbols[symbol]
            equal(kind, RELOCATIONS["R_X86_64_64"], "type of relocation")
            equal(offset, 8 * n, "place in the table")
            found.append((self.sections[section].name, section, value + addend))
        equal(table.size, 8 * len(found), "size of the table")
        return sorted((name, offset) for name, _, offset in found)


def patch(data, at, layout, value):
    data = bytearray(data)
    struct.pack_into(layout, data, at, value)
    return bytes(data)
