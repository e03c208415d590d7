#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of scripts/recordmcount.  Prints TAP.

usage: test.py [PATTERN]

Only the tests whose name holds PATTERN are run.  What gcc records of a source
with -mrecord-mcount is what recordmcount is to record of the same source
compiled without it.  Environment:

  BUILD         where kernels are built (default: build); the objects of the
                kernel "recorder" in it are tested if they are there
  OBJECTS       how many of them (default: 20; a second each)
  FUZZ_SECONDS  how long to fuzz (default: 20)
"""

import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[4]
SCRIPTS = TOP / "scripts"
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build")).resolve()
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wmissing-prototypes",
            "-Wstrict-prototypes", "-Werror", "-std=gnu11", "-O2"]
SOURCES = [str(SCRIPTS / f"recordmcount{part}.c") for part in ("", "-elf", "-calls", "-table")]
PG = ["-O2", "-pg", "-mfentry", "-fno-PIE", "-mcmodel=kernel"]
NO_UNWIND = ["-fno-asynchronous-unwind-tables", "-fno-exceptions"]
KERNEL = PG + NO_UNWIND + [
    "-fcf-protection=branch", "-fpatchable-function-entry=16,16",
    "-falign-functions=16", "-mfunction-return=thunk-extern"]

# --- TAP

results = {True: 0, False: 0}
pattern = sys.argv[1] if len(sys.argv) > 1 else ""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failed(" ".join(str(w) for w in what))


def equal(got, want, what):
    expect(got == want, f"{what}: {str(got)[:300]} is not {str(want)[:300]}")


tests = []


def test(name, *args):
    """Note a function as a test; NAME may be filled in from ARGS."""
    def note(function):
        tests.append((name.format(*args), function, args))
        return function
    return note


def run_tests(program):
    for name, function, args in tests:
        if pattern not in name:
            continue
        n = sum(results.values()) + 1
        with tempfile.TemporaryDirectory(dir=program.work) as work:
            # Tests of permissions run as somebody else.
            os.chmod(work, 0o755)
            program.dir = pathlib.Path(work)
            try:
                function(program, *args)
                print(f"ok {n} - {name}")
                results[True] += 1
            except Skipped as e:
                print(f"ok {n} - {name} # SKIP {e}")
                results[True] += 1
            except (Failed, OSError, subprocess.SubprocessError,
                    struct.error, LookupError, ValueError) as e:
                print(f"not ok {n} - {name}")
                print(f"# {type(e).__name__}: {e}".replace("\n", "\n# "))
                results[False] += 1
        sys.stdout.flush()

# --- Objects

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


def run(command, **options):
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace",
                          check=False, **options)


def good(command, **options):
    done = run(command, **options)
    expect(done.returncode == 0, shlex.join(map(str, command)), "ended with",
           done.returncode, done.stderr[-2000:])
    return done


def snapshot(directory):
    """All that a test may change in a directory: names, modes, times, bytes."""
    found = {}
    for entry in sorted(os.scandir(directory), key=lambda e: e.name):
        st = entry.stat(follow_symlinks=False)
        data = pathlib.Path(entry.path).read_bytes() \
            if entry.is_file(follow_symlinks=False) else None
        found[entry.name] = (st.st_mode, st.st_mtime_ns, st.st_ino, data)
    return found


class Program:
    def __init__(self, work):
        self.work = work
        self.dir = work
        self.plain = work / "recordmcount"
        self.checked = work / "recordmcount-checked"
        self.cache = {}

    def compile(self, source, flags=(), name="test.o", language="c", cc="gcc"):
        """Compile into the directory of this test; the same only once."""
        key = (source, tuple(flags), language, cc)
        path = self.dir / name
        if key not in self.cache:
            done = subprocess.run([cc, "-x", language, *flags, "-w", "-c", "-o",
                                   str(path), "-"], input=source, text=True,
                                  capture_output=True, check=False)
            expect(done.returncode == 0, cc, done.stderr[-2000:])
            self.cache[key] = path.read_bytes()
        path.write_bytes(self.cache[key])
        return path

    def record(self, *args, checked=True, **options):
        """Run it.  The build with sanitizers ends with 99 if they find fault."""
        env = dict(os.environ, ASAN_OPTIONS="exitcode=99",
                   UBSAN_OPTIONS="halt_on_error=1:exitcode=99")
        return run([self.checked if checked else self.plain, *args], env=env,
                   **options)

    def adds(self, path, **options):
        """It adds a table, says nothing, leaves nothing else behind."""
        before = snapshot(path.parent)
        done = self.record(path, **options)
        equal((done.returncode, done.stderr, done.stdout), (0, "", ""),
              f"recordmcount {path.name}")
        after = snapshot(path.parent)
        equal(list(after), list(before), "files in the directory")
        equal(after[path.name][0], before[path.name][0], "mode")
        return Elf(path)

    def leaves(self, path, *args, **options):
        """It leaves the file as it is, with success."""
        before = snapshot(path.parent)
        done = self.record(*args, path, **options)
        equal(done.returncode, 0, f"status; {done.stderr}")
        expect(snapshot(path.parent) == before, "the file or something beside it changed")
        return done.stderr

    def refuses(self, path, pattern, **options):
        """It says why in one line, and leaves everything as it is."""
        before = snapshot(self.dir)
        done = self.record(path, **options)
        equal(done.returncode, 1, f"status; {done.stderr[-1500:]}")
        equal(done.stdout, "", "stdout")
        lines = done.stderr.splitlines()
        equal(len(lines), 1, f"lines of complaint: {lines}")
        start = f"recordmcount: {path}: "
        expect(lines[0].startswith(start), lines[0], "does not begin with", start)
        expect(re.search(pattern, lines[0][len(start):]), lines[0],
               "does not match", pattern)
        expect(snapshot(self.dir) == before, "the file or something beside it changed")


def patch(data, at, layout, value):
    data = bytearray(data)
    struct.pack_into(layout, data, at, value)
    return bytes(data)

# --- How it is built


@test("{0} compiles it without a warning", "gcc")
@test("{0} compiles it without a warning", "clang")
def build(p, cc):
    if not shutil.which(cc):
        raise Skipped(f"no {cc}")
    good([cc, *WARNINGS, "-o", p.dir / "out", *SOURCES])

# --- The same as gcc


FUNCTIONS = """
int x;
static int __attribute__((noinline)) hidden(int a) { asm volatile(""); return a * x; }
int __attribute__((weak)) weak(int a) { return a + x; }
int __attribute__((weak)) twin_of_weak(int a);
int normal(int a) { return hidden(a) + weak(a); }
int __attribute__((no_instrument_function)) untraced(int a) { return a; }
extern int alias(int) __attribute__((alias("normal")));
extern int weak_alias(int) __attribute__((weak, alias("normal")));
int __attribute__((section(".init.text"))) init(int a) { return a + 1; }
int __attribute__((section(".exit.text"))) leave(int a) { return a + 2; }
int __attribute__((section(".text.mine"))) mine(int a) { return a + 3; }
int __attribute__((section(".noinstr.text"), no_instrument_function)) quiet(int a) { return a; }
int __attribute__((cold)) cold(int a) { return a + 4; }
int switches(int a)
{
	switch (a) {
	case 1: return normal(2);
	case 2: return init(3);
	case 3: return cold(4);
	case 4: return leave(5);
	case 5: return mine(6);
	}
	return untraced(7);
}
int (*table[])(int) = { normal, weak, untraced };
"""
WEAK_ONLY = """
int __attribute__((weak)) one(int a) { return a; }
int __attribute__((weak, section(".init.text"))) two(int a) { return a + 1; }
int three(int a);
int __attribute__((weak)) four(int a) { return three(a) + one(a) + two(a); }
"""
TEMPLATES = """
inline int __attribute__((noinline)) shared(int a) { asm volatile(""); return a; }
template<class T> T __attribute__((noinline)) same(T a) { asm volatile(""); return a; }
int user(int a) { return shared(a) + same(a) + (int)same(2.5); }
"""
SAME = {
    "functions of all kinds": ("c", FUNCTIONS),
    "nothing but weak functions": ("c", WEAK_ONLY),
    "functions shared between objects": ("c++", TEMPLATES),
    "one static function":
        ("c", "static int __attribute__((used)) f(int a) { return a; }"),
}
FLAGS = {
    "as the kernel": KERNEL,
    "with debug information": KERNEL + ["-g"],
    "plain": PG + NO_UNWIND,
    "with unwind tables": PG,
    "with a section each": PG + NO_UNWIND + ["-ffunction-sections"],
    "unoptimized": ["-O0", *PG[1:], *NO_UNWIND],
    "by mcount": ["-O2", "-pg", "-mno-fentry", "-fno-PIE", *NO_UNWIND],
}


def same_as_gcc(p, what, how):
    language, source = SAME[what]
    want = Elf(p.compile(source, [*FLAGS[how], "-mrecord-mcount"], "want.o", language))
    path = p.compile(source, FLAGS[how], "got.o", language)
    check_added(p, path, want)


def check_added(p, path, want, checked=True):
    """Add the table; all else is as it was, and the table as WANT has it."""
    old = Elf(path)
    sections_before = good(["objdump", "-r", path]).stdout
    if not want.sites():
        p.leaves(path, checked=checked)
        return old
    new = p.adds(path, checked=checked)
    equal(new.sites(), want.sites(), "sites")

    table, theirs = new.named("__mcount_loc"), want.named("__mcount_loc")
    equal((table.type, table.flags, table.entsize),
          (theirs.type, theirs.flags, theirs.entsize), "the table's header")
    equal(table.align, 8, "its alignment")
    for _, _, symbol, _ in new.relocations(table):
        _, bind, kind, _, value = new.symbols[symbol]
        equal((bind, kind, value), (0, STT_SECTION, 0), "symbol of a site")

    # What was there is still there.
    equal(new.nr, old.nr + 2, "sections")
    grown = len(new.symbols) - len(old.symbols)
    for a, b in zip(old.sections[1:], new.sections[1:]):
        equal((b.name, b.type, b.flags, b.align, b.entsize),
              (a.name, a.type, a.flags, a.align, a.entsize), "a section")
        if a.index == old.names:
            expect(b.data.startswith(a.data), "section names are lost")
        elif not grown or a.type not in (SHT_SYMTAB, SHT_RELA, SHT_SHNDX):
            equal(b.data, a.data, f"content of {a.name}")
    locals_ = old.sections[old.named(".symtab").index].info
    equal(new.symbols[:locals_] + new.symbols[locals_ + grown:], old.symbols, "symbols")

    # The tools see nothing odd, and the same relocations.
    for tool in (["readelf", "-aW"], ["objdump", "-dr"]):
        done = good([*tool, path])
        expect(not re.search("(?i)warning|error", done.stderr), tool[0], done.stderr)
    blocks = re.split(r"(?m)^(?=RELOCATION RECORDS)", good(["objdump", "-r", path]).stdout)
    equal("".join(b for b in blocks if not b.startswith("RELOCATION RECORDS FOR [__mcount_loc]")).strip(),
          sections_before.strip(), "relocations")

    # Once more makes no difference.
    p.leaves(path, checked=checked)
    return new


for _what in SAME:
    for _how in FLAGS:
        test("{0}, {1}: the same sites as gcc", _what, _how)(same_as_gcc)


@test("what gcc recorded is left alone")
def recorded(p):
    p.leaves(p.compile(FUNCTIONS, [*KERNEL, "-mrecord-mcount"]))


@test("functions that are not traced are not in the table")
def untraced(p):
    new = p.adds(p.compile(FUNCTIONS, KERNEL))
    at = {name: (new.sections[s].name, value)
          for name, _, kind, s, value in new.symbols if kind == 2}
    # After endbr64 where there is one.
    starts = {(s, o - d) for s, o in new.sites() for d in (0, 4)}
    for name in ("untraced", "quiet"):
        expect(at[name] not in starts, name, "is in the table")
    for name in ("hidden", "weak", "normal", "init", "leave", "mine", "cold"):
        expect(at[name] in starts, name, "is not in the table")


@test("an object without functions is left alone")
def no_functions(p):
    equal(p.leaves(p.compile("int x = 3;", KERNEL)), "", "stderr")


@test("an object without traced functions is left alone")
def no_traced(p):
    p.leaves(p.compile("int f(void) { return 3; }", ["-O2"]))


@test("an object without symbols is left alone")
def no_symbols(p):
    path = p.compile("int x = 3;", ["-O2"])
    good(["strip", path])
    p.leaves(path)


@test("what clang makes")
def clang(p):
    if not shutil.which("clang"):
        raise Skipped("no clang")
    for flags in (PG, PG + NO_UNWIND, PG + NO_UNWIND + ["-ffunction-sections"]):
        for source in (FUNCTIONS, WEAK_ONLY):
            path = p.compile(source, flags, cc="clang")
            old = Elf(path)
            want = sorted(
                (s.name, offset - 1) for s in old.sections
                for offset, _, symbol, _ in old.relocations(s)
                if s.flags & 4 and old.symbols[symbol][0] == "__fentry__")
            expect(want, "no calls")
            equal(p.adds(path).sites(), want, "sites")
            done = good(["readelf", "-aW", path])
            expect("arning" not in done.stderr, done.stderr)
            p.leaves(path)

# --- Linking


def linked_table(p, objects, out):
    good(["ld", "-r", "-o", p.dir / "all.o", *objects])
    good(["ld", "-e", "0", "-Ttext=0x10000", "--defsym=__fentry__=0x10000",
          "--defsym=__x86_return_thunk=0x10000", "--defsym=three=0x10000",
          "-o", out, p.dir / "all.o"])
    done = good(["objcopy", "-O", "binary", "--only-section=__mcount_loc", out,
                 p.dir / "table"])
    equal(done.stderr, "", "objcopy")
    data = (p.dir / "table").read_bytes()
    return sorted(struct.unpack(f"<{len(data) // 8}Q", data))


@test("linked, the table is the one of gcc, {0}", "as the kernel")
@test("linked, the table is the one of gcc, {0}", "plain")
def linked(p, how):
    strong = "int one(int a) { return a + 7; } int two(int a) { return a + 8; }"
    tables = []
    for extra in (["-mrecord-mcount"], []):
        objects = [p.compile(s, FLAGS[how] + extra, f"{i}.o")
                   for i, s in enumerate((WEAK_ONLY, strong, FUNCTIONS))]
        if not extra:
            for o in objects:
                p.adds(o)
        tables.append(linked_table(p, objects, p.dir / "out"))
    equal(tables[1], tables[0], "addresses")
    # A weak function that lost has a call of its own; none is there twice.
    equal(len(set(tables[1])), len(tables[1]), "different addresses")
    calls = re.findall(r"(?m)^ *([0-9a-f]+):\te8 .*call", good(
        ["objdump", "-d", "-w", p.dir / "out"]).stdout)
    expect(set(tables[1]) <= {int(c, 16) for c in calls}, "an address is no call")

# --- What only looks like a call

LOOKALIKES = {
    "a jump": (".text", 'jmp __fentry__'),
    "a call by the GOT": (".text", 'call *__fentry__@GOTPCREL(%rip)'),
    "a call behind it": (".text", 'call __fentry__ + 8'),
    "its address in text": (".text", 'lea __fentry__(%rip), %rax'),
    "its address in data": (".data", '.quad __fentry__'),
    "its distance in data": (".data", '.byte 0xe8\n.long __fentry__ - . - 4'),
}


def lookalike(p, name):
    section, code = LOOKALIKES[name]
    path = p.compile(f"{section}\nnop\n{code}\n", language="assembler")
    equal(p.leaves(path), "", "stderr")
    said = p.leaves(path, "-w")
    expect(said.startswith(f"recordmcount: {path}: warning: section ") and
           f"({section}): 1 references to __fentry__ are ignored: " in said and
           said.count("\n") == 1, said)
    # Beside a call it is still none.
    path = p.compile(f"{section}\nnop\n{code}\n.text\n.balign 64\ncall __fentry__\n",
                     language="assembler")
    equal([offset % 64 for _, offset in p.adds(path).sites()], [0], "sites")


for _name in LOOKALIKES:
    test("{0} is not recorded", _name)(lookalike)


@test("a local function of that name is not recorded")
def local_name(p):
    path = p.compile(
        '.text\n.byte 0xe8\n.reloc ., R_X86_64_PLT32, mcount - 4\n.long 0\nmcount: ret\n',
        language="assembler")
    equal(p.leaves(path, "-w"), "", "stderr")


@test("calls at the very start and end of a section")
def edges(p):
    path = p.compile(".text\ncall __fentry__\n.section .text.b,\"ax\"\ncall mcount\n",
                     language="assembler")
    equal(p.adds(path).sites(), [(".text", 0), (".text.b", 0)], "sites")


@test("calls that their section does not hold are not recorded")
def outside(p):
    path = p.compile(".text\ncall __fentry__\n", language="assembler")
    elf = Elf(path)
    for offset in (0, 2, 5, 6, 1 << 63, (1 << 64) - 1):
        path.write_bytes(patch(elf.data, elf.named(".rela.text").offset, "<Q", offset))
        p.leaves(path, "-w")
    for field, value in (("size", 0), ("size", 4), ("type", SHT_NOBITS)):
        at, layout = SHDR_FIELDS[field]
        path.write_bytes(patch(elf.data, elf.header(".text") + at, layout, value))
        p.leaves(path, "-w")

# --- Many sections


def one_each(count, extra=0):
    return "".join(f'.section .text.{i},"ax",@progbits\ncall __fentry__\n'
                   for i in range(count)) + \
        "".join(f'.section .data.{i},"aw",@progbits\n.byte 1\n' for i in range(extra))


@test("more sections than the ELF header can count")
def many(p):
    path = p.compile(one_each(33000), language="assembler")
    old = Elf(path)
    expect(old.nr > 65280, old.nr, "sections are not many")
    new = p.adds(path, checked=False)
    equal(new.nr, old.nr + 2, "sections")
    equal(new.sites(), sorted((f".text.{i}", 0) for i in range(33000)), "sites")
    equal([s.data for s in new.sections if s.name.startswith(".text.")],
          [s.data for s in old.sections if s.name.startswith(".text.")], "text")
    done = good(["readelf", "-SrsW", path])
    expect("arning" not in done.stderr, done.stderr[:500])
    p.leaves(path, checked=False)


@test("the number of sections outgrows the ELF header")
def outgrow(p):
    without = Elf(p.compile(one_each(2), language="assembler")).nr
    for want in (65277, 65278, 65279):
        path = p.compile(one_each(2, want - without), language="assembler")
        equal(Elf(path).nr, want, "sections")
        new = p.adds(path, checked=False)
        equal(new.nr, want + 2, "sections then")
        equal(struct.unpack_from("<H", new.data, 60)[0],
              want + 2 if want + 2 < 65280 else 0, "e_shnum")
        equal(new.sites(), [(".text.0", 0), (".text.1", 0)], "sites")
        done = good(["readelf", "-hSrW", path])
        expect("arning" not in done.stderr, done.stderr[:500])
        p.leaves(path, checked=False)


@test("a symbol of a section beyond the reserved numbers, or of none")
def wide_symbols(p):
    source = one_each(2, 65400) + '.section .text.far,"ax"\ncall __fentry__\nl: .quad l\n'
    path = p.compile(source, language="assembler")
    elf = Elf(path)
    expect(elf.named(".text.far").index > 0xff00, "is not far")
    far = [i for i, s in enumerate(elf.symbols)
           if s[2] == STT_SECTION and s[3] == elf.named(".text.far").index]
    equal(len(far), 1, "symbols of the far section")
    new = p.adds(path, checked=False)
    equal(new.sites(), [(".text.0", 0), (".text.1", 0), (".text.far", 0)], "sites")

    path.write_bytes(patch(elf.data, elf.named(".symtab_shndx").offset + 4 * far[0],
                           "<I", elf.nr))
    p.refuses(path, r"section \d+ \(\.symtab\): symbol \d+ is that of no section")
    at, layout = SHDR_FIELDS["size"]
    path.write_bytes(patch(elf.data, elf.header(".symtab_shndx") + at, layout, 4))
    p.refuses(path, r"section \d+ \(\.symtab_shndx\): has 1 entries for \d+ symbols")

# --- Objects that are none


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
    "section headers behind the end":
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
    "a section behind the end":
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

# --- Files


@test("the mode is kept")
def mode(p):
    for bits in (0o600, 0o444, 0o751, 0o664, 0o4755):
        path = p.compile(FUNCTIONS, KERNEL)
        os.chmod(path, bits)
        p.adds(path)
        os.chmod(path, 0o600)


@test("what is left alone keeps its time")
def times(p):
    path = p.compile(FUNCTIONS, KERNEL)
    p.adds(path)
    os.utime(path, ns=(1, 1))
    p.leaves(path)
    equal(path.stat().st_mtime_ns, 1, "time")


@test("another name of the old file keeps it")
def hard_link(p):
    path = p.compile(FUNCTIONS, KERNEL)
    old = path.read_bytes()
    os.link(path, p.dir / "other.o")
    p.adds(path)
    expect((p.dir / "other.o").read_bytes() == old, "the other name changed")


@test("a symbolic link stays one")
def symbolic_link(p):
    (p.dir / "sub").mkdir()
    real = p.compile(FUNCTIONS, KERNEL, "sub/real.o")
    link = p.dir / "link.o"
    link.symlink_to("sub/real.o")
    equal(p.record(link).returncode, 0, "status")
    expect(link.is_symlink() and Elf(real).sites(), "the link was replaced")
    equal(sorted(os.listdir(p.dir / "sub")), ["real.o"], "files beside it")


@test("a file in the working directory")
def working_directory(p):
    p.compile(FUNCTIONS, KERNEL)
    equal(p.record("test.o", cwd=p.dir).returncode, 0, "status")
    equal(os.listdir(p.dir), ["test.o"], "files")
    expect(Elf(p.dir / "test.o").sites(), "no table")


@test("no file, a directory, a FIFO, an empty file, a dead link")
def no_object(p):
    p.refuses(p.dir / "nowhere.o", "No such file")
    (p.dir / "dir.o").mkdir()
    p.refuses(p.dir / "dir.o", "not a regular file")
    os.mkfifo(p.dir / "fifo.o")
    p.refuses(p.dir / "fifo.o", "not a regular file")
    (p.dir / "empty.o").touch()
    p.refuses(p.dir / "empty.o", "too short for an ELF object")
    (p.dir / "dead.o").symlink_to("nowhere.o")
    p.refuses(p.dir / "dead.o", "No such file")
    p.refuses(p.dir / "empty.o" / "file.o", "Not a directory")


def nobody():
    """How to run as somebody whom permissions hold."""
    return {"user": 65534, "group": 65534, "extra_groups": []} \
        if os.getuid() == 0 else {}


@test("a directory that may not be written to")
def read_only(p):
    path = p.compile(FUNCTIONS, KERNEL)
    os.chmod(p.dir, 0o555)
    try:
        p.refuses(path, "cannot make a file beside it: Permission denied",
                  checked=False, **nobody())
    finally:
        os.chmod(p.dir, 0o755)


@test("a file that may not be read")
def unreadable(p):
    path = p.compile(FUNCTIONS, KERNEL)
    os.chmod(path, 0)
    before = path.stat()
    done = p.record(path, checked=False, **nobody())
    os.chmod(path, 0o600)
    equal(done.returncode, 1, "status")
    expect("cannot be opened: Permission denied" in done.stderr, done.stderr)
    equal((path.stat().st_mtime_ns, path.stat().st_ino),
          (before.st_mtime_ns, before.st_ino), "file")


def limit(which, value, ignored=None):
    def preexec():
        if ignored:
            signal.signal(ignored, signal.SIG_IGN)
        resource.setrlimit(which, (value, value))
    return preexec


@test("no room for the new file")
def no_room(p):
    path = p.compile(FUNCTIONS, KERNEL)
    p.refuses(path, "cannot write the file beside it: File too large", checked=False,
              restore_signals=False,
              preexec_fn=limit(resource.RLIMIT_FSIZE, 1000, signal.SIGXFSZ))


@test("killed while it writes")
def killed(p):
    path = p.compile(FUNCTIONS, KERNEL)
    before = snapshot(p.dir)
    done = p.record(path, checked=False,
                    preexec_fn=limit(resource.RLIMIT_FSIZE, 1000))
    equal(done.returncode, -signal.SIGXFSZ, "status")
    expect(snapshot(p.dir) == before, "something is left behind")


@test("more bytes than memory")
def no_memory(p):
    path = p.dir / "large.o"
    with open(path, "wb") as f:
        f.truncate(3 << 30)
    done = p.record(path, checked=False, preexec_fn=limit(resource.RLIMIT_AS, 1 << 30))
    equal(done.returncode, 1, "status")
    expect("cannot be mapped: Cannot allocate memory" in done.stderr, done.stderr)
    equal(os.listdir(p.dir), ["large.o"], "files")


@test("several files, one of them bad")
def several(p):
    one = p.compile(FUNCTIONS, KERNEL, "one.o")
    bad = p.dir / "bad.o"
    bad.write_text("no object")
    two = p.compile(WEAK_ONLY, PG, "two.o")
    done = p.record("-w", one, bad, two)
    equal(done.returncode, 1, "status")
    equal(done.stderr, f"recordmcount: {bad}: is too short for an ELF object\n", "stderr")
    expect(Elf(one).sites() and Elf(two).sites(), "a good one was left out")


@test("arguments")
def arguments(p):
    done = p.record("-h")
    equal((done.returncode, done.stderr), (0, ""), "-h")
    expect(done.stdout.startswith("usage: recordmcount "), done.stdout)
    for args in ([], ["-w"], ["-x", "file.o"]):
        done = p.record(*args)
        equal((done.returncode, done.stdout), (1, ""), args)
        expect("usage: recordmcount " in done.stderr, done.stderr)

# --- Objects of the kernel


def kernel_commands(kernel):
    """What is linked into the kernel and is traced: objects, how they are made."""
    found = []
    # There may be objects of another configuration, which are not in here.
    for name in good(["ar", "t", kernel / "vmlinux.a"]).stdout.split():
        obj = kernel / name
        path = obj.with_name(f".{obj.name}.cmd")
        first = path.open(errors="replace").readline() if path.exists() else ""
        command = first.partition(" := ")[2].split(" ; ")[0]
        if " -pg -mfentry " in command and command.rstrip().endswith(".c"):
            found.append((obj, command))
    return found


@test("objects of the kernel: the same sites as gcc")
def kernel_objects(p):
    kernel = BUILD / "recorder"
    if not (kernel / "vmlinux.a").exists():
        raise Skipped(f"no {kernel}")
    found = kernel_commands(kernel)
    expect(len(found) > 100, len(found), "sources in", kernel)
    wanted = min(int(os.environ.get("OBJECTS", "20")), len(found))
    sites = objects = 0
    for i in range(wanted):
        obj, command = found[i * len(found) // wanted]
        args = shlex.split(command)
        while not args[0].endswith("gcc"):
            args.pop(0)
        # Debug information makes no other code, but takes its time.
        args = [a for a in args if not a.startswith("-Wp,-MMD") and a != "-g"]
        args[args.index("-o") + 1] = str(p.dir / "want.o")
        good([*args, "-mrecord-mcount", "-w"], cwd=kernel)
        path = p.dir / "got.o"
        shutil.copy(obj, path)
        check_added(p, path, Elf(p.dir / "want.o"), checked=False)
        sites += len(Elf(path).sites())
        objects += 1
    expect(sites > objects, sites, "sites in", objects, "objects")
    print(f"# {objects} objects, {sites} sites")

# --- Fuzzing


@test("fuzzing finds nothing")
def fuzz(p):
    seconds = int(os.environ.get("FUZZ_SECONDS", "20"))
    if not shutil.which("clang"):
        raise Skipped("no clang")
    if not seconds:
        raise Skipped("FUZZ_SECONDS=0")
    good(["clang", "-g", "-O1", *WARNINGS[:-1], "-fsanitize=fuzzer,address,undefined",
          "-fno-sanitize-recover=all", "-I", SCRIPTS, "-o", p.dir / "fuzz",
          HERE / "fuzz.c", *SOURCES[1:]])
    corpus = p.dir / "corpus"
    corpus.mkdir()
    for n, (flags, source, language) in enumerate((
            (KERNEL, FUNCTIONS, "c"), (PG + NO_UNWIND, FUNCTIONS, "c"),
            (PG + NO_UNWIND, WEAK_ONLY, "c"), (PG + NO_UNWIND, TEMPLATES, "c++"),
            ([], ".text\ncall __fentry__\n", "assembler"))):
        p.compile(source, [*flags, "-fno-ident"], f"corpus/{n}.o", language)
    done = run([p.dir / "fuzz", f"-max_total_time={seconds}", "-max_len=8192",
                "-timeout=60", "-print_final_stats=1", f"-artifact_prefix={p.dir}/found-",
                corpus])
    if done.returncode:
        kept = pathlib.Path(tempfile.mkdtemp(prefix="recordmcount-fuzz-"))
        for path in p.dir.glob("found-*"):
            shutil.copy(path, kept)
        raise Failed(f"what it found is in {kept}\n{done.stderr[-3000:]}")
    runs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    cover = re.findall(r"cov: (\d+) ft: (\d+)", done.stderr)
    expect(runs and int(runs[1]) > 1000 and cover, done.stderr[-1000:])
    print(f"# {runs[1]} runs, {cover[-1][0]} edges, {cover[-1][1]} features")


def main():
    with tempfile.TemporaryDirectory(prefix="recordmcount-") as work:
        os.chmod(work, 0o755)
        program = Program(pathlib.Path(work))
        for out, flags in ((program.plain, []),
                           (program.checked, ["-g", "-fsanitize=address,undefined",
                                              "-fno-sanitize-recover=all"])):
            done = run(["gcc", "-O2", "-std=gnu11", *flags, "-o", out, *SOURCES])
            if done.returncode:
                print("not ok 1 - recordmcount can be built\n1..1")
                print(f"# {done.stderr}".replace("\n", "\n# "))
                return 1
        run_tests(program)
    print(f"1..{sum(results.values())}")
    return results[False] > 0 or not results[True]


sys.exit(main())
