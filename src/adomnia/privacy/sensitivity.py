"""Sensitivity: how far a measurement can differ between neighbours (`sensitivity.md`).

All of it comes from two sizes: how far a measurement moves when a row comes or goes, and how far
when a row changes inside its cell. Relations, cells, units and groups follow from these.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import prod

from adomnia.privacy.neighbors import Contribution, Neighbors
from adomnia.queries.expression import Column, Expr
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Mode,
    Moments,
    Quantile,
    Sum,
    number,
    unit_of,
)
from adomnia.queries.patterns import names, patterns
from adomnia.queries.present import present
from adomnia.queries.ranges import count_cells

__all__ = ["Sensitivity", "Setting", "sensitivity"]

MAX_PATTERNS = 256
"""What conditions a row can meet is compared pair by pair, as long as this many ways are met."""


@dataclass(frozen=True)
class Setting:
    """Where a measurement is taken: of which rows, in which cells, and what names a unit.

    `cells` says how many cells are released, where that is fewer than the keys span.
    """

    where: Expr | None = None
    keys: tuple[Expr, ...] = ()
    unit: str | None = None
    cells: int | None = None


@dataclass(frozen=True)
class Sensitivity:
    """Bounds in the L1 norm and, squared, in the L2 norm; `exact` where neighbours reach them."""

    l1: Fraction
    l2_squared: Fraction
    exact: bool
    argument: str


_Size = tuple[int, int]
"""A distance in the L1 norm, and in the L2 norm squared."""


@dataclass(frozen=True)
class _Row:
    """How far one row moves a measurement when it comes or goes, and when it changes in its cell.

    `exact`: some rows reach both. `alone`: a change of one attribute is enough for the second.
    """

    comes: _Size
    changes: _Size
    exact: bool = False
    alone: bool = True


@lru_cache(maxsize=1024)
def sensitivity(measurement: Measurement, setting: Setting, neighbors: Neighbors) -> Sensitivity:
    """The sensitivity of one measurement under a neighbour relation; proven in `sensitivity.md`."""
    if neighbors.most is not None:
        return _any_two(measurement, setting, neighbors.most)
    if isinstance(measurement, Distinct):
        return _distinct(measurement.argument, setting, neighbors)
    row = _row(measurement, setting)
    if neighbors.relation in ("attribute", "bit"):
        row = _one_attribute(row, measurement, setting)
    if neighbors.relation == "bit":
        row = _one_bit(row, measurement, setting)
    l1, l2 = _step(row, setting, neighbors)
    held, group = _contribution(setting, neighbors), neighbors.group
    # Rows of two profiles that do not fill the same cells may add up to a little more.
    squares = held.filled * held.each**2 if neighbors.replaces else held.squares
    exact = _is_reached(row, measurement, setting, neighbors)
    exact = exact and _is_spread(held, measurement, setting, neighbors)
    said = _say(neighbors, held)
    return Sensitivity(
        Fraction(l1 * held.rows * group), Fraction(l2 * squares * group**2), exact, said
    )


def _any_two(measurement: Measurement, setting: Setting, most: int) -> Sensitivity:
    """Between any two tables of at most so many rows: each changed, or each new
    (`free_lunch.md`)."""
    ways = [sensitivity(measurement, setting, Neighbors(name, group=most)) for name in _WAYS]
    l1, l2 = max(way.l1 for way in ways), max(way.l2_squared for way in ways)
    exact = isinstance(measurement, Counts | Sum) and all(way.exact for way in ways)
    return Sensitivity(l1, l2, exact, f"any two tables of at most {most} rows")


_WAYS = ("bounded", "unbounded")


def _step(row: _Row, setting: Setting, neighbors: Neighbors) -> _Size:
    """How far one row moves the measurement."""
    if not neighbors.replaces:
        return row.comes
    steps = [row.changes]
    if neighbors.rows is not None:
        steps.append(row.comes)  # a unit may also have fewer rows than before
    if setting.keys:
        steps.append((2 * row.comes[0], 2 * row.comes[1]))  # in two cells nothing cancels
    return max(l1 for l1, _ in steps), max(l2 for _, l2 in steps)


def _is_reached(
    row: _Row, measurement: Measurement, setting: Setting, neighbors: Neighbors
) -> bool:
    if not neighbors.replaces or not row.exact:
        return row.exact
    if setting.keys:
        return neighbors.relation != "bit" and _is_free(measurement, setting)
    return row.alone or neighbors.relation == "bounded"


def _is_free(measurement: Measurement, setting: Setting) -> bool:
    """Whether a row can go to another cell, whatever else it holds, and stay in its own."""
    read = names(setting.where, *_arguments(measurement))
    apart = not read & names(*setting.keys)
    return apart and any(isinstance(key, Column) for key in setting.keys)


def _contribution(setting: Setting, neighbors: Neighbors) -> Contribution:
    return neighbors.contribution(bool(setting.keys), _cells(setting))


def _cells(setting: Setting) -> int | None:
    """How many cells there are at most; None where the keys' values are not public."""
    if setting.cells is not None:
        return setting.cells
    counts = [count_cells(key.range) for key in setting.keys]
    known = [count + 1 for count in counts if count is not None]  # and the cell of NULL
    return prod(known) if len(known) == len(counts) else None


def _is_spread(
    held: Contribution, measurement: Measurement, setting: Setting, neighbors: Neighbors
) -> bool:
    """Whether a unit's rows can fill as many cells as they may, whatever else they hold."""
    if held.filled == 1:
        return True
    places, cells = held.filled * (1 + neighbors.replaces), _cells(setting)
    even = not neighbors.replaces or held.rows % held.each == 0
    free = not names(setting.where, *_arguments(measurement)) & names(*setting.keys)
    return even and free and _are_plain(setting) and (cells is None or places <= cells)


def _are_plain(setting: Setting) -> bool:
    """Whether the keys are columns, each another, so that every cell can have rows."""
    plain = all(isinstance(key, Column) for key in setting.keys)
    return plain and len(names(*setting.keys)) == len(setting.keys)


def _say(neighbors: Neighbors, held: Contribution) -> str:
    one = "one row" if neighbors.rows is None else f"{held.rows} rows of one unit"
    if held.filled > 1:
        one += f", {held.each} in a group"
    if neighbors.relation in ("attribute", "bit"):
        one = f"one {neighbors.relation} of one row"
    verb = "changed" if neighbors.replaces else "more or less"
    times = f", {neighbors.group} times" if neighbors.group > 1 else ""
    return f"{one} {verb}{times}"


# What one row can do


def _row(measurement: Measurement, setting: Setting) -> _Row:
    if isinstance(measurement, Counts):
        return _counts(measurement, setting)
    if isinstance(measurement, Sum):
        return _sum(measurement, setting)
    if isinstance(measurement, Moments):
        return _moments(measurement, setting)
    if isinstance(measurement, Mode):
        return _mode(measurement, setting)
    assert isinstance(measurement, Quantile)
    return _quantile(measurement, setting)


def _counts(measurement: Counts, setting: Setting) -> _Row:
    """The most conditions a row meets, and the most in which two rows differ."""
    width = len(measurement.conditions)
    found = patterns(measurement.conditions, setting.where)
    if found is None:
        return _Row((width, width), (width, width), alone=False)
    most = max(sum(pattern) for pattern in found)
    if len(found) > MAX_PATTERNS:
        apart = min(width, 2 * most)
        return _Row((most, most), (apart, apart), alone=False)
    pairs = itertools.combinations(found, 2)
    apart = max((sum(x != y for x, y in zip(a, b, strict=True)) for a, b in pairs), default=0)
    alone = len(names(setting.where, *measurement.conditions)) <= 1
    return _Row((most, most), (apart, apart), exact=True, alone=alone)


def _sum(measurement: Sum, setting: Setting) -> _Row:
    spread = number(measurement.argument)
    low, high = spread.low, spread.high
    largest = max(abs(low), abs(high))
    if spread.nullable or setting.where is not None:
        low, high = min(low, 0), max(high, 0)
    exact = _is_plain(measurement.argument, setting)
    return _Row((largest, largest**2), (high - low, (high - low) ** 2), exact)


def _moments(measurement: Moments, setting: Setting) -> _Row:
    """A row adds one unit in all; two rows differ by two, where they can lie apart."""
    unit, spread = unit_of(measurement), number(measurement.argument)
    exact = _is_plain(measurement.argument, setting)
    if spread.width > 0 or (measurement.rest and spread.nullable):
        return _Row((unit, unit**2), (2 * unit, 2 * unit**2), exact)
    changed = unit if spread.nullable or setting.where is not None else 0
    return _Row((unit, unit**2), (changed, changed**2), exact)


def _quantile(measurement: Quantile, setting: Setting) -> _Row:
    """How far the worst penalty moves: the scale of the exponential mechanism (`quantile.md`)."""
    top, bottom = measurement.share.numerator, measurement.share.denominator
    comes, changes = max(top, bottom - top), bottom
    if measurement.edge:
        comes = changes = 1
    exact = _is_plain(measurement.argument, setting) and number(measurement.argument).width > 0
    return _Row((comes, comes**2), (changes, changes**2), exact)


def _mode(measurement: Mode, setting: Setting) -> _Row:
    """How many values' counts move by one: the scale of permute-and-flip (`choosing.md`)."""
    values = count_cells(measurement.argument.range) or 0
    exact = _is_plain(measurement.argument, setting) and values > 1
    return _Row((1, 1), (2, 2), exact)


def _one_attribute(row: _Row, measurement: Measurement, setting: Setting) -> _Row:
    """The row under a change of one attribute: only conditions that read it can turn."""
    if not isinstance(measurement, Counts) or setting.where is not None or row.alone:
        return row
    readers = Counter(name for test in measurement.conditions for name in names(test))
    turned = min(row.changes[0], max(readers.values()))
    return replace(row, changes=(turned, turned))


def _one_bit(row: _Row, measurement: Measurement, setting: Setting) -> _Row:
    """The row under a change of one bit: a sum of a plain column moves by its highest bit."""
    if row.changes == (0, 0):
        return row
    other = _Row(row.comes, row.changes)
    if not isinstance(measurement, Sum) or not isinstance(measurement.argument, Column):
        return other
    spread, name = number(measurement.argument), measurement.argument.name
    if spread.values is not None or name in names(setting.where, *setting.keys):
        return other
    highest = 1 << (spread.width.bit_length() - 1) if spread.width else 0
    if setting.where is None:
        return _Row(row.comes, (highest, highest**2), row.exact)
    largest = max(highest, row.comes[0])  # a bit elsewhere may take the row out of WHERE
    return _Row(row.comes, (largest, largest**2))


# Distinct values


def _distinct(argument: Expr, setting: Setting, neighbors: Neighbors) -> Sensitivity:
    """Each row brings or takes at most one value of its cell, and a cell has no more than all."""
    held, group = _contribution(setting, neighbors), neighbors.group
    if neighbors.rows is not None and present(argument, setting.unit) is not None:
        return _units(argument, setting, neighbors)
    rows, each = held.rows * group, held.each * group
    values = count_cells(argument.range)
    most = each if values is None else min(each, values)
    sure = most == each and neighbors.relation != "bit" and _is_plain(argument, setting)
    sure = sure and not names(argument) & names(*setting.keys)  # else a cell has one value
    sure = sure and held.rows % held.each == 0
    row, distinct, said = _Row((1, 1), (1, 1), sure), Distinct(argument), _say(neighbors, held)
    exact = _is_reached(row, distinct, setting, neighbors)
    exact = exact and _is_spread(held, distinct, setting, neighbors)
    if not setting.keys:
        return Sensitivity(Fraction(most), Fraction(most**2), exact, said)
    ways = 1 + neighbors.replaces
    return Sensitivity(Fraction(ways * rows), Fraction(ways * rows * most), exact, said)


def _units(argument: Expr, setting: Setting, neighbors: Neighbors) -> Sensitivity:
    """A unit counts once in each cell that holds one of its rows, however many they are."""
    cells, group = _cells(setting), neighbors.group
    places = neighbors.contribution(bool(setting.keys)).groups * (1 + neighbors.replaces)
    places = places if cells is None else min(places, cells)
    exact = _is_plain(argument, setting) and _are_plain(setting)
    exact = exact and not names(setting.where) & names(*setting.keys)
    say = "one unit, once in each cell"
    return Sensitivity(Fraction(places * group), Fraction(places * group**2), exact, say)


# What an argument allows


def _arguments(measurement: Measurement) -> tuple[Expr | None, ...]:
    if isinstance(measurement, Counts):
        return measurement.conditions
    return (measurement.argument,)


def _is_plain(argument: Expr, setting: Setting) -> bool:
    """Whether a row can have any value here and still be one of those that are asked about."""
    if not isinstance(argument, Column) or argument.name in names(setting.where):
        return False
    return setting.where is None or (True,) in (patterns((None,), setting.where) or ())
