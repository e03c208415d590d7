# SPDX-License-Identifier: GPL-2.0
"""A shell script as a tree of commands, as far as assertions.py asks."""

import re

CONDITIONS = {"if", "elif", "while", "until"}
OPENING = {"then", "do", "else", "{", "!"} | CONDITIONS


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
