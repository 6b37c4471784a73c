"""Witnesses: is a change of the cells a minimal difference? Checked from the released rows alone.

Nothing of the solver is used here: a lower bound counts only if this check agrees.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

__all__ = ["is_minimal_difference"]

WAYS = 200_000
DENSE = 80
Row = dict[int, int]


def is_minimal_difference(matrix: Any, witness: Mapping[int, int]) -> bool:
    """Whether no row sees the change, and no smaller part of it goes unseen by all rows.

    False also where the second is too long to find out.
    """
    if not any(witness.values()):
        return False
    rows = _rows(matrix, witness)
    if any(sum(row.values()) for row in rows):
        return False
    left, shares = _peeled(rows, witness)
    if len(shares) == 1:
        return max(shares.values()) == 1
    return len(shares) <= DENSE and _has_no_part(left, shares)


def _rows(matrix: Any, witness: Mapping[int, int]) -> list[Row]:
    """The rows on the cells of the witness, each entry times what the cell moves by.

    In these terms the witness is 1 everywhere, and a part of it lies between 0 and 1.
    """
    rows: dict[int, Row] = {}
    for cell, units in witness.items():
        where = slice(matrix.indptr[cell], matrix.indptr[cell + 1])
        entries = zip(matrix.indices[where].tolist(), matrix.data[where].tolist(), strict=True)
        for row, factor in entries:
            rows.setdefault(row, {})[cell] = factor * units
    unique = {tuple(sorted(row.items())): row for row in rows.values()}
    return list(unique.values())


def _peeled(rows: list[Row], witness: Mapping[int, int]) -> tuple[list[Row], dict[int, int]]:
    """Cells in classes that have equal shares in every unseen change, by rows of two classes.

    The rows that are left, on one cell of each class, and for it into how many equal shares the
    moves of all its cells can be cut.
    """
    parent = {cell: cell for cell in witness}

    def top(cell: int) -> int:
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    waiting, changed = rows, True
    while changed:
        changed = False
        later = []
        for row in waiting:
            merged: Row = {}
            for cell, factor in row.items():
                merged[top(cell)] = merged.get(top(cell), 0) + factor
            merged = {cell: factor for cell, factor in merged.items() if factor}
            if len(merged) == 2:  # every row sums to zero, so the two shares are equal
                first, second = merged
                parent[first] = second
                changed = True
            elif merged:
                later.append(merged)
        waiting = later
    shares: dict[int, int] = {}
    for cell, units in witness.items():
        shares[top(cell)] = math.gcd(shares.get(top(cell), 0), units)
    return waiting, shares


def _has_no_part(rows: list[Row], shares: Mapping[int, int]) -> bool:
    """Tries all shares of the classes that determine the others."""
    through, free = _solved(rows, sorted(shares, key=lambda cell: (-shares[cell], cell)))
    if math.prod(shares[cell] + 1 for cell in free) > WAYS:
        return False
    for units in itertools.product(*(range(shares[cell] + 1) for cell in free)):
        tried = [Fraction(u, shares[cell]) for u, cell in zip(units, free, strict=True)]
        if set(tried) in ({Fraction(0)}, {Fraction(1)}):
            continue
        if all(_fits(factors, tried, shares[cell]) for cell, factors in through.items()):
            return False
    return True


def _fits(factors: list[Fraction], tried: list[Fraction], shares: int) -> bool:
    """Whether a class gets one of its shares."""
    share = sum((f * s for f, s in zip(factors, tried, strict=True) if s), Fraction(0))
    return 0 <= share <= 1 and (share * shares).denominator == 1


def _solved(rows: list[Row], cells: list[int]) -> tuple[dict[int, list[Fraction]], list[int]]:
    """Cells written through free cells, by elimination in fractions."""
    reduced: dict[int, dict[int, Fraction]] = {}
    for row in rows:
        now = {cell: Fraction(factor) for cell, factor in row.items()}
        for pivot, known in reduced.items():
            if pivot in now:
                now = _minus(now, known, now[pivot])
        if not now:
            continue
        pivot = min(now, key=cells.index)
        now = {cell: factor / now[pivot] for cell, factor in now.items()}
        for other, known in reduced.items():
            if pivot in known:
                reduced[other] = _minus(known, now, known[pivot])
        reduced[pivot] = now
    free = [cell for cell in cells if cell not in reduced]
    through = {p: [-known.get(cell, Fraction(0)) for cell in free] for p, known in reduced.items()}
    return through, free


def _minus(
    left: dict[int, Fraction], right: dict[int, Fraction], times: Fraction
) -> dict[int, Fraction]:
    total = dict(left)
    for cell, factor in right.items():
        total[cell] = total.get(cell, Fraction(0)) - times * factor
        if not total[cell]:
            del total[cell]
    return total
