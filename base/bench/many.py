#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What many functions, modules, words, probes and programs take.

Instructions of the kernel "lists" (the stock core with our fixes of the rest) and of
ours, as bench.py counts them, by the program many.c, and bytes of memory.  The functions
are those of modules made here.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../qemu"))
from places import BUILD  # pylint: disable=wrong-import-position
from bench import STOCK_KERNELS, build_init, figure, keep, run_guest, text, waited  # pylint: disable=wrong-import-position

STOCK, OURS = "lists", "recorder"
SMALL = 400
SIZES = (1000, 10000, 50000)
# Modules, and functions of each.
CROWDS = ("4x50000", "500x400")

# Seconds for one sample: loading a module takes the stock core billions.
PATIENCE = 1800

# Of rows, as many.c knows them.
GROUPS = ("fresh", "functions", "modules", "programs", "waiting", "kprobes", "words", "memory",
          "fentries")

# row of many.c, for each number of functions: what it is
SCALE = {
    "load": "loading the module, or the last",
    "unload": "unloading it, or the first",
    "list": "reading available_filter_functions",
    "one": "set_ftrace_filter: one exact name",
    "glob": "set_ftrace_filter: all of them by a glob",
    "on": "function on",
    "enabled": "reading enabled_functions",
    "off": "function off",
}

# row of many.c: what it is
ROWS = {
    "multi-on-1500": "kprobe.multi on 1500 addresses",
    "multi-off-1500": "detaching it",
    "multi-on-50000": "kprobe.multi on 50000 addresses",
    "multi-off-50000": "detaching it",
    "names-on-1500": "kprobe.multi on 1500 names",
    "names-on-50000": "kprobe.multi on 50000 names",
    "fresh-100": "100 names of functions that never ran",
    "fresh-1000": "1000 of them",
    "fresh-quiet": "what was put off, until it is quiet",
    "late-1000": "1000 words in one write that wait for a module",
    "late-10000": "10000 of them",
    "load-words-0": "loading a module of 400, no words waiting",
    "load-words-1": "the same, 1 word for another module",
    "load-words-1000": "1000 words",
    "load-instances-64": "64 instances, each with 1000 words",
    "kprobes-on-1000": "1000 kprobes enabled",
    "kprobes-off-1000": "and disabled",
    "fentry-host-on": "one more BPF fentry, beside 20000 and function",
    "fentry-host-off": "detaching it",
    "words-100": "100 words in one write",
    "words-10000": "10000 words in one write",
}

# row of many.c: what is in use, and for how many
MEMORY = {
    "loaded": ("a function of a module that was loaded, all of it", 50000),
    "traced": ("more, once a glob has it traced", 50000),
    "multi": ("an address that kprobe.multi was attached to", 50000),
    "late": ("a word that waits for a module", 10000),
}


def make_module(kernel, size):
    """A module of so many functions for a kernel: path of it."""
    folder = os.path.join(BUILD, kernel, "many", str(size))
    module = os.path.join(folder, "many_000.ko")
    if os.path.exists(module):
        return module
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "Kbuild"), "w", encoding="ascii") as f:
        print("obj-m := many_000.o\nccflags-y := -g0", file=f)
    with open(os.path.join(folder, "many_000.c"), "w", encoding="ascii") as f:
        print('#include <linux/module.h>\nMODULE_LICENSE("GPL");\n'
              '#define F(n) void many_000_f_##n(void); '
              'void many_000_f_##n(void) { asm volatile(""); }', file=f)
        for i in range(size):
            print("F(%06d)" % i, file=f)
    log = os.path.join(folder, "build.log")
    with open(log, "w", encoding="ascii") as f:
        done = subprocess.run(["make", "-C", os.path.join(BUILD, kernel), "M=" + folder,
                               "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"],
                              stdout=f, stderr=f, check=False)
    if done.returncode:
        sys.exit("many.py: no module of %d functions for %s: see %s" % (size, kernel, log))
    return module


def measure_fentries(kernel, init):
    """Of ours only: the stock core takes five million instructions for each."""
    build_init(init, "bench.c", "bench_hooks.c", "compile.c", "sample.c", "bpf.c")
    samples, _ = run_guest(kernel, init, "--accel", "icount", "--cpus", "2", "--mem", "6G",
                           "--silence", str(PATIENCE), "--limit", str(4 * PATIENCE),
                           "--append", "only_fentries=1")
    return samples


def measure(kernel, init, tmp, only):
    options = ["--accel", "icount", "--cpus", "2", "--mem", "6G",
               "--silence", str(PATIENCE), "--limit", str(4 * PATIENCE)]
    # Only that group needs the large ones, which take minutes to build.
    sizes = (SMALL, *SIZES) if only in (None, "functions") else (SMALL,)
    for size in sizes:
        path = os.path.join(tmp, "many_%d.ko" % size)
        os.symlink(make_module(kernel, size), path)
        options += ["--file", path]
    if only:
        options += ["--append", "only=" + only]
    samples = {}
    if only != "fentries":
        samples, _ = run_guest(kernel, init, *options)
    if only in (None, "fentries") and kernel not in STOCK_KERNELS:
        samples.update(measure_fentries(kernel, tmp + "/fentries"))
    for size in sizes:
        os.unlink(os.path.join(tmp, "many_%d.ko" % size))
    return samples


def figures_of(samples):
    """{row: (instructions, waited)}"""
    return {row: (figure(samples, row), waited(samples, row) or 0)
            for row in samples if not row.startswith("memory-")}


def per_function(n, size):
    return "" if n is None else "%.0f" % (n / size)


def print_table(head, lines):
    """Nothing where no line was measured."""
    if lines:
        print(head, *lines, sep="\n", flush=True)


def print_scale(stock, ours):
    form = "%-42s %10s %12s %8s %12s %8s"
    lines = []
    for row, what in SCALE.items():
        for size in (*SIZES, *CROWDS):
            nr = 200000 if size in CROWDS else size
            a, b = (got.get("%s-%s" % (row, size), (None,))[0] for got in (stock, ours))
            if a is None and b is None:
                continue
            lines.append(form % (what, size, text(a), per_function(a, nr), text(b),
                                 per_function(b, nr)))
            what = ""
    print_table(form % ("instructions", "functions", "stock", "each", "ours", "each"), lines)


def print_rows(stock, ours):
    form = "%-42s %12s %10s %12s %10s %8s"
    lines = []
    for row, what in ROWS.items():
        (a, v), (b, w) = (got.get(row, (None, None)) for got in (stock, ours))
        if a is None and b is None:
            continue
        lines.append(form % (what, text(a), text(v), text(b), text(w),
                             "%.3f" % (b / a) if a and b else ""))
    print_table(form % ("instructions", "stock", "waited", "ours", "waited", "ratio"), lines)


def kept(samples, row, nr):
    """Bytes for each of so many, and the least and most of what was measured."""
    got = [size / nr for size, _ in samples.get("memory-" + row, [])]
    if not got:
        return ""
    return "%.1f (%.1f to %.1f)" % (statistics.median(got), min(got), max(got))


def print_memory(stock, ours):
    form = "%-52s %26s %26s"
    lines = [(what, kept(stock, row, nr), kept(ours, row, nr))
             for row, (what, nr) in MEMORY.items()]
    print_table(form % ("bytes in use for", "stock", "ours"),
                [form % line for line in lines if any(line[1:])])


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kernels", nargs="*", default=[STOCK, OURS])
    p.add_argument("--only", help="one group of rows", choices=GROUPS)
    args = p.parse_args()
    samples = {}
    with tempfile.TemporaryDirectory() as tmp:
        build_init(tmp + "/init", "many.c", "modules.c", "sample.c", "memory.c", "bpf.c")
        for kernel in args.kernels:
            samples[kernel] = measure(kernel, tmp + "/init", tmp, args.only)
    stock, ours = (samples.get(kernel, {}) for kernel in (STOCK, OURS))
    print_scale(figures_of(stock), figures_of(ours))
    print_rows(figures_of(stock), figures_of(ours))
    print_memory(stock, ours)
    if args.only in (None, "functions"):
        keep("many", {core: {row: n for row, (n, _) in figures_of(rows).items()}
                      for core, rows in (("stock", stock), ("ours", ours))})


if __name__ == "__main__":
    main()
