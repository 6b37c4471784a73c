"""The linear program of a removal distance: proposals, from the cheapest to one without rounding.

Nothing here is trusted: `removal_certificate.py` works out what a proposal proves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.joins.indexed_pairs import Flags, IndexedPairs
from adomnia.mechanisms.joins.removal_certificate import Proposal

__all__ = ["proposals"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
ROUNDS = 12
METHODS = ("highs-ds", "highs-ipm")
FINE = 64
SLACK = 1e-9
NEARLY = 0.95
"""Units join that help by so much, where one would help by more than 1."""
Row = dict[int, Fraction]
CONSTANT = -1
NONE = Fraction(0)


def proposals(near: IndexedPairs, over: Flags, bound: int) -> Iterator[Proposal]:
    """One after the other, each dearer to compute; the last one is an optimum."""
    yield _packed(near, over, bound)
    for method in METHODS:
        yield from _solved(near, over, bound, method)
    yield _exact(near, over, bound)


def _packed(near: IndexedPairs, over: Flags, bound: int) -> Proposal:
    """Remove whoever is above the bound; and multipliers that no unit is loaded by with more than
    one, made larger where nobody that they load is full."""
    totals = near.totals.astype(np.float64)
    per = np.where(over, 1 / np.where(over, totals - bound, 1.0), 0.0)
    amounts = near.amounts.astype(np.float64)
    share = over.astype(np.float64)
    for _ in range(ROUNDS):
        each = share * per
        load = share + _by_unit(near, amounts * each[near.second], amounts * each[near.first])
        peak = load.copy()
        np.maximum.at(peak, near.first, load[near.second])
        np.maximum.at(peak, near.second, load[near.first])
        share = np.where(over, np.minimum(1.0, share / np.where(over, peak, 1.0)), 0.0)
    return Proposal(over.astype(np.float64), share * per)


def _by_unit(near: IndexedPairs, values: Floats, other: Floats | None = None) -> Floats:
    """What floats of rows add up to for each unit, of nobody 0; at the second unit others."""
    size, second = near.units + 1, values if other is None else other
    found: Floats = np.bincount(near.first, values, size).astype(np.float64)
    found += np.bincount(near.second, second, size)
    found[-1] = 0.0
    return found


def _solved(near: IndexedPairs, over: Flags, bound: int, method: str) -> Iterator[Proposal]:
    """What a solver says while it says anything.

    It is asked about few units at first, and others join where they would help; and of a row less
    than nothing may be left, except of rows where that was used.
    """
    part = _Program(over.copy(), np.zeros(near.amounts.size, np.bool_))
    while True:
        proposal = _solved_once(near, np.flatnonzero(over), bound, part, method)
        if proposal is None or proposal.rows is None:
            return
        load = _by_unit(near, proposal.rows) - bound * proposal.units
        if (~part.units & (load > 1 + SLACK)).any():
            part = _Program(part.units | (load > NEARLY), part.rows)
            continue
        yield proposal
        ends = proposal.removed[near.first], proposal.removed[near.second]
        used = ~part.rows & (ends[0] + ends[1] > 1 + SLACK)
        if not used.any():
            return
        part = _Program(part.units, part.rows | used | (np.minimum(*ends) > SLACK))


@dataclass(frozen=True, eq=False)
class _Program:
    """The units that may be removed, and the rows of which no less than nothing is left."""

    units: Flags
    rows: Flags


def _solved_once(
    near: IndexedPairs, owners: Integers, bound: int, part: _Program, method: str
) -> Proposal | None:
    """Variables are what is removed of units, and what is left of rows, of the part."""
    from scipy import optimize, sparse  # noqa: PLC0415 (slow to import)

    units, rows = int(part.units.sum()), int(part.rows.sum())
    excess = near.totals[owners].astype(np.float64) - bound
    free = _by_unit(near, np.where(part.rows, 0.0, near.amounts))[owners] - bound
    entries = _entries(near, owners, free, part)
    at, to, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    scale = np.concatenate([excess, np.ones(rows)])
    shape = owners.size + rows, units + rows
    matrix = sparse.csr_array((-values / scale[at], (at, to)), shape=shape)
    limits = np.concatenate([free, np.ones(rows)]) / scale
    costs = np.concatenate([np.ones(units), np.zeros(rows)])
    found = optimize.linprog(costs, matrix, -limits, method=method)
    if found.x is None or found.ineqlin.marginals is None:
        return None
    slopes = -np.nan_to_num(np.asarray(found.ineqlin.marginals, np.float64)) / scale
    multipliers, removed = np.zeros(near.units + 1), np.zeros(near.units + 1)
    multipliers[owners] = slopes[: owners.size]
    removed[part.units] = np.nan_to_num(np.asarray(found.x[:units], np.float64))
    each = near.amounts * (multipliers[near.first] + multipliers[near.second])
    each[part.rows] = slopes[owners.size :]
    return Proposal(removed, multipliers, each)


def _entries(near: IndexedPairs, owners: Integers, free: Floats, part: _Program) -> list[Any]:
    """Where the program has coefficients: inequality, variable, and value."""
    number = np.full(near.units + 1, -1)
    number[owners] = np.arange(owners.size)
    unit, row = np.cumsum(part.units) - 1, np.cumsum(part.rows) - 1
    units = int(unit[-1]) + 1
    found: list[Any] = [(np.arange(owners.size), unit[owners], free)]
    for here, there in ((near.first, near.second), (near.second, near.first)):
        owned = number[here] >= 0
        some = np.flatnonzero(owned & ~part.rows & part.units[there])
        found.append((number[here][some], unit[there[some]], 1.0 * near.amounts[some]))
        some = np.flatnonzero(owned & part.rows)
        found.append((number[here][some], units + row[some], -1.0 * near.amounts[some]))
        some = np.flatnonzero(part.rows & part.units[here])
        found.append((owners.size + row[some], unit[here[some]], np.ones(some.size)))
    some = np.flatnonzero(part.rows)
    return [*found, (owners.size + row[some], units + row[some], np.ones(some.size))]


def _exact(near: IndexedPairs, over: Flags, bound: int) -> Proposal:
    """The optimum by the simplex method, on the dual program, in fractions."""
    owners, rows, units = np.flatnonzero(over).tolist(), near.amounts.size, near.units
    table, width = _tableau(near, owners, bound), len(owners) + rows
    basis = _optimal(table, width)
    values = {at: table[place].get(CONSTANT, NONE) for place, at in enumerate(basis)}
    multipliers = np.array([NONE] * (units + 1), object)
    multipliers[owners] = [values.get(place, NONE) for place in range(len(owners))]
    removed = [-table[-1].get(width + unit, NONE) for unit in range(units)]
    each = [values.get(len(owners) + row, NONE) for row in range(rows)]
    return Proposal(np.array([*removed, NONE]), multipliers, np.array(each, object), FINE)


def _optimal(table: list[Row], width: int) -> list[int]:
    """Pivots until nothing is gained, by Bland's rule, so that it ends; the variables of the
    basis."""
    basis = [width + place for place in range(len(table) - 1)]
    while gaining := [at for at, gain in table[-1].items() if at != CONSTANT and gain > 0]:
        entering = min(gaining)
        _, _, leaving = min(
            (row.get(CONSTANT, NONE) / row[entering], basis[place], place)
            for place, row in enumerate(table[:-1])
            if row.get(entering, NONE) > 0
        )
        _pivot(table, leaving, entering)
        basis[leaving] = entering
    return basis


def _tableau(near: IndexedPairs, owners: list[int], bound: int) -> list[Row]:
    """A row for each unit, one for each pair, and the objective; variables, then slacks."""
    rows, units = near.amounts.size, near.units
    at = {unit: place for place, unit in enumerate(owners)}
    width = len(owners) + rows
    table: list[Row] = [{width + unit: Fraction(1), CONSTANT: Fraction(1)} for unit in range(units)]
    for unit, place in at.items():
        table[unit][place] = Fraction(-bound)
    ends = zip(near.first.tolist(), near.second.tolist(), near.amounts.tolist(), strict=True)
    for row, (first, second, amount) in enumerate(ends):
        place = len(owners) + row
        here: Row = {place: Fraction(1), width + units + row: Fraction(1)}
        for unit in {first, second} - {units}:
            table[unit][place] = Fraction(1)
            if unit in at and amount:
                here[at[unit]] = Fraction(-amount)
        table.append(here)
    gains: Row = {place: Fraction(-bound) for place in range(len(owners))}
    return [*table, gains | {len(owners) + row: Fraction(1) for row in range(rows)}]


def _pivot(table: list[Row], leaving: int, entering: int) -> None:
    by = table[leaving][entering]
    pivot = {at: value / by for at, value in table[leaving].items()}
    table[leaving] = pivot
    for place, row in enumerate(table):
        factor: Any = row.get(entering)
        if place == leaving or not factor:
            continue
        for at, value in pivot.items():
            changed = row.get(at, NONE) - factor * value
            if changed:
                row[at] = changed
            else:
                row.pop(at, None)
