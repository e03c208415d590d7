#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The suites of those who hook functions, on a kernel, and a table of two kernels.

callers.list has the tests; each has a run of its own in a guest, as cases.py has it.
base/callers.sh has built what they need. Results are kept in build/callers-results/
KERNEL.txt, the logs of what failed in KERNEL.log beside it.

callers-counts.list has how many results a test has to give, where no other kernel says it.

With --tap nothing is compared: each result has to be good, and is printed as TAP.
Otherwise the table shows both kernels; the exit status is 0 if each test has its results,
those that stock gives, too, and the kernel under test does as well as stock in each of
them, and passes where stock was not asked. What differs otherwise, and what is bad on
both, is in callers-differ.list, with the reason. Of any other kernel it is asked only
that all tests give their results, and that none of them breaks off.
"""

import argparse
import fnmatch
import os
import sys

import cases
from compare import BEFORE, BROKEN, GOOD, Comparison
from places import BUILD, HERE, missing

OURS, STOCK = "recorder", "stock"
# What is tested as a kernel boots is in kernels of their own.
STARTUP = {OURS: "startup", STOCK: "stock-startup"}
# Where run.py puts what is asked of the kernel as it boots.
BOOT = ["--append", "kunit.enable=1 kunit.filter_glob=*probe*_test"]


def boots(kernel, test):
    """The kernel that is booted for a test, or None."""
    return STARTUP.get(kernel) if test.startswith("startup/") else kernel


def read_list():
    """{test: why it is not run, or ""} of callers.list."""
    tests = {}
    with open(os.path.join(HERE, "callers.list"), encoding="utf-8") as f:
        for line in f:
            test, _, reason = (line + "||").split("|")[:3]
            if test.strip() and not line.startswith("#"):
                tests[test.strip()] = reason.strip()
    return tests


def read_counts(listed):
    """{test: how many results it gives} of callers-counts.list."""
    counts = {test: 0 for test, reason in listed.items() if reason}
    with open(os.path.join(HERE, "callers-counts.list"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                test, count = line.split("|")
                counts[test.strip()] = int(count)
    return counts


def count(results):
    """{test: how many results it has given}, not those that say that it broke off."""
    counts = {}
    for test, which in results:
        counts[test] = counts.get(test, 0) + (which not in ("", BEFORE))
    return counts


def choose(listed, patterns):
    """Those that a pattern names, or all that there is no reason not to run."""
    if not patterns:
        return [t for t, reason in listed.items() if not reason]
    chosen = set()
    for p in patterns:
        found = [t for t, reason in listed.items()
                 if t == p or not reason and fnmatch.fnmatch(t, p)]
        if not found:
            sys.exit("callers.py: no such test in callers.list: %s" % p)
        chosen.update(found)
    return [t for t in listed if t in chosen]


def lost(results, other, tests, counts):
    """What did not come, as (test, what of it).

    That is tests without a result, results that only the other kernel gave, and, of
    tests that it did not run, those with fewer results than they have to give.
    """
    ran = {test for test, which in results if which != BEFORE}
    whole = {test for test in ran if results.get((test, ""), ("-", ""))[0] not in BROKEN}
    gone = [(test, "") for test in tests if test not in ran]
    gone += sorted(key for key in other
                   if key[0] in whole and key[1] not in ("", BEFORE) and key not in results)
    asked, came = {test for test, _ in other}, count(results)
    for test in tests:
        if test in whole and test not in asked and came[test] < counts.get(test, sys.maxsize):
            gone.append((test, "(%d results of %s)" % (came[test], counts.get(test, "?"))))
    return gone


def broken(results, tests, listed):
    """The results that are no answer, as (key, what is said of it), but those of the list."""
    return [(key, ": ".join(filter(None, row))) for key, row in sorted(results.items())
            if key[0] in tests and row[0] in BROKEN
            and (key not in listed or row[0] not in listed[key][0].split("/"))]


def tap(results, gone):
    """Each result as TAP; true if all are good."""
    bad = len(gone)
    for n, ((test, which), (result, remark)) in enumerate(sorted(results.items()), 1):
        good = result in GOOD and not remark
        bad += not good
        # What follows a "#" is no part of a name.
        print("%s %d - %s%s" % ("ok" if good else "not ok", n,
                                (test + " " + which).strip().replace("#", ""),
                                " # SKIP " + result if good and result != "PASS" else ""))
    for n, (test, what) in enumerate(gone, len(results) + 1):
        print("not ok %d - %s %s" % (n, test, what or "did not answer"))
    print("1..%d" % (len(results) + len(gone)))
    return not bad


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", default=OURS, help="a kernel under build/")
    cases.add_arguments(p)
    p.add_argument("--tap", action="store_true", help="print the results as TAP")
    p.add_argument("--counts", action="store_true",
                   help="print a callers-counts.list that has what the kernel gave")
    p.add_argument("tests", nargs="*", help="patterns of tests (default: all)")
    # perf reads all that is said of the kernel for debuggers, on an emulator.
    p.set_defaults(hang=1800)
    args = p.parse_args()
    comparison = Comparison("callers-results", os.path.join(HERE, "callers-differ.list"),
                            strict=True, boots=boots)
    listed = {test: reason for test, reason in read_list().items()
              if boots(args.kernel, test)}
    tests, counts = choose(listed, args.tests), read_counts(listed)
    if args.counts:
        for test, n in sorted(count(comparison.read_results(args.kernel)[0]).items()):
            print("%s | %d" % (test, n))
        return 0
    left = 0
    if not args.table:
        command = '"%s/guest-caller.sh" "%s" "%s" "$1"' % (
            HERE, os.path.join(BUILD, args.kernel, "suites"), os.path.join(BUILD, "suites"))

        def script(booted):
            # The tests of start-up mostly sleep, which takes no time by that clock.
            way = ["--accel", "icount"] if booted in STARTUP.values() else BOOT
            return [*way, os.path.join(HERE, "guest-each.sh"), str(args.hang), cases.WARNED,
                    command]

        left = cases.run(args, comparison, tests, script, lambda m: m.group(3))
        results = comparison.read_results(args.kernel)[0]
        gone = lost(results, {}, tests, counts)
        if args.tap:
            asked = {key: row for key, row in results.items() if key[0] in tests}
            return 0 if tap(asked, gone) else 1
        if args.kernel != OURS:
            comparison.warn_of_builds(args.kernel)
            for key in gone:
                print("no result of %s: %s" % (args.kernel, " ".join(key).strip()))
            bad = broken(results, tests, comparison.read_listed())
            for key, what in bad:
                print("broken on %s: %s: %s" % (args.kernel, " ".join(key).strip(), what))
            return 1 if left or gone or bad else 0
    if not comparison.read_results(OURS)[0]:
        sys.exit("callers.py: " + missing("results of " + OURS, "the table", "run make callers"))
    for test, reason in listed.items():
        if reason:
            print("not run: %s: %s" % (test, reason))
    good = comparison.table(OURS, STOCK,
                            lambda results, other: lost(results, other, tests, counts),
                            listed.__contains__, "make callers-stock", not args.tests)
    return 0 if good and not left else 1


if __name__ == "__main__":
    sys.exit(main())
