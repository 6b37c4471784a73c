"""Sections 3 and 4: from how many attributes on the plain noisy table has the largest errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import count

import numpy as np
from numpy.typing import NDArray

from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.measured import Measured, combined, mean
from experiments.paper_003.tables import Rows, all_ways, front, names, noises, releases
from experiments.paper_003.ways import FOUR, asked, noisy_marginals

__all__ = ["CROSSING"]

Floats = NDArray[np.float64]

TABLE, MARGINALS, FOURIER = THREE = tuple(FOUR)[:3]
MEASURED = {1: (2, 6, 9), 3: (4, 6)}
"""The numbers of attributes that are run, by the ways of the marginals. A table of k bits has 5^k
cells: beside its two values, a column holds what lies below, above, and NULL."""

EPSILON = Fraction(1, 10)
"""So small that noise of whole numbers is as good as continuous."""


def crossing(scale: Scale) -> Found:
    """The error of a cell against k, measured and by the law of the noise."""
    runs, rows_out, plots, sizes = scale.pick(6, 60), [], [], []
    seen: dict[tuple[str, int, int], Measured] = {}
    for ways, ks in MEASURED.items():
        for k in ks:
            for name in THREE:
                found = np.abs(NOISE[name](k, ways, runs))
                sizes.append(found / _scale(name, k, ways))
                # The root of the mean square of Laplace noise is √2 times its mean size.
                seen[name, ways, k] = combined([_root(name, k, ways)], [mean(found)])
            three = [seen[name, ways, k] for name in THREE]
            rows_out.append((ways, k, *three, THREE[int(np.argmin([one.value for one in three]))]))
        plots.append(_drawn(ways, seen))
    lawful = mean(np.concatenate(sizes))
    last = MEASURED[1][-1]
    table, *others = (seen[name, 1, last] for name in THREE)
    worst = all(combined([1, -1], [table, other]).above(0) for other in others)
    from_on = {ways: [passed(name, ways) for name in (MARGINALS, FOURIER)] for ways in (1, 2, 3)}
    return Found(
        f"the table is the worst from k = {max(from_on[1])} on for 1-way marginals, "
        f"{max(from_on[2])} for 2-way and {max(from_on[3])} for 3-way; measured at k = {last}, "
        f"1-way: {table} against {others[0]} and {others[1]}",
        worst and lawful.near(1),
        f"For 1-way marginals of {last} attributes the table is {'surely' if worst else 'not'} "
        f"worse than both others. But its error grows as 2^(k/2), which passes a power of k only "
        "in the end: with few attributes the plain table is the best of all, and consistent too. "
        "It is worse than the Fourier coefficients where 2^(k/2) passes |B|, from "
        f"k = {from_on[1][1]}, {from_on[2][1]} and {from_on[3][1]} on for 1-, 2- and 3-way "
        f"marginals. What is measured is {lawful} times as large as the law of the noise says.",
        f"tables of one row of bits, ε = {EPSILON}, {runs} runs and more through the "
        "front door. Noises are independent, so the squares of those that a cell sums add up: what "
        "is measured is their size. The lines, and the crossings, are by the law of Laplace noise",
        [Table(("ways", "k", *THREE, "the best"), rows_out,
               "Root of the mean square error of a cell, in units of 1/ε")],
        plots,
    )  # fmt: skip


def _on_table(k: int, ways: int, runs: int) -> Floats:
    rows, found = Rows(np.zeros((1, k), np.int64)), []
    with front(rows) as behind:
        for _ in range(runs):
            with behind.open() as database:
                cells = asked(database.session(), names(k), EPSILON)
            found.append(cells - rows.exact(tuple(range(k))))
    return np.array(found).ravel() * float(EPSILON)


def _on_marginals(k: int, ways: int, runs: int) -> Floats:
    rows, found = Rows(np.zeros((1, k), np.int64)), []
    with front(rows) as behind:
        for _ in range(4 * runs // ways):
            with behind.open() as database:
                tables = noisy_marginals(database, k, all_ways(k, ways), EPSILON)
            found += [table - rows.exact(part) for part, table in tables.items()]
    return np.array(found).ravel() * float(EPSILON)


def _on_coefficients(k: int, ways: int, runs: int) -> Floats:
    rows = Rows(np.zeros((1, k), np.int64))
    with front(rows) as behind, behind.open() as database:
        order = {"epsilon": EPSILON, "method": "fourier"}
        found = releases(database, all_ways(k, ways), 2 * runs, **order)
    return np.array([[*noises(one, rows).values()] for one in found]).ravel() * float(EPSILON)


NOISE: dict[str, Callable[[int, int, int], Floats]] = {
    TABLE: _on_table,
    MARGINALS: _on_marginals,
    FOURIER: _on_coefficients,
}
"""The independent noises that each way draws, in units of 1/epsilon."""


def _scale(name: str, k: int, ways: int) -> int:
    """The scale of each of these noises: how many numbers one row changes."""
    closure = sum(math.comb(k, few) for few in range(ways + 1))
    return {TABLE: 1, MARGINALS: math.comb(k, ways), FOURIER: closure}[name]


def _root(name: str, k: int, ways: int) -> float:
    """The error of a cell for each unit of scale, by how many noises it sums.

    Of 2^ways coefficients a cell is the mean of their signed sum.
    """
    return math.sqrt(2 * {TABLE: 2.0 ** (k - ways), MARGINALS: 1.0, FOURIER: 2.0**-ways}[name])


def expected(name: str, k: int, ways: int) -> float:
    """The root of the mean square error of a cell by the law of the noise."""
    return _root(name, k, ways) * _scale(name, k, ways)


def passed(other: str, ways: int) -> int:
    """The number of attributes from which on the table is worse than the other way.

    The search begins at twice the ways: where a marginal has nearly all attributes, there is
    hardly a table to sum.
    """
    worse = (k for k in count(2 * ways) if expected(TABLE, k, ways) > expected(other, k, ways))
    return next(worse)


def _drawn(ways: int, seen: dict[tuple[str, int, int], Measured]) -> str:
    places = range(MEASURED[ways][0], max(MEASURED[ways][-1], passed(MARGINALS, ways) + 2) + 1)
    lines = [Series(name, places, [expected(name, k, ways) for k in places]) for name in THREE]
    points = [(k, found) for (_, few, k), found in seen.items() if few == ways]
    lines.append(Series("measured", [k for k, _ in points], [one.value for _, one in points],
                      [1.96 * one.se for _, one in points], dots=True))  # fmt: skip
    title = f"Error of a cell of all {ways}-way marginals against k"
    return draw(Plot(title, "attributes k", "error of a cell, in 1/ε", lines, log_up=True))


CROSSING = (
    Claim("003", "Sections 3 and 4, errors",
          "Noise on the table makes large errors in marginals, especially when n is far below "
          "2^k; noise on the marginals is much less, and so is that on few Fourier coefficients.",
          "for large k the table is the worst", crossing, seconds=(7, 90)),
)  # fmt: skip
