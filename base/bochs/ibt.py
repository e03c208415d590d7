#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel on a CPU that enforces indirect branch tracking, and trace there.

QEMU's emulation has no CET; that of Bochs has.  Where an indirect branch leads to
code that does not begin with ENDBR, the CPU raises #CP and the kernel dies of it.
init.sh has all kinds of users on the same functions; it runs once with trampolines
and once with none, so that the code that is always there is run, too.

usage: ibt.py KERNEL

The kernel has to be one with ftrace_test_mod and ftrace_test_ops as modules, without
compression.  Last line: N passed, N failed, 0 skipped.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../qemu"))
import run  # pylint: disable=wrong-import-position

BOOTS = ["", "ftrace_trampolines=0"]
MODULES = ["ftrace_test_mod", "ftrace_test_ops"]

# lpj: else the kernel measures it, by a clock that has nothing to do with the CPU.
# pku: Bochs lays it out in XSAVE as the kernel does not expect.  spectre_v2: a
# retpoline is a return, so it would hide the indirect branches.
COMMAND_LINE = ("console=ttyS0 nokaslr lpj=1000000 clearcpuid=pku spectre_v2=off "
                "oops=panic panic_on_warn=0 ")

BOCHSRC = """
plugin_ctrl: speaker=0
display_library: sdl2
cpu: model=tigerlake, count=1, ips=200000000
memory: guest=512, host=512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path={dir}/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={dir}/serial
log: {dir}/bochs.log
panic: action=fatal
"""

# No output for so long: nothing will come any more.  Not how fast it has to be.
SILENCE = 1800


def make_iso(path, kernel, command_line):
    """A CD that GRUB starts the kernel from, with init.sh and the modules."""
    modules = os.path.join(run.BUILD, kernel, "modules/lib/modules")
    found = {}
    for folder, _, files in os.walk(modules):
        found.update({f: os.path.join(folder, f) for f in files})
    with tempfile.TemporaryDirectory() as root:
        initrd = root + "/initrd"
        os.makedirs(initrd + "/bin")
        shutil.copy(run.BUSYBOX, initrd + "/bin/busybox")
        shutil.copy(HERE + "/init.sh", initrd + "/init")
        os.chmod(initrd + "/init", 0o755)
        for name in MODULES:
            shutil.copy(found[name + ".ko"], initrd)
        os.makedirs(root + "/iso/boot/grub")
        with open(root + "/iso/boot/initrd", "wb") as out:
            subprocess.run("find . | cpio -o -H newc --quiet -R 0:0 | gzip", shell=True,
                           cwd=initrd, stdout=out, check=True)
        shutil.copy(run.kernel_image(kernel), root + "/iso/boot/bzImage")
        with open(root + "/iso/boot/grub/grub.cfg", "w", encoding="utf-8") as f:
            f.write("set timeout=0\nmenuentry guest {\n"
                    "linux /boot/bzImage %s\ninitrd /boot/initrd\n}\n" % command_line)
        subprocess.run(["grub-mkrescue", "-o", path, root + "/iso"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def boot(kernel, command_line):
    """What the guest wrote until it was done, died, or fell silent."""
    with tempfile.TemporaryDirectory() as tmp:
        make_iso(tmp + "/boot.iso", kernel, COMMAND_LINE + command_line)
        with open(tmp + "/bochsrc", "w", encoding="utf-8") as f:
            f.write(BOCHSRC.format(dir=tmp))
        # Debian's is the one with the debugger, which has to be told to go on.
        with open(tmp + "/go", "w", encoding="utf-8") as f:
            f.write("c\n")
        env = dict(os.environ, SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
        with subprocess.Popen(["bochs-bin", "-q", "-f", tmp + "/bochsrc", "-rc", tmp + "/go"],
                              env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as guest:
            text, since = "", time.monotonic()
            while guest.poll() is None and time.monotonic() - since < SILENCE:
                time.sleep(1)
                try:
                    with open(tmp + "/serial", encoding="utf-8", errors="replace") as f:
                        now = f.read()
                except FileNotFoundError:
                    continue
                if now != text:
                    text, since = now, time.monotonic()
                if re.search(r"^@done|Kernel panic", text, re.M):
                    break
            guest.kill()
        with open(tmp + "/bochs.log", encoding="utf-8", errors="replace") as f:
            panic = re.findall(r"PANIC.*", f.read())
        return text.replace("\r", "") + "".join("\nBochs: " + p for p in panic[:1])


def judge(text):
    """The results by name, and what was wrong with the boot as a whole."""
    wrong = []
    if "Indirect Branch Tracking enabled" not in text:
        wrong.append("the CPU does not track indirect branches")
    plan = re.search(r"^1\.\.(\d+)$", text, re.M)
    results = re.findall(r"^(ok|not ok) (\d+) (.+)$", text, re.M)
    if not plan or [int(n) for _, n, _ in results] != list(range(1, int(plan.group(1)) + 1)):
        wrong.append("%d results of %s" % (len(results), plan.group(1) if plan else "no plan"))
    if not re.search("^@done", text, re.M):
        wrong.append("it did not come to its end")
    wrong += re.findall(r"^Bochs: .*|.*Missing ENDBR.*", text, re.M)
    wrong += [line for line in text.split("\n") if run.FATAL.search(line)]
    # Before, the kernel complains of what CPU this is.
    _, _, since = text.partition("Run /init as init process")
    wrong += [line for line in since.split("\n")
              if run.WARN.search(line) or run.ALARM.search(line)]
    return results, wrong


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    kernel = sys.argv[1]
    if not os.path.exists(run.kernel_image(kernel)):
        sys.exit("ibt.py: " + run.missing(run.kernel_image(kernel), "Bochs",
                                          "run base/build.sh " + kernel))
    for program in ("bochs-bin", "grub-mkrescue"):
        if not shutil.which(program):
            sys.exit("ibt.py: " + run.missing(program, "this test", "make setup-ibt installs it"))
    logs = os.path.join(run.BUILD, "ibt")
    os.makedirs(logs, exist_ok=True)
    passed = failed = 0
    for number, command_line in enumerate(BOOTS):
        text = boot(kernel, command_line)
        with open("%s/%d.log" % (logs, number), "w", encoding="utf-8") as f:
            f.write(text)
        results, wrong = judge(text)
        print("# IBT, %s" % (command_line or "with trampolines"))
        for result, _, name in results:
            print("%-8s %s" % ("ok" if result == "ok" else "not ok", name))
            passed += result == "ok"
            failed += result != "ok"
        for line in re.findall(r"^# .*", text, re.M) + wrong[:10]:
            print("         " + line)
        print("%-8s the boot as a whole" % ("not ok" if wrong else "ok"))
        passed += not wrong
        failed += bool(wrong)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
