#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What run.py boots a guest on, and what it and the Debian tests say of its log and end.

Prints TAP.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import run                                              # noqa: E402
from breakpoints import late_int3                       # noqa: E402


def beside(path):
    """A program as a module, by its path: "test" is one of Python's own."""
    spec = importlib.util.spec_from_file_location("deb", os.path.join(HERE, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


deb = beside("../deb/test.py")


class Emulator:
    """An emulator that is gone: with this status, of this complaint."""

    def __init__(self, returncode):
        self.returncode = returncode
        self.stderr = io.BytesIO(b"qemu: a.c:1: f: Assertion failed.")

    def wait(self):
        """It has ended already."""


class Log(run.Console):
    """The kernel's messages, all of them there already."""

    def __init__(self, path, text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        super().__init__(path, None)
        self.read()


def end_of(check, args, returncode, console, given):
    """The status with which check says how a guest ended."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check(args, Emulator(returncode), console, given)
    except run.Failure as e:
        return e.status
    return None


def ends():
    """What run.py and the Debian tests say of how a guest ended."""
    alarm = "[ 1.0] WARNING: CPU: 0 PID: 1 at kernel/a.c:1 f+0x1/0x2\n"
    oops = ("[ 2.0] Oops: int3: 0000 [#1]\n[ 2.0] RIP: 0010:f+0x7/0x10\n"
            "[ 2.0] Code: 90 66 <90>\n")
    kasan = "[ 1.0] BUG: KASAN: use-after-free in f+0x1/0x2\n"
    fault = "[ 1.0] BUG: unable to handle page fault for address: 0000000000000010\n"
    args = argparse.Namespace(allow_warn=False, turns=False, stages="up,power_off")
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "log")
        for what, log, returncode, status, want in (
                ("all is well", "", 0, 0, None),
                ("the script fails", "", 0, 1, None),
                ("the script ends as if the emulator had failed", "", 0, run.EMULATOR,
                 run.FAILED),
                ("the kernel warns", alarm, 0, 0, run.FAILED),
                ("no result", "", 0, None, run.FAILED),
                ("the emulator dies", "", -signal.SIGABRT, None, run.EMULATOR),
                ("a warning, then the emulator dies", alarm, -signal.SIGABRT, None,
                 run.FAILED),
                ("a late breakpoint", oops, 0, None, run.EMULATOR),
                ("a late breakpoint, in turns", oops, 0, None, run.FAILED),
                ("a report, then a late breakpoint", kasan + oops, 0, None, run.FAILED),
                ("a page fault, then a late breakpoint", fault + oops, 0, None, run.FAILED),
                ("a warning, then a late breakpoint", alarm + oops, 0, None, run.FAILED)):
            args.turns = what.endswith("in turns")
            yield "how a guest ends: " + what, \
                end_of(run.check_end, args, returncode, Log(path, log), status) == want
            if status is None:
                yield "how a Debian guest ends: " + what, \
                    end_of(deb.check_end, args, returncode, Log(path, log), []) == want


def boots():
    """What the Debian tests say of how often a guest booted."""
    boot = "[ 0.0] Linux version 6.12.1\n"
    prompt = "Debian GNU/Linux 12 guest ttyS0\n\nguest login: "
    kexec, again = "[ 9.0] kexec_core: Starting new kernel\n", "[ 9.0] reboot: Restarting system\n"
    up, busy, off = ("ok", "up"), ("ok", "busy"), "[ 9.9] reboot: Power down\n"
    with tempfile.TemporaryDirectory() as top:
        for what, log, given, want in (
                ("once", boot + prompt, [up, busy], None),
                ("without a prompt", boot, [up, busy], run.FAILED),
                ("again, before the first stage", boot + boot + prompt, [up, busy], run.FAILED),
                ("again, between two stages", boot + prompt + boot + prompt, [up, busy], run.FAILED),
                ("as two stages ask for", boot + prompt + kexec + boot + again + boot,
                 [up, ("ok", "kexec_away"), ("ok", "reboot_away")], None),
                ("once more than a stage asks for", boot + prompt + boot + kexec + boot,
                 [up, ("ok", "kexec_away")], run.FAILED),
                ("and does not leave by kexec", boot + prompt + boot,
                 [up, ("ok", "kexec_away")], run.FAILED),
                ("once, since kexec fails", boot + prompt, [up, ("not ok", "kexec_away")], None)):
            stages = ",".join([stage for _, stage in given] + ["power_off"])
            args = argparse.Namespace(allow_warn=False, turns=False, stages=stages)
            yield "a Debian guest boots " + what, \
                end_of(deb.check_end, args, 0, Log(os.path.join(top, "log"), log + off), given) == want


def breakpoints():
    """An oops of a breakpoint that is not there, and of one that is."""
    oops = "Oops: int3: 0000 [#1]\nRIP: 0010:f+0x%d/0x10\nCode: 90 00 %s <90>\n"
    late = oops % (7, "66")
    freed = ("Oops: int3: 0000 [#1]\nRIP: 0010:0xffffffffc0201001\nCode: cc cc cc <cc>\n"
             "RIP: 0010:f+0x7/0x10\n")
    unread = ("Oops: int3: 0000 [#1]\nRIP: 0010:0xffffffffc0201001\n"
              "Code: Unable to access opcode bytes at 0xffffffffc0200fd7.\n")
    for what, text, number, acquitted in (
            ("of a jump label, gone", oops % (7, "66"), (10, 0), True),
            ("of a jump label at an entry, gone", oops % (1, "66"), (10, 0), True),
            ("of a jump label, there", oops % (7, "cc"), (7, 2), False),
            ("of ftrace, gone", oops.replace("f+", "ftrace_f+") % (7, "0f"), (10, 0), False),
            ("of a call, gone", oops % (7, "e8"), (10, 0), False),
            ("of a call site first", oops % (5, "0f") + oops % (7, "66"), (10, 0), False),
            ("of a call site, gone", oops % (5, "0f"), (7, 2), False),
            *(("of a call site, gone, twice", 2 * (oops % (5, "0f")), number, old)
              for number, old in (((7, 2), True), ((8, 0), True), ((8, 1), False),
                                  ((10, 0), False))),
            ("of a call site, there, twice", 2 * (oops % (5, "cc")), (7, 2), False),
            ("of a call site, there, first", oops % (5, "cc") + late, (7, 2), False),
            ("of a freed trampoline first", freed + late, (10, 0), False),
            ("of code that is gone first", unread + late, (10, 0), False)):
        yield "a breakpoint %s, in QEMU %d.%d" % (what, *number), \
            bool(late_int3(text, lambda v=number: v)) == acquitted


def alarms():
    """What a guest must not say in its log, and what a case may provoke."""
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "log")
        for line, alarming in (
                ("[ 1.0] Out of memory: Killed process 12 (bash) total-vm:1kB", True),
                ("[ 1.0] INFO: task bash:12 blocked for more than 120 seconds.", True),
                ("[ 1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", True),
                ("[ 1.0] rcu: INFO: rcu_preempt self-detected stall on CPU", True),
                ("[ 1.0] watchdog: Watchdog detected hard LOCKUP on cpu 0", True),
                ("[ 1.0] ftrace: call site 0x1 (f+0x4/0x8) cannot be read, expected 90, "
                 "flags 0x0; it is left alone", True),
                ("[ 1.0] ftrace: no function tracing: start-up failed (-12)", True),
                ("[ 1.0] ftrace: a filter that was written cannot take effect: -12", True),
                ("[ 1.0] ftrace: profile: 1 calls not counted, no room", True),
                ("[ 1.0] ftrace: 28218 call sites in the table, and 0 entries that are not call sites",
                 False)):
            with open(path, "w", encoding="utf-8") as f:
                f.write(line + "\n")
            console = run.Console(path, None)
            console.read()
            yield "the log says: %.40s" % line[7:], \
                (console.warned is not None or console.fatal is not None) == alarming
        left = "[ 1.0] ftrace: call site 0x1 (f): expected 90, found 91; it is left alone\n"
        for case, alarming in (("dynamic/corrupt.tc", False), ("dynamic/filter.tc", True)):
            with open(path, "w", encoding="utf-8") as f:
                f.write("[ 0.5] ftracetest: case %s\n" % case + left)
            console = run.Console(path, None)
            console.read()
            yield "a call site is left alone in %s" % case, \
                (console.warned is not None) == alarming
        # A WARNING is provoked as well, but that one and no other.
        warning = "[ 1.0] WARNING: CPU: 0 PID: 1 at %s:9 %s+0x1/0x2\n"
        ours = ("kernel/trace/ftrace/text/plan.c", "report_bad")
        for case, place, alarming in (("dynamic/corrupt.tc", ours, False),
                                      ("dynamic/filter.tc", ours, True),
                                      ("dynamic/corrupt.tc", (ours[0], "other"), True),
                                      ("dynamic/corrupt.tc", ("mm/slub.c", "f"), True)):
            with open(path, "w", encoding="utf-8") as f:
                f.write("[ 0.5] ftracetest: case %s\n" % case + left * (not alarming) +
                        warning % place)
            console = run.Console(path, None)
            console.read()
            yield "a warning of %s in %s" % (place[1], case), \
                (console.warned is not None) == alarming
        for suite, alarming in (("plan", False), ("hash", True)):
            with open(path, "w", encoding="utf-8") as f:
                f.write("[ 0.5]     # Subtest: ftrace-%s\n" % suite + warning % ours)
            console = run.Console(path, None)
            console.read()
            yield "a warning of report_bad in KUnit's %s" % suite, \
                (console.warned is not None) == alarming
        with open(path, "w", encoding="utf-8") as f:
            f.write("[ 0.5] ftracetest: case dynamic/corrupt.tc\n"
                    "[ 0.6] ftracetest: case none\n" + left)
        console = run.Console(path, None)
        console.read()
        yield "a call site is left alone after its case", console.warned is not None


def accelerators():
    """What a guest is run on, whatever was tried before."""
    kept = run.BUILD, run.initramfs, run.qemu, run.os.access, run.subprocess.Popen
    try:
        with tempfile.TemporaryDirectory() as top:
            run.initramfs = lambda *_: None
            run.qemu = lambda: ["qemu"]
            for what, node, said, asked, accel, turns in (
                    ("without KVM", False, "", "auto", "tcg", False),
                    ("where KVM hangs or fails", True, "", "auto", "tcg", False),
                    ("where KVM works", True, "guest-says-hello", "auto", "kvm", True),
                    ("that is told not to look for KVM", True, "", "tcg", "tcg", False),
                    ("that counts instructions", True, "", "icount", "icount", True)):
                run.BUILD = os.path.join(top, what)
                os.makedirs(run.BUILD)
                run.os.access = lambda *_, there=node: there
                run.subprocess.Popen = lambda *_, text=said, **__: kept[4](
                    ["echo", text], stdout=run.subprocess.PIPE)
                args = run.parser().parse_args(["--accel", asked, "true"])
                got = run.accelerator(args, "kernel")
                yield "a guest %s" % what, (got, args.turns) == (accel, turns)
    finally:
        run.BUILD, run.initramfs, run.qemu, run.os.access, run.subprocess.Popen = kept


def main():
    n = bad = 0
    for what, good in (*accelerators(), *breakpoints(), *alarms(), *ends(), *boots()):
        n += 1
        bad += not good
        print("%sok %d - %s" % ("" if good else "not ", n, what))
    print("1..%d" % n)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
