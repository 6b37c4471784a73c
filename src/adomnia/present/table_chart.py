"""Which picture a table of counts or averages gets: a line, a pyramid, a heat map, or bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.cumulative import is_ordered
from adomnia.formatting import label, margin, value
from adomnia.present.drawing.bars import MOST_BARS as FEW_BARS
from adomnia.present.drawing.bars import Bar, bar_chart
from adomnia.present.drawing.heat_map import heat_map
from adomnia.present.drawing.plot import Plot, Series, draw
from adomnia.present.drawing.pyramid import PyramidSide, pyramid

__all__ = ["CountedTable", "table_chart"]

COUNT = "count"
MOST_BARS = 400
MOST_HEAT = 20_000
ORDERED = 8
"""From so many numbers or days on, they are a line and no list."""
MOST_LINES = 6


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A table: the names and values of its sides, its counts, and how far each may be off.

    `what` its numbers are, if not counts: averages, say, which are not a number where there is
    nobody. Margins without end are those of a model, and are not drawn.
    """

    names: Sequence[str]
    sides: Sequence[tuple[Any, ...]]
    counts: NDArray[Any]
    margins: NDArray[np.float64]
    what: str = COUNT

    @property
    def title(self) -> str:
        """What it is a table of."""
        said = "counts" if self.what == COUNT else self.what
        model = bool(np.isinf(self.margins).any())
        return f"{' × '.join(self.names)}: {said} {'of a model' if model else 'with margins'}"

    @property
    def drawn(self) -> NDArray[np.float64]:
        """The margins that a picture shows."""
        return np.where(np.isinf(self.margins), 0.0, self.margins)

    def turned(self) -> CountedTable:
        """A table of two sides with the second one first."""
        return CountedTable(
            self.names[::-1], self.sides[::-1], self.counts.T, self.margins.T, self.what
        )


def table_chart(table: CountedTable) -> str:
    """The table as a picture; empty where it is too large for one."""
    lined = [_is_ordered(side) for side in table.sides]
    if len(table.sides) == 1 and lined[0]:
        return _lines(
            table.names[0], table.sides[0], [(table.what, table.counts, table.drawn)], table
        )
    if len(table.sides) == 2 and lined != [False, False]:
        ordered = table if lined[0] else table.turned()
        if len(ordered.sides[1]) <= MOST_LINES:
            return _by_group(ordered)
    if len(table.sides) == 2 and FEW_BARS < table.counts.size <= MOST_HEAT:
        return _heat(table)
    return _bars(table) if table.counts.size <= MOST_BARS else ""


def _is_ordered(side: Sequence[Any]) -> bool:
    return sum(one is not None for one in side) >= ORDERED and is_ordered(side)


def _by_group(table: CountedTable) -> str:
    """An ordered side, and a line for each value of the other; of two, both sides of a pyramid."""
    steps, groups = table.sides
    if len(groups) == 2 and not isinstance(steps[0], date) and table.what == COUNT:
        made = [
            PyramidSide(f"{table.names[1]} {label(group)}",
                        table.counts[:, i].tolist(), table.drawn[:, i].tolist())
            for i, group in enumerate(groups)
        ]  # fmt: skip
        words = (table.title, table.names[0], "count")
        return pyramid([label(step) for step in steps], (made[0], made[1]), words)
    parts = [
        (f"{table.names[1]} {label(group)}", table.counts[:, i], table.drawn[:, i])
        for i, group in enumerate(groups)
    ]
    return _lines(table.names[0], steps, parts, table)


def _lines(
    name: str,
    steps: Sequence[Any],
    parts: Sequence[tuple[str, NDArray[Any], NDArray[np.float64]]],
    table: CountedTable,
) -> str:
    """Counts along an ordered side; NULL has no place on it and stands in the figures alone."""
    known = [i for i, step in enumerate(steps) if step is not None]
    days = isinstance(steps[known[0]], date)
    places = [float(i) if days else float(steps[i]) for i in known]

    def shown(place: float) -> str:
        if not days:
            return f"{place:g}"
        return label(steps[int(place)]) if place in places else ""

    lines = [
        Series(said, [place for place, one in zip(places, there, strict=True) if one],
               counts[known][there].tolist(), margins[known][there].tolist())
        for said, counts, margins in parts
        for there in (~np.isnan(counts[known].astype(np.float64)),)
        if there.any()
    ]  # fmt: skip
    if not lines:
        return ""
    whole = table.what == COUNT
    plot = Plot(table.title, name, table.what, lines, whole=whole, show_across=shown)
    return draw(plot, heading=False)


def _figure(count: float, off: float) -> str:
    """A count with its margin; one without is a cell that nobody can be in, or of a model."""
    if math.isnan(count):
        return "nobody"
    if math.isinf(off):
        return f"{value(count)}, by the model"
    return f"{value(count, off)} {margin(off)}" if off else f"{value(count)}, for certain"


def _bounded(off: float) -> float | None:
    return off if off and math.isfinite(off) else None


def _heat(table: CountedTable) -> str:
    """The longer side goes down."""
    down = table if len(table.sides[0]) >= len(table.sides[1]) else table.turned()
    sides = [
        (name, [label(v) for v in side]) for name, side in zip(down.names, down.sides, strict=True)
    ]
    cells = [
        [
            (
                0.0 if math.isnan(count) else float(count),
                f"{sides[0][1][i]}, {sides[1][1][j]}: {_figure(count, off)}",
            )
            for j, (count, off) in enumerate(zip(*rows, strict=True))
        ]
        for i, rows in enumerate(zip(down.counts.tolist(), down.margins.tolist(), strict=True))
    ]
    return heat_map((sides[0], sides[1]), cells, table.title, what=table.what)


def _bars(table: CountedTable) -> str:
    numbers = zip(
        table.counts.reshape(-1).tolist(), table.margins.reshape(-1).tolist(), strict=True
    )
    bars = [
        Bar(", ".join(map(label, cell)), count, _bounded(off), _figure(count, off))
        for cell, (count, off) in zip(product(*table.sides), numbers, strict=True)
        if not math.isnan(count)
    ]
    return bar_chart(bars, table.title, MOST_BARS, axis=table.what)
