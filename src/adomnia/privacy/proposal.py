"""Proposals: which bounds a statement shall enforce, picked from what its ranges tell.

This is for accuracy alone. If a range is wrong, an answer is biased; what is promised holds, as
the statement enforces whatever is picked here (`contribution.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from adomnia.privacy.contribution import (
    Bernstein,
    Clamped,
    Contribution,
    DistinctUnits,
    DistinctValues,
    Listed,
    Ranked,
    Setting,
    Tally,
)
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import sensitivity
from adomnia.privacy.tightness import MAX_PATTERNS
from adomnia.queries.expression import Column
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Mode,
    Moments,
    Sum,
    number,
)
from adomnia.queries.patterns import patterns
from adomnia.queries.ranges import count_cells
from adomnia.queries.unit_counts import present

__all__ = ["MAX_BITS", "contribution_of"]

MAX_BITS = 60
"""So many conditions are numbered together in a row: their bits fit a 64-bit number."""


@lru_cache(maxsize=1024)
def contribution_of(
    measurement: Measurement, setting: Setting, neighbors: Neighbors
) -> Contribution:
    """What one row shall add to its cell in a measurement."""
    if isinstance(measurement, Counts):
        options = _tallies(measurement, setting)
        return min(options, key=lambda one: _size(one, setting, neighbors))
    if isinstance(measurement, Sum):
        return _clamped(measurement, setting)
    if isinstance(measurement, Moments):
        spread = number(measurement.argument)
        low, high = spread.low, spread.high
        return Bernstein(measurement.argument, low, high, measurement.degree, measurement.rest)
    if isinstance(measurement, Distinct):
        unit = None if neighbors.rows is None else present(measurement.argument, setting.unit)
        values = count_cells(measurement.argument.range)
        return DistinctValues(measurement.argument, values) if unit is None else DistinctUnits(unit)
    if isinstance(measurement, Mode):
        return Listed(measurement.argument)
    spread = number(measurement.argument)
    argument, share, edge = measurement.argument, measurement.share, measurement.edge
    return Ranked(argument, spread.low, spread.high, share, edge)


def _size(tally: Tally, setting: Setting, neighbors: Neighbors) -> tuple[object, object]:
    found = sensitivity(tally, setting, neighbors)
    return found.l1, found.l2_squared


def _tallies(counts: Counts, setting: Setting) -> Iterator[Tally]:
    """The ways to bound what a row adds, cheapest first: each as such, by their pattern, or by
    their number."""
    yield Tally(counts.conditions)
    found = patterns(counts.conditions, setting.where) if len(counts.conditions) > 1 else None
    if not found:
        return
    if len(counts.conditions) <= MAX_BITS and len(found) <= MAX_PATTERNS:
        yield Tally(counts.conditions, tuple(sorted(found, key=lambda one: (sum(one), one))))
    else:
        yield Tally(counts.conditions, most=max(1, *(sum(pattern) for pattern in found)))


def _clamped(measurement: Sum, setting: Setting) -> Clamped:
    argument, spread = measurement.argument, number(measurement.argument)
    low, high, bit = spread.low, spread.high, None
    if isinstance(argument, Column) and spread.values is None and spread.width:
        bit = 1 << (spread.width.bit_length() - 1)
    alone = not setting.may_leave and not setting.keys and setting.unit is None
    always = alone and low < high and not spread.nullable
    return Clamped(argument, low, high, always, bit)
