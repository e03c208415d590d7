#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Number the lines of one tree as they are numbered in another.

On some architectures the number of the line of a WARN_ON() is in the code. So that
objects of two trees can be compared, whatever lines one of them adds, each source file of
the first that differs gets a "#line" in place of each empty line after a difference; in a
comment it does nothing.

usage: same_lines.py FOLDER OTHER
"""

import filecmp
import os
import re
import subprocess
import sys

# What one hunk of diff takes away and puts there: "5,7c9", "3a4,6", "8d2".
HUNK = re.compile(r"^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$")


def hunks(old, new):
    """For each difference, (its first line in old, the first after it, and that in new)."""
    out = subprocess.run(["diff", old, new], stdout=subprocess.PIPE, check=False, text=True,
                         errors="surrogateescape").stdout
    for line in out.split("\n"):
        if m := HUNK.match(line):
            # "a" names the line before in the old file, "d" in the new one: both begin
            # again after the last line that is named.
            yield (int(m.group(1)) + (m.group(3) == "a"), int(m.group(2) or m.group(1)) + 1,
                   int(m.group(5) or m.group(4)) + 1)


def number(old, new):
    """Give lines of old the numbers that they have in new."""
    with open(old, encoding="utf-8", errors="surrogateescape", newline="") as f:
        lines = f.read().split("\n")
    all_hunks = list(hunks(old, new))
    for (_, at, other), (end, _, _) in zip(all_hunks, all_hunks[1:] + [(len(lines), 0, 0)]):
        # In the last line before the next one it would be in vain.
        for i in range(at, end - 1):
            # "lines" begins with line 1. After a "\\" it would be a part of the macro.
            if not lines[i - 1] and not lines[i - 2].endswith("\\"):
                lines[i - 1] = "#line %d" % (i + 1 - at + other)
    # The other tree may have the same inode.
    os.unlink(old)
    with open(old, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
        f.write("\n".join(lines))


def main():
    folder, other = sys.argv[1:]
    for top in ("arch", "include", "kernel"):
        for path, _, names in os.walk(os.path.join(folder, top)):
            for name in names:
                old = os.path.join(path, name)
                new = os.path.join(other, os.path.relpath(old, folder))
                if name.endswith((".c", ".h")) and os.path.exists(new) and \
                        not filecmp.cmp(old, new, shallow=False):
                    number(old, new)


if __name__ == "__main__":
    main()
