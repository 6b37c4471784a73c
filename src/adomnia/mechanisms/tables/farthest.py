"""The tables that a model is farthest from, chosen privately (`farthest.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.choices.select import permute_and_flip
from adomnia.mechanisms.noise.exponential import choose
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["Candidate", "Law", "farthest"]

Law = Literal["exponential", "permute-and-flip"]
"""How one of several is chosen: the first is cheaper under zCDP, the other under pure epsilon."""

LARGEST = 1 << 40
"""Larger counts are taken as this one, so that no sum of differences overflows."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table that may be chosen, a model of it, and what its distance is reckoned from."""

    table: Sealed[NDArray[Any]]
    model: NDArray[np.int64]
    allowance: int


def farthest(
    candidates: Sequence[Candidate], many: int, eta: Fraction, law: Law, bits: Bits = SYSTEM
) -> list[int]:
    """The places of `many` tables, one chosen after the other, none twice.

    The score of a table is its L1 distance from its model less its allowance; all of these are
    whole numbers, and a row that comes or goes moves each score by at most 1. Every choice costs
    2 eta for each such row.
    """
    scores = np.array(
        [_distance(unseal(one.table), one.model) - int(one.allowance) for one in candidates],
        np.int64,
    )
    left = np.arange(len(scores))
    found: list[int] = []
    for _ in range(min(many, len(scores))):
        draw = _by_weight if law == "exponential" else permute_and_flip
        place = draw(scores[left].max() - scores[left], eta, bits)
        found.append(int(left[place]))
        left = np.delete(left, place)
    return found


def _by_weight(gaps: NDArray[np.int64], eta: Fraction, bits: Bits) -> int:
    """The exponential mechanism: every candidate with weight exp(-eta * gap)."""
    return choose(gaps, np.ones(len(gaps), np.int64), eta, bits)


def _distance(exact: NDArray[Any], model: NDArray[np.int64]) -> int:
    """How many rows more or fewer there are, over all cells."""
    counts = np.asarray(exact)
    if counts.dtype.kind not in "iu" or model.dtype.kind not in "iu":
        raise TypeError("tables are counts: integers")
    if counts.shape != model.shape:
        raise ValueError("a table has another shape than its model")
    near = [np.minimum(part, LARGEST).astype(np.int64) for part in (counts, model)]
    return int(np.abs(near[0] - near[1]).sum())
