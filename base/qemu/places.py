# SPDX-License-Identifier: GPL-2.0
"""Where things are, and what to say when one is missing: base/lib.sh for Python."""

import os

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "../.."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))


def missing(what, needed_by, how):
    """The line that says what is missing, what needs it, and how to get it."""
    return "missing: %s, needed by %s; %s" % (what, needed_by, how)
