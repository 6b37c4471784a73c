"""Which mechanism for a quantile: the expected error of each on public numbers alone
(`quantile_loss.md`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms import waring
from adomnia.mechanisms.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.quantile import Share, Target, _groups, penalties, sensitivity
from adomnia.mechanisms.smooth import exact_quantile, smooth_sensitivity
from adomnia.privacy.loss import Amount, exact

__all__ = ["Mechanism", "QuantileLoss", "Reference", "quantile_loss"]

Mechanism = Literal["exponential", "waring", "laplace"]
Tally = tuple[NDArray[Any], NDArray[Any]]
MOST = 200_000
"""The reference has no more rows: with more, all errors shrink alike."""


@dataclass(frozen=True)
class Reference:
    """Public numbers of a question: the grid, about how many rows there are, and the target."""

    low: int
    high: int
    rows: int
    target: Target
    changed: bool = False

    def __post_init__(self) -> None:
        if self.high < self.low or self.rows < 0:
            raise QuestionError("a grid runs from low to high, and rows are not negative")

    def table(self) -> Tally:
        """Rows spread evenly over the grid: nothing of it comes from the data.

        One row more where a share would fall between two rows: there every point between them is
        right, and the mechanisms would be judged by different answers.
        """
        rows, width = min(self.rows, MOST), self.high - self.low
        rows += isinstance(self.target, Share) and rows > 0 and _is_between(self.target, rows)
        spread = [self.low + (2 * i + 1) * width // (2 * rows) for i in range(rows)]
        values, counts = np.unique(np.array(spread, object), return_counts=True)
        return values, counts


def _is_between(share: Share, rows: int) -> bool:
    return 0 < share.q < 1 and (share.q * rows).denominator == 1


@dataclass(frozen=True)
class QuantileLoss:
    """The mean absolute error of each mechanism in grid steps; None where no delta is paid."""

    exponential: float
    waring: float
    laplace: float | None = None

    def better(self, loss: Literal["value", "rank"] = "value") -> Mechanism:
        """The mechanism to use. Only the exponential one bounds the rank on any data."""
        light = math.inf if self.laplace is None else self.laplace
        if loss == "rank" or self.exponential <= min(self.waring, light):
            return "exponential"
        return "laplace" if light < self.waring else "waring"


def quantile_loss(
    reference: Reference, epsilon: Amount, delta: Amount | None = None
) -> QuantileLoss:
    """What each mechanism errs by on the reference table, at this loss; spends nothing."""
    table, paid = reference.table(), exact(epsilon)
    found = QuantileLoss(_exponential(reference, table, paid), _waring(reference, table, paid))
    if delta is None:
        return found
    noise = SmoothLaplace(paid, exact(delta, "delta"))
    scale = float(noise.scale(_smooth(reference, table, noise.beta)))
    size = sum(_laplace_size(scale, room) for room in _rooms(reference, table)) / 2
    return QuantileLoss(found.exponential, found.waring, size)


def _exponential(reference: Reference, table: Tally, epsilon: Fraction) -> float:
    grid, target = (reference.low, reference.high), reference.target
    starts, sizes, below, upto = _groups(*table, grid)
    gaps = penalties(below, upto, int(table[1].sum()), target)
    eta = epsilon / (2 * sensitivity(target, reference.changed))
    exponents = (gaps - gaps.min()).astype(np.float64) * float(eta)
    weights = sizes.astype(np.float64) * np.exp(-np.minimum(exponents, 700))
    middle = (starts - exact_quantile(*table, grid, target)).astype(np.float64) + (sizes - 1) / 2
    return float((weights * np.abs(middle.astype(np.float64))).sum() / weights.sum())


def _waring(reference: Reference, table: Tally, epsilon: Fraction) -> float:
    noise = SmoothWaring(epsilon)
    scale = float(noise.scale(_smooth(reference, table, noise.beta)))
    return sum(waring.mean_size(scale, room) for room in _rooms(reference, table)) / 2


def _smooth(reference: Reference, table: Tally, beta: Fraction) -> Fraction:
    return smooth_sensitivity(*table, (reference.low, reference.high), reference.target, beta)


def _rooms(reference: Reference, table: Tally) -> tuple[int, int]:
    """How far an answer can go down and up before it is clamped."""
    center = exact_quantile(*table, (reference.low, reference.high), reference.target)
    return center - reference.low, reference.high - center


def _laplace_size(scale: float, most: float) -> float:
    """The mean of min(|X|, most) for integer Laplace noise."""
    rate = 1 / scale
    if rate > 300:
        return 0.0
    return -math.expm1(-min(rate * most, 700)) / math.sinh(rate)
