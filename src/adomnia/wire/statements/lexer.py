"""Words and signs of a client's text: enough to part statements and to read commands.

Questions themselves are parsed elsewhere; here only quotes, comments and brackets matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Never

from adomnia.wire.errors import WireError

__all__ = ["ClientStatement", "Token", "TokenStream", "split", "tokens"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*)
  | (?P<comment>/\*)
  | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*')
  | (?P<string>(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*')
  | (?P<quoted>(?:[uU]&)?"(?:[^"]|"")*")
  | (?P<parameter>\$\d+)
  | (?P<dollar>\$(?P<tag>[^\W\d]\w*)?\$)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<sign>::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Token:
    """A word, string, number or sign, and where it stands."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where what comes after it begins."""
        return self.start + len(self.text)

    @property
    def upper(self) -> str:
        """A bare word in capitals; of everything else the text."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def value(self) -> str:
        """What it says: a string without quotes, a name folded as PostgreSQL folds it."""
        if self.kind == "word":
            return self.text.lower()
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"')
        if self.kind == "string":
            return self.text[self.text.index("'") + 1 : -1].replace("''", "'")
        if self.kind == "escaped":
            plain = self.text[2:-1].replace("''", "'")
            return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), plain, flags=re.DOTALL)
        return self.text


def tokens(sql: str) -> list[Token]:
    """The tokens of a text, without space and comments."""
    return list(_scan(sql))


def _scan(sql: str) -> Iterator[Token]:
    at = 0
    while at < len(sql):
        match = _TOKEN.match(sql, at)
        assert match is not None  # the last sign takes anything
        kind, end = str(match.lastgroup), match.end()
        if match["comment"]:
            end = _after_comment(sql, at)
        elif match["dollar"]:
            end = _after_dollars(sql, match)
            yield Token("dollar", sql[at:end], at)
        elif match["sign"] in ("'", '"'):
            raise WireError("a quote is not closed", "", "42601", at)
        elif not match["space"]:
            yield Token(kind, match[0], at)
        at = end


def _after_comment(sql: str, start: int) -> int:
    """Where a comment ends; they nest."""
    depth = 0
    for mark in _COMMENT.finditer(sql, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise WireError("a comment is not closed", "", "42601", start)


def _after_dollars(sql: str, match: re.Match[str]) -> int:
    end = sql.find(match["dollar"], match.end())
    if end < 0:
        raise WireError("a quote is not closed", "", "42601", match.start())
    return end + len(match["dollar"])


@dataclass(frozen=True)
class ClientStatement:
    """One statement with its tokens; `offset` is where it begins in the text it was taken of.

    A text is passed over once: whoever wants to know more of a statement looks at its tokens.
    """

    sql: str
    tokens: tuple[Token, ...]
    offset: int = 0

    @property
    def first(self) -> str:
        """The word that it begins with, in capitals."""
        return self.tokens[0].upper

    @property
    def parameters(self) -> list[Token]:
        """The places where it takes `$1`, `$2`, …."""
        return [token for token in self.tokens if token.kind == "parameter"]

    def part(self, begin: int, end: int) -> ClientStatement:
        """The statement that some of its tokens are, by their numbers."""
        return _cut(self.sql, self.tokens[begin:end])


def split(sql: str) -> list[ClientStatement]:
    """The statements of a text, without empty ones."""
    statements: list[ClientStatement] = []
    part: list[Token] = []
    for token in (*_scan(sql), Token("sign", ";", len(sql))):
        if token.text != ";":
            part.append(token)
        elif part:
            statements.append(_cut(sql, part))
            part = []
    return statements


def _cut(sql: str, part: Sequence[Token]) -> ClientStatement:
    """The statement that these tokens of a text are; its tokens are counted from its beginning."""
    begin, end = part[0].start, part[-1].end
    if begin:
        part = [replace(token, start=token.start - begin) for token in part]
    return ClientStatement(sql[begin:end], tuple(part), begin)


class TokenStream:
    """A command read word by word."""

    def __init__(self, statement: ClientStatement) -> None:
        self.sql, self.tokens = statement.sql, statement.tokens
        self._statement = statement
        self.at = 0

    @property
    def next(self) -> str:
        """The word that comes next, in capitals; nothing at the end."""
        return self.tokens[self.at].upper if self.at < len(self.tokens) else ""

    def accept(self, *words: str) -> str:
        """The next word if it is one of these, taken; else nothing."""
        if self.next and self.next in words:
            self.at += 1
            return self.tokens[self.at - 1].upper
        return ""

    def expect(self, *words: str) -> str:
        """The next word, which must be one of these."""
        return self.accept(*words) or self.fail()

    def name(self) -> str:
        """A name, perhaps with dots, as PostgreSQL folds it."""
        parts = [self.token("word", "quoted").value]
        while self.accept("."):
            parts.append(self.token("word", "quoted").value)
        return ".".join(parts)

    def token(self, *kinds: str) -> Token:
        """The next token, which must be of one of these kinds."""
        if self.at >= len(self.tokens) or self.tokens[self.at].kind not in kinds:
            self.fail()
        self.at += 1
        return self.tokens[self.at - 1]

    def number(self) -> int:
        """A whole number, perhaps with a sign."""
        sign = -1 if self.accept("-") else 1
        self.accept("+")
        text = self.token("number").text
        return sign * int(text) if text.isdecimal() else self.fail()

    def bracketed(self) -> ClientStatement:
        """What stands within the brackets that come next."""
        self.expect("(")
        begin, depth = self.at, 1
        while depth:
            if self.at >= len(self.tokens):
                self.fail()
            depth += {"(": 1, ")": -1}.get(self.tokens[self.at].text, 0)
            self.at += 1
        if self.at - 1 == begin:
            self.fail()
        return self._statement.part(begin, self.at - 1)

    def rest(self) -> ClientStatement:
        """Everything that is left."""
        if self.at >= len(self.tokens):
            self.fail()
        begin, self.at = self.at, len(self.tokens)
        return self._statement.part(begin, self.at)

    def end(self) -> None:
        """Refuses a command that goes on."""
        if self.at < len(self.tokens):
            self.fail()

    def fail(self) -> Never:
        """The command is not understood from here on."""
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            raise WireError(f"{token.text[:40]!r} is not understood here", "", "42601", token.start)
        raise WireError("the command ends too early", "", "42601", len(self.sql))
