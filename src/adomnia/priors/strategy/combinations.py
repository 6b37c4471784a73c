"""Rows through other rows, in whole numbers: one of each class, or a basis (`strategy.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from adomnia.priors.solver.lattice.echelon import Echelon, Vector, cells_of
from adomnia.priors.solver.system import whole

__all__ = ["Combinations", "basis", "classes"]

STEPS = 5_000_000
LARGEST = 1 << 31


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
    echelon = Echelon(whole=True)
    combined: list[tuple[int, Vector]] = []
    kept: list[int] = []
    is_whole = True
    for place in sorted(range(len(rows)), key=lambda place: (len(rows[place]), place)):
        left, pivot = echelon.add({**rows[place], -1 - place: -1})
        if echelon.work > STEPS:
            return None
        cells = cells_of(left)
        if cells:
            kept.append(place)
            combined.append((place, {place: 1}))
            is_whole &= pivot is not None
            is_whole &= all(Fraction(value).denominator == 1 for value in cells.values())
        else:
            combination = {-1 - key: value for key, value in left.items() if key != -1 - place}
            if not all(-LARGEST < value < LARGEST for value in combination.values()):
                return None
            combined.append((place, combination))
    kept.sort()
    column = {place: number for number, place in enumerate(kept)}
    entries = [
        (place, column[key], int(value))
        for place, combination in combined
        for key, value in combination.items()
    ]
    return Combinations(tuple(kept), _matrix(entries, (len(rows), len(kept))), is_whole)


def _matrix(found: Sequence[tuple[int, int, int]], shape: tuple[int, int]) -> Any:
    table = np.array(found, np.int64).reshape(-1, 3)
    return whole(sparse.coo_array((table[:, 2], (table[:, 0], table[:, 1])), shape=shape))
