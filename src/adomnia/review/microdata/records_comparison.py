"""Made-up records beside the data that they stand for: how far each column and pair is off.

It reads exact counts and spends nothing, so what it says is no differentially private answer:
only the curator may see it, and it is never published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.database import PrivateDatabase
from adomnia.curator.releases.release import Release
from adomnia.curator.releases.release_keys import ReleaseKey
from adomnia.errors import NotAllowedError, QuestionError
from adomnia.limits import MAX_COMPARED_CELLS
from adomnia.marginals.workload import Subset
from adomnia.queries.calendar import seconds_of
from adomnia.queries.ranges import Day, Moment, Number
from adomnia.review.exact_columns import exact_tables
from adomnia.review.microdata.numbers_comparison import ComparedNumbers, compare_numbers

__all__ = [
    "Association",
    "ComparedCell",
    "ComparedTable",
    "RecordsComparison",
    "compare_records",
    "refuse_comparison",
]

WORST = 20
"""So many cells are named."""
LOT = 1 << 24
"""Cells that are held at a time."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Association:
    """How strongly two columns go together: in the data, and among the made-up records.

    >>> Association("Cramér's V", 0.5, 0.4).lost
    0.1
    """

    kind: str
    true: float
    made: float

    @property
    def lost(self) -> float:
        """By how much they differ."""
        return round(abs(self.true - self.made), 12)


@dataclass(frozen=True)
class ComparedTable:
    """A column or a pair: its total variation, and whether a table that was paid for holds it.

    >>> ComparedTable(("sex",), variation=0.01, measured=True).association is None
    True
    """

    names: tuple[str, ...]
    variation: float
    measured: bool
    association: Association | None = None


@dataclass(frozen=True)
class ComparedCell:
    """A cell that is far off: by its values, how many records and how many rows are in it.

    >>> ComparedCell({"sex": "F"}, made=12, true=10).made
    12
    """

    cell: Mapping[str, Any]
    made: int
    true: int


@dataclass(frozen=True)
class RecordsComparison:
    """Made-up records against the data: exact, for the curator's own eyes.

    `columns` and `pairs` have the total variation of each, `cells` are the worst of all of them,
    and `left_out` names pairs with too many cells.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     made = database.release(database.plan_release(ways=1, epsilon=100))
    ...     found = database.compare_records(made)
    >>> len(found.columns), found.rows_true
    (4, 50)
    """

    rows_made: int
    rows_true: int
    columns: tuple[ComparedTable, ...]
    pairs: tuple[ComparedTable, ...]
    cells: tuple[ComparedCell, ...]
    left_out: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[ComparedNumbers, ...] = ()
    """Columns whose numbers were drawn inside bands."""

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON values; it says itself that it is exact."""
        return {
            "exact": True,
            "rows": {"made": self.rows_made, "true": self.rows_true},
            "columns": [_plain(one) for one in self.columns],
            "pairs": [_plain(one) for one in self.pairs],
            "worst_cells": [vars(one) for one in self.cells],
            "left_out": [list(names) for names in self.left_out],
            "numbers": [one.to_json() for one in self.numbers],
        }


def _plain(one: ComparedTable) -> dict[str, Any]:
    found: dict[str, Any] = {
        "attributes": list(one.names),
        "total_variation": one.variation,
        "measured": one.measured,
    }
    return found if one.association is None else {**found, "association": vars(one.association)}


def refuse_comparison(has_records: bool, analyst: str | None) -> None:
    """Refuse, before anything is paid, a comparison that there cannot be, or that would tell.

    Raises a QuestionError where no records are made, and a NotAllowedError where an `analyst`
    would see it.

    >>> refuse_comparison(True, None)
    """
    if analyst is not None:
        raise NotAllowedError(
            "a comparison with the data is the curator's own: it is exact", "leave --analyst out"
        )
    if not has_records:
        raise QuestionError(
            "these tables are made without records, so there is nothing to compare",
            "use the method microdata, and not --unbiased",
        )


def compare_records(database: PrivateDatabase, release: Release) -> RecordsComparison:
    """Every column and every pair of the made-up records of a release, against the data as it is.

    Rows are those that the tables count: cleaned, bounded and possible. Returns exact data, for the
    curator. Raises a QuestionError where the release has no records.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     made = database.release(database.plan_release(marginals=["sex,region"], epsilon=100))
    ...     len(compare_records(database, made).pairs)
    1
    """
    refuse_comparison(release.microdata is not None, None)
    assert release.microdata is not None
    workload, keys = release.plan.layout.measured, release.plan.layout.keys
    places = range(len(keys))
    pairs = [*combinations(places, 2)]
    large = {pair for pair in pairs if workload.cells(pair) > MAX_COMPARED_CELLS}
    wanted: list[Subset] = [*((place,) for place in places), *(p for p in pairs if p not in large)]
    paid = [{*subset} for subset in workload.marginals]
    compared: list[ComparedTable] = []
    worst: list[tuple[int, Subset, int, int, int]] = []
    rows = 0
    with exact_tables(database, release.plan.layout.reads) as tables:
        for lot in _lots(wanted, workload.sizes):
            for subset, true in tables(lot).items():
                made = release.microdata.tabulate(workload.sizes, subset)
                rows = int(true.sum())
                names = tuple(workload.names[place] for place in subset)
                held = any({*subset} <= marginal for marginal in paid)
                found = _association([keys[place] for place in subset], true, made)
                compared.append(ComparedTable(names, _variation(true, made), held, found))
                worst = nlargest(WORST, [*worst, *_worst(subset, true, made)])
    return RecordsComparison(
        release.microdata.rows,
        rows,
        tuple(one for one in compared if len(one.names) == 1),
        tuple(one for one in compared if len(one.names) == 2),
        tuple(_cell(release, *one[1:]) for one in worst),
        tuple(tuple(workload.names[place] for place in pair) for pair in sorted(large)),
        tuple(compare_numbers(database, release)),
    )


def _lots(subsets: Sequence[Subset], sizes: Sequence[int]) -> Iterator[list[Subset]]:
    """Tables that are counted together: as many as are held at a time."""
    lot: list[Subset] = []
    room = LOT
    for subset in subsets:
        cells = prod(sizes[place] for place in subset)
        if lot and cells > room:
            yield lot
            lot, room = [], LOT
        lot.append(subset)
        room -= cells
    yield lot


def _worst(
    subset: Subset, true: NDArray[np.int64], made: NDArray[np.int64]
) -> Iterator[tuple[int, Subset, int, int, int]]:
    """The cells of a table that are furthest off: how far, where, how many there are and were."""
    ours, theirs = made.reshape(-1), true.reshape(-1)
    off = np.abs(ours - theirs)
    few = np.argpartition(off, -WORST)[-WORST:] if len(off) > WORST else np.arange(len(off))
    for place in few[off[few] > 0].tolist():
        yield int(off[place]), subset, place, int(ours[place]), int(theirs[place])


def _cell(release: Release, subset: Subset, place: int, made: int, true: int) -> ComparedCell:
    sizes, names = release.plan.layout.measured.sizes, release.plan.workload.names
    indices = np.unravel_index(place, tuple(sizes[part] for part in subset))
    cell = {
        names[part]: (*release.values[part], None)[int(index)]
        for part, index in zip(subset, indices, strict=True)
    }
    return ComparedCell(cell, made, true)


# Distances and associations


def _shares(counts: NDArray[np.int64]) -> Floats:
    """A table as shares of its rows; none of none."""
    return counts / max(1, int(counts.sum()))


def _variation(true: NDArray[np.int64], made: NDArray[np.int64]) -> float:
    """Half the sum of all differences of shares: 0 where they are alike, 1 where none is."""
    if not true.sum() or not made.sum():
        return float(bool(true.sum()) != bool(made.sum()))
    return float(np.abs(_shares(true) - _shares(made)).sum() / 2)


def _association(
    keys: Sequence[ReleaseKey], true: NDArray[np.int64], made: NDArray[np.int64]
) -> Association | None:
    """Of two columns of numbers their correlation, else Cramér's V; none of a single column."""
    if len(keys) != 2:
        return None
    first, second = (_scale(key) for key in keys)
    if first is None or second is None:
        return Association("Cramér's V", _cramer(_shares(true)), _cramer(_shares(made)))
    inside = (slice(len(first)), slice(len(second)))
    found = [_correlation(_shares(table[inside]), first, second) for table in (true, made)]
    return Association("correlation", *found)


def _scale(key: ReleaseKey) -> Floats | None:
    """The numbers along a side, without NULL; None where its values are names."""
    spread = key.expr.range
    known = [value for value in key.axis if value is not None]
    if isinstance(spread, Number) and spread.values is None:
        return np.array(known, np.float64)
    if isinstance(spread, Moment):
        return np.array([seconds_of(moment) for moment in known], np.float64)
    return np.array([d.toordinal() for d in known], np.float64) if isinstance(spread, Day) else None


def _correlation(shares: Floats, first: Floats, second: Floats) -> float:
    """Pearson's, and 0 where one of them does not vary."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    if not shares.sum():
        return 0.0
    left, right = first - rows @ first, second - columns @ second
    spread = float((rows @ left**2) * (columns @ right**2)) ** 0.5
    return float(left @ shares @ right) / spread if spread > 0 else 0.0


def _cramer(shares: Floats) -> float:
    """Cramér's V over the values that occur: 0 where they are independent, 1 where one tells."""
    even = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    fewest = min(int((shares.sum(axis=axis) > 0).sum()) for axis in (0, 1))
    if fewest < 2:
        return 0.0
    there = even > 0
    squared = ((shares - even)[there] ** 2 / even[there]).sum()
    return float(min(1.0, squared / (fewest - 1)) ** 0.5)
