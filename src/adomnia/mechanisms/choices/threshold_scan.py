"""The threshold scan: a bound that only a few units are above, found privately
(`threshold_scan.md`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["ScanPlan", "Score", "geometric_grid", "scan", "scan_sealed"]

RATIO = Fraction(21, 20)
FIRST = Fraction(4, 5)
"""The part of epsilon for the noise that is drawn once; the rest is for that of each bound."""
FEW = 3
"""Times 1/epsilon, about so many units are above the bound that is found."""
LARGEST = 10**15


@dataclass(frozen=True)
class ScanPlan:
    """What is paid for one unit that comes, goes or is replaced, and the bounds that are tried.

    A neighbour's scores are higher than others by at most `rise` and lower by at most `fall`; of
    counts of units above a bound it is one of the two, by 1 (`threshold_scan.md`, claim 1). `first`
    is the part of the noise's rate that is drawn once.
    """

    epsilon: Fraction
    grid: tuple[int, ...]
    first: Fraction = FIRST
    rise: int = 1
    fall: int = 0

    def __post_init__(self) -> None:
        if not Fraction(1, LARGEST) <= self.epsilon <= LARGEST:
            raise QuestionError("epsilon is out of all proportion for a scan", "for example 0.1")
        if not self.grid or any(a >= b for a, b in zip(self.grid, self.grid[1:], strict=False)):
            raise QuestionError("a scan needs bounds, each above the one before")

    @property
    def _rate(self) -> Fraction:
        """Both rates together: what a step of one in all scores costs at most."""
        return self.epsilon / _steps(self.first, 1 - self.first, self.rise, self.fall)

    @property
    def once(self) -> Fraction:
        """The rate of the noise that is drawn once."""
        return self.first * self._rate

    @property
    def each(self) -> Fraction:
        """The rate of the noise at each bound."""
        return (1 - self.first) * self._rate

    @property
    def threshold(self) -> int:
        """With no noise the scan stops where the score is this or less."""
        return math.ceil(FEW / self._rate)

    def loss(self, rise: int, fall: int) -> Fraction:
        """What it costs where scores may differ by so much (`threshold_scan.md`, claim 1)."""
        return _steps(self.once, self.each, rise, fall)

    def most_above(self, bound: int, doubt: float) -> int | None:
        """The score of the bound that was found is so much at most, but for this doubt.

        None where it is the last one: there the scan stops whatever is above it.
        """
        if not 0 < doubt < 1:
            raise ValueError("a doubt lies between 0 and 1")
        if bound >= self.grid[-1]:
            return None
        tries = Fraction(math.log(len(self.grid) / doubt) + 1e-9)
        return self.threshold + math.ceil(tries / self.each)


def _steps(once: Fraction, each: Fraction, rise: int, fall: int) -> Fraction:
    return max(rise, fall) * once + (rise + fall) * each


@lru_cache(maxsize=32)
def geometric_grid(first: int, last: int, wide: bool = False) -> tuple[int, ...]:
    """Whole numbers from one to another, each a twentieth above the one before, and 1 at least.

    A twentieth is rounded down, or up where the grid is to be `wide`: fewer bounds are tried then.

    >>> geometric_grid(18, 25)
    (18, 19, 20, 21, 22, 23, 24, 25)
    >>> geometric_grid(100, 120)
    (100, 105, 110, 115, 120)
    >>> geometric_grid(19, 27, wide=True)
    (19, 20, 21, 23, 25, 27)
    """
    rounded, found = math.ceil if wide else math.floor, [first]
    while found[-1] < last:
        found.append(min(last, max(found[-1] + 1, rounded(found[-1] * RATIO))))
    return tuple(found)


class Score(Protocol):
    """A whole number that may be known by comparison alone."""

    def __le__(self, level: int, /) -> bool:
        """Whether it is no higher than the level."""
        ...


def scan(above: Sequence[Score], plan: ScanPlan, bits: Bits = SYSTEM) -> int:
    """The place of the bound at which the scan stops, for how many units are above each."""
    bar, each = plan.threshold - _geometric(plan.once, bits), plan.each
    for place in range(len(above) - 1):
        if above[place] <= bar + _geometric(each, bits):
            return place
    return len(above) - 1


def scan_sealed(
    sealed: Sealed[NDArray[Any]], plan: ScanPlan, scale: Fraction | None = None, bits: Bits = SYSTEM
) -> tuple[int, int]:
    """The bound that is found, and the total that goes with it, with Laplace noise.

    The sealed array has for each bound how many units are above it, and behind that the total of
    all units where it is taken. The noise has this scale for each step of the bound above the
    first one, by which a unit is bounded in the total (`threshold_scan.md`, claim 3).
    """
    exact = unseal(sealed).reshape(len(plan.grid), -1)
    place = scan(exact[:, 0].tolist(), plan, bits)
    bound = plan.grid[place]
    if scale is None:
        return bound, 0
    (noise,) = laplace.sample(scale * (bound - plan.grid[0]), 1, bits).astype(object)
    return bound, int(exact[place, 1]) + noise


def _geometric(rate: Fraction, bits: Bits) -> int:
    """A draw of 0, 1, 2, … with odds in proportion to exp(-rate k): Laplace noise, folded."""
    drawn = int(laplace.sample(1 / rate, 1, bits)[0])
    return ~drawn if drawn < 0 else drawn
