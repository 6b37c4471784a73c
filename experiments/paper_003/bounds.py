"""Theorems 4 and 5 and Corollary 1: what is promised of the noise, and what is seen."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc

from adomnia.marginals.bits import Encoding, walsh_hadamard
from adomnia.marginals.promise import parity_sensitivity
from adomnia.marginals.workload import downward_closure
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.measured import share
from experiments.paper_003.tables import Rows, all_ways, errors, made_up, pure, released

__all__ = ["BOUNDS"]


def sensitivity(scale: Scale) -> Found:
    """The largest change that one row makes to the coefficients, by trying every row."""
    rows, agrees = [], True
    for k, ways in ((4, 2), (6, 3), (8, 3)):
        workload = all_ways((2,) * k, ways)
        closure = downward_closure(workload.marginals)
        bound = parity_sensitivity(Encoding((2,) * k), closure, pure(1)).l1
        masks = [sum(1 << (k - 1 - bit) for bit in subset) for subset in closure]
        most = 0
        for cell in range(1 << k):
            table = np.zeros(1 << k, np.int64)
            table[cell] = 1
            most = max(most, int(np.abs(walsh_hadamard(table)[masks]).sum()))
        agrees &= most == len(closure) == bound
        rows.append((k, ways, len(closure), most, str(bound)))
    return Found(
        "the change is |B| for every row: " + ", ".join(str(row[3]) for row in rows),
        agrees,
        "In units of 2^(-k/2), as the package counts, one row moves each coefficient by 1, so "
        "the noise Lap(|B|/ε 2^(k/2)) is what hides it, and no less does.",
        "every row of the domain is tried",
        [Table(("k", "ways", "|B|", "largest change", "sensitivity used"), rows)],
    )


def theorem_five(scale: Scale) -> Found:
    """How often the error passes the bound of Theorem 5 at δ = 1 %, and how loose that is."""
    rows_out, holds, runs = [], True, scale.pick(60, 1000)
    for k, ways in ((5, 2), (7, 2), (7, 3)):
        workload = all_ways((2,) * k, ways)
        rows = Rows(made_up((2,) * k, 3000, scale.chance(3, 3, k)), (2,) * k)
        largest, bound = [], math.inf
        for _ in range(runs if k < 7 else max(20, runs // 4)):
            found = released(workload, rows, pure(1), "fourier-lp")
            largest.append(max(errors(found.marginals, rows)))
        many = len(downward_closure(workload.marginals))
        bound = 2**ways * 2 * many * math.log(many / 0.01) + many
        beyond = share(sum(error > bound for error in largest), len(largest))
        holds &= not beyond.above(0.01)
        percentile = float(np.quantile(largest, 0.99))
        rows_out.append((k, ways, many, beyond, percentile, bound, bound / percentile))
    return Found(
        "the bound is " + ", ".join(f"{row[-1]:.0f}" for row in rows_out) + " times what is seen",
        holds,
        "It holds, and it is loose: it adds the largest of all noises over all coefficients of a "
        "marginal, where they cancel. Rounding costs at most |B| only at a vertex of the program "
        "(an interior solution has 2^k small weights, which all round to nothing): the package "
        "takes a vertex.",
        f"ε = 1, 3,000 made-up rows; the largest error of all marginals in each of {runs} releases "
        "(a quarter of that for 7 attributes)",
        [
            Table(
                ("k", "ways", "|B|", "share beyond", "99th percentile", "Theorem 5", "ratio"),
                rows_out,
            )
        ],
    )


def corollary_one(scale: Scale) -> Found:
    """How often the shift of Corollary 1 is enough, by its own argument and in truth."""
    ts = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
    runs, tables, lines, broken = scale.pick(300, 20_000), [], [], False
    for k, ways in ((1, 1), (3, 2), (6, 3)):
        workload = all_ways((2,) * k, ways)
        empty = Rows(np.zeros((0, k), np.int64), (2,) * k)
        closure = downward_closure(workload.marginals)
        masks = [sum(1 << (k - 1 - bit) for bit in subset) for subset in closure]
        many = len(closure)
        norms, lowest = [], []
        for _ in range(runs):
            # A parity is 2^(k/2) coefficients; noise of scale 1000 |B| is as good as continuous.
            noise = released(workload, empty, pure("1/1000"), "fourier").measured.values / 1000.0
            whole = np.zeros(1 << k)
            whole[masks] = noise
            norms.append(float(np.abs(noise).sum()))
            lowest.append(float(walsh_hadamard(whole).min()))
        for t in ts:
            claimed = 1 - math.exp(-t)
            by_norm = share(int(sum(norm <= t * many**2 for norm in norms)), runs)
            in_truth = share(int(sum(low + t * many**2 >= 0 for low in lowest)), runs)
            exact = float(gammainc(many, t * many))
            broken |= by_norm.below(claimed)
            tables.append((k, many, t, claimed, by_norm, exact, in_truth))
        picked = [row for row in tables if row[0] == k]
        lines.append(Line(f"argument, d = {many}", ts, [row[5] for row in picked]))
        seen = [row[6] for row in picked]
        lines.append(Line(f"in truth, d = {many}", ts, [one.value for one in seen],
                          [1.96 * one.se for one in seen]))  # fmt: skip
    lines.append(Line("claimed: 1 - exp(-t)", ts, [1 - math.exp(-t) for t in ts], paper=True))
    truth = not any(row[6].below(row[3]) for row in tables)
    axes = ("t", "probability")
    plot = Plot("Corollary 1: is the table non-negative?", *axes, lines, ends_up=(0, 1))
    return Found(
        f"by its argument {'below' if broken else 'not below'} the claim for small t; "
        f"in truth {'never below' if truth else 'below for some t'}",
        not broken and truth,
        "The argument asks that the L1 norm of the noise be at most the shift; that norm is a "
        "Gamma variable of mean d, and for t below about 1 it passes t·d more often than claimed. "
        "In an empty table, the worst one, the cells themselves are negative more rarely than "
        "the norm is large, "
        + ("and never more often than claimed" if truth else "but for small t still too often")
        + ". For t above 1.3 the claim is tighter than need be: far fewer tables are negative.",
        f"an empty table, ε = 1, {runs} releases for each k; 'exact' is the Gamma distribution",
        [Table(("k", "d", "t", "claimed", "norm small enough", "exact", "non-negative"), tables)],
        [draw(plot)],
    )


BOUNDS = (
    Claim("003", "Theorem 4",
          "Releasing the Fourier coefficients in B with noise Lap(|B|/ε2^(k/2)) is ε-private: each "
          "row contributes ±2^(-k/2) to each.",
          "sensitivity |B|/2^(k/2)", sensitivity, seconds=(0.5, 0.5)),
    Claim("003", "Theorem 5",
          "With probability 1 - δ every marginal of the rounded table is within "
          "2^|α| 2|B| log(|B|/δ)/ε + |B| in L1.",
          "the bound, at δ = 0.01", theorem_five, seconds=(10, 150)),
    Claim("003", "Corollary 1",
          "Adding t d²/ε2^(k/2) to the first coefficient makes the table non-negative with "
          "probability at least 1 - exp(-t).",
          "1 - exp(-t)", corollary_one, DIFFERS, (3, 120)),
)  # fmt: skip
