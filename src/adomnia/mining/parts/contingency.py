"""A coarse contingency table of attributes and a class: few questions, and models live off it.

One row is in one cell, so a table costs what a count costs, and all nodes and levels of a tree
are sums of its cells. What to put in it is looked for in small tables first (`contingency.md`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from adomnia.errors import QuestionError
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.coarsening import Coarsening
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.moments import scale_of
from adomnia.mining.parts.splits import best_cut, ends_of, grow
from adomnia.mining.parts.statements import TargetClasses, identifier, select

__all__ = ["SPLIT", "ContingencyTable", "ask_contingency"]

SPLIT = {"classes": 0.05, "screen": 0.4, "table": 0.55}
"""How the epsilon is shared: counts of the classes, one table for each attribute, their joint."""

MOST_CELLS = 20_000
MOST_AXES = 8
SURE, LEAF = 5, 1 / 32
"""A leaf with this share of the rows, that of five levels, is to stand out of its noise by so many
standard deviations: this limits the cells of a table."""

BLIND = "too few rows for a search at this epsilon: attributes were taken blindly, in thirds"
NOISE = "the noise is wider than the number of rows: use a larger epsilon"


@dataclass(frozen=True)
class ContingencyTable:
    """Noisy counts: one axis of `counts` for each of `axes`, and the classes last.

    `variance` is that of the noise in one cell. `blind`: the axes were not chosen by the data.
    """

    axes: tuple[Coarsening, ...]
    counts: Floats
    variance: float
    blind: bool = False


def ask_contingency(
    fit: Fitting,
    axes: Sequence[Coarsening],
    classes: TargetClasses,
    split: Mapping[str, Fraction],
    seed: int = 0,
) -> ContingencyTable:
    """The table from which a model of the classes is made.

    First the classes are counted, so that there is a number of rows to decide by. Then, where it
    is worth it, one small table for each attribute says which attributes tell most and where they
    are best cut. The rest buys the joint table of those. Every decision rests on noisy answers
    and public numbers, so none of them costs anything.
    """
    counted = _table(fit, (), classes, split["classes"]) if split["classes"] else None
    rows = 1.0 if counted is None else max(1.0, float(counted.counts.sum()))
    if counted is not None and rows <= np.sqrt(counted.variance * len(classes.values)):
        fit.note(NOISE)
    screen, rest = split["screen"], split["screen"] + split["table"]
    if _is_small(axes, float(screen / rest) if rest else 0.0):
        return _table(fit, axes, classes, rest)
    if not split["table"]:
        raise QuestionError("the joint table needs a part of the budget", "give table a weight")
    if _is_worth(axes, rows * float(screen) / len(classes.values)):
        chosen = _screened(fit, axes, classes, screen, rows * float(split["table"]))
        rest = split["table"]
        if chosen:
            return _table(fit, chosen, classes, rest)
    fit.note(BLIND)
    return _table(fit, _blindly(axes, rows * float(rest), seed), classes, rest, blind=True)


def _is_small(axes: Sequence[Coarsening], screened: float) -> bool:
    """Whether the joint table has no more noise in an attribute's counts than its own table.

    Of N cells, N/s are summed for each of an attribute's s groups, at the whole epsilon; a table
    of its own has a d-th of the `screened` share of it.
    """
    cells = prod(axis.size for axis in axes)
    least = min(axis.size for axis in axes)
    return len(axes) == 1 or cells * screened**2 <= least * len(axes) ** 2


def _is_worth(axes: Sequence[Coarsening], weight: float) -> bool:
    """Whether half the rows of a class, `weight` over epsilon, outweigh half of an axis's noise.

    Half of s groups have noise of √(2 · s/2) times the scale of a table, d over epsilon.
    """
    groups = sum(axis.size for axis in axes) / len(axes)
    return weight / 2 > math.sqrt(groups) * len(axes)


def _table(
    fit: Fitting,
    axes: Sequence[Coarsening],
    classes: TargetClasses,
    epsilon: Fraction,
    blind: bool = False,
) -> ContingencyTable:
    """One question: the joint counts of groups and classes."""
    keys = {f"a{place}": axis.expression() for place, axis in enumerate(axes)}
    keys["class"] = identifier(classes.name)
    where = " AND ".join(axis.present for axis in axes) or None
    sql = select(fit.session, {"n": "COUNT(*)"}, keys=keys, where=where)
    name = "table" if len(axes) > 1 else axes[0].name if axes else "classes"
    code = {value: place for place, value in enumerate(classes.values)}
    answer = fit.ask(sql, epsilon, name)
    counted = [row for row in answer.rows if row[-2] is not None]
    *cells, values, numbers = zip(*counted, strict=True)
    counts = np.zeros((*(axis.size for axis in axes), len(classes.values)))
    counts[(*(np.array(cell) for cell in cells), np.array([code[v] for v in values]))] = numbers
    return ContingencyTable(tuple(axes), counts, 2 * scale_of(answer) ** 2, blind)


# Which attributes


def _screened(
    fit: Fitting,
    axes: Sequence[Coarsening],
    classes: TargetClasses,
    epsilon: Fraction,
    weight: float,
) -> list[Coarsening]:
    """The attributes that tell most by tables of their own, in few groups each."""
    told = []
    for axis in axes:
        table = _table(fit, [axis], classes, epsilon / len(axes))
        found = _grouped(axis, table)
        if found is not None:
            told.append(found)
    told.sort(key=lambda each: -each[0])
    chosen: list[Coarsening] = []
    cells, most = 1, min(MOST_CELLS // len(classes.values), weight**2 * LEAF / (2 * SURE**2))
    for _, axis in told[: 4 * MOST_AXES]:
        if not chosen or (cells * axis.size <= most and len(chosen) < MOST_AXES):
            chosen.append(axis)
            cells *= axis.size
    return chosen


def _grouped(axis: Coarsening, table: ContingencyTable) -> tuple[float, Coarsening] | None:
    """How much an attribute tells, and its groups: at most four; None if it shows only noise.

    Listed values have no order of their own: they are put in the order of the share that the
    most frequent class has among them.
    """
    counts = table.counts
    if axis.groups is not None:
        rows = np.maximum(counts.sum(axis=1), np.sqrt(table.variance))
        share = counts[:, int(np.argmax(counts.sum(axis=0)))] / rows
        order = np.argsort(share, kind="stable").tolist()
        axis, counts = axis.ordered(order), counts[order]
    cut = best_cut(counts, table.variance)
    if cut is None:
        return None
    return cut[0], axis.merged(ends_of(grow(counts, table.variance, 2)))


def _blindly(axes: Sequence[Coarsening], weight: float, seed: int) -> list[Coarsening]:
    """Attributes in thirds, by lot: as many as leave an average cell's rows above the noise."""
    order = np.random.default_rng(seed).permutation(len(axes)).tolist()
    count = next((k for k in range(2, MOST_AXES) if 3 ** (k + 1) > weight), MOST_AXES)
    return [axes[place].evenly(3) for place in order[:count]]
