"""How an adaptive release spends: on single columns, on choices, on what is chosen (`adaptive.md`).

All of it follows from the public domain, the loss, and the number of rows as far as it is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from adomnia.marginals.core.cost import times
from adomnia.marginals.core.planner import USUAL
from adomnia.marginals.workload import Subset, Workload, downward_closure
from adomnia.privacy.neighbors import Neighbors

__all__ = ["GAIN", "Schedule", "candidates", "schedule", "usual_noise"]

GAIN = 0.675
"""What measuring a table that was chosen is taken to be worth: rows that stand in a wrong cell, as
a share of all. A guess that many real tables bear out; no promise and no margin rests on it."""

PARTS = 1 << 20
"""Shares of the loss are whole multiples of one over this."""


@dataclass(frozen=True)
class Schedule:
    """Which share of the loss single columns get, and of the rest, what choices cost.

    `picks` tables are chosen and measured, each for an equal part of the rest.
    """

    singles: Fraction
    choosing: Fraction
    picks: int


def candidates(workload: Workload) -> tuple[Subset, ...]:
    """The tables of two attributes and more that may be chosen."""
    wanted = downward_closure(workload.marginals)
    return tuple(s for s in wanted if len(s) > 1 and 1 not in workload.shape(s))


def schedule(
    workload: Workload, neighbors: Neighbors, kind: str, amount: float, rows: float
) -> Schedule:
    """The shares that make the expected error least, if every choice is worth its GAIN."""
    some = candidates(workload)
    if not some:
        return Schedule(Fraction(1), Fraction(0), 0)
    power, rate = (2 / 3, math.sqrt(amount)) if kind == "gaussian" else (1 / 2, amount)
    away = times(neighbors) * (2 if neighbors.replaces else 1)
    noise = usual_noise(kind, neighbors)
    first = sum((weight * noise * cells) ** power for weight, cells in _columns(workload))
    choice = 2 * math.log(len(some) + 1) * away / (math.sqrt(8) if kind == "gaussian" else 1)
    table = noise * median(workload.cells(subset) for subset in some)
    each = choice**power + table**power
    # d/dK of (first + K each)^(1/power) / rate is what a choice is worth
    worth = GAIN * max(rows, 1) * rate * power / each
    picks = min(max(worth ** (power / (1 - power)) - first, 0) / each, len(some))
    picks = math.floor(picks)
    singles = Fraction(math.ceil(PARTS * first / (first + picks * each)), PARTS)
    return Schedule(singles, Fraction(math.floor(PARTS * choice**power / each), PARTS), picks)


def usual_noise(kind: str, neighbors: Neighbors) -> float:
    """The mean absolute noise of a cell that is paid for with one."""
    if kind == "laplace":
        return float(times(neighbors) * (2 if neighbors.replaces else 1))
    return USUAL * math.sqrt(1 / 2) * times(neighbors) * (math.sqrt(2) if neighbors.replaces else 1)


def _columns(workload: Workload) -> list[tuple[float, int]]:
    """The total and every attribute: how many tables rest on it, and its number of values."""
    rest = [0] * len(workload.sizes)
    for subset in workload.marginals:
        for place in subset:
            rest[place] += 1
    found = [(float(len(workload.marginals)), 1)]
    return found + [
        (float(many), size)
        for many, size in zip(rest, workload.sizes, strict=True)
        if many and size > 1
    ]
