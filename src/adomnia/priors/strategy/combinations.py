"""Derivation: what follows from the released rows, in exact numbers (`strategy.md`).

Gauss elimination turns A t = b into substitutions: some cells are written in terms of the others,
the free ones. A row over the cells becomes a row over the free cells plus what is public; two
rows with the same remainder differ by a public number in every table that agrees with b.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from adomnia.priors.solver.system import System, whole

__all__ = ["CONSTANT", "Combinations", "Echelon", "Vector", "basis", "classes", "entries"]

Vector = dict[int, int | Fraction]
"""Coefficients by cell; key -1 is the constant, -2 - u the value of row u where it is not given."""

CONSTANT = -1
STEPS = 5_000_000
LARGEST = 1 << 31


class Echelon:
    """The released rows as substitutions: cell -> free cells, the constant, values not given."""

    def __init__(self, system: System) -> None:
        rows = entries(system.matrix)
        self.substitutions: dict[int, Vector] = {cell: {} for cell in _empty(system, rows)}
        self._places: dict[int, int] = {}
        known, unknown = _equations(system, rows)
        for equation in known + unknown:
            self._add(equation)
        for cell in reversed(self._places):
            self.substitutions[cell] = self.reduce(self.substitutions[cell])
        if any(_cells(self.reduce(equation)) for equation in known + unknown):
            raise ArithmeticError("the elimination does not solve its own system")

    def reduce(self, row: Mapping[int, int | Fraction]) -> Vector:
        """The same row on every table of the system, written on free cells and what is public."""
        found: Vector = {}
        for key, factor in row.items():
            step = self.substitutions.get(key)
            _add(found, {key: 1} if step is None else step, factor)
        return found

    def _add(self, equation: Vector) -> None:
        """One more equation `row = 0`, solved for its handiest cell."""
        row = self._forward(equation)
        cells = _cells(row)
        if not cells:
            if set(row) == {CONSTANT}:
                raise ValueError("the released values contradict each other")
            return
        pivot = min(cells, key=lambda cell: (abs(cells[cell]) != 1, cell))
        factor = row.pop(pivot)
        self._places[pivot] = len(self._places)
        self.substitutions[pivot] = {key: _divide(-value, factor) for key, value in row.items()}

    def _forward(self, equation: Vector) -> Vector:
        """Earlier pivots replaced in their order; a replacement brings in later ones only."""
        row = {key: value for key, value in equation.items() if self.substitutions.get(key) != {}}
        waiting = [(self._places[key], key) for key in row if key in self._places]
        heapq.heapify(waiting)
        while waiting:
            _, cell = heapq.heappop(waiting)
            factor = row.pop(cell, 0)
            if not factor:
                continue
            step = self.substitutions[cell]
            for key in step:
                if key in self._places and key not in row:
                    heapq.heappush(waiting, (self._places[key], key))
            _add(row, step, factor)
        return row


def entries(matrix: Any) -> list[Vector]:
    """The rows of a matrix of whole numbers, as Python integers."""
    rows = sparse.csr_array(whole(matrix))
    ends = rows.indptr.tolist()
    cells, values = rows.indices.tolist(), rows.data.tolist()
    return [
        dict(zip(cells[start:end], values[start:end], strict=True)) for start, end in pairwise(ends)
    ]


def _empty(system: System, rows: Sequence[Vector]) -> set[int]:
    """Cells that are publicly empty: declared so, or in a sum of counts that is nought."""
    found = set(system.forbidden)
    waiting = True
    while waiting:
        waiting = False
        for row, value in zip(rows, system.values, strict=True):
            left = {cell: factor for cell, factor in row.items() if cell not in found}
            if left and value is not None and _sums_to_nought(left.values(), value):
                found |= left.keys()
                waiting = True
    return found


def _sums_to_nought(factors: Iterable[int | Fraction], value: tuple[int, int]) -> bool:
    low, high = value
    return (high == 0 and min(factors) > 0) or (low == 0 and max(factors) < 0)


def _equations(system: System, rows: Sequence[Vector]) -> tuple[list[Vector], list[Vector]]:
    """Exact rows as `row - value = 0`: those with a given value, and those without.

    A rounded row is no equation. Given values come first, so that a value that follows from them
    is never asked for; the reversed order keeps the substitutions of margins short.
    """
    known: list[Vector] = []
    unknown: list[Vector] = []
    for place in reversed(range(len(rows))):
        value = system.values[place]
        if value is None:
            unknown.append(rows[place] | {-2 - place: -1})
        elif value[0] == value[1]:
            known.append(rows[place] | ({CONSTANT: -value[0]} if value[0] else {}))
    known.sort(key=len)
    unknown.sort(key=len)
    return known, unknown


def _add(total: Vector, step: Mapping[int, int | Fraction], factor: int | Fraction) -> None:
    for key, value in step.items():
        new = total.get(key, 0) + factor * value
        if new:
            total[key] = new
        else:
            total.pop(key, None)


def _cells(row: Mapping[int, int | Fraction]) -> Vector:
    return {key: value for key, value in row.items() if key >= 0}


def _divide(above: int | Fraction, below: int | Fraction) -> int | Fraction:
    found = Fraction(above) / below
    return found.numerator if found.denominator == 1 else found


@dataclass(frozen=True, eq=False)
class Combinations:
    """Which rows are kept, and every row as a whole-number combination of the kept ones.

    `matrix` is rows by kept. `whole` says that the kept rows take every whole vector: they are
    coordinates of the lattice that all rows span together.
    """

    kept: tuple[int, ...]
    matrix: Any
    whole: bool = False


def classes(rows: Sequence[Vector]) -> Combinations:
    """One row for each class of rows that agree up to their sign; empty rows need none."""
    first: dict[frozenset[tuple[int, int | Fraction]], tuple[int, int]] = {}
    found: list[tuple[int, int, int]] = []
    kept: list[int] = []
    for place, row in enumerate(rows):
        if not row:
            continue
        sign = 1 if row[min(row)] > 0 else -1
        key = frozenset((cell, sign * value) for cell, value in row.items())
        if key not in first:
            first[key] = len(kept), sign
            kept.append(place)
        column, its = first[key]
        found.append((place, column, sign * its))
    return Combinations(tuple(kept), _matrix(found, (len(rows), len(kept))))


def basis(rows: Sequence[Vector]) -> Combinations | None:
    """Rows from which all others follow by whole-number combinations; None if it takes too much.

    Short rows first. A row is a pivot if what is left of it has a coefficient of 1 or -1; one
    that has none is kept, and nothing is derived from it.
    """
    pivots: dict[int, tuple[int, Vector, Vector]] = {}
    combined: dict[int, Vector] = {}
    kept: list[int] = []
    loose = False
    steps = 0
    for place in sorted(range(len(rows)), key=lambda place: (len(rows[place]), place)):
        left, combination, cost = _eliminate(rows[place], pivots)
        steps += cost
        if steps > STEPS:
            return None
        if left:
            kept.append(place)
            combined[place] = {place: 1}
            pivot = _unit(left, pivots)
            loose |= pivot is None or any(Fraction(x).denominator != 1 for x in left.values())
            if pivot is not None:
                _add(combination, {place: 1}, -1)
                sign = int(left[pivot])
                step = {cell: sign * value for cell, value in left.items()}
                made = {key: -sign * value for key, value in combination.items()}
                pivots[pivot] = len(pivots), step, made
        elif not all(-LARGEST < value < LARGEST for value in combination.values()):
            return None
        else:
            combined[place] = combination
    kept.sort()
    column = {place: number for number, place in enumerate(kept)}
    found = [
        (place, column[key], int(value))
        for place, combination in combined.items()
        for key, value in combination.items()
    ]
    return Combinations(tuple(kept), _matrix(found, (len(rows), len(kept))), not loose)


def _unit(left: Vector, pivots: Mapping[int, object]) -> int | None:
    """The first cell with coefficient 1 or -1; none if an earlier pivot could not be cleared."""
    if not left.keys().isdisjoint(pivots):
        return None
    return min((cell for cell, value in left.items() if abs(value) == 1), default=None)


def _eliminate(
    row: Vector, pivots: Mapping[int, tuple[int, Vector, Vector]]
) -> tuple[Vector, Vector, int]:
    """What is left of a row, the combination of rows that was taken off, and the work."""
    left, combination, cost = dict(row), Vector(), len(row)
    waiting = [(pivots[cell][0], cell) for cell in left if cell in pivots]
    heapq.heapify(waiting)
    while waiting:
        _, cell = heapq.heappop(waiting)
        factor = left.get(cell, 0)
        if not factor or Fraction(factor).denominator != 1:
            continue
        _, step, made = pivots[cell]
        for other in step:
            if other in pivots and other not in left:
                heapq.heappush(waiting, (pivots[other][0], other))
        _add(left, step, -factor)
        _add(combination, made, factor)
        cost += len(step) + len(made)
    return left, combination, cost


def _matrix(found: Sequence[tuple[int, int, int]], shape: tuple[int, int]) -> Any:
    table = np.array(found, np.int64).reshape(-1, 3)
    return whole(sparse.coo_array((table[:, 2], (table[:, 0], table[:, 1])), shape=shape))
