#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The suites of those who hook functions, on a kernel, and a table of two kernels.

callers.list has the tests; each has a run of its own in a guest, as cases.py has it.
base/callers.sh has built what they need. Results are kept in build/callers-results/
KERNEL.txt, the logs of what failed in KERNEL.log beside it.

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
from compare import BEFORE, BROKEN, BUILD, GOOD, HERE, Comparison

OURS, STOCK = "recorder", "stock"
# Where run.py puts what is asked of the kernel as it boots.
BOOT = ["--append", "kunit.enable=1 kunit.filter_glob=*probe*_test"]


def read_list():
    """{test: why it is not run, or ""} of callers.list."""
    tests = {}
    with open(os.path.join(HERE, "callers.list"), encoding="utf-8") as f:
        for line in f:
            test, _, reason = (line + "||").split("|")[:3]
            if test.strip() and not line.startswith("#"):
                tests[test.strip()] = reason.strip()
    return tests


def choose(listed, patterns):
    """Those that a pattern names, or all that there is no reason not to run."""
    if not patterns:
        return [t for t, reason in listed.items() if not reason]
    return [t for t, reason in listed.items()
            if t in patterns or not reason and any(fnmatch.fnmatch(t, p) for p in patterns)]


def lost(results, other, tests):
    """The tests without a result, and the results that only the other kernel gave."""
    ran = {test for test, which in results if which != BEFORE}
    gone = [(test, "") for test in tests if test not in ran]
    return gone + sorted(key for key in other
                         if key[0] in ran and key[1] not in ("", BEFORE) and key not in results
                         and results.get((key[0], ""), ("-", ""))[0] not in BROKEN)


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
    for n, (test, _) in enumerate(gone, len(results) + 1):
        print("not ok %d - %s did not answer" % (n, test))
    print("1..%d" % (len(results) + len(gone)))
    return not bad


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", default=OURS, help="a kernel under build/")
    cases.add_arguments(p)
    p.add_argument("--tap", action="store_true", help="print the results as TAP")
    p.add_argument("tests", nargs="*", help="patterns of tests (default: all)")
    # perf reads all that is said of the kernel for debuggers, on an emulator.
    p.set_defaults(hang=1800)
    args = p.parse_args()
    comparison = Comparison("callers-results", os.path.join(HERE, "callers-differ.list"),
                            strict=True)
    listed = read_list()
    tests = choose(listed, args.tests)
    if not tests:
        sys.exit("callers.py: no such test in callers.list")
    left = 0
    if not args.table:
        command = '"%s/guest-caller.sh" "%s" "%s" "$1"' % (
            HERE, os.path.join(BUILD, args.kernel, "suites"), os.path.join(BUILD, "suites"))
        script = [*BOOT, os.path.join(HERE, "guest-each.sh"), str(args.hang), cases.WARNED,
                  command]
        left = cases.run(args, comparison, tests, script, lambda m: m.group(3))
        results = comparison.read_results(args.kernel)[0]
        gone = lost(results, {}, tests)
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
        sys.exit("callers.py: no results of %s: run make callers" % OURS)
    for test, reason in listed.items():
        if reason:
            print("not run: %s: %s" % (test, reason))
    good = comparison.table(OURS, STOCK, lambda results, other: lost(results, other, tests),
                            listed.__contains__, "make callers-stock")
    return 0 if good and not left else 1


if __name__ == "__main__":
    sys.exit(main())
