#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The base's whole ftracetest on a kernel, and a table of two kernels.

Each test case has its own run of ftracetest.  A guest runs cases until it hangs or
dies; the case that did that has it for its result, and a new guest goes on with
the next.  Results are kept in build/ftracetest/KERNEL.txt as
they come, the logs of what failed in KERNEL.log beside it.

The table shows both kernels; the exit status is 0 if each case has its results, the
kernel under test does as well as stock in each of them, and passes where stock was
not asked.  What differs otherwise is in ftracetest.list, with the reason.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import time

import run as runner

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "../../../../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
OUT = os.path.join(BUILD, "ftracetest")
TESTS = "tools/testing/selftests/ftrace/test.d"
EMULATOR = 124
STOPPED = (130, 143)
GOOD = ("PASS", "XFAIL", "UNSUPPORTED", "UNTESTED")
# The first is the best; those of one line are as good as each other.
RANKS = {result: rank for rank, results in enumerate((
    ("PASS",), ("XFAIL",), ("UNSUPPORTED", "UNTESTED"), ("UNRESOLVED",),
    ("FAIL", "UNDEFINED"), ("HANG", "CRASH"))) for result in results}
# A case that ended so never came to its run in an instance.
BROKEN = ("UNDEFINED", "HANG", "CRASH")
# What ftracetest says in KTAP: did it fail, and the word behind it.
WORDS = {
    (False, None): "PASS",
    (True, None): "FAIL",
    (True, "UNRESOLVED"): "UNRESOLVED",
    (False, "SKIP"): "UNSUPPORTED",
    (False, "XFAIL"): "XFAIL",
}
LISTED = os.path.join(HERE, "ftracetest.list")

# Unlike judge.py, do not use the base's kunit_parser: it does not tell UNRESOLVED and
# XFAIL from other results, and the table needs both.
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(not )?ok \d+ *(\(instance\))? *(.*?) *(?:# *(\w+) *)?$")
INSTANCE = re.compile(r"^#[ \t]*flags:.*instance", re.MULTILINE)
WARNED = "|".join(p.pattern for p in (runner.FATAL, runner.WARN, runner.ALARM))


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


def keys_of(test):
    """The results that a case has to have."""
    with open(os.path.join(BUILD, "base", TESTS, test), encoding="utf-8") as f:
        return [(test, "")] + [(test, "(instance)")] * bool(INSTANCE.search(f.read()))


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


def read_listed():
    """{(test, "(instance)" or ""): (result on stock, result on ours, reason)}."""
    listed = {}
    with open(LISTED, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                case, stock, ours, reason = (word.strip() for word in line.split("|", 3))
                test, _, where = case.partition(" ")
                listed[test, where] = stock, ours, reason
    return listed


def both(one, two):
    """Two remarks as one; what is like the one before is said once."""
    return one if alike(two) in map(alike, one.split("; ")) else "; ".join(filter(None, (one, two)))


def alike(remark):
    """What a kernel warned of, without what differs each time."""
    return re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"\[ *[\d.]+\] ", "", remark))


def news(remark, known):
    """What a remark has that another one does not have."""
    return set(map(alike, remark.split("; "))) - set(map(alike, known.split("; "))) - {""}


class Guest:
    """One guest, working on a list of tests."""

    def __init__(self, args, tests):
        self.args, self.tests = args, tests
        self.now, self.began, self.lines, self.warned = None, 0, [], ""
        self.done, self.said, self.plan, self.last = 0, [], None, None
        self.rows = []

    def write(self, where, result, remark=""):
        seconds = round(time.monotonic() - self.began)
        self.rows.append((where, result, remark))
        remark = remark.replace("\t", " ")
        with open(path_of(self.args.kernel), "a", encoding="utf-8") as f:
            f.write("\t".join((self.now, where, result, str(seconds), remark)) + "\n")
        print("  %-11s %4d s  %s%s%s" % (result, seconds, self.now, where and " (instance)",
                                       remark and ": " + remark[:100]), flush=True)

    def contradiction(self, status):
        """What is wrong with what ftracetest said and ended with, or nothing."""
        if self.plan is None:
            return "no plan"
        if len(self.said) != self.plan:
            return "%d results of %d" % (len(self.said), self.plan)
        if len(dict(self.said)) != len(self.said):
            return "several results of one kind"
        failed = any(result in ("FAIL", "UNDEFINED") for _, result in self.said)
        if status != str(int(failed)):
            return "ended with status %s, which is not what it said" % status
        return None

    def finish(self, status=None, broken=None):
        """The test is over: its results, and its log unless all is well."""
        if not broken:
            wrong = self.contradiction(status)
            broken = wrong and ("UNDEFINED", wrong)
        for where, result in self.said:
            self.write(where, result, self.warned)
        if broken:
            self.write("", *broken)
        if broken or self.warned or any(r not in GOOD for _, r in self.said):
            with open(os.path.join(OUT, self.args.kernel + ".log"), "a", encoding="utf-8") as f:
                f.write("=== %s\n%s\n" % (self.now, "\n".join(self.lines[-200:])))
        self.now, self.last = None, self.now
        self.done += 1

    def after(self, warning):
        """The kernel warned after the last case: what that one left is to blame."""
        self.now = self.last
        # The row that was written last is the one that counts.
        for where, result, remark in {row[0]: row for row in self.rows}.values():
            self.write(where, result, both(remark, "after it: " + warning))
        self.now = None

    def line(self, line):
        word, _, rest = line.partition(" ")
        if word == "@begin":
            self.now, self.began = rest, time.monotonic()
            self.lines, self.warned, self.said, self.plan = [], "", [], None
            self.rows = []
        elif word == "@warned" and self.now:
            self.warned = both(self.warned, rest)
        elif word == "@warned" and self.last:
            self.after(rest)
        elif word == "@lost":
            self.finish(broken=("UNDEFINED", "the kernel's log is longer than its buffer"))
        elif word == "@end":
            self.finish(rest.partition(" ")[0])
        elif word == "@hung":
            self.finish(broken=("HANG", "not done after %d s" % self.args.hang))
        else:
            self.lines.append(line)
            m = PLAN.match(line)
            if m and self.now:
                self.plan = int(m.group(1))
            m = RESULT.match(line)
            if m and self.now:
                self.said.append((m.group(2) or "",
                                  WORDS.get((bool(m.group(1)), m.group(4)), "UNDEFINED")))

    def run(self):
        """Run until the guest is gone; how many tests are done, run.py's status."""
        tree = os.path.join(BUILD, "base" if self.args.kernel.startswith("stock") else "linux")
        cmd = [os.path.join(HERE, "run.py"), "--kernel", self.args.kernel, "--allow-warn",
               "--turns", "--silence", str(self.args.hang + 120), "--limit", "86400",
               "--log", os.path.join(OUT, self.args.kernel + ".console"),
               os.path.join(HERE, "guest-cases.sh"), tree, str(self.args.hang), WARNED] + self.tests
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
        why = why or "status %d" % status
        if status in (EMULATOR,) + STOPPED:
            return status
        if self.now:
            self.finish(broken=("HANG" if "hangs" in why else "CRASH", why))
        elif status and self.last:
            # What it died of is what the last one left behind.
            self.now = self.last
            self.write("", "CRASH", "after it: " + why)
            self.now = None
        return status


def run(args):
    """Run the tests; how many of them are left."""
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
    tries = acquitted = 0
    while tests and not (args.until and time.monotonic() > args.until):
        guest = Guest(args, tests)
        status = guest.run()
        tests = tests[guest.done:]
        acquitted += status == EMULATOR
        tries = tries + 1 if not guest.done else 0
        if tries > 3:
            sys.exit("ftracetest.py: no guest comes as far as %s (status %d)" % (tests[0], status))
    if acquitted:
        print("%d guests died of what only QEMU does; what they ran in that moment ran again"
              % acquitted)
    if tests:
        print("%d tests are left: --continue goes on" % len(tests))
    return len(tests)


def lost(results, tests):
    """The keys without a result."""
    def result(key):
        return results.get(key, ("-", ""))[0]

    return [key for test in tests for key in keys_of(test)
            if result(key) == "-" and not (key[1] and result((test, "")) in BROKEN)]


def verdict(one, two, listed):
    """("worse", "wrong list" or "", what to say) of a row with these two entries."""
    (one, remark1), (two, remark2) = one, two
    # What a broken one died of is said in its remark.
    warned = two not in BROKEN and news(remark2, remark1)
    if listed:
        stock, ours, reason = listed
        if two != ours or one not in (stock, "-"):
            return "wrong list", "%s | %s in ftracetest.list" % (stock, ours)
        return ("worse" if warned else ""), reason
    # Where stock was not asked it passes.
    worst = len(RANKS)
    if RANKS.get(two, worst) > RANKS.get(one, 0) or warned:
        return "worse", ""
    return "", ""


def table(ours, stock, tests):
    """Both kernels side by side; true if ours is nowhere worse and none of tests lost."""
    (a, took_a), (b, took_b) = read_results(stock), read_results(ours)
    if not b:
        sys.exit("ftracetest.py: no results of %s: run make ftracetest" % ours)
    listed = read_listed()
    missing = [(ours, key) for key in lost(b, tests)]
    if a:
        missing += [(stock, key) for key in lost(a, tests)]
    rows, worse, wrong = sorted(set(a) | set(b)), [], []
    width = max(len(test) for test, _ in rows) + 11
    form = "%-*s  %-11s %7s  %-11s %7s  %s"
    print((form % (width, "", stock, "", ours, "", "")).rstrip())
    for key in rows:
        one, two = a.get(key, ("-", "")), b.get(key, ("-", ""))
        # What one of them broke off is in the row of the case.
        mark = reason = ""
        if key in b:
            mark, reason = verdict(one, two, listed.get(key))
        if mark == "worse":
            worse.append(key)
        elif mark:
            wrong.append(key)
        took = ["" if key[1] else "%d s" % t[key[0]] if key[0] in t else ""
                for t in (took_a, took_b)]
        print((form % (width, " ".join(key).strip(), one[0], took[0], two[0], took[1],
                       ": ".join(filter(None, (mark, reason, two[1][:80]))))).rstrip())
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
    for name, key in missing:
        print("no result of %s: %s" % (name, " ".join(key).strip()))
    for test, where in sorted(listed):
        if not os.path.exists(os.path.join(BUILD, "base", TESTS, test)):
            print("in ftracetest.list, not in the base: %s" % test)
            wrong.append((test, where))
    print("%d of %d worse than stock, %d without a result, %d wrong in ftracetest.list"
          % (len(worse), len(rows), len(missing), len(wrong)))
    return not (worse or missing or wrong)


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
    left = 0 if args.table else run(args)
    if not args.table and args.kernel != "recorder":
        gone = lost(read_results(args.kernel)[0], base_tests(args.tests))
        for key in gone:
            print("no result of %s: %s" % (args.kernel, " ".join(key).strip()))
        return 1 if left or gone else 0
    tests = base_tests(args.tests)
    if not tests:
        sys.exit("ftracetest.py: no such test in build/base")
    return 0 if table("recorder", "stock", tests) and not left else 1


if __name__ == "__main__":
    sys.exit(main())
