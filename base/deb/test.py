#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boot a Debian 12 system with one kernel, and have it try what people would.

usage: test.py DIR STAGES [OPTION...]

DIR has what image.sh put there; its disks are not changed.  The stages are those of
guest.sh, as NAME,NAME.  Prints KTAP.  What the kernel and the system say goes to a log,
which is watched for oopses and alarms.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../qemu"))
import run                                              # noqa: E402
from places import BUILD, missing                       # noqa: E402

# The last stage ends the emulator, so nobody but us can tell of it.
LAST = "power_off"
GONE = "reboot: Power down"
# Before it, and apart, comes the name of the guest.
LOGIN = "login: "
BOOT = "] Linux version "
# Stages that end in another boot, and what the kernel says then; without it, it died.
LEAVES = {"kexec_away": "kexec_core: Starting new kernel",
          "reboot_away": "reboot: Restarting system"}


def command(args, tmp, log, results):
    disks = []
    for n, name in enumerate(("disk.img", "swap.img")):
        disks += ["-drive", "file=%s/%s,format=raw,if=none,id=d%d,cache=unsafe,werror=report"
                  % (tmp, name, n),
                  "-device", "virtio-blk-pci,drive=d%d,%s" % (n, run.VIRTIO)]
    accel = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"] \
        if args.icount else ["-accel", "tcg,thread=single" if args.turns else "tcg,thread=multi"]
    return [*run.qemu(), "-nodefaults", "-no-user-config", "-display", "none",
            *accel, "-cpu", "max,-cx16,-la57", "-m", args.mem, "-smp", str(args.cpus),
            "-kernel", os.path.join(args.dir, "vmlinuz"),
            "-initrd", os.path.join(args.dir, "initrd"),
            "-append", " ".join(["root=/dev/vda rw console=ttyS0,115200 oops=panic",
                                 "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60",
                                 "ftrace_test.stages=" + args.stages, *args.append]),
            # One that resets itself shall not boot again.
            *([] if "reboot_away" in args.stages.split(",") else ["-no-reboot"]),
            "-serial", "file:" + log, "-serial", "file:" + results,
            "-netdev", "user,id=n,restrict=on", "-device", "virtio-net-pci,netdev=n," + run.VIRTIO,
            *disks]


class Lines:
    """A file that grows, line by line."""

    def __init__(self, path):
        self.path, self.at, self.rest = path, 0, ""

    def new(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path, "rb") as f:
            f.seek(self.at)
            new = f.read()
        self.at += len(new)
        text = self.rest + new.decode("utf-8", "replace").replace("\r", "")
        *lines, self.rest = text.split("\n")
        return lines


def follow(args, guest, console, results):
    """Pass results on until the guest is gone."""
    begin = heard = time.monotonic()
    login, given = False, []
    while True:
        ended = guest.poll() is not None
        now = time.monotonic()
        if console.read():
            heard = now
        if not login and prompted(console):
            login = True
            print("# login: prompt after %.1f s of the host's clock (one sample)" % (now - begin))
        for line in results.new():
            heard = now
            print(line, flush=True)
            given += re.findall(r"^((?:not )?ok) \d+ (\S+)$", line)
        if ended:
            break
        if console.fatal is not None:
            # Its dump is not yet all there.
            time.sleep(3)
            console.read()
            break
        if now - heard > args.silence:
            run.check_kernel(args, console)
            raise run.Failure("the guest hangs: no output for %d s (all of its messages: %s)"
                              % (args.silence, console.path))
        if now - begin > args.limit:
            run.check_kernel(args, console)
            raise run.Failure("the guest did not finish within %d s (all of its messages: %s)"
                              % (args.limit, console.path))
        time.sleep(.2)
    check_end(args, guest, console, given)


def prompted(console):
    return any(LOGIN in line for line in [*console.lines, console.tail])


def check_boots(console, passed):
    """Raise if the guest booted otherwise than its stages had it boot."""
    left = [stage for stage in LEAVES if stage in passed]
    for stage in left:
        if not any(LEAVES[stage] in line for line in console.lines):
            raise run.Failure("%s: the kernel never said '%s'" % (stage, LEAVES[stage]))
    boots = sum(BOOT in line for line in console.lines)
    if boots != 1 + len(left):
        raise run.Failure("the guest booted %d times where its stages ask for %d (all of its "
                          "messages: %s)" % (boots, 1 + len(left), console.path))
    if not prompted(console):
        raise run.Failure("no login prompt came (all of the guest's messages: %s)" % console.path)


def check_end(args, guest, console, given):
    """Say how the last stage went, and raise what else is wrong."""
    console.read()
    run.check_kernel(args, console)
    if run.crashed(guest):
        raise run.Failure("the emulator died of signal %d" % -guest.returncode, run.EMULATOR)
    stages = args.stages.split(",")
    if [stage for _, stage in given] != stages[:-1] or stages[-1] != LAST or \
            not any(GONE in line for line in console.lines[-20:]):
        raise run.Failure("the guest ended after %s (status %d; its last message: %s)"
                          % (given[-1][1] if given else "no stage", guest.returncode,
                             (console.lines or ["none"])[-1]))
    check_boots(console, [stage for ok, stage in given if ok == "ok"])
    print("ok %d %s" % (len(stages), LAST))


def test(args):
    for name in ("disk.img", "swap.img", "vmlinuz", "initrd"):
        if not os.path.exists(os.path.join(args.dir, name)):
            raise run.Failure(missing(os.path.join(args.dir, name), "make deb-test",
                                      "base/deb/image.sh makes it"))
    if shutil.disk_usage(args.dir).free < 5 << 30:
        raise run.Failure("no space: a guest takes up to 5 G in %s; make room" % args.dir)
    stages = args.stages.split(",")
    log = args.log or os.path.join(BUILD, "run/deb.log")
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.dir) as tmp:
        for name in ("disk.img", "swap.img"):
            subprocess.run(["cp", "--sparse=always", "--reflink=auto",
                            os.path.join(args.dir, name), tmp], check=True)
        print("TAP version 13\n1..%d" % len(stages), flush=True)
        console, results = run.Console(log, None), Lines(os.path.join(tmp, "results"))
        if os.path.exists(log):
            os.unlink(log)
        with subprocess.Popen(command(args, tmp, log, results.path),
                              stdin=subprocess.DEVNULL) as guest:
            try:
                follow(args, guest, console, results)
            finally:
                guest.kill()
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("dir")
    p.add_argument("stages")
    p.add_argument("--cpus", type=int, default=int(os.environ.get("CPUS") or 2))
    p.add_argument("--mem", default="2G")
    p.add_argument("--icount", action="store_true", help="instructions are the clock")
    p.add_argument("--turns", action="store_true", help="emulated CPUs take turns in one thread")
    p.add_argument("--append", action="append", default=[], help="more of kernel command line")
    p.add_argument("--silence", type=int, default=900, help="seconds without output: a hang")
    p.add_argument("--limit", type=int, default=7200, help="seconds for all of it")
    p.add_argument("--log", help="where the system's messages go (default: build/run/deb.log)")
    p.set_defaults(allow_warn=False)
    args = p.parse_args()
    args.dir = os.path.realpath(args.dir)
    if args.icount:
        # The clock goes on for all CPUs while one has its turn.
        args.cpus, args.turns = 1, True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(run.TERMINATED))
    try:
        return test(args)
    except (OSError, subprocess.CalledProcessError) as e:
        print("test.py: %s" % e, file=sys.stderr)
        return run.FAILED
    except KeyboardInterrupt:
        return 130
    except run.Failure as e:
        sys.stdout.flush()
        print("test.py: %s" % e, file=sys.stderr)
        return e.status


if __name__ == "__main__":
    sys.exit(main())
