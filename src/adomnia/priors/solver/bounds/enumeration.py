"""Where few tables agree with the numbers: all of them, all moves, and which moves can happen.

The Graver moves that some table allows are the differences of induced neighbours
(`prior_knowledge.md`, claim 1), so the largest of them is the sensitivity itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice import graver
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.fibre import tables

__all__ = ["enumerated_bound"]

CELLS, TABLES, MOVES, LARGEST = 40, 20_000, 20_000, 1 << 20


def enumerated_bound(system: System, asked: Any, norm: Norm, effort: Effort) -> Bound | None:
    """The exact value, where all rows are exact, all values known, and both lists are short."""
    if system.cells > CELLS or any(v is None or v[0] != v[1] for v in system.values):
        return None
    live = [cell for cell in range(system.cells) if cell not in system.forbidden]
    question = asked.toarray()[:, live]
    if int(np.abs(question).max(initial=0)) > LARGEST:
        return None
    try:
        fibre = tables(system, TABLES, effort.part(2))[:, live]
        moves = graver.basis(system.matrix.toarray()[:, live], MOVES, effort)
    except (TooLarge, OverflowError):
        return None
    changed = moves.astype(object) @ question.T.astype(object)
    sizes = [sum(abs(int(x)) ** norm for x in row) for row in changed]
    say = f"{len(fibre)} tables agree with the numbers: all moves between them"
    for place in sorted(range(len(moves)), key=lambda i: -sizes[i]):
        if sizes[place] and _is_allowed(moves[place], fibre):
            witness = {live[i]: int(x) for i, x in enumerate(moves[place]) if x}
            return Bound(Fraction(sizes[place]), Fraction(sizes[place]), say, witness)
    return Bound(Fraction(0), Fraction(0), "determined by what is public")


def _is_allowed(move: NDArray[np.int64], fibre: NDArray[np.int64]) -> bool:
    """Whether some table has the rows that the move takes away, one way or the other."""
    return bool((fibre >= np.maximum(-move, 0)).all(axis=1).any())
