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
from adomnia.mechanisms.noise import waring
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.quantiles.quantile import Share, Target, penalties, runs, sensitivity
from adomnia.mechanisms.quantiles.smooth import exact_quantile, smooth_sensitivity
from adomnia.privacy.loss import Amount, exact

__all__ = [
    "Mechanism",
    "QuantileLoss",
    "Reference",
    "exponential_error",
    "quantile_loss",
    "smooth_error",
]

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
    """The mean absolute error of each mechanism in grid steps; None where it is no choice: no
    delta is paid, or epsilon is too small for noise that follows the data."""

    exponential: float
    waring: float | None
    laplace: float | None = None

    def better(self, loss: Literal["value", "rank", "interval"] = "value") -> Mechanism:
        """The mechanism to use. Only the exponential one bounds the rank on any data."""
        heavy = math.inf if self.waring is None else self.waring
        light = math.inf if self.laplace is None else self.laplace
        if loss != "value" or self.exponential <= min(heavy, light):
            return "exponential"
        return "laplace" if light < heavy else "waring"


def quantile_loss(
    reference: Reference, epsilon: Amount, delta: Amount | None = None
) -> QuantileLoss:
    """What each mechanism errs by on the reference table, at this loss; spends nothing."""
    paid = exact(epsilon)
    eta = paid / (2 * sensitivity(reference.target, reference.changed))
    light = None if delta is None else SmoothLaplace(paid, exact(delta, "delta"))
    return QuantileLoss(
        exponential_error(reference, eta),
        smooth_error(reference, SmoothWaring(paid)),
        None if light is None else smooth_error(reference, light),
    )


def exponential_error(reference: Reference, eta: Fraction, aimed: Target | None = None) -> float:
    """The mean absolute error of the exponential mechanism with this rate, in grid steps.

    `aimed` is what it looks for, where that is not the target itself: an extreme is looked for
    a few ranks inside.
    """
    table, grid = reference.table(), (reference.low, reference.high)
    starts, sizes, below, upto = runs(*table, grid)
    gaps = penalties(below, upto, int(table[1].sum()), aimed or reference.target)
    exponents = (gaps - gaps.min()).astype(np.float64) * float(eta)
    weights = sizes.astype(np.float64) * np.exp(-np.minimum(exponents, 700))
    truth = exact_quantile(*table, grid, reference.target)
    ends = (starts - truth).astype(np.float64), (starts + sizes - 1 - truth).astype(np.float64)
    return float((weights * _mean_distance(*ends)).sum() / weights.sum())


def _mean_distance(first: NDArray[Any], last: NDArray[Any]) -> NDArray[Any]:
    """The mean of |d| over the whole numbers first..last, which may lie on both sides of 0."""
    whole = np.abs(first + last) / 2
    across = (first < 0) & (last > 0)
    both = (first * (first - 1) + last * (last + 1)) / (2 * (last - first + 1))
    found: NDArray[Any] = np.where(across, both, whole)
    return found


def smooth_error(reference: Reference, noise: SmoothWaring | SmoothLaplace) -> float:
    """The mean absolute error of noise that follows the smooth sensitivity, in grid steps."""
    table = reference.table()
    grid, target = (reference.low, reference.high), reference.target
    scale = float(noise.scale(smooth_sensitivity(*table, grid, target, noise.beta)))
    size = waring.mean_size if isinstance(noise, SmoothWaring) else _laplace_size
    return sum(size(scale, room) for room in _rooms(reference, table)) / 2


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
