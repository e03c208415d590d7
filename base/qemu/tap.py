# SPDX-License-Identifier: GPL-2.0
"""Test cases of unittest, as TAP."""

import unittest


def run(name, *cases):
    """Print the result of each test of the classes; true if one failed."""
    tests = [test for case in cases
             for test in unittest.defaultTestLoader.loadTestsFromTestCase(case)]
    bad = 0
    for number, test in enumerate(tests, 1):
        result = unittest.TestResult()
        test.run(result)
        wrong = result.failures + result.errors
        for _, text in wrong:
            print("# " + text.strip().replace("\n", "\n# "))
        print("%s %d %s: %s" % ("not ok" if wrong else "ok", number, name,
                                test.shortDescription()))
        bad += bool(wrong)
    print("1..%d" % len(tests))
    return bad > 0
