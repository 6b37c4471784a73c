"""Attributes written in bits, the patterns that no value has, and the transform (`bits.md`).

A value below `size` is written in ceil(log2 size) bits, the highest first; the bits of all
attributes stand one after another. A table over bits is flat, in the order of the numbers that
the bits spell, so that it is also the attributes' own table, each axis filled up to a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.workload import Subset

__all__ = ["Encoding", "fold", "invert", "parts", "signs", "spell", "walsh_hadamard"]


@dataclass(frozen=True)
class Encoding:
    """How attributes with these numbers of values are written in bits."""

    sizes: tuple[int, ...]

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """How many bits each attribute takes; one with a single value takes none."""
        return tuple((size - 1).bit_length() for size in self.sizes)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the bits of each attribute begin, and at last how many bits there are."""
        return tuple(accumulate(self.widths, initial=0))

    def places(self, subset: Sequence[int]) -> Subset:
        """The bits of some attributes, ascending."""
        return tuple(
            bit for place in subset for bit in range(self.starts[place], self.starts[place + 1])
        )

    def padded(self, subset: Subset) -> tuple[int, ...]:
        """The shape of a marginal with every axis filled up to a power of two."""
        return tuple(1 << self.widths[place] for place in subset)

    def possible(self, subset: Subset) -> NDArray[np.int64]:
        """The patterns of a marginal's bits that stand for values, ascending.

        All others are structurally zero: no row can have them.
        """
        patterns = np.zeros(1, np.int64)
        for place in subset:
            values = np.arange(self.sizes[place], dtype=np.int64)
            patterns = ((patterns << self.widths[place])[:, None] | values).ravel()
        return patterns


def fold(table: NDArray[Any], encoding: Encoding, subset: Subset) -> NDArray[Any]:
    """The attributes' marginal of a flat marginal of bits; nothing is lost (`bits.md`).

    What lies on an impossible pattern goes to the value that lacks its highest bit. The same is
    done in every marginal, so they agree as before, sum as before and are negative nowhere new.
    """
    shaped = table.reshape(encoding.padded(subset))
    for axis, place in enumerate(subset):
        size, full = encoding.sizes[place], shaped.shape[axis]
        front = np.moveaxis(shaped, axis, 0)
        kept = front[:size].copy()
        kept[size - full // 2 : full // 2] += front[size:]
        shaped = np.moveaxis(kept, 0, axis)
    return shaped


def spell(subset: Sequence[int], bits: int) -> int:
    """A set of bits as the number they spell, of `bits` bits in all."""
    return sum(1 << (bits - 1 - bit) for bit in subset)


def parts(places: Subset) -> list[Subset]:
    """Every set of these bits, in the order of the numbers that they spell."""
    found: list[Subset] = [()]
    for bit in reversed(places):
        found += [(bit, *part) for part in found]
    return found


def signs(masks: NDArray[np.int64], patterns: NDArray[np.int64]) -> NDArray[np.float64]:
    """The parities' values +1 and -1: a row for each mask, a column for each pattern."""
    common = masks[:, None] & patterns
    for half in (32, 16, 8, 4, 2, 1):
        common ^= common >> half
    return np.where(common & 1, -1.0, 1.0)


def walsh_hadamard(values: NDArray[Any]) -> NDArray[Any]:
    """The sums of values times every parity, in n log n steps and in the values' own numbers.

    Along the last axis, whose length is a power of two. Twice gives the values times the length.
    """
    shape, half = values.shape, 1
    while half < shape[-1]:
        pairs = values.reshape(-1, 2, half)
        left, right = pairs[:, 0], pairs[:, 1]
        values = np.stack((left + right, left - right), axis=1)
        half *= 2
    return values.reshape(shape)


def invert(parities: NDArray[Any]) -> NDArray[np.float64]:
    """The table of the parities: exact while no sum passes 2^53, since it halves and no more."""
    table: NDArray[np.float64] = walsh_hadamard(parities) / parities.shape[-1]
    return table
