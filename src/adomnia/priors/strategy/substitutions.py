"""What follows from the released rows, in exact numbers (`strategy.md`).

Elimination turns A t = b into substitutions: some cells are written in terms of the others, the
free ones. A row over the cells becomes a row over the free cells plus what is public; two rows
with the same remainder differ by a public number in every table that agrees with b.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adomnia.priors.solver.lattice.echelon import Echelon, cells_of
from adomnia.priors.solver.system import Row, System, sparse_rows

__all__ = ["CONSTANT", "substitutions"]

CONSTANT = -1
"""The key of the constant; -2 - u is that of row u's value, where it is not given."""


def substitutions(system: System) -> Echelon:
    """The released rows as substitutions: cell -> free cells, the constant, values not given."""
    rows = sparse_rows(system.matrix)
    equations = _equations(system, rows)
    echelon = Echelon(_empty(system, rows))
    for equation in equations:
        left, _ = echelon.add(equation)
        if set(left) == {CONSTANT}:
            raise ValueError("the released values contradict each other")
    echelon.close()
    if any(cells_of(echelon.reduce(equation)) for equation in equations):
        raise ArithmeticError("the elimination does not solve its own system")
    return echelon


def _empty(system: System, rows: Sequence[Row]) -> set[int]:
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


def _sums_to_nought(factors: Iterable[int], value: tuple[int, int]) -> bool:
    low, high = value
    return (high == 0 and min(factors) > 0) or (low == 0 and max(factors) < 0)


def _equations(system: System, rows: Sequence[Row]) -> list[Row]:
    """Exact rows as `row - value = 0`: those with a given value, then those without.

    A rounded row is no equation. Given values come first, so that a value that follows from them
    is never asked for; the reversed order keeps the substitutions of margins short.
    """
    known: list[Row] = []
    unknown: list[Row] = []
    for place in reversed(system.exact):
        value = system.values[place]
        if value is None:
            unknown.append(rows[place] | {-2 - place: -1})
        else:
            known.append(rows[place] | ({CONSTANT: -value[0]} if value[0] else {}))
    return sorted(known, key=len) + sorted(unknown, key=len)
