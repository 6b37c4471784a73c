"""A claim of a paper, how it is run, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["AGREES", "DIFFERS", "Claim", "Found", "Scale", "Table"]

AGREES, DIFFERS = "agrees", "differs"


@dataclass(frozen=True)
class Scale:
    """How much is run: enough to see the verdict, or enough for the figures."""

    quick: bool = True
    seed: int = 1

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
    """What came of a claim: our number, whether it agrees, and why; `plots` are drawings.

    Text between backticks is set as code.
    """

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

    def expected_seconds(self, scale: Scale) -> float:
        """About how long it takes."""
        return self.seconds[0 if scale.quick else 1]
