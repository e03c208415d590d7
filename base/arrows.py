#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draw which of our files uses which, and fail if an arrow goes up or in a circle.

An arrow from file A to file B is

  - a symbol that the object of A refers to and the object of B defines: a function
    that is called, data, a function whose address stands in an initialiser.  What an
    inline function or a macro of a header refers to is in the object of whoever uses
    it, and counts for that file;
  - "#include" of B in A, for types, macros and inline functions; of conditional ones
    each;
  - a symbol of B in the body of an inline function or macro that header A has, even
    if nobody uses it.  That makes no circle, since a header has inline functions for
    whoever is above; but it may not go up.  Headers that the whole kernel includes
    are exempt: they stand for all that is above.

base/rooms.list says which file is in which room, from the top room to the bottom:

    ROOM: FOLDER/ [PATTERN]...

ROOM has the files right in FOLDER (not in folders below it), those whose name matches
a PATTERN if there are any.  Several lines with the same name make one room.  No arrow
goes to a room further up, and no file is in a circle, be it within a room.  Each file
of ours is in exactly one room.

    up FILE WHAT...

lets FILE refer to each WHAT, a symbol or a header, wherever it is.  It fails if FILE
does not, in no configuration.

KERNEL is a folder of build/ or a path: a tree of objects that are up to date.  A file
that its configuration leaves out has arrows only by what it includes.
"""

import argparse
import collections
import fnmatch
import os
import re
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "base/qemu"))
from places import BUILD, missing                       # noqa: E402

# Where our files are, below the top of the source.
OURS = re.compile(r"(kernel/trace/ftrace/.*|arch/x86/kernel/ftrace/.*|"
                  r"include/linux/ftrace[^/]*|"
                  r"arch/x86/include/asm/ftrace[^/]*)\.[chS]")
# Whoever writes <...> looks here.
INCLUDE = ("include", "arch/x86/include")
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w*")
# What nm calls a definition that others can see.
DEFINED = set("TDBRVWGSACiu")


class Fault(Exception):
    """The question cannot be answered: one clear line why."""


def sources(top):
    """The files that are ours."""
    found = []
    for root in ("kernel/trace/ftrace", "arch/x86/kernel", "arch/x86/include/asm",
                 "include/linux"):
        for folder, _, names in os.walk(os.path.join(top, root)):
            path = os.path.relpath(folder, top)
            found += [path + "/" + name for name in names if OURS.fullmatch(path + "/" + name)]
    if not found:
        raise Fault("no source of ours below " + top)
    return sorted(found)


class Rooms:
    """The rooms from the top to the bottom, and what is in them."""

    def __init__(self, path):
        self.names, self.lines, self.allowed = [], [], []
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                if words[0] == "up" and len(words) > 2:
                    self.allowed += [(words[1], what) for what in words[2:]]
                    continue
                if len(words) < 2 or not words[0].endswith(":") or not words[1].endswith("/"):
                    raise Fault("%s:%d: not \"ROOM: FOLDER/ [PATTERN]...\"" % (path, number))
                room = words[0][:-1]
                if room not in self.names:
                    self.names.append(room)
                elif room != self.names[-1]:
                    raise Fault("%s:%d: room %s is in two places" % (path, number, room))
                self.lines.append((room, words[1], words[2:] or ["*"]))

    def of(self, path):
        """The rooms that claim a file."""
        folder, name = os.path.split(path)
        return sorted({room for room, at, patterns in self.lines
                       if at == folder + "/" and
                       any(fnmatch.fnmatchcase(name, p) for p in patterns)}, key=self.level)

    def level(self, room):
        """0 is the top."""
        return self.names.index(room)


def symbols(tree, files):
    """What objects define, {symbol: file}, and refer to, {file: [symbol]}."""
    defined, weak, wanted = {}, {}, {}
    objects = [(f, os.path.join(tree, f[:-2] + ".o")) for f in files if f[-2:] in (".c", ".S")]
    objects = [(f, o) for f, o in objects if os.path.exists(o)]
    if not objects:
        raise Fault(missing("objects of ours below " + tree, "the arrows", "build them"))
    for path, obj in objects:
        out = subprocess.run(["nm", "-P", obj], stdout=subprocess.PIPE, encoding="utf-8",
                             check=False)
        if out.returncode:
            raise Fault("nm cannot read " + obj)
        wanted[path] = []
        for line in out.stdout.splitlines():
            name, kind = line.split()[:2]
            if kind in "Uvw":
                wanted[path].append(name)
            elif kind in "VW":
                weak[name] = path
            elif kind in DEFINED:
                defined[name] = path
    return {**weak, **defined}, wanted


def plain(text):
    """C without comments, strings and continued lines."""
    text = re.sub(r"\\\n", " ", text)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)


def bodies(path, text):
    """What the macros of a header and its functions are made of."""
    text = plain(text)
    yield from re.findall(r"^[ \t]*#[ \t]*define[ \t]+\w+(.*)", text, re.MULTILINE)
    text = re.sub(r"^[ \t]*#.*", "", text, flags=re.MULTILINE)
    depth, begin, function = 0, 0, False
    for at in re.finditer(r"[{}]", text):
        if at.group() == "{":
            if not depth:
                begin, function = at.end(), text[:at.start()].rstrip().endswith(")")
            depth += 1
        else:
            depth -= 1
            if not depth and function:
                yield text[begin:at.start()]
    if depth:
        raise Fault("the braces of %s do not pair: its functions cannot be told apart" % path)


def resolve(top, path, how, name):
    """The file of the source that an #include in path means, or None."""
    places = [os.path.dirname(path)] if how == '"' else []
    for place in [*places, *INCLUDE]:
        found = os.path.normpath(os.path.join(place, name))
        if os.path.exists(os.path.join(top, found)):
            return found
    return None


class Graph:
    """Our files, and the arrows between them with what they stand for."""

    def __init__(self, top, tree):
        self.top, self.files = top, sources(top)
        # {(from, to): [what]}; soft ones make no circle
        self.arrows = collections.defaultdict(list)
        self.soft = collections.defaultdict(list)
        defined, wanted = symbols(tree, self.files)
        for path, names in wanted.items():
            for name in names:
                self.add(self.arrows, path, defined.get(name), name)
        for path in self.files:
            with open(os.path.join(top, path), encoding="utf-8") as f:
                text = f.read()
            for how, name in INCLUDED.findall(re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)):
                self.add(self.arrows, path, resolve(top, path, how, name), "#include")
            if path.endswith(".h") and "include/" not in path:
                for name in {n for body in bodies(path, text)
                             for n in NAME.findall(body)}:
                    self.add(self.soft, path, defined.get(name), name)

    def add(self, arrows, path, to, what):
        if to and to != path and to in self.files and what not in arrows[path, to]:
            arrows[path, to].append(what)

    def drop(self, path, what):
        """Take no notice of a symbol or a header that a file refers to; false: it does not."""
        found = [(pair, names) for pair, names in self.arrows.items() if pair[0] == path and
                 (what in names or what == pair[1] and "#include" in names)]
        for pair, names in found:
            names.remove(what if what in names else "#include")
            if not names:
                del self.arrows[pair]
        return bool(found)

    def names(self, path, what):
        """Does a file name something, in code that may be left out?"""
        try:
            with open(os.path.join(self.top, path), encoding="utf-8") as f:
                return re.search(r"\b%s\b" % re.escape(what), plain(f.read())) is not None
        except FileNotFoundError:
            return False

    def what(self, path, to):
        """The reason for an arrow, short."""
        names = sorted(self.arrows.get((path, to), []) + self.soft.get((path, to), []))
        return ", ".join(names[:3]) + (", and %d more" % (len(names) - 3) if len(names) > 3 else "")

    def circles(self):
        """Short ways round, so many that each file that is in a circle is in one of them."""
        after = collections.defaultdict(list)
        for path, to in sorted(self.arrows):
            after[path].append(to)
        ways = [self.way(path, after) for path in self.files if path in self.reach(path, after)]
        seen = set()
        for way in sorted(ways, key=lambda way: (len(way), way)):
            if way[0] not in seen:
                seen.update(way)
                yield way

    @staticmethod
    def reach(path, after):
        """All that is reached by one arrow or more."""
        seen, todo = set(), [path]
        while todo:
            for to in after[todo.pop()]:
                if to not in seen:
                    seen.add(to)
                    todo.append(to)
        return seen

    @staticmethod
    def way(path, after):
        """The shortest way from a file back to it."""
        before, todo = {}, collections.deque([path])
        while path not in before:
            at = todo.popleft()
            for to in after[at]:
                if to not in before:
                    before[to] = at
                    todo.append(to)
        way = [path, before[path]]
        while way[-1] != path:
            way.append(before[way[-1]])
        return way[::-1]


def findings(graph, rooms):
    """One line for each thing that is not as it should be; the arrows that go up."""
    # What only some configurations have stands in the source all the same.
    lines = ["%s does not refer to %s, and need not be allowed to" % (path, what)
             for path, what in rooms.allowed
             if not graph.drop(path, what) and not graph.names(path, what)]
    up, room = set(), {}
    for path in graph.files:
        claims = rooms.of(path)
        if not claims:
            lines.append("%s is in no room" % path)
        elif len(claims) > 1:
            lines.append("%s is in rooms %s" % (path, " and ".join(claims)))
        room[path] = claims[0] if claims else None
    for path, to in sorted({*graph.arrows, *graph.soft}):
        if room[path] and room[to] and rooms.level(room[path]) > rooms.level(room[to]):
            up.add((path, to))
            lines.append("%s (%s) goes up to %s (%s): %s" % (
                path, room[path], to, room[to], graph.what(path, to)))
    for way in graph.circles():
        lines.append("circle: " + way[0] + "".join(
            " -> %s (%s)" % (to, graph.what(path, to)) for path, to in zip(way, way[1:])))
    return lines, up, room


def print_dot(graph, rooms, room, up):
    """The graph for graphviz, a box for each room, what goes up in red."""
    print("digraph arrows {\n\trankdir=TB; node [shape=box];")
    for number, name in enumerate(rooms.names):
        print("\tsubgraph cluster_%d {\n\t\tlabel=\"%s\";" % (number, name))
        for path in graph.files:
            if room[path] == name:
                print("\t\t\"%s\";" % path)
        print("\t}")
    for path, to in sorted({*graph.arrows, *graph.soft}):
        print("\t\"%s\" -> \"%s\" [tooltip=\"%s\"%s];" % (
            path, to, graph.what(path, to), ", color=red" if (path, to) in up else ""))
    print("}")


def print_rooms(graph, rooms, room):
    """How many symbols and includes lead from room to room."""
    count = collections.Counter()
    for (path, to), names in graph.arrows.items():
        count[room[path], room[to]] += len(names)
    width = max(len(name) for name in rooms.names) + 1
    print(" " * width + "".join("%*s" % (width, name) for name in rooms.names))
    for one in rooms.names:
        print("%-*s" % (width, one) + "".join(
            "%*s" % (width, count[one, other] or ".") for other in rooms.names))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dot", action="store_true", help="print the graph for graphviz")
    p.add_argument("--rooms", action="store_true", help="print how much leads from room to room")
    p.add_argument("--source", default=TOP, help="the top of the source")
    p.add_argument("--list", help="another list of rooms than SOURCE/base/rooms.list")
    p.add_argument("kernel", metavar="KERNEL")
    args = p.parse_args()
    tree = args.kernel
    if os.sep not in tree:
        tree = os.path.join(BUILD, tree)
    try:
        rooms = Rooms(args.list or os.path.join(args.source, "base/rooms.list"))
        graph = Graph(args.source, tree)
    except (Fault, OSError) as e:
        print("arrows.py: %s" % e, file=sys.stderr)
        return 2
    lines, up, room = findings(graph, rooms)
    if args.dot:
        print_dot(graph, rooms, room, up)
    if args.rooms:
        print_rooms(graph, rooms, room)
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
