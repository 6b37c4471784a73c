"""What a release of marginals promises, and how far its numbers differ between neighbours.

Both measurements, parities and the marginals' own cells, are proven in `parities.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import comb

import numpy as np

from adomnia.errors import QuestionError
from adomnia.marginals.paper.bits import Encoding, spell, walsh_hadamard
from adomnia.marginals.workload import Subset
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Sensitivity

__all__ = ["MarginalPromise", "count_sensitivity", "parity_sensitivity"]

SEARCHED = 20
"""Among the changes of up to this many bits the worst one is searched for, not bounded."""


@dataclass(frozen=True)
class MarginalPromise:
    """What is promised, and between which tables.

    With `sensitive`, neighbours differ in the values of these attributes only; everything that
    does not involve one of them is public by that declaration, and comes out exactly.
    """

    loss: Loss
    neighbors: Neighbors
    sensitive: Subset | None = None

    def __post_init__(self) -> None:
        if (self.loss.epsilon > 0) == (self.loss.rho > 0) or self.loss.delta:
            raise QuestionError("a release costs either an epsilon or a rho")
        if self.sensitive == ():
            raise QuestionError("at least one attribute is sensitive")
        if self.sensitive is not None and not self.neighbors.replaces:
            raise QuestionError(
                "where only some attributes are sensitive, rows do not come and go",
                hint="the policy must say neighbors = bounded",
            )

    @property
    def comes_and_goes(self) -> bool:
        """Whether a neighbour can have more or fewer rows."""
        unit = self.neighbors.rows is not None and self.sensitive is None
        return unit or not self.neighbors.replaces

    def changing(self, encoding: Encoding) -> Subset:
        """The attributes whose values can differ between neighbours."""
        every = tuple(range(len(encoding.sizes)))
        return every if self.sensitive is None else self.sensitive

    def moves(self, subset: Subset, changing: Iterable[int]) -> bool:
        """Whether what is measured of a set can differ between neighbours."""
        return self.comes_and_goes or not set(changing).isdisjoint(subset)


def parity_sensitivity(
    encoding: Encoding, subsets: tuple[Subset, ...], promise: MarginalPromise
) -> Sensitivity:
    """How far parities are apart between neighbours (`parities.md`)."""
    many, neighbors = len(subsets), promise.neighbors
    turned, exact = 0, True
    if neighbors.replaces:
        changing = promise.changing(encoding)
        alone = neighbors.relation in ("attribute", "bit")
        groups = [(place,) for place in changing] if alone else [changing]
        turned, exact = _most_turned(subsets, [encoding.places(group) for group in groups])
        exact = exact and all(size & (size - 1) == 0 for size in encoding.sizes)
    comes = many if promise.comes_and_goes else 0
    return _sensitivity(max(comes, 2 * turned), max(comes, 4 * turned), exact, neighbors)


def count_sensitivity(
    marginals: tuple[Subset, ...], changing: Subset, promise: MarginalPromise
) -> Sensitivity:
    """How far the cells of marginals are apart: a row is in one cell of each (`parities.md`)."""
    neighbors = promise.neighbors
    turned = 0
    if neighbors.relation in ("attribute", "bit"):
        turned = max((sum(i in part for part in marginals) for i in changing), default=0)
    elif neighbors.replaces:
        turned = sum(not set(changing).isdisjoint(marginal) for marginal in marginals)
    comes = len(marginals) if promise.comes_and_goes else 0
    return _sensitivity(max(comes, 2 * turned), max(comes, 2 * turned), True, neighbors)


def _sensitivity(l1: int, l2: int, exact: bool, neighbors: Neighbors) -> Sensitivity:
    times = (neighbors.rows or 1) * neighbors.group
    say = "each parity or marginal, for each row"
    return Sensitivity(Fraction(l1 * times), Fraction(l2 * times**2), exact, say)


def _most_turned(subsets: tuple[Subset, ...], groups: list[Subset]) -> tuple[int, bool]:
    """The most parities that one change of bits within a group turns, and if that is reached.

    A change z turns the sets that share an odd number of bits with z (`parities.md`).
    """
    used = set(chain.from_iterable(subsets))
    found = [_turned(subsets, tuple(bit for bit in group if bit in used)) for group in groups]
    return max((most for most, _ in found), default=0), all(exact for _, exact in found)


def _turned(subsets: tuple[Subset, ...], group: Subset) -> tuple[int, bool]:
    if len(group) <= SEARCHED:
        return _searched(subsets, group), True
    weights = Counter(map(len, subsets))
    inside = set(group).issuperset(chain.from_iterable(subsets))
    if inside and all(many == comb(len(group), size) for size, many in weights.items()):
        return max(_odd(len(group), weights, z) for z in range(1, len(group) + 1)), True
    return sum(not set(group).isdisjoint(subset) for subset in subsets), False


def _searched(subsets: tuple[Subset, ...], group: Subset) -> int:
    """By the transform of the sets' indicator: it lacks two at z for each set that z turns."""
    place = {bit: index for index, bit in enumerate(group)}
    indicator = np.zeros(1 << len(group), np.int64)
    for subset in subsets:
        indicator[spell([place[bit] for bit in subset if bit in place], len(group))] += 1
    return (len(subsets) - int(walsh_hadamard(indicator).min())) // 2


def _odd(bits: int, sizes: Iterable[int], changed: int) -> int:
    """How many of all sets of these sizes share an odd number of bits with `changed` of them."""
    return sum(
        comb(changed, shared) * comb(bits - changed, size - shared)
        for size in sizes
        for shared in range(1, size + 1, 2)
    )
