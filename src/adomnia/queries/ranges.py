"""Ranges: what values an expression can take, derived from the declared domains alone.

A number is kept as a whole index times a fixed step, so every engine computes with integers
and a sum lies on a known lattice. `ranges.md` holds the rules of derivation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import gcd
from typing import Any

from adomnia.queries.calendar import following, truncate
from adomnia.schema.domain import UNLISTED, Categories, Dates, Domain, Grid, Open, Timestamps

__all__ = [
    "UNLISTED",
    "Day",
    "Moment",
    "Number",
    "Range",
    "Text",
    "Truth",
    "cells",
    "clamp",
    "count_cells",
    "from_domain",
    "lies_outside",
    "outside",
    "show",
    "union",
]


@dataclass(frozen=True)
class Number:
    """Multiples `low·step … high·step`; `values` lists the indices where only some can occur.

    In a column that is `ragged` a row may also have something outside of these (`outside`).
    """

    low: int
    high: int
    step: Fraction = Fraction(1)
    nullable: bool = True
    values: tuple[int, ...] | None = None
    ragged: bool = False

    @property
    def whole(self) -> bool:
        """Whether all values are integers (an SQL integer, for the rules of division)."""
        return self.step.denominator == 1

    @property
    def width(self) -> int:
        """How many steps lie between the lowest and the highest value."""
        return self.high - self.low


@dataclass(frozen=True)
class Text:
    """A list of texts, or any text where `values` is None."""

    values: tuple[str, ...] | None
    nullable: bool = True
    ragged: bool = False


@dataclass(frozen=True)
class Day:
    """Days from low to high, or the first days of their weeks, months, quarters or years."""

    low: date
    high: date
    unit: str = "day"
    nullable: bool = True
    ragged: bool = False


@dataclass(frozen=True)
class Moment:
    """Moments low, low + step, … high, the step in seconds; or the first moments of their months,
    quarters or years, where there is a `unit`."""

    low: datetime
    high: datetime
    step: int
    unit: str = ""
    nullable: bool = True
    ragged: bool = False

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies on the lattice, be it beyond the ends or not."""
        return (moment - self.low) % timedelta(seconds=self.step) == timedelta()


@dataclass(frozen=True)
class Truth:
    """True or false."""

    nullable: bool = True
    ragged: bool = False


Range = Number | Text | Day | Moment | Truth


def from_domain(domain: Domain) -> Range:
    """The range of a column with this domain; every column can be NULL, or outside of it."""
    if isinstance(domain, Grid):
        low, high = int(domain.low / domain.step), int(domain.high / domain.step)
        return Number(low, high, domain.step, ragged=True)
    if isinstance(domain, Dates):
        return Day(domain.low, domain.high, ragged=True)
    if isinstance(domain, Timestamps):
        return Moment(domain.low, domain.high, domain.step, ragged=True)
    if isinstance(domain, Open):
        return Text(None)
    return _of_categories(domain)


def _of_categories(domain: Categories) -> Range:
    first = domain.members[0]
    if isinstance(first, bool):
        return Truth()
    if isinstance(first, int):
        codes = tuple(int(value) for value in domain.members)
        return Number(min(codes), max(codes), values=codes, ragged=domain.other is None)
    return Text(tuple(str(value) for value in domain.members), ragged=domain.other is None)


def outside(spread: Range) -> tuple[Any, ...]:
    """What stands for everything outside of the domain of a ragged column: one value below all
    declared ones and one above, or one text. They are measured, and never shown."""
    if not spread.ragged:
        return ()
    if isinstance(spread, Number):
        return spread.low - 1, spread.high + 1
    if isinstance(spread, Text):
        return (UNLISTED,)
    if isinstance(spread, Moment):
        step = timedelta(seconds=spread.step)
        return spread.low - step, spread.high + step
    assert isinstance(spread, Day)
    near = (spread.low.toordinal() - 1, spread.high.toordinal() + 1)
    return tuple(date.fromordinal(day) for day in near if 1 <= day <= date.max.toordinal())


def lies_outside(spread: Range, value: Any) -> bool:
    """Whether a value of a column is none of its domain."""
    if value is None or not spread.ragged:
        return False
    if isinstance(spread, Number | Day | Moment):
        return bool(value < spread.low or value > spread.high)
    return isinstance(value, str) and value == UNLISTED


def count_cells(spread: Range) -> int | None:
    """How many values the range lists, without NULL; None where it is not public."""
    if isinstance(spread, Number):
        return spread.width + 1 if spread.values is None else len(spread.values)
    if isinstance(spread, Text):
        return None if spread.values is None else len(spread.values)
    if isinstance(spread, Truth):
        return 2
    if isinstance(spread, Moment) and not spread.unit:
        return _steps(spread) + 1
    return sum(1 for _ in _days(spread))


def cells(spread: Range) -> tuple[Any, ...]:
    """The values the range lists, in order: indices, texts, days, moments or truth values."""
    if isinstance(spread, Number):
        listed = spread.values
        return tuple(range(spread.low, spread.high + 1)) if listed is None else listed
    if isinstance(spread, Text):
        return spread.values or ()
    if isinstance(spread, Truth):
        return (False, True)
    if isinstance(spread, Moment) and not spread.unit:
        step = timedelta(seconds=spread.step)
        return tuple(spread.low + i * step for i in range(_steps(spread) + 1))
    return tuple(_days(spread))


def show(spread: Range, value: Any) -> Any:
    """A cell's value as a person reads it: an index times its step, or itself."""
    if value is None or not isinstance(spread, Number):
        return value
    number = value * spread.step
    return int(number) if spread.whole else float(number)


def clamp(spread: Number, value: int) -> int:
    """A number at the nearest end of its range, as an aggregate counts it."""
    return max(spread.low, min(value, spread.high))


def union(first: Range, second: Range) -> Range | None:
    """The smallest range that holds both (numbers must share a step), None where none does."""
    nullable = first.nullable or second.nullable
    if isinstance(first, Number) and isinstance(second, Number) and first.step == second.step:
        low, high = min(first.low, second.low), max(first.high, second.high)
        return Number(low, high, first.step, nullable, _union_values(first, second))
    if isinstance(first, Text) and isinstance(second, Text):
        return _union_texts(first, second)
    if isinstance(first, Day) and isinstance(second, Day):
        unit = first.unit if first.unit == second.unit else "day"
        return Day(min(first.low, second.low), max(first.high, second.high), unit, nullable)
    if isinstance(first, Moment) and isinstance(second, Moment):
        return _union_moments(first, second)
    if isinstance(first, Truth) and isinstance(second, Truth):
        return Truth(nullable)
    return None


def _union_texts(first: Text, second: Text) -> Text:
    nullable = first.nullable or second.nullable
    if first.values is None or second.values is None:
        return Text(None, nullable)
    return Text(tuple(dict.fromkeys(first.values + second.values)), nullable)


def _union_values(first: Number, second: Number) -> tuple[int, ...] | None:
    """The listed indices of both, where both are short lists."""
    counts = (count_cells(first) or 0, count_cells(second) or 0)
    if max(counts) > 1000:
        return None
    return tuple(sorted({*cells(first), *cells(second)}))


def _days(spread: Day | Moment) -> Iterator[date]:
    """The first days or moments of units, one by one."""
    day: date | None = truncate(spread.low, spread.unit)
    while day is not None and day <= spread.high:
        yield day
        day = following(day, spread.unit)


def _steps(spread: Moment) -> int:
    """How many steps lie between the lowest and the highest moment."""
    return (spread.high - spread.low) // timedelta(seconds=spread.step)


def _union_moments(first: Moment, second: Moment) -> Moment:
    """The lattice of both: its step divides theirs, and what lies between their first moments."""
    low, high = min(first.low, second.low), max(first.high, second.high)
    apart = (max(first.low, second.low) - low) // timedelta(seconds=1)
    steps = [spread.step if spread.low < spread.high else 0 for spread in (first, second)]
    step = gcd(apart, *steps) or 1
    unit = first.unit if first.unit == second.unit else ""
    return Moment(low, high, step, unit, first.nullable or second.nullable)
