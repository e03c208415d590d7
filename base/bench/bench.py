#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Instruction counts of the stock core and of ours, side by side.

The kernel "lists" has the stock core and our fixes of the rest, of which ours is to
take no credit; "stock", if it is named, is without them.  All boot the same program
(bench.c) on a QEMU that counts one instruction as one nanosecond, so the figures are the
same on every machine.  Exit status 1 when ours misses a limit.  The no-tracer kernel has
nothing to trace functions with: it tells what a boot takes anyway.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../qemu"))
from places import BUILD, TOP  # pylint: disable=wrong-import-position
from run import EMULATOR, FAILED  # pylint: disable=wrong-import-position

STOCK = "1.00 of stock"
HALF = "waits half"
STOCK_KERNELS = ("lists", "stock")
NO_TRACER = "no-tracer"
MORE_BOOTS = 4
MODULES = ["modules/lib/modules/*/kernel/samples/ftrace/ftrace-ops.ko",
           "modules/lib/modules/*/kernel/kernel/trace/ftrace/test/ftrace_test_ops.ko"]

# what, row of bench.c on our kernel with the recorder, or KERNEL: and the row on
# that kernel, if it runs; limit (instructions; a text: so much of stock, or so many
# more than the no-tracer kernel, or that it may wait no longer than it works; None:
# printed only)
ROWS = [
    ("echo function > current_tracer", "enable-all", 5e6),
    ("echo nop > current_tracer after it", "disable-all", 5e6),
    ("set_ftrace_filter: one exact name", "filter-exact", 0.5e6),
    ("set_ftrace_filter: *sched*", "filter-glob", 12e6),
    ("enabling with one function in the filter", "enable-one", 0.5e6),
    ("disabling it again", "disable-one", None),
    ("reading available_filter_functions", "read-available", 15e6),
    ("echo function_graph > current_tracer", "enable-graph", 6e6),
    ("echo nop > current_tracer after it", "disable-graph", 6e6),
    ("echo function right after boot", "first-on", STOCK),
    ("echo nop", "first-off", STOCK),
    ("what was put off, until it is quiet", "first-quiet", None),
    ("boot to init", "boot", STOCK),
    ("the same, with a table of call sites", "table:boot", "20 M over none"),
    ("the same, with no tracing of functions", NO_TRACER + ":boot", None),
    ("an untraced getppid()", "call-untraced", STOCK),
    ("one traced call, one tracer", "call-one", 330),
    ("the same, with its stack", "call-stack", 3000),
    ("the same, counted as repeated", "call-repeated", STOCK),
    ("the same, two tracers on that function", "call-2", 640),
    ("the same, ten", "call-10", 2900),
    ("a tracer that is not on it, of 1", "call-else-1", 0.5),
    ("a tracer that is not on it, of 8", "call-else-8", 0.5),
    ("a tracer that is not on it, of 64", "call-else-64", 0.5),
    ("one call graph-traced", "graph-call-one", 1000),
    ("the same, function-traced beside it", "graph-call-beside", 1300),
    ("compiling a small file", "compile", None),
    ("the same, all functions traced", "compile-traced", STOCK),
    ("64 instances made that trace a function each", "crowd-make", HALF),
    ("one filter written, 64 instances tracing", "crowd-filter", 0.5e6),
    ("one of them off", "crowd-disable", 0.5e6),
    ("and on again", "crowd-enable", 0.5e6),
    ("all of them removed", "crowd-remove", HALF),
    ("the profiler on, all functions", "profile-on", HALF),
    ("and off", "profile-off", HALF),
    ("a kprobe on a function: enabling it", "kprobe-on", 0.5e6),
    ("disabling it", "kprobe-off", 0.5e6),
    ("kprobe.multi on 1000 functions", "multi-on", 3e6),
    ("detaching it", "multi-off", 3e6),
    ("kprobe.multi on 4000 names", "names-on", STOCK),
    ("a BPF fentry: attaching it", "fentry-on", 0.5e6),
    ("detaching it", "fentry-off", None),
    ("attaching it beside 1000 others", "fentry-crowd-on", 0.12e6),
    ("detaching it", "fentry-crowd-off", None),
    ("a named tracer on a function, a call", "named-call-1", None),
    ("the same, 15 others elsewhere: more by", "named-call-16", 2),
    ("one filter of 16 named tracers written", "named-filter", 0.5e6),
    # A module's functions are no nops yet in the moment it is loaded.
    ("ftrace-ops, a call, no ops", "ops-0-0", None),
    ("1 ops on the function", "ops-1-0", None),
    ("2 ops", "ops-2-0", None),
    ("10 ops", "ops-10-0", None),
    ("100 ops", "ops-100-0", None),
    ("no ops, 1 on another function", "ops-0-1", None),
    ("2 on another", "ops-0-2", None),
    ("10 on another", "ops-0-10", None),
    ("100 on another", "ops-0-100", None),
    ("1 ops, 1 on another function", "ops-1-1", STOCK),
    ("2 on another", "ops-1-2", STOCK),
    ("10 on another", "ops-1-10", STOCK),
    ("100 on another", "ops-1-100", STOCK),
]


def build_init(path, *sources):
    subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-o", path,
                    *(os.path.join(HERE, name) for name in ("guest.c", *sources))],
                   check=True)


# How often a guest is booted whose emulator fails.
TRIES = 4


def is_of_emulator(which, status, options):
    """Did only the emulator fail?

    run.py does not say so of a breakpoint at a call site. The stock core has one in each,
    at some time, and QEMU with a thread for each CPU may run it when it is gone.
    """
    if status == EMULATOR:
        return True
    if status != FAILED or which not in STOCK_KERNELS or "icount" in options:
        return False
    if not os.path.exists(log_of(which)):
        return False
    with open(log_of(which), encoding="utf-8", errors="replace") as f:
        return re.search(r"^\[[ .0-9]+\] Oops: int3: ", f.read(), re.MULTILINE)


def log_of(which):
    return os.path.join(BUILD, "run", "bench-%s.log" % which)


def run_guest(which, init, *options):
    """Boot a kernel with a program of this folder: {row: [(number, waited)]}, {file: [lines]}."""
    for _ in range(TRIES):
        samples, files, status = boot_guest(which, init, *options)
        if not status or not is_of_emulator(which, status, options):
            break
        os.rename(log_of(which), log_of(which + "-emulator"))
        print("  ACQUITTED  %s: the emulator failed, see %s"
              % (which, log_of(which + "-emulator")), file=sys.stderr)
    if status:
        sys.exit("bench.py: the guest with the %s kernel failed" % which)
    return samples, files


def boot_guest(which, init, *options):
    """As run_guest(), but once, and with the status of run.py."""
    # That of an earlier boot must not be taken for it.
    with contextlib.suppress(FileNotFoundError):
        os.remove(log_of(which))
    run = [os.path.join(TOP, "base/qemu/run.py"),
           "--kernel", os.path.join(BUILD, which, "vmlinux"), "--mem", "1G", "--init", init,
           "--log", log_of(which), *options]
    for pattern in MODULES:
        for path in glob.glob(os.path.join(BUILD, which, pattern)):
            run += ["--file", path]
    samples, files = {}, {}
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as guest:
        for line in guest.stdout:
            words = line.split()
            if not words:
                continue
            if words[0] in ("total", "stats"):
                files.setdefault(words[0], []).append(line.split(" ", 1)[1].strip())
            elif words[0] == "error:":
                sys.exit("bench.py: %s: %s" % (which, line.strip()))
            else:
                waited = float(words[2]) if len(words) > 2 else None
                samples.setdefault(words[0], []).append((float(words[1]), waited))
                if sys.stderr.isatty():
                    print("  BENCH    %s: %-40s" % (which, words[0]), end="\r", file=sys.stderr)
    return samples, files, guest.returncode


def build_compiler(folder):
    """Options for run_guest(): what compile.c needs, a small file as the preprocessor leaves it."""
    small = folder + "/small.i"
    subprocess.run(["gcc", "-E", "-o", small, HERE + "/guest.c"], check=True)
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout.strip()
    libraries = subprocess.run(["ldd", cc1], check=True, text=True, stdout=subprocess.PIPE).stdout
    paths = [word for word in libraries.split() if word.startswith("/")]
    return [word for path in (small, cc1, *paths) for word in ("--file", path)]


def measure(which, init, compiler):
    """The same, with more boots: one more or less tick of a timer changes what it takes."""
    options = ("--accel", "icount", "--cpus", "2")
    samples, files = run_guest(which, init, *options)
    for _ in range(MORE_BOOTS):
        more, _ = run_guest(which, init, *options, "--append", "only_boot=1")
        samples["boot"] += more["boot"]
    # In a boot of its own: a large initramfs makes a boot longer.
    if which != NO_TRACER:
        more, _ = run_guest(which, init, *options, *compiler, "--append", "only_compile=1")
        samples.update({row: more[row] for row in more if row.startswith("compile")})
    return samples, files


def figure(samples, row):
    if row not in samples:
        return None
    return statistics.median(t for t, _ in samples[row])


def waited(samples, row):
    """What a row waited, in instructions that nobody ran; None where it is not measured."""
    waits = [w for _, w in samples.get(row, []) if w is not None]
    return statistics.median(waits) if waits else None


def text(n):
    if n is None:
        return "not built"
    if abs(n) >= 1e9:
        return "%.3f G" % (n / 1e9)
    if abs(n) >= 1e5:
        return "%.2f M" % (n / 1e6)
    return "%.1f" % n if n % 1 else "%d" % n


def stats_of(files):
    """ftraced_stats as a dictionary."""
    return dict(line.split(": ", 1) for line in files.get("stats", []) if ": " in line)


def keep(name, figures):
    """Leave figures for report.py and plot.py."""
    os.makedirs(os.path.join(BUILD, "bench"), exist_ok=True)
    with open(os.path.join(BUILD, "bench", name + ".json"), "w", encoding="utf-8") as f:
        json.dump(figures, f, indent=1)


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--raw", action="store_true", help="print every sample too")
    p.add_argument("kernels", nargs="*", default=["lists", "recorder", "table", NO_TRACER])
    args = p.parse_args()

    got = {}
    with tempfile.TemporaryDirectory() as tmp:
        build_init(tmp + "/init", "bench.c", "bench_hooks.c", "compile.c", "sample.c",
                   "bpf.c")
        compiler = build_compiler(tmp)
        for which in args.kernels:
            got[which] = measure(which, tmp + "/init", compiler)
    if args.raw:
        for which, (samples, files) in got.items():
            for row, values in samples.items():
                print("#", which, row, *("%d(%d)" % v for v in values))
            for name, lines in files.items():
                for line in lines:
                    print("#", which, name, line)

    stock = next((got[which] for which in STOCK_KERNELS if which in got), ({}, {}))
    # All that is ours, by the names that ROWS has for it.
    figures = {row if which == "recorder" else which + ":" + row: values
               for which, (samples, _) in got.items() if which not in STOCK_KERNELS
               for row, values in samples.items()}
    missed, kept = 0, []
    form = "%-42s %12s %10s %12s %10s %8s %12s  %s"
    print(form % ("instructions", "stock", "waited", "ours", "waited", "ratio", "limit", ""))

    def most_of(limit, row, stocks):
        """What a limit allows; None: it cannot be told without a kernel that did not run."""
        if not isinstance(limit, str):
            return limit
        number = float(limit.split()[0])
        if limit.endswith(" M over none"):
            none = figure(figures, NO_TRACER + ":" + row)
            return none and none + number * 1e6
        return stocks and stocks * number

    def line(which, what, a, b, limit, row="", waits=(None, None)):
        nonlocal missed
        relative = isinstance(limit, str)
        if limit == HALF:
            judged, most = b and waits[1], b or 0
        else:
            judged, most = b, most_of(limit, row, a)
        ok = ""
        if most is not None and which in got:
            good = judged is not None and judged <= most
            missed += not good
            ok = "ok" if good else "MISSED"
        kept.append({"what": what, "stock": a, "ours": b})
        print(form % (what, text(a), text(waits[0]) if waits[0] else "", text(b),
                      text(waits[1]) if waits[1] else "",
                      "%.3f" % (b / a) if a and b is not None else "",
                      limit if relative else text(limit) if limit else "", ok))

    for what, row, limit in ROWS:
        which, _, plain = row.rpartition(":")
        if which and which not in got:
            continue
        line(which or "recorder", what, figure(stock[0], plain), figure(figures, row),
             limit, plain, (waited(stock[0], plain), waited(figures, row)))

    for name in ("recorder", "table"):
        if name not in got:
            continue
        stats = stats_of(got[name][1])
        size = stats.get("record_size")
        line(name, "bytes per call site, %s" % name, 16, size and float(size), 8)
        print("records: %s of %s bytes; longest stop: %s instructions"
              % (stats.get("records"), size, stats.get("longest_stop_ns")))
    # For the report of make run.
    keep("results", kept)
    keep("calls", {core: {row: figure(samples, row) for row in samples}
                   for core, samples in (("stock", stock[0]),
                                         ("ours", got.get("recorder", ({}, {}))[0]))})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
