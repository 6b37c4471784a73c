"""Propose, test, release: the exact answer, where no table nearby has another (`stable.md`)."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.counts.selection import threshold
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.quantiles.quantile import Target
from adomnia.mechanisms.quantiles.smooth import Grid, exact_quantile, rank_of
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.loss import Amount, exact

__all__ = ["mode_stability", "quantile_stability", "release_stable"]

T = TypeVar("T")
FAR = 1 << 62
"""Past an end of the grid nothing differs any more, however far one goes."""


def release_stable(
    value: T, stability: int, epsilon: Amount, delta: Amount, bits: Bits = SYSTEM
) -> T | None:
    """The value itself if its stability passes a noisy test, otherwise None (`stable.md`).

    Costs (epsilon, delta), whichever comes out. `stability` moves by at most one between
    neighbours, and where it is one or more all neighbours have the same value.
    """
    if isinstance(stability, float) or stability < 0:
        raise QuestionError("a stability is a whole number, not negative")
    scale, chance = 1 / exact(epsilon), exact(delta, "delta")
    if chance >= 1:
        raise QuestionError("delta lies between 0 and 1")
    bar = threshold(scale, chance, 1, 1) - 1
    noisy = int(stability) + int(laplace.sample(scale, 1, bits)[0])
    return value if noisy >= bar else None


def mode_stability(counts: NDArray[Any], changed: bool = False) -> tuple[int, int]:
    """The place of the largest count (the first, if tied), and how many rows leave it there.

    Rows come and go, or are `changed`: then two counts move at once. Private.
    """
    tally = np.asarray(counts)
    if tally.ndim != 1 or tally.size < 2 or tally.dtype.kind not in "iu":
        raise QuestionError("a mode needs the counts of two values or more")
    place = int(tally.argmax())
    before, after = tally[:place], tally[place + 1 :]
    hurdles = [int(before.max()) + 1] if before.size else []
    hurdles += [int(after.max())] if after.size else []
    return place, (int(tally[place]) - max(hurdles)) // (2 if changed else 1)


def quantile_stability(
    values: NDArray[Any], counts: NDArray[Any], grid: Grid, target: Target
) -> tuple[int, int]:
    """The quantile, and how many ranks to both sides of it have its value. Private.

    `values` ascend and `counts` are their rows; a value outside the grid counts as its end.
    """
    low, high = grid
    center = exact_quantile(values, counts, grid, target)
    rows = int(np.sum(counts))
    rank = rank_of(target, rows)
    clamped = np.clip(values.astype(object), low, high)
    below = int(counts[clamped < center].sum())
    upto = int(counts[clamped <= center].sum())
    down = FAR if center == low else rank - below - 1
    up = FAR if center == high else upto - rank
    return center, min(down, up)
