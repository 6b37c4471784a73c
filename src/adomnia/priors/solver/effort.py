"""Effort: work that is counted in steps, so that a bound is the same on every machine.

A step is about a number looked at inside NumPy, some nanoseconds. No clock is read anywhere in
these rooms: what is found rests on the question and on the steps allowed, never on how long
they took.
"""

from __future__ import annotations

from dataclasses import dataclass

from adomnia.priors.solver.errors import TooLarge

__all__ = ["STEPS", "Effort", "Limit"]

STEPS = 1_000_000_000
"""For one question: a few seconds on a machine of today."""
CALLED = 4000
"""Steps that a call of NumPy or some are counted as, however few numbers they look at."""


class Effort:
    """Steps that may still be taken. What a part of it takes is taken from the whole, too."""

    def __init__(self, steps: int = STEPS, whole: Effort | None = None) -> None:
        self.left, self._whole = steps, whole

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def spend(self, steps: int) -> None:
        """Count so many steps; more than are left may be counted, once."""
        self.left -= steps
        if self._whole is not None:
            self._whole.spend(steps)

    def part(self, parts: int = 1, most: int | None = None) -> Effort:
        """One of so many parts of what is left, and no more than `most`."""
        share = max(self.left, 0) // parts
        return Effort(share if most is None else min(share, most), self)


@dataclass(frozen=True)
class Limit:
    """How many rows and how many steps a listing may take."""

    most: int
    effort: Effort

    def check(self, rows: int = 0, steps: int = 0) -> None:
        """Counts the steps; raises `TooLarge` if they or the rows are more than was allowed."""
        self.effort.spend(CALLED + steps)
        if rows > self.most:
            raise TooLarge(f"more than {self.most} rows")
        if self.effort.is_spent:
            raise TooLarge("more steps than were allowed")
