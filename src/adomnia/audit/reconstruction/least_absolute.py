"""The linear program of reconstruction: the column between 0 and 1 closest to the answers.

Minimise ‖Ax − b‖₁ over 0 ≤ x ≤ 1 by a primal-dual interior point method on dense questions
(`least_absolute.md`). Every step carries a proof of how far it is from the best, so no status of
a solver is believed.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dtrtri

from adomnia.errors import QuestionError

__all__ = ["Closest", "least_absolute"]

Floats = NDArray[np.float64]

MOST_NUMBERS = 1 << 27
STEPS = 100
STAY_INSIDE = 0.9995
BLOCK = 1 << 22
FEW = 512
TILE = 64


@dataclass(frozen=True, eq=False)
class Closest:
    """A column, its distance ‖Ax − b‖₁, and a proven lower bound on the distance of any other.

    `finished` is False where time ended first, or where rounding errors stopped all progress.
    """

    point: Floats
    distance: float
    bound: float
    steps: int
    finished: bool


@dataclass(eq=False)
class _State:
    """x in (0, 1), y in (−1, 1); Ax + above − below = b; Aᵀy + left − right = 0; all positive."""

    x: Floats
    y: Floats
    above: Floats
    below: Floats
    left: Floats
    right: Floats

    def pairs(self) -> tuple[tuple[Floats, Floats], ...]:
        """What is complementary: the product of each pair is 0 at the best point."""
        return (
            (self.above, 1 - self.y),
            (self.below, 1 + self.y),
            (self.x, self.left),
            (1 - self.x, self.right),
        )

    def gap(self) -> float:
        """The sum of all products: distance minus bound."""
        return float(sum(first @ second for first, second in self.pairs()))


def least_absolute(
    questions: Floats, answers: Floats, time_limit: float = math.inf, tolerance: float = 1e-4
) -> Closest:
    """The column in [0, 1]ⁿ with the least sum of absolute differences from the answers.

    Stops when the distance is proven to be within `tolerance` of the best (relative, and never
    finer than the same share of one answer), or when the time is over; then it is the best so far.
    """
    if questions.size > MOST_NUMBERS:
        raise QuestionError(
            f"{len(questions)} questions about {questions.shape[1]} people are too many at once",
            f"people times questions may be at most {MOST_NUMBERS}",
        )
    end = time.monotonic() + time_limit
    state = _start(questions, answers)
    for step in range(STEPS):
        found = _certified(questions, answers, state, step, tolerance)
        if found.finished or time.monotonic() > end or not _advance(questions, state):
            return found
    return _certified(questions, answers, state, STEPS, tolerance)


def _start(questions: Floats, answers: Floats) -> _State:
    """Everybody at one half, no question priced: feasible on both sides from the first step."""
    many, n = questions.shape
    x = np.full(n, 0.5)
    off = answers - questions @ x
    spare = max(float(np.abs(off).mean()) if many else 0.0, 1e-3)
    price = np.full(n, spare * math.sqrt(max(many, 1) / n) + 1e-3)
    above, below = np.maximum(off, 0) + spare, np.maximum(-off, 0) + spare
    return _State(x, np.zeros(many), above, below, price, price.copy())


def _certified(
    questions: Floats, answers: Floats, state: _State, step: int, tolerance: float
) -> Closest:
    """The point with its distance and the dual's bound, both computed anew from A and b."""
    x, y = np.clip(state.x, 0, 1), np.clip(state.y, -1, 1)
    distance = float(np.abs(questions @ x - answers).sum())
    bound = max(0.0, float(answers @ y - np.maximum(questions.T @ y, 0).sum()))
    close = distance - bound <= tolerance * max(distance, 1.0)
    return Closest(x, distance, bound, step, close)


def _advance(questions: Floats, state: _State) -> bool:
    """One step of Mehrotra's predictor and corrector; False where it can go no further."""
    many, n = questions.shape
    try:
        factor = _factor(questions, state)
    except np.linalg.LinAlgError:
        return False
    gap = state.gap()
    zeros = [np.zeros_like(first) for first, _ in state.pairs()]
    ahead = _direction(questions, state, factor, zeros)
    reach = _reach(state, ahead)
    smaller = sum(
        float((first + reach * d) @ (second + reach * e))
        for (first, second), (d, e) in zip(state.pairs(), ahead, strict=True)
    )
    centre = (smaller / gap) ** 3 * gap / (2 * (many + n))
    targets = [centre - d * e for d, e in ahead]
    moves = _direction(questions, state, factor, targets)
    reach = STAY_INSIDE * _reach(state, moves)
    if not np.isfinite(reach) or reach < 1e-10:
        return False
    (above, fall), (below, _), (x, left), (_, right) = moves
    state.above += reach * above
    state.below += reach * below
    state.y -= reach * fall
    state.x += reach * x
    state.left += reach * left
    state.right += reach * right
    return True


def _weights(state: _State) -> tuple[Floats, Floats]:
    """How stiff each answer and each person is in the normal equations."""
    (above, up), (below, down), (x, left), (rest, right) = state.pairs()
    return 1 / (above / up + below / down), left / x + right / rest


def _factor(questions: Floats, state: _State) -> Floats:
    """The Cholesky factor of Aᵀ D A + E, summed in blocks so that A is never copied whole."""
    answers, people = _weights(state)
    total = np.diag(people)
    for start in range(0, len(questions), rows := max(1, BLOCK // len(total))):
        part = questions[start : start + rows] * np.sqrt(answers[start : start + rows, None])
        if len(total) <= FEW:
            _add_in_tiles(total, part)
        else:
            total += part.T @ part
    return _cholesky(total)


def _add_in_tiles(total: Floats, part: Floats, sign: int = 1) -> None:
    """Adds partᵀ part, on and below the diagonal, in products so small that they stay in one
    thread: on a busy machine threads that wait for each other cost ten times what they bring."""
    for start in range(0, len(part), TILE):
        rows = part[start : start + TILE]
        for i in range(0, len(total), TILE):
            left = sign * rows[:, i : i + TILE].T
            for j in range(0, i + 1, TILE):
                total[i : i + TILE, j : j + TILE] += left @ rows[:, j : j + TILE]


def _cholesky(total: Floats) -> Floats:
    """The Cholesky factor, from what is on and below the diagonal; tile by tile, in place."""
    for j in range(0, len(total), TILE):
        end = min(j + TILE, len(total))
        corner = total[j:end, j:end] = np.linalg.cholesky(total[j:end, j:end])
        turn = dtrtri(corner, lower=1)[0].T
        for i in range(end, len(total), TILE):
            total[i : i + TILE, j:end] = total[i : i + TILE, j:end] @ turn
        _add_in_tiles(total[end:, end:], total[end:, j:end].T, -1)
    return total


def _direction(
    questions: Floats, state: _State, factor: Floats, targets: list[Floats]
) -> list[tuple[Floats, Floats]]:
    """The changes of each pair that bring its products to the targets, to first order."""
    pairs = state.pairs()
    (above, up), (below, down), (x, left), (rest, right) = pairs
    # each pair (p, q): q dp + p dq = target − pq
    wanted = [target - p * q for target, (p, q) in zip(targets, pairs, strict=True)]
    stiff, _ = _weights(state)
    # d above = wanted/up + (above/up) dy, d below = wanted/down − (below/down) dy
    free = wanted[0] / up - wanted[1] / down
    pull = wanted[2] / x - wanted[3] / rest
    # A dx + d above − d below = 0 gives dy = −stiff (A dx + free)
    dx = cho_solve((factor, True), pull - questions.T @ (stiff * free), check_finite=False)
    dy = -stiff * (questions @ dx + free)
    return [
        ((wanted[0] + above * dy) / up, -dy),
        ((wanted[1] - below * dy) / down, dy),
        (dx, (wanted[2] - left * dx) / x),
        (-dx, (wanted[3] + right * dx) / rest),
    ]


def _reach(state: _State, moves: list[tuple[Floats, Floats]]) -> float:
    """The longest step, at most 1, after which everything is still positive."""
    longest = 1.0
    for pair, change in zip(state.pairs(), moves, strict=True):
        for value, move in zip(pair, change, strict=True):
            falling = move < 0
            if falling.any():
                longest = min(longest, float((value[falling] / -move[falling]).min()))
    return longest
