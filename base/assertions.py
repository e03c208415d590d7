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

ASSERTIONS = {"grep", "test", "[", "cmp", "diff"}
# They read files and text and print text. What they cannot read they leave out,
# and who compares what they print sees that.
FILTERS = set("""
    awk cat comm cut echo grep head join may_grep od paste printf sed seq set sort
    stat tail tr true uniq wc :
    """.split())
# What a function on the left of a pipe may have besides.
HARMLESS = FILTERS | set("""
    [ break case continue dmesg done do esac exec false fi for if local read
    return shift then test wait while until else elif in { }
    """.split())
CONDITIONS = {"if", "elif", "while", "until"}
OPENING = {"then", "do", "else", "{", "!"} | CONDITIONS
CLOSING = {"fi", "done", "esac", "}"}
CALLERS = {"wait_for"}


class Token:
    """A word or an operator, and the line it is on."""

    def __init__(self, text, line, op=False, inner=(), to=""):
        self.text, self.line, self.op, self.inner, self.to = text, line, op, list(inner), to


class Lexer:
    """The tokens of a script; those of a $(...) are in the word it is in."""

    OPS = ("&&", "||", ";;", "<<-", "<<", ">>", "<&", ">&", "<>", ">|",
           "&", "|", ";", "(", ")", "<", ">", "\n")

    def __init__(self, text, line=1):
        self.s, self.i, self.line = text, 0, line
        self.tokens, self.heredocs, self.allowed = [], [], {}

    def op(self):
        return next((op for op in self.OPS if self.s.startswith(op, self.i)), None)

    def take(self, n=1):
        part = self.s[self.i:self.i + n]
        self.line += part.count("\n")
        self.i += n
        return part

    def take_blanks(self, blanks=" \t"):
        while self.s[self.i] in blanks:
            self.take()

    def line_end(self):
        stop = self.s.find("\n", self.i)
        return len(self.s) if stop < 0 else stop

    def skip_heredocs(self):
        for strip, end in self.heredocs:
            while self.i < len(self.s):
                line = self.s[self.i:self.line_end()]
                self.take(len(line) + 1)
                if (line.lstrip("\t") if strip else line) == end:
                    break
        self.heredocs = []

    def substitution(self, inner):
        """After "$(": the script up to its ")"."""
        sub = Lexer(self.s[self.i:], self.line)
        sub.run(nested=True)
        self.take(sub.i)
        self.allowed.update(sub.allowed)
        inner.append(sub.tokens)

    def dollar(self, inner):
        begin = self.i
        if self.s.startswith("$((", self.i):
            depth = 0
            while self.i < len(self.s):
                c = self.take()
                depth += (c == "(") - (c == ")")
                if c == ")" and not depth:
                    break
            # What is calculated with may be asked of commands.
            for m in re.finditer(r"\$\((?!\()", self.s[begin + 2:self.i]):
                sub = Lexer(self.s[begin + 2 + m.end():], self.line)
                sub.run(nested=True)
                inner.append(sub.tokens)
        elif self.s.startswith("$(", self.i):
            self.take(2)
            self.substitution(inner)
        elif self.s.startswith("${", self.i):
            depth = 0
            while self.i < len(self.s):
                if self.s[self.i] == "\\":
                    self.take(2)
                    continue
                if self.s.startswith("$(", self.i):
                    self.dollar(inner)
                    continue
                c = self.take()
                depth += (c == "{") - (c == "}")
                if c == "}" and not depth:
                    break
        else:
            self.take()
        return self.s[begin:self.i]

    def word(self):
        begin, line, inner, text = self.i, self.line, [], ""
        while self.i < len(self.s):
            c = self.s[self.i]
            if c == "\\":
                text += self.take(2)
            elif c == "'":
                stop = self.s.index("'", self.i + 1)
                text += self.take(stop + 1 - self.i)
            elif c == '"':
                text += self.take()
                while self.s[self.i] != '"':
                    if self.s[self.i] == "\\":
                        text += self.take(2)
                    elif self.s[self.i] == "$":
                        text += self.dollar(inner)
                    else:
                        text += self.take()
                text += self.take()
            elif c == "$":
                text += self.dollar(inner)
            elif c in " \t" or self.op():
                break
            else:
                text += self.take()
        assert self.i > begin
        return Token(text, line, inner=inner)

    def run(self, nested=False):
        depth = 0
        cases = []	# per "case": True while a pattern is read
        begin = True	# could a reserved word stand here?
        while self.i < len(self.s):
            c = self.s[self.i]
            if c in " \t":
                self.take()
                continue
            if self.s.startswith("\\\n", self.i):
                self.take(2)
                continue
            if c == "#":
                comment = self.take(self.line_end() - self.i)
                m = re.match(r"# assertions: (\w+): \S", comment)
                if m:
                    self.allowed[self.line + 1] = m.group(1)
                continue
            op = self.op()
            if cases and cases[-1]:
                # A pattern: no command until its ")".
                if op == ")":
                    cases[-1] = False
                    self.tokens.append(Token("\n", self.line, op=True))
                    self.take()
                    begin = True
                    continue
                if op:
                    self.take(len(op))
                    continue
                w = self.word()
                if w.text == "esac":
                    cases.pop()
                    self.tokens.append(w)
                    begin = False
                continue
            if op:
                line = self.line
                if op == ")" and nested and not depth:
                    self.take()
                    return
                depth += (op == "(") - (op == ")")
                self.take(len(op))
                if op == "\n" and self.heredocs:
                    self.skip_heredocs()
                if op == ";;":
                    cases[-1] = True
                if op in ("<<", "<<-"):
                    self.take_blanks()
                    self.heredocs.append((op == "<<-", self.word().text.strip("'\"\\")))
                elif op[0] in "<>":
                    self.take_blanks()
                    to = self.word()
                    self.tokens.append(Token(op, line, op=True, inner=to.inner, to=to.text))
                else:
                    self.tokens.append(Token(op, line, op=True))
                    begin = True
                continue
            w = self.word()
            # The number before a redirection belongs to it.
            if w.text.isdigit() and self.op() and self.op()[0] in "<>":
                continue
            if begin and w.text == "case":
                self.tokens.append(w)
                self.take_blanks()
                self.tokens.append(self.word())
                self.take_blanks(" \t\n")
                assert self.word().text == "in", f"line {self.line}: case without in"
                cases.append(True)
                begin = False
                continue
            if begin and w.text == "esac":
                cases.pop()
            self.tokens.append(w)
            begin = begin and w.text in OPENING


class Simple:
    """A simple command."""

    def __init__(self, line):
        self.line, self.words, self.targets = line, [], []

    @property
    def call(self):
        """The name, without its path and "command", and the arguments."""
        call = [w.text for w in self.words]
        while call and (re.match(r"\w+=", call[0]) or not call[0]):
            call.pop(0)
        while len(call) > 1 and call[0] == "command" and call[1][0] != "-":
            call.pop(0)
        if call and "$" not in call[0]:
            call[0] = re.sub(r".*/|[\\'\"]", "", call[0])
        return call or [""]

    @property
    def name(self):
        return self.call[0]

    @property
    def silent(self):
        """Is it made for its status, not for what it prints?"""
        return self.name in ASSERTIONS and (self.name != "grep" or any(
            re.match(r"-\w*[qsc]|--(quiet|silent|no-messages|count)$", arg)
            for arg in self.call[1:]))


class Compound:
    """Anything with commands inside: lists that are conditions, and others."""

    def __init__(self, kind, line):
        self.kind, self.line, self.name = kind, line, kind
        self.conditions, self.bodies, self.words, self.targets = [], [], [], []


class Pipeline:
    """Commands with "|" between them, maybe after a "!"."""

    def __init__(self, bang, line):
        self.bang, self.line, self.commands, self.background = bang, line, [], False


class Parser:
    """The tree of a list of tokens: lists of [(operator, Pipeline), ...]."""

    def __init__(self, tokens):
        self.t, self.i, self.functions = tokens, 0, {}

    def peek(self, n=0):
        return self.t[self.i + n] if self.i + n < len(self.t) else Token("", 0, op=True)

    def next(self):
        self.i += 1
        return self.t[self.i - 1]

    def newlines(self):
        while self.peek().op and self.peek().text == "\n":
            self.next()

    def expect(self, text):
        t = self.next()
        assert t.text == text, f"line {t.line}: {t.text!r}, not {text}"

    def list(self, *stops):
        found = []
        while self.i < len(self.t):
            t = self.peek()
            if t.text in stops:
                break
            if t.op and t.text in ("\n", ";", "&", ";;"):
                self.next()
            else:
                found.append(self.and_or())
                found[-1][-1][1].background = self.peek().text == "&"
        return found

    def and_or(self):
        parts = [("", self.pipeline())]
        while self.peek().op and self.peek().text in ("&&", "||"):
            op = self.next().text
            self.newlines()
            parts.append((op, self.pipeline()))
        return parts

    def pipeline(self):
        bang = self.peek().text == "!"
        p = Pipeline(bang, self.peek().line)
        if bang:
            self.next()
        p.commands.append(self.command())
        while self.peek().op and self.peek().text == "|":
            self.next()
            self.newlines()
            p.commands.append(self.command())
        return p

    def redirections(self, cmd):
        while self.peek().op and self.peek().text[:1] in ("<", ">"):
            cmd.targets.append(self.peek().to)
            cmd.words.append(self.next())

    def command(self):
        t = self.peek()
        if t.op and t.text == "(":
            return self.group("(", ")")
        if not t.op and t.text == "{":
            return self.group("{", "}")
        if t.text in ("if", "while", "until", "for", "case"):
            return getattr(self, t.text.replace("until", "while") + "_")()
        if self.peek(1).op and self.peek(1).text == "(":
            return self.function()
        cmd = Simple(t.line)
        while self.i < len(self.t):
            t = self.peek()
            if t.op and t.text[0] in "<>":
                cmd.targets.append(t.to)
                if t.inner:
                    cmd.words.append(Token("", t.line, inner=t.inner))
            elif t.op:
                break
            else:
                cmd.words.append(t)
            self.next()
        assert cmd.words or cmd.targets, f"line {t.line}: {t.text!r}"
        return cmd

    def group(self, begin, end):
        c = Compound(begin, self.next().line)
        c.bodies.append(self.list(end))
        self.expect(end)
        self.redirections(c)
        return c

    def function(self):
        name = self.next()
        self.expect("(")
        self.expect(")")
        self.newlines()
        c = Compound("()", name.line)
        self.functions[name.text] = self.command()
        return c

    def if_(self):
        c = Compound("if", self.peek().line)
        while self.peek().text in ("if", "elif"):
            self.next()
            c.conditions.append(self.list("then"))
            self.expect("then")
            c.bodies.append(self.list("elif", "else", "fi"))
        if self.peek().text == "else":
            self.next()
            c.bodies.append(self.list("fi"))
        self.expect("fi")
        self.redirections(c)
        return c

    def while_(self):
        c = Compound(self.next().text, self.peek().line)
        c.conditions.append(self.list("do"))
        return self.loop(c)

    def for_(self):
        c = Compound(self.next().text, self.peek().line)
        while self.peek().text != "do":
            c.words.append(self.next())
        return self.loop(c)

    def loop(self, c):
        self.expect("do")
        c.bodies.append(self.list("done"))
        self.expect("done")
        self.redirections(c)
        return c

    def case_(self):
        c = Compound(self.next().text, self.peek().line)
        c.words.append(self.next())
        while self.peek().text != "esac":
            c.bodies.append(self.list(";;", "esac"))
            if self.peek().text == ";;":
                self.next()
        self.expect("esac")
        self.redirections(c)
        return c


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
            return taken or not cmd.silent
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
