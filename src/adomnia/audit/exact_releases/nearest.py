"""The table nearest to given numbers among all that give the exact answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

__all__ = ["nearest"]

Integers = NDArray[np.int64]


def nearest(
    matrix: Any, values: Integers, aim: NDArray[np.float64], closed: list[int], seconds: float
) -> Integers | None:
    """The table of counts with these values and the least sum of |count - aim|.

    Under equal Laplace noise it is the maximum likelihood. `closed` cells are empty. None where
    the time was too short; raises ValueError where there is no such table.

    A count is floor(aim) + step + up - down, with 0 <= step <= 1 and up, down >= 0: this is the
    distance between whole numbers exactly, and where the matrix is totally unimodular already the
    linear program has whole solutions. What the solver returns is checked.
    """
    cells = len(aim)
    base = np.maximum(np.floor(aim), 0)
    base[closed] = 0
    part = np.clip(aim - base, 0, 1)
    open_ = np.ones(cells)
    open_[closed] = 0
    cost = np.concatenate([1 - 2 * part, np.ones(2 * cells)])
    top = np.concatenate([open_, np.where(open_ > 0, np.inf, 0), base])
    rest = values - matrix @ base.astype(np.int64)
    found = optimize.milp(
        cost,
        integrality=np.ones(3 * cells),
        bounds=optimize.Bounds(0, top),
        constraints=optimize.LinearConstraint(
            sparse.csc_array(sparse.hstack([matrix, matrix, -matrix])), rest, rest
        ),
        options={"time_limit": max(0.01, seconds)},
    )
    if found.x is None:
        if found.status == 2:
            raise ValueError("no table of counts gives these exact answers: check their values")
        return None
    step, up, down = np.rint(found.x).astype(np.int64).reshape(3, cells)
    table: Integers = base.astype(np.int64) + step + up - down
    right = (table >= 0).all() and not table[closed].any() and (matrix @ table == values).all()
    return table if right else None
