#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""CPU time of the base's scripts/recordmcount and of our scripts/mcount_loc.

usage: bench.py [KERNEL]

The objects of KERNEL (default: recorder), which have no table yet, are copied for
each run.  The two programs take turns: one process for all objects, and then one for
each, as a build does.  Of a process that is over before the next tick of the timer
nobody knows how much of its time was user time, so those are told with the system's
time.  Then valgrind counts the instructions of one process for all objects, without
those that starting takes.  Needs build/base and build/KERNEL.
"""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "base/qemu"))
from places import missing  # pylint: disable=wrong-import-position

BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build")).resolve()
OURS = ["mcount_loc.c", "object.c", "calls.c", "table.c"]
# Ticks of the timer tell user's time from the system's: it takes many.
RUNS = 60
SINGLE_RUNS = 7


def compile_to(program, folder, sources):
    subprocess.run([os.environ.get("HOSTCC", "gcc"), "-O2", "-std=gnu11", "-w",
                    "-I", str(folder), "-o", str(program)]
                   + [str(folder / s) for s in sources], check=True)


def objects(kernel):
    """Paths of the kernel's single objects that call __fentry__."""
    found = []
    for path in sorted((BUILD / kernel).rglob("*.o")):
        # What the linker made of others has their calls once more.
        if path.name in ("vmlinux.o", "built-in.o") or path.with_suffix(".ko").exists():
            continue
        if not path.with_suffix(".c").exists() and not (
                BUILD / "linux" / path.relative_to(BUILD / kernel)).with_suffix(".c").exists():
            continue
        data = path.read_bytes()
        if data[:4] == b"\x7fELF" and b"__fentry__" in data and b"__mcount_loc" not in data:
            found.append(path)
    return found


def copy(paths, folder):
    copies = []
    for n, path in enumerate(paths):
        copies.append(str(folder / f"{n}.o"))
        shutil.copyfile(path, copies[-1])
    return copies


def cpu_time(program, names):
    """Seconds of user's and of system's time that PROGRAM needs for the objects."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pid = os.posix_spawn(program, [program, *names], os.environ)
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"bench.py: {program} fails")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


def best_alone(programs, path, folder):
    """The same for one object, user's and system's time together, in the best run."""
    times = {who: [] for who in programs}
    for _ in range(SINGLE_RUNS):
        for who, program in programs.items():
            times[who].append(sum(cpu_time(program, copy([path], folder))))
    return {who: min(seconds) for who, seconds in times.items()}


def instructions(program, names):
    """How many PROGRAM executes for the objects at once."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           program] + names, capture_output=True, text=True, check=False)
    return int(re.search(r"refs: *([\d,]+)", done.stderr).group(1).replace(",", ""))


def main():
    kernel = sys.argv[1] if len(sys.argv) > 1 else "recorder"
    paths = objects(kernel)
    if not paths:
        sys.exit("bench.py: " + missing(f"objects in build/{kernel}", "the benchmark",
                                        f"run base/build.sh {kernel}"))
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        programs = {"base": str(tmp / "base"), "ours": str(tmp / "ours")}
        compile_to(programs["base"], BUILD / "base" / "scripts", ["recordmcount.c"])
        compile_to(programs["ours"], TOP / "scripts" / "mcount_loc", OURS)
        user, system, single = ({who: 0 for who in programs} for _ in range(3))
        for _ in range(RUNS):
            for who, program in programs.items():
                done = cpu_time(program, copy(paths, tmp))
                user[who] += done[0]
                system[who] += done[1]
        for path in paths:
            for who, seconds in best_alone(programs, path, tmp).items():
                single[who] += seconds
        print(f"{len(paths)} objects of build/{kernel}, means of {RUNS} runs, "
              f"best of {SINGLE_RUNS}:")
        for who, program in programs.items():
            count = instructions(program, copy(paths, tmp)) - instructions(program, ["/"])
            print(f"  {who}  all at once: user {user[who] / RUNS * 1000:.1f} ms, "
                  f"system {system[who] / RUNS * 1000:.0f} ms; "
                  f"one by one: {single[who] * 1000:.0f} ms; "
                  f"{count / len(paths) / 1000:.1f} k instructions for an object")


if __name__ == "__main__":
    main()
