"""Tightness: whether some neighbours are as far apart as a sensitivity says.

It is shown beside a plan and scales nothing. It rests on derived ranges and on rows that are tried,
as far as these are right (`sensitivity.md`, *Where it is reached*).
"""

from __future__ import annotations

import itertools

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
    arguments,
)
from adomnia.privacy.neighbors import Neighbors, UnitBounds
from adomnia.queries.expression import Call, Column, Expr
from adomnia.queries.grouping import public_cells
from adomnia.queries.patterns import names, patterns
from adomnia.queries.ranges import Number, count_cells

__all__ = ["MAX_PATTERNS", "is_reached"]

MAX_PATTERNS = 256
"""What conditions a row can meet is compared pair by pair, as long as this many ways are met."""


def is_reached(
    contribution: Contribution, setting: Setting, neighbors: Neighbors, row: tuple[int, int]
) -> bool:
    """Whether neighbours reach the bounds that follow from what a row does: how far it moves a
    measurement in L1 when it comes or goes, and when it changes in its cell."""
    if isinstance(contribution, DistinctUnits):
        return _are_units_reached(contribution, setting)
    held = neighbors.unit_bounds(bool(setting.keys), _cells(setting))
    if not _is_row_reached(contribution, setting, neighbors, row):
        return False
    if isinstance(contribution, DistinctValues) and not _has_values(contribution, neighbors, held):
        return False
    return _is_step_reached(contribution, setting, neighbors, row) and _is_spread(
        held, contribution, setting, neighbors
    )


def _is_row_reached(
    contribution: Contribution, setting: Setting, neighbors: Neighbors, row: tuple[int, int]
) -> bool:
    """Whether some rows do as much."""
    if isinstance(contribution, Tally):
        return _is_tally_reached(contribution, setting, neighbors, row)
    if isinstance(contribution, DistinctUnits) or not _is_plain(contribution.argument, setting):
        return False
    if neighbors.relation == "bit" and not _is_bit_sum(contribution, setting):
        return False
    spread = contribution.argument.range
    if isinstance(contribution, Clamped | Bernstein | Ranked):
        assert isinstance(spread, Number)
        wide = not isinstance(contribution, Ranked) or spread.width > 0
        return wide and (contribution.low, contribution.high) == (spread.low, spread.high)
    return not isinstance(contribution, Listed) or (count_cells(spread) or 0) > 1


def _is_tally_reached(
    tally: Tally, setting: Setting, neighbors: Neighbors, row: tuple[int, int]
) -> bool:
    found = patterns(tally.conditions, setting.where)
    if found is None or len(found) > MAX_PATTERNS:
        return False
    if neighbors.relation == "bit" and row[1] > 0:
        return False
    most = max(sum(pattern) for pattern in found)
    if setting.keys or not neighbors.replaces:
        return most == row[0]
    pairs = itertools.combinations(found, 2)
    apart = max((sum(x != y for x, y in zip(a, b, strict=True)) for a, b in pairs), default=0)
    return apart == row[1] if neighbors.rows is None else max(apart, most) == max(row)


def _is_bit_sum(contribution: Contribution, setting: Setting) -> bool:
    plain = isinstance(contribution, Clamped) and contribution.bit is not None
    read = names(setting.where, *setting.keys)
    return plain and setting.where is None and not names(*arguments(contribution)) & read


def _has_values(distinct: DistinctValues, neighbors: Neighbors, held: UnitBounds) -> bool:
    """Whether there are as many values as rows that bring one."""
    enough = distinct.most is None or distinct.most >= held.each * neighbors.group
    return enough and held.rows % held.each == 0


def _are_units_reached(units: DistinctUnits, setting: Setting) -> bool:
    always = not names(units.present) and not names(setting.where) & names(*setting.keys)
    return always and _is_met(setting.where) and _are_plain(setting)


def _is_step_reached(
    contribution: Contribution, setting: Setting, neighbors: Neighbors, row: tuple[int, int]
) -> bool:
    """Whether a row can do it by coming or going, or by a change that the relation allows."""
    if not neighbors.replaces:
        return True
    if setting.keys:
        return neighbors.relation != "bit" and _is_free(contribution, setting)
    alone = not isinstance(contribution, Tally) or (
        len(names(setting.where, *contribution.conditions)) <= 1
    )
    return alone or neighbors.relation == "bounded"


def _is_free(contribution: Contribution, setting: Setting) -> bool:
    """Whether a row can go to another cell, whatever else it holds, and stay in its own."""
    read = names(setting.where, *arguments(contribution))
    apart = not read & names(*setting.keys)
    return apart and any(isinstance(key, Column) for key in setting.keys)


def _is_spread(
    held: UnitBounds, contribution: Contribution, setting: Setting, neighbors: Neighbors
) -> bool:
    """Whether a unit's rows can fill as many cells as they may, whatever else they hold."""
    if isinstance(contribution, DistinctValues) and names(contribution.argument) & names(
        *setting.keys
    ):
        return False  # then a cell has one value
    if held.filled == 1:
        return True
    places, cells = held.filled * (1 + neighbors.replaces), _cells(setting)
    even = not neighbors.replaces or held.rows % held.each == 0
    free = not names(setting.where, *arguments(contribution)) & names(*setting.keys)
    return even and free and _are_plain(setting) and (cells is None or places <= cells)


def _cells(setting: Setting) -> int | None:
    return public_cells(setting.keys) if setting.cells is None else setting.cells


def _are_plain(setting: Setting) -> bool:
    """Whether the keys are columns, each another, so that every cell can have rows."""
    plain = all(isinstance(key, Column) for key in setting.keys)
    return plain and len(names(*setting.keys)) == len(setting.keys)


def _is_plain(argument: Expr, setting: Setting) -> bool:
    """Whether a row can have any value here and still be one of those that are asked about."""
    if isinstance(argument, Call) and argument.op == "inside":
        argument = argument.args[0]  # without what lies outside, it has all declared values
    if not isinstance(argument, Column) or argument.name in names(setting.where):
        return False
    return _is_met(setting.where)


def _is_met(where: Expr | None) -> bool:
    return where is None or (True,) in (patterns((None,), where) or ())
