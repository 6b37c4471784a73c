"""Circuits: minimal changes with the smallest supports, searched for a lower bound.

Each basis of the columns gives one circuit for each column outside it; exchanging columns leads
from basis to basis. Floats propose, and whole numbers decide: a circuit counts only if the rows
do not see it, and it is checked again as a witness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Norm
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.reduction.element import Element, Vector, evaluate
from adomnia.priors.solver.reduction.series_parallel import dense

__all__ = ["long_circuit"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
STEPS = 4000
WORK = 200_000_000
REFRESH = 40
CALLED = 50_000
"""Steps that an exchange is counted as, however small the tableau."""
WIDEST, SEEDS = 150, 25
LARGEST = 24
"""Circuits are found up to this least entry of a column outside the basis."""
TINY = 1e-7


def long_circuit(
    members: Sequence[Element], norm: Norm, target: int, effort: Effort
) -> tuple[int, Vector | None]:
    """A circuit that moves the question far, its value and its cells; stops at the target."""
    members = _subtable(members)  # circuits of some columns are circuits of all
    matrix = dense(members)
    walk = _Exchange(matrix.astype(float), _effects(members), norm)
    best: tuple[int, Vector | None] = (0, None)
    if walk.rank == matrix.shape[1]:
        return best
    each = walk.tableau.size * (LARGEST + walk.effects.shape[1] // 4)
    for step in range(min(STEPS, WORK // each)):
        if best[0] >= target or effort.is_spent:
            break
        effort.spend(CALLED + each)
        value, circuit = walk.step(step)
        if value > best[0] and not (matrix @ circuit).any():
            moves = [(int(circuit[e]), members[e]) for e in np.flatnonzero(circuit).tolist()]
            best = max(best, evaluate(moves, norm), key=lambda found: found[0])
    return best


def _subtable(members: Sequence[Element]) -> Sequence[Element]:
    """All elements, or, where there are many, all that lie in some rows only."""
    if len(members) <= WIDEST:
        return members
    touched: set[int] = set()
    found: list[Element] = []
    for seed in np.random.default_rng(len(members)).permutation(len(members))[:SEEDS].tolist():
        touched |= members[seed].column.keys()
        inside = [one for one in members if one.column.keys() <= touched]
        if len(inside) > WIDEST and found:
            break
        found = inside[:WIDEST]
    return found


def _effects(members: Sequence[Element]) -> Floats:
    outputs = sorted({output for one in members for output in one.choices[0].effect})
    places = {output: place for place, output in enumerate(outputs)}
    matrix = np.zeros((len(members), len(outputs)))
    for row, one in enumerate(members):
        for output, x in one.choices[0].effect.items():
            matrix[row, places[output]] = x
    return matrix


class _Exchange:
    """A basis of the columns, and the others written through it, annealed by exchanges."""

    def __init__(self, matrix: Floats, effects: Floats, norm: Norm) -> None:
        self.matrix, self.effects, self.norm = matrix, effects, norm
        self.chance = np.random.default_rng(matrix.size)
        self._start(self.chance.permutation(matrix.shape[1]))
        self.value, self.circuit = self._best(self.tableau, self.inside, self.outside)

    @property
    def rank(self) -> int:
        return len(self.inside)

    def _start(self, order: NDArray[np.intp]) -> None:
        """The first independent columns in this order, by elimination."""
        work = self.matrix[:, order].copy()
        pivots: list[int] = []
        for column in range(work.shape[1]):
            rank = len(pivots)
            if rank == work.shape[0]:
                break
            row = rank + int(np.abs(work[rank:, column]).argmax())
            if abs(work[row, column]) < TINY:
                continue
            work[[rank, row]] = work[[row, rank]]
            work[rank] /= work[rank, column]
            others = np.arange(work.shape[0]) != rank
            work[others] -= np.outer(work[others, column], work[rank])
            pivots.append(column)
        rest = np.setdiff1d(np.arange(work.shape[1]), pivots)
        self.inside, self.outside = order[pivots], order[rest]
        self.tableau = work[: len(pivots), rest]

    def step(self, number: int) -> tuple[int, Integers]:
        """One exchange, kept if circuits get longer, or by chance; the longest circuit after it."""
        if number % REFRESH == REFRESH - 1:
            self._start(np.concatenate([self.inside, self.outside]))
        rows, columns = np.nonzero(np.abs(self.tableau) > TINY)
        pick = int(self.chance.integers(len(rows)))
        tableau, inside, outside = self._exchanged(int(rows[pick]), int(columns[pick]))
        value, circuit = self._best(tableau, inside, outside)
        heat = 0.1 * self.value * (1 - number / STEPS) + 0.1
        if value >= self.value or self.chance.random() < np.exp((value - self.value) / heat):
            self.tableau, self.inside, self.outside = tableau, inside, outside
            self.value, self.circuit = value, circuit
        return value, circuit

    def _exchanged(self, row: int, column: int) -> tuple[Floats, Integers, Integers]:
        inside, outside = self.inside.copy(), self.outside.copy()
        inside[row], outside[column] = outside[column], inside[row]
        pivot = self.tableau[row, column]
        new: Floats = self.tableau - np.outer(self.tableau[:, column], self.tableau[row] / pivot)
        new[row] = self.tableau[row] / pivot
        new[:, column] = -self.tableau[:, column] / pivot
        new[row, column] = 1 / pivot
        return new, inside, outside

    def _best(self, tableau: Floats, inside: Integers, outside: Integers) -> tuple[int, Integers]:
        """The circuit of the basis that moves the question most, as whole numbers."""
        scales = np.zeros(len(outside))
        for scale in range(LARGEST, 0, -1):
            scaled = tableau * scale
            scales[(np.abs(scaled - np.rint(scaled)) < 1e-4).all(axis=0)] = scale
        moved = (self.effects[outside] - tableau.T @ self.effects[inside]) * scales[:, None]
        sizes = np.abs(moved).sum(axis=1) if self.norm == 1 else (moved * moved).sum(axis=1)
        sizes = np.nan_to_num(sizes, nan=0, posinf=0)
        place = int(sizes.argmax())
        circuit = np.zeros(self.matrix.shape[1], np.int64)
        circuit[outside[place]] = int(scales[place])
        circuit[inside] = -np.rint(tableau[:, place] * scales[place]).astype(np.int64)
        return round(float(sizes[place])), circuit
