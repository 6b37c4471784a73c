"""Domains: what values an attribute may take, declared by the curator and public.

A domain is never read off the data silently. What lies outside of it is below or above all of its
values, or goes to `other`; none of it is ever an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from adomnia.limits import MAX_ZONE_YEARS
from adomnia.schema.zone import is_zone

__all__ = [
    "UNLISTED",
    "Categories",
    "Dates",
    "Domain",
    "Grid",
    "Open",
    "Timestamps",
    "Value",
    "step_text",
]

Value = bool | int | str
"""A category as the curator writes it."""

UNLISTED = "\ufdd1"
"""What stands for all texts that are not listed: no text has this sign, which is no character."""


@dataclass(frozen=True)
class Categories:
    """A list of values of one type; `other` takes whatever is not in the list."""

    values: tuple[Value, ...]
    other: Value | None = None

    def __post_init__(self) -> None:
        _require(len(self.values) > 0, "the list of values is empty")
        _require(len(set(self.values)) == len(self.values), "the list of values has duplicates")
        kinds = {type(value) for value in self.members}
        _require(len(kinds) == 1, "the values are of several types")
        _require(kinds <= {bool, int, str}, "a value is text, a whole number or a truth value")
        _require(UNLISTED not in self.members, "a value is U+FDD1, which is no character")

    @property
    def members(self) -> tuple[Value, ...]:
        """All values that a row can have after cleaning, `other` last."""
        if self.other is None or self.other in self.values:
            return self.values
        return (*self.values, self.other)


@dataclass(frozen=True)
class Grid:
    """Numbers low, low + step, …, high; all three are multiples of step, so sums stay on it."""

    low: Fraction
    high: Fraction
    step: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        _require(self.step > 0, "step must be above zero")
        _require(self.low <= self.high, "low is above high")
        on_grid = (self.low / self.step).denominator == (self.high / self.step).denominator == 1
        _require(on_grid, "low and high must be multiples of step")
        width = max(abs(self.low), abs(self.high)) / self.step
        _require(width <= 10**15, "the domain has more than 10^15 steps; choose a larger step")


@dataclass(frozen=True)
class Dates:
    """Days from low to high."""

    low: date
    high: date

    def __post_init__(self) -> None:
        _require(self.low <= self.high, "low is above high")


@dataclass(frozen=True)
class Timestamps:
    """Moments low, low + step, …, high as the clocks of a zone show them; a step is a number of
    seconds that divides a day, and what lies between two counts as the earlier.

    Moments that know their own zone are read in this one. Where its clocks are put back, an hour
    comes twice and is one here.
    """

    low: datetime
    high: datetime
    step: int
    zone: str = "UTC"

    def __post_init__(self) -> None:
        _require(1 <= self.step <= DAY and DAY % self.step == 0, "step must divide a day")
        plain = self.low.tzinfo is None and self.high.tzinfo is None
        _require(plain, "low and high are local times of the zone, without one")
        _require(self.low <= self.high, "low is above high")
        for end in (self.low, self.high):
            _require(1 < end.year < 9999, "low and high lie between the years 2 and 9998")
            within = (end - datetime.combine(end.date(), datetime.min.time())).total_seconds()
            _require(within % self.step == 0, "low and high must lie on the step, from midnight on")
        _require(is_zone(self.zone), "the zone is none that is known, for example Europe/Berlin")
        short = self.zone == "UTC" or self.high.year - self.low.year <= MAX_ZONE_YEARS
        _require(short, f"in a zone other than UTC there are at most {MAX_ZONE_YEARS} years")

    @property
    def count(self) -> int:
        """How many moments there are."""
        return (self.high - self.low) // timedelta(seconds=self.step) + 1


DAY = 86_400
"""The seconds of a day."""


def step_text(seconds: int) -> str:
    """A step as it is written in a policy.

    >>> step_text(3600), step_text(900), step_text(5)
    ('1h', '15m', '5s')
    """
    sizes = (("d", DAY), ("h", 3600), ("m", 60), ("s", 1))
    return next(f"{seconds // size}{unit}" for unit, size in sizes if seconds % size == 0)


@dataclass(frozen=True)
class Open:
    """Text whose values are not public: it can be filtered and counted, not listed."""


Domain = Categories | Grid | Dates | Timestamps | Open


def _require(fact: bool, otherwise: str) -> None:
    if not fact:
        raise ValueError(otherwise)
