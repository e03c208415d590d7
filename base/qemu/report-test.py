#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""report.py on what is known beforehand: are the pictures of that?  Prints TAP."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
import report                                           # noqa: E402
import tap                                              # noqa: E402
from places import HERE                                 # noqa: E402

SAMPLE = """{at} 0.10
rounds: {rounds}
pending: {pending}
records: {records}
new: 0
equilibrium: {rest}
"""
STATS = """stops: 12
longest_stop_ns: 2500000
stops_below_512us: 9
stops_below_4096us: 3
"""
FUNCTION = """# tracer: function
#
             cat-120     [001] ...1.    12.345678: vfs_read <-ksys_read
             cat-120     [001] d..2.    12.345679: vfs_read <-ksys_read
             cat-120     [001] d..2.    12.345680: no_such_function.isra.0 [some_mod] <-vfs_read
"""
# On CPU 1 a call ends whose beginning was lost. Another one sleeps on CPU 0 to the end of
# the trace.
GRAPH = """# tracer: function_graph
 0)               |  sleeping() {
 0)   7.000 us    |    inner();
 ------------------------------------------
 0)    bash-95     =>    cat-141   
 ------------------------------------------

 0)               |  outer() {
 1)   9.000 us    |  }
 0)   2.500 us    |    inner [some_mod]();
 0)               |    middle [some_mod]() {
 0)   1.000 us    |      inner [some_mod]();
 0) + 5.000 us    |    }
 0)   2.500 us    |    inner [some_mod]();
 0) ! 100.000 us  |  }
"""


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.keep_samples("yes")
        self.keep("stats", STATS)
        self.keep("kernel", "6.12.1 <demo>\n")
        self.keep("function.trace", FUNCTION)
        self.keep("graph.trace", GRAPH)

    def keep_samples(self, rest):
        self.keep("samples", "".join(SAMPLE.format(at=at, rounds=rounds, pending=pending,
                                                   records=records, rest=rest)
                                     for at, rounds, pending, records in
                                     ((1.5, 9, 30, 4000), (2.0, 10, 0, 5000), (3.0, 10, 0, 5000))))

    def keep(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as f:
            f.write(text)

    def program(self, *args):
        """(exit status, what report.py complains of, its page)."""
        path = os.path.join(self.folder.name, "page.html")
        ran = subprocess.run([HERE + "/report.py", *(args or (self.folder.name, self.folder.name, path))],
                             stderr=subprocess.PIPE, text=True, check=False)
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
        return ran.returncode, ran.stderr, text

    def test_pictures(self):
        """the page has four pictures, each of them well-formed"""
        status, complaint, text = self.program()
        self.assertEqual((status, complaint), (0, ""))
        pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        self.assertEqual(len(pictures), 4)
        for picture in pictures:
            ET.fromstring(picture)
        self.assertIn("5000 were known after 10 rounds; nothing was left to patch 2.0 s", text)
        self.assertIn("12 stops", text)
        self.assertIn("the longest took 2.5 ms", text)

    def test_restless(self):
        """nothing is said to rest that did not"""
        self.keep_samples("no")
        status, _, text = self.program()
        self.assertEqual(status, 0)
        self.assertIn("5000 were known after 10 rounds.", text)

    def test_lost(self):
        """what is lost of the stops or of the graph is no page"""
        for name, text, said in (("stats", STATS.replace("stops: 12", "stops: 11"), "12 stops in"),
                                 ("stats", "stops: 12\nlongest_stop_ns: 25\n", "0 stops in"),
                                 ("stats", "stops: 12\n", "no \"longest_stop_ns\""),
                                 ("graph.trace", "# tracer: function_graph\n", "no call that ended")):
            self.setUp()
            self.keep(name, text)
            status, complaint, page = self.program()
            self.assertEqual((status, page), (1, ""), said)
            self.assertIn(said, complaint)

    def test_alone(self):
        """the page needs no other file"""
        status, _, text = self.program()
        self.assertEqual(status, 0)
        self.assertIn("6.12.1 &lt;demo&gt;", text)
        self.assertEqual(re.findall(r"(?:src|href)=|url\(|@import", text), [])

    def test_curve(self):
        """a curve begins at nothing and ends with the last sample"""
        picture = ET.fromstring(report.curve(report.samples(
            report.lines_of(self.folder.name, "samples"))))
        lines = [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
                 for line in picture.iter("polyline")]
        bottom = report.HEIGHT - report.BOTTOM + 10
        self.assertEqual(lines[0][0], (report.LEFT, bottom))
        # 5000 is the top of the axis, and 4000 is a fifth below it.
        self.assertEqual([y for _, y in lines[0]][2:], [10, 10])
        self.assertAlmostEqual(lines[0][1][1], 10 + (bottom - 10) / 5, places=1)
        # 30 were pending, then none; 9 rounds of 10.
        self.assertEqual([y for _, y in lines[1]], [bottom, 10, bottom, bottom])
        self.assertAlmostEqual(lines[2][1][1], 10 + (bottom - 10) / 10, places=1)
        self.assertEqual(len(lines), 3)

    def test_stops(self):
        """a bar of the histogram is as high as there were stops, and no class is left out"""
        picture = ET.fromstring(report.histogram(report.stops(STATS.splitlines())))
        bars = [float(bar.get("height")) for bar in picture.iter("rect")]
        self.assertEqual(len(bars), 4)
        self.assertAlmostEqual(bars[3] / bars[0], 3 / 9, places=2)
        self.assertEqual(bars[1:3], [0, 0])

    def test_folders(self):
        """calls are counted by the folder of their function"""
        calls = report.functions(FUNCTION.splitlines())
        self.assertEqual(calls, {"vfs_read": 2, "no_such_function.isra.0": 1})
        self.assertEqual(report.by_folder(calls, {"vfs_read": "fs"}), [("fs", 2), ("elsewhere", 1)])
        self.assertEqual(report.by_folder(calls, {"no_such_function": "mm"}),
                         [("elsewhere", 2), ("mm", 1)])

    def test_subsystems(self):
        """the folder of a function is that of the file it was compiled in"""
        os.makedirs(os.path.join(self.folder.name, "fs/proc"))
        os.makedirs(os.path.join(self.folder.name, "arch/x86/kernel/cpu"))
        for path in ("fs/proc/base", "fs/file", "arch/x86/kernel/cpu/some"):
            name = "f_" + path.replace("/", "_")
            subprocess.run(["gcc", "-c", "-x", "c", "-", "-o", path + ".o"], text=True, check=True,
                           cwd=self.folder.name, input="void %s(void) {}" % name)
        subprocess.run(["ar", "rcsPT", "vmlinux.a", "fs/proc/base.o", "fs/file.o",
                        "arch/x86/kernel/cpu/some.o"], cwd=self.folder.name, check=True)
        self.assertEqual(report.subsystems(self.folder.name),
                         {"f_fs_proc_base": "fs/proc", "f_fs_file": "fs",
                          "f_arch_x86_kernel_cpu_some": "arch/x86"})

    def test_many_folders(self):
        """what has no bar of its own is in the last one"""
        calls = {"f%d" % i: 100 - i for i in range(30)}
        rows = report.by_folder(calls, {name: name for name in calls})
        self.assertEqual(len(rows), report.BARS + 1)
        self.assertEqual(sum(n for _, n in rows), sum(calls.values()))

    def test_graph(self):
        """calls of one function in one place are one, with their time in sum"""
        root = report.graph(GRAPH.splitlines())
        outer = root.calls["outer"]
        self.assertEqual((root.us, outer.us), (100, 100))
        self.assertEqual({name: call.us for name, call in outer.calls.items()},
                         {"inner": 5, "middle": 5})
        self.assertEqual(outer.calls["middle"].calls["inner"].us, 1)

    def test_flames(self):
        """a flame is as wide as its call is long, and above the one that it is part of"""
        picture = ET.fromstring(report.flames(report.graph(GRAPH.splitlines())))
        flames = {rect.find("title").text: rect for rect in picture.iter("rect")}
        width = {text: float(rect.get("width")) + 0.5 for text, rect in flames.items()}
        self.assertAlmostEqual(width["middle: 5.0 us"] / width["outer: 100.0 us"], 0.05, places=2)
        self.assertLess(float(flames["middle: 5.0 us"].get("y")),
                        float(flames["outer: 100.0 us"].get("y")))

    def test_strange_names(self):
        """a name is text, whatever is in it"""
        self.keep("graph.trace", GRAPH.replace("inner", "f.isra.0"))
        status, _, text = self.program()
        self.assertEqual(status, 0)
        self.assertIn("<title>f.isra.0: ", text)
        self.assertIn("&lt;script&gt;", report.box(0, 0, 1, 1, "red", "<script>"))

    def test_missing(self):
        """a file that is missing is named in one line, and no page is left"""
        for name in ("samples", "stats", "kernel", "function.trace", "graph.trace"):
            with self.subTest(name):
                path = os.path.join(self.folder.name, name)
                os.rename(path, path + "~")
                status, complaint, text = self.program()
                os.rename(path + "~", path)
                self.assertEqual((status, text), (1, ""))
                self.assertRegex(complaint, r"\Areport\.py: missing: .*/%s, .*\n\Z" % name)

    def test_empty(self):
        """so is one in which nothing is"""
        for name in ("samples", "function.trace"):
            with self.subTest(name):
                with open(os.path.join(self.folder.name, name), encoding="utf-8") as f:
                    was = f.read()
                self.keep(name, "")
                status, complaint, text = self.program()
                self.keep(name, was)
                self.assertEqual((status, text), (1, ""))
                self.assertRegex(complaint, r"\Areport\.py: no .*\n\Z")

    def test_usage(self):
        """without a folder it says how it is used"""
        self.assertEqual(self.program("one")[0], 2)


if __name__ == "__main__":
    sys.exit(tap.run("report", Page))
