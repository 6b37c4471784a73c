"""R2T (Dong, Fang, Yi, Tao, Machanavajjhala, SIGMOD 2022) written anew, on HiGHS.

Its thresholds grow by 5.5, as in its code; for each the total is the most that rows can add while
no unit has more than the threshold. Of all totals with noise, less what the noise may add, the
largest is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BASE, DOUBT = 5.5, 0.1
MOST_ROWS = 100_000
"""Programs with more rows are not solved: what one side's units allow stands for them, which is
no less, and so favours R2T."""


@dataclass(frozen=True)
class Truncated:
    """The totals of a query at each threshold."""

    thresholds: tuple[float, ...]
    totals: tuple[float, ...]
    bounded: int = 0
    """For how many thresholds a bound stands in the place of the program."""

    def answers(self, epsilon: float, many: int, draw: np.random.Generator) -> NDArray[Any]:
        """So many answers."""
        steps = len(self.thresholds)
        scales = np.array(self.thresholds) * steps / epsilon
        noise = draw.laplace(0, 1, (many, steps)) * scales
        noisy = np.array(self.totals) + noise - scales * math.log(steps / DOUBT)
        found: NDArray[Any] = np.maximum(noisy.max(axis=1), 0)
        return found


def thresholds(largest: float) -> list[float]:
    """Those up to the largest amount of a unit."""
    return [BASE**i for i in range(1, int(math.log(largest) / math.log(BASE)) + 1)]


def of_units(totals: NDArray[Any], largest: float) -> Truncated:
    """Rows of one unit: the program is solved by cutting each unit."""
    found = thresholds(largest)
    return Truncated(tuple(found), tuple(float(np.minimum(totals, t).sum()) for t in found))


def of_pairs(ends: Sequence[NDArray[Any]], amounts: NDArray[Any], largest: float) -> Truncated:
    """Rows of two units, numbered apart; amounts in the measure of the thresholds."""
    found, bounded, size = [], 0, 1 + int(max(end.max() for end in ends))
    for threshold in thresholds(largest):
        sides = [np.bincount(end, amounts, size) for end in ends]
        over = [side > threshold for side in sides]
        both = over[0][ends[0]] & over[1][ends[1]]
        at_most = min(float(np.minimum(side, threshold).sum()) for side in sides)
        if all(side.any() for side in over) and both.sum() <= MOST_ROWS:
            at_most = min(at_most, _program(ends, amounts, over, threshold))
        bounded += int(both.sum() > MOST_ROWS)
        found.append(at_most)
    return Truncated(tuple(thresholds(largest)), tuple(found), bounded)


def _program(
    ends: Sequence[NDArray[Any]], amounts: NDArray[Any], over: Sequence[NDArray[Any]],
    threshold: float,
) -> float:  # fmt: skip
    """The most that rows can add. Rows of one unit above the threshold are one variable of it, and
    rows of none are free."""
    from scipy import optimize, sparse

    above = [flags[end] for flags, end in zip(over, ends, strict=True)]
    both, free = above[0] & above[1], ~(above[0] | above[1])
    numbers, at = np.unique(np.concatenate([end[both] + side * over[0].size
                                            for side, end in enumerate(ends)]),
                            return_inverse=True)  # fmt: skip
    rows, size = int(both.sum()), over[0].size
    alone = np.concatenate([
        np.bincount(end[up & ~both], amounts[up & ~both], size)
        for end, up in zip(ends, above, strict=True)
    ])  # fmt: skip
    elsewhere = over[0].size + over[1].size - numbers.size  # units that meet none above
    assert elsewhere >= 0
    others = np.delete(alone, numbers)
    settled = float(amounts[free].sum() + np.minimum(others, threshold).sum())
    if not rows:
        return settled
    columns = np.concatenate([np.arange(rows), np.arange(rows), rows + np.arange(numbers.size)])
    lines = np.concatenate([at[:rows], at[rows:], np.arange(numbers.size)])
    matrix = sparse.csr_array((np.ones(columns.size), (lines, columns)),
                              shape=(numbers.size, rows + numbers.size))  # fmt: skip
    most = np.concatenate([amounts[both], alone[numbers]])
    solved = optimize.linprog(
        -np.ones(most.size), matrix, np.full(numbers.size, threshold),
        bounds=np.column_stack([np.zeros(most.size), most]), method="highs-ds",
    )  # fmt: skip
    return settled - float(solved.fun)
