#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""plot.py on figures that are known beforehand: are the pictures of these?  Prints TAP."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
import pictures                                         # noqa: E402
import tap                                              # noqa: E402
from places import TOP                                  # noqa: E402

PLOT = os.path.join(TOP, "base/bench/plot.py")
SVG = "{%s}" % pictures.SVG
assert SVG.endswith("/2000/svg}"), "no browser draws what is in " + SVG
CALLS = {"stock": {"call-one": 1000, "call-2": 2000, "call-10": 10000},
         "ours": {"call-one": 100, "call-2": 200, "call-10": 1000}}
MANY = {"stock": {"on-1000": 1e7, "on-10000": 1e8, "off-1000": 1e7, "off-10000": 1e8},
        "ours": {"on-1000": 1e5, "on-10000": 1e6, "off-1000": 1e5, "off-10000": 1e6}}
BOOTS = {str(nr): {"idle-all-on": [0.5, 9, 1], "busy-all-on": [2]} for nr in (2, 4, 8)}
SMP = {"stock": BOOTS, "ours": BOOTS, "stops": [[512, 4], [2048, 1], [512, 2]]}


class Plot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.makedirs(self.path("build/bench"))
        for name, figures in (("calls", CALLS), ("many", MANY), ("smp", SMP)):
            self.leave(name, figures)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def leave(self, name, figures):
        with open(self.path("build/bench/%s.json" % name), "w", encoding="utf-8") as f:
            json.dump(figures, f)

    def plot(self, *args):
        """(exit status, what plot.py complains of)."""
        ran = subprocess.run([PLOT, "--figures", self.path("figures.json"),
                              "--pictures", self.path("%s.svg"), *args],
                             env=dict(os.environ, BUILD=self.path("build")), text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        return ran.returncode, ran.stderr

    def lines(self, name):
        """The points of each line in a picture."""
        picture = ET.parse(self.path(name + ".svg")).getroot()
        return [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
                for line in picture.iter(SVG + "polyline")]

    def test_height(self):
        """ten times as much is as much higher, wherever it is"""
        self.assertEqual(self.plot(), (0, ""))
        stock, ours = self.lines("tracers")
        self.assertEqual([len(stock), len(ours)], [3, 3])
        decade = ours[0][1] - stock[0][1]
        self.assertGreater(decade, 20)
        for a, b in zip(stock, ours):
            self.assertAlmostEqual(b[1] - a[1], decade, places=0)
        self.assertAlmostEqual(stock[0][1] - stock[2][1], decade, places=0)
        self.assertEqual([x for x, _ in stock], [x for x, _ in ours])
        functions = self.lines("functions")
        self.assertEqual(len(functions), 4)
        self.assertAlmostEqual((functions[1][0][1] - functions[0][0][1]) / 2,
                               functions[0][0][1] - functions[0][1][1], places=0)

    def test_median(self):
        """of the times of a switch the one in the middle is drawn"""
        self.assertEqual(self.plot()[0], 0)
        idle, _, busy, _ = self.lines("cpus")
        self.assertEqual(len(idle), 3)
        settled = {"2": {"idle-all-on": [1], "busy-all-on": [2]}}
        self.leave("smp", {"stock": dict(BOOTS, **settled), "ours": BOOTS, "stops": [[512, 1]]})
        self.assertEqual(self.plot()[0], 0)
        self.assertEqual(self.lines("cpus")[0], idle)
        self.assertLess(busy[0][1], idle[0][1])

    def test_stops(self):
        """stops of all boots are in one histogram"""
        self.assertEqual(self.plot()[0], 0)
        picture = ET.parse(self.path("stops.svg")).getroot()
        high = [float(bar.get("height")) for bar in picture.iter(SVG + "rect")]
        self.assertEqual(len(high), 3)
        self.assertAlmostEqual(high[0] / high[2], 6, places=1)
        self.assertEqual(high[1], 0)

    def test_kept(self):
        """figures stay until they are measured again"""
        self.assertEqual(self.plot()[0], 0)
        for name in ("calls", "many", "smp"):
            os.unlink(self.path("build/bench/%s.json" % name))
        before = self.lines("tracers")
        self.assertEqual(self.plot(), (0, ""))
        self.assertEqual(self.lines("tracers"), before)

    def test_one_core(self):
        """figures of one core only do not replace those of both"""
        self.assertEqual(self.plot()[0], 0)
        before = self.lines("tracers")
        self.leave("calls", {"stock": {}, "ours": {"call-one": 5}})
        status, complaint = self.plot()
        self.assertEqual(status, 0)
        self.assertRegex(complaint, r"\Aplot\.py: calls: not both .*\n\Z")
        self.assertEqual(self.lines("tracers"), before)

    def test_check(self):
        """a picture that is missing, or not that of the figures, is named"""
        self.assertEqual(self.plot()[0], 0)
        self.assertEqual(self.plot("--check"), (0, ""))
        with open(self.path("figures.json"), encoding="utf-8") as f:
            figures = json.load(f)
        figures["calls"]["ours"]["call-2"] = 150
        with open(self.path("figures.json"), "w", encoding="utf-8") as f:
            json.dump(figures, f)
        os.unlink(self.path("stops.svg"))
        status, complaint = self.plot("--check")
        self.assertEqual(status, 1)
        self.assertEqual([line.split(" is ")[0].split("/")[-1] for line in complaint.splitlines()],
                         ["tracers.svg", "stops.svg"])
        self.assertFalse(os.path.exists(self.path("stops.svg")))

    def test_nothing(self):
        """what was never measured is named, and the rest is drawn"""
        os.unlink(self.path("build/bench/many.json"))
        status, complaint = self.plot()
        self.assertEqual((status, complaint), (1, "plot.py: functions: nothing was measured\n"))
        self.assertEqual(len(self.lines("tracers")), 2)


if __name__ == "__main__":
    sys.exit(tap.run("plot", Plot))
