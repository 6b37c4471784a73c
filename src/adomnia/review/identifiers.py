"""Identifiers: which columns name a person or a thing, and how many rows each of these has.

A column is one by its name, by the form of its values, or since its whole numbers come but once
where chance would have drawn some twice. What is measured (an income, a weight) is drawn: of n
numbers of a range of R, about n²/2R come twice if all are as likely, and more if they are not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adomnia.review.column_words import (
    CERTAIN,
    CLASSES,
    IDS,
    INDIVIDUALS,
    MEASURED,
    PEOPLE,
    PERSONAL,
)
from adomnia.review.unread_forms import unread_form

__all__ = ["PERSON", "THING", "RowsPerUnit", "clearness", "round_number", "unit_rows_of"]

FEW_PEOPLE = 3
"""A text column of a person's name, such as `customer`, with so few values is a class of people."""

MANY = 1000
DRAWN_TWICE = 8.0
"""So many numbers must be expected twice before it tells anything that none is."""

PERSON, THING, NOTHING = 2, 1, 0
"""How clearly a column is an identifier: of a person, of a person or a thing, of neither."""


@dataclass(frozen=True)
class RowsPerUnit:
    """How many rows the values of a column have: it may be the unit.

    >>> RowsPerUnit("id", {1: 900, 2: 80, 5: 20}).most
    5
    """

    name: str
    repeats: Mapping[int, int]
    person: bool = True

    @property
    def values(self) -> int:
        """How many values there are."""
        return sum(self.repeats.values())

    @property
    def rows(self) -> int:
        """How many rows have one."""
        return sum(many * values for many, values in self.repeats.items())

    @property
    def most(self) -> int:
        """How many rows the value with the most has."""
        return max(self.repeats, default=0)

    @property
    def max_rows(self) -> int:
        """What is proposed: enough for all where they are few, else for 99 of 100 values."""
        if self.most <= 10:
            return max(1, self.most)
        left = 0.99 * self.values
        for many in sorted(self.repeats):
            left -= self.repeats[many]
            if left <= 0:
                return round_number(many)
        return self.most

    @property
    def row_is_person(self) -> bool:
        """Whether each of these is one person and has one row."""
        return self.most == 1 and bool(INDIVIDUALS & {*_words(self.name)})

    @property
    def left_out(self) -> float:
        """The share of rows beyond what is proposed."""
        beyond = sum(max(0, m - self.max_rows) * v for m, v in self.repeats.items())
        return beyond / max(1, self.rows)


def unit_rows_of(
    found: Mapping[str, Mapping[str, Any]], count: Callable[[str], Mapping[int, int]]
) -> dict[str, RowsPerUnit]:
    """The columns that are identifiers; only those that may be one are counted."""
    units = {}
    for name, facts in found.items():
        sure = clearness(name, facts)
        if sure == NOTHING and not _may_be_drawn_once(name, facts):
            continue
        repeats = count(name)
        if sure or _drawn_once(repeats, facts):
            units[name] = RowsPerUnit(name, repeats, sure == PERSON)
    return units


def clearness(name: str, facts: Mapping[str, Any]) -> int:
    """Whether a column is an identifier by its name or by the form of its values."""
    if facts["type"].upper() == "UUID":
        return PERSON if {*_words(name)} & PEOPLE else THING
    if unread_form(facts) is not None:
        return NOTHING
    if not (facts["kind"] == "text" or (facts["kind"] == "number" and facts["places"] == 0)):
        return NOTHING
    return max(_by_name(name, facts), _by_form(facts, bool(CLASSES & {*_words(name)})))


def _by_name(name: str, facts: Mapping[str, Any]) -> int:
    words, values = _words(name), facts["distinct"] or 0
    people, last = PEOPLE & {*words}, words[-1] if words else ""
    measured = MEASURED & {*words} and not CERTAIN & {*words}
    if measured or not values:
        return NOTHING
    if PERSONAL & {*words} or "name" in words or "names" in words:
        return NOTHING if CLASSES & {*words} or not _is_text_or_long(facts) else PERSON
    if IDS & {words[0], last} and (people or CERTAIN & {words[0], last}):
        if people or len(words) == 1:
            return PERSON
        return NOTHING if CLASSES & {*words} and facts["values"] else THING
    if not people or last not in people:
        return NOTHING
    least = FEW_PEOPLE if facts["kind"] == "text" else 20  # a number may say how many they are
    return PERSON if values > least else NOTHING


def _is_text_or_long(facts: Mapping[str, Any]) -> bool:
    return facts["kind"] == "text" or (facts["high"] or 0) >= 10_000


def _by_form(facts: Mapping[str, Any], shared: bool) -> int:
    """Whether values look like identifiers; codes of what many people `share` are none."""
    forms, (shortest, longest) = facts["forms"], facts["width"]
    if max(forms["uuids"], forms["mails"]) >= 0.9:
        return THING
    if facts["kind"] != "text" or shared:
        return NOTHING
    many = (facts["distinct"] or 0) > 0.9 * facts["present"]
    if facts["present"] >= MANY and many:
        return THING
    code = shortest is not None and shortest == longest >= 5 and not forms["spaced"]
    return THING if code and (facts["distinct"] or 0) > MANY else NOTHING


def _may_be_drawn_once(name: str, facts: Mapping[str, Any]) -> bool:
    """Whether whole numbers should be counted: nearly all are different, and none is measured."""
    if facts["kind"] != "number" or facts["places"] != 0 or facts["share"] < 1:
        return False
    low, present = facts["low"], facts["present"]
    if low is None or low < 0 or MEASURED & {*_words(name)}:
        return False
    return present >= 20 and (facts["distinct"] or 0) > 0.9 * int(present)


def _drawn_once(repeats: Mapping[int, int], facts: Mapping[str, Any]) -> bool:
    """Whether so few whole numbers come twice that they were not drawn but given, one by one."""
    rows = sum(many * values for many, values in repeats.items())
    twice = rows - sum(repeats.values())
    span = facts["high"] - facts["low"] + 1
    expected = rows + span * math.expm1(rows * math.log1p(-1 / span)) if span > 1 else 0.0
    if expected >= DRAWN_TWICE:
        return twice == 0 or (expected >= 20 and twice <= expected / 4)
    digits = len(f"{facts['high']:.0f}")
    fixed = digits >= 8 and digits == len(f"{facts['low']:.0f}")
    return fixed and twice == 0 and rows >= MANY


def _words(name: str) -> list[str]:
    """The words of a name, in small letters: `patientID` and `Patient_id` are patient and id."""
    apart = re.sub(r"([a-z])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3_\2\4", name)
    words = [word.lower() for word in re.split(r"[\W_]+", apart) if word]
    return list(_glued(words))


def _glued(words: Iterable[str]) -> Iterable[str]:
    """Words that are written as one: `patientid`, `custno`."""
    for word in words:
        start = next((w for w in PEOPLE if word.startswith(w) and word[len(w) :] in IDS), None)
        if start is None:
            yield word
        else:
            yield from (start, word[len(start) :])


def round_number(least: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50 … that is not below `least`.

    >>> round_number(12)
    20
    """
    power: int = 10 ** (len(str(least)) - 1)
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least)
