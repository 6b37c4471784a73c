"""Spikes: numbers and days at an end that many rows have, far from all others, and that are written
as codes for missing are: 999, -9, the last day of the year 9999.

Up to three values at an end are spikes where each has a two-hundredth of the rows, is such a code,
and they lie apart from the rest (of which a hundredth at each end is not looked at). A gap alone is
no evidence: what comes in packs of ten, or from one town, leaves gaps, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from adomnia.engines.source_facts import Spike
from adomnia.limits import MIN_LISTED_ROWS

__all__ = ["DAY_CODES", "NUMBER_CODES", "MissingCodes", "find_spikes"]

MOST = 3
"""So many values at an end may be codes: not known, refused, not asked."""

LEAST = 0.005
"""A spike has such a share of the rows at least."""

APART = 0.05
"""A code lies so much of the width of the rest away from it, or is the only one below 0; one of a
single digit lies half of it away."""


@dataclass(frozen=True)
class MissingCodes:
    """Values that stand for missing, and which share of the rows may have them at most."""

    values: frozenset[float]
    usual: float
    days: bool = False


NUMBER_CODES = MissingCodes(
    frozenset(
        sign * float(digit * many) for digit in "789" for many in range(2, 7) for sign in (1, -1)
    )
    | {
        sign * float("9" * nines + end)
        for nines in range(1, 6)
        for end in "678"
        for sign in (1, -1)
    }
    | {-1, -2, -3, -7, -8, -9, 8, 9},
    usual=0.5,
)
"""Sevens, eights and nines, 96 to 98 with nines before them, and small numbers below 0."""

DAY_CODES = MissingCodes(
    frozenset(
        float(date(*day).toordinal())
        for day in (
            (1, 1, 1), (1111, 11, 11), (1582, 10, 15), (1753, 1, 1), (1800, 1, 1), (1899, 12, 30),
            (1899, 12, 31), (1900, 1, 1), (1901, 1, 1), (1970, 1, 1), (2099, 12, 31),
            (2100, 1, 1), (2100, 12, 31), (2199, 12, 31), (2222, 2, 22), (2999, 12, 31),
            (3000, 1, 1), (4712, 12, 31), (9000, 1, 1), (9999, 1, 1), (9999, 9, 9),
            (9999, 12, 30), (9999, 12, 31),
        )
    ),
    usual=0.99,
    days=True,
)  # fmt: skip
"""First and last days of calendars and of programs, as days since the year 1."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]
Counted = tuple[float, int]


def find_spikes(
    run: Run, number: tuple[str, str], ends: tuple[float, float], codes: MissingCodes
) -> tuple[Spike, ...]:
    """The spikes of a number, as SQL, among the rows of a relation; those above come first.

    Where neither of its `ends` is a code there is none, and nothing is read.
    """
    if not codes.values & {*ends}:
        return ()
    value, rows = number
    counted = (
        f"SELECT v, COUNT(*) AS k FROM (SELECT {value} AS v FROM {rows}) AS n "
        "WHERE v IS NOT NULL GROUP BY v"
    )
    total, different = run(f"SELECT COALESCE(SUM(k), 0), COUNT(*) FROM ({counted}) AS a")[0]
    if different < 3:
        return ()
    numbers = _Numbers(run, counted, int(total), codes)
    found: tuple[Spike, ...] = ()
    for above in (True, False, True):  # what is below may hide what is above
        if not any(spike.above == above for spike in found):
            found += numbers.spikes(above, found)
    return found


@dataclass(frozen=True)
class _Numbers:
    """Different numbers and how many rows have each, as SQL, and how many rows there are."""

    run: Run
    counted: str
    total: int
    codes: MissingCodes

    def spikes(self, above: bool, known: Sequence[Spike]) -> tuple[Spike, ...]:
        """The spikes at one end, as many as stand apart together."""
        ends = self._ends(above)
        most = next((i for i, end in enumerate(ends) if not self._is_code(end)), len(ends))
        for many in range(min(MOST, most, len(ends) - 1), 0, -1):
            apart, next_one = ends[:many], ends[many][0]
            if sum(rows for _, rows in apart) > self.codes.usual * self.total:
                continue
            taken = (*known, *(Spike(value, rows, above, self.codes.days) for value, rows in apart))
            if self._stand_apart(apart, next_one, self._width(taken)):
                return taken[len(known) :]
        return ()

    def _ends(self, above: bool) -> list[Counted]:
        order = "DESC" if above else "ASC"
        listed = f"SELECT v, k FROM ({self.counted}) AS a ORDER BY v {order} LIMIT {MOST + 1}"
        return [(float(value), int(rows)) for value, rows in self.run(listed)]

    def _is_code(self, end: Counted) -> bool:
        return end[0] in self.codes.values and end[1] >= max(MIN_LISTED_ROWS, LEAST * self.total)

    def _stand_apart(self, apart: Sequence[Counted], next_one: float, width: float) -> bool:
        nearest = apart[-1][0]
        gap = abs(nearest - next_one)
        if width <= 0:
            return False
        far = 0.5 if 0 < nearest < 10 else APART
        return gap > max(1, far * width) or (nearest < 0 <= next_one and width > MOST)

    def _width(self, taken: Sequence[Spike]) -> float:
        """How wide 98 of 100 of the other rows lie."""
        left = [repr(spike.value) for spike in taken]
        rest = f"SELECT v, k FROM ({self.counted}) AS a WHERE v NOT IN ({', '.join(left)})"
        many = self.total - sum(spike.rows for spike in taken)
        ranks = many // 100 + 1, many - many // 100
        low, high = (f"MIN(CASE WHEN upto >= {rank} THEN v END)" for rank in ranks)
        summed = f"SELECT v, SUM(k) OVER (ORDER BY v) AS upto FROM ({rest}) AS b"
        found = self.run(f"SELECT {low}, {high} FROM ({summed}) AS c")[0]
        return float(found[1]) - float(found[0])
