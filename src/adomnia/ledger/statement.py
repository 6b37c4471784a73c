"""Statements as the ledger keeps them: without comments, and not without end."""

from __future__ import annotations

import re

__all__ = ["LONGEST", "kept", "without_comments"]

LONGEST = 20_000
"""Characters of a statement that are kept; what was paid for is in the record of the use."""

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
    return text if len(text) <= LONGEST else text[:LONGEST] + CUT


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
