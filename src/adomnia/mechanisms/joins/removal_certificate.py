"""Certificates: bounds of a removal distance that hold whatever proposed them
(`removal_distance.md`, claim 2).

A solver's numbers only choose where to look; both bounds are worked out anew without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.joins.exact_sums import Whole, times, whole
from adomnia.mechanisms.joins.indexed_pairs import Flags, IndexedPairs

__all__ = ["Proposal", "lower_bound", "upper_bound"]

RAISES = 4


@dataclass(frozen=True, eq=False)
class Proposal:
    """What may be near the optimum: how much of each unit is removed, and multipliers of units and
    rows (as much as their units allow, where None). Floats or fractions, taken to `digits` binary
    digits."""

    removed: NDArray[Any]
    units: NDArray[Any]
    rows: NDArray[Any] | None = None
    digits: int = 20


def lower_bound(near: IndexedPairs, bound: int, proposal: Proposal) -> Fraction:
    """What the multipliers prove, made smaller until they are allowed."""
    digits = proposal.digits + int(near.totals.max(initial=0)).bit_length()
    one = 1 << digits
    units = whole(proposal.units * one)
    units[-1] = 0
    at_first, at_second = (times(near.amounts, units[end]) for end in (near.first, near.second))
    rows = at_first + at_second
    if proposal.rows is not None:
        rows = np.minimum(rows, whole(proposal.rows * one))
    load = near.by_unit(rows) - times(units, bound)
    value = int(rows.sum(dtype=object)) - bound * int(units.sum(dtype=object))
    return Fraction(max(0, value), max(one, int(load.max(initial=0))))


def upper_bound(near: IndexedPairs, over: Flags, bound: int, proposal: Proposal) -> Fraction:
    """What is removed, made larger until every unit fits."""
    one = 1 << (proposal.digits + 4)
    removed = np.minimum(whole(proposal.removed * one) + 1, one)
    removed[proposal.removed <= 0] = 0
    removed[-1] = 0
    for _ in range(RAISES):
        lacking, slope = _lacking(near, over, bound, (removed, one))
        if not (lacking > 0).any():
            break
        short = lacking > 0
        removed[short] = np.minimum(one, removed[short] - (-lacking[short] // slope[short]))
    else:
        lacking, _ = _lacking(near, over, bound, (removed, one))
        removed[lacking > 0] = one
    return Fraction(int(removed.sum(dtype=object)), one)


def _lacking(
    near: IndexedPairs, over: Flags, bound: int, removed: tuple[Whole, int]
) -> tuple[Whole, Whole]:
    """By how much each unit is still above the bound, and how fast that falls as it is removed."""
    gone, one = removed
    left = np.maximum(one - gone[near.first] - gone[near.second], 0)
    loads = near.by_unit(times(near.amounts, left)) - times(one - gone, bound)
    active = near.by_unit(np.where(left > 0, near.amounts, 0)) - bound
    return np.where(over, loads, 0), active
