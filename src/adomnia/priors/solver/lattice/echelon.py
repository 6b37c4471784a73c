"""Exact elimination in fractions: equations solved one after the other, each for one cell.

Keys from 0 on are cells. Keys below 0 are what is not solved for: a constant, or numbers that are
known to somebody else; they are carried along.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from fractions import Fraction

__all__ = ["Echelon", "Vector", "cells_of"]

Vector = dict[int, int | Fraction]
"""Coefficients by key."""


class Echelon:
    """Substitutions: a cell -> what it equals, in cells that were not solved for, and other keys.

    The cells that are `nothing` equal zero. A `whole` one solves for cells with coefficient 1 or
    -1 alone and takes off whole multiples alone, so that whole rows stay whole combinations.
    """

    def __init__(self, nothing: Iterable[int] = (), whole: bool = False) -> None:
        self.substitutions: dict[int, Vector] = {cell: {} for cell in nothing}
        self.work = 0
        self._whole = whole
        self._order: dict[int, int] = {}

    def add(self, equation: Mapping[int, int | Fraction]) -> tuple[Vector, int | None]:
        """One more equation `row = 0`: what was left of it, and the cell that it was solved for."""
        left = self._forward(equation)
        pivot = self._pivot(left)
        if pivot is not None:
            factor = left[pivot]
            self._order[pivot] = len(self._order)
            self.substitutions[pivot] = {
                key: _quotient(-value, factor) for key, value in left.items() if key != pivot
            }
        return left, pivot

    def close(self) -> None:
        """Substitutions name no solved cell any more: `reduce` is then done in one pass."""
        for cell in reversed(self._order):
            self.substitutions[cell] = self.reduce(self.substitutions[cell])

    def reduce(self, row: Mapping[int, int | Fraction]) -> Vector:
        """The same row, once closed, written on cells that were not solved for."""
        found: Vector = {}
        for key, factor in row.items():
            step = self.substitutions.get(key)
            _add(found, {key: 1} if step is None else step, factor)
        return found

    def _pivot(self, left: Vector) -> int | None:
        """The first cell with coefficient 1 or -1, else the first; none where that is not whole."""
        cells = cells_of(left)
        if not cells or (self._whole and not cells.keys().isdisjoint(self._order)):
            return None
        pivot = min(cells, key=lambda cell: (abs(cells[cell]) != 1, cell))
        return None if self._whole and abs(cells[pivot]) != 1 else pivot

    def _forward(self, equation: Mapping[int, int | Fraction]) -> Vector:
        """Earlier pivots replaced in their order; a replacement brings in later ones only."""
        row = {key: value for key, value in equation.items() if self.substitutions.get(key) != {}}
        self.work += len(row)
        waiting = [(self._order[key], key) for key in row if key in self._order]
        heapq.heapify(waiting)
        while waiting:
            _, cell = heapq.heappop(waiting)
            factor = row.get(cell, 0)
            if not factor or (self._whole and Fraction(factor).denominator != 1):
                continue
            del row[cell]
            step = self.substitutions[cell]
            for key in step:
                if key in self._order and key not in row:
                    heapq.heappush(waiting, (self._order[key], key))
            _add(row, step, factor)
            self.work += 1 + len(step)
        return row


def cells_of(row: Mapping[int, int | Fraction]) -> Vector:
    """The part of a row that is about cells."""
    return {key: value for key, value in row.items() if key >= 0}


def _add(total: Vector, step: Mapping[int, int | Fraction], factor: int | Fraction) -> None:
    for key, value in step.items():
        new = total.get(key, 0) + factor * value
        if new:
            total[key] = new
        else:
            total.pop(key, None)


def _quotient(above: int | Fraction, below: int | Fraction) -> int | Fraction:
    found = Fraction(above) / below
    return found.numerator if found.denominator == 1 else found
