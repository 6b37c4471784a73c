"""Random trees: tests of attributes drawn by lot, so that their shape is public.

Nothing of a tree rests on the data; only how many rows of each class come to rest in its leaves
does, and that is one question (`random_forest.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adomnia.mining.parts.coarsening import ABSENT, Coarsening

__all__ = ["KEPT", "RandomTree", "draw_tree"]

KEPT = 2 / 3
"""The share of evenly spread rows that a cut by lot leaves on a row's own side, in the mean:
the integral of u² + (1 - u)² for u from 0 to 1."""

Span = tuple[int, int]


@dataclass(frozen=True)
class _Test:
    """Whether a row's group of an axis is below an end; a number stands for a leaf."""

    axis: int
    end: int
    low: _Test | int
    high: _Test | int


@dataclass(frozen=True)
class RandomTree:
    """A tree over axes, whose listed values are in an order drawn by lot; `size` leaves.

    >>> from fractions import Fraction
    >>> tree = draw_tree([Coarsening("age", (Fraction(18),))], 1, np.random.default_rng(0))
    >>> tree.size, tree.expression()
    (2, 'CASE WHEN "age" < 18 THEN 0 ELSE 1 END')
    """

    axes: tuple[Coarsening, ...]
    root: _Test | int
    size: int

    def expression(self) -> str:
        """The number of a row's leaf, in SQL; a row without the tested value goes to the high side.

        A CASE takes its ELSE where a test is NULL.
        """
        return self._sql(self.root)

    def _sql(self, node: _Test | int) -> str:
        if isinstance(node, int):
            return str(node)
        test = self.axes[node.axis].below(node.end)
        return f"CASE WHEN {test} THEN {self._sql(node.low)} ELSE {self._sql(node.high)} END"

    def leaves(self, columns: Sequence[NDArray[np.object_]]) -> NDArray[np.int64]:
        """The leaf of each public row, from one column for each axis."""
        codes = [axis.codes(column) for axis, column in zip(self.axes, columns, strict=True)]
        out = np.zeros(len(codes[0]), np.int64)
        for node, rows in _descend(self.root, codes, np.arange(len(out))):
            out[rows] = node
        return out


def _descend(
    node: _Test | int, codes: Sequence[NDArray[np.int64]], rows: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    if isinstance(node, int):
        yield node, rows
        return
    here = codes[node.axis][rows]
    low = (here < node.end) & (here != ABSENT)
    yield from _descend(node.low, codes, rows[low])
    yield from _descend(node.high, codes, rows[~low])


def draw_tree(axes: Sequence[Coarsening], depth: int, draw: np.random.Generator) -> RandomTree:
    """A tree of this depth: each test takes an axis by lot, and a cut by lot within its span.

    It is less deep where the spans of all axes have come down to one group.
    """
    ordered = tuple(
        axis if axis.groups is None else axis.ordered(draw.permutation(axis.size).tolist())
        for axis in axes
    )
    grown = _Growing(draw)
    root = grown.node([(0, axis.size) for axis in ordered], depth)
    return RandomTree(ordered, root, grown.leaves)


class _Growing:
    """A tree under way: the lot, and how many leaves there are."""

    def __init__(self, draw: np.random.Generator) -> None:
        self.draw, self.leaves = draw, 0

    def node(self, spans: Sequence[Span], depth: int) -> _Test | int:
        open_axes = [i for i, (low, high) in enumerate(spans) if high - low > 1]
        if depth == 0 or not open_axes:
            self.leaves += 1
            return self.leaves - 1
        axis = int(self.draw.choice(open_axes))
        low, high = spans[axis]
        end = int(self.draw.integers(low + 1, high))
        below, above = ([*spans[:axis], part, *spans[axis + 1 :]] for part in
                        ((low, end), (end, high)))  # fmt: skip
        return _Test(axis, end, self.node(below, depth - 1), self.node(above, depth - 1))
