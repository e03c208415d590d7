#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Show the ways through our files: which functions are entered, in which order.

The kernel boots in QEMU, does each thing once so that all is settled, then does it
again while QEMU writes down each entry of a function of ours.  The guest's write to
trace_marker begins and ends what is written down: QEMU stops at a breakpoint there,
through its stub for gdb.  Instructions are the clock and there is one CPU, so the
same kernel gives the same ways.

The ways:

  site      a function runs for the first time, until its call site is a nop
  filter    one name is written to set_ftrace_filter
  function  "function" is written to current_tracer
  module    a module is unloaded while its functions are traced
  kprobe    a kprobe is set on a function, and enabled

A line of a way: its number, "<" if it comes back to a file that the way has left,
the task (a: the one that did it; b, c: others that went on for it), the function,
indented by the calls it is in, and its file.  What is repeated at once counts once,
so a loop does not count by its length.  Not shown is what __fentry__ calls, but in
site: that depends on what else runs for the first time.  Functions that the compiler
has put into their callers do not show: take the kernel small-ways (base/build.sh), where
it does so only with those declared inline.

--compare BEFORE AFTER, both of them outputs of this or, like ways.list, only their lines
"way NAME: ...", fails if a way comes back to a file more than half as often as before, or
if there are more than 12 functions in "function" until ftrace_update_ops() is entered,
itself not counted.
"""

import argparse
import collections
import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "base/qemu"))
import run                                              # noqa: E402

OURS = re.compile(r"(kernel/trace/ftrace/.*|arch/x86/kernel/ftrace/.*)\.o")
TESTS = re.compile(r"kernel/trace/ftrace/(kunit|test)/")
MARK = "tracing_mark_write"
RECORDER = "__fentry__"
# What that calls. The stack does not tell it from what its caller calls next.
RECORDS = ("ftrace_note", "ftrace_note_claim")
UPDATE = "ftrace_update_ops"
# A way that does not get there would count as a shorter one.
REACHES = {"site": "ftrace_update_finish", "filter": "ftrace_ops_replace_half",
           "function": UPDATE, "module": "ftrace_region_remove", "kprobe": UPDATE}
AT_MOST = 12
# A stack is so large and aligned to its size.
STACK = 1 << 14
# A loop is recognised if so many functions or less are repeated.
LOOP = 64

# What is done, what it needs before, and what it takes to undo it.
PREPARE = {"module": "modprobe ftrace_test_mod\n"
                     "echo 'ftrace_test_mod_f*' >set_ftrace_filter\n"
                     "echo function >current_tracer"}
DO = {
    "site": "echo 'ftrace_test_mod_f$n 1' >$run\n"
            "for i in {1..30}; do sleep .1; done",
    "filter": "echo schedule >set_ftrace_filter",
    "function": "echo function >current_tracer",
    "module": "rmmod ftrace_test_mod",
    "kprobe": "echo 'p:ways vfs_readlink' >kprobe_events\n"
              "echo 1 >events/kprobes/ways/enable",
}
UNDO = {
    "filter": "echo >set_ftrace_filter",
    "function": "echo nop >current_tracer",
    "module": "echo nop >current_tracer\necho >set_ftrace_filter",
    "kprobe": "echo 0 >events/kprobes/ways/enable\necho >kprobe_events",
}
# That it is at its end: one that is cut off would count as a shorter one.
CHECK = {"site": "exec 3<>/sys/kernel/debug/ftrace_test/text\n"
                 "echo ftrace_test_mod_f$n >&3\n"
                 "cut -d ' ' -f 3 <&3 | grep -qE '^(nop5|jmp)$' ||\n"
                 "{ echo 'the way of a site is not at its end'; exit 1; }\n"
                 "exec 3>&-"}


class Fault(Exception):
    """The question cannot be answered: one clear line why."""


def script(ways):
    """What the guest runs: each way once, then each way once more between two marks."""
    lines = ["set -e", "cd /sys/kernel/tracing", "echo >set_ftrace_filter",
             "run=/sys/kernel/debug/ftrace_test_mod/run",
             "settle() { for t in {1..300}; do",
             "grep -q '^equilibrium: yes' ftraced_stats && return; sleep .1",
             "done; echo 'call sites do not settle'; exit 1; }"]
    for turn in (0, 1):
        for way in ways:
            if way == "site":
                lines.append("modprobe ftrace_test_mod\nn=%02d\nsettle" % turn)
            elif turn:
                lines.append("settle\necho 0 >ftraced_enabled")
            lines.append(PREPARE.get(way, ""))
            mark = "echo %s >trace_marker" % way if turn else ""
            lines += [mark, DO[way].replace("'ftrace_test_mod_f$n 1'", '"ftrace_test_mod_f$n 1"'),
                      mark, CHECK.get(way, ""), UNDO.get(way, ""), "echo 1 >ftraced_enabled"]
            if way == "site":
                lines.append("rmmod ftrace_test_mod")
    return "\n".join(line for line in lines if line)


# ---- where our functions are ---------------------------------------------------

def read_symbols(path):
    """[(name, section, address, is it a function?)] of an ELF file, as objdump tells them."""
    out = subprocess.run(["objdump", "-t", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, encoding="utf-8", check=False)
    if out.returncode:
        raise Fault("objdump cannot read " + path)
    return [(m[4], m[3], int(m[1], 16), m[2] == "F" or m[4] == RECORDER) for m in
            re.finditer(r"(?m)^([0-9a-f]{16}) .{6}(.) (\S+)\t[0-9a-f]{16} (?:\.hidden )?(\S+)$",
                        out.stdout)]


def objects(tree):
    """(object, file) of what is ours in a kernel, but for its tests."""
    for folder, _, names in os.walk(tree):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), tree)
            for source in (path[:-2] + ".c", path[:-2] + ".S"):
                if OURS.fullmatch(path) and not TESTS.match(path) and \
                        os.path.exists(os.path.join(tree, "source", source)):
                    yield os.path.join(tree, path), source


def functions(tree):
    """{address: (name, file)} of our functions in a kernel, and the address of MARK.

    Many names of static functions are there more than once.  So each section of an
    object is found by all of its functions: they lie as far from each other in the
    kernel as in the object.
    """
    at, found = collections.defaultdict(set), {}
    for name, _, address, _ in read_symbols(os.path.join(tree, "vmlinux")):
        at[name].add(address)
    for obj, source in objects(tree):
        sections = collections.defaultdict(list)
        for name, section, offset, function in read_symbols(obj):
            # Not what is run once and freed, and not what only begins with a part of a
            # function or with the space before one.
            if function and re.match(r"(?!\.init|\.exit)\.", section) and \
                    not re.search(r"^__pfx_|\.cold\b", name):
                sections[section].append((name, offset))
        for section, names in sections.items():
            bases = set.intersection(*({a - offset for a in at[name]} for name, offset in names))
            if len(bases) != 1:
                raise Fault("%s of %s is in %d places of the kernel" % (
                    section, obj, len(bases)))
            base = bases.pop()
            # A copy for some of the callers has the name and more.
            found.update({base + offset: (name.split(".")[0], source)
                          for name, offset in names})
    if not found or len(at[MARK]) != 1:
        raise Fault("%s has no kernel of ours with %s()" % (tree, MARK))
    return found, at[MARK].pop()


# ---- the guest -----------------------------------------------------------------

class Stub:
    """The other end of QEMU's stub for gdb."""

    def __init__(self, sock):
        self.sock, self.rest = sock, b""

    def read(self):
        """The next packet."""
        while True:
            found = re.search(rb"\$([^#]*)#..", self.rest, re.DOTALL)
            if found:
                self.rest = self.rest[found.end():]
                self.sock.sendall(b"+")
                return found.group(1).decode()
            new = self.sock.recv(4096)
            if not new:
                raise EOFError
            self.rest += new

    def send(self, text):
        self.sock.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 0xff))

    def ask(self, text, answer):
        """Send a packet, and fail if what comes back is not the answer."""
        self.send(text)
        got = self.read()
        while text.startswith("qRcmd") and got.startswith("O") and got != "OK":
            got = self.read()
        if not re.match(answer, got):
            raise Fault("QEMU answered %s with %s" % (text, got))

    def monitor(self, command):
        self.ask("qRcmd," + command.encode().hex(), "OK")


def record(stub, mark, logs):
    """Have QEMU write one log after the other, each from one mark to the next."""
    stub.ask("?", "T")
    for number in range(2 * len(logs)):
        stub.ask("Z1,%x,1" % mark, "OK")
        stub.ask("c", "T05")
        # The breakpoint would stop it here again.
        stub.ask("z1,%x,1" % mark, "OK")
        if number % 2:
            stub.monitor("log none")
        else:
            stub.monitor("logfile " + logs[number // 2])
            stub.monitor("log exec,cpu,nochain")
        stub.ask("s", "T05")
    stub.send("c")
    while stub.rest or stub.sock.recv(4096):
        stub.rest = b""


def boot(kernel, ways, found, mark, tmp):
    """Boot a kernel, and have it go its ways: the path of a log for each."""
    logs = [os.path.join(tmp, way) for way in ways]
    failure = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(tmp + "/gdb")
    listener.listen(1)
    plain = run.qemu_command

    def serve():
        with listener, listener.accept()[0] as sock:
            try:
                record(Stub(sock), mark, logs)
            except Fault as e:
                failure.append(e)
            except (EOFError, OSError):
                pass

    def with_stub(*args):
        threading.Thread(target=serve, daemon=True).start()
        return plain(*args) + [
            "-S", "-chardev", "socket,id=gdb,path=%s/gdb" % tmp, "-gdb", "chardev:gdb",
            "-dfilter", ",".join("0x%x+1" % a for a in sorted(found))]

    args = run.parser().parse_args(
        ["--kernel", kernel, "--cpus", "1", "--mem", "1G", "--accel", "icount",
         "--append", "nokaslr", "--silence", "300", "--limit", "1200",
         "--log", os.path.join(run.BUILD, "run", "ways.log"), script(ways)])
    run.qemu_command = with_stub
    try:
        # What the script says is no part of the ways.
        with contextlib.redirect_stdout(sys.stderr):
            status = run.run(args)
    except run.Failure as e:
        raise Fault(failure[0] if failure else e) from e
    finally:
        run.qemu_command = plain
    if status or failure:
        raise Fault(failure[0] if failure else "the guest's script failed")
    return logs


# ---- the ways ------------------------------------------------------------------

def entries(path, found):
    """(address, stack pointer) of each entry that a log has."""
    last = None
    if not os.path.exists(path):
        raise Fault("QEMU has written nothing for " + os.path.basename(path))
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = re.match(r"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", line)
            if m:
                if last and last[1] is not None:
                    yield last
                last = (int(m[1], 16), None) if int(m[1], 16) in found else None
            elif line.startswith("Stopped execution"):
                # It comes again.
                last = None
            elif last and last[1] is None:
                m = re.search(r"RSP=([0-9a-f]+)", line)
                if m:
                    last = (last[0], int(m[1], 16))
    if last and last[1] is not None:
        yield last


Step = collections.namedtuple("Step", "task depth name path")


def steps(path, found, recorder):
    """The steps of a way, with what is repeated taken once."""
    stacks, tasks, way = {}, {}, []
    for address, sp in entries(path, found):
        name, source = found[address]
        calls = stacks.setdefault(sp // STACK, [])
        while calls and calls[-1][0] <= sp:
            calls.pop()
        while calls and calls[-1][1] and name not in RECORDS:
            calls.pop()
        records = name == RECORDER or name in RECORDS and any(c[1] for c in calls[-1:])
        depth = len(calls)
        calls.append((sp, records))
        if records and not recorder:
            continue
        task = tasks.setdefault(sp // STACK, chr(ord("a") + min(len(tasks), 25)))
        way.append(Step(task, depth, name, source))
        for n in range(1, min(LOOP, len(way) // 2) + 1):
            if way[-n:] == way[-2 * n:-n]:
                del way[-n:]
                break
    return way


def returns(way):
    """For each step: does it come back to a file that the way has left?"""
    left, back = set(), []
    for before, step in zip([None] + way, way):
        moved = before is not None and before.path != step.path
        if moved:
            left.add(before.path)
        back.append(moved and step.path in left)
    return back


def show(name, way):
    """Print a way."""
    back = returns(way)
    names = [step.name for step in way]
    until = names.index(UPDATE) if UPDATE in names else None
    print("way %s: %d functions, %d files, %d times back%s" % (
        name, len(way), len({step.path for step in way}), sum(back),
        "" if until is None else ", %d functions until %s()" % (until, UPDATE)))
    for number, (step, comes_back) in enumerate(zip(way, back), 1):
        print("%5d %s %s %-52s %s" % (number, "<" if comes_back else " ", step.task,
                                      "  " * step.depth + step.name, step.path))
    print()


HEAD = re.compile(r"^way (\w+): (?:\d+ functions, \d+ files, )?(\d+) times back"
                  r"(?:, (\d+) functions until \w+\(\))?$", re.MULTILINE)


def heads(text):
    """{way: (how often it comes back, functions until the update)}."""
    found = {m[1]: (int(m[2]), m[3] and int(m[3])) for m in HEAD.finditer(text)}
    for line in text.splitlines():
        if line.startswith("way ") and not HEAD.match(line):
            raise Fault("this says nothing of a way: " + line)
    return found


def compare(before, after):
    """Is each way half as winding as it was?  One line for each."""
    old, new = (heads(text) for text in (before, after))
    if not old:
        raise Fault("there is no way in the output of before")
    good = True
    for name in new.keys() - old.keys():
        print("BAD  %s: there is nothing to compare it with" % name)
        good = False
    for name, (back, _) in old.items():
        if name not in new:
            print("BAD  %s: it is no more" % name)
            good = False
            continue
        fine = 2 * new[name][0] <= back
        print("%s %s: %d times back to a file, %d before" % (
            "ok  " if fine else "BAD ", name, new[name][0], back))
        good = good and fine
    if "function" in new:
        until = new["function"][1]
        fine = until is not None and until <= AT_MOST
        print("%s function: %s functions until %s(), %d allowed" % (
            "ok  " if fine else "BAD ", "no end of" if until is None else until, UPDATE, AT_MOST))
        good = good and fine
    return good


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compare", action="store_true", help="compare two outputs of this")
    p.add_argument("what", nargs="+", metavar="KERNEL [WAY...] | BEFORE AFTER",
                   help="a kernel of ours with modules, below build/")
    args = p.parse_args()
    try:
        if args.compare:
            if len(args.what) != 2:
                p.error("--compare takes two files")
            texts = []
            for path in args.what:
                with open(path, encoding="utf-8") as f:
                    texts.append(f.read())
            return 0 if compare(*texts) else 1
        kernel, *ways = args.what
        ways = ways or list(DO)
        for way in ways:
            if way not in DO:
                p.error("no such way: %s (there are %s)" % (way, " ".join(DO)))
        tree = os.path.join(run.BUILD, kernel)
        if not os.path.exists(tree + "/vmlinux"):
            raise Fault(run.missing(tree + "/vmlinux", "the ways", "run base/build.sh " + kernel))
        found, mark = functions(tree)
        with tempfile.TemporaryDirectory() as tmp:
            for way, log in zip(ways, boot(kernel, ways, found, mark, tmp)):
                went = steps(log, found, way == "site")
                if REACHES[way] not in (step.name for step in went):
                    raise Fault("%s does not get to %s()" % (way, REACHES[way]))
                show(way, went)
    except (Fault, OSError) as e:
        print("ways.py: %s" % e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
