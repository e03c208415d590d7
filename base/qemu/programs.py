# SPDX-License-Identifier: GPL-2.0
"""The programs that shell scripts run all the time, for the guest's memory.

To run a program from the host's root takes twenty requests over 9p, though what
is in it is cached: each walk, open, link and close asks the host.  On a busy host
that is a tenth of a second for /bin/true.
"""

import os
import re
import shutil
import subprocess
import tempfile

PROGRAMS = """
    awk basename bash cat chmod chown chrt cmp comm cp cut dash date dd df diff dirname dmesg
    echo egrep env expr false fgrep find gawk getconf grep head hostname id insmod kill kmod
    ln ls lsmod mawk mkdir mkfifo mktemp modinfo modprobe mount mountpoint mv nice nproc od
    paste pgrep pidof ping pkill printf ps pwd readlink realpath rm rmdir rmmod sed seq setsid
    sh sha256sum sleep sort split stat stdbuf stty sync sysctl tac tail taskset tee test timeout
    touch tr true truncate umount uname uniq uptime wc xargs yes
""".split()
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Read by each program that starts.
OTHERS = ["/etc/ld.so.cache"]


def chain(path, found):
    """Add a path to found, and what it leads to if it is a link.

    Each of them as it is without links in its folder.
    """
    while True:
        folder, name = os.path.split(path)
        while folder != "/" and not os.path.islink(folder):
            folder = os.path.dirname(folder)
        if folder != "/":
            found.add(folder)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), name)
        found.add(path)
        if not os.path.islink(path):
            return
        path = os.path.join(os.path.dirname(path), os.readlink(path))


def libraries(programs, known):
    """What ldd says the programs need.

    It takes seconds to say so: its answer is kept in the file known, for as long as
    neither they nor where libraries are have changed.
    """
    state = repr([(f, os.stat(f).st_mtime_ns, os.stat(f).st_size)
                  for f in programs + OTHERS if os.path.exists(f)])
    try:
        with open(known, encoding="utf-8") as f:
            was, *found = f.read().splitlines()
        if was == state and all(map(os.path.exists, found)):
            return found
    except (OSError, ValueError):
        pass
    out = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=False, text=True).stdout
    found = sorted(set(re.findall(r"\t(?:.* => )?(/\S+) \(0x", out)))
    # Another guest may start meanwhile.
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(known), encoding="utf-8",
                                     delete=False) as f:
        f.write("\n".join([state, *found]) + "\n")
    os.replace(f.name, known)
    return found


def copy(root, known):
    """Copy the programs that there are, and their libraries, to below root.

    In the file known is what libraries() remembers.
    """
    found = set()
    for name in PROGRAMS:
        path = shutil.which(name, path=PATH)
        if path:
            chain(path, found)
    for path in libraries(sorted(f for f in found if os.path.isfile(f)), known):
        chain(path, found)
    for path in OTHERS:
        if os.path.exists(path):
            chain(path, found)
    for path in sorted(found):
        target = root + path
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
