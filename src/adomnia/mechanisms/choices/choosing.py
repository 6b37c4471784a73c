"""Sealed counts in, a choice out: a mode, the largest, those above a bar, a price (`choosing.md`).

Every choice costs `eta` for each single row that comes or goes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.choices.noisy_max import noisy_max
from adomnia.mechanisms.choices.select import lattice, permute_and_flip, score_margin, select
from adomnia.mechanisms.choices.sparse_vector import SparseVector, above_threshold
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["choose_largest", "choose_modes", "choose_price", "mode_margin", "tell_above"]

Counted = Sealed[NDArray[Any]]


def choose_modes(
    sealed: Counted, cells: int, values: int, eta: Fraction, bits: Bits = SYSTEM
) -> NDArray[np.int64]:
    """For each cell the place of a value that (nearly) the most of its rows have.

    The counts lie cell by cell, the public values first; what comes after them (NULL) is no
    candidate. Without rows, and among equals, every value is as likely.
    """
    counts = unseal(sealed).reshape(cells, -1)[:, :values]
    chosen = np.empty(cells, np.int64)
    for cell in range(cells):
        whole, _ = lattice(counts[cell])
        chosen[cell] = permute_and_flip(whole.max() - whole, eta, bits)
    return chosen


def mode_margin(values: int, eta: Fraction, confidence: float) -> int:
    """How many rows fewer than the most frequent value the named one may have, on any data."""
    return math.floor(score_margin(values, 1, eta, confidence, monotone=True))


def choose_largest(sealed: Counted, eta: Fraction, bits: Bits = SYSTEM) -> int:
    """The place of the count that is largest after noise."""
    return noisy_max(unseal(sealed).reshape(-1), 1, eta, bits, monotone=True)


def tell_above(
    sealed: Counted, threshold: int, plan: SparseVector, bits: Bits = SYSTEM
) -> list[bool]:
    """For each count in turn whether it is above the threshold, until the plan's cutoff."""
    return list(above_threshold(unseal(sealed).reshape(-1).tolist(), threshold, plan, bits))


def choose_price(
    sealed: Counted, prices: Sequence[int], epsilon: Fraction, bits: Bits = SYSTEM
) -> int:
    """A price that (nearly) brings the most; the counts say how many bid that much or more."""
    reached = unseal(sealed).reshape(-1).tolist()
    brought = [price * int(count) for price, count in zip(prices, reached, strict=True)]
    return select(prices, brought, prices[-1], epsilon, bits, monotone=True)
