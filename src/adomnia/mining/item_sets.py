"""Frequent item sets and association rules by Apriori, from noisy counts (`item_sets.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np

from adomnia.errors import QuestionError
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.association_rules import (
    AssociationRule,
    ItemSet,
    NoisyCount,
    rules_of,
    sum_margin,
)
from adomnia.mining.parts.coarsening import Coarsening, axes_of
from adomnia.mining.parts.estimator import Unsupervised
from adomnia.mining.parts.fitting import Fitting, check_whole
from adomnia.mining.parts.moments import scale_of
from adomnia.mining.parts.statements import select

__all__ = ["FrequentItemSets"]

Item = tuple[int, int]
"""The number of a column, and of its group."""

MOST_CELLS = 20_000
MOST_TABLES = 200
CUT = f"more than {MOST_TABLES} tables were candidates of one length: the likeliest were counted"


class FrequentItemSets(Unsupervised):
    """Sets of items that a share `min_support` of the rows has, up to `max_length` items.

    An item is a column with one of its listed values; of truth values and of 0 and 1 only the
    true ones are items. Numbers with bounds are cut at `cuts`, or into `bins`. `split` weighs the
    lengths (`length 1`, …). After `fit`, `sets_` are the frequent sets, most frequent first, and
    `rows_` is about how many rows there are.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = FrequentItemSets(0.2).fit(database.session(), ["sex", "region"], epsilon=20)
    >>> type(model.sets_[0]).__name__, all(each.support > 0.1 for each in model.sets_)
    ('ItemSet', True)
    """

    sets_: tuple[ItemSet, ...]
    rows_: NoisyCount

    def __init__(
        self,
        min_support: float = 0.1,
        max_length: int = 2,
        bins: int = 4,
        cuts: Mapping[str, Sequence[float]] | None = None,
        confidence: float = 0.95,
        split: Mapping[str, Any] | None = None,
    ) -> None:
        self.min_support = min_support
        self.max_length = max_length
        self.bins = bins
        self.cuts = cuts
        self.confidence = confidence
        self.split = split

    def check_parameters(self) -> None:
        """Refuse, by a QuestionError, lengths, bins and shares that count nothing."""
        check_whole("max_length", self.max_length, 1)
        check_whole("bins", self.bins, 2)
        if not 0 < self.min_support <= 1 or not 0.5 <= self.confidence < 1:
            raise QuestionError("min_support must be in (0, 1], and confidence in [0.5, 1)")

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """One joint table where it is small and `split` is not given; else one for each length."""
        if self.split is None and _is_small(self._axes(fit), self.max_length):
            return {"joint": 1}
        return {f"length {k}": k for k in range(1, self.max_length + 1)}

    def questions(self, features: Sequence[str]) -> int:
        """The tables of single columns, and one more."""
        return len(features) + 1

    def learn(self, fit: Fitting) -> None:
        """Count sets of growing length; those with an infrequent part are not counted."""
        counts = _ItemCounts(fit, self._axes(fit), self.confidence)
        self.sets_ = self._joint(counts) if "joint" in self.split_ else self._by_length(counts)

    def _axes(self, fit: Fitting) -> tuple[Coarsening, ...]:
        axes = axes_of(fit.session, fit.features, self.bins, self.cuts)
        if self.max_length > len(axes):
            raise QuestionError(
                f"max_length is {self.max_length}, but there are {len(axes)} columns",
                "a set has at most one item of each column",
            )
        return axes

    def rules(self, min_confidence: float = 0.5) -> list[AssociationRule]:
        """Rules "who has these has those too" from the frequent sets, surest first.

        Only rules with at least this confidence; raises a QuestionError where it is not fitted.
        """
        self.check_fitted()
        known = {frozenset(found.items): found.count for found in self.sets_}
        return rules_of(known, self.rows_, min_confidence)

    def _joint(self, count: _ItemCounts) -> tuple[ItemSet, ...]:
        """Every set is a sum over the cells of one small table."""
        count.ask(range(len(count.axes)), self.split_["joint"])
        return self._levels(count, lambda *_: None)

    def _by_length(self, count: _ItemCounts) -> tuple[ItemSet, ...]:
        """Tables of the columns of all candidates share the epsilon of their length."""

        def ask(columns: Sequence[tuple[int, ...]], length: int) -> None:
            part = self.split_[f"length {length}"]
            for chosen in columns if part else ():
                count.ask(chosen, part / len(columns))

        return self._levels(count, ask)

    def _levels(self, count: _ItemCounts, ask: Any) -> tuple[ItemSet, ...]:
        frequent: dict[frozenset[Item], NoisyCount] = {}
        level: list[frozenset[Item]] = [frozenset([item]) for item in count.items()]
        for length in range(1, self.max_length + 1):
            columns, level = _tables(level, frequent, count.fit)
            ask(columns, length)
            if length == 1:
                self.rows_ = count.rows()
            found = {each: got for each in level if (got := count.of(each)) is not None}
            kept = {each: got for each, got in found.items() if self._is_frequent(got)}
            frequent |= kept
            level = _candidates(list(kept), frequent, length + 1)
            if not level:
                break
        sets = [self._named(count, each, got) for each, got in frequent.items()]
        return tuple(sorted(sets, key=lambda each: (-each.support, len(each.items))))

    def _is_frequent(self, found: NoisyCount) -> bool:
        """Whether a noisy count reaches the threshold, and stands out of its own noise."""
        return found.value >= max(self.min_support * self.rows_.value, found.margin)

    def _named(self, count: _ItemCounts, items: frozenset[Item], found: NoisyCount) -> ItemSet:
        names = [count.axes[c].describe(g, g + 1) for c, g in sorted(items)]
        rows = max(self.rows_.value, 1.0)
        support = found.value / rows
        margin = (found.margin + support * self.rows_.margin) / max(rows - self.rows_.margin, 1.0)
        sure = support - margin >= self.min_support
        return ItemSet(tuple(names), found, support, min(1.0, margin), sure)


class _ItemCounts:
    """Noisy tables by their columns, and the counts of sets that they hold."""

    def __init__(self, fit: Fitting, axes: tuple[Coarsening, ...], confidence: float) -> None:
        self.fit, self.axes, self.confidence = fit, axes, confidence
        self.tables: dict[tuple[int, ...], tuple[Floats, float]] = {}

    def items(self) -> list[Item]:
        """Every group of every column; of truth values and of 0 and 1 the true one."""
        out = []
        for column, axis in enumerate(self.axes):
            values = [] if axis.groups is None else [group[0] for group in axis.groups]
            truth = len(values) == 2 and set(values) == {0, 1}
            groups = [values.index(1)] if truth else range(axis.size)
            out += [(column, group) for group in groups]
        return out

    def ask(self, columns: Iterable[int], epsilon: Any) -> None:
        """One question: the joint counts of these columns."""
        chosen = tuple(columns)
        axes = [self.axes[column] for column in chosen]
        keys = {f"a{place}": axis.expression() for place, axis in enumerate(axes)}
        where = " AND ".join(axis.present for axis in axes)
        sql = select(self.fit.session, {"n": "COUNT(*)"}, keys=keys, where=where)
        counts = np.zeros([axis.size for axis in axes])
        answer = self.fit.ask(sql, epsilon, f"{len(chosen)} columns")
        for *cell, value in answer.rows:
            counts[tuple(int(part) for part in cell)] = value
        self.tables[chosen] = counts, scale_of(answer)

    def of(self, items: frozenset[Item]) -> NoisyCount | None:
        """How many rows have all items, from the smallest table that holds their columns."""
        columns = {column for column, _ in items}
        holding = [each for each in self.tables if columns <= set(each)]
        if not holding:
            return None
        chosen = min(holding, key=lambda each: self.tables[each][0].size)
        counts, scale = self.tables[chosen]
        group = dict(items)
        part = counts[tuple(group.get(column, slice(None)) for column in chosen)]
        terms = int(np.size(part))
        return NoisyCount(float(np.sum(part)), sum_margin(scale, terms, self.confidence))

    def rows(self) -> NoisyCount:
        """How many rows there are, from the table that says it best."""
        best = [
            NoisyCount(float(counts.sum()), sum_margin(scale, counts.size, self.confidence))
            for counts, scale in self.tables.values()
        ]
        found = min(best, key=lambda each: each.margin, default=NoisyCount(1.0, 0.0))
        if found.value <= found.margin:
            self.fit.note("the noise is wider than the number of rows: use a larger epsilon")
        return NoisyCount(max(1.0, found.value), found.margin)


def _is_small(axes: Sequence[Coarsening], length: int) -> bool:
    """Whether one joint table is less noisy than tables of their own for all sets of columns.

    A sum over c cells of one table has the noise of √c, a table that shares the epsilon with
    t others that of t; so the joint table wins with no more cells than t².
    """
    tables = sum(comb(len(axes), k) for k in range(1, length + 1))
    return prod(axis.size for axis in axes) <= min(MOST_CELLS, tables**2)


def _tables(
    level: list[frozenset[Item]], frequent: Mapping[frozenset[Item], NoisyCount], fit: Fitting
) -> tuple[list[tuple[int, ...]], list[frozenset[Item]]]:
    """The columns to be counted for these candidates, the likeliest ones where they are many."""
    hope: dict[tuple[int, ...], float] = {}
    for items in level:
        columns = tuple(sorted(column for column, _ in items))
        parts = [frequent[items - {item}].value for item in items if len(items) > 1]
        hope[columns] = max(hope.get(columns, 0.0), min(parts, default=0.0))
    chosen = sorted(hope, key=lambda columns: (-hope[columns], columns))
    if len(chosen) > MOST_TABLES:
        fit.note(CUT)
        chosen = chosen[:MOST_TABLES]
    kept = set(chosen)
    return chosen, [i for i in level if tuple(sorted(column for column, _ in i)) in kept]


def _candidates(
    last: Sequence[frozenset[Item]], frequent: Mapping[frozenset[Item], NoisyCount], length: int
) -> list[frozenset[Item]]:
    """Sets of this length, one item of each column, all of whose parts are frequent."""
    joined = {a | b for a, b in combinations(last, 2) if len(a | b) == length}
    fitting = [each for each in joined if len({column for column, _ in each}) == length]
    whole = [each for each in fitting if all(each - {item} in frequent for item in each)]
    return sorted(whole, key=sorted)
