"""Graver bases: the minimal whole changes that no released row sees (`graver.md`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.effort import Effort, Limit
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice import fourtitwo
from adomnia.priors.solver.lattice.kernel import kernel, series_classes
from adomnia.priors.solver.lattice.lifting import lift_all
from adomnia.priors.solver.lattice.region import box, enumerate_points
from adomnia.priors.solver.system import whole

__all__ = ["basis", "is_minimal"]

SEARCHED = 20_000_000
Integers = NDArray[np.int64]


def basis(
    matrix: Any, most: int = 60_000, effort: Effort | None = None, method: str = "own"
) -> Integers:
    """All minimal non-zero whole g with A g = 0, one of each pair g, -g, as rows.

    Raises `TooLarge` above `most` rows (on the way, too) or when the effort is spent, and
    OverflowError where 64 bits are not enough. The method "4ti2" asks that program instead, as
    a second opinion: it counts no steps, and nothing that is priced asks it.
    """
    limit = Limit(most, Effort() if effort is None else effort)
    lattice = kernel(matrix)
    if not len(lattice):
        return lattice
    if method == "4ti2":
        return _oriented(fourtitwo.graver(_dense(matrix), most))
    classes, _ = series_classes(matrix)
    heads = [members[0][0] for members in classes]
    found = lift_all(lattice[:, heads], limit)
    whole = np.zeros((len(found), lattice.shape[1]), np.int64)
    for place, members in enumerate(classes):
        for cell, sign in members:
            whole[:, cell] = sign * found[:, place]
    return _oriented(whole)


def _oriented(rows: Integers) -> Integers:
    """Each row with its first non-zero entry positive."""
    lead = (rows != 0).argmax(axis=1)
    turned: Integers = rows * np.sign(rows[np.arange(len(rows)), lead])[:, None]
    return turned


def _dense(matrix: Any) -> Integers:
    held = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    found: Integers = held.astype(np.int64)
    return found


def is_minimal(matrix: Any, g: Any, effort: Effort | None = None) -> bool | None:
    """Whether no other non-zero whole vector in the kernel lies between 0 and g.

    False also where g itself is zero or not in the kernel; None where the search ran out of steps.
    """
    g = np.asarray(g, dtype=np.int64)
    support = np.flatnonzero(g)
    inner = whole(matrix)[:, support]
    if not len(support) or (inner.toarray().astype(object) @ g[support].astype(object)).any():
        return False
    lattice = kernel(inner)
    if len(lattice) == 1:
        return bool((np.abs(lattice[0]) == np.abs(g[support])).all())
    turned = inner @ sparse.diags_array(np.sign(g[support]), dtype=np.int64)
    between = box(turned, np.zeros(inner.shape[0], np.int64), np.abs(g[support]))
    limit = Limit(SEARCHED, Effort() if effort is None else effort)
    found = 0
    try:
        for points in enumerate_points(between, limit):
            found += len(points)
            if found > 2:
                return False
    except TooLarge:
        return None
    return True
