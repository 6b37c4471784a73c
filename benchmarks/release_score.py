"""What a release is judged by: true counts, errors, limits, and where they are passed."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from adomnia.marginals.workload import Subset, Workload
from adomnia.schema.sealed import Sealed

Tables = Mapping[Subset, np.ndarray[Any, Any]]
OURS, UNBIASED, SEPARATE, INDEPENDENT = (
    "ours", "ours, unbiased", "noise on each marginal", "independent columns",
)  # fmt: skip
FOURIER, MST, AIM = "the paper's Fourier", "MST", "AIM"
SLACK, FASTER = 1.03, 10
"""How much worse than our own unbiased tables ours may be, and how much faster than a peer."""


class Counter:
    """Counts marginals of records, each as if it were there so many times; the code of all
    attributes but the last is kept."""

    def __init__(self, records: np.ndarray, sizes: Sequence[int], times: int = 1):
        self.columns = [np.ascontiguousarray(column, np.int64) for column in records.T]
        self.sizes, self.times, self.few = tuple(sizes), times, len(records)
        self.head: tuple[Subset, int] | None = None
        self.code = np.zeros(self.few, np.int64)

    @property
    def rows(self) -> int:
        return self.few * self.times

    def table(self, subset: Subset) -> np.ndarray:
        if not subset:
            return np.array(self.rows)
        shape = tuple(self.sizes[place] for place in subset)
        head = (subset[:-1], shape[-1])
        if head != self.head:
            self.head, code = head, np.zeros(self.few, np.int64)
            for place in subset[:-1]:
                code = code * self.sizes[place] + self.columns[place]
            self.code = code * shape[-1]
        code = self.code + self.columns[subset[-1]]
        return np.bincount(code, minlength=math.prod(shape)).reshape(shape) * self.times

    def __call__(self, subsets: Sequence[Subset]) -> dict[Subset, Sealed]:
        return {subset: Sealed(self.table(subset)) for subset in subsets}


def ways(sizes: Sequence[int], orders: Sequence[int]) -> Workload:
    """All marginals of these orders."""
    places = range(len(sizes))
    return of(sizes, [part for order in orders for part in combinations(places, order)])


def of(sizes: Sequence[int], subsets: Sequence[Subset]) -> Workload:
    """These marginals."""
    names = tuple(f"a{place}" for place in range(len(sizes)))
    return Workload(names, tuple(sizes), tuple(subsets))


@dataclass(frozen=True)
class Score:
    """How one way did: errors, CPU seconds, and whether all tables are whole and none negative."""

    mean: float
    worst: float
    tv: float
    seconds: float
    whole: bool

    def __str__(self) -> str:
        return f"{number(self.mean)} / {number(self.worst)} / {self.tv:.4f}, {cpu(self.seconds)}"


def mean(scores: Sequence[Score]) -> Score:
    """The means of what several runs gave."""
    parts = zip(*((one.mean, one.worst, one.tv, one.seconds) for one in scores), strict=True)
    return Score(*map(statistics.fmean, parts), all(one.whole for one in scores))


def number(value: float) -> str:
    """Digits as far as they say something."""
    if abs(value) < 1e-9:
        return "0"
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def cpu(seconds: float) -> str:
    return f"{seconds:,.{0 if seconds >= 100 else 1 if seconds >= 1 else 2}f} s"


def errors(
    found: Tables, counter: Counter, subsets: Sequence[Subset]
) -> tuple[float, float, float]:
    """The mean over the marginals of their L1 error, the largest error of a cell, and TV."""
    total, worst = [], 0.0
    for subset in subsets:
        off = np.abs(found[subset] - counter.table(subset))
        total.append(float(off.sum()))
        worst = max(worst, float(off.max()))
    middle = statistics.fmean(total)
    return middle, worst, middle / 2 / max(counter.rows, 1)


def measured(
    run: Callable[[], Tables], counter: Counter, subsets: Sequence[Subset], repeats: int
) -> Score:
    """The means over the repeats."""
    seen = []
    for _ in range(repeats):
        begun = time.process_time()
        found = run()
        seconds = time.process_time() - begun
        whole = all(table.dtype.kind == "i" and (table >= 0).all() for table in found.values())
        seen.append(Score(*errors(found, counter, subsets), seconds, whole))
    return mean(seen)


@dataclass(frozen=True)
class Target:
    """What ours must not pass; whole numbers, none negative, always."""

    mean: float = math.inf
    worst: float = math.inf
    tv: float = math.inf
    seconds: float = math.inf

    def limits(self) -> Iterator[tuple[str, str, str]]:
        """The limits there are: the field, its name, and how it is written."""
        for name, label, form in (
            ("mean", "L1", ",.4g"), ("worst", "cell", ",.4g"), ("tv", "TV", ".4f"),
            ("seconds", "CPU s", ".3g"),
        ):  # fmt: skip
            if math.isfinite(getattr(self, name)):
                yield name, label, form

    def __str__(self) -> str:
        return ", ".join(f"{label} ≤ {getattr(self, name):,g}" for name, label, _ in self.limits())

    def missed(self, score: Score) -> Iterator[str]:
        for name, label, form in self.limits():
            found, limit = getattr(score, name), getattr(self, name)
            if found > limit:
                yield f"{label} {found:{form}} instead of {limit:,g}"
        if not score.whole:
            yield "tables that are not whole numbers from 0 up"


def due(target: Target, scores: Mapping[str, Score]) -> list[str]:
    """What ours should be: the set limits, and those that follow from the others' scores."""
    found = [str(target)] if str(target) else []
    if UNBIASED in scores:
        found.append(f"L1 ≤ {number(scores[UNBIASED].mean * SLACK)} (unbiased + 3 %)")
    if INDEPENDENT in scores:
        found.append(f"L1 ≤ {number(scores[INDEPENDENT].mean)} (independent columns)")
    for name in (MST, AIM):
        if name in scores:
            most = f"{number(scores[name].mean)} in {cpu(scores[name].seconds / FASTER)}"
            found.append(f"L1 below {most} ({name}, a tenth of its time)")
    return found


def behind(target: Target, scores: Mapping[str, Score]) -> list[str]:
    """Where ours is not what it should be."""
    mine = scores[OURS]
    found = list(target.missed(mine))
    if UNBIASED in scores and mine.mean > scores[UNBIASED].mean * SLACK + 1e-6:
        ratio = mine.mean / max(scores[UNBIASED].mean, 1e-300)
        more = f"{ratio:.2f} times" if ratio < 1000 else f"{number(mine.mean)} above"
        found.append(f"{more} our unbiased tables")
    if INDEPENDENT in scores and mine.mean > scores[INDEPENDENT].mean:
        ratio = mine.mean / scores[INDEPENDENT].mean
        found.append(f"{ratio:.2f} times independent columns")
    for name in (MST, AIM):
        if name in scores and mine.mean >= scores[name].mean:
            found.append(f"{mine.mean / scores[name].mean:.2f} times {name}")
        if name in scores and mine.seconds * FASTER > scores[name].seconds:
            found.append(f"1/{scores[name].seconds / mine.seconds:.1f} of {name}'s time")
    return found


def against(mine: Score, theirs: Score, name: str) -> str:
    """Ours as a ratio to a peer's."""
    better = theirs.mean / mine.mean
    word, ratio = ("better", better) if better >= 1 else ("worse", 1 / better)
    faster = theirs.seconds / mine.seconds
    share = f"1/{faster:.0f} of" if faster >= 1.5 else f"{1 / faster:.1f} times"
    cell = theirs.worst / mine.worst
    return f"{word} than {name} by {ratio:.1f} (largest cell {cell:.1f}), in {share} its CPU time"
