"""What is left of a question beside what is public (`reduction.md`).

Outputs that the released rows determine change nowhere, and go. Released rows are taken off the
others where that makes them shorter: on every change that no row sees both say the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adomnia.priors.solver.lattice.vanishing import vanishing
from adomnia.priors.solver.system import System, whole

__all__ = ["unknown_part"]

ROUNDS = 50


def unknown_part(system: System, asked: Any, exact: list[int]) -> Any:
    """The question without what the exact rows determine; its value on every move is the same."""
    question = sparse.csr_array(asked)
    several = np.flatnonzero(np.diff(question.indptr) > 1)  # single cells show by themselves
    if not exact or not len(several):
        return asked
    released = sparse.csr_array(system.matrix)[exact]
    gone = several[vanishing(released, question[several])]
    rest = np.setdiff1d(several, gone)
    kept = np.setdiff1d(np.arange(question.shape[0]), several)
    return whole(sparse.vstack([question[kept], _shorter(question[rest], released)]))


def _shorter(question: Any, released: Any) -> Any:
    """Sums of cells less released sums of cells, while that leaves fewer cells."""
    row = np.repeat(np.arange(released.shape[0]), np.diff(released.indptr))
    sums = released[np.setdiff1d(row, row[released.data != 1])]
    sizes = np.diff(sums.indptr)
    for _ in range(ROUNDS):
        common = sparse.coo_array(question @ sums.T)
        worth = 2 * common.data - sizes[common.coords[1]]
        good = np.flatnonzero(worth > 0)
        good = good[np.lexsort((common.coords[1][good], -worth[good], common.coords[0][good]))]
        rows, first = np.unique(common.coords[0][good], return_index=True)
        less = sparse.csr_array(question[rows] - sums[common.coords[1][good[first]]])
        better = _length(less) < _length(question[rows])
        if not better.any():
            break
        places = np.arange(question.shape[0])
        places[rows[better]] = question.shape[0] + np.arange(int(better.sum()))
        question = sparse.vstack([question, less[better]], format="csr")[places]
    return question


def _length(rows: Any) -> Any:
    return np.asarray(abs(rows).sum(axis=1)).reshape(-1)
