"""Columns whose names are words of SQL: which of them a statement must quote to be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import Dialect, Token, TokenType
from sqlglot.errors import SqlglotError

__all__ = ["ReservedWord", "reserved_word"]

_PLAIN = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING)
"""Tokens that the parser takes for a name or a text, and never for a word of its own."""

_TRIED = 4
"""So many words before the place of the failure are tried: each is a parse of the statement."""


@dataclass(frozen=True)
class ReservedWord:
    """A word of SQL that stands for a column: as it is written, quoted, and where it begins."""

    written: str
    quoted: str
    start: int


def reserved_word(
    sql: str, columns: Sequence[str], position: int, failure: Callable[[str], int | None]
) -> ReservedWord | None:
    """The column at or before `position` that must be quoted for the statement to be read on.

    `failure` is where the parser stops in a text, None where it does not. What is found is not
    guessed: with its quotes the statement is read to its end, or farther than without.
    """
    named = {name.casefold(): name for name in columns}
    for token in reversed(_candidates(sql, named, position)):
        name = named[token.text.casefold()].replace('"', '""')
        written = sql[token.start : token.end + 1]
        stop = failure(f'{sql[: token.start]}"{name}"{sql[token.end + 1 :]}')
        if stop is None or stop > position + len(name) + 2 - len(written):
            return ReservedWord(written, f'"{name}"', token.start)
    return None


def _candidates(sql: str, named: dict[str, str], position: int) -> list[Token]:
    """The last words of SQL before a position that are names of columns too."""
    try:
        tokens = Dialect.get_or_raise("postgres").tokenize(sql)
    except SqlglotError:
        return []
    words = [
        token
        for token in tokens
        if token.start <= position
        and token.token_type not in _PLAIN
        and token.text.casefold() in named
    ]
    return words[-_TRIED:]
