"""The records fit, for domains that no table holds: a tree to start from, then descent, order by
order (`microdata.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.estimate import Residuals, turn
from adomnia.marginals.core.microdata import (
    MOST_MOVING,
    SWEEPS,
    Aim,
    Records,
    descend,
    replicate,
    tabulate,
)
from adomnia.marginals.core.shrink import posterior_means, to_simplex
from adomnia.marginals.workload import Subset

__all__ = ["Forbidden", "fit_records"]

Floats = NDArray[np.float64]
Forbidden = dict[Subset, NDArray[np.bool_]]
"""Cells that must stay empty, by subset."""

WORK = 1 << 31
"""Looked-up cells that the descent on higher orders may cost, per sweep."""

ROUNDS = 10
SINGLE = 5.0
"""The weight of single tables beside pairs."""


@dataclass(frozen=True, eq=False)
class _Pair:
    """A pair's table after shrinkage, and how far it is from independence."""

    subset: Subset
    table: Floats
    distance: float
    noise: float


def fit_records(
    residuals: Residuals, rows: int, chance: np.random.Generator, forbidden: Forbidden | None = None
) -> Records:
    """`rows` records whose marginals come close to the measured ones."""
    sizes = residuals.sizes
    if rows == 0:
        return np.zeros((0, len(sizes)), np.int64)
    singles = _singles(residuals, rows)
    pairs = _pairs(residuals, rows, singles)
    aims = [Aim((place,), table, SINGLE) for place, table in singles.items()]
    aims += [Aim(pair.subset, pair.table, 1.0, pair.noise) for pair in pairs]
    aims = _forbid(aims, sizes, forbidden or {})
    few = min(rows, MOST_MOVING)
    records = _tree(sizes, few, singles, pairs, chance)
    records = descend(records, sizes, [_scaled(aim, few / rows) for aim in aims], chance)
    if few < rows:
        records = descend(replicate(records, rows, chance), sizes, aims, chance, SWEEPS[1:])
    order = max(len(block.group.shape) for block in residuals.blocks)
    for ways in range(3, order + 1):
        more = _higher(residuals, records, ways)
        if more:
            aims += more
            records = descend(records, sizes, aims, chance, SWEEPS[1:])
    return records


def _scaled(aim: Aim, by: float) -> Aim:
    return Aim(aim.subset, aim.table * by, aim.weight, aim.noise * by, aim.forbidden)


def _singles(residuals: Residuals, rows: int) -> dict[int, Floats]:
    """The tables of the measured attributes, not negative; the others even."""
    even = {place: np.full(size, rows / size) for place, size in enumerate(residuals.sizes)}
    for block in residuals.blocks:
        if len(block.group.shape) == 1:
            for number, place in enumerate(block.group.places[:, 0].tolist()):
                kept = posterior_means(block.values[number], float(block.variances[number]))
                slots = np.concatenate([[rows / len(even[place]) ** 0.5], kept])[None]
                even[place] = to_simplex(turn(slots, block.group.shape, inverse=True)[0], rows)
    return even


def _pairs(residuals: Residuals, rows: int, singles: dict[int, Floats]) -> list[_Pair]:
    """Deviations from independence shrunk, and the tables put together again."""
    found = []
    for block in residuals.blocks:
        shape = block.group.shape
        if len(shape) != 2:
            continue
        for number, (left, right) in enumerate(block.group.places.tolist()):
            even = np.outer(singles[left], singles[right]) / rows
            base = turn(even[None], shape)[0, 1:, 1:]
            kept = posterior_means(block.values[number] - base, float(block.variances[number]))
            slots = np.zeros((1, *shape))
            slots[0, 1:, 1:] = kept
            deviation = turn(slots, shape, inverse=True)[0]
            noise = float(block.variances[number]) ** 0.5
            distance = float(np.abs(deviation).sum())
            found.append(_Pair((left, right), even + deviation, distance, noise))
    return found


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
    done, left = [root], [place for place in range(len(sizes)) if place != root]
    near = {place: _link(by_pair, place, root) for place in left}
    while left:
        place = max(left, key=lambda one: near[one][0])
        left.remove(place)
        _, parent = near[place]
        table = _oriented(by_pair.get(_ordered(parent, place)), parent, place, singles)
        records[:, place] = _conditional(records[:, parent], table, singles[place], chance)
        done.append(place)
        for other in left:
            near[other] = max(near[other], _link(by_pair, other, place))
    return records


def _ordered(left: int, right: int) -> Subset:
    return (left, right) if left < right else (right, left)


def _link(by_pair: dict[Subset, _Pair], place: int, parent: int) -> tuple[float, int]:
    pair = by_pair.get(_ordered(place, parent))
    return (pair.distance if pair else -1.0, parent)


def _oriented(pair: _Pair | None, parent: int, place: int, singles: dict[int, Floats]) -> Floats:
    """The pair's table, not negative, parent first, its sums brought to the single tables."""
    even = np.outer(singles[parent], singles[place])
    if pair is None:
        return even
    table = np.maximum(pair.table if parent < place else pair.table.T, 0) + 1e-9 * even
    for _ in range(ROUNDS):
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


def _higher(residuals: Residuals, records: Records, ways: int) -> list[Aim]:
    """Aims of one order: what the records have, and what of the measured difference is signal.

    The blocks with most signal for their noise come first, as far as the work allows.
    """
    sizes = residuals.sizes
    found: list[tuple[float, Aim]] = []
    for block in residuals.blocks:
        shape = block.group.shape
        if len(shape) != ways:
            continue
        if prod(shape) > len(records):
            continue
        slot: tuple[Any, ...] = (0, *(slice(1, None),) * ways)
        for number, subset in enumerate(block.group.subsets):
            have = tabulate(records, sizes, subset).astype(np.float64)
            base = turn(have[None], shape)[slot]
            kept = posterior_means(block.values[number] - base, float(block.variances[number]))
            slots = np.zeros((1, *shape))
            slots[slot] = kept
            deviation = turn(slots, shape, inverse=True)[0]
            gain = float((kept**2).sum()) / max(float(block.variances[number]), 1e-12) / kept.size
            if gain > 0.2:
                noise = float(block.variances[number]) ** 0.5
                found.append((gain, Aim(subset, have + deviation, 1.0, noise)))
    found.sort(key=lambda pair: -pair[0])
    most = max(1, WORK // max(len(records) * sum(sizes) // len(sizes) * ways, 1))
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
