#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""run.py, and NMIs for the guest when it asks for them.

Takes the arguments of run.py.  The guest asks on its second serial port: after
the line "on" QEMU sends NMIs, each to all CPUs, whatever the guest is doing;
after "off" it sends no more, and the guest gets the line "sent N".

An NMI that comes while another one waits to be taken is lost in it, as on any
machine.  So the next one is sent only when each CPU has said that it is in its
handler: by writing its number to the I/O port that the kernel command line names
(guest.nmi=).

Where QEMU emulates the CPUs they take turns: with a thread for each, one that
runs an NMI can translate a breakpoint while another one writes over it, and it
is run for ever after (QEMU 7.2).  And instructions are the clock, so that what
the guest calls a second does not depend on what else the host does.
"""

import json
import os
import select
import socket
import sys
import tempfile
import threading
import time

import run

PORT = 0xe9
TTY = "/dev/ttyS1"
# No more than so many a second.
RATE = 1200
# A CPU that has not answered by then never will.
LOST = 60


def listen(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(1)
    return s


def drain(stream):
    """Read the answers, so that QEMU can go on writing them."""
    for _ in stream:
        pass


class Sender:
    """NMIs for one guest, over the three sockets that QEMU connects to."""

    def __init__(self, qmp, tty, acks, cpus):
        self.qmp, self.tty, self.acks, self.cpus = qmp, tty, acks, set(range(cpus))
        self.on, self.sent, self.line, self.next = False, 0, b"", 0

    def command(self, name):
        self.qmp.sendall(json.dumps({"execute": name}).encode() + b"\n")

    def look(self, timeout):
        """Take in what the guest wants now."""
        if not select.select([self.tty], [], [], timeout)[0]:
            return
        new = self.tty.recv(4096)
        if not new:
            raise EOFError
        *lines, self.line = (self.line + new).split(b"\n")
        for line in lines:
            if line.strip() == b"on":
                self.on, self.sent = True, 0
            elif line.strip() == b"off":
                self.on = False
                self.tty.sendall(b"sent %d\n" % self.sent)

    def send_one(self):
        """One NMI, until it has arrived everywhere."""
        pause = self.next - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self.next = time.monotonic() + 1 / RATE
        self.command("inject-nmi")
        self.sent += 1
        missing = set(self.cpus)
        while missing:
            if not select.select([self.acks], [], [], LOST)[0]:
                return
            new = self.acks.recv(4096)
            if not new:
                raise EOFError
            missing -= set(new)

    def go(self):
        self.command("qmp_capabilities")
        while True:
            self.look(0 if self.on else None)
            if self.on:
                self.send_one()


def serve(sockets, cpus):
    """Wait for QEMU, then send what the guest wants until QEMU is gone."""
    qmp, tty, acks = (s.accept()[0] for s in sockets)
    with qmp, tty, acks, qmp.makefile("rb") as stream:
        threading.Thread(target=drain, args=(stream,), daemon=True).start()
        try:
            Sender(qmp, tty, acks, cpus).go()
        except (EOFError, OSError):
            pass


def main():
    with tempfile.TemporaryDirectory() as tmp:
        paths = [os.path.join(tmp, name) for name in ("qmp", "tty", "acks")]
        sockets = [listen(path) for path in paths]
        plain = run.qemu_command

        def with_nmis(args, kernel, initrd, console, accel, append):
            threading.Thread(target=serve, args=(sockets, args.cpus), daemon=True).start()
            append += " apic_extnmi=all guest.nmi=%d,%s" % (PORT, TTY)
            qmp, tty, acks = ("unix:%s,server=off" % paths[0],
                              "socket,id=tty,path=%s" % paths[1],
                              "socket,id=acks,path=%s" % paths[2])
            if accel == "tcg":
                # Then no CPU has a thread of its own.
                accel, args.turns = "icount", True
            return plain(args, kernel, initrd, console, accel, append) + [
                "-qmp", qmp, "-chardev", tty, "-device", "isa-serial,chardev=tty,index=1",
                "-chardev", acks, "-device", "isa-debugcon,iobase=%d,chardev=acks" % PORT]

        run.qemu_command = with_nmis
        return run.main()


if __name__ == "__main__":
    sys.exit(main())
