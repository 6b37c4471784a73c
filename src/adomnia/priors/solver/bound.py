"""Bounds: how far a question can differ between induced neighbours, from above and below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Bound", "Norm"]

Norm = int
"""1 for sums of absolute differences; 2 for sums of squares (never their root)."""


@dataclass(frozen=True)
class Bound:
    """The sensitivity lies between `lower`, reached by the `witness`, and `upper`, proven.

    In norm 2 both are squares. The witness maps cells to how many rows come (or go, below zero);
    it is a minimal difference that was checked, and None where nothing was found.
    """

    upper: Fraction
    lower: Fraction
    argument: str
    witness: Mapping[int, int] | None = None

    @property
    def exact(self) -> bool:
        """Whether both ends meet."""
        return self.upper == self.lower
