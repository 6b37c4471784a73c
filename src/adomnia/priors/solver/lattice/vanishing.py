"""Rows that are zero on the whole kernel: what the released rows determine (`kernel.md`).

A row of whole numbers vanishes on every change that no released row sees if and only if it is a
rational combination of the released rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adomnia.priors.solver.lattice.elimination import Elimination, eliminate, written_through
from adomnia.priors.solver.system import Row, sparse_rows

__all__ = ["fixed", "vanishing"]

PRIME = (1 << 61) - 1
SPREAD = 0x9E3779B97F4A7C15
ENTRIES = 400_000


def fixed(matrix: Any) -> list[int]:
    """The cells that are zero on the whole kernel, without the kernel's basis."""
    return _vanishing(eliminate(matrix), [{cell: 1} for cell in range(matrix.shape[1])])


def vanishing(matrix: Any, asked: Any) -> list[int]:
    """The numbers of the asked rows that the rows of the matrix determine, in whole numbers.

    Rows that were released themselves are found without elimination, and only these in a matrix
    of many entries.
    """
    held, wanted = sparse_rows(matrix), sparse_rows(asked)
    released = {_up_to_factor(row) for row in held}
    same = [place for place, row in enumerate(wanted) if not row or _up_to_factor(row) in released]
    rest = sorted({*range(len(wanted))} - {*same})
    if rest and sum(map(len, held)) <= ENTRIES:
        found = _vanishing(eliminate(matrix), [wanted[place] for place in rest])
        same += [rest[place] for place in found]
    return sorted(same)


def _vanishing(found: Elimination, wanted: Sequence[Row]) -> list[int]:
    """Residues of one kernel vector show which rows may vanish; those are then worked out."""
    residues = [0] * found.cells
    for place, cell in enumerate(found.free):
        residues[cell] = pow(SPREAD, place + 1, PRIME)
    for cell, row, _ in reversed(found.steps):
        residues[cell] = sum(factor * residues[other] for other, factor in row.items()) % PRIME
    likely = [
        place
        for place, row in enumerate(wanted)
        if not sum(factor * residues[cell] for cell, factor in row.items()) % PRIME
    ]
    through = found.through(cell for place in likely for cell in wanted[place])
    return [place for place in likely if not written_through(wanted[place], through)]


def _up_to_factor(row: Row) -> frozenset[tuple[int, int]]:
    """Equal for rows that are multiples of each other by 1 or -1."""
    sign = 1 if row and row[min(row)] > 0 else -1
    return frozenset((cell, sign * factor) for cell, factor in row.items())
