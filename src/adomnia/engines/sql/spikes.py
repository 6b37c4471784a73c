"""Spikes: numbers at an end that many rows have, far from all others, such as 999 for missing.

Up to three values at an end are spikes where each has a two-hundredth of the rows, and they lie
farther from the rest than the rest is wide (of which a hundredth at each end is not looked at), or
are codes that are in use everywhere and stand apart. Zero is a number like others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.engines.source_facts import Spike
from adomnia.limits import MIN_LISTED_ROWS

__all__ = ["find_spikes"]

MOST = 3
"""So many values at an end may be codes: not known, refused, not asked."""

LEAST, USUAL = 0.005, 0.5
"""A spike has such a share of the rows at least, and no more than half."""

CODES = frozenset(
    sign * int(digit * many) for digit in "789" for many in range(2, 7) for sign in (1, -1)
) | {-1, -2, -3, -7, -8, -9}
APART = 0.05
"""A known code lies so much of the width of the rest away from it, or is the only one below 0."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]
Counted = tuple[float, int]


def find_spikes(run: Run, number: str, rows: str) -> tuple[Spike, ...]:
    """The spikes of a number, as SQL, among the rows of a relation; those above come first."""
    counted = (
        f"SELECT v, COUNT(*) AS k FROM (SELECT {number} AS v FROM {rows}) AS n "
        "WHERE v IS NOT NULL GROUP BY v"
    )
    total, different = run(f"SELECT COALESCE(SUM(k), 0), COUNT(*) FROM ({counted}) AS a")[0]
    if different < 3:
        return ()
    numbers = _Numbers(run, counted, int(total))
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

    def spikes(self, above: bool, known: Sequence[Spike]) -> tuple[Spike, ...]:
        """The spikes at one end, as many as stand apart together."""
        ends = self._ends(above)
        most = next((i for i, end in enumerate(ends) if not self._is_many(end)), len(ends))
        for many in range(min(MOST, most, len(ends) - 1), 0, -1):
            apart, next_one = ends[:many], ends[many][0]
            if sum(rows for _, rows in apart) > USUAL * self.total:
                continue
            taken = (*known, *(Spike(value, rows, above) for value, rows in apart))
            if self._stand_apart(apart, next_one, self._width(taken)):
                return taken[len(known) :]
        return ()

    def _ends(self, above: bool) -> list[Counted]:
        order = "DESC" if above else "ASC"
        listed = f"SELECT v, k FROM ({self.counted}) AS a ORDER BY v {order} LIMIT {MOST + 1}"
        return [(float(value), int(rows)) for value, rows in self.run(listed)]

    def _is_many(self, end: Counted) -> bool:
        return end[0] != 0 and end[1] >= max(MIN_LISTED_ROWS, LEAST * self.total)

    def _stand_apart(self, apart: Sequence[Counted], next_one: float, width: float) -> bool:
        nearest = apart[-1][0]
        gap = abs(nearest - next_one)
        if width <= 0:
            return False
        if gap > width:
            return True
        if not all(value in CODES for value, _ in apart):
            return False
        return gap > max(1, APART * width) or (nearest < 0 <= next_one and width > MOST)

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
