# SPDX-License-Identifier: GPL-2.0
"""Tests of the base, one after the other, each with a run of its own.

A guest runs tests until it hangs or dies; the one that did that has it for its
result, and a new guest goes on with the next. If only the emulator failed, the test runs
again, unless it had failed before. Results go into the files of a
Comparison as they come, the logs of what did not just pass into KERNEL.log beside
them, and what the kernel of each guest said into KERNEL.console.1 and so on.
"""

import os
import re
import subprocess
import sys
import time

import run as runner
from compare import BEFORE, GOOD, both, build_of, news
from places import HERE

EMULATOR = 124
# How often that may happen in one run.
FAILURES = 4
# What is said in KTAP: did it fail, and the word after it.
WORDS = {
    (False, None): "PASS",
    (True, None): "FAIL",
    (True, "UNRESOLVED"): "UNRESOLVED",
    (False, "SKIP"): "UNSUPPORTED",
    (False, "XFAIL"): "XFAIL",
}
# Unlike judge.py, do not use the base's kunit_parser: it does not tell UNRESOLVED and
# XFAIL from other results, and the table needs both.
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(not )?ok \d+ *(\(instance\))? *(.*?) *(?:# *(\w+) *)?$")
WARNED = "|".join(p.pattern for p in (runner.FATAL, runner.WARN, runner.ALARM))


class Guest:
    """One guest, working on a list of tests.

    script is what runs in it, before the tests themselves, which all boot the same
    kernel; which(match) names one of the results that a test has.
    """

    def __init__(self, args, comparison, tests, script, which):
        self.args, self.comparison, self.tests = args, comparison, tests
        self.script, self.which = script, which
        self.booted = comparison.boots(args.kernel, tests[0])
        self.build, self.console = build_of(self.booted), console_of(args, comparison)
        self.now, self.began, self.lines, self.warned = None, time.monotonic(), [], ""
        self.done, self.said, self.plan, self.last = 0, [], None, None
        self.rows, self.told, self.stopped, self.again = [], "", False, False

    def write(self, which, result, remark=""):
        seconds = round(time.monotonic() - self.began)
        self.rows.append((which, result, remark))
        remark = remark.replace("\t", " ")
        with open(self.comparison.path(self.args.kernel), "a", encoding="utf-8") as f:
            f.write("\t".join((self.now, which, result, str(seconds), remark, self.build))
                    + "\n")
        print("  %-11s %4d s  %s%s%s" % (result, seconds, self.now, which and " " + which,
                                       remark and ": " + remark[:100]), flush=True)

    def contradiction(self, status):
        """What is wrong with what a test said and ended with, or nothing."""
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
        for which, result in self.said:
            self.write(which, result, self.warned)
        if broken:
            self.write("", *broken)
        # Why a test was skipped is worth a look, too, or what failed at first.
        if broken or self.warned or self.again or any(r != "PASS" for _, r in self.said):
            self.keep_log()
        self.now, self.last, self.lines = None, self.now, []
        self.done += 1

    def keep_log(self):
        """What was said since the test began, or since it was over."""
        log = os.path.join(self.comparison.out, self.args.kernel + ".log")
        with open(log, "a", encoding="utf-8") as f:
            f.write("=== %s (kernel messages: %s)\n%s\n"
                    % (self.now, self.console, "\n".join(self.lines[-200:])))

    def after(self, warning):
        """The kernel warned after the last test: what that one left is to blame."""
        self.now = self.last
        # The row that was written last is the one that counts.
        for which, result, remark in {row[0]: row for row in self.rows}.values():
            self.write(which, result, both(remark, "after it: " + warning))
        self.now = None

    def line(self, line):
        word, _, rest = line.partition(" ")
        if word == "@begin":
            self.now, self.began = rest, time.monotonic()
            self.lines, self.warned, self.said, self.plan = [], "", [], None
            self.rows, self.again = [], False
        elif word == "@warned":
            self.told = both(self.told, rest)
            if self.now:
                self.warned = both(self.warned, rest)
            elif self.last:
                self.after(rest)
        elif word == "@lost":
            self.finish(broken=("UNDEFINED", "the kernel's log is longer than its buffer"))
        elif word == "@end":
            self.finish(rest.partition(" ")[0])
        elif word == "@hung":
            self.finish(broken=("HANG", "not done after %d s" % self.args.hang))
        else:
            self.lines.append(line)
            if line.startswith("# again: ") and self.now:
                print("  %s: %s" % (self.now, line[2:]), flush=True)
                self.again = True
            m = PLAN.match(line)
            if m and self.now:
                self.plan = int(m.group(1))
            m = RESULT.match(line)
            if m and self.now:
                self.said.append((self.which(m),
                                  WORDS.get((bool(m.group(1)), m.group(4)), "UNDEFINED")))

    def run(self):
        """Run until the guest is gone; how many tests are done, run.py's status."""
        cmd = [os.path.join(HERE, "run.py"), "--kernel", self.booted, "--allow-warn",
               "--turns", "--silence", str(self.args.hang + 120), "--limit", "86400",
               "--log", os.path.join(self.comparison.out, self.console),
               *self.script, *self.tests]
        with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace") as guest:
            why = ""
            for line in guest.stdout:
                line = line.rstrip("\r\n")
                if line.startswith("run.py: "):
                    why = line[len("run.py: "):]
                self.line(line)
                if self.args.until and time.monotonic() > self.args.until and not self.now:
                    self.stopped = True
                    guest.terminate()
        status = guest.returncode
        why = why or "status %d" % status
        if status == EMULATOR or self.stopped:
            self.broken_off(why)
        elif self.now or status:
            self.died("HANG" if "hangs" in why else "CRASH", why)
        return status

    def died(self, result, why):
        """The guest is gone, and a test is to blame."""
        if self.now:
            self.finish(broken=(result, why))
            return
        # What it died of is what the last one left behind. If there was none, the test
        # that comes next still runs, and this stays.
        self.now = self.last or self.tests[0]
        self.write("" if self.last else BEFORE, result,
                   ("after it: " if self.last else "") + why)
        self.keep_log()
        self.now = None

    def broken_off(self, why):
        """The guest is gone, and no test is to blame: but what was wrong before was wrong."""
        warning = news_of(os.path.join(self.comparison.out, self.console), self.told)
        if self.now:
            self.warned = both(self.warned, warning)
            if self.warned or any(result not in GOOD for _, result in self.said):
                self.finish(broken=("CRASH", why))
        elif warning and self.last:
            self.after(warning)
        elif warning:
            self.died("CRASH", warning)


def news_of(console, told):
    """What the kernel warned of and nobody was told, up to what the emulator did to it."""
    remark = ""
    try:
        with open(console, encoding="utf-8", errors="replace") as f:
            for line in map(str.strip, f):
                if runner.FATAL.search(line) and re.search(r"\bint3: ", line):
                    break
                if re.search(WARNED, line) and news(line, told):
                    remark = both(remark, line)
    except FileNotFoundError:
        pass
    return remark


def console_of(args, comparison):
    """A file that no guest has had yet: run.py begins it anew."""
    number = 1
    while os.path.exists(os.path.join(comparison.out, "%s.console.%d" % (args.kernel, number))):
        number += 1
    return "%s.console.%d" % (args.kernel, number)


def forget_logs(args, comparison):
    """Of results that are all gone nobody needs the logs."""
    for name in os.listdir(comparison.out):
        if re.fullmatch(re.escape(args.kernel) + r"\.(log|console(\.\d+)?)", name):
            os.unlink(os.path.join(comparison.out, name))


def add_arguments(p):
    """The options of a program that runs such tests."""
    p.add_argument("--table", action="store_true", help="only show the table")
    p.add_argument("--continue", dest="go_on", action="store_true", help="keep the results there are")
    p.add_argument("--hang", type=int, default=900, help="seconds of one test: a hang")
    p.add_argument("--for", dest="until", type=int, metavar="SECONDS",
                   help="begin no test after that time")


def run(args, comparison, tests, script, which):
    """Run the tests; how many of them are left.

    script(kernel) is what runs in a guest of that kernel, before the tests themselves.
    """
    os.makedirs(comparison.out, exist_ok=True)
    if args.until:
        args.until += time.monotonic()
    if args.go_on:
        there = {test for test, which in comparison.read_results(args.kernel)[0]
                 if which != BEFORE}
        tests = [t for t in tests if t not in there]
    elif comparison.forget(args.kernel, tests):
        forget_logs(args, comparison)
    tries = acquitted = 0
    while tests and not (args.until and time.monotonic() > args.until):
        booted, same = comparison.first_guest(args.kernel, tests)
        guest = Guest(args, comparison, same, script(booted), which)
        status = guest.run()
        tests = tests[guest.done:]
        if status == EMULATOR:
            acquitted += 1
            # test.sh counts these.
            print("acquitted: the emulator failed; %d tests are left" % len(tests), flush=True)
        if tests and acquitted == FAILURES:
            sys.exit("%s: the emulator failed %d times, the last time in %s"
                     % (os.path.basename(sys.argv[0]), acquitted, tests[0]))
        tries = tries + 1 if not guest.done else 0
        if tries > 3:
            sys.exit("%s: no guest comes as far as %s (status %d)"
                     % (os.path.basename(sys.argv[0]), tests[0], status))
    if tests:
        print("%d tests are left: --continue goes on" % len(tests))
    return len(tests)
