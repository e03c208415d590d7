# SPDX-License-Identifier: GPL-2.0
"""mcount_loc as the tests run it, and what it may and may not leave behind."""

import os
import pathlib
import re
import shlex
import subprocess

from elf import Elf
from tap import equal, expect


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
        self.plain = work / "mcount_loc"
        self.checked = work / "mcount_loc-checked"
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
              f"mcount_loc {path.name}")
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
        start = f"mcount_loc: {path}: "
        expect(lines[0].startswith(start), lines[0], "does not begin with", start)
        expect(re.search(pattern, lines[0][len(start):]), lines[0],
               "does not match", pattern)
        expect(snapshot(self.dir) == before, "the file or something beside it changed")
