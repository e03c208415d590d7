# SPDX-License-Identifier: GPL-2.0
"""Tests with files: names, modes, room for them, arguments."""

import os
import resource
import signal

from elf import Elf
from program import snapshot
from sources import FUNCTIONS, KERNEL, PG, WEAK_ONLY
from tap import equal, expect, test


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
    equal(done.stderr, f"mcount_loc: {bad}: is too short for an ELF object\n", "stderr")
    expect(Elf(one).sites() and Elf(two).sites(), "a good one was left out")


@test("arguments")
def arguments(p):
    done = p.record("-h")
    equal((done.returncode, done.stderr), (0, ""), "-h")
    expect(done.stdout.startswith("usage: mcount_loc "), done.stdout)
    for args in ([], ["-w"], ["-x", "file.o"]):
        done = p.record(*args)
        equal((done.returncode, done.stdout), (1, ""), args)
        expect("usage: mcount_loc " in done.stderr, done.stderr)
