"""Section 5: attributes that are not bits, Gaussian noise, one sensitive attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.stats import norm

from adomnia.marginals.promise import Promise
from adomnia.marginals.workload import downward_closure
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.measured import Measured, exponent, mean
from experiments.paper_003.tables import (
    Rows,
    all_ways,
    concentrated,
    errors,
    made_up,
    pure,
    released,
)

__all__ = ["BEYOND"]


def not_binary(scale: Scale) -> Found:
    """Attributes of 3, 5 and 17 values: nothing may stay on patterns that no value has."""
    sizes, rows_out, agrees = (3, 5, 17, 2), [], True
    workload = all_ways(sizes, 2)
    rows = Rows(made_up(sizes, 2000, scale.chance(3, 5)), sizes)
    for method in ("fourier", "fourier-lp"):
        found = released(workload, rows, pure(1), method)
        totals = [float(table.sum()) for table in found.marginals.values()]
        one = max(totals) - min(totals) < 1e-6
        shapes = all(table.shape == workload.shape(part) for part, table in found.marginals.items())
        negative = sum(int((table < 0).sum()) for table in found.marginals.values())
        agrees &= one and shapes and (method == "fourier" or negative == 0)
        rows_out.append((method, "yes" if one else "no", negative,
                         float(np.mean(errors(found.marginals, rows)))))  # fmt: skip
    return Found(
        "one total for all marginals, and no weight outside the domain" if agrees else "broken",
        agrees,
        "Without the program the weight on impossible patterns goes to the value that lacks the "
        "highest bit, the same way in all marginals, so they stay consistent; with it those "
        "cells are not in the table at all.",
        f"sizes {sizes}, 2,000 made-up rows, all 2-way marginals, ε = 1",
        [Table(("method", "one total", "negative cells", "mean L1 error"), rows_out)],
    )


def gaussian(scale: Scale) -> Found:
    """How the error of a cell grows with k, under both noises, for all 3-way marginals."""
    ks, runs = (6, 8, 10, 12, 16, 20), scale.pick(6, 40)
    promises = {"Laplace, ε = 1": pure(1), "Gaussian, ρ = 1/2": concentrated("1/2")}
    lines, slopes = [], []
    for name, promise in promises.items():
        cells, noises = zip(*(_errors(k, promise, runs) for k in ks), strict=True)
        slopes.append(exponent(ks[2:], noises[2:]))
        margins = [1.96 * one.se for one in cells]
        lines.append(Line(name, ks, [one.value for one in cells], margins))
    for power, line in ((3, 0), (1.5, 1)):
        start = lines[line].values[-1]
        lines.append(Line(f"∝ k^{power:g}", ks, [start * (k / ks[-1]) ** power for k in ks],
                          paper=True))  # fmt: skip
    plot = Plot("Error of a cell against k", "attributes k", "mean absolute error of a cell",
                lines, log_across=True, log_up=True)  # fmt: skip
    laplace, normal = slopes
    here, far = (_growth(few) for few in (ks[2:], (10**5, 10**6)))
    return Found(
        f"exponents {laplace} and {normal}",
        laplace.near(here) and normal.near(here / 2) and abs(far - 3) < 1e-3,
        "The number of coefficients grows as k³/6, and Gaussian noise pays its root. At these k "
        f"lower terms still count a little: over them the number grows as k^{here:.3f}, so the "
        f"exponents are {here:.3f} and {here / 2:.3f}; for large k they are 3 and 3/2.",
        f"all 3-way marginals of k binary attributes, {runs} releases; exponents of the "
        f"coefficients' errors, which are independent, over k ≥ {ks[2]}",
        plots=[draw(plot)],
    )


def _errors(k: int, promise: Promise, runs: int) -> tuple[Measured, Measured]:
    """The mean errors of a cell and of a coefficient; a cell is the mean of eight of these.

    The table is empty, so that all that is released is noise.
    """
    empty = Rows(np.zeros((0, k), np.int64), (2,) * k)
    found = [released(all_ways((2,) * k, 3), empty, promise, "fourier") for _ in range(runs)]
    cells = [float(np.mean(errors(one.marginals, empty))) / 8 for one in found]
    return mean(cells), mean(np.abs(np.concatenate([one.measured.values for one in found])))


def _growth(ks: Sequence[int]) -> float:
    """The exponent with which the number of coefficients of all 3-way marginals grows."""
    return exponent(ks, [Measured(sum(math.comb(k, few) for few in range(4))) for k in ks]).value


def delta_rule(scale: Scale) -> Found:
    """Section 5's rule for Gaussian noise, against the exact delta of the Gaussian mechanism."""
    rows, worst = [], 0.0
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        for delta in (1e-3, 1e-6, 1e-9):
            deviation = math.sqrt(2 * math.log(1 / delta)) / epsilon
            half, shift = 1 / (2 * deviation), epsilon * deviation
            # log of e^epsilon Φ(-x), without underflow
            far = math.exp(epsilon + norm.logcdf(-half - shift))
            exact = float(norm.cdf(half - shift)) - far
            worst = max(worst, exact / delta)
            rows.append((epsilon, delta, exact, exact / delta))
    return Found(
        f"the exact δ is at most {worst:.2g} times the promised one",
        worst <= 1,
        "For one number of sensitivity 1 the rule ε ≥ (2 log(1/δ)/R)^½ keeps the promised δ over "
        "this range, with room to spare."
        if worst <= 1
        else "For one number of sensitivity 1 the rule ε ≥ (2 log(1/δ)/R)^½ does not give the "
        "promised δ everywhere: the constant that is proven has 1.25/δ in the logarithm.",
        "exact values, nothing is drawn",
        [Table(("ε", "δ", "exact δ at that ε", "ratio"), rows)],
    )


def one_sensitive(scale: Scale) -> Found:
    """How many coefficients need noise when one attribute is sensitive, and against whom."""
    rows, counts = [], True
    for k in (4, 6, 10, 16):
        every = list(combinations(range(k), 3))
        closure = downward_closure(part for part in every if 0 in part)
        printed = math.comb(k - 1, 2) + math.comb(k, 2) + k + 1
        changed = sum(0 in part for part in downward_closure(every))
        counts &= len(closure) == printed
        rows.append((k, len(downward_closure(every)), printed, len(closure), changed))
    # The promise of the text's own Definition 1: a row comes or goes. Coefficients without noise
    # tell it at once, since each of them moves by a whole unit.
    every = list(combinations(range(6), 3))
    noisy = {*downward_closure(part for part in every if 0 in part)}
    untouched = [part for part in downward_closure(every) if part not in noisy]
    private = not untouched
    return Found(
        "the count is as printed; "
        + ("private" if private else f"{len(untouched)} coefficients of 6 attributes are exact"),
        counts and private,
        "The number of coefficients is right. But the others are released exactly, and a row "
        "that comes or goes moves them: under Definition 1 of the same text nothing is promised. "
        "The scheme is private where neighbours differ in the sensitive attribute of one row, "
        "and then only the coefficients that contain it need noise (last column): that is what "
        "`sensitive = false` in the policy means here.",
        "all 3-way marginals",
        [Table(("k", "all", "printed", "closure with the sensitive one", "those that contain it"),
               rows)],
    )  # fmt: skip


BEYOND = (
    Claim("003", "Section 5, non-binary attributes",
          "Attributes with more values are written in bits; weight on structurally zero locations "
          "must be redistributed, or forced to zero by the program.",
          "possible, with care", not_binary, seconds=(2, 2)),
    Claim("003", "Section 5, Gaussian noise",
          "Gaussian noise improves the distortion of a cell from Ω(k³)/ε to O(k^(3/2)).",
          "exponents 3 and 3/2", gaussian, seconds=(4, 40)),
    Claim("003", "Section 5, delta",
          "Noise ∝ exp(-x²/2R) gives (ε, δ)-privacy when ε ≥ (2 log(1/δ)/R)^½.",
          "δ", delta_rule, seconds=(0.1, 0.1)),
    Claim("003", "Section 5, one sensitive attribute",
          "If one attribute is sensitive, noise is needed on C(k-1,2) + C(k,2) + k + 1 "
          "coefficients only.",
          "C(k-1,2) + C(k,2) + k + 1", one_sensitive, DIFFERS, (0.2, 0.2)),
)  # fmt: skip
