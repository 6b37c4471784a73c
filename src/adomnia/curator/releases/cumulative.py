"""Cumulative counts and ranges of released tables, with margins of their own (`range_noise.md`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.release_keys import ReleaseKey, TableLayout
from adomnia.curator.releases.release_mechanisms import ReleasedTables
from adomnia.curator.releases.structural_zeros import Zeros, in_table
from adomnia.errors import QuestionError
from adomnia.formatting import is_number
from adomnia.limits import MAX_CUMULATIVE_VALUES
from adomnia.marginals.core.margins import cell_margins
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.release import MarginalPlan
from adomnia.marginals.workload import Subset

__all__ = [
    "CountRange",
    "CumulativePlan",
    "CumulativeTable",
    "cumulative_tables",
    "is_ordered",
    "plan_cumulative",
    "range_of",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CumulativePlan:
    """How far the noise of the first 1, 2, … values of a key may be off, by table and key."""

    widths: Mapping[tuple[Subset, int], Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CumulativeTable:
    """The counts of a table up to and including each value of a key; none where that is NULL."""

    key: str
    counts: NDArray[Any]
    margins: Floats
    blank: NDArray[np.bool_]

    def shown(self, part: tuple[slice, ...]) -> CumulativeTable:
        """The part of it that is published."""
        return CumulativeTable(self.key, self.counts[part], self.margins[part], self.blank[part])


@dataclass(frozen=True, eq=False)
class CountRange:
    """Counts of several values of a key together, over the other keys of a table.

    >>> import numpy as np
    >>> CountRange((), (), np.array(40), np.array(3.0)).counts.tolist()
    40
    """

    names: tuple[str, ...]
    sides: tuple[tuple[Any, ...], ...]
    counts: NDArray[Any]
    margins: Floats


def plan_cumulative(
    layout: TableLayout, names: Sequence[str], plan: MarginalPlan, confidence: float
) -> CumulativePlan:
    """What the plan of the counts says of sums up to each value; refused for keys without order."""
    wanted = [
        (subset, place, len(_ascending(layout.keys[place])))
        for place in _places(layout, names)
        for subset in layout.workload.marginals
        if place in subset
    ]
    noise = RangeNoise(plan.workload, plan.strategy, plan.blocks)
    laws = sum(many for _, _, many in wanted)
    if plan.strategy.kind == "laplace" and laws > MAX_CUMULATIVE_VALUES:
        raise QuestionError(
            f"these tables have {laws:,} different sums up to a value",
            f"at most {MAX_CUMULATIVE_VALUES:,} with --epsilon: pay with --rho, or take a coarser "
            "key such as age / 10",
        )
    return CumulativePlan(
        {
            (subset, place): np.array(
                [noise.margin(subset, {place: length}, confidence) for length in range(1, many + 1)]
            )
            for subset, place, many in wanted
        }
    )


def _places(layout: TableLayout, names: Sequence[str]) -> list[int]:
    known = {key.name: place for place, key in enumerate(layout.keys)}
    places = []
    for name in dict.fromkeys(names):
        if name not in known:
            raise QuestionError(
                f"{name[:60]!r} is no key of these tables", "keys are: " + ", ".join(known)
            )
        if not is_ordered(layout.keys[known[name]].values):
            raise QuestionError(
                f"{name[:60]!r} has no order: its values are no numbers or days",
                "take a key of numbers, days or months",
            )
        places.append(known[name])
    return places


def is_ordered(values: Sequence[Any]) -> bool:
    """Whether these are numbers or days, NULL left aside."""
    known = [value for value in values if value is not None]
    return all(map(is_number, known)) or all(isinstance(value, date) for value in known)


def _ascending(key: ReleaseKey) -> list[int]:
    """The places of a key's values in their order, NULL left out."""
    held = [place for place, value in enumerate(key.values) if value is not None]
    return sorted(held, key=lambda place: key.values[place])


def cumulative_tables(
    planned: CumulativePlan, layout: TableLayout, zeros: Zeros, made: ReleasedTables
) -> dict[Subset, tuple[CumulativeTable, ...]]:
    """The counts up to each value of the keys, for each table that has one of them."""
    found: dict[Subset, tuple[CumulativeTable, ...]] = {}
    for (subset, place), widths in planned.widths.items():
        axis, order = subset.index(place), _ascending(layout.keys[place])
        counts, unbiased = made.tables[subset], made.unbiased[subset]
        empty = in_table(zeros, subset, counts.shape)
        shape = [-1 if at == axis else 1 for at in range(counts.ndim)]
        summed = _summed(counts, axis, order)
        off = _margins(summed, _summed(unbiased, axis, order), widths.reshape(shape), made)
        certain = np.logical_and.accumulate(np.take(empty, order, axis), axis)
        blank = np.ones(counts.shape, bool)
        values, margins = np.zeros(counts.shape, counts.dtype), np.zeros(counts.shape)
        at = tuple(order if one == axis else slice(None) for one in range(counts.ndim))
        values[at], margins[at], blank[at] = summed, np.where(certain, 0.0, off), False
        table = CumulativeTable(layout.keys[place].name, values, margins, blank)
        found[subset] = (*found.get(subset, ()), table)
    return found


def _summed(table: NDArray[Any], axis: int, order: list[int]) -> NDArray[Any]:
    found: NDArray[Any] = np.cumsum(np.take(table, order, axis), axis)
    return found


def _margins(
    counts: NDArray[Any], unbiased: NDArray[Any], widths: Any, made: ReleasedTables
) -> Floats:
    """As of cells (`margins.md`); what is no table of records has no whole numbers to go by."""
    if made.microdata is not None:
        return cell_margins(counts, unbiased, widths)
    off: Floats = np.abs(counts - unbiased) + widths
    return off


def range_of(  # noqa: PLR0913, PLR0917
    layout: TableLayout,
    noise: RangeNoise,
    confidence: float,
    made: ReleasedTables,
    subset: Subset,
    place: int,
    ends: tuple[Any, Any],
) -> CountRange:
    """The values of a key from one end to the other, both included."""
    key, axis = layout.keys[place], subset.index(place)
    low, high = ends
    taken = [at for at in _ascending(key) if low <= key.values[at] <= high]
    if not taken:
        raise QuestionError(f"{key.name[:60]!r} has no value there", "low is not above high")
    width = noise.margin(subset, {place: len(taken)}, confidence)
    counts, unbiased = (
        np.take(table[subset], taken, axis).sum(axis=axis) for table in (made.tables, made.unbiased)
    )
    off = _margins(counts, unbiased, width, made)
    others = tuple(other for other in subset if other != place)
    names, sides = zip(*_sides(layout, others), strict=True) if others else ((), ())
    return CountRange(names, sides, counts, off)


def _sides(layout: TableLayout, places: Subset) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for place in places:
        yield layout.keys[place].name, layout.keys[place].values
