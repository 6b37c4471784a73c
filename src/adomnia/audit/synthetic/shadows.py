"""Shadow releases: the same generator on tables with and without each target (`membership.md`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.linkage.equivalence_classes import classes
from adomnia.marginals.core.microdata import SyntheticRecords

__all__ = ["Others", "RecordGenerator", "Shadows", "choose_targets", "make_shadows"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Others = Literal["known", "drawn"]
"""Whether the attacker knows who else is in the data, or only from whom half of them are drawn."""

FEWEST = 4
"""So many are made whatever the time: half of them are learned from, half are judged."""
NEAR = 3
"""Records that agree with a target but for fewer columns than this are counted, too."""


@dataclass(frozen=True, eq=False)
class RecordGenerator:
    """What makes up records of rows, and what it promises.

    `make` takes rows of codes, those of column c below `sizes[c]`, and gives records of the same
    columns. `epsilon` (with `delta`) is what it promises for one row more or less, or for one row
    that is another where it `replaces`; None where it promises nothing of the kind.

    >>> import numpy as np
    >>> from adomnia.marginals.core.microdata import SyntheticRecords
    >>> def copy(rows): return SyntheticRecords(rows, np.ones(len(rows), np.int64))
    >>> RecordGenerator(copy, np.zeros((30, 2), np.int64), (1, 1)).epsilon is None
    True
    """

    make: Callable[[Ints], SyntheticRecords]
    rows: Ints
    sizes: tuple[int, ...]
    epsilon: float | None = None
    delta: float = 0.0
    replaces: bool = False


@dataclass(frozen=True, eq=False)
class Shadows:
    """For each release whether each target was in it, and what an attacker sees of each."""

    inside: NDArray[np.bool_]
    seen: Floats


def choose_targets(
    rows: Ints, sizes: Sequence[int], many: int, chance: np.random.Generator
) -> tuple[Ints, Ints]:
    """The places of the oddest rows, and of as many others by chance.

    Odd is who stands alone even where one column is not looked at; of those who are equally
    alone, who has the rarer values.
    """
    crowd, rarity = np.zeros(len(rows)), np.zeros(len(rows))
    for column, values in enumerate(rows.T):
        others = [c for c in range(len(sizes)) if c != column]
        group = classes([(rows[:, c], sizes[c]) for c in others], len(rows))
        crowd += np.bincount(group)[group]
        rarity -= np.log(np.bincount(values)[values])
    order = np.lexsort((-rarity, crowd))
    odd = order[: many // 2]
    return odd, chance.choice(order[many // 2 :], many - len(odd), replace=False)


def make_shadows(
    generator: RecordGenerator,
    targets: Ints,
    shadows: int,
    others: Others,
    chance: np.random.Generator,
    watch: Callable[[], bool],
) -> Shadows:
    """So many releases; each target is in each by the toss of a coin.

    `watch` is called after each, and says whether there is time for more.
    Everybody else is in all of them, or a fresh half of them is. Where the generator promises for
    a row that is replaced, a target that is out has somebody else in its place.
    """
    rest = np.setdiff1d(np.arange(len(generator.rows)), targets)
    inside: list[NDArray[np.bool_]] = []
    seen: list[list[Floats]] = []
    left = True
    while len(inside) < shadows and (left or len(inside) < FEWEST):
        tossed = chance.integers(0, 2, len(targets)).astype(bool)
        pool = chance.permutation(rest)
        stand_ins = pool[: len(targets)] if generator.replaces else pool[:0]
        base = pool[len(stand_ins) :]
        if others == "drawn":
            base = base[: len(base) // 2]
        out = stand_ins[~tossed] if generator.replaces else stand_ins
        made = generator.make(generator.rows[np.concatenate([base, targets[tossed], out])])
        inside.append(tossed)
        seen.append([_features(made, generator.rows[target]) for target in targets])
        left = watch()
    return Shadows(np.array(inside), np.array(seen, np.float64))


def _features(made: SyntheticRecords, target: Ints) -> Floats:
    """How many records there are, and how many share values with the target: each one, each two,
    all but a few, and all but each one."""
    same = (np.asarray(made.records) == target).astype(np.float64)
    times = made.times.astype(np.float64)
    pairs = (same * times[:, None]).T @ same
    agree = same.sum(axis=1)
    near = [float(times[agree >= len(target) - miss].sum()) for miss in range(NEAR)]
    but_one = times @ (agree[:, None] - same == len(target) - 1)
    return np.concatenate([[times.sum()], pairs[np.triu_indices(len(target))], near, but_one])


def deadline(seconds: float, tell: Callable[[], None] | None = None) -> Callable[[], bool]:
    """What says that there is time left, and that one more was made."""
    end = time.monotonic() + seconds

    def watch() -> bool:
        if tell is not None:
            tell()
        return time.monotonic() < end

    return watch
