"""Integer noise inside a lattice, exact: P(g) is proportional to exp(-|g|_1 / scale).

With the lattice of all changes that exact releases leave possible, what comes out agrees with the
releases as the truth does (`conditioned.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import exponential, laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["Groups", "add_conditioned", "sample"]

Groups = Sequence[tuple[Sequence[int], Fraction]]
"""Columns and the scale of their sum of absolute values."""

SAFE = 1 << 62
FEWEST, MOST = 256, 1 << 15


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of the basis that are drawn together: blocks within, then columns that must agree."""

    rows: tuple[int, ...]
    within: tuple[Block, ...] = ()
    columns: tuple[int, ...] = ()


def add_conditioned(
    sealed: Sealed[NDArray[Any]],
    basis: Any,
    scale: Fraction,
    bits: Bits = SYSTEM,
    *,
    groups: Groups = (),
    places: Sequence[int] | None = None,
) -> NDArray[Any]:
    """The integers with noise of the lattice that the basis spans (`conditioned.md`).

    Scale 0 stands for sensitivity 0 and returns them as they are. With `places`, only the values
    there are opened, in a row.
    """
    values = unseal(sealed)
    values = values if places is None else values.reshape(-1)[list(places)]
    if values.dtype.kind not in "iu" and not all(isinstance(value, int) for value in values.flat):
        raise TypeError("noise is added to integers; scale the values to the grid first")
    drawn = sample(basis, scale, 1, bits, groups=groups)[0]
    total: NDArray[Any] = values.astype(object) + drawn.astype(object)
    return total.astype(np.int64) if _peak(total) < SAFE else total


def sample(
    basis: Any, scale: Fraction, size: int, bits: Bits = SYSTEM, *, groups: Groups = ()
) -> NDArray[Any]:
    """`size` independent draws, one in each row: whole combinations of the rows of the basis.

    P(g) is proportional to exp(-|g|_1 / scale), or with groups of columns to exp(-m), m the
    greatest of |g|_1 / scale and |g on the group|_1 / (the group's scale). Every row of the basis
    has a column that no other row touches; otherwise it is refused.
    """
    if scale < 0 or any(its <= 0 for _, its in groups):
        raise ValueError("a scale is not negative, and a group's is positive")
    rows = np.asarray(basis.toarray() if hasattr(basis, "toarray") else basis, dtype=np.int64)
    if scale == 0 or not len(rows):
        return np.zeros((size, rows.shape[1]), np.int64)
    sampler = _Sampler(rows, scale, bits)
    if not groups:
        return sampler.lattice(size)
    return _until(size, lambda batch: sampler.grouped(batch, groups))


def _until(size: int, attempt: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
    """The first `size` draws that are kept, where an attempt of n draws returns those kept."""
    found: list[NDArray[Any]] = []
    tried = kept = 0
    while kept < size:
        batch = min(max(FEWEST, (size - kept) * (tried + 1) // (kept + 1)), MOST)
        found.append(attempt(batch))
        tried, kept = tried + batch, kept + len(found[-1])
    return np.concatenate(found)[:size]


def _blocks(basis: NDArray[np.int64]) -> list[Block]:
    """Blocks that share nothing; columns of few rows first, so that little is drawn anew."""
    touched = basis != 0
    many = touched.sum(axis=0)
    blocks = [Block((row,)) for row in range(len(basis))]
    for column in sorted(np.flatnonzero(many > 1).tolist(), key=lambda place: (many[place], place)):
        mine = set(np.flatnonzero(touched[:, column]).tolist())
        hit = [block for block in blocks if not mine.isdisjoint(block.rows)]
        blocks = [block for block in blocks if mine.isdisjoint(block.rows)]
        if len(hit) == 1:
            joined = Block(hit[0].rows, hit[0].within, (*hit[0].columns, column))
        else:
            joined = Block(tuple(row for b in hit for row in b.rows), tuple(hit), (column,))
        blocks.append(joined)
    return blocks


class _Sampler:
    """Draws of one basis at one scale."""

    def __init__(self, basis: NDArray[np.int64], scale: Fraction, bits: Bits) -> None:
        self._basis, self._scale, self._bits = basis, scale, bits
        own = (basis != 0).sum(axis=0) == 1
        self._weights: list[int] = np.abs(basis[:, own]).sum(axis=1).tolist()
        if not all(self._weights):
            raise ValueError("every row of the basis needs a column that no other row touches")
        self._growth = int(np.abs(basis).sum())

    def lattice(self, size: int) -> NDArray[Any]:
        """Draws of the whole lattice: blocks that share nothing are independent."""
        blocks = _blocks(self._basis)
        factors = np.concatenate([self._draw(block, size) for block in blocks], axis=1)
        order = [row for block in blocks for row in block.rows]
        return self._combine(factors, self._basis[order])

    def grouped(self, size: int, groups: Groups) -> NDArray[Any]:
        """Of so many draws of the lattice those that stay under the law with groups."""
        drawn = self.lattice(size)
        unit = math.lcm(self._scale.numerator, *(its.numerator for _, its in groups))
        sizes: NDArray[Any] = np.abs(drawn).astype(object)
        alone = sizes.sum(axis=1) * int(unit / self._scale)
        most = alone
        for columns, its in groups:
            most = np.maximum(most, sizes[:, list(columns)].sum(axis=1) * int(unit / its))
        rest = most - alone
        narrow = rest.astype(np.int64) if _peak(rest) < SAFE else rest
        return drawn[self._accepted(narrow, Fraction(unit))]

    def _draw(self, block: Block, size: int) -> NDArray[Any]:
        """`size` draws of the factors of the block's rows."""
        if block.within:
            return _until(size, lambda batch: self._kept(block, batch))
        scale = self._scale / self._weights[block.rows[0]]
        return laplace.sample(scale, size, self._bits)[:, None]

    def _kept(self, block: Block, size: int) -> NDArray[Any]:
        """Draws of the blocks within, each kept with probability exp(-|its columns|_1 / scale)."""
        columns = self._basis[np.ix_(block.rows, block.columns)]
        factors = np.concatenate([self._draw(inner, size) for inner in block.within], axis=1)
        rest = np.abs(self._combine(factors, columns)).sum(axis=1)
        return factors[self._accepted(rest, self._scale)]

    def _combine(self, factors: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
        """Factors times rows, in Python integers where 62 bits might not hold them."""
        wide = _peak(factors) * self._growth >= SAFE
        made: NDArray[Any] = (factors.astype(object) if wide else factors) @ rows
        return made

    def _accepted(self, rest: NDArray[Any], scale: Fraction) -> NDArray[np.bool_]:
        """True with probability exp(-rest/scale), floats deciding only what they prove."""
        uniform = self._bits.words(rest.size)
        chance = exponential.exponentials(rest, 1 / scale)  # to 1e-12 of itself
        point = uniform * 2.0**-64
        slack = 4e-12 * chance + 2.0**-62
        accepted: NDArray[np.bool_] = point < chance - slack
        for place in np.flatnonzero(np.abs(point - chance) <= slack).tolist():
            exponent = int(rest[place]) / scale
            accepted[place] = exponential.under(int(uniform[place]), 64, exponent, self._bits)
        return accepted


def _peak(values: NDArray[Any]) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))
