# SPDX-License-Identifier: GPL-2.0
"""What the tests of the base gave on two kernels, kept in files, and the table of both.

A result has a key of two: a test, which is what one guest begins and ends, and which
of its results this is ("" where there is but one).
"""

import hashlib
import itertools
import os
import re

from places import BUILD

GOOD = ("PASS", "XFAIL", "UNSUPPORTED", "UNTESTED")
# The first is the best; those of one line are as good as each other.
RANKS = {result: rank for rank, results in enumerate((
    ("PASS",), ("XFAIL",), ("UNSUPPORTED", "UNTESTED"), ("UNRESOLVED",),
    ("FAIL", "UNDEFINED"), ("HANG", "CRASH"))) for result in results}
# The result of a test before which a guest died that had run none.
BEFORE = "before it"
# A test that ended so may never have come to its other results.
BROKEN = ("UNDEFINED", "HANG", "CRASH")


def both(one, two):
    """Two remarks as one; what is like the one before is said once."""
    return one if alike(two) in map(alike, one.split("; ")) else "; ".join(filter(None, (one, two)))


def alike(remark):
    """What a kernel warned of, without what differs each time."""
    return re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"\[ *[\d.]+\] ", "", remark))


def news(remark, known):
    """What a remark has that another one does not have."""
    return set(map(alike, remark.split("; "))) - set(map(alike, known.split("; "))) - {""}


def build_of(kernel):
    """What tells the kernel that is built under this name from others, or ""."""
    image = os.path.join(BUILD, kernel, "arch/x86/boot/bzImage")
    # There is a link to all that the build has made; do not follow it.
    modules = [os.path.join(folder, name)
               for folder, _, names in os.walk(os.path.join(BUILD, kernel, "modules"))
               for name in names if name.endswith(".ko")]
    found = hashlib.sha256()
    try:
        for path in [image, *sorted(modules)]:
            with open(path, "rb") as f:
                found.update(f.read())
    except FileNotFoundError:
        return ""
    return found.hexdigest()[:12]


def verdict(one, two, listed, strict):
    """("worse", "wrong list" or "", what to say) of a row with these two entries."""
    (one, remark1), (two, remark2) = one, two
    # What a broken one died of is said in its remark.
    warned = two not in BROKEN and news(remark2, remark1)
    if listed:
        stock, ours, reason = listed
        if two not in ours.split("/") or one not in stock.split("/") + ["-"]:
            return "wrong list", "%s | %s in the list" % (stock, ours)
        return ("worse" if warned else ""), reason
    # Where stock was not asked it passes.
    worst = len(RANKS)
    if RANKS.get(two, worst) > RANKS.get(one, 0) or warned:
        return "worse", ""
    if strict and (two not in ("PASS", "XFAIL") or remark2):
        return "worse", "as on stock, but not in the list"
    return "", ""


class Comparison:
    """The results in one folder of build/, with the list of what may differ.

    A line of the list is "test which | on stock | on ours | reason"; "A/B" there is
    either of them, and "-" is no result, where only ours has what is tested. A strict
    one takes what is bad on both kernels, or skipped, only if it is in the list: what is
    wrong with the test itself is so on both.

    boots(kernel, test) is the kernel that is booted for a test of one of the two: for
    some tests it is another one, built with what other tests may not have.
    """

    def __init__(self, name, listed, strict=False, boots=lambda kernel, test: kernel):
        self.out, self.listed, self.strict = os.path.join(BUILD, name), listed, strict
        self.boots = boots

    def first_guest(self, kernel, tests):
        """The kernel that the first test boots, and those tests from there on that do, too."""
        booted = self.boots(kernel, tests[0])
        return booted, list(itertools.takewhile(
            lambda test: self.boots(kernel, test) == booted, tests))

    def path(self, kernel):
        return os.path.join(self.out, kernel + ".txt")

    def read_lines(self, kernel):
        try:
            with open(self.path(kernel), encoding="utf-8") as f:
                return f.readlines()
        except FileNotFoundError:
            return []

    def read_results(self, kernel):
        """{(test, which): (result, remark)}, {test: seconds}."""
        results, seconds = {}, {}
        for line in self.read_lines(kernel):
            test, which, result, took, remark = line.rstrip("\n").split("\t")[:5]
            results[test, which] = result, remark
            seconds[test] = max(int(took), seconds.get(test, 0))
        return results, seconds

    def builds(self, kernel):
        """{the kernel that was booted: {its build, as build_of() has it: the tests}}."""
        builds = {}
        for line in self.read_lines(kernel):
            test, _, _, _, _, build = (line.rstrip("\n") + "\t").split("\t")[:6]
            of_it = builds.setdefault(self.boots(kernel, test), {})
            of_it.setdefault(build, set()).add(test)
        return builds

    def of_other_builds(self, kernel):
        """The tests with results of another build than that of now."""
        found = set()
        for booted, builds in self.builds(kernel).items():
            now = build_of(booted)
            found.update(test for build, tests in builds.items()
                         if now and build != now for test in tests)
        return found

    def warn_of_builds(self, kernel):
        """Say it if results are not of the kernel that is built now."""
        for booted, builds in sorted(self.builds(kernel).items()):
            now = build_of(booted)
            for build, tests in sorted(builds.items()):
                # A kernel may be gone while its results are still good.
                if build != now and (now or len(builds) > 1):
                    print("NOTE: of another build of %s than that of now: %s"
                          % (booted, " ".join(sorted(tests))))

    def forget(self, kernel, tests):
        """What is run now takes the place of what was known of it; true if that was all."""
        kept = [line for line in self.read_lines(kernel) if line.split("\t")[0] not in tests]
        with open(self.path(kernel), "w", encoding="utf-8") as f:
            f.writelines(kept)
        return not kept

    def read_listed(self):
        """{(test, which): (result on stock, result on ours, reason)}."""
        listed = {}
        with open(self.listed, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    case, stock, ours, reason = (word.strip() for word in line.split("|", 3))
                    test, _, which = case.partition(" ")
                    listed[test, which] = stock, ours, reason
        return listed

    def table(self, ours, stock, lost, known, hint, whole):
        """Both kernels side by side; true if ours is nowhere worse and nothing is lost.

        lost(results, of the other) gives the keys without a result, known(test) is
        whether there is such a test, hint is how stock is asked. If the table is to be
        whole, a result of another build of ours than that of now is none.
        """
        (a, took_a), (b, took_b) = self.read_results(stock), self.read_results(ours)
        # Not what is left of a test that has gone since.
        a, b = ({key: row for key, row in rows.items() if known(key[0])} for rows in (a, b))
        listed = self.read_listed()
        missing = [(ours, key) for key in lost(b, a)]
        if a:
            missing += [(stock, key) for key in lost(a, b)
                        if listed.get(key, ("",))[0] != "-"]
        if whole:
            missing += [(ours, (test, "of this build"))
                        for test in sorted(self.of_other_builds(ours)) if known(test)]
        rows, worse, wrong = sorted(set(a) | set(b)), [], []
        width = max((len(" ".join(key).strip()) for key in rows), default=0)
        form = "%-*s  %-11s %7s  %-11s %7s  %s"
        print((form % (width, "", stock, "", ours, "", "")).rstrip())
        for key in rows:
            one, two = a.get(key, ("-", "")), b.get(key, ("-", ""))
            # What one of them broke off is in the row of the case.
            mark = reason = ""
            if key in b:
                mark, reason = verdict(one, two, listed.get(key), self.strict)
            if mark == "worse":
                worse.append(key)
            elif mark:
                wrong.append(key)
            took = ["" if key[1] else "%d s" % t[key[0]] if key[0] in t else ""
                    for t in (took_a, took_b)]
            print((form % (width, " ".join(key).strip(), one[0], took[0], two[0], took[1],
                           ": ".join(filter(None, (mark, reason, two[1][:80]))))).rstrip())
        shared = {test for test in set(took_a) & set(took_b) if known(test)}
        if shared:
            print((form % (width, "the %d tests that both ran" % len(shared),
                           "", "%d s" % sum(took_a[t] for t in shared),
                           "", "%d s" % sum(took_b[t] for t in shared), "")).rstrip())
        print()
        for name, results in ((stock, a), (ours, b)):
            count = {}
            for result, _ in results.values():
                count[result] = count.get(result, 0) + 1
            print("%-10s %s" % (name, ", ".join("%d %s" % (n, r)
                                                for r, n in sorted(count.items()))
                                or "not run: " + hint))
        for name in (stock, ours):
            self.warn_of_builds(name)
        for name, key in missing:
            print("no result of %s: %s" % (name, " ".join(key).strip()))
        name = os.path.basename(self.listed)
        for test, which in sorted(listed):
            if not known(test):
                print("in %s, not in the base: %s" % (name, test))
                wrong.append((test, which))
        print("%d of %d worse than stock, %d without a result, %d wrong in %s"
              % (len(worse), len(rows), len(missing), len(wrong), name))
        return not (worse or missing or wrong)
