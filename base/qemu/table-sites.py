#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The functions that the table of call sites in a vmlinux names, one a line.

A call site is where a function begins, or after the endbr64 there. In what
order they are in the image depends on much that is not the table's, so they come
out sorted by name; as often as there are functions of that name.
"""

import bisect
import struct
import subprocess
import sys

ENDBR = 4


def symbols(vmlinux):
    """All symbols: those of code by address, and the others by name."""
    text, named = {}, {}
    out = subprocess.run(["nm", vmlinux], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in out.splitlines():
        fields = line.split()
        if len(fields) != 3:
            continue
        address, kind, name = int(fields[0], 16), fields[1], fields[2]
        named[name] = address
        # Of several names for one function any will do, if it is always the same.
        if kind in "tTwW" and not name.startswith(("__cfi_", "__pfx_")):
            text[address] = min(name, text.get(address, name))
    return text, named


def bytes_at(vmlinux, begin, end):
    """What the image has between two virtual addresses."""
    out = subprocess.run(["objdump", "-s", "--start-address=%#x" % begin,
                          "--stop-address=%#x" % end, vmlinux],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    data = bytearray()
    for line in out.splitlines():
        # " ADDRESS WORD WORD WORD WORD  TEXT"
        if line.startswith(" "):
            data += bytes.fromhex(line.split("  ")[0].split(" ", 2)[2])
    if len(data) != end - begin:
        sys.exit("%s: %d bytes of the table are there, not %d"
                 % (vmlinux, len(data), end - begin))
    return bytes(data)


def main():
    vmlinux = sys.argv[1]
    text, named = symbols(vmlinux)
    begin, end = named["__start_mcount_loc"], named["__stop_mcount_loc"]
    starts = sorted(text)
    names = []
    for (site,) in struct.iter_unpack("<Q", bytes_at(vmlinux, begin, end)):
        # Its section was not linked.
        if not site:
            continue
        at = starts[bisect.bisect_right(starts, site) - 1]
        if site - at not in (0, ENDBR):
            sys.exit("%s: %#x, %s+%#x, is where no function begins"
                     % (vmlinux, site, text[at], site - at))
        names.append(text[at])
    if not names:
        sys.exit("%s: the table is empty" % vmlinux)
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
