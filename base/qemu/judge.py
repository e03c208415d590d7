#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run tests, and say of each one that was asked for how it went.

usage: judge.py --suite NAME [OPTION...] -- COMMAND...

COMMAND prints KTAP: run.py with a script for the guest, or a program that runs
here.  What is asked for, what the plan says and what is answered have to agree:
nothing that is lost counts as passed.  With --cases COMMAND gets the test cases
as its last arguments, and each has to answer by its description; with --kunit
the results are those in the log of the kernel.

Prints "ok - SUITE: TEST", "not ok - ..." or "ok - ... # SKIP why" for each test,
all else as comments, and "judged N", the number of results, in the end.  Lines
are read by the base's kunit_parser, so that there is one reader of KTAP.  It
takes the plan first; a program that only knows at its end how many tests it had
says so in its last line, which is moved up.

Where run.py says that the emulator failed, and not the kernel, another guest
runs the cases that have not answered.  Each time is counted and told, and the
log of the guest that died is kept as LOG.1, LOG.2 and so on.
"""

import argparse
import fnmatch
import glob
import io
import os
import re
import signal
import subprocess
import sys
import time

from places import BUILD, HERE, TOP, missing

TESTS = os.path.join(TOP, "tools/testing/selftests/ftrace/test.d")
# run.py's status for an emulator that failed, and how often that may happen.
EMULATOR = 124
TRIES = 4
# Seconds for a log, which takes a few at most.
PARSER_LIMIT = 300
# What of the log of a failed test is said before its result.
CONTEXT = 12

# From the base itself. If that lacks its tools, do not guess.
KUNIT = os.path.join(BUILD, "base/tools/testing/kunit")
if not os.path.exists(os.path.join(KUNIT, "kunit_parser.py")):
    sys.exit("judge.py: " + missing(KUNIT, "whoever reads TAP", "run make prepare"))
sys.path.insert(0, KUNIT)
sys.dont_write_bytecode = True
import kunit_parser                                     # noqa: E402
from kunit_parser import TestStatus                     # noqa: E402
from kunit_printer import Printer                       # noqa: E402

PLAN = re.compile(r"1\.\.\d+$")
RESULT = re.compile(r"(not )?ok \d+\b")
VERSION = re.compile(r"(?:\[ *[0-9.]+\] )?K?TAP version \d+$")
# How ftracetest says that a case did not do what it is for, beside SKIP.
ENDED = re.compile(r"^(?:not )?ok (.*) # (UNRESOLVED|XFAIL)\b.*$")
# Within a log of KUnit, without its stamps.
BEGINS = re.compile(r" +KTAP version \d+$")
SUBTEST = re.compile(r" +# Subtest: ")
STAMP = re.compile(r"^\[ *[0-9]+\.[0-9]+\] ")


class Result:
    """How one test went: good, skipped (why), lost or neither, with its log."""

    def __init__(self, name, good, skip=None, log=(), lost=False):
        self.name, self.good, self.skip, self.log, self.lost = name, good, skip, log, lost


def plan_first(lines):
    """A plan that follows the results it counts, moved to where KTAP has it."""
    plans = [i for i, line in enumerate(lines) if PLAN.match(line)]
    results = [i for i, line in enumerate(lines) if kunit_parser.TEST_RESULT.match(line)]
    if len(plans) == 1 and results and plans[0] > results[-1]:
        lines.insert(results[0], lines.pop(plans[0]))
    if not any(VERSION.match(line) for line in lines):
        lines.insert(0, "TAP version 13")
    return lines


def reasons_first(lines):
    """What ftracetest says of a case after its result, before it, where the parser looks."""
    out, at = [], 0
    for line in lines:
        if line.startswith("# "):
            out.insert(at, line)
            at += 1
            continue
        if RESULT.match(line):
            at = len(out)
        elif PLAN.match(line) or VERSION.match(line):
            at = len(out) + 1
        out.append(line)
    return out


def suites_whole(lines):
    """The two lines that begin a suite, together: another CPU may speak in between."""
    out = []
    for line in lines:
        at = len(out)
        if SUBTEST.match(line):
            while at and not any(end.match(out[at - 1]) for end in (BEGINS, SUBTEST)) and \
                    not RESULT.match(out[at - 1].strip()):
                at -= 1
            if not (at and BEGINS.match(out[at - 1])):
                at = len(out)
        out.insert(at, line)
    return out


def parse(lines, kunit, reasons_last=False):
    """The tests in these lines: kunit_parser's tree, and what it finds amiss."""
    lines = [ENDED.sub(r"ok \1 # SKIP \2", line) for line in lines]
    if kunit:
        # Stamps grow with time, and the parser counts characters.
        lines = suites_whole(STAMP.sub("", line) for line in lines)
    else:
        lines = plan_first(reasons_first(lines) if reasons_last else lines)
    said = io.StringIO()
    kunit_parser.stdout = Printer(said)
    # There are lines with which it does not end. This ends it, and so this program.
    signal.alarm(PARSER_LIMIT)
    tree = kunit_parser.parse_run_tests(lines)
    signal.alarm(0)
    # What it counts as missing it also tells, and that is told below by name.
    amiss = [line[line.index("[ERROR]") + 8:] for line in said.getvalue().split("\n")
             if "[ERROR]" in line]
    # It reads no further than the plan goes.
    given = sum(bool(RESULT.match(line)) for line in lines)
    if tree.expected_count is not None and given > tree.expected_count:
        amiss.append("%d results, and a plan of %d" % (given, tree.expected_count))
    return tree, amiss


def flat(test, above=""):
    """The results of a tree, each case of a suite and each suite that failed."""
    name = above + re.sub(r"^- ", "", test.name.strip())
    lost = test.status == TestStatus.TEST_CRASHED
    if test.subtests and above.count(": ") < 1 and test.name:
        for t in test.subtests:
            yield from flat(t, name + ": ")
        cases = [r for t in test.subtests for r in flat(t)]
        if test.status != TestStatus.SUCCESS and all(r.good for r in cases):
            yield Result(name + ": the suite as a whole", False, log=test.log, lost=lost)
        return
    skip = None
    if test.status == TestStatus.SKIPPED:
        # "ok 1 name # SKIP why": the parser drops the reason.
        skip = "said so"
    yield Result(name or "?", test.status in (TestStatus.SUCCESS, TestStatus.SKIPPED),
                 skip, test.log, lost)


class Case:
    """A test case of ftracetest, as asked for: a file below test.d."""

    def __init__(self, path, tree):
        self.path = path
        text = ""
        for top in (TESTS, os.path.join(tree, "tools/testing/selftests/ftrace/test.d")):
            if os.path.exists(os.path.join(top, path)):
                with open(os.path.join(top, path), encoding="utf-8") as f:
                    text = f.read()
                break
        self.description = " ".join(
            re.findall(r"(?m)^#[ \t]*description:(.*)$", text)[0:1]).split()
        self.instance = bool(re.search(r"(?m)^#[ \t]*flags:.*instance", text))


class Allowed:
    """The skips that are on the list, each with its reason."""

    def __init__(self, path):
        self.rows = []
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    self.rows.append([field.strip() for field in line.split("|", 2)])

    def reason(self, kernel, name):
        for kernels, names, reason in self.rows:
            if fnmatch.fnmatch(kernel, kernels) and fnmatch.fnmatch(name, names):
                return reason
        return None


class Judge:
    def __init__(self, args):
        self.args, self.bad, self.total = args, 0, 0
        self.allowed = Allowed(args.skips)

    def comment(self, line):
        print("# %s: %s" % (self.args.suite, re.sub(r"^# ", "", line)), flush=True)

    def tell(self, result):
        self.total += 1
        name = "%s: %s" % (self.args.suite, result.name)
        if result.good and result.skip is None:
            print("ok - " + name, flush=True)
            return
        if result.good:
            why = self.allowed.reason(self.args.kernel, name)
            if why is not None:
                print("ok - %s # SKIP %s" % (name, why), flush=True)
                return
            name += " (a skip that is not in %s)" % os.path.basename(self.args.skips)
        self.bad += 1
        for line in list(result.log)[-CONTEXT:]:
            self.comment(line)
        print("not ok - " + name, flush=True)

    def fail(self, what):
        self.tell(Result(what, False))

    def run(self, command):
        """Run it; its lines, which come out as comments meanwhile, and its status."""
        lines, since = [], time.monotonic()
        with open(self.args.out, "a", encoding="utf-8") as out, \
             subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8",
                              errors="replace") as child:
            for line in child.stdout:
                line = line.rstrip("\r\n")
                out.write(line + "\n")
                if not line:
                    continue
                lines.append(line)
                self.comment(line)
                now = time.monotonic()
                if kunit_parser.TEST_RESULT.match(line):
                    if now - since >= 5:
                        self.comment("%d s" % (now - since))
                    since = now
        return lines, child.returncode

    def keep_log(self, number):
        """The log of the guest that died: the next one has its own."""
        log = self.log()
        if log and os.path.exists(log):
            os.replace(log, "%s.%d" % (log, number))

    def drop_logs(self):
        """What an earlier run has left is none of this one's."""
        log = self.log()
        for path in [log, *glob.glob(glob.escape(log) + ".[0-9]*")] if log else ():
            if os.path.exists(path):
                os.unlink(path)

    def log(self):
        """Where the command writes a guest's kernel messages, if it does."""
        command = self.args.command
        return command[command.index("--log") + 1] if "--log" in command else None

    def listed(self):
        """Cases by name: each runs at the top level, some in an instance as well."""
        todo = [Case(path, self.args.tree) for path in self.args.cases]
        open(self.args.out, "w", encoding="utf-8").close()
        for tries in range(TRIES):
            lines, status = self.run(self.args.command + [c.path for c in todo])
            asked = [(c, "") for c in todo]
            asked += [(c, "(instance)") for c in todo if c.instance]
            tree, amiss = parse(lines, False, reasons_last=True)
            answers = [r for t in tree.subtests for r in flat(t)
                       if t.status != TestStatus.TEST_CRASHED]
            done = self.compare(asked, answers)
            left = [c for c in todo if any(a is c for a, _ in asked[done:])]
            if status != EMULATOR or tries + 1 == TRIES or not left:
                break
            self.comment("acquitted: the emulator failed; %d cases go on in another guest"
                         % len(left))
            self.keep_log(tries + 1)
            # A case that has answered at the top level alone runs there again.
            todo = left
        said = lines
        for case, where in asked[done:]:
            self.tell(Result(" ".join(filter(None, (case.path, where, "did not answer"))),
                             False, log=said))
            said = []
        if tree.expected_count != len(asked):
            self.fail("the plan has %s tests, asked for were %d"
                      % (tree.expected_count, len(asked)))
        if len(answers) > done:
            self.fail("%d answers that nobody asked for" % (len(answers) - done))
        if len(answers) == len(asked):
            self.amiss(amiss)
        # ftracetest says 1 if a case failed.
        self.ended(status, any(not r.good for r in answers), lines)

    def compare(self, asked, answers):
        """Tell those answers that are what was asked, in that order; how many are."""
        for n, ((case, where), r) in enumerate(zip(asked, answers)):
            words = ([where] if where else []) + case.description
            if r.name.split() != words:
                self.fail("%s was asked for, '%s' answered" % (case.path, r.name))
                return n
            r.name = "%s: %s" % (case.path, " ".join(words))
            self.tell(r)
        return min(len(asked), len(answers))

    def unlisted(self):
        """Suites of KUnit by name, or whatever a program has."""
        for tries in range(TRIES):
            open(self.args.out, "w", encoding="utf-8").close()
            said, status = self.run(self.args.command)
            lines = self.kunit_log() if self.args.kunit else said
            if status != EMULATOR or tries + 1 == TRIES:
                break
            self.comment("acquitted: the emulator failed; all begins again in another guest")
            self.tell_failures(lines)
            self.keep_log(tries + 1)
        tree, amiss = parse(lines, bool(self.args.kunit))
        results = [r for t in tree.subtests for r in flat(t)]
        for r in results:
            self.tell(r)
        names = [re.sub(r"^- ", "", t.name.strip()) for t in tree.subtests]
        for suite in self.args.suites:
            if suite not in names:
                self.fail("%s did not answer" % suite)
        if self.args.suites:
            for name in set(names) - set(self.args.suites):
                self.fail("%s is not in the list of suites" % (name or "a test without a name"))
        if tree.expected_count is None:
            self.fail("there is no plan")
        self.amiss(amiss)
        self.ended(status, any(not r.good for r in results) and not self.args.kunit, said)

    def kunit_log(self):
        try:
            with open(self.args.kunit, encoding="utf-8", errors="replace") as f:
                return [line.rstrip("\r\n") for line in f]
        except OSError as e:
            self.fail("no log: %s" % e)
            return []

    def tell_failures(self, lines):
        """The emulator has failed, but what failed before that has failed."""
        tree, _ = parse(lines, bool(self.args.kunit))
        for r in (r for t in tree.subtests for r in flat(t)):
            if not (r.good or r.lost):
                self.tell(r)

    def amiss(self, amiss):
        if amiss and not self.bad:
            self.fail("; ".join(amiss))

    def ended(self, status, failures, lines):
        if not self.total:
            self.fail("not one test was run")
        if status and not (status == 1 and failures):
            why = [line for line in lines if re.match(r"(run|test)\.py: ", line)] or \
                ["no reason given"]
            self.fail("ended with status %d (%s; see %s)"
                      % (status, why[-1], os.path.relpath(self.args.out, TOP)))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--suite", required=True, help="the name before each test")
    p.add_argument("--kernel", default="recorder", help="which skips are allowed")
    p.add_argument("--skips", default=HERE + "/skips.list")
    p.add_argument("--out", required=True, help="keep there what COMMAND prints")
    p.add_argument("--tree", default=os.path.join(BUILD, "linux"),
                   help="where test cases are that are not ours")
    p.add_argument("--cases", type=str.split, help="test cases, below test.d")
    p.add_argument("--kunit", metavar="LOG", help="the results are in this log")
    p.add_argument("--suites", type=str.split, default=[], help="which have to answer")
    p.add_argument("command", nargs="+")
    args = p.parse_args()
    judge = Judge(args)
    judge.drop_logs()
    if args.cases is None:
        judge.unlisted()
    elif args.cases:
        judge.listed()
    else:
        judge.fail("no test case")
    print("judged %d" % judge.total)
    return 1 if judge.bad else 0


if __name__ == "__main__":
    sys.exit(main())
