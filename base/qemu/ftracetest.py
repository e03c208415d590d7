#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The base's whole ftracetest on a kernel, and a table of two kernels.

Each test case has its own run of ftracetest, as cases.py has it. Results are kept
in build/ftracetest/KERNEL.txt, the logs of what failed in KERNEL.log beside it.

The table shows both kernels; the exit status is 0 if each case has its results, the
kernel under test does as well as stock in each of them, and passes where stock was
not asked.  What differs otherwise is in ftracetest.list, with the reason.
"""

import argparse
import fnmatch
import os
import re
import sys

import cases
from compare import BROKEN, Comparison
from places import BUILD, HERE, missing

TESTS = "tools/testing/selftests/ftrace/test.d"
# The kernels that have to do as well as stock, and what asks them.
COMPARED = {"recorder": "ftracetest", "lists": "lists-test"}
INSTANCE = re.compile(r"^#[ \t]*flags:.*instance", re.MULTILINE)


def base_tests(patterns):
    """Paths below test.d of the base's test cases, those that a pattern names."""
    top = os.path.join(BUILD, "base", TESTS)
    found = []
    for folder, _, files in os.walk(top):
        found += [os.path.relpath(os.path.join(folder, f), top)
                  for f in files if f.endswith(".tc")]
    found.sort()
    return [t for t in found
            if not patterns or any(fnmatch.fnmatch(t, p) for p in patterns)]


def is_test(test):
    return os.path.exists(os.path.join(BUILD, "base", TESTS, test))


def keys_of(test):
    """The results that a case has to have."""
    with open(os.path.join(BUILD, "base", TESTS, test), encoding="utf-8") as f:
        return [(test, "")] + [(test, "(instance)")] * bool(INSTANCE.search(f.read()))


def lost(results, tests):
    """The keys without a result."""
    def result(key):
        return results.get(key, ("-", ""))[0]

    return [key for test in tests for key in keys_of(test)
            if result(key) == "-" and not (key[1] and result((test, "")) in BROKEN)]


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", default="recorder", help="a kernel under build/")
    cases.add_arguments(p)
    p.add_argument("tests", nargs="*", help="patterns of paths below test.d (default: all)")
    args = p.parse_args()
    comparison = Comparison("ftracetest", os.path.join(HERE, "ftracetest.list"))
    tests = base_tests(args.tests)
    if not tests:
        sys.exit("ftracetest.py: no such test in build/base")
    left = 0
    if not args.table:
        tree = os.path.join(BUILD, "base" if args.kernel.startswith("stock") else "linux")
        script = [os.path.join(HERE, "guest-cases.sh"), tree, str(args.hang), cases.WARNED]
        left = cases.run(args, comparison, tests, lambda _: script,
                         lambda m: m.group(2) or "")
        if args.kernel not in COMPARED:
            gone = lost(comparison.read_results(args.kernel)[0], tests)
            for key in gone:
                print("no result of %s: %s" % (args.kernel, " ".join(key).strip()))
            return 1 if left or gone else 0
    ours = args.kernel if args.kernel in COMPARED else "recorder"
    if not comparison.read_results(ours)[0]:
        sys.exit("ftracetest.py: " + missing("results of " + ours, "the table",
                                            "run make " + COMPARED[ours]))
    good = comparison.table(ours, "stock", lambda results, _: lost(results, tests),
                            is_test, "make stock-test", not args.tests)
    return 0 if good and not left else 1


if __name__ == "__main__":
    sys.exit(main())
