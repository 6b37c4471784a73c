"""Sensitivity: how far a measurement can differ between neighbours (`sensitivity.md`).

All of it comes from two sizes: how far a measurement moves when a row comes or goes, and how far
when a row changes inside its cell. They rest on what the statement enforces and on which columns
an expression reads, on no derived range. Relations, cells, units and groups follow from these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from adomnia.privacy.contribution import (
    Bernstein,
    Clamped,
    Contribution,
    DistinctUnits,
    DistinctValues,
    Pattern,
    Ranked,
    Setting,
    Tally,
)
from adomnia.privacy.neighbors import Neighbors, Relation, UnitBounds
from adomnia.privacy.tightness import is_reached
from adomnia.queries.expression import Column, columns
from adomnia.queries.grouping import public_cells

__all__ = ["Sensitivity", "Setting", "sensitivity"]


@dataclass(frozen=True)
class Sensitivity:
    """Bounds in the L1 norm and, squared, in the L2 norm; `exact` where neighbours reach them."""

    l1: Fraction
    l2_squared: Fraction
    exact: bool
    argument: str


_Size = tuple[int, int]
"""A distance in the L1 norm, and in the L2 norm squared."""


@lru_cache(maxsize=1024)
def sensitivity(contribution: Contribution, setting: Setting, neighbors: Neighbors) -> Sensitivity:
    """The sensitivity of what a statement with this contribution measures."""
    if neighbors.most is not None:
        return _any_two(contribution, setting, neighbors.most)
    held = _held(setting, neighbors)
    comes, changes = _comes(contribution), _changes(contribution, setting, neighbors.relation)
    if isinstance(contribution, DistinctValues):
        l1, l2 = _values(contribution, setting, neighbors, held)
    elif isinstance(contribution, DistinctUnits):
        l1, l2 = _units(setting, neighbors)
    else:
        l1, l2 = _moved(comes, changes, setting, neighbors, held)
    exact = is_reached(contribution, setting, neighbors, (comes[0], changes[0]))
    said = _say(contribution, neighbors, held)
    return Sensitivity(Fraction(l1), Fraction(l2), exact, said)


def _any_two(contribution: Contribution, setting: Setting, most: int) -> Sensitivity:
    """Between any two tables of at most so many rows: each changed, or each new
    (`free_lunch.md`)."""
    names: tuple[Relation, ...] = ("bounded", "unbounded")
    ways = [sensitivity(contribution, setting, Neighbors(name, group=most)) for name in names]
    l1, l2 = max(way.l1 for way in ways), max(way.l2_squared for way in ways)
    far = any(way.exact and (way.l1, way.l2_squared) == (l1, l2) for way in ways)
    exact = far and isinstance(contribution, Tally | Clamped)
    return Sensitivity(l1, l2, exact, f"any two tables of at most {most} rows")


def _moved(
    comes: _Size, changes: _Size, setting: Setting, neighbors: Neighbors, held: UnitBounds
) -> _Size:
    """How far rows move what is a sum over rows, or penalties."""
    steps = [changes] if neighbors.replaces else [comes]
    if neighbors.replaces and neighbors.rows is not None:
        steps.append(comes)  # a unit may also have fewer rows than before
    if neighbors.replaces and setting.keys:
        steps.append((2 * comes[0], 2 * comes[1]))  # in two cells nothing cancels
    l1, l2 = max(step[0] for step in steps), max(step[1] for step in steps)
    # Rows of two profiles that do not fill the same cells may add up to a little more.
    squares = held.filled * held.each**2 if neighbors.replaces else held.squares
    return l1 * held.rows * neighbors.group, l2 * squares * neighbors.group**2


def _held(setting: Setting, neighbors: Neighbors) -> UnitBounds:
    cells = public_cells(setting.keys) if setting.cells is None else setting.cells
    return neighbors.unit_bounds(bool(setting.keys), cells)


def _say(contribution: Contribution, neighbors: Neighbors, held: UnitBounds) -> str:
    if isinstance(contribution, DistinctUnits):
        return "one unit, once in each cell"
    one = "one row" if neighbors.rows is None else f"{held.rows} rows of one unit"
    if held.filled > 1:
        one += f", {held.each} in a group"
    if neighbors.relation in ("attribute", "bit"):
        one = f"one {neighbors.relation} of one row"
    verb = "changed" if neighbors.replaces else "more or less"
    times = f", {neighbors.group} times" if neighbors.group > 1 else ""
    return f"{one} {verb}{times}"


# A row that comes or goes


def _comes(contribution: Contribution) -> _Size:
    if isinstance(contribution, Tally):
        most = _most(contribution)
        return most, most
    if isinstance(contribution, Clamped):
        largest = max(abs(contribution.low), abs(contribution.high), 1)
        return largest, largest**2
    if isinstance(contribution, Bernstein):
        return contribution.unit, contribution.unit**2
    if isinstance(contribution, Ranked) and contribution.edge is None:
        top, bottom = contribution.share.numerator, contribution.share.denominator
        return max(top, bottom - top), max(top, bottom - top) ** 2
    return 1, 1


def _most(tally: Tally) -> int:
    """The most conditions for which a row counts."""
    if tally.patterns is not None:
        return max(1, *(sum(pattern) for pattern in tally.patterns))
    return len(tally.conditions) if tally.most is None else tally.most


# A row that changes in its cell


def _changes(contribution: Contribution, setting: Setting, relation: Relation) -> _Size:
    if isinstance(contribution, Tally):
        turned = _turned(contribution, setting, relation)
        return turned, turned
    if isinstance(contribution, Clamped):
        apart = _apart(contribution, setting, relation)
        return apart, apart**2
    if isinstance(contribution, Bernstein):
        lies_apart = contribution.high > contribution.low or contribution.rest
        times, unit = (2 if lies_apart else 1), contribution.unit
        return times * unit, times * unit**2
    if isinstance(contribution, Ranked):
        worst = 1 if contribution.edge else contribution.share.denominator
        return worst, worst**2
    return 2, 2


def _turned(tally: Tally, setting: Setting, relation: Relation) -> int:
    """In how many conditions a row can differ from another.

    Only the number of all rows is never moved. Everything else moves by at least 1.
    """
    if tally.patterns is not None:
        return max(1, _farthest(tally.patterns, setting.may_leave))
    if tally.most is not None:
        return min(len(tally.conditions), 2 * tally.most)
    if setting.stay and relation in ("attribute", "bit"):
        return _read_together(tally, setting)
    if setting.may_leave:
        return len(tally.conditions)
    return sum(test is not None for test in tally.conditions)


def _farthest(patterns: Iterable[Pattern], nothing: bool) -> int:
    """In how many places two patterns differ; `nothing` may be one of them."""
    listed = list(patterns)
    listed += [(False,) * len(listed[0])] * nothing
    pairs = itertools.combinations(listed, 2)
    return max((sum(x != y for x, y in zip(a, b, strict=True)) for a, b in pairs), default=0)


def _read_together(tally: Tally, setting: Setting) -> int:
    """The most conditions that a change of one column can turn: all, if WHERE reads it."""
    outside = {column.name for column in columns(setting.where)}
    tests = [{column.name for column in columns(test)} for test in tally.conditions]
    every = outside.union(*tests)
    readers = (
        len(tests) if name in outside else sum(name in test for test in tests) for name in every
    )
    return max(readers, default=0)


def _apart(clamped: Clamped, setting: Setting, relation: Relation) -> int:
    """How far what a row adds can move."""
    low, high, where = clamped.low, clamped.high, setting.where
    width = high - low
    if not clamped.always or setting.may_leave or setting.keys:
        low, high = min(low, 0), max(high, 0)
    apart = max(1, high - low)
    name = clamped.argument.name if isinstance(clamped.argument, Column) else None
    if relation != "bit" or clamped.bit is None or name is None:
        return apart
    if name in {column.name for test in (where, *setting.keys) for column in columns(test)}:
        return apart
    bit = min(clamped.bit, max(1, width))  # one that is NULL has no bits, so it stays
    return max(bit, abs(clamped.low), abs(clamped.high)) if setting.may_leave else bit


# Distinct values and units


def _values(
    distinct: DistinctValues, setting: Setting, neighbors: Neighbors, held: UnitBounds
) -> _Size:
    """Each row brings or takes at most one value of its cell, and a cell has no more than all."""
    rows, each = held.rows * neighbors.group, held.each * neighbors.group
    most = each if distinct.most is None else min(each, distinct.most)
    if not setting.keys:
        return most, most**2
    ways = 1 + neighbors.replaces
    return ways * rows, ways * rows * most


def _units(setting: Setting, neighbors: Neighbors) -> _Size:
    """A unit counts once in each cell that holds one of its rows, however many they are."""
    cells, group = setting.cells, neighbors.group
    if cells is None:
        cells = public_cells(setting.keys)
    places = neighbors.unit_bounds(bool(setting.keys)).groups * (1 + neighbors.replaces)
    places = places if cells is None else min(places, cells)
    return places * group, places * group**2
