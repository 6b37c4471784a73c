"""Section 5: attributes that are not bits, Gaussian noise, one sensitive attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.measured import Measured, exponent, mean
from experiments.paper_003.tables import (
    Rows,
    all_ways,
    errors,
    front,
    made_up,
    noises,
    releases,
)

__all__ = ["BEYOND"]


def not_binary(scale: Scale) -> Found:
    """Attributes of 3, 5 and 17 values: nothing may stay on patterns that no value has."""
    sizes, rows_out, runs = (3, 5, 17, 2), [], scale.pick(4, 60)
    rows, broken = Rows(made_up(sizes, 2000, scale.chance(3, 5)), sizes), []
    for method in ("fourier", "fourier-lp"):
        with front(rows) as behind, behind.open() as database:
            found = releases(database, all_ways(4, 2), runs, epsilon=1, method=method)
        tables = [*chain.from_iterable(one.items() for one in found)]
        totals = [[float(table.sum()) for table in one.values()] for one in found]
        one_total = all(max(few) - min(few) < 1e-6 for few in totals)
        shaped = all(table.shape == rows.exact(part).shape for part, table in tables)
        negative = mean([sum((table < 0).sum() for table in one.values()) for one in found])
        wanted = (one_total, shaped, method == "fourier" or negative.near(0))
        broken += [] if all(wanted) else [method]
        error = mean([np.mean(errors(one, rows)) for one in found])
        rows_out.append((method, *("yes" if mark else "no" for mark in wanted[:2]),
                         negative, error))  # fmt: skip
    return Found(
        f"broken: {', '.join(broken)}" if broken
        else "one total for all marginals, and no weight outside the domain",
        not broken,
        "Without the program the weight on impossible patterns goes to the value that lacks the "
        "highest bit, the same way in all marginals, so they stay consistent; with it those "
        "cells are not in the table at all.",
        f"sizes {sizes}, 2,000 made-up rows, all 2-way marginals, ε = 1, {runs} releases",
        [Table(("method", "one total", "the domain's shape", "negative cells", "mean L1 error"),
               rows_out)],
    )  # fmt: skip


def gaussian(scale: Scale) -> Found:
    """How the error of a cell grows with k, under both noises, for all 3-way marginals."""
    ks, runs = (6, 8, 10, 12, 14, 16)[: scale.pick(5, 6)], scale.pick(6, 40)
    promises = {"Laplace, ε = 1": {"epsilon": "1"}, "Gaussian, ρ = 1/2": {"rho": "1/2"}}
    lines, slopes = [], []
    for name, promise in promises.items():
        cells, off = zip(*(_errors(k, promise, runs) for k in ks), strict=True)
        slopes.append(exponent(ks, off))
        margins = [1.96 * one.se for one in cells]
        lines.append(Series(name, ks, [one.value for one in cells], margins))
    for power, line in ((3, 0), (1.5, 1)):
        start = lines[line].values[-1]
        lines.append(Series(f"∝ k^{power:g}", ks, [start * (k / ks[-1]) ** power for k in ks],
                          paper=True))  # fmt: skip
    plot = Plot("Error of a cell against k", "attributes k", "mean absolute error of a cell",
                lines, log_across=True, log_up=True)  # fmt: skip
    laplace, normal = slopes
    here, far = (_growth(few) for few in (ks, (10**5, 10**6)))
    agrees = laplace.near(here) and normal.near(here / 2) and abs(far - 3) < 1e-3
    return Found(
        f"exponents {laplace} and {normal}",
        agrees,
        "The number of coefficients grows as k³/6, and Gaussian noise pays its root. At these k "
        f"lower terms still count: over them the number grows as k^{here:.3f}, so the exponents "
        f"should be {here:.3f} and {here / 2:.3f}, and {'are' if agrees else 'are not'}; for large "
        f"k the number grows as k^{far:.3f}.",
        f"all 3-way marginals of k binary attributes, {runs} releases through the front door; "
        "exponents of the coefficients' errors, which are independent",
        plots=[draw(plot)],
    )


def _errors(k: int, promise: Mapping[str, str], runs: int) -> tuple[Measured, Measured]:
    """The mean errors of a cell and of a coefficient; a cell is the mean of eight of these."""
    empty = Rows(np.zeros((0, k), np.int64))
    with front(empty, f"{next(iter(promise))} = 1000000000") as behind, behind.open() as database:
        found = releases(database, all_ways(k, 3), runs, method="fourier", **promise)
    cells = [float(np.mean(errors(one, empty))) / 8 for one in found]
    return mean(cells), mean(np.abs([[*noises(one, empty).values()] for one in found]))


def _growth(ks: Sequence[int]) -> float:
    """The exponent with which the number of coefficients of all 3-way marginals grows."""
    return exponent(ks, [Measured(sum(math.comb(k, few) for few in range(4))) for k in ks]).value


EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
DELTAS = (1e-3, 1e-6, 1e-9)


def delta_rule(scale: Scale) -> Found:
    """Section 5's rule for Gaussian noise, against the exact delta of the Gaussian mechanism."""
    grid = np.geomspace(EPSILONS[0], EPSILONS[-1], 60).tolist()
    lines = [Series(f"δ = {delta:g}", grid, [_excess(e, delta) for e in grid]) for delta in DELTAS]
    lines.append(Series("as promised", (grid[0], grid[-1]), (1.0, 1.0), paper=True))
    rows = [(f"{e:g}", *(_excess(e, delta) for delta in DELTAS)) for e in EPSILONS]
    worst = max(max(line.values) for line in lines[:-1])
    breaks = {delta: _breaks(delta, grid) for delta in DELTAS}
    said = ", ".join(
        f"{at:.2f} for δ = {delta:g}" if at else f"nowhere here for δ = {delta:g}"
        for delta, at in breaks.items()
    )
    plot = Plot("Exact δ of the rule by the promised δ", "ε", "exact δ by promised δ", lines,
                log_across=True, log_up=True)  # fmt: skip
    return Found(
        f"the exact δ is up to {worst:.2g} times the promised one; it passes it from ε = {said}",
        worst <= 1,
        "For one number of sensitivity 1, with equality in ε ≥ (2 log(1/δ)/R)^½. "
        + (
            "The rule keeps the promised δ over this range."
            if worst <= 1
            else "The rule is stated for every ε and δ. For small ε it has room to spare; for "
            "large ε it promises more than it gives. The proof that is known has 1.25/δ in the "
            "logarithm and asks for ε ≤ 1, where the rule, too, is seen to hold."
        ),
        f"exact values, nothing is drawn; ε from {EPSILONS[0]:g} to {EPSILONS[-1]:g}",
        [Table(("ε", *(f"δ = {delta:g}" for delta in DELTAS)), rows,
               "Exact δ by the promised one")],
        [draw(plot)],
    )  # fmt: skip


def _excess(epsilon: float, delta: float) -> float:
    """The exact delta of Gaussian noise by the rule, by the promised one."""
    deviation = math.sqrt(2 * math.log(1 / delta)) / epsilon
    half, shift = 1 / (2 * deviation), epsilon * deviation
    # log of e^epsilon Φ(-x), without underflow
    far = math.exp(epsilon + norm.logcdf(-half - shift))
    return (float(norm.cdf(half - shift)) - far) / delta


def _breaks(delta: float, grid: Sequence[float]) -> float | None:
    """The first epsilon from which on the exact delta passes the promised one."""
    for low, high in pairwise(grid):
        if _excess(low, delta) <= 1 < _excess(high, delta):
            return float(brentq(lambda e: _excess(e, delta) - 1, low, high))
    return None


BEYOND = (
    Claim("003", "Section 5, non-binary attributes",
          "Attributes with more values are written in bits; weight on structurally zero locations "
          "must be redistributed, or forced to zero by the program.",
          "possible, with care", not_binary, seconds=(2, 20)),
    Claim("003", "Section 5, Gaussian noise",
          "Gaussian noise improves the distortion of a cell from Ω(k³)/ε to O(k^(3/2)).",
          "exponents 3 and 3/2", gaussian, seconds=(5, 70)),
    Claim("003", "Section 5, delta",
          "Noise ∝ exp(-x²/2R) gives (ε, δ)-privacy when ε ≥ (2 log(1/δ)/R)^½.",
          "the exact δ is at most the promised one", delta_rule, DIFFERS, (0.1, 0.1)),
)  # fmt: skip
