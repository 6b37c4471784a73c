"""The best guess from noisy tables: the whole table closest to them (`noisy_tables.md`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from adomnia.audit.finding import Finding, Rate, wilson
from adomnia.audit.reconstruction.microdata import PAPER, REMEDY, SHOWN, shown
from adomnia.audit.reconstruction.published_statistics import CellLayout
from adomnia.errors import QuestionError

__all__ = ["NoisyMarginal", "best_guess"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """A marginal released with noise: its attributes, its numbers, and the scale of the noise.

    >>> import numpy as np
    >>> NoisyMarginal(("sex",), np.array([3.2, 0.9])).scale
    1.0
    """

    names: tuple[str, ...]
    counts: NDArray[Any]
    scale: float = 1.0


def best_guess(
    cells: CellLayout,
    released: Sequence[NoisyMarginal],
    time_limit: float = 60.0,
    truth: Integers | None = None,
) -> Finding:
    """The whole table closest to noisy marginals: least sum of absolute errors, each in its scale.

    With Laplace noise that is the most likely table. The success is the share of the true records
    that are in the guess; it is unknown without a truth, which only scores. Raises a QuestionError
    where nothing was released, or a table has another shape.

    >>> cells = CellLayout({"sex": ("F", "M")})
    >>> released = [NoisyMarginal(("sex",), np.array([3.2, 0.9]))]
    >>> best_guess(cells, released, truth=np.array([3, 1])).success.value
    1.0
    """
    start = time.monotonic()
    rows, values, weights = _measured(cells, released)
    guess, bound = _closest(rows, values, weights, time_limit)
    late = time.monotonic() - start >= time_limit
    distance = float(weights @ np.abs(rows @ guess - values))
    details: dict[str, Any] = {
        "cells": cells.many,
        "people": int(guess.sum()),
        "distance": distance,
        "bound": bound,
        "guess": [shown(cells, int(c), int(guess[c])) for c in np.flatnonzero(guess)][:SHOWN],
        "scored": truth is not None,
    }
    success, base = Rate(0.0, 0.0, 1.0), 0.0
    if truth is not None:
        success, base = _hits(guess, truth), _spread(truth)
        details["one_way_baseline"] = _independent(cells, truth)
    said = "not scored" if truth is None else f"{success.value:.1%} of the true records are in it"
    return Finding(
        attack="microdata from noise",
        claim=f"The table closest to {len(released)} noisy marginals: {said}.",
        affected="the people of the tables",
        success=success,
        baseline=base,
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=not late,
    )


def _measured(cells: CellLayout, released: Sequence[NoisyMarginal]) -> tuple[Any, Floats, Floats]:
    """A row for each published number, the numbers, and the weight of each."""
    numbered = np.arange(cells.many).reshape(cells.shape)
    order = list(cells.values)
    parts, values, weights = [], [], []
    for table in released:
        axes = [order.index(name) for name in table.names]
        rest = [axis for axis in range(len(order)) if axis not in axes]
        counts = np.asarray(table.counts, float)
        if counts.shape != tuple(cells.shape[axis] for axis in axes):
            raise QuestionError(f"the table {' × '.join(table.names)} has another shape")
        members = numbered.transpose(axes + rest).reshape(max(counts.size, 1), -1)
        row = np.repeat(np.arange(len(members)), members.shape[1])
        shape = (len(members), cells.many)
        parts.append(sparse.csr_array((np.ones(row.size), (row, members.reshape(-1))), shape))
        values.append(counts.reshape(-1))
        weights.append(np.full(counts.size, 1 / table.scale))
    if not parts:
        raise QuestionError("nothing was released", "give at least one table")
    return sparse.csr_array(sparse.vstack(parts)), np.concatenate(values), np.concatenate(weights)


def _closest(rows: Any, values: Floats, weights: Floats, seconds: float) -> tuple[Integers, float]:
    """A table of whole numbers, and a bound below which the solver saw no fractional one."""
    many, cells = rows.shape
    unit = sparse.identity(many, format="csr")
    both = sparse.csr_array(
        sparse.vstack([sparse.hstack([rows, -unit]), sparse.hstack([-rows, -unit])])
    )
    limits = np.concatenate([values, -values])
    cost = np.concatenate([np.zeros(cells), weights])
    relaxed = linprog(cost, A_ub=both, b_ub=limits, options={"time_limit": seconds / 2})
    candidates = [np.zeros(cells, np.int64)]
    if relaxed.x is not None:
        candidates.append(_whole(relaxed.x[:cells]))
    better = milp(
        cost,
        constraints=LinearConstraint(both, -np.inf, limits),
        bounds=Bounds(0, np.inf),
        integrality=np.concatenate([np.ones(cells), np.zeros(many)]),
        options={"time_limit": seconds / 2},
    )
    if better.x is not None:
        candidates.append(_whole(better.x[:cells]))
    guess = min(candidates, key=lambda found: float(weights @ np.abs(rows @ found - values)))
    return guess, 0.0 if relaxed.x is None else float(relaxed.fun)


def _whole(point: Floats) -> Integers:
    found: Integers = np.rint(np.maximum(point, 0)).astype(np.int64)
    return found


def _hits(guess: Integers, truth: Integers) -> Rate:
    people = int(truth.sum())
    hits = int(np.minimum(guess, truth).sum())
    return wilson(hits / people if people else 0.0, people)


def _spread(truth: Integers) -> float:
    """What somebody hits who spreads the people evenly over the cells."""
    people = int(truth.sum())
    even = people / truth.size
    return float(np.minimum(even, truth).sum() / people) if people else 0.0


def _independent(cells: CellLayout, truth: Integers) -> float:
    """What somebody hits who knows the true one-way counts and takes them as independent."""
    people = int(truth.sum())
    table = truth.reshape(cells.shape)
    product = np.ones(cells.shape) * people
    for axis in range(table.ndim):
        others = tuple(other for other in range(table.ndim) if other != axis)
        product *= table.sum(axis=others, keepdims=True) / max(people, 1)
    return float(np.minimum(product, table).sum() / max(people, 1))
