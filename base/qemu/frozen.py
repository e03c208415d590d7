#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""run.py, and emulated CPUs that the host does not let run for a while.

Takes the arguments of run.py.  The guest asks as it does for NMIs (nmi.py): after the line
"on" one of its CPUs after the other, chosen at random, is held for some seconds, whatever
it is doing, as a host does that has others to run; after "off" none is any more, and the
guest gets the line "sent N", where N is how often that was done.

What is held is QEMU's thread for that CPU, by ptrace(2): a signal would stop all of them.
"""

import ctypes
import json
import os
import random
import sys
import tempfile
import threading
import time

import nmi
import run

HELD, BETWEEN = 3, 1	# seconds
WALL = 0x40000000	# __WALL: wait for threads, too
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def hold(thread):
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, WALL)
    time.sleep(HELD)
    ptrace(DETACH, thread)


class Holder(nmi.Sender):
    """What holds the CPUs of one guest."""

    def __init__(self, qmp, tty, answers):
        super().__init__(qmp, tty, None, 0)
        self.answers = answers

    def threads(self):
        self.command("query-cpus-fast")
        for line in self.answers:
            cpus = json.loads(line).get("return")
            if cpus:
                return [cpu["thread-id"] for cpu in cpus]
        raise EOFError

    def send_one(self):
        try:
            hold(random.choice(self.threads()))
            self.sent += 1
        except OSError as e:
            # The guest is told how often it went well.
            print("frozen.py: %s" % e, file=sys.stderr)
        time.sleep(BETWEEN)


def serve(sockets):
    qmp, tty = (s.accept()[0] for s in sockets)
    with qmp, tty, qmp.makefile("r") as answers:
        try:
            Holder(qmp, tty, answers).go()
        except (EOFError, OSError, ValueError):
            # QEMU is gone, and half a line may be the last that it said.
            pass


def main():
    with tempfile.TemporaryDirectory() as tmp:
        paths = [os.path.join(tmp, name) for name in ("qmp", "tty")]
        sockets = [nmi.listen(path) for path in paths]
        plain = run.qemu_command

        def with_port(args, kernel, initrd, console, accel, append):
            threading.Thread(target=serve, args=(sockets,), daemon=True).start()
            # No NMI comes, so nothing is written to the port.
            append += " guest.nmi=%d,%s" % (nmi.PORT, nmi.TTY)
            qmp, tty = ("unix:%s,server=off" % paths[0], "socket,id=tty,path=%s" % paths[1])
            return plain(args, kernel, initrd, console, accel, append) + [
                "-qmp", qmp, "-chardev", tty, "-device", "isa-serial,chardev=tty,index=1"]

        run.qemu_command = with_port
        return run.main()


if __name__ == "__main__":
    sys.exit(main())
