"""The workload: which marginals of which attributes are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb, prod

from adomnia.errors import QuestionError
from adomnia.limits import MAX_RELEASED_CELLS

__all__ = ["Subset", "Workload", "downward_closure", "up_to_ways"]

Subset = tuple[int, ...]
"""Attributes by their place in the policy, ascending."""


@dataclass(frozen=True)
class Workload:
    """Attributes with their numbers of values, and the marginals wanted of them.

    Raises a QuestionError where a marginal is asked for twice, or of attributes that are not there,
    or where all have more cells than fit.

    >>> workload = Workload(("sex", "age"), (2, 10), ((0,), (0, 1)))
    >>> workload.total_cells, workload.shape((0, 1))
    (22, (2, 10))
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    marginals: tuple[Subset, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes) or any(size < 1 for size in self.sizes):
            raise QuestionError("every attribute has a name and at least one value")
        if not self.marginals:
            raise QuestionError("no marginal is asked for", hint="name at least one")
        if len(set(self.marginals)) != len(self.marginals):
            raise QuestionError("a marginal is asked for twice", hint="name each one once")
        last = len(self.names)
        for subset in self.marginals:
            if any(not 0 <= place < last for place in subset):
                raise QuestionError("a marginal names an attribute that is not declared")
            if any(low >= high for low, high in pairwise(subset)):
                raise QuestionError("a marginal names its attributes once each, in their order")
        _check_cells(self.total_cells, "ask for fewer attributes at a time, or fewer marginals")

    def shape(self, subset: Subset) -> tuple[int, ...]:
        """The shape of a marginal's table."""
        return tuple(self.sizes[place] for place in subset)

    def cells(self, subset: Subset) -> int:
        """How many cells a marginal has."""
        return prod([self.sizes[place] for place in subset])

    @property
    def total_cells(self) -> int:
        """How many cells are published in all."""
        return sum(self.cells(subset) for subset in self.marginals)

    @property
    def domain(self) -> int:
        """How many different rows there can be."""
        return prod(self.sizes)


def downward_closure(subsets: Iterable[Subset]) -> tuple[Subset, ...]:
    """Every subset of a wanted marginal, the empty one included, smallest first.

    >>> downward_closure([(0, 1)])
    ((), (0,), (1,), (0, 1))
    """
    found = {
        part for subset in set(subsets) for size in range(len(subset) + 1)
        for part in combinations(subset, size)
    }  # fmt: skip
    return tuple(sorted(found, key=lambda subset: (len(subset), subset)))


def up_to_ways(names: tuple[str, ...], sizes: tuple[int, ...], ways: int) -> Workload:
    """All marginals of one to `ways` attributes, with these names and numbers of values.

    Raises a QuestionError where `ways` is below one, or the cells of all would not fit.

    >>> up_to_ways(("sex", "age"), (2, 10), 2).marginals
    ((0,), (1,), (0, 1))
    """
    if ways < 1:
        raise QuestionError("marginals have at least one way", hint="for example ways = 2")
    ways = min(ways, len(names))
    fits = _fitting(sizes, ways)
    _check_cells(_cells_of_ways(sizes, ways), f"all marginals of up to {fits} ways would fit")
    places = range(len(names))
    wanted = [part for size in range(1, ways + 1) for part in combinations(places, size)]
    return Workload(names, sizes, tuple(wanted))


def _cells_of_ways(sizes: tuple[int, ...], ways: int) -> int:
    """The cells of all marginals of one to `ways` attributes: elementary symmetric sums."""
    sums = [1] + [0] * ways
    for size in sizes:
        for order in range(ways, 0, -1):
            sums[order] += size * sums[order - 1]
    return sum(sums[1:])


def _fitting(sizes: tuple[int, ...], ways: int) -> int:
    fits = [
        order for order in range(1, ways + 1)
        if max(_cells_of_ways(sizes, order), comb(len(sizes), order)) <= MAX_RELEASED_CELLS
    ]  # fmt: skip
    return max(fits, default=0)


def _check_cells(cells: int, hint: str) -> None:
    if cells > MAX_RELEASED_CELLS:
        raise QuestionError(
            f"{cells:,} cells do not fit; at most {MAX_RELEASED_CELLS:,} do", hint=hint
        )
