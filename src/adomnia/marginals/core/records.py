"""The fit of records: a tree to start from, then descent, order by order (`microdata.md`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.estimate import Residuals, turn
from adomnia.marginals.core.microdata import Aim, SyntheticRecords
from adomnia.marginals.core.repair import repaired
from adomnia.marginals.core.shrink import shrunk, to_simplex
from adomnia.marginals.workload import Subset

__all__ = ["Forbidden", "fit_records"]

Floats = NDArray[np.float64]
Records = NDArray[np.int64]
Forbidden = dict[Subset, NDArray[np.bool_]]
"""Cells that must stay empty, by subset."""

WORK = 1 << 31
"""Looked-up cells that the descent on higher orders may cost, per sweep."""

MOST_KINDS = 1 << 17
"""With how many kinds of records the descent begins at most; more come by splitting."""

SURE = 0.15
"""Counts with noise of a smaller deviation are the nearest whole number, but once in a thousand."""

ROUNDS, TIED_ROUNDS = 10, 100
"""How often a table is brought to its sums; more often where cells are forbidden."""
SINGLE = 5.0
"""The weight of single tables beside pairs."""


@dataclass(frozen=True, eq=False)
class _Pair:
    """A pair's table after shrinkage, and how far it is from independence."""

    subset: Subset
    table: Floats
    distance: float
    noise: float
    allowed: NDArray[np.bool_] | None = None
    """Where records may be, if not everywhere."""


def fit_records(
    residuals: Residuals, rows: int, chance: np.random.Generator, forbidden: Forbidden | None = None
) -> SyntheticRecords:
    """`rows` records whose marginals come close to the measured ones."""
    from adomnia.marginals.core.search import descend  # noqa: PLC0415 (numba is slow to import)

    sizes = residuals.sizes
    if rows == 0:
        return SyntheticRecords(np.zeros((0, len(sizes)), np.int64), np.zeros(0, np.int64))
    singles = _singles(residuals, rows)
    pairs = _pairs(residuals, rows, singles)
    aims = [Aim((place,), table, SINGLE) for place, table in singles.items()]
    aims += [Aim(pair.subset, pair.table, 1.0, pair.noise) for pair in pairs]
    if max((pair.noise for pair in pairs), default=1.0) < SURE:
        aims = [replace(aim, table=np.rint(aim.table)) for aim in aims]
    aims = _forbid(aims, sizes, forbidden or {})
    few = min(rows, MOST_KINDS)
    times = np.diff(np.arange(few + 1) * rows // few)
    links = _tied(pairs, sizes, singles, forbidden or {})
    made = SyntheticRecords(_tree(sizes, few, singles, links, chance), times)
    made = descend(repaired(made, sizes, forbidden or {}, chance), sizes, aims, chance)
    order = max(len(block.group.shape) for block in residuals.blocks)
    for ways in range(3, order + 1):
        more = _higher(residuals, made, ways)
        if more:
            aims += more
            made = descend(made, sizes, aims, chance)
    return made


def _singles(residuals: Residuals, rows: int) -> dict[int, Floats]:
    """The tables of the measured attributes, not negative; the others even."""
    even = {place: np.full(size, rows / size) for place, size in enumerate(residuals.sizes)}
    places, values, variances = _blocks(residuals, 1)
    for (place,), kept in zip(places, shrunk(values, variances), strict=True):
        size = residuals.sizes[place]
        slots = np.concatenate([[rows / size**0.5], kept])[None]
        even[place] = to_simplex(turn(slots, (size,), inverse=True)[0], rows)
    return even


def _blocks(
    residuals: Residuals, order: int
) -> tuple[list[Subset], list[NDArray[Any]], list[float]]:
    """The measured blocks of one order: subsets, coefficients, variances."""
    mine = [block for block in residuals.blocks if len(block.group.shape) == order]
    return (
        [subset for block in mine for subset in block.group.subsets],
        [values for block in mine for values in block.values],
        [variance for block in mine for variance in block.variances.tolist()],
    )


def _pairs(residuals: Residuals, rows: int, singles: dict[int, Floats]) -> list[_Pair]:
    """Deviations from independence shrunk, and the tables put together again."""
    subsets, values, variances = _blocks(residuals, 2)
    even = [np.outer(singles[left], singles[right]) / rows for left, right in subsets]
    found = []
    for number, (_, deviation) in enumerate(_deviations(even, values, variances)):
        distance = float(np.abs(deviation).sum())
        table, noise = even[number] + deviation, variances[number] ** 0.5
        found.append(_Pair(subsets[number], table, distance, noise))
    return found


def _deviations(
    tables: Sequence[Floats], values: Sequence[NDArray[Any]], variances: Sequence[float]
) -> Iterator[tuple[Floats, Floats]]:
    """What of the measured differences to some tables is signal: as coefficients and as cells."""
    inside: list[Any] = [(0, *(slice(1, None),) * table.ndim) for table in tables]
    base = [turn(t[None], t.shape)[slot] for t, slot in zip(tables, inside, strict=True)]
    differ = [mine - its for mine, its in zip(values, base, strict=True)]
    for table, slot, kept in zip(tables, inside, shrunk(differ, variances), strict=True):
        slots = np.zeros((1, *table.shape))
        slots[slot] = kept
        yield kept, turn(slots, table.shape, inverse=True)[0]


def _tied(
    pairs: Sequence[_Pair],
    sizes: tuple[int, ...],
    singles: dict[int, Floats],
    forbidden: Forbidden,
) -> list[_Pair]:
    """The pairs, and those that forbidden cells tie together: they come first in the tree.

    The search changes one value at a time and cannot mend both sides of such a tie afterwards.
    """
    found = {pair.subset: pair for pair in pairs}
    first = sum(pair.distance for pair in pairs) + 1.0
    for subset, mask in forbidden.items():
        for left, right in combinations(subset, 2):
            rest = tuple(i for i, place in enumerate(subset) if place not in (left, right))
            allowed: NDArray[np.bool_] = np.asarray(~mask.all(axis=rest))
            if allowed.all():
                continue
            even = np.outer(singles[left], singles[right]) / max(float(singles[left].sum()), 1e-300)
            old = found.get((left, right), _Pair((left, right), even, 0.0, 0.0))
            if old.allowed is not None:
                allowed = allowed & old.allowed
            share = float(even[~allowed].sum() / max(even.sum(), 1e-300))
            found[left, right] = replace(
                old, table=old.table * allowed, distance=first * (1 + share), allowed=allowed
            )
    return list(found.values())


def _tree(
    sizes: tuple[int, ...],
    rows: int,
    singles: dict[int, Floats],
    pairs: Sequence[_Pair],
    chance: np.random.Generator,
) -> Records:
    """Records drawn along the tree of the pairs farthest from independence."""
    by_pair = {pair.subset: pair for pair in pairs}
    weight = dict.fromkeys(range(len(sizes)), 0.0)
    for pair in pairs:
        for place in pair.subset:
            weight[place] += pair.distance
    root = max(weight, key=lambda place: weight[place])
    records = np.zeros((rows, len(sizes)), np.int64)
    records[:, root] = chance.permutation(_dealt(singles[root], rows))
    left = [place for place in range(len(sizes)) if place != root]
    near = {place: _link(by_pair, place, root) for place in left}
    while left:
        place = max(left, key=lambda one: near[one][0])
        left.remove(place)
        _, parent = near[place]
        link = by_pair.get(_ordered(parent, place))
        if link is None:
            records[:, place] = chance.permutation(_dealt(singles[place], rows))
        else:
            table = _oriented(link, parent, place, singles)
            records[:, place] = _conditional(records[:, parent], table, singles[place], chance)
        for other in left:
            near[other] = max(near[other], _link(by_pair, other, place))
    return records


def _ordered(left: int, right: int) -> Subset:
    return (left, right) if left < right else (right, left)


def _link(by_pair: dict[Subset, _Pair], place: int, parent: int) -> tuple[float, int]:
    pair = by_pair.get(_ordered(place, parent))
    return (pair.distance if pair else -1.0, parent)


def _oriented(pair: _Pair, parent: int, place: int, singles: dict[int, Floats]) -> Floats:
    """The pair's table, not negative, parent first, its sums brought to the single tables."""
    even = np.outer(singles[parent], singles[place])
    if pair.allowed is not None:
        even = even * (pair.allowed if parent < place else pair.allowed.T)
    table = np.maximum(pair.table if parent < place else pair.table.T, 0) + 1e-9 * even
    for _ in range(ROUNDS if pair.allowed is None else TIED_ROUNDS):
        table = table * _ratio(singles[parent], table.sum(axis=1))[:, None]
        table = table * _ratio(singles[place], table.sum(axis=0))[None, :]
    return table


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.where(found > 0, wanted / np.where(found > 0, found, 1), 0)


def _dealt(table: Floats, rows: int) -> Records:
    """Values in proportion to a table, each one's number rounded up or down."""
    ends = np.rint(np.cumsum(table) * (rows / max(float(table.sum()), 1e-300))).astype(np.int64)
    ends[-1] = rows
    return np.repeat(np.arange(len(table)), np.diff(ends, prepend=0))


def _conditional(
    parents: Records, table: Floats, single: Floats, chance: np.random.Generator
) -> Records:
    """A value for each record, dealt evenly to the records of each parent value."""
    values = table.shape[1]
    law = np.where(table.sum(axis=1, keepdims=True) > 0, table, single + 1e-12)
    ends = np.cumsum(law, axis=1)
    ends /= ends[:, -1:]
    order = np.lexsort((chance.random(len(parents)), parents))
    counts = np.bincount(parents, minlength=len(table))
    mine = parents[order]
    first = np.cumsum(counts) - counts
    offset = chance.random(len(table))
    place = (np.arange(len(parents)) - first[mine] + offset[mine]) / counts[mine]
    stacked = (ends + np.arange(len(table))[:, None]).reshape(-1)
    found = np.searchsorted(stacked, mine + np.minimum(place, 1 - 1e-9), "right") - mine * values
    dealt = np.empty_like(parents)
    dealt[order] = np.clip(found, 0, values - 1)
    return dealt


def _higher(residuals: Residuals, made: SyntheticRecords, ways: int) -> list[Aim]:
    """Aims of one order: what the records have, and what of the measured difference is signal.

    The blocks with most signal for their noise come first, as far as the work allows.
    """
    sizes, rows = residuals.sizes, made.rows
    wanted = [
        one for one in zip(*_blocks(residuals, ways), strict=True)
        if prod(sizes[place] for place in one[0]) <= rows
    ]  # fmt: skip
    have = [made.tabulate(sizes, subset).astype(np.float64) for subset, _, _ in wanted]
    judged = _deviations(have, [one[1] for one in wanted], [one[2] for one in wanted])
    found: list[tuple[float, Aim]] = []
    for (subset, _, variance), table, (signal, deviation) in zip(wanted, have, judged, strict=True):
        gain = float((signal**2).sum()) / max(variance, 1e-12) / signal.size
        found.append((gain, Aim(subset, table + deviation, 1.0, variance**0.5)))
    found.sort(key=lambda pair: -pair[0])
    most = max(1, WORK // max(len(made.times) * sum(sizes) // len(sizes) * ways, 1))
    return [aim for _, aim in found[:most]]


def _forbid(aims: list[Aim], sizes: tuple[int, ...], forbidden: Forbidden) -> list[Aim]:
    """The aims with their forbidden cells; a forbidden table that is no aim becomes one."""
    by_subset = {aim.subset: aim for aim in aims}
    for subset, mask in forbidden.items():
        old = by_subset.get(subset)
        table = old.table if old else np.zeros(tuple(sizes[place] for place in subset))
        weight = old.weight if old else 0.0
        by_subset[subset] = Aim(subset, table, weight, old.noise if old else 0.0, mask)
    return list(by_subset.values())
