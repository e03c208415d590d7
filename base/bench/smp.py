#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How long the switches of a tracer take by the clock, stock core and ours in turns.

Boots the kernel "lists", which has the stock core and our fixes of the rest, and ours,
in turns, with as many emulated CPUs as are named. A figure is the
median of all rounds; the ratio is that of the medians, and beside it are the least and
the greatest ratio of a boot and the one after it. Only ratios mean something: how fast
the machine is, and what else it does, is in each figure. Exit status 1 when ours misses
a limit.
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../qemu"))
from bench import build_init, keep, run_guest, stats_of  # pylint: disable=wrong-import-position

STOCK, OURS = "lists", "recorder"
TURNS = 3
CPUS = [2, 4, 8]

LOADS = ("first", "idle", "busy")

# row of smp.c: what it is
ROWS = {
    "all-on": "all functions on",
    "all-off": "and off",
    "one-on": "one function on",
    "one-off": "and off",
    "few-on": "vfs_* on",
    "few-off": "and off",
}

# load, CPUs, rows that begin so: the most that ours may take of what stock takes
LIMITS = {
    ("idle", 2, "all"): 1 / 20,
    ("idle", 8, "all"): 1 / 10,
    ("busy", 8, "all"): 1 / 12,
    ("idle", 2, "one"): 0.8,
    ("idle", 8, "one"): 1.0,
    ("busy", 8, "one"): 0.7,
    ("idle", 2, "few"): 1.0,
    ("idle", 8, "few"): 1.0,
    ("busy", 8, "few"): 1.0,
}


def boot(which, init, cpus, rounds):
    samples, files = run_guest(which, init, "--accel", "tcg", "--cpus", str(cpus),
                               "--limit", "3600",
                               "--append", "smp_cpus=%d smp_rounds=%d" % (cpus, rounds))
    return ({row: [n / 1e9 for n, _ in values] for row, values in samples.items()},
            stats_of(files))


def stops_of(stats):
    """[(below so many microseconds, number of stops)]."""
    return [(int(m.group(1)), int(nr)) for name, nr in stats.items()
            if (m := re.fullmatch(r"stops_below_(\d+)us", name))]


def show_stops(cpus, stops, longest):
    """How many there were in all boots, and how long they were."""
    classes = collections.Counter()
    for us, nr in stops:
        classes[us] += nr
    each = sorted(classes.elements())
    print("%4d %d stops in %d boots, half of them below %d us; the longest of each boot, in "
          "milliseconds: %s" % (cpus, len(each), len(longest), each[len(each) // 2] if each else 0,
                                ", ".join("%.1f" % ms for ms in longest)), flush=True)


def show(cpus, boots):
    """The table of one number of CPUs; how many limits are missed."""
    missed = 0
    for load in LOADS:
        for row, what in ROWS.items():
            name = load + "-" + row
            ratios = [statistics.median(b[name]) / statistics.median(a[name])
                      for a, b in zip(boots[STOCK], boots[OURS])]
            a, b = (statistics.median([t for one in boots[which] for t in one[name]])
                    for which in (STOCK, OURS))
            limit = LIMITS.get((load, cpus, row.split("-")[0]))
            ok = ""
            if limit:
                ok = "ok" if b <= a * limit else "MISSED"
                missed += ok == "MISSED"
            print("%4d %-6s %-18s %9.4f %9.4f %7.3f  %6.3f to %6.3f %7s  %s"
                  % (cpus, load, what, a, b, b / a, min(ratios), max(ratios),
                     "%.3f" % limit if limit else "", ok), flush=True)
        one = [1e6 * t for b in boots[OURS] for t in b.get(load + "-stop", ())]
        if one:
            print("%4d %-6s one stop for vfs_*, in microseconds: %.0f (%.0f to %.0f)"
                  % (cpus, load, statistics.median(one), min(one), max(one)), flush=True)
    return missed


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--turns", type=int, default=TURNS,
                   help="boots of each kernel (default: %(default)s)")
    p.add_argument("--rounds", type=int, default=2, help="rounds in a boot (default: 2)")
    p.add_argument("cpus", type=int, nargs="*", default=CPUS)
    args = p.parse_args()
    if min(args.turns, args.rounds, *args.cpus) < 1:
        p.error("nothing to measure")

    missed = 0
    figures = {"stock": {}, "ours": {}, "stops": []}
    print("%4s %-6s %-18s %9s %9s %7s  %-16s %7s"
          % ("CPUs", "load", "seconds", "stock", "ours", "ratio", "least to most", "limit"))
    with tempfile.TemporaryDirectory() as tmp:
        init = tmp + "/init"
        build_init(init, "smp.c")
        for cpus in args.cpus:
            boots, longest, stops = {STOCK: [], OURS: []}, [], []
            for turn in range(args.turns):
                # A host that gets slower or faster is to favour neither.
                for which in (STOCK, OURS) if turn % 2 == 0 else (OURS, STOCK):
                    times, stats = boot(which, init, cpus, args.rounds)
                    boots[which].append(times)
                    if stats:
                        longest.append(int(stats["longest_stop_ns"]) / 1e6)
                        stops += stops_of(stats)
            figures["stops"] += stops
            for core, which in (("stock", STOCK), ("ours", OURS)):
                figures[core][cpus] = {load + "-" + row:
                                       [t for one in boots[which] for t in one[load + "-" + row]]
                                       for load in LOADS for row in ROWS}
            missed += show(cpus, boots)
            show_stops(cpus, stops, longest)
    # For pictures a host's bad minute is too much, and one number of CPUs is no curve.
    if args.turns >= TURNS and set(CPUS) <= set(args.cpus):
        keep("smp", figures)
    else:
        print("not kept for pictures: that takes at least %d turns with %s CPUs"
              % (TURNS, ", ".join(map(str, CPUS))))
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as e:
        sys.exit("smp.py: %s" % e)
