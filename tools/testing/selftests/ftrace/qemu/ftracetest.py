#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The base's whole ftracetest on a kernel, and a table of two kernels.

Every test case has its own run of ftracetest, and a guest runs as many of them as
it lives.  When one hangs or kills the guest, that is its result, and another
guest goes on with the next.  Results are kept in build/ftracetest/KERNEL.txt as
they come, the logs of what failed in KERNEL.log beside it.

The table shows both kernels; the exit status is 0 if the kernel under test does
as well as stock in each test and passes where stock was not asked.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "../../../../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OUT = os.path.join(BUILD, "ftracetest")
TESTS = "tools/testing/selftests/ftrace/test.d"
EMULATOR = 124
STOPPED = (130, 143)
GOOD = ("PASS", "XFAIL", "UNSUPPORTED", "UNTESTED")

RESULT = re.compile(r"(not )?ok \d+ *(\(instance\))? *(.*?) *(?:# *(\w+) *)?$")


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


def path_of(kernel):
    return os.path.join(OUT, kernel + ".txt")


def read_lines(kernel):
    try:
        with open(path_of(kernel), encoding="utf-8") as f:
            return f.readlines()
    except FileNotFoundError:
        return []


def read_results(kernel):
    """{(test, "(instance)" or ""): (result, remark)}, {test: seconds}."""
    results, seconds = {}, {}
    for line in read_lines(kernel):
        test, where, result, took, remark = line.rstrip("\n").split("\t")
        results[test, where] = result, remark
        seconds[test] = max(int(took), seconds.get(test, 0))
    return results, seconds


def result_of(failed, word):
    """The words of ftracetest for what it says in KTAP."""
    if word in ("UNRESOLVED", "XFAIL"):
        return word
    if word == "SKIP":
        return "UNSUPPORTED"
    if word == "error":
        return "UNDEFINED"
    return "FAIL" if failed else "PASS"


class Guest:
    """One guest, working on a list of tests."""

    def __init__(self, args, tests):
        self.args, self.tests = args, tests
        self.now, self.began, self.lines, self.warned = None, 0, [], ""
        self.done, self.said = 0, []

    def write(self, where, result, remark=""):
        seconds = round(time.monotonic() - self.began)
        remark = remark.replace("\t", " ")
        with open(path_of(self.args.kernel), "a", encoding="utf-8") as f:
            f.write("\t".join((self.now, where, result, str(seconds), remark)) + "\n")
        print("  %-11s %4d s  %s%s%s" % (result, seconds, self.now, where and " (instance)",
                                       remark and ": " + remark[:100]), flush=True)

    def finish(self, extra=None):
        """The test is over: its results, and its log unless all is well."""
        for where, result in self.said:
            self.write(where, result, self.warned)
        if extra:
            self.write("", *extra)
        elif not self.said:
            self.write("", "UNDEFINED", "no result")
        if extra or self.warned or any(r not in GOOD for _, r in self.said):
            with open(os.path.join(OUT, self.args.kernel + ".log"), "a", encoding="utf-8") as f:
                f.write("=== %s\n%s\n" % (self.now, "\n".join(self.lines[-200:])))
        self.now = None
        self.done += 1

    def line(self, line):
        word, _, rest = line.partition(" ")
        if word == "@begin":
            self.now, self.began = rest, time.monotonic()
            self.lines, self.warned, self.said = [], "", []
        elif word == "@warned":
            self.warned = self.warned or rest
        elif word == "@end":
            self.finish()
        elif word == "@hung":
            self.finish(("HANG", "not done after %d s" % self.args.hang))
        else:
            self.lines.append(line)
            m = RESULT.match(line)
            if m and self.now:
                self.said.append((m.group(2) or "", result_of(m.group(1), m.group(4))))

    def run(self):
        """Run until the guest is gone; how many tests are done, run.py's status."""
        tree = os.path.join(BUILD, "base" if self.args.kernel.startswith("stock") else "linux")
        cmd = [os.path.join(HERE, "run.py"), "--kernel", self.args.kernel, "--allow-warn",
               "--append", "log_buf_len=4M",
               "--silence", str(self.args.hang + 120), "--limit", "86400",
               "--log", os.path.join(OUT, self.args.kernel + ".console"),
               os.path.join(HERE, "guest-cases.sh"), tree, str(self.args.hang)] + self.tests
        with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace") as guest:
            why = ""
            for line in guest.stdout:
                line = line.rstrip("\r\n")
                if line.startswith("run.py: "):
                    why = line[len("run.py: "):]
                self.line(line)
                if self.args.until and time.monotonic() > self.args.until and not self.now:
                    guest.terminate()
        status = guest.returncode
        if self.now and status not in (EMULATOR,) + STOPPED:
            self.finish(("HANG" if "hangs" in why else "CRASH", why or "status %d" % status))
        return status


def run(args):
    os.makedirs(OUT, exist_ok=True)
    tests = base_tests(args.tests)
    if not tests:
        sys.exit("ftracetest.py: no such test in build/base")
    old = read_lines(args.kernel)
    if args.go_on:
        tests = [t for t in tests if not any(line.startswith(t + "\t") for line in old)]
    else:
        # What is run now takes the place of what was known of it.
        with open(path_of(args.kernel), "w", encoding="utf-8") as f:
            f.writelines(line for line in old if line.split("\t")[0] not in tests)
    tries = 0
    while tests and not (args.until and time.monotonic() > args.until):
        guest = Guest(args, tests)
        status = guest.run()
        tests = tests[guest.done:]
        tries = tries + 1 if not guest.done else 0
        if tries > 3:
            sys.exit("ftracetest.py: no guest comes as far as %s (status %d)" % (tests[0], status))
    if tests:
        print("%d tests are left: --continue goes on" % len(tests))


def badness(result):
    if result in GOOD or result == "-":
        return 0
    return 2 if result in ("HANG", "CRASH") else 1


def table(ours, stock):
    """Both kernels side by side; true if ours is nowhere worse."""
    (a, took_a), (b, took_b) = read_results(stock), read_results(ours)
    if not b:
        sys.exit("ftracetest.py: no results of %s: run make ftracetest" % ours)
    rows, worse = sorted(set(a) | set(b)), []
    width = max(len(test) for test, _ in rows) + 11
    form = "%-*s  %-11s %7s  %-11s %7s  %s"
    print((form % (width, "", stock, "", ours, "", "")).rstrip())
    for key in rows:
        one, remark1 = a.get(key, ("-", ""))
        two, remark2 = b.get(key, ("-", ""))
        mark = ""
        if badness(two) > badness(one) or (remark2 and not remark1):
            mark = "worse"
            worse.append(key)
        elif two == "UNSUPPORTED" and one in ("PASS", "XFAIL"):
            # What this kernel does not have is no fault; it is shown all the same.
            mark = "not built"
        took = ["" if key[1] else "%d s" % t[key[0]] if key[0] in t else ""
                for t in (took_a, took_b)]
        print((form % (width, " ".join(key).strip(), one, took[0], two, took[1],
                       ": ".join(filter(None, (mark, remark2[:80]))))).rstrip())
    both = set(took_a) & set(took_b)
    if both:
        print((form % (width, "the %d tests that both ran" % len(both),
                       "", "%d s" % sum(took_a[t] for t in both),
                       "", "%d s" % sum(took_b[t] for t in both), "")).rstrip())
    print()
    for name, results in ((stock, a), (ours, b)):
        count = {}
        for result, _ in results.values():
            count[result] = count.get(result, 0) + 1
        print("%-10s %s" % (name, ", ".join("%d %s" % (n, r) for r, n in sorted(count.items()))
                            or "not run: make stock-test"))
    print("%d of %d worse than stock" % (len(worse), len(rows)))
    return not worse


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", default="recorder", help="a kernel under build/")
    p.add_argument("--table", action="store_true", help="only show the table")
    p.add_argument("--continue", dest="go_on", action="store_true", help="keep the results there are")
    p.add_argument("--hang", type=int, default=900, help="seconds of one test: a hang")
    p.add_argument("--for", dest="until", type=int, metavar="SECONDS",
                   help="begin no test after that time")
    p.add_argument("tests", nargs="*", help="patterns of paths below test.d (default: all)")
    args = p.parse_args()
    if args.until:
        args.until += time.monotonic()
    if not args.table:
        run(args)
        if args.kernel != "recorder":
            return 0
    return 0 if table("recorder", "stock") else 1


if __name__ == "__main__":
    sys.exit(main())
