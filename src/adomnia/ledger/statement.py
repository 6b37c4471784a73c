"""Statements as the ledger keeps them: without comments, and not without end."""

from __future__ import annotations

import re

from adomnia.limits import MAX_KEPT_CHARACTERS

__all__ = ["kept", "without_comments"]


CUT = " … (cut)"

_PARTS = re.compile(
    r"""
      (?P<text> '[^']*(?:'|\Z) | "[^"]*(?:"|\Z) | (?P<tag>\$\w*\$).*?(?:(?P=tag)|\Z) )
    | (?P<line> --[^\n]* )
    | (?P<block> /\* )
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKS = re.compile(r"/\*|\*/")


def kept(statement: str) -> str:
    """The statement without comments, cut where it is too long.

    >>> kept("SELECT COUNT(*) -- of Ann's friends")
    'SELECT COUNT(*)'
    """
    text = without_comments(statement)
    return text if len(text) <= MAX_KEPT_CHARACTERS else text[:MAX_KEPT_CHARACTERS] + CUT


def without_comments(statement: str) -> str:
    """Any text without what SQL takes for comments; each leaves a blank, which parts words too.

    What is quoted stays, and what is quoted or commented without an end goes on to the end.

    >>> without_comments("SELECT '--', /* /* not */ this */ 1")
    "SELECT '--',   1"
    """
    parts, place = [], 0
    while (found := _PARTS.search(statement, place)) is not None:
        parts.append(statement[place : found.start()])
        place = found.end()
        if found["text"] is not None:
            parts.append(found["text"])
            continue
        if found["block"] is not None:
            place = _end(statement, place)
        parts.append(" ")
    return "".join((*parts, statement[place:])).strip()


def _end(statement: str, place: int) -> int:
    """Where a comment ends that began before this place; comments may hold comments."""
    depth = 1
    for mark in _MARKS.finditer(statement, place):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    return len(statement)
