"""Coarsening: an attribute cut into few groups by public rules, in SQL and on public rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mining.parts.statements import (
    attribute_of,
    bounds_of,
    check_features,
    decimal,
    identifier,
    literal,
    values_of,
)
from adomnia.schema.domain import Grid, Value

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["ABSENT", "Coarsening", "axes_of"]

ABSENT = -1
"""The code of a value that has no group: missing, or not in the public list."""


@dataclass(frozen=True)
class Coarsening:
    """The groups of an attribute, numbered from 0.

    A number's groups lie between `cuts`: group i holds what is below `cuts[i]` and in no group
    before. Other attributes have `groups` of listed values.

    >>> age = Coarsening("age", (Fraction(18), Fraction(65)))
    >>> age.size, age.describe(1, 2)
    (3, 'age >= 18 and age < 65')
    >>> age.codes(np.array([10, 40, 90])).tolist()
    [0, 1, 2]
    """

    name: str
    cuts: tuple[Fraction, ...] = ()
    groups: tuple[tuple[Value, ...], ...] | None = None

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.cuts) + 1 if self.groups is None else len(self.groups)

    @property
    def present(self) -> str:
        """The condition that a row has a value."""
        return f"{identifier(self.name)} IS NOT NULL"

    def expression(self) -> str:
        """The group's number, in SQL, of rows that have a value."""
        if self.size == 1:
            return "0"
        tests = [f"WHEN {self.below(i + 1)} THEN {i}" for i in range(self.size - 1)]
        return f"CASE {' '.join(tests)} ELSE {self.size - 1} END"

    def below(self, end: int) -> str:
        """The condition, in SQL, of groups before `end`."""
        column = identifier(self.name)
        if self.groups is None:
            return f"{column} < {decimal(self.cuts[end - 1])}"
        values = [literal(value) for group in self.groups[:end] for value in group]
        return f"{column} IN ({', '.join(values)})"

    def codes(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """The group of each public value; `ABSENT` where it has none."""
        if self.groups is None:
            return self._places(column)
        known = {value: i for i, group in enumerate(self.groups) for value in group}
        found = [known.get(_plain(value), ABSENT) for value in column.tolist()]
        return np.array(found, np.int64)

    def _places(self, column: NDArray[Any]) -> NDArray[np.int64]:
        try:
            numbers = column.astype(np.float64)
        except (TypeError, ValueError):
            raise QuestionError(f"the values of {self.name!r} must be numbers") from None
        places = np.searchsorted([float(cut) for cut in self.cuts], numbers, side="right")
        return np.where(np.isnan(numbers), ABSENT, places).astype(np.int64)

    def merged(self, ends: Sequence[int]) -> Coarsening:
        """Neighbouring groups put together: a new one begins at each of `ends`."""
        if self.groups is None:
            return replace(self, cuts=tuple(self.cuts[end - 1] for end in ends))
        parts = [self.groups[a:b] for a, b in pairwise([0, *ends, self.size])]
        return replace(self, groups=tuple(sum(part, ()) for part in parts))

    def ordered(self, order: Sequence[int]) -> Coarsening:
        """The same groups of listed values in another order."""
        assert self.groups is not None
        return replace(self, groups=tuple(self.groups[place] for place in order))

    def evenly(self, most: int) -> Coarsening:
        """At most so many groups, of about as many former groups each."""
        count = min(most, self.size)
        return self.merged([i * self.size // count for i in range(1, count)])

    def describe(self, low: int, high: int) -> str:
        """Groups `low` to `high` (without it) for a person."""
        if self.groups is not None:
            values = [str(value) for group in self.groups[low:high] for value in group]
            return f"{self.name} {'=' if len(values) == 1 else 'in'} {', '.join(values)}"
        below = "" if high >= self.size else f"{self.name} < {decimal(self.cuts[high - 1])}"
        above = "" if low == 0 else f"{self.name} >= {decimal(self.cuts[low - 1])}"
        return " and ".join(part for part in (above, below) if part) or f"any {self.name}"


def axes_of(
    session: Session,
    features: Sequence[str],
    bins: int,
    cuts: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Coarsening, ...]:
    """An axis for each attribute: one group for each listed value; numbers with bounds are cut
    at the given points, or into `bins` of equal width. Nothing of it rests on the data."""
    check_features(features)
    given = dict(cuts or {})
    unknown = [name for name in given if name not in features]
    if unknown:
        raise QuestionError(f"cuts are given for {unknown[0]!r}, which is no feature")
    return tuple(_axis(session, name, bins, given.get(name)) for name in features)


def _axis(session: Session, name: str, bins: int, given: Sequence[float] | None) -> Coarsening:
    if not isinstance(attribute_of(session, name).domain, Grid):
        if given is not None:
            raise QuestionError(f"{name!r} has no bounds, so it cannot be cut")
        return Coarsening(name, groups=tuple((value,) for value in values_of(session, name)))
    (bounds,) = bounds_of(session, [name])
    if given is not None:
        try:
            points = sorted({Fraction(str(point)) for point in given})
        except (TypeError, ValueError):
            raise QuestionError(f"the cuts of {name!r} must be a list of numbers") from None
        return Coarsening(name, tuple(cut for cut in points if bounds.low < cut <= bounds.high))
    steps = int(bounds.width / bounds.step)
    count = max(1, min(bins, steps + 1))
    firsts = [-(-i * (steps + 1) // count) for i in range(1, count)]
    return Coarsening(name, tuple(bounds.low + first * bounds.step for first in firsts))


def _plain(value: Any) -> Any:
    """A public value as the policy writes it: a float that is whole is a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
