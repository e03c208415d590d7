#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What somebody sees who types "make shell".  Prints TAP.

usage: shell-test.py [KERNEL]
"""

import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from fcntl import ioctl

sys.dont_write_bytecode = True
from places import BUILD, HERE                          # noqa: E402

KERNEL = sys.argv[1] if len(sys.argv) > 1 else "recorder"
ROWS, COLUMNS = 41, 117
PATIENCE = 240
# What run.py ends with if the emulator failed.
EMULATOR = 124


class Terminal:
    """A program in a terminal: what it prints, and what is typed."""

    def __init__(self, command, env):
        ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.fd, self.text = ours, ""
        self.program = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                        env=env, start_new_session=True)
        os.close(theirs)

    def take(self):
        """Take what was printed; false when there will be no more."""
        try:
            new = os.read(self.fd, 65536)
        except OSError:
            new = b""
        self.text += new.decode("utf-8", "replace").replace("\r", "")
        # What readline says to a terminal about text that is pasted.
        self.text = re.sub(r"\x1b\[\?2004[hl]", "", self.text)
        return bool(new)

    def wait_for(self, pattern):
        """What is printed until the pattern is there; that, and all before, is dropped."""
        end = time.monotonic() + PATIENCE
        while True:
            found = re.search(pattern, self.text)
            if found:
                before, self.text = self.text[:found.end()], self.text[found.end():]
                return before
            left = end - time.monotonic()
            if left < 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError("no %r in %r" % (pattern, self.text[-400:]))
            if not self.take():
                raise AssertionError("it ended without %r: %r" % (pattern, self.text[-400:]))

    def end(self):
        """The rest of what it prints, and its exit status."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 1)[0] and not self.take():
                break
        return self.text, self.program.wait(timeout=10)


def command(text):
    """The exit status and the output of a command given to shell.sh."""
    for _ in range(4):
        ran = subprocess.run([HERE + "/shell.sh", KERNEL], env={**os.environ, "CMD": text},
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        if ran.returncode != EMULATOR:
            break
        print("# acquitted: the emulator failed")
    return ran.returncode, ran.stdout


def main():
    tests = 0

    def check(what, good, *details):
        nonlocal tests
        tests += 1
        for detail in () if good else details:
            print("# " + repr(detail)[-1500:])
        print("%s %d shell: %s" % ("ok" if good else "not ok", tests, what), flush=True)
        return good

    kept = os.path.join(BUILD, "run/keep")
    os.makedirs(kept, exist_ok=True)
    mark = tempfile.mkdtemp(dir=kept)
    inside = "/keep/" + os.path.basename(mark)
    terminal = Terminal([HERE + "/shell.sh", KERNEL], {**os.environ, "TERM": "xterm", "CMD": ""})
    prompt = r"guest:\S+# $"
    try:
        hello = terminal.wait_for(prompt)
        check("it says where one is, what to try and how to leave",
              re.search(r"Linux 6\.12\S* in QEMU", hello) and "current_tracer" in hello and
              '"exit"' in hello and "kept, in " in hello and "run/keep." in hello, hello)

        def typed(text):
            os.write(terminal.fd, text.encode() + b"\n")
            return terminal.wait_for(prompt)

        check("it begins in the tracing folder, and the prompt says so",
              "\n/sys/kernel/tracing\n" in typed("pwd") and
              "guest:/tmp# " in typed("cd /tmp"))
        check("it knows the terminal",
              "\n%d %d xterm\n" % (ROWS, COLUMNS) in typed('echo "$(stty size) $TERM"'))
        # One program says it and sleeps: between two, the key would find no program to end.
        os.write(terminal.fd, b"sh -c 'echo begun; exec sleep 1000'\n")
        terminal.wait_for("\nbegun\n")
        os.write(terminal.fd, b"\x03")
        terminal.wait_for(prompt)
        check("what it interrupts ends, and the guest does not",
              "\nstill here\n" in typed("echo still here"))
        check("what is written to /keep is kept",
              "guest:" in typed("echo kept > %s/file" % inside) and
              open(mark + "/file", encoding="utf-8").read() == "kept\n")
        os.write(terminal.fd, b"exit\n")
        rest, status = terminal.end()
        check("\"exit\" ends it, and nothing else is printed",
              status == 0 and rest.split() == ["exit", "exit"], rest, status)
    except (AssertionError, OSError) as e:
        terminal.program.terminate()
        check("the shell answers", False, str(e))
    shutil.rmtree(mark, ignore_errors=True)

    got = command("pwd; echo '$x'; (exit 7)")
    check("a command runs in the tracing folder, and its status is that of all",
          got == (7, "/sys/kernel/tracing\n$x\n"), got)
    got = command("ls /keep >/dev/null && cat current_tracer")
    check("so does one that succeeds", got == (0, "nop\n"), got)
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        got = command("[ -e %s ] && echo there; stat -c %%a /tmp" % file.name)
        check("what the host keeps in /tmp is not there", got == (0, "1777\n"), got)
    got = subprocess.run([HERE + "/run.py", "--kernel", KERNEL, "--shell", "--mem", "900000G"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    check("a guest that does not come up is said in one line",
          got.returncode == 125 and "the guest did not come up (" in got.stdout and
          got.stdout.count("\n") == 1, got)
    print("1..%d" % tests)
    return 0


if __name__ == "__main__":
    sys.exit(main())
