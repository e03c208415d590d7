#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Where the instructions of a traced call go, by function.

Boots a kernel with profile.c and has QEMU log each instruction while that calls one
function again and again. A figure is what a call takes more than an untraced one, in
instructions: for each function the median of all calls, so that ticks of timers fall
out of it, and the little that a new page of the buffer takes, too.
"""

import argparse
import bisect
import collections
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../qemu"))
from bench import build_init  # pylint: disable=wrong-import-position
from places import BUILD      # pylint: disable=wrong-import-position
import run                    # pylint: disable=wrong-import-position

TRACED = re.compile(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")
# No function of the kernel's image: a trampoline that was made when a tracer was
# turned on. There are no modules here.
MADE = "(trampoline)"
# What a call begins with, and how many there are.
ENTRY = "entry_SYSCALL_64"
CALLS = 200


class Failure(Exception):
    pass


class Monitor:
    """QEMU's monitor, over a socket that QEMU connects to."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.stream = None

    def tell(self, *commands):
        if not self.stream:
            self.stream = self.listener.accept()[0].makefile("rw", encoding="utf-8")
            self.ask("qmp_capabilities")
        for command in commands:
            said = self.ask("human-monitor-command", {"command-line": command})
            if said:
                raise Failure("QEMU: %s: %s" % (command, said.strip()))

    def ask(self, name, arguments=None):
        self.stream.write(json.dumps({"execute": name, "arguments": arguments or {}}) + "\n")
        self.stream.flush()
        for line in self.stream:
            answer = json.loads(line)
            if "error" in answer:
                raise Failure("QEMU: " + answer["error"]["desc"])
            if "return" in answer:
                return answer["return"]
        raise Failure("QEMU is gone")


class Symbols:
    """The functions of a kernel that is where it was linked to be."""

    def __init__(self, vmlinux):
        names = subprocess.run(["nm", "-n", "--defined-only", vmlinux], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        self.starts, self.names, self.end = [], [], 0
        for line in names.splitlines():
            start, kind, name = line.split()
            if kind in "tTwW" and not name.startswith("__pfx_"):
                self.starts.append(int(start, 16))
                self.names.append(name)
            elif name == "_end":
                self.end = int(start, 16)

    def at(self, address):
        """None for user space."""
        if not address >> 63:
            return None
        if not self.starts[0] <= address < self.end:
            return MADE
        return self.names[bisect.bisect_right(self.starts, address) - 1]


def counted(path, symbols):
    """{function: instructions of one call}."""
    calls = []
    with open(path, encoding="ascii", errors="replace") as log:
        for line in log:
            m = TRACED.match(line)
            name = m and symbols.at(int(m.group(1), 16))
            if not name:
                continue
            if name == ENTRY and (not calls or set(calls[-1]) != {ENTRY}):
                calls.append(collections.Counter())
            if calls:
                calls[-1][name] += 1
    if len(calls) < CALLS:
        raise Failure("%d calls were logged, of %d" % (len(calls), CALLS))
    names = set().union(*calls)
    return {name: statistics.median(call[name] for call in calls) for name in names}


def watch(guest, monitor, tmp, symbols):
    """{way of tracing: what counted() gives}, in the order of profile.c."""
    got = {}
    for line in guest.stdout:
        words = line.split()
        if words[:1] == ["begin"]:
            path = tmp + "/" + words[1]
            monitor.tell("logfile " + path, "one-insn-per-tb on", "log exec,nochain")
        elif words[:1] == ["end"]:
            monitor.tell("stop", "log none", "one-insn-per-tb off")
            got[os.path.basename(path)] = counted(path, symbols)
            os.unlink(path)
            monitor.tell("cont")
        elif words[:1] == ["error:"]:
            raise Failure(line.strip())
    return got


def profiles(kernel, tmp):
    symbols = Symbols(os.path.join(BUILD, kernel, "vmlinux"))
    build_init(tmp + "/init", "profile.c")
    monitor = Monitor(tmp + "/qmp")
    command = [sys.executable, os.path.realpath(__file__), "--guest", tmp + "/qmp",
               "--kernel", kernel, "--mem", "1G", "--accel", "icount", "--cpus", "1",
               "--init", tmp + "/init", "--append", "nokaslr",
               "--log", os.path.join(BUILD, "run", "bench-profile.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as guest:
        try:
            got = watch(guest, monitor, tmp, symbols)
        except BaseException:
            guest.terminate()
            raise
    if guest.returncode or not got:
        raise Failure("the guest with the %s kernel failed" % kernel)
    return got


def run_guest(path, *args):
    """run.py for a guest whose monitor is at the other end of a socket.

    Instructions are its clock, but it sleeps as long as it says: then we act.
    """
    plain = run.qemu_command

    def with_monitor(*how):
        command = [word.replace("sleep=off", "sleep=on") for word in plain(*how)]
        return command + ["-qmp", "unix:%s,server=off" % path]

    run.qemu_command = with_monitor
    sys.argv[1:] = args
    return run.main()


def main():
    if sys.argv[1:2] == ["--guest"]:
        return run_guest(*sys.argv[2:])

    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kernel", nargs="?", default="recorder")
    args = p.parse_args()
    try:
        with tempfile.TemporaryDirectory() as tmp:
            got = profiles(args.kernel, tmp)
    except Failure as e:
        sys.exit("profile.py: %s" % e)

    plain = got.pop("untraced")
    for name, counts in got.items():
        more = {f: n - plain.get(f, 0) for f, n in counts.items()}
        print("%s: %.0f instructions" % (name, sum(more.values())))
        for f, n in sorted(more.items(), key=lambda item: -item[1]):
            if n >= 0.5:
                print("%8.1f  %s" % (n, f))
    return 0


if __name__ == "__main__":
    sys.exit(main())
