#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A page with pictures of what a demonstration saw: one file, for any browser.

usage: report.py FOLDER KERNEL PAGE

In FOLDER is what demo.sh kept: which kernel it was, samples of ftraced_stats, the traces
of function and of function_graph, and the last ftraced_stats. KERNEL is where that kernel
was built. What "make bench" measured is shown, too, if it ran.
"""

import collections
import html
import json
import os
import re
import subprocess
import sys

from pictures import BOTTOM, COLOURS, HEIGHT, LEFT, WIDTH, box, histogram, label, round_up, svg
from places import BUILD, missing

# So many bars are read; the rest of them is one.
BARS = 14


class Failure(Exception):
    """One clear line for the user."""


# ---- what was kept ---------------------------------------------------------

def lines_of(folder, name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            return f.read().splitlines()
    except OSError as e:
        raise Failure(missing(os.path.join(folder, name), "the report",
                              "make run keeps it")) from e


def samples(lines):
    """[(seconds, {name: number, or whether it was so})]; a line of two numbers, uptime and idle time, begins one."""
    found = []
    for line in lines:
        time = re.fullmatch(r"([\d.]+) [\d.]+", line)
        if time:
            found.append((float(time.group(1)), {}))
        elif found and line.startswith("equilibrium: "):
            found[-1][1]["equilibrium"] = line == "equilibrium: yes"
        elif found and re.fullmatch(r"\w+: \d+", line):
            name, number = line.split(": ")
            found[-1][1][name] = int(number)
    found = [(at, stats) for at, stats in found
             if {"records", "rounds", "pending", "equilibrium"} <= set(stats)]
    if not found:
        raise Failure("no sample of ftraced_stats in what make run kept")
    return found


def number_of(lines, name):
    """A number in the last ftraced_stats."""
    found = re.search(r"(?m)^%s: (\d+)$" % name, "\n".join(lines))
    if not found:
        raise Failure("no \"%s\" in the ftraced_stats that make run kept" % name)
    return int(found.group(1))


def stops(lines):
    """[(below so many microseconds, number of stops)], in order."""
    found = re.findall(r"(?m)^stops_below_(\d+)us: (\d+)$", "\n".join(lines))
    timed, all_of_them = sum(int(n) for _, n in found), number_of(lines, "stops")
    # A coarse clock does not see each of them.
    if timed > all_of_them or (all_of_them and not timed):
        raise Failure("%d stops in classes of their length, of %d" % (timed, all_of_them))
    return sorted((int(us), int(n)) for us, n in found)


def functions(lines):
    """How often each function is in the trace of the function tracer."""
    call = re.compile(r"\d: ([\w.]+)(?: \[\w+\])? <-")
    return collections.Counter(m.group(1) for m in map(call.search, lines) if m)


def subsystems(folder):
    """{function: folder that it was compiled in}, of the kernel that was built there."""
    if not os.path.exists(os.path.join(folder, "vmlinux.a")):
        return {}
    nm = subprocess.run(["nm", "-A", "--defined-only", "vmlinux.a"], cwd=folder, text=True,
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found = {}
    for path, name in re.findall(r"(?m)([\w./-]+)\.o:\w+ [tTwW] (\S+)$", nm.stdout):
        parts = path.split(os.sep)
        found.setdefault(name, "/".join(parts[:2] if len(parts) > 2 else parts[:1]))
    return found


class Call:
    """A function on the way from the outermost one, all calls of it as one."""

    def __init__(self, name):
        self.name, self.us, self.calls = name, 0.0, {}

    def inner(self, name):
        return self.calls.setdefault(name, Call(name))


def graph(lines):
    """The calls in a trace of function_graph that have ended, as one tree.

    A line says which CPU, not which task; before the first one of another task is one
    with both.
    """
    switch = re.compile(r"^ *(\d+)\) .*-\d+ +=> +\S.*-(\d+) *$")
    line_of = re.compile(r"^ *(\d+)\) .*?(?:([\d.]+) us)? *\| +"
                         r"(?:(})|([\w.]+)(?: \[\w+\])?\(\)( \{|;))")
    root = Call("all")
    tasks, stacks = {}, collections.defaultdict(lambda: [root])
    for line in lines:
        m = switch.match(line)
        if m:
            tasks[m.group(1)] = m.group(2)
            continue
        m = line_of.match(line)
        if not m:
            continue
        cpu, us, end, name, kind = m.groups()
        stack = stacks[tasks.get(cpu, "on CPU " + cpu)]
        if name and kind == " {":
            stack.append(stack[-1].inner(name))
        elif name:
            stack[-1].inner(name).us += float(us or 0)
        elif end and len(stack) > 1:
            stack.pop().us += float(us or 0)
    for stack in stacks.values():
        for outer, call in zip(stack, stack[1:]):
            # It is still under way, and no earlier one has ended.
            if not call.us:
                outer.calls.pop(call.name, None)
    root.us = sum(call.us for call in root.calls.values())
    return root


def bench():
    """The rows that bench.py kept, or none."""
    try:
        with open(os.path.join(BUILD, "bench/results.json"), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return []


# ---- pictures --------------------------------------------------------------

def curve(series):
    """Records, notes and rounds over the time since boot."""
    names = [("records", "call sites known"), ("pending", "calls noted, not yet dealt with"),
             ("rounds", "rounds of ftraced")]
    # Before the first sample there was a boot, which began with nothing.
    points = [(0.0, {})] + series
    most_x = round_up(points[-1][0])
    parts = []
    for i, (name, what) in enumerate(names):
        most_y = round_up(max(stats.get(name, 0) for _, stats in points) or 1)
        path = " ".join("%.1f,%.1f" % (LEFT + (WIDTH - LEFT - 20) * at / most_x,
                                       (HEIGHT - BOTTOM) * (1 - stats.get(name, 0) / most_y) + 10)
                        for at, stats in points)
        parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>'
                     % (path, COLOURS[i * 2]))
        parts.append('<rect x="%d" y="%d" width="12" height="12" fill="%s"/>'
                     % (WIDTH - 330, 130 + 22 * i, COLOURS[i * 2]))
        parts.append(label(WIDTH - 310, 141 + 22 * i, "%s (top: %g)" % (what, most_y)))
    base = HEIGHT - BOTTOM + 10
    parts.append('<path d="M%d 10V%dH%d" class="axis"/>' % (LEFT, base, WIDTH - 20))
    for i in range(6):
        at = most_x * i / 5
        parts.append(label(LEFT + (WIDTH - LEFT - 20) * i / 5, base + 18, "%g s" % at, "middle"))
    return svg(HEIGHT, *parts)


def bars(rows, form):
    """Bars with a name each: [(name, number)]."""
    most = max(n for _, n in rows)
    parts = []
    for i, (name, n) in enumerate(rows):
        y = 22 * i
        parts.append(label(250, y + 15, name, "end"))
        parts.append(box(260, y + 3, max(470 * n / most, 1), 16, COLOURS[0],
                         "%s: %s" % (name, form % n)))
        parts.append(label(268 + 470 * n / most, y + 15, form % n))
    return svg(22 * len(rows) + 4, *parts)


def by_folder(calls, folders):
    """[(folder, calls)], the most first."""
    sums = collections.Counter()
    for name, n in calls.items():
        # What gcc makes of a function has its name, and more.
        sums[folders.get(name) or folders.get(name.split(".")[0]) or "elsewhere"] += n
    rows = sums.most_common(BARS)
    rest = sum(sums.values()) - sum(n for _, n in rows)
    return rows + ([("all others", rest)] if rest else [])


def flames(root):
    """A flame graph: each call as wide as its time, what it calls on top of it."""
    parts, deepest = [], 0

    def draw(call, x, scale, depth):
        nonlocal deepest
        width = call.us * scale
        if width < 0.4:
            return
        deepest = max(deepest, depth)
        parts.append((depth, x, width, call))
        inner = sum(c.us for c in call.calls.values())
        # Their own clock may have counted a little more than that of their caller.
        scale = min(scale, width / inner) if inner else scale
        for c in sorted(call.calls.values(), key=lambda c: -c.us):
            draw(c, x, scale, depth + 1)
            x += c.us * scale

    if not root.us:
        return "<p>No call was seen.</p>"
    draw(root, 0, WIDTH / root.us, 0)
    out = []
    for depth, x, width, call in parts:
        y = 20 * (deepest - depth)
        out.append(box(x, y, max(width - 0.5, 0.3), 19, COLOURS[3 + hash_of(call.name) % 2],
                       "%s: %.1f us" % (call.name, call.us)))
        if width > 7.5 * len(call.name):
            out.append(label(x + 4, y + 14, call.name, kind="small"))
    return svg(20 * (deepest + 1), *out)


def hash_of(name):
    """The same for a name each time, which hash() is not."""
    return sum(name.encode())


def table(rows):
    head = "<tr><th>instructions, if nothing else is said<th>stock<th>this core<th>ratio</tr>"
    cells = ["<tr><td>%s<td>%s<td>%s<td>%s</tr>"
             % (html.escape(r["what"]), number(r["stock"]), number(r["ours"]),
                "%.3f" % (r["ours"] / r["stock"]) if r["stock"] and r["ours"] is not None else "")
             for r in rows]
    return "<table>%s%s</table>" % (head, "".join(cells))


def number(n):
    return "" if n is None else "{:,.0f}".format(n)


# ---- the page --------------------------------------------------------------

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 940px; margin: 2em auto; padding: 0 1em; color: #222 }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2em }
svg { width: 100%; font: 13px sans-serif } .axis { stroke: #888; fill: none } .small { font-size: 11px }
table { border-collapse: collapse } td, th { padding: .15em 1em .15em 0; text-align: right }
td:first-child, th:first-child { text-align: left }
"""


def page(folder, kernel):
    series = samples(lines_of(folder, "samples"))
    stats = lines_of(folder, "stats")
    longest = number_of(stats, "longest_stop_ns")
    calls = functions(lines_of(folder, "function.trace"))
    root = graph(lines_of(folder, "graph.trace"))
    quiet = next((at for at, s in series if s["equilibrium"] and not s["pending"] and
                  s["records"] == series[-1][1]["records"]), None)
    last = series[-1][1]
    histogram_of = stops(stats)
    if not calls:
        raise Failure("no call in the function trace that make run kept")
    if not root.calls:
        raise Failure("no call that ended in the function_graph trace that make run kept")

    parts = [
        ("Until equilibrium",
         "Call sites that ran are noted, get a record, and are made nops in rounds. %d were known "
         "after %d rounds%s." % (last["records"], last["rounds"],
                                 "; nothing was left to patch %.1f s after the kernel began"
                                 % quiet if quiet else ""),
         curve(series)),
        ("Stops of the machine",
         "%d stops until the end of the demonstration, which switched all functions on and off; "
         "the longest took %.1f ms. In an emulated guest one takes many times as long as on a "
         "machine."
         % (number_of(stats, "stops"), longest / 1e6),
         histogram(histogram_of)),
        ("What was traced",
         "The first %d calls in the buffer, of %d functions, by the folder of the source."
         % (sum(calls.values()), len(calls)),
         bars(by_folder(calls, subsystems(kernel)), "%d")),
        ("What vfs_read() does",
         "The trace of function_graph as a flame graph: the width is time, what a function calls "
         "is above it. Point at a box to read what it is.",
         flames(root)),
    ]
    rows = bench()
    if rows:
        parts.append(("What it costs",
                      "What \"make bench\" counted, the stock core against this one.", table(rows)))
    body = "".join("<h2>%s</h2><p>%s</p>%s" % (html.escape(head), html.escape(text), picture)
                   for head, text, picture in parts)
    return ("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Dynamic ftrace: a "
            "demonstration</title><style>%s</style><h1>Dynamic ftrace: a demonstration</h1>"
            "<p>What \"make run\" saw of %s.</p>%s</html>\n"
            % (STYLE, html.escape(" ".join(lines_of(folder, "kernel"))), body))


def main():
    if len(sys.argv) != 4:
        print("usage: report.py FOLDER KERNEL PAGE", file=sys.stderr)
        return 2
    try:
        text = page(sys.argv[1], sys.argv[2])
    except Failure as e:
        print("report.py: %s" % e, file=sys.stderr)
        return 1
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
