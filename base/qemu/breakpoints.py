# SPDX-License-Identifier: GPL-2.0
"""Tell a breakpoint that the kernel ran into from one that only QEMU still had."""

import re

# With thread=multi QEMU now and then runs a breakpoint after the kernel has taken it
# away; the stock kernel dies of it too.  For each one that was run: function, offset
# after it, and the byte that was there when it was dumped; nothing where that is unknown.
INT3 = re.compile(r"Oops: int3(?:(?:(?!RIP:).)*RIP: \S+?:(\S+)\+0x([0-9a-f]+)/"
                  r"(?:(?!Code:).)*Code: [^\n]* ([0-9a-f]{2}) <)?", re.DOTALL)


def late_int3(text, version):
    """Did the guest die of a breakpoint that is not there, by its messages?

    version() is that of QEMU: (major, minor).

    QEMU with a thread for each CPU runs such, it seems because it forgets what it made of
    an instruction before it writes over that, and another CPU can make the same of it in
    between.  Before 8.1 it was often; with 10.0.2 a kernel with the stock core died of it
    twice, when the static key of bpf_stats_enabled had been switched some 300 times.  A use
    after free looks different: freed trampolines are full of breakpoints.  A call site is
    the first instruction of a function, or follows an endbr64.  A nop or a jump elsewhere,
    but in code of ftrace's, is that of a jump label, and so is a nop of two bytes, which no
    call site has.  At a call site, which is ours, there has to be proof: QEMU is that old,
    and the panic ran into it again, after the dump had shown another byte there.
    """
    found = INT3.findall(text)
    name, at, byte = found[0] if found else ("", "", "")
    if not name or byte == "cc":
        return False
    if byte == "66" or (at not in ("1", "5") and byte in ("0f", "eb", "e9") and
                        not name.startswith("ftrace_")):
        return True
    gone = [place[:2] for place in found if place[0] and place[2] != "cc"]
    return len(gone) > len(set(gone)) and version() < (8, 1)
