#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Pictures of what the benchmarks measured.

The figures are kept in base/bench/figures.json. What "make bench", "make bench-many" and
"make bench-smp" have left in build/bench is taken into it first; of each the figures of
both kernels have to be there. The pictures are in Documentation/trace/.
"""

import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../qemu"))
from pictures import COLOURS, alone, histogram, log_lines  # pylint: disable=wrong-import-position
from places import BUILD, TOP  # pylint: disable=wrong-import-position

FIGURES = os.path.join(HERE, "figures.json")
PICTURES = os.path.join(TOP, "Documentation/trace/ftrace-sets-%s.svg")
CORES = (("stock", COLOURS[4]), ("ours", COLOURS[0]))

# Functions that are switched: what the rows of many.py end with.
SIZES = {1000: "1000", 10000: "10000", 50000: "50000", 200000: "4x50000"}
# Tracers on the function that is called: rows of bench.py.
TRACERS = {1: "call-one", 2: "call-2", 10: "call-10"}
OPS = {nr: "ops-%d-0" % nr for nr in (1, 2, 10, 100)}


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}
    except ValueError as e:
        sys.exit("plot.py: %s: %s" % (path, e))


def measured(name):
    """{core: figures} that a benchmark has left, if it measured both cores."""
    figures = read(os.path.join(BUILD, "bench", name + ".json"))
    if figures and not all(figures.get(core) for core, _ in CORES):
        print("plot.py: %s: not both cores were measured; not taken" % name, file=sys.stderr)
        return {}
    return figures


def take(path):
    """The figures that are kept, after those that were measured since have replaced them."""
    kept = read(path)
    new = {name: figures for name in ("calls", "many", "smp") if (figures := measured(name))}
    if new:
        kept.update(new)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(kept, f, indent=1, sort_keys=True)
            f.write("\n")
    return kept


def count(n):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= size:
            return "%.3g %s" % (n / size, unit)
    return "%.3g" % n


def seconds(n):
    return "%.3g s" % n if n >= 1 else "%.3g ms" % (n * 1e3)


def lines(figures, what, points):
    """One series for each core: points(figures of the core) are those of its line."""
    return [("%s, %s" % (core, what), colour, line) for core, colour in CORES
            if (line := points(figures[core]))]


def rows_of(numbers):
    """Points from the rows that {x: row} names."""
    return lambda figures: [(x, figures[row]) for x, row in numbers.items() if row in figures]


def whole_and_broken(first, second):
    return ([(name, colour, True, line) for name, colour, line in first] +
            [(name, colour, False, line) for name, colour, line in second])


def functions(many):
    """Switching all functions, over their number."""
    on, off = ({x: "%s-%s" % (row, size) for x, size in SIZES.items()} for row in ("on", "off"))
    return log_lines(whole_and_broken(lines(many, "on", rows_of(on)),
                                      lines(many, "off", rows_of(off))),
                     "functions traced; instructions", count)


def cpus(smp):
    """Switching all functions on by the clock, over the number of CPUs."""
    def points(load):
        return lambda boots: [(int(nr), statistics.median(rows[load + "-all-on"]))
                              for nr, rows in sorted(boots.items(), key=lambda b: int(b[0]))]

    return log_lines(whole_and_broken(lines(smp, "idle", points("idle")),
                                      lines(smp, "all CPUs busy", points("busy"))),
                     "virtual CPUs on two cores; time until all functions are traced", seconds)


def tracers(calls):
    """A traced call, over the number of tracers on the function."""
    return log_lines(whole_and_broken(lines(calls, "tracers that write events", rows_of(TRACERS)),
                                      lines(calls, "callbacks that count", rows_of(OPS))),
                     "tracers on the function; instructions of one call", count)


def stops(smp):
    """How long the machine stopped, in all boots."""
    bins = {}
    for us, nr in smp["stops"]:
        bins[us] = bins.get(us, 0) + nr
    return histogram(sorted(bins.items()))


# name: (of which figures, how it is drawn)
DRAWN = {
    "functions": ("many", functions),
    "cpus": ("smp", cpus),
    "tracers": ("calls", tracers),
    "stops": ("smp", stops),
}


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    # For plot-test.py.
    p.add_argument("--figures", default=FIGURES, help=argparse.SUPPRESS)
    p.add_argument("--pictures", default=PICTURES, help=argparse.SUPPRESS)
    p.add_argument("--check", action="store_true",
                   help="take and draw nothing; fail if a picture is not that of the figures")
    args = p.parse_args()
    figures = read(args.figures) if args.check else take(args.figures)
    wrong = 0
    for name, (which, draw) in DRAWN.items():
        path = args.pictures % name
        if which not in figures:
            print("plot.py: %s: nothing was measured" % name, file=sys.stderr)
            wrong += 1
            continue
        picture = alone(draw(figures[which]))
        if not args.check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(picture)
            print("  PICTURE  %s" % os.path.relpath(path, TOP))
            continue
        try:
            with open(path, encoding="utf-8") as f:
                same = f.read() == picture
        except FileNotFoundError:
            same = False
        if not same:
            print("plot.py: %s is not that of the figures; run make bench-plot"
                  % os.path.relpath(path, TOP), file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
