#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""run.py, and NMIs for the guest when it asks for them.

Takes the arguments of run.py.  The guest asks with the line "guest: NMIs on" in
its kernel log, and ends it with "guest: NMIs off".  QEMU sends the NMIs, a few
hundred a second, whatever the guest is doing: that is what makes them worth
having.
"""

import json
import os
import socket
import sys
import tempfile
import threading
import time

import run

PAUSE = 0.002


def connect(path):
    """QEMU's QMP socket, once QEMU is there; None if it does not come."""
    for _ in range(600):
        qmp = socket.socket(socket.AF_UNIX)
        try:
            qmp.connect(path)
            return qmp
        except OSError:
            qmp.close()
            time.sleep(0.1)
    return None


def drain(stream):
    """Read the answers, so that QEMU can go on writing them."""
    for _ in stream:
        pass


class Wish:
    """What the guest asked for last, from its kernel log as that grows."""

    def __init__(self, log):
        self.log, self.at, self.tail, self.on = log, 0, b"", False

    def look(self):
        """True if the guest wants NMIs now."""
        try:
            with open(self.log, "rb") as f:
                f.seek(self.at)
                new = f.read()
        except OSError:
            return False
        self.at += len(new)
        *lines, self.tail = (self.tail + new).split(b"\n")
        for line in lines:
            if b"guest: NMIs on" in line:
                self.on = True
            elif b"guest: NMIs off" in line:
                self.on = False
        return self.on


def send_nmis(path, log):
    """Inject NMIs while the guest wants them, until QEMU is gone."""
    qmp = connect(path)
    if not qmp:
        return
    wish = Wish(log)
    with qmp, qmp.makefile("rb") as stream:
        threading.Thread(target=drain, args=(stream,), daemon=True).start()
        try:
            qmp.sendall(json.dumps({"execute": "qmp_capabilities"}).encode())
            while True:
                if not wish.look():
                    time.sleep(0.1)
                    qmp.sendall(b"\n")
                    continue
                for _ in range(100):
                    qmp.sendall(json.dumps({"execute": "inject-nmi"}).encode())
                    time.sleep(PAUSE)
        except OSError:
            return


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "qmp")
        plain = run.qemu_command

        def with_nmis(args, kernel, initrd, console, accel, append):
            threading.Thread(target=send_nmis, args=(path, console), daemon=True).start()
            cmd = plain(args, kernel, initrd, console, accel, append + " guest.nmi=1")
            return cmd + ["-qmp", "unix:%s,server=on,wait=off" % path]

        run.qemu_command = with_nmis
        return run.main()


if __name__ == "__main__":
    sys.exit(main())
