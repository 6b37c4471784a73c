"""A claim of a paper, how it is run, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["AGREES", "DIFFERS", "Claim", "Found", "Measured", "Scale", "Table", "mean", "share"]

AGREES, DIFFERS = "agrees", "differs"


@dataclass(frozen=True)
class Measured:
    """A number with its standard error; zero where it is exact."""

    value: float
    se: float = 0.0

    def __str__(self) -> str:
        if self.se == 0:
            return f"{self.value:.6g}"
        digits = max(0, 1 - math.floor(math.log10(self.se))) if self.se < 10 else 0
        return f"{self.value:,.{digits}f} ± {self.se:,.{digits}f}"

    def near(self, other: float, errors: float = 4.5) -> bool:
        """Whether the other number is within so many standard errors."""
        return abs(self.value - other) <= errors * self.se + 1e-9 * max(1.0, abs(other))


def mean(values: Sequence[float]) -> Measured:
    """The mean of independent runs, with its standard error."""
    found = np.asarray(values, dtype=float)
    spread = float(found.std(ddof=1)) if len(found) > 1 else math.inf
    return Measured(float(found.mean()), spread / math.sqrt(len(found)))


def share(successes: int, runs: int) -> Measured:
    """How often something happened; its error is never shown as nothing."""
    rate = successes / runs
    smoothed = (successes + 1) / (runs + 2)
    return Measured(rate, math.sqrt(smoothed * (1 - smoothed) / runs))


@dataclass(frozen=True)
class Scale:
    """How much is run: enough to see the verdict, or enough for the figures."""

    quick: bool = True
    seed: int = 1
    tell: Callable[[float], None] = field(default=lambda share: None, repr=False)

    def pick(self, quick: int, full: int) -> int:
        """One number for the quick mode, another for the full one."""
        return quick if self.quick else full

    def chance(self, *more: int) -> np.random.Generator:
        """Made-up data and simulated worlds come from here; private noise never does."""
        return np.random.default_rng([self.seed, *more])


@dataclass(frozen=True)
class Table:
    """Numbers side by side."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""


@dataclass(frozen=True)
class Found:
    """What came of a claim: our number, whether it agrees, and why; `plots` are drawings."""

    ours: str
    agrees: bool
    why: str
    parameters: str = ""
    tables: Sequence[Table] = ()
    plots: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """In a word."""
        return AGREES if self.agrees else DIFFERS


@dataclass(frozen=True)
class Claim:
    """One claim: where it stands, what it says, its number, and how to run it.

    `expected` is the verdict that the tests hold on to. `seconds` is about how long the quick
    and the full mode take on two cores.
    """

    paper: str
    place: str
    says: str
    number: str
    run: Callable[[Scale], Found]
    expected: str = AGREES
    seconds: tuple[float, float] = (1.0, 10.0)

    @property
    def name(self) -> str:
        """A short name for tests and links."""
        words = "".join(sign if sign.isalnum() else " " for sign in self.place.lower())
        return f"{self.paper}-{'-'.join(words.split())}"
