"""Numbers that chance had a hand in, and what may be said of them all the same.

Private noise is never seeded, so every run of an experiment measures something else. A verdict
holds for all numbers that chance makes but once in a thousand million: Student's t for means, whose
own error is measured too, and the exact binomial distribution for shares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["FALSE_ALARM", "Measured", "Share", "combined", "exponent", "mean", "share"]

FALSE_ALARM = 1e-9
"""How often one comparison may go wrong by chance; a quick run makes some two hundred."""


@dataclass(frozen=True)
class Measured:
    """A number with its standard error, zero where it is exact, and that error's freedom."""

    value: float
    se: float = 0.0
    freedom: float = math.inf

    def __str__(self) -> str:
        if self.se == 0:
            return f"{self.value:.6g}"
        digits = max(0, 1 - math.floor(math.log10(self.se))) if self.se < 10 else 0
        return f"{self.value:,.{digits}f} ± {self.se:,.{digits}f}"

    def interval(self, level: float = FALSE_ALARM) -> tuple[float, float]:
        """Where the true number lies, but for this probability."""
        reach = self.se * float(stats.t.isf(level / 2, self.freedom)) if self.se else 0.0
        return self.value - reach, self.value + reach

    def near(self, other: float, level: float = FALSE_ALARM) -> bool:
        """Whether the true number may be the other one."""
        low, high = self.interval(level)
        rounding = 1e-9 * max(1.0, abs(other))
        return low - rounding <= other <= high + rounding

    def below(self, other: float, level: float = FALSE_ALARM) -> bool:
        """Whether the true number is surely less than the other one."""
        return self.interval(level)[1] < other

    def above(self, other: float, level: float = FALSE_ALARM) -> bool:
        """Whether the true number is surely more than the other one."""
        return self.interval(level)[0] > other

    def log(self) -> Measured:
        """Its logarithm, for small relative errors."""
        return Measured(math.log(self.value), self.se / self.value, self.freedom)


@dataclass(frozen=True)
class Share(Measured):
    """How often something happened in independent runs."""

    successes: int = 0
    runs: int = 0

    def interval(self, level: float = FALSE_ALARM) -> tuple[float, float]:
        """The interval of Clopper and Pearson: too wide at times, never too narrow."""
        hits, misses = self.successes, self.runs - self.successes
        low = float(stats.beta.ppf(level / 2, hits, misses + 1)) if hits else 0.0
        high = float(stats.beta.isf(level / 2, hits + 1, misses)) if misses else 1.0
        return low, high


def mean(values: Sequence[float] | NDArray[Any]) -> Measured:
    """The mean of independent runs, of which there are at least two.

    Student's t is for runs that are nearly normal. Squares of noise are skewed: some thousands
    of them are needed before their mean is.
    """
    found = np.asarray(values, dtype=float).ravel()
    if found.size < 2:
        raise ValueError("one run does not tell how far it may be off")
    error = float(found.std(ddof=1)) / math.sqrt(found.size)
    return Measured(float(found.mean()), error, found.size - 1)


def share(successes: int, runs: int) -> Share:
    """How often something happened; its error is never shown as nothing."""
    smoothed = (successes + 1) / (runs + 2)
    error = math.sqrt(smoothed * (1 - smoothed) / runs)
    return Share(successes / runs, error, runs - 1, successes, runs)


def combined(weights: Sequence[float], parts: Sequence[Measured]) -> Measured:
    """A weighted sum of independent numbers, with the least of their freedoms: never too much."""
    pairs = list(zip(weights, parts, strict=True))
    value = sum(weight * part.value for weight, part in pairs)
    error = math.hypot(*(weight * part.se for weight, part in pairs))
    return Measured(value, error, min(part.freedom for part in parts))


def exponent(places: Sequence[float], found: Sequence[Measured]) -> Measured:
    """The exponent of the power law that fits the numbers found at these places."""
    x = np.log(places) - np.log(places).mean()
    return combined((x / np.square(x).sum()).tolist(), [one.log() for one in found])
