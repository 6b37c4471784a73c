"""Section 4: exact statistics are out; what noise that does not know of them lets through."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse
from scipy.integrate import quad

from adomnia.audit.exact_releases.prior_leak import chain_leak
from adomnia.mechanisms.noise.laplace import sample
from adomnia.present.drawing.plot import Plot, Series, draw
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.front import Front
from experiments.measured import Measured, mean, share

__all__ = ["RELEASES"]


def leak(scale: Scale) -> Found:
    """Section 4.1: the variance of the averaged estimate, and whole tables rebuilt."""
    ks, trials = (2, 8, 32, 128, 512, 2048), scale.pick(400, 5000)
    curve = chain_leak(list(ks), 1.0, trials, scale.seed).details["curve"]
    averaged, best, after = (
        [share(round(point[name]["value"] * point["trials"]), point["trials"]) for point in curve]
        for name in ("averaging", "before", "after")
    )
    variances = {k: _variance(k, scale) for k in (4, 16, scale.pick(32, 64))}
    # The package's noise is of integers: its variance at ε = 1 is a little below 2.
    q = np.exp(-1)
    unit = 2 * q / (1 - q) ** 2
    reached = all(found.near(unit / k) for k, found in variances.items())
    rebuilt, kept = best[-1].above(0.9), after[-1].below(0.2)
    lines = [
        _curve("averaging", ks, averaged),
        _curve("best estimate", ks, best),
        _curve("accounted for", ks, after),
        Series("erf(ε√k/4)", ks, [point["averaging_formula"] for point in curve], paper=True),
    ]
    plot = Plot("Whole tables rebuilt after exact sums of neighbours", "cells k",
                "share of tables", lines, log_across=True, ends_up=(0, 1))  # fmt: skip
    return Found(
        f"variance {', '.join(f'{found} (k = {k})' for k, found in variances.items())}; rebuilt "
        f"{best[0]} at k = 2, {best[-1]} at k = {ks[-1]:,}; accounted for: {after[-1]}",
        reached and rebuilt and kept,
        f"Answers that do not know of the exact releases {'are' if reached else 'are not'} "
        f"averaged to variance 2/(kε²) (integer noise: {unit:.3f}/(kε²)) and "
        f"{'give' if rebuilt else 'do not give'} the whole table when k is large. Registered with "
        "`adomnia prior add`, the exact answers make the noise k times wider, and tables are "
        f"rebuilt in {after[0]} at k = 2 and in {after[-1]} at k = {ks[-1]:,}, where a guess is "
        f"right in {curve[-1]['baseline']:.4f}. "
        "The dashed line is what a normal error of the paper's variance would give.",
        f"chain of k cells, ε = 1, {trials} tables for each k; variances through the front door",
        [Table(("k", "2/(kε²)", "measured"), [(k, 2 / k, one) for k, one in variances.items()])],
        [draw(plot)],
    )


def _curve(name: str, places: Sequence[float], shares: Sequence[Measured]) -> Series:
    return Series(name, places, [one.value for one in shares], [1.96 * one.se for one in shares])


def _variance(k: int, scale: Scale) -> Measured:
    """The error of the averaged estimate of the first cell, from real answers.

    Many chains lie side by side in one table, so that one answer tells of each.
    """
    chains = 500
    truth = scale.chance(0, 4, k).integers(5, 15, (chains, k))
    signs = np.where(np.arange(k) % 2 == 0, 1, -1)
    # Each cell is a part that the exact sums tell, and plus or minus the first cell.
    told = np.zeros_like(truth)
    for place in range(1, k):
        told[:, place] = truth[:, place - 1] + truth[:, place] - told[:, place - 1]
    cells = np.repeat(np.arange(chains * k), truth.ravel())
    columns, sizes = {"chain": cells // k, "r": cells % k}, {"chain": chains, "r": k}
    sql = "SELECT chain, r, COUNT(*) AS n FROM people GROUP BY chain, r ORDER BY chain, r"
    squares = []
    with Front(columns, sizes) as front:
        for _ in range(scale.pick(6, 80)):
            with front.open() as database:
                answer = database.session().ask(sql, 1)
            noisy = np.array([row[-1] for row in answer.rows]).reshape(chains, k)
            errors = (signs * (noisy - told)).mean(axis=1) - truth[:, 0]
            squares.append(np.square(errors))
    return mean(np.concatenate(squares))


def lemma(scale: Scale) -> Found:
    """Lemma 4.1 for r, c up to 6, and by listing all tables for the small ones."""
    rows = []
    for r, c in itertools.combinations_with_replacement(range(2, 7), 2):
        listed = _listed(r, c) if r * c <= scale.pick(6, 9) else ""
        rows.append((r, c, min(2 * r, 2 * c), *_solved(margins((r, c), [(0,), (1,)])), listed))
    right = sum(exact and found == said for _, _, said, found, exact, _ in rows)
    by_hand = [(listed, said) for _, _, said, _, _, listed in rows if listed]
    agree = sum(listed == said for listed, said in by_hand)
    return Found(
        f"min(2r, 2c) in {right} of {len(rows)} cases by the solver, in {agree} of {len(by_hand)} "
        "by listing",
        right == len(rows) and agree == len(by_hand),
        "A case counts if the solver proves its bound exact, by a pair of neighbours that reaches "
        "it; for small tables all differences of neighbours were listed. The sketched proof speaks "
        "of Hamiltonian cycles; an alternating cycle through each row and column at most once is "
        "what is needed.",
        "row and column sums are public, all cells are asked",
        [Table(("r", "c", "min(2r, 2c)", "solver", "exact", "by listing"), rows)],
    )


def _solved(sums: Any) -> tuple[Fraction, bool]:
    """The sensitivity of all cells where these sums are public, and whether it is exact."""
    every = sparse.csr_array(sparse.eye_array(sums.shape[1], dtype=np.int64))
    found = solve(System.of(sums), every, 1)
    return Fraction(found.upper), found.exact


def _listed(r: int, c: int) -> int:
    """The largest L1 distance of neighbours, by Definition 4.4: no smaller conformal move."""
    sides = margins((r, c), [(0,), (1,)])
    sides = sides.toarray() if hasattr(sides, "toarray") else np.asarray(sides)
    moves = [
        np.array(move)
        for move in itertools.product((-1, 0, 1), repeat=r * c)
        if any(move) and not (sides @ np.array(move)).any()
    ]
    table = np.array(moves)
    most = 0
    for move in moves:
        inside = ((table * move >= 0) & (np.abs(table) <= np.abs(move))).all(axis=1)
        if inside.sum() == 1:  # itself alone: nothing smaller on the way
            most = max(most, int(np.abs(move).sum()))
    return most


def figure_six(scale: Scale) -> Found:
    """The three tables of Figure 6: which are neighbours once A + B and C + D are public."""
    tables = {"a": (4, 5, 7, 3), "b": (5, 4, 6, 4), "c": (5, 4, 7, 3)}
    sums = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
    found = {}
    for one, two in itertools.combinations(tables, 2):
        step = np.subtract(tables[two], tables[one])
        parts = [range(min(0, s), max(0, s) + 1) for s in step.tolist()]
        smaller = [
            part for part in itertools.product(*parts)
            if any(part) and tuple(part) != tuple(step) and not (sums @ np.array(part)).any()
        ]  # fmt: skip
        found[one + two] = (not smaller, int(np.abs(step).sum()))
    far, exact = _solved(sums)
    says = [
        f"{pair[0]} and {pair[1]} {'are' if near else 'are not'} neighbours, {moves} moves apart"
        for pair, (near, moves) in found.items()
    ]
    return Found(
        "; ".join(says),
        found["ab"] == (False, 4) and found["ac"][0] and found["bc"][0],
        f"By Definition 4.4, word for word. The largest distance of neighbours is "
        f"{far if exact else f'at most {far}'}: noise for {far} rows is enough.",
        "A + B = 9 and C + D = 10 are public",
    )


def density(scale: Scale) -> Found:
    """The noise of Section 4.4, beside the density that is printed for it."""
    sensitivity, _ = _solved(margins((2, 2), [(0,), (1,)]))
    width, draws = 25 * sensitivity, scale.pick(50_000, 2_000_000)
    noise, reach = sample(width, draws), 3 * width
    # Integers from 1 to 3S/ε stand for the line from one half to 3S/ε and a half.
    sides = {"left of 0": (-reach - 0.5, -0.5), "right of 0": (0.5, reach + 0.5)}
    rows = []
    for name, (low, high) in sides.items():
        seen = share(int(((noise > low) & (noise < high)).sum()), draws)
        printed, meant = (
            quad(lambda x, size=size: math.exp(-size(x) / width) / (2 * width), low, high)[0]
            for size in (float, abs)
        )
        rows.append((name, printed, meant, seen))
    fits = [seen.near(printed) for _, printed, _, seen in rows]
    mended = all(seen.near(meant) for _, _, meant, seen in rows)
    return Found(
        "; ".join(f"{name} {seen}, printed {printed:.3g}" for name, printed, _, seen in rows),
        all(fits),
        "The printed density has x where |x| is meant: to the left of 0 it grows without end and "
        "is the density of nothing. "
        f"With |x| it {'is' if mended else 'is not'} what the noise does."
        if not all(fits)
        else "The noise is as printed.",
        f"{draws:,} draws of the package's noise of scale S/ε; S = {sensitivity} (two by two "
        "cells, row and column sums public), ε = 1/25; within 3S/ε of 0",
        [Table(("probability", "∫ ε/(2S) e^(-εx/S)", "with |x|", "drawn"), rows)],
    )


def chi_squared(scale: Scale) -> Found:
    """Example 4.1: the economist's test after the histograms are out, through the front door."""
    n, runs = 1000, scale.pick(20, 300)
    chance = scale.chance(0, 5)
    rejected = {}
    for name, effect in (("independent", 0.0), ("dependent", 0.35)):
        count = 0
        for _ in range(runs):
            sex = chance.integers(0, 2, n)
            salary = np.clip(chance.binomial(9, 0.5 + effect * (sex - 0.5) / 2, n), 0, 9)
            count += _test(sex, salary) < 0.05
        rejected[name] = share(count, runs)
    level, power = rejected.values()
    return Found(
        f"independent: rejected in {level}; dependent: in {power}",
        not level.above(0.05) and power.above(0.05),
        "A noisy root of the damped chi-squared, with the sensitivity of neighbours that have the "
        "same public histograms; its level is simulated from those histograms. The test can be "
        "answered, as the example hopes, and adds no more than its epsilon.",
        f"n = {n:,}, ε = 1, {runs} tables each; level 5 %",
    )


def _test(sex: np.ndarray, salary: np.ndarray) -> float:
    sizes, promise = {"sex": 2, "salary": 10}, 'epsilon = 1000\nneighbors = "bounded"'
    columns = {"sex": sex, "salary": salary}
    with Front(columns, sizes, promise) as front, front.open() as database:
        folder = database.policy.file.parent
        for name, column, size in (("sex", sex, 2), ("salary", salary, 10)):
            counts = np.bincount(column, minlength=size)
            values = folder / f"{name}.csv"
            lines = [f"{value},{count}" for value, count in enumerate(counts.tolist())]
            values.write_text("\n".join([f"{name},count", *lines]) + "\n")
            sql = f"SELECT {name}, COUNT(*) AS count FROM people GROUP BY {name}"
            database.add_prior(sql, values=values)
        return database.session().independence("sex", "salary", Fraction(1)).p_value


RELEASES = (
    Claim("000", "Section 4.1, the leak",
          "After k - 1 exact sums of neighbouring cells, k noisy counts are averaged to variance "
          "2/(kε²); when k is large the table is reconstructed with very high probability.",
          "2/(kε²)", leak, seconds=(5, 80)),
    Claim("000", "Figure 6",
          "Of three tables with A + B and C + D public, T_a and T_b are not neighbours; T_a and "
          "T_c are, and T_b and T_c are.",
          "4 moves; which are neighbours", figure_six, seconds=(0.2, 0.2)),
    Claim("000", "Lemma 4.1",
          "With row and column sums public, the sensitivity of all cells is min(2r, 2c).",
          "min(2r, 2c)", lemma, seconds=(2, 10)),
    Claim("000", "Section 4.4, the density",
          "Laplace(S_Q(q)/ε) noise has the density ε/(2 S_Q(q)) e^(-εx/S_Q(q)).",
          "ε/(2S) e^(-εx/S)", density, DIFFERS, (0.2, 3)),
    Claim("000", "Example 4.1",
          "After the histograms are released, an approximate chi-squared value of salary and "
          "gender could be released without additional leakage.",
          "no number", chi_squared, seconds=(15, 300)),
)  # fmt: skip
