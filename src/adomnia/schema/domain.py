"""Domains: what values an attribute may take, declared by the curator and public.

A domain is never read off the data silently. A number outside its bounds is clamped, a value
outside a list goes to `other` or counts as NULL; none of it is ever an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

__all__ = ["Categories", "Dates", "Domain", "Grid", "Open", "Value"]

Value = bool | int | str
"""A category as the curator writes it."""


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
class Open:
    """Text whose values are not public: it can be filtered and counted, not listed."""


Domain = Categories | Grid | Dates | Open


def _require(fact: bool, otherwise: str) -> None:
    if not fact:
        raise ValueError(otherwise)
