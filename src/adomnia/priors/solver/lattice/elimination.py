"""Exact elimination in whole numbers: every whole solution of rows, cell by cell (`kernel.md`)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.priors.solver.system import Row, sparse_rows

__all__ = ["Elimination", "eliminate", "written_through"]


@dataclass(frozen=True)
class Elimination:
    """All whole solutions of rows: `steps` write cells through others, `free` cells are left.

    A step (cell, row, rest) means: the cell equals the rest plus the row's sum, where the row may
    hold the cell itself (as a new unknown that took its place). Read backwards, the steps give a
    solution for every whole value of the free cells. With a `fault` there are none: "sums" where
    not even fractions satisfy the rows, "divisor" where fractions might.
    """

    steps: tuple[tuple[int, Row, int], ...]
    free: tuple[int, ...]
    cells: int
    fault: str = ""

    @property
    def solvable(self) -> bool:
        """Whether there is a whole solution."""
        return not self.fault

    def solution(self) -> list[int]:
        """The solution whose free cells are all zero."""
        found = [0] * self.cells
        for cell, row, rest in reversed(self.steps):
            found[cell] = rest + sum(factor * found[other] for other, factor in row.items())
        return found

    def through(self, cells: Iterable[int]) -> dict[int, Row]:
        """These cells, and what they need on the way, written through free cells."""
        needed, used = set(cells), []
        for cell, row, _ in self.steps:
            if cell in needed:
                needed.update(row)
                used.append((cell, row))
        through: dict[int, Row] = {cell: {cell: 1} for cell in self.free if cell in needed}
        for cell, row in reversed(used):
            through[cell] = written_through(row, through)
        return through


def written_through(row: Row, through: dict[int, Row]) -> Row:
    """The row, with every cell written through free cells."""
    total: Row = {}
    for cell, factor in row.items():
        for free, times in through[cell].items():
            total[free] = total.get(free, 0) + factor * times
    return {free: times for free, times in total.items() if times}


def eliminate(matrix: Any, values: Sequence[int] | None = None) -> Elimination:
    """The whole solutions of A x = values (0 if left out), in Python integers throughout."""
    return _ShrinkingRows(matrix, values).run()


class _ShrinkingRows:
    """Rows that shrink: sparse, the shortest first, a unit taken as pivot where there is one."""

    def __init__(self, matrix: Any, values: Sequence[int] | None) -> None:
        self.rows, self.cells = sparse_rows(matrix), int(matrix.shape[1])
        self.rests = [0] * len(self.rows) if values is None else [int(v) for v in values]
        self.columns: list[set[int]] = [set() for _ in range(self.cells)]
        for number, row in enumerate(self.rows):
            for cell in row:
                self.columns[cell].add(number)
        self.steps: list[tuple[int, Row, int]] = []

    def run(self) -> Elimination:
        heap = [(len(row), number) for number, row in enumerate(self.rows)]
        heapq.heapify(heap)
        gone: set[int] = set()
        while heap:
            length, number = heapq.heappop(heap)
            row = self.rows[number]
            if length != len(row):  # a stale entry: the row has changed since
                continue
            if not row:
                if self.rests[number]:
                    return Elimination((), (), self.cells, "sums")
                continue
            if not self._divide(number):
                return Elimination((), (), self.cells, "divisor")
            units = [cell for cell, factor in row.items() if abs(factor) == 1]
            if units:
                cell = min(units, key=lambda c: (len(self.columns[c]), c))
                touched = self._pivot(number, cell)
                gone.add(cell)
            else:
                touched = self._shrink(number)
            for other in touched:
                heapq.heappush(heap, (len(self.rows[other]), other))
        free = tuple(cell for cell in range(self.cells) if cell not in gone)
        return Elimination(tuple(self.steps), free, self.cells)

    def _divide(self, number: int) -> bool:
        """Takes the common divisor out of a row; false if its value does not have it."""
        row = self.rows[number]
        common = math.gcd(*row.values())
        if self.rests[number] % common:
            return False
        if common > 1:
            self.rests[number] //= common
            for cell in row:
                row[cell] //= common
        return True

    def _pivot(self, number: int, cell: int) -> set[int]:
        """Writes the cell, which has the factor 1 or -1, through the rest of its row."""
        row = self.rows[number]
        sign = row.pop(cell)
        rest = sign * self.rests[number]
        through = {other: -sign * factor for other, factor in row.items()}
        for other in row:
            self.columns[other].discard(number)
        self.columns[cell].discard(number)
        self.rows[number], self.rests[number] = {}, 0
        self.steps.append((cell, through, rest))
        return self._substitute(cell, through, rest)

    def _shrink(self, number: int) -> set[int]:
        """One step of Euclid in a row without units: a new unknown takes the least one's place."""
        row = self.rows[number]
        cell = min(row, key=lambda c: (abs(row[c]), len(self.columns[c]), c))
        least = row[cell]
        through = {c: -_nearest(factor, least) for c, factor in row.items() if c != cell}
        through = {other: factor for other, factor in through.items() if factor}
        through[cell] = 1
        self.steps.append((cell, through, 0))
        return self._substitute(cell, through, 0) | {number}

    def _substitute(self, cell: int, through: Row, rest: int) -> set[int]:
        """Puts rest + through in the cell's place in every row that holds it."""
        touched = set(self.columns[cell])
        self.columns[cell] = set()
        for number in touched:
            row = self.rows[number]
            times = row.pop(cell)
            self.rests[number] -= times * rest
            for other, factor in through.items():
                total = row.get(other, 0) + times * factor
                if total:
                    row[other] = total
                    self.columns[other].add(number)
                else:
                    del row[other]
                    self.columns[other].discard(number)
        return touched


def _nearest(above: int, below: int) -> int:
    """The whole number nearest to the quotient."""
    return (2 * above + below) // (2 * below)
