#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What judge.py makes of runs in which something is lost.

Each simulation is a run as a broken core or a broken guest could make it.  Prints TAP.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import run                                              # noqa: E402


CASES = ("x/one.tc", "x/two.tc", "x/three.tc")
PLAN = "TAP version 13\n1..%d\n"
KUNIT = """[    1.1] KTAP version 1
[    1.1] 1..2
[    1.1]     KTAP version 1
[    1.1]     # Subtest: ftrace-a
[    1.1]     1..2
[    1.2]     ok 1 first
[    1.2] some message of the kernel
[   11.2]     ok 2 second
[   11.2] ok 1 ftrace-a
[   11.2]     KTAP version 1
[   11.2]     # Subtest: ftrace-b
[   11.2]     1..1
[   11.2]     ok 1 third
[   11.2] # ftrace-b: pass:1 fail:0 skip:0 total:1
[   11.2] ok 2 ftrace-b
"""


class Place:
    """A tree with three test cases, the second of them also for an instance."""

    def __init__(self, top):
        self.top = top
        tests = os.path.join(top, "tools/testing/selftests/ftrace/test.d/x")
        os.makedirs(tests)
        for path in CASES:
            name = os.path.basename(path)[:-3]
            with open(os.path.join(tests, name + ".tc"), "w", encoding="utf-8") as f:
                f.write("# description: case %s\n" % name)
                f.write("# flags: instance\n" if name == "two" else "")
        self.file("skips.list", "recorder | s: x/one.tc: * | it has to be\n")

    def file(self, name, text):
        path = os.path.join(self.top, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def judge(self, script, *args, cases=CASES, command=()):
        """(lines of judge.py, its status) for a program of the shell's."""
        call = [os.path.join(HERE, "judge.py"), "--suite", "s", "--tree", self.top,
                "--skips", self.top + "/skips.list", "--out", self.top + "/out", *args]
        if cases:
            call += ["--cases", " ".join(cases)]
        call += ["--", "bash", self.file("script", "cd %s\n" % self.top + script), *command]
        done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", check=False)
        if done.stderr:
            return ["not ok - judge.py: " + done.stderr], done.returncode
        return [line for line in done.stdout.split("\n") if line], done.returncode


def results(lines):
    return [line for line in lines if line.startswith(("ok", "not ok"))]


ONE, TWO, THREE = "ok 1 case one\n", "ok 2 case two\n", "ok 3 case three\n"
ALSO = "ok 4 (instance) case two\n"
WHOLE = PLAN % 4 + ONE + TWO + THREE + ALSO
GOOD = ["ok - s: x/one.tc: case one", "ok - s: x/two.tc: case two",
        "ok - s: x/three.tc: case three", "ok - s: x/two.tc: (instance) case two"]


def said(text):
    return "cat <<'EOF'\n%sEOF\n" % text


def simulations():
    """What is simulated, the script, what judge.py says, its other arguments."""
    lost = ["not ok - s: x/two.tc did not answer", "not ok - s: x/three.tc did not answer",
            "not ok - s: x/two.tc (instance) did not answer"]
    yield "all is well", said(WHOLE), GOOD
    yield "ftracetest is killed after the first case", said(PLAN % 4 + ONE), GOOD[:1] + lost
    yield "only the run in an instance is lost", said(PLAN % 4 + ONE + TWO + THREE), \
        GOOD[:3] + lost[2:]
    yield "the plan is too short", said(PLAN % 3 + ONE + TWO + THREE), GOOD[:3] + [
        "not ok - s: x/two.tc (instance) did not answer",
        "not ok - s: the plan has 3 tests, asked for were 4"]
    yield "there is no plan", said("TAP version 13\n" + ONE + TWO + THREE + ALSO), GOOD + [
        "not ok - s: the plan has None tests, asked for were 4"]
    yield "another case answers", said(PLAN % 4 + ONE + "ok 2 case four\n" + THREE + ALSO), \
        GOOD[:1] + ["not ok - s: x/two.tc was asked for, 'case four' answered"] + lost + [
            "not ok - s: 3 answers that nobody asked for"]
    yield "a number is left out", said(PLAN % 4 + ONE + "ok 3 case two\n" + THREE + ALSO), \
        GOOD + ["not ok - s: Test: case two: Expected test number 2 but found 3"]
    yield "a case fails", said(PLAN % 4 + "not " + ONE + TWO + THREE + ALSO) + "exit 1", \
        ["not ok - s: x/one.tc: case one"] + GOOD[1:]
    yield "a status of failure, and none", said(WHOLE) + "exit 1", GOOD + [
        "not ok - s: ended with status 1 (no reason given; see OUT)"]
    yield "a status of the guest's", said(WHOLE) + "echo run.py: it died; exit 125", GOOD + [
        "not ok - s: ended with status 125 (run.py: it died; see OUT)"]
    yield "nothing is said at all", "", [
        "not ok - s: x/one.tc did not answer"] + lost + [
            "not ok - s: the plan has None tests, asked for were 4"]
    yield "a skip that is on the list", said(WHOLE.replace("case one", "case one # SKIP")), \
        ["ok - s: x/one.tc: case one # SKIP it has to be"] + GOOD[1:]
    yield "a skip that is not on the list", \
        said(WHOLE.replace("3 case three", "3 case three # SKIP")), \
        GOOD[:2] + ["not ok - s: x/three.tc: case three "
                    "(a skip that is not in skips.list)"] + GOOD[3:]
    yield "an unresolved case that is not on the list", \
        said(WHOLE.replace("ok 3 case three", "not ok 3 case three # UNRESOLVED")), \
        GOOD[:2] + ["not ok - s: x/three.tc: case three "
                    "(a skip that is not in skips.list)"] + GOOD[3:]
    yield "a failure that was expected is a skip", \
        said(WHOLE.replace("3 case three", "3 case three # XFAIL")), \
        GOOD[:2] + ["not ok - s: x/three.tc: case three "
                    "(a skip that is not in skips.list)"] + GOOD[3:]
    yield "a result after the last of the plan", \
        said(WHOLE + "not ok 5 case five\n"), GOOD + [
            "not ok - s: 5 results, and a plan of 4"]
    # The second guest is asked for what has not answered, and numbers it anew.
    yield "the emulator fails in the second case", \
        "if [ -e again ]; then echo $* >args\n" + \
        said(PLAN % 3 + "ok 1 case two\nok 2 case three\nok 3 (instance) case two\n") + \
        "[ \"$(cat args)\" = 'x/two.tc x/three.tc' ]; exit\nfi\ntouch again\n" + \
        said(PLAN % 4 + ONE) + "exit 124", GOOD
    yield "the emulator fails before the run in an instance", \
        "if [ -e more ]; then\n" + \
        said(PLAN % 2 + "ok 1 case two\nok 2 (instance) case two\n") + \
        "exit\nfi\ntouch more\n" + said(PLAN % 4 + ONE + TWO + THREE) + "exit 124", \
        GOOD[:3] + GOOD[1:2] + GOOD[3:]
    yield "the emulator fails each time", said(PLAN % 4) + "exit 124", [
        "not ok - s: x/one.tc did not answer"] + lost + [
            "not ok - s: ended with status 124 (no reason given; see OUT)"]


def programs():
    """As simulations(), for what is not asked for test case by test case."""
    good = ["ok - s: a", "ok - s: b"]
    yield "a program says its plan in the end", said("ok 1 - a\nok 2 - b\n1..2\n"), good
    yield "a program does not come to its plan", said("ok 1 - a\nok 2 - b\n"), good + [
        "not ok - s: there is no plan"]
    yield "a program loses a test", said("ok 1 - a\nok 2 - b\n1..3\n"), None
    yield "a program has no test", said("1..0\n"), None
    yield "a program says nothing", "", None
    yield "a program has a result more than its plan", \
        said("1..2\nok 1 - a\nok 2 - b\nnot ok 3 - c\n"), good + [
            "not ok - s: 3 results, and a plan of 2"]
    yield "a program fails before the emulator does", \
        "if [ -e third ]; then\n" + said("1..2\nok 1 - a\nok 2 - b\n") + \
        "exit\nfi\ntouch third\n" + said("1..2\nnot ok 1 - a\n") + "exit 124", \
        ["not ok - s: a"] + good
    yield "a program fails", said("ok 1 - a\nok 2 - b\n1..2\n") + "exit 3", good + [
        "not ok - s: ended with status 3 (no reason given; see OUT)"]


def logs():
    """As programs(), for logs of KUnit."""
    cases = ["ok - s: ftrace-a: first", "ok - s: ftrace-a: second", "ok - s: ftrace-b: third"]
    yield "KUnit does well", KUNIT, cases
    yield "a suite of KUnit fails as a whole", KUNIT.replace("] ok 2 ftrace-b", "] not ok 2 ftrace-b"), \
        cases + ["not ok - s: ftrace-b: the suite as a whole"]
    yield "a case of KUnit fails", KUNIT.replace("    ok 2 second", "    not ok 2 second"), \
        [cases[0], "not ok - s: ftrace-a: second", cases[2]]
    yield "a suite of KUnit is not there", \
        KUNIT[:KUNIT.index("[   11.2]     KTAP")].replace("1..2", "1..1", 1), \
        cases[:2] + ["not ok - s: ftrace-b did not answer"]
    yield "another CPU says something while a suite begins", \
        re.sub(r"(?m)^(.*KTAP version 1)$", r"\1\n[   12.345678] clocksource: mask: 0xffff", KUNIT), \
        cases
    spoken = re.sub(r"(?m)^(.*KTAP version 1)$", r"\1\n[   12.3] one\n[   12.3] two", KUNIT)
    yield "it says two things, and a case fails", \
        spoken.replace("    ok 2 second", "    not ok 2 second"), \
        [cases[0], "not ok - s: ftrace-a: second", cases[2]]
    yield "no suite ends, and the line that begins the next is lost", \
        re.sub(r"(?m)^.*(11.2.     KTAP version 1|ok . (first|second|ftrace-a))\n", "", KUNIT), None
    yield "KUnit breaks off", KUNIT[:KUNIT.index("[   11.2]     ok 2")], None
    yield "a suite of KUnit that nobody knows", KUNIT.replace("ftrace-b", "ftrace-c"), \
        cases[:2] + ["ok - s: ftrace-c: third", "not ok - s: ftrace-b did not answer",
                     "not ok - s: ftrace-c is not in the list of suites"]


def kept_logs():
    """The log of a guest whose emulator failed is there for those who read logs."""
    with tempfile.TemporaryDirectory() as top:
        place = Place(top)
        log = place.file("guest.log", "of an earlier run\n")
        place.file("guest.log.3", "of an earlier run\n")
        place.judge("echo guest >>guest.log\n[ -e guest.log.1 ] || exit 124\n" +
                    said("ok 1 - a\n1..1\n"), cases=(), command=("--log", log))
        left = sorted(name for name in os.listdir(top) if name.startswith("guest.log"))
        yield "each guest's log is kept, and none of an earlier run", \
            left == ["guest.log", "guest.log.1"]
        with open(log, encoding="utf-8") as f:
            yield "a guest's log is its own", f.read() == "guest\n"


REPORT = """[ 1.0] ==================================================================
[ 1.0] BUG: KCSAN: data-race in %s / g
[ 1.0] write to 0x1 of 8 bytes by task 1 on cpu 0:
[ 1.0]  %s+0x1/0x10
[ 1.0]  start+0x1/0x10
"""
CLOSE = "[ 1.0] ==================================================================\n"


def reasons():
    """Why a test failed is said with it, also of the last one, wherever it is printed."""
    why, other = "# why\n", "# other\n"
    with tempfile.TemporaryDirectory() as top:
        place = Place(top)
        for what, text, cases, result in (
                ("after the result, of any case",
                 PLAN % 4 + other + "not " + ONE + other + "noise\n" + why + TWO + other + THREE + ALSO, CASES,
                 "not ok - s: x/one.tc: case one"),
                ("after the result, of the last case", PLAN % 4 + ONE + TWO + THREE + "not " +
                 ALSO + why, CASES, "not ok - s: x/two.tc: (instance) case two"),
                ("before the result", other + "not ok 1 - a\n" + why + "not ok 2 - b\n" +
                 other + "1..2\n", (), "not ok - s: b")):
            lines, _ = place.judge(said(text) + "exit 1", cases=cases)
            at = lines.index(result) if result in lines else 0
            yield "why it failed is said " + what, at and lines[at - 1] == "# s: why"


def races():
    """What races.sh makes of the logs of KCSAN."""
    begin = "[ 0.0] kcsan: enabled early\n"
    with tempfile.TemporaryDirectory() as top:
        place = Place(top)
        ours = os.path.join(top, "build/kcsan/kernel/trace/ftrace")
        os.makedirs(ours)
        os.makedirs(os.path.join(top, "build/kcsan/arch/x86/kernel"))
        subprocess.run(["gcc", "-c", "-o", ours + "/a.o",
                        place.file("a.c", "void mine(void) { }\n")], check=True)
        for what, logs, good in (
                ("no report", [begin], True),
                ("KCSAN is off", ["nothing\n"], False),
                ("a race of the base", [begin + REPORT % ("f", "f") + CLOSE], True),
                ("a race of ours", [begin + REPORT % ("f", "mine") + CLOSE], False),
                ("a race of the base, then one of ours",
                 [begin + REPORT % ("f", "f") + CLOSE + REPORT % ("h", "mine") + CLOSE], False),
                ("a report that breaks off", [begin + REPORT % ("f", "f")], False),
                ("a race in the log of a guest before",
                 [begin + REPORT % ("f", "mine") + CLOSE, begin], False),
                ("a report that breaks off in a guest before",
                 [begin + REPORT % ("f", "f"), begin], False)):
            paths = [place.file("log%d" % n, text) for n, text in enumerate(logs)]
            done = subprocess.run([os.path.join(HERE, "races.sh"), *paths],
                                  env={**os.environ, "BUILD": top + "/build"}, check=False,
                                  stdout=subprocess.PIPE, encoding="utf-8")
            lines = [line for line in done.stdout.split("\n") if line and line[0] != "#"]
            yield "races: " + what, len(lines) == 2 and lines[0] == "1..1" and \
                lines[1].startswith("ok 1 - no data race" if good else "not ok 1 - ")


def main():
    n = bad = 0

    def tell(what, good, lines=()):
        nonlocal n, bad
        n += 1
        bad += not good
        for line in () if good else lines:
            print("#   " + line)
        print("%sok %d - %s" % ("" if good else "not ", n, what))

    with tempfile.TemporaryDirectory() as top:
        place = Place(top)

        def check(what, want, lines, status):
            told = results(lines)
            failed = any(line.startswith("not ok") for line in told)
            see = os.path.relpath(place.top + "/out", run.TOP)
            good = failed if want is None else told == [w.replace("OUT", see) for w in want]
            tell(what, good and status == failed and lines[-1] == "judged %d" % len(told), lines)

        for what, script, want in simulations():
            check(what, want, *place.judge(script))
        for what, script, want in programs():
            check(what, want, *place.judge(script, cases=()))
        for what, log, want in logs():
            check(what, want, *place.judge("", "--kunit", place.file("log", log),
                                           "--suites", "ftrace-a ftrace-b", cases=()))
        died = KUNIT[:KUNIT.index("[   11.2]     ok 2")].replace("  ok 1 first", "  not ok 1 first")
        check("a case of KUnit fails before the emulator does",
              ["not ok - s: ftrace-a: first", "ok - s: ftrace-a: first",
               "ok - s: ftrace-a: second", "ok - s: ftrace-b: third"],
              *place.judge("if [ -e fourth ]; then\n" + said(KUNIT).replace("cat", "cat >log", 1) +
                           "exit\nfi\ntouch fourth\n" + said(died).replace("cat", "cat >log", 1) +
                           "exit 124", "--kunit", os.path.join(top, "log"),
                           "--suites", "ftrace-a ftrace-b", cases=()))
    for what, good in (*kept_logs(), *reasons(), *races()):
        tell(what, good)
    print("1..%d" % n)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
