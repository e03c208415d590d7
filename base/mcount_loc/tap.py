# SPDX-License-Identifier: GPL-2.0
"""Tests that are noted, run and told of as TAP."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

results = {True: 0, False: 0}
pattern = sys.argv[1] if len(sys.argv) > 1 else ""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failed(" ".join(str(w) for w in what))


def equal(got, want, what):
    expect(got == want, f"{what}: {str(got)[:300]} is not {str(want)[:300]}")


tests = []


def test(name, *args):
    """Note a function as a test; NAME may be filled in from ARGS."""
    def note(function):
        tests.append((name.format(*args), function, args))
        return function
    return note


def run_tests(program):
    for name, function, args in tests:
        if pattern not in name:
            continue
        n = sum(results.values()) + 1
        with tempfile.TemporaryDirectory(dir=program.work) as work:
            # Tests of permissions run as somebody else.
            os.chmod(work, 0o755)
            program.dir = pathlib.Path(work)
            try:
                function(program, *args)
                print(f"ok {n} - {name}")
                results[True] += 1
            except Skipped as e:
                print(f"ok {n} - {name} # SKIP {e}")
                results[True] += 1
            except (Failed, OSError, subprocess.SubprocessError,
                    struct.error, LookupError, ValueError) as e:
                print(f"not ok {n} - {name}")
                print(f"# {type(e).__name__}: {e}".replace("\n", "\n# "))
                results[False] += 1
        sys.stdout.flush()
