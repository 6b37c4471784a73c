"""Reductions that keep every minimal difference: parallel cells, series, determined cells, parts.

Each step is exact: what disappears is handed out as a bound, the rest is a smaller system with
the same minimal differences (`reduction.md`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.reduction.element import Element, UnitMove, Vector, element, join, value
from adomnia.priors.solver.reduction.pairs import Signed, widest

__all__ = ["components", "dense", "elements", "merge_series", "reduce"]


def elements(matrix: Any, asked: Any, norm: Norm) -> list[Element]:
    """One element for each column of the rows and of the question."""
    columns, effects = _dicts(matrix), _dicts(asked)
    return [
        Element(column, (UnitMove(effect, {cell: 1}),), value(effect, norm))
        for cell, (column, effect) in enumerate(zip(columns, effects, strict=True))
    ]


def _dicts(matrix: Any) -> list[Vector]:
    ends, rows, data = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    return [
        dict(zip(rows[start:end], data[start:end], strict=True))
        for start, end in itertools.pairwise(ends)
    ]


def reduce(members: Sequence[Element], norm: Norm) -> tuple[list[Element], list[Bound]]:
    """What is left when no reduction applies, and the bounds of what disappeared."""
    left, found = list(members), []
    while True:
        before = len(left)
        left = _without_equal_rows(left)
        left, bounds = _merge_parallel(left, norm)
        found += bounds
        left = _merge_pairs_of_rows(left, norm)
        if len(left) == before:
            return left, found


def dense(members: Sequence[Element]) -> NDArray[np.int64]:
    """The reduced rows as a matrix: rows by elements."""
    rows = {row: place for place, row in enumerate(sorted({r for e in members for r in e.column}))}
    matrix = np.zeros((len(rows), len(members)), np.int64)
    for place, one in enumerate(members):
        for row, factor in one.column.items():
            matrix[rows[row], place] = factor
    return matrix


# Rows


def _by_row(members: Sequence[Element]) -> dict[int, dict[int, int]]:
    """For each row its elements with their coefficients."""
    rows: dict[int, dict[int, int]] = {}
    for number, one in enumerate(members):
        for row, factor in one.column.items():
            rows.setdefault(row, {})[number] = factor
    return rows


def _without_equal_rows(members: list[Element]) -> list[Element]:
    """Rows divided by their common divisor, and each of several proportional rows once."""
    seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    columns: list[Vector] = [{} for _ in members]
    changed = False
    for row, entries in _by_row(members).items():
        factors = tuple(entries.values())
        common = math.gcd(*factors) * (1 if factors[0] > 0 else -1)
        if common != 1:
            factors = tuple(factor // common for factor in factors)
            changed = True
        key = (tuple(entries), factors)
        if key in seen:
            changed = True
            continue
        seen.add(key)
        for number, factor in zip(entries, factors, strict=True):
            columns[number][row] = factor
    if not changed:
        return members
    return [replace(one, column=column) for column, one in zip(columns, members, strict=True)]


# Parallel elements, and free ones


def _merge_parallel(members: list[Element], norm: Norm) -> tuple[list[Element], list[Bound]]:
    """Elements with equal columns, up to sign, become one; the pairs among them are bounds."""
    classes: dict[tuple[tuple[int, int], ...], list[Signed]] = {}
    bounds: list[Bound] = []
    for one in members:
        if not one.column:
            bounds.append(_free(one, norm))
            continue
        key, sign = tuple(sorted(one.column.items())), 1
        if key[0][1] < 0:
            key, sign = tuple((row, -factor) for row, factor in key), -1
        classes.setdefault(key, []).append((sign, one))
    left = []
    for key, equal in classes.items():
        if len(equal) == 1:
            left.append(equal[0][1])
            continue
        upper, lower, cells = widest(equal, norm)
        merged = any(one.is_merged for _, one in equal)
        bounds.append(
            Bound(upper, Fraction(lower), "parallel chains" if merged else "disjoint groups", cells)
        )
        left.append(_one_of(dict(key), equal, norm))
    return left, bounds


def _free(one: Element, norm: Norm) -> Bound:
    best = max(one.choices, key=lambda choice: value(choice.effect, norm))
    argument = "a chain" if one.is_merged else "a cell that moves alone"
    return Bound(Fraction(one.most), Fraction(value(best.effect, norm)), argument, best.cells)


def _one_of(column: Vector, equal: list[Signed], norm: Norm) -> Element:
    """The class as one element, which moves as any of its members."""
    choices = [
        choice if sign == 1 else UnitMove(_negated(choice.effect), _negated(choice.cells))
        for sign, one in equal
        for choice in one.choices
    ]
    if all(one.complete for _, one in equal):
        return element(column, choices, norm)
    most = max(one.most for _, one in equal)
    return element(column, choices, norm, most, {o for _, one in equal for o in one.hidden})


def _negated(vector: Vector) -> Vector:
    return {place: -x for place, x in vector.items()}


# Rows with one or two elements


def _merge_pairs_of_rows(members: list[Element], norm: Norm) -> list[Element]:
    """A row with one element determines it; one with two makes them move together.

    In rounds, each element at most once a round: long chains then grow like a tournament.
    """
    rows = _by_row(members)
    left: list[Element | None] = list(members)
    waiting = [row for row, entries in rows.items() if len(entries) <= 2]
    while waiting:
        later: dict[int, None] = {}
        fresh: set[int] = set()
        for row in waiting:
            entries = rows[row]
            if not 1 <= len(entries) <= 2:
                continue
            if fresh & entries.keys():
                later[row] = None
                continue
            fresh.add(next(iter(entries)))
            later.update(dict.fromkeys(_contract(left, rows, entries.copy(), norm)))
        waiting = list(later)
    return [one for one in left if one is not None]


def _contract(
    left: list[Element | None], rows: dict[int, dict[int, int]], entries: Vector, norm: Norm
) -> list[int]:
    """Puts the joined element in the first one's place, or nothing; says which rows changed."""
    old = [one for number in entries if (one := left[number]) is not None]
    touched = []
    for number, one in zip(entries, old, strict=True):
        left[number] = None
        for row in one.column:
            del rows[row][number]
            touched.append(row)
    if len(old) == 2:
        first, (a, b) = next(iter(entries)), entries.values()
        common = math.gcd(a, b)
        new = join(old[0], old[1], (b // common, -a // common), norm)
        left[first] = new
        for row, factor in new.column.items():
            rows[row][first] = factor
    return touched


def merge_series(
    members: Sequence[Element], classes: Sequence[Sequence[tuple[int, int]]], norm: Norm
) -> list[Element]:
    """One element for each class of (number, units) that move together."""
    found = []
    for (first, units), *others in classes:
        one = members[first]
        if units != 1:
            nothing = Element({}, (UnitMove({}, {}),), 0)
            one = join(one, nothing, (units, 1), norm)
        for other, times in others:
            one = join(one, members[other], (1, times), norm)
        found.append(one)
    return found


# Connected parts


def components(members: Sequence[Element]) -> list[list[Element]]:
    """The elements by connected component of the rows that they share, in their order."""
    parent: dict[int, int] = {}

    def top(row: int) -> int:
        while parent.setdefault(row, row) != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for one in members:
        first, *others = one.column
        for row in others:
            parent[top(row)] = top(first)
    found: dict[int, list[Element]] = {}
    for one in members:
        found.setdefault(top(next(iter(one.column))), []).append(one)
    return list(found.values())
