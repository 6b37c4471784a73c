"""What looks as if it named somebody: e-mail addresses, telephone numbers, names, free text.

Patterns are written so that every engine's regular expressions and Python's read them alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from adomnia.engines.source_facts import UndeclaredColumn
from adomnia.review.column_words import (
    CERTAIN,
    CLASSES,
    IDS,
    MEASURED,
    PEOPLE,
    PERSONAL,
    column_words,
)

__all__ = ["PATTERNS", "is_key", "looks_like", "values_look_like"]

_WORD = r"[A-ZÀ-Þ][^\s0-9,;:@/]+"
PATTERNS: Mapping[str, str] = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "telephone numbers": r"^(\+[0-9]|0[1-9])([ ()/-]?[0-9]){8,14}$",
    "names of people": rf"^{_WORD}(,? ([A-Z]\.|{_WORD}|van|von|de|der|da|del)){{1,3}}$",
    "free text": r"(\S+\s+){5,}\S",
}
"""What each may be called, and what matches it; free text has six words or more."""

SHARES = {"free text": 0.2}
USUAL = 0.5
"""So much of a column must match that it looks so."""

FEW = 20
"""Fewer different values are a list, whatever they are called: cities, say, or offices."""

NAMES = PERSONAL | {"name", "names", "address", "street"}


def is_key(name: str) -> bool:
    """Whether a column is called as if its values named people.

    >>> is_key("person_id"), is_key("income")
    (True, False)
    """
    words = column_words(name)
    if not words or MEASURED & {*words}:
        return False
    ends, people = {words[0], words[-1]}, PEOPLE & {*words}
    if CLASSES & {*words} and not people:
        return False
    return bool(CERTAIN & ends or words[-1] in PEOPLE or (people and IDS & ends))


def looks_like(column: UndeclaredColumn) -> str | None:
    """What a column seems to hold that names somebody; None where it does not."""
    if column.distinct < FEW:
        return None
    for what, many in column.matched.items():
        found = many + (column.long if what == "free text" else 0)
        if found >= SHARES.get(what, USUAL) * column.present:
            return what
    words = {*column_words(column.name)}
    called = NAMES & words and not CLASSES & words
    return "names, by what it is called" if called else None


def values_look_like(values: Sequence[object]) -> str | None:
    """The same of a declared list, which is public.

    >>> values_look_like([f"Ann Smith{'e' * i}" for i in range(20)])
    'names of people'
    """
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < FEW:
        return None
    for what, pattern in PATTERNS.items():
        if sum(bool(re.search(pattern, text)) for text in texts) >= USUAL * len(texts):
            return what
    return None
