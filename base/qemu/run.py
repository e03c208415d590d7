#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel in QEMU and run a script in it.

The guest sees the host's root read-only over 9p, under a layer in memory that
takes its writes, and the modules of its kernel in /lib/modules.  What the
script prints comes out here as it happens.  The kernel's messages go to a log,
which is watched for oopses and alarms.  The programs of programs.py are in the
layer from the start.  What it writes to /keep stays, in the host's folder that --keep
names.

Exit status: that of the script; 125 and one clear line when the guest hangs,
oopses, runs out of time or cannot be started, or the kernel gave an alarm; 124
when it died of what only QEMU can have done.
"""

import argparse
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import programs
from breakpoints import late_int3
from places import BUILD, HERE, TOP, missing

BUSYBOX = "/bin/busybox"
FAILED = 125
EMULATOR = 124
TERMINATED = 143

# What guest.sh says on the console before it begins, and for how many seconds a boot may be
# silent.
UP = "guest.sh: up"
PATIENCE = 420

# The end of the guest ...
FATAL = re.compile(r"Kernel panic|Oops[: ]|\bBUG: (?!KCSAN)|general protection fault|"
                   r"Unable to handle|unable to handle|double fault|invalid opcode|"
                   r"^\[[ .0-9]+\] int3: ")
# ... and what it survives but must not do.
WARN = re.compile(r"WARNING: |ftrace bug|possible recursive locking|UBSAN: |"
                  r"suspicious RCU usage|x86/mm: Checked W\+X mappings: FAILED|"
                  r"kmemleak: (\d+ new suspected|.*detector disabled)|"
                  r"turning off the locking correctness validator")


# What says in the log that something is wrong, with the kernel or with the core. That
# and a WARN is a failure unless the test case that runs at that time has that very line
# in one of its own, "# provokes: REGEX", a KUnit suite in its source.
ALARM = re.compile(r"Killed process|INFO: task .* blocked for more than|"
                   r"INFO: .*(detected .*stall|self-detected stall)|"
                   r"soft lockup|hard LOCKUP|"
                   r"ftrace: (.*it is left alone|.*start-up failed|"
                   r".*a filter .*cannot take effect|.* keeps its own filter|no thread: |"
                   r"no memory[ :]|.* calls not counted|could not create trace_stat|"
                   r"the table of call sites is not sorted)")
# What guest-ftracetest.sh puts into the log before each case, and after the last.
CASE = re.compile(r"ftracetest: case (?P<case>\S+)$|"
                  r"# Subtest: ftrace-(?P<suite>\w+)$|\] (not )?ok \d+ ftrace-\w+$")


def provoked_by(case):
    """What the test case of this match says it provokes: a pattern, or None."""
    if case.group("case"):
        path = "tools/testing/selftests/ftrace/test.d/" + case.group("case")
    elif case.group("suite"):
        path = "kernel/trace/ftrace/kunit/%s_test.c" % case.group("suite")
    else:
        return None
    try:
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            found = re.findall(r"(?m)^(?:#| \*) provokes: (.+)$", f.read())
    except OSError:
        return None
    return re.compile("|".join(found)) if found else None


def crashed(guest):
    """Did QEMU itself die of an error of its own?"""
    return -guest.returncode in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)


class Failure(Exception):
    """One clear line for the user."""

    def __init__(self, text, status=FAILED):
        super().__init__(text)
        self.status = status


def kernel_image(which):
    if os.sep in which:
        return which
    return os.path.join(BUILD, which, "arch/x86/boot/bzImage")


def initramfs(path, conf, program=None, files=()):
    """A cpio archive at path: program and files, or busybox, init.sh and guest.conf."""
    if not os.path.exists(BUSYBOX):
        raise Failure(missing(BUSYBOX, "a guest", "make setup installs it"))
    with tempfile.TemporaryDirectory() as root:
        shutil.copy(program or HERE + "/init.sh", root + "/init")
        os.chmod(root + "/init", 0o755)
        for file in files:
            shutil.copy(file, root)
        if not program:
            os.mkdir(root + "/bin")
            shutil.copy(BUSYBOX, root + "/bin/busybox")
            os.symlink("busybox", root + "/bin/sh")
            with open(root + "/guest.conf", "w", encoding="utf-8") as f:
                for name, value in conf.items():
                    f.write("%s=%s\n" % (name, shlex.quote(value)))
            if not conf["hello"]:
                programs.copy(root + "/programs", os.path.join(BUILD, "run/libraries"))
        with open(path, "wb") as out:
            subprocess.run("find . | cpio -o -H newc --quiet -R 0:0", shell=True,
                           cwd=root, stdout=out, check=True)


def qemu():
    """The emulator, as a command: that of base/qemu.sh, if there is one."""
    ours = os.path.join(BUILD, "qemu/usr")
    program = os.path.join(ours, "bin/qemu-system-x86_64")
    if os.path.exists(program):
        return [program, "-L", ours + "/share/qemu", "-L", ours + "/share/seabios",
                "-L", "/usr/share/qemu"]
    program = shutil.which("qemu-system-x86_64")
    if not program:
        raise Failure(missing("qemu-system-x86_64", "a guest", "make setup installs it"))
    return [program]


def qemu_version():
    """(major, minor) of the emulator."""
    out = subprocess.run([qemu()[0], "--version"], stdout=subprocess.PIPE, check=True,
                         encoding="utf-8").stdout
    found = re.search(r"version (\d+)\.(\d+)", out)
    if not found:
        raise Failure("no version in what qemu-system-x86_64 --version prints")
    return int(found.group(1)), int(found.group(2))


# Virtio's old kind of device, with ports alone and no interrupt messages.  With the
# new kind a guest hung now and then as it booted (a CPU's APIC never saw the end of
# an interrupt), or QEMU 10.0 died of "iotlb_to_section: Assertion ... failed"; both
# look like an access by way of a map of memory that another CPU just had made anew, as
# it is whenever the kernel moves or hides a device's memory or ports.  Nobody has
# shown that it is so.  Devices without memory make for fewer new maps; with them
# neither was seen again.
VIRTIO = "disable-modern=on,disable-legacy=off,vectors=0"


def qemu_command(args, kernel, initrd, console, accel, append):
    cmd = [*qemu(), "-nodefaults", "-no-user-config", "-display", "none",
           "-no-reboot", "-m", args.mem, "-smp", str(args.cpus),
           "-kernel", kernel, "-initrd", initrd,
           "-append", "console=ttyS0,115200 rdinit=/init oops=panic panic=-1 "
                      "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 "
                      "log_buf_len=16M " + append,
           "-serial", "file:" + console,
           "-device", "virtio-serial-pci," + VIRTIO,
           "-chardev", "stdio,id=out,signal=off",
           "-device", "virtconsole,chardev=out"]
    if accel == "kvm":
        cmd += ["-accel", "kvm", "-cpu", "host"]
    elif accel == "icount":
        cmd += ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]
    else:
        # With a thread for each, CPUs run at the same time, as they do on a machine; but
        # where the host has few, who waits in a loop takes the time that the other needs.
        thread = "single" if args.turns else "multi"
        # QEMU 7.2 computes the flags of cmpxchg16b from a stale state now and then, which
        # kills any kernel that uses it; a fifth level of page tables only costs time.
        cmd += ["-accel", "tcg,thread=" + thread, "-cpu", "max,-cx16,-la57"]
    if args.init:
        return cmd
    shares = [("host", "/", "on"), ("top", TOP, "on")]
    if args.keep:
        shares.append(("keep", args.keep, "off"))
    for tag, path, readonly in shares:
        cmd += ["-fsdev", "local,id=%s,path=%s,security_model=none,readonly=%s,multidevs=remap"
                % (tag, path, readonly),
                "-device", "virtio-9p-pci,fsdev=%s,mount_tag=%s,%s" % (tag, tag, VIRTIO)]
    return cmd


def terminal():
    """What the guest's shell has to know of ours: rows, columns and kind."""
    size = shutil.get_terminal_size()
    return "%d %d %s" % (size.lines, size.columns, os.environ.get("TERM", "vt100"))


def kvm_works(args, kernel):
    """A device node proves nothing: boot, and see whether a line comes back.

    The answer is kept for as long as the host is up.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    known = os.path.join(BUILD, "kvm-answer")
    try:
        with open(known, encoding="ascii") as f:
            was, answer = f.read().split()
        if was == boot:
            return answer == "works"
    except (OSError, ValueError):
        pass
    with tempfile.TemporaryDirectory() as tmp:
        initramfs(tmp + "/initrd", {"hello": "guest-says-hello"})
        cmd = qemu_command(args, kernel, tmp + "/initrd", tmp + "/console", "kvm", "")
        with subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as guest:
            try:
                out = guest.communicate(timeout=30)[0]
            except subprocess.TimeoutExpired:
                guest.kill()
                out = guest.communicate()[0]
    works = b"guest-says-hello" in out
    with open(known, "w", encoding="ascii") as f:
        f.write("%s %s\n" % (boot, "works" if works else "fails"))
    return works


def accelerator(args, kernel):
    """What is to run the guest; with KVM and icount its CPUs are no threads of TCG."""
    accel = args.accel
    if accel == "auto":
        accel = "kvm" if kvm_works(args, kernel) else "tcg"
    args.turns |= accel != "tcg"
    return accel


class Console:
    """The kernel's messages: a growing file, read as it grows."""

    def __init__(self, path, show):
        self.path, self.show, self.at, self.tail = path, show, 0, ""
        self.lines, self.fatal, self.warned, self.up = [], None, None, False
        self.case, self.provoked, self.during = None, None, ""

    def read(self):
        """Take in what is new; true if there was anything."""
        try:
            with open(self.path, "rb") as f:
                f.seek(self.at)
                new = f.read()
        except FileNotFoundError:
            return False
        self.at += len(new)
        text = self.tail + new.decode("utf-8", "replace").replace("\r", "")
        *lines, self.tail = text.split("\n")
        for line in lines:
            if self.fatal is None and FATAL.search(line):
                self.fatal = len(self.lines)
            # Another message may be on the same line.
            self.up = self.up or UP in line
            case = CASE.search(line)
            if case:
                self.case, self.provoked = case, provoked_by(case)
            if self.warned is None and self.alarming(line):
                self.warned = len(self.lines)
                name = self.case and (self.case.group("case") or self.case.group("suite"))
                self.during = name and " during " + name or ""
            shown = self.show.search(line) if self.show else None
            if shown:
                print(shown.group(shown.re.groups and 1), flush=True)
            self.lines.append(line)
        return bool(new)

    def alarming(self, line):
        alarm = WARN.search(line) or ALARM.search(line)
        return alarm and not (self.provoked and self.provoked.search(line))

    def excerpt(self, start):
        return "\n".join("    | " + line for line in self.lines[start:start + 40])


def run(args):
    kernel = kernel_image(args.kernel)
    if not os.path.exists(kernel):
        raise Failure(missing(kernel, "a guest", "run make kernel, or base/build.sh KERNEL"))

    if args.keep:
        args.keep = os.path.realpath(args.keep)
        os.makedirs(args.keep, exist_ok=True)

    accel = accelerator(args, kernel)
    logs = os.path.join(BUILD, "run")
    os.makedirs(logs, exist_ok=True)
    console = Console(args.log or os.path.join(logs, "console.log"), args.show)
    if os.path.exists(console.path):
        os.unlink(console.path)

    with tempfile.TemporaryDirectory() as tmp:
        which = args.modules or os.path.basename(args.kernel)
        initramfs(tmp + "/initrd", {
            "top": TOP, "here": HERE, "hello": "",
            "modules": os.path.join(BUILD, which, "modules/lib/modules"),
            "shell": terminal() if args.shell else "",
            "keep": args.keep or "",
            "script": shlex.join(args.script) if len(args.script) > 1 else " ".join(args.script),
        }, args.init, args.file)
        cmd = qemu_command(args, kernel, tmp + "/initrd", console.path, accel,
                           " ".join(args.append))
        if args.shell:
            return shell(args, cmd, console)
        with subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as guest:
            try:
                return watch(args, guest, console)
            finally:
                guest.kill()


def shell(args, cmd, console):
    tty = os.isatty(0)
    if tty:
        saved = subprocess.run(["stty", "-g"], stdout=subprocess.PIPE, check=True).stdout.strip()
        subprocess.run(["stty", "raw", "-echo"], check=True)
    heard = time.monotonic()
    try:
        with subprocess.Popen(cmd, stderr=subprocess.PIPE) as guest:
            try:
                while guest.poll() is None and time.monotonic() - heard < PATIENCE:
                    if console.read() or console.up:
                        heard = time.monotonic()
                    time.sleep(0.2)
            finally:
                guest.kill()
            said = guest.stderr.read().decode("utf-8", "replace").strip().split("\n")[-1]
    finally:
        if tty:
            subprocess.run(["stty", saved], check=True)
    console.read()
    check_kernel(args, console)
    if not console.up:
        raise Failure("the guest did not come up (%s; kernel messages: %s)"
                      % (said or (console.lines or ["no message"])[-1], console.path))
    if guest.returncode:
        raise Failure("the emulator failed (status %d; %s)" % (guest.returncode, said))
    return 0


def watch(args, guest, console):
    """Pass the script's output on until the guest is gone; judge how it went."""
    status, rest, blank = None, b"", False
    begin = heard = time.monotonic()
    while True:
        ready = select.select([guest.stdout], [], [], 1)[0]
        now = time.monotonic()
        if console.read():
            heard = now
        if ready:
            new = os.read(guest.stdout.fileno(), 65536)
            if not new:
                break
            heard = now
            *lines, rest = (rest + new).split(b"\n")
            for line in lines:
                line = line.rstrip(b"\r")
                end = re.fullmatch(rb"@guest-exit (\d+)@", line)
                if end:
                    status = int(end.group(1))
                elif status is None:
                    # guest.sh ends the script's last line, though it may have an end.
                    sys.stdout.buffer.write(b"\n" * blank + (line and line + b"\n"))
                    blank = not line
            sys.stdout.flush()
        # How long a script may be silent says nothing of the boot before it.
        silence = args.silence if console.up or args.init else min(args.silence, PATIENCE)
        if now - heard > silence:
            raise Failure("the guest hangs: no output for %d s (last kernel message: %s; all of "
                          "them: %s)" % (silence, (console.lines or ["none"])[-1],
                                         console.path))
        if now - begin > args.limit:
            raise Failure("the guest did not finish within %d s (kernel messages: %s)"
                          % (args.limit, console.path))

    guest.wait()
    console.read()
    check_end(args, guest, console, status)
    return status


def check_kernel(args, console):
    """Raise what the kernel died of or gave an alarm of.

    It comes before all else: an emulator that fails takes no alarm back that the kernel
    gave before. That guest has failed, and nothing of it runs again.
    """
    alarm = console.warned if not args.allow_warn else None
    if console.fatal is not None:
        start = console.fatal
        if console.warned is not None and console.warned < start:
            start = console.warned
        early = alarm is not None and alarm < console.fatal
        first = re.search(r"\bint3: ", console.lines[console.fatal])
        emulator = first and not early and not args.turns and \
            late_int3("\n".join(console.lines), qemu_version)
        raise Failure("the guest died: %s\n%s" % (console.lines[console.fatal],
                                                  console.excerpt(start)),
                      EMULATOR if emulator else FAILED)
    if alarm is not None:
        raise Failure("the kernel warned%s: %s\n%s"
                      % (console.during, console.lines[alarm], console.excerpt(alarm)))


def check_end(args, guest, console, status):
    """Raise what the guest ended with, unless all is well."""
    check_kernel(args, console)
    if status is None:
        said = guest.stderr.read().decode("utf-8", "replace").strip().split("\n")[-1]
        raise Failure("the guest ended without a result (%s; kernel messages: %s)"
                      % (said or (console.lines or ["no message"])[-1], console.path),
                      EMULATOR if crashed(guest) else FAILED)
    if status == EMULATOR:
        raise Failure("the script ended with status %d" % status)


def parser():
    """What this takes on its command line."""
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel", default="recorder",
                   help="recorder, stock (under build/) or the path of a kernel image")
    p.add_argument("--modules", help="take the modules of build/MODULES, not of the kernel's own")
    p.add_argument("--cpus", type=int, default=int(os.environ.get("CPUS") or 2))
    p.add_argument("--mem", default="2G")
    p.add_argument("--accel", default=os.environ.get("ACCEL") or "auto",
                   choices=["auto", "kvm", "tcg", "icount"])
    p.add_argument("--turns", action="store_true",
                   help="emulated CPUs take turns in one thread: a third of the time")
    p.add_argument("--append", action="append", default=[], help="more of kernel command line")
    p.add_argument("--silence", type=int, default=300, help="seconds without output: a hang")
    p.add_argument("--limit", type=int, default=3600, help="seconds for all of it")
    p.add_argument("--log", help="where the kernel's messages go (default: build/run/console.log)")
    p.add_argument("--allow-warn", action="store_true", help="a WARNING is no failure")
    p.add_argument("--shell", action="store_true", help="an interactive shell instead of a script")
    p.add_argument("--show", metavar="REGEX", type=re.compile,
                   help="print kernel messages that match (its first group, if there is one)")
    p.add_argument("--keep", metavar="DIR", help="what the guest writes to /keep is kept here")
    p.add_argument("--init", help="run this static program as the only one, all in memory")
    p.add_argument("--file", action="append", default=[], help="a file for it, in /")
    p.add_argument("script", nargs="*", help="shell command to run, or a program and its arguments")
    return p


def main():
    p = parser()
    args = p.parse_args()
    if not (args.shell or args.init or args.script):
        p.error("nothing to run: give a script, or --shell")
    # No guest is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        return run(args)
    except Failure as e:
        sys.stdout.flush()
        print("run.py: %s" % e, file=sys.stderr)
        return e.status
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
