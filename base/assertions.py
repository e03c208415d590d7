#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find assertions of shell tests that cannot fail.

ftracetest runs a test under "set -e": a command that fails ends it.  Not all
do.  Refused is, by the word in brackets:

  [bang]   a pipeline that begins with "!": "set -e" ignores its status.  It may
           stand in the condition of if, elif, while and until, and before "&&"
           or "||".
  [true]   "|| :", "|| true", "|| exit 0" or "|| return 0" after an assertion: it
           takes every status for success.  Where there may be nothing to find,
           may_grep still fails for all that is no search.  A function that is
           called as a condition may "return 0".
  [background]
           an assertion before "&": nobody takes its status.
  [pipe]   anything but a filter of text on the left of a pipe: of a pipeline the
           last status counts, so a tool that dies there, or a "fail" in a
           function, goes unseen.  What it prints goes to a file first.  A
           function may stand there that is made of filters of text, and of
           reading files, alone.  A grep that is asked for its status is none.
  [last]   an assertion after "&&" whose status nobody takes: if what is before
           it is false, the test goes on.
  [tested] an assertion in a function that is called where "set -e" is off (in a
           condition, before "&&" or "||", by wait_for), and that is not the last
           command there: its status is nobody's.
  [local]  "local NAME=$(...)": the status is that of local.

An assertion is grep, test, [, cmp or diff, and what has the status of one: a
group, a function, or an assignment.

A line "# assertions: WORD: REASON" before the statement allows it.

usage: assertions.py FILE...
       assertions.py --self-test
"""

import re
import sys

from shell_tree import Compound, Lexer, Parser, Pipeline, Simple

ASSERTIONS = {"grep", "test", "[", "cmp", "diff"}
# They read files and text and print text. What they cannot read they leave out,
# and whoever compares what they print sees that.
FILTERS = set("""
    awk cat comm cut echo grep head join may_grep od paste printf sed seq set sort
    stat tail tr true uniq wc :
    """.split())
# What a function on the left of a pipe may have besides.
HARMLESS = FILTERS | set("""
    [ break case continue dmesg done do esac exec false fi for if local read
    return shift then test wait while until else elif in { }
    """.split())
CALLERS = {"wait_for"}


def silent(cmd):
    """Is it made for its status, not for what it prints?"""
    return cmd.name in ASSERTIONS and (cmd.name != "grep" or any(
        re.match(r"-\w*[qsc]|--(quiet|silent|no-messages|count)$", arg)
        for arg in cmd.call[1:]))


class Script:
    """One file: its tree, its functions, and what it sources of ours."""

    def __init__(self, path, text):
        self.path = path
        lexer = Lexer(text)
        lexer.run()
        self.allowed = lexer.allowed
        parser = Parser(lexer.tokens)
        self.tree = parser.list()
        self.functions = parser.functions
        self.sources = re.findall(r'^\. "\$FTRACETEST_ROOT/(test\.d/\S+)"$', text, re.M)

    def inner(self, words):
        """The lists of the $(...) in words."""
        return [Parser(tokens).list() for w in words for tokens in w.inner]


class Checker:
    """All files, since functions of one are called in others."""

    def __init__(self, scripts):
        self.scripts, self.found = scripts, set()
        self.tested, self.todo = set(), []
        self.function, self.returns = None, []

    def resolve(self, script, name):
        if name in script.functions:
            return script, name
        # What a test sources before a lib.sh is known there, too.
        for lib in self.scripts:
            sourced = any(lib.path.endswith(path) for path in script.sources)
            if script.path.endswith("/lib.sh"):
                sourced = lib.path.endswith("/lib.sh")
            if sourced and name in lib.functions:
                return lib, name
        return None

    def complain(self, script, line, word, what):
        if script.allowed.get(line) != word:
            self.found.add((script.path, line, word, what))

    def is_text(self, script, cmd, seen=(), taken=False):
        """May this stand on the left of a pipe?  @taken: its status is."""
        if isinstance(cmd, Compound):
            return all(self.is_text(script, c, seen, taken or tested or i < len(parts) - 1)
                       for tested, lists in ((True, cmd.conditions), (False, cmd.bodies))
                       for body in lists for parts in body
                       for i, (_, p) in enumerate(parts) for c in p.commands)
        if not cmd.name or cmd.name in (HARMLESS if seen else FILTERS):
            return taken or not silent(cmd)
        to = self.resolve(script, cmd.name)
        if not to or to in seen:
            return bool(to)
        return self.is_text(to[0], to[0].functions[to[1]], (*seen, to), taken)

    def asserts(self, script, cmd, seen=()):
        """Is the status of this one of an assertion?"""
        if cmd.name in ASSERTIONS:
            return True
        to = self.resolve(script, cmd.name)
        if to:
            return to not in seen and \
                self.asserts(to[0], to[0].functions[to[1]], (*seen, to))
        if isinstance(cmd, Compound):
            bodies = cmd.bodies
        else:
            bodies = [] if cmd.name else script.inner(cmd.words)[-1:]
        return any(self.asserts(script, body[-1][-1][1].commands[-1], seen)
                   for body in bodies if body)

    def is_true(self, cmd):
        """Does this succeed, and nothing else?"""
        if any(to != "/dev/null" and not to.isdigit() for to in cmd.targets):
            return False
        if isinstance(cmd, Compound):
            return cmd.kind in ("(", "{") and all(
                self.is_true(c) for body in cmd.bodies for parts in body
                for _, p in parts for c in p.commands)
        return cmd.call in (["exit", "0"], ["return", "0"], ["exit_pass"]) or \
            cmd.name in (":", "true") and "$" not in "".join(cmd.call)

    def mark(self, script, cmd):
        """What is called here is called where "set -e" is off."""
        for name in cmd.call[:2 if cmd.name in CALLERS else 1]:
            to = self.resolve(script, name)
            if to and to not in self.tested:
                self.tested.add(to)
                self.todo.append(to)

    def walk(self, script, tree, off=False, tail=False, condition=False):
        """@off: "set -e" is; @tail: the status of the last command is taken."""
        for n, parts in enumerate(tree):
            at_end = tail and n == len(tree) - 1
            for i, (op, p) in enumerate(parts):
                goes_on = i < len(parts) - 1
                untaken = not condition and not goes_on
                last = p.commands[-1]
                if p.bang and untaken:
                    self.complain(script, p.line, "bang", "nobody takes the status of this")
                if op == "||" and self.is_true(last) and \
                        self.asserts(script, parts[i - 1][1].commands[-1]):
                    found = (script, p.line, "true", "an assertion that cannot fail")
                    if last.name == "return":
                        self.returns.append((self.function, found))
                    else:
                        self.complain(*found)
                if p.background and self.asserts(script, last):
                    self.complain(script, p.line, "background", "nobody takes the status of this")
                if op == "&&" and untaken and not at_end and not p.bang and \
                        last.name in ASSERTIONS:
                    self.complain(script, p.line, "last", "not reached if what is before it fails")
                if off and untaken and not op and not at_end and last.name in ASSERTIONS:
                    self.complain(script, p.line, "tested",
                                  "nobody takes the status where this is called")
                for c in p.commands[:-1]:
                    if not self.is_text(script, c):
                        self.complain(script, c.line, "pipe",
                                      f"{c.name} can fail on the left of a pipe")
                for c in p.commands:
                    quiet = off or condition or goes_on or p.bang
                    if isinstance(c, Simple) and (quiet or c.name in CALLERS):
                        self.mark(script, c)
                    if c.name == "local":
                        for w in c.words[1:]:
                            if w.inner and "=$((" not in w.text:
                                self.complain(script, w.line, "local", "its status is lost")
                    for part in script.inner(c.words):
                        self.walk(script, part, tail=True)
                    if isinstance(c, Compound):
                        loop = c.kind in ("while", "until", "for")
                        for body in c.conditions:
                            self.walk(script, body, off, True, condition=True)
                        for body in c.bodies:
                            self.walk(script, body, quiet, not loop and
                                      (at_end or goes_on or condition))

    def run(self):
        for script in self.scripts:
            self.function = None
            self.walk(script, script.tree, tail=True)
            for name, body in script.functions.items():
                self.function = script, name
                self.walk(script, [[("", wrap(body))]], tail=True)
        while self.todo:
            self.function = script, name = self.todo.pop()
            self.walk(script, [[("", wrap(script.functions[name]))]], off=True, tail=True)
        for function, found in self.returns:
            if function not in self.tested:
                self.complain(*found)
        return sorted(self.found)


def wrap(cmd):
    p = Pipeline(False, cmd.line)
    p.commands.append(cmd)
    return p


# Each line that ends in "# WORD" is to be refused for that, and no other.
SAMPLE = r"""
fail() { exit 1; }
! grep -q x y			# bang
[ -e x ] && ! grep -q x y	# bang
if ! grep -q x y; then
	! cat x | grep .	# bang
fi
! grep x y || fail
(! grep x y)			# bang
case $1 in
a|b)	! test -e x ;;		# bang
*)	grep x y || : ;;	# true
esac
grep -c x y || true		# true
n=$(grep -c x y || :)		# true
(grep -q x y) || true		# true
grep -q x y || { :; }		# true
grep -q x y || { true; } 2>&1	# true
grep -q x y || (exit 0)		# true
/bin/grep -q x y || true	# true
command grep -q x y || true	# true
command -v grep || true
test -e x || true >/dev/null	# true
test -e x || : "not there"	# true
grep -q x y || exit 0		# true
grep -q x y || exit_pass	# true
grep -q x y || exit
n=$(grep -c x y) || :		# true
holds || true			# true
check() { { [ -e x ]; }; }
check || :			# true
[ -e x ] || : > x
[ -e x ] || : "${x:=y}"
early() {
	[ -e x ] || return 0	# true
	rm x
}
early
is_early() {
	[ -e x ] || return 0
	[ -e y ]
}
if is_early; then echo x; fi
grep -q x y &			# background
{ rm x; check; } &		# background
grep -q x y & [ -e x ]		# background
case $1 in
a)	grep -q x y & ;;	# background
esac
sleep 1 &
may_grep x y
trace-cmd report | grep x	# pipe
n=$(perf script | wc -l)	# pipe
text() { cat x | sed 's/|/!/'; }
text | grep -q x
broken() { cat x || fail; }
broken | grep -q x		# pipe
{ echo a; text; } | cmp - x
(perf script) | grep x		# pipe
grep -q x y | cat		# pipe
grep -hs x y | cat		# pipe
grep --count x y | cat		# pipe
test -e x | cat			# pipe
[ -e x ] | cat			# pipe
check | cat			# pipe
grep -o x y | cat
asked() { if grep -q x y && [ -e x ]; then cat y; fi; }
asked | cat
[ -e x ] && grep x y		# last
[ -e x ] && fail "! grep | perf"
while [ -e x ] && [ -e y ]; do :; done
holds() {
	[ -e x ]		# tested
	[ -e y ] && [ -e z ]
}
until holds; do :; done
plain() {
	[ -e x ]
	[ -e y ]
}
plain
waited() {
	grep x y		# tested
	if [ -e a ]; then
		[ -e b ]
	fi
}
wait_for waited
inner() {
	cmp x y			# tested
	true
}
outer() {
	inner
}
outer || fail
quoted() {
	local a=$(cat x) b=$((1 + 2))	# local
}
awk '{ print | "sort" } ! /x/' x
cat << END
! grep -q x y
perf script | grep x
END
# assertions: pipe: it is for the sample
perf script | grep x
[ -e x ] && [ -e y ]
"""


def self_test():
    want = {(n, m.group(1)) for n, line in enumerate(SAMPLE.split("\n"), 1)
            if (m := re.search(r"# (\w+)$", line))}
    got = {(line, word) for _, line, word, _ in Checker([Script("sample", SAMPLE)]).run()}
    for line, word in sorted(want - got):
        print(f"sample:{line}: [{word}] is not found")
    for line, word in sorted(got - want):
        print(f"sample:{line}: [{word}] is found, and nothing is wrong")
    return want == got and bool(want)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    if not sys.argv[1:]:
        return __doc__
    scripts = []
    for path in sys.argv[1:]:
        with open(path) as f:
            scripts.append(Script(path, f.read()))
    found = Checker(scripts).run()
    for path, line, word, what in found:
        print(f"{path}:{line}: [{word}] {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
