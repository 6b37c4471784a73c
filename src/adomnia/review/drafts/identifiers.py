"""Identifiers: which columns name a person or a thing, and how many rows each of these has.

A column is one by its name, by the form of its values, or since its whole numbers come but once
where chance would have drawn some twice. What is measured (an income, a weight) is drawn: of n
numbers of a range of R, about n²/2R come twice if all are as likely, and more if they are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adomnia.review.column_words import (
    CERTAIN,
    CLASSES,
    IDS,
    INDIVIDUALS,
    MEASURED,
    NAMES,
    PEOPLE,
    PERSONAL,
    column_words,
)
from adomnia.review.drafts.unread_forms import unread_form

__all__ = ["PERSON", "THING", "RowsPerUnit", "called_as_people", "clearness", "rounded_up",
           "unit_rows_of"]  # fmt: skip

FEW_PEOPLE, FEW_COUNTED = 3, 20
"""A column that is called as people are, such as `customer`, with so few values is a class of them;
a number may say how many they are."""

ALL_ROWS = 20
"""Up to so many rows of one unit are all used."""

NEARLY_ALL, MOST, FAR = 0.99, 0.95, 2
"""A unit has far more rows than others where it has more than so many times what such a part of
them have at most: beyond the first the bound is lower, beyond the second a lower one is named."""

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
        """What is proposed: enough for all, or for 99 of 100 where the others have far more."""
        if self.most <= ALL_ROWS:
            return max(1, self.most)
        usual = self._at_most(NEARLY_ALL)
        return rounded_up(usual if self.most > FAR * usual else self.most)

    def _at_most(self, part: float) -> int:
        """How many rows such a part of the values have at most."""
        left = part * self.values
        for many in sorted(self.repeats):
            left -= self.repeats[many]
            if left <= 0:
                return many
        return self.most

    @property
    def row_is_person(self) -> bool:
        """Whether each of these is one person and has one row."""
        return self.most == 1 and bool(INDIVIDUALS & {*column_words(self.name)})

    @property
    def is_number_of_rows(self) -> bool:
        """Whether it is called as an identifier and has one row each."""
        words = column_words(self.name)
        return self.most == 1 and bool(words) and bool(IDS & {words[0], words[-1]})

    @property
    def is_name(self) -> bool:
        """Whether it is what people are called, which several may be."""
        return bool(NAMES & {*column_words(self.name)})

    @property
    def may_be_unit(self) -> bool:
        """Whether it names people, who have several rows; names that too many share do not."""
        shared = self.is_name and not _are_many(self.values, self.rows)
        return self.person and self.most > 1 and not shared

    def cut(self, bound: int) -> tuple[float, int]:
        """The share of rows beyond a bound, and how many values have them."""
        beyond = sum(max(0, m - bound) * v for m, v in self.repeats.items())
        return beyond / max(1, self.rows), sum(v for m, v in self.repeats.items() if m > bound)

    def cut_text(self, bound: int) -> str:
        """What a bound leaves out, in words, and which would leave out nothing; or what a lower one
        would, where a few have far more than the others."""
        left, units = self.cut(bound)
        if left:
            return (
                f"; max_rows = {bound:,} leaves out {100 * left:.2g} % of the rows, of {units:,} "
                f"that have more; {rounded_up(self.most):,} would leave out none"
            )
        lower = rounded_up(self._at_most(MOST))
        if self.most <= max(ALL_ROWS, FAR * lower):
            return ""
        left, units = self.cut(lower)
        return (
            f"; max_rows = {lower:,} would leave out {100 * left:.2g} % of the rows, of {units:,} "
            "that have more"
        )


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
        return PERSON if {*column_words(name)} & PEOPLE else THING
    if unread_form(facts) is not None:
        return NOTHING
    if not (facts["kind"] == "text" or (facts["kind"] == "number" and facts["places"] == 0)):
        return NOTHING
    return max(_by_name(name, facts), _by_form(facts, bool(CLASSES & {*column_words(name)})))


def _by_name(name: str, facts: Mapping[str, Any]) -> int:
    words, values = column_words(name), facts["distinct"] or 0
    people, last = PEOPLE & {*words}, words[-1] if words else ""
    measured = MEASURED & {*words} and not CERTAIN & {*words}
    if measured or not values or not words:
        return NOTHING
    if (PERSONAL | NAMES) & {*words}:
        return NOTHING if CLASSES & {*words} or not _is_text_or_long(facts) else PERSON
    if IDS & {words[0], last} and (people or CERTAIN & {words[0], last}):
        if people or len(words) == 1:
            return PERSON
        return NOTHING if CLASSES & {*words} and facts["values"] else THING
    if not people or last not in people:
        return NOTHING
    least = FEW_PEOPLE if facts["kind"] == "text" else FEW_COUNTED
    return PERSON if values > least and _are_many(values, facts["present"]) else NOTHING


def called_as_people(name: str, facts: Mapping[str, Any]) -> bool:
    """Whether a list of texts is called as people are, such as `participant`, though it is short
    for so many rows: it may be a class (`subject`), or a few who have many."""
    words = column_words(name)
    few = facts["kind"] != "text" or (facts["distinct"] or 0) <= FEW_PEOPLE
    return not few and bool(words) and words[-1] in PEOPLE and not MEASURED & {*words}


def _are_many(values: int, rows: int) -> bool:
    """Whether there are more values than each has rows: people come by the hundred, and what many
    rows share is a class (a school's `subject`)."""
    return values * values >= rows


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
    if low is None or low < 0 or MEASURED & {*column_words(name)}:
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


def rounded_up(least: int) -> int:
    """A number with two digits that count, not below `least` and at most a tenth above.

    >>> rounded_up(25), rounded_up(144), rounded_up(4001)
    (25, 150, 4100)
    """
    power: int = 10 ** max(0, len(str(least)) - 2)
    return -(-least // power) * power
