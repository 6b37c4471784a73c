"""Section 4: exact statistics are out; what noise that does not know of them lets through."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy import sparse

from adomnia.audit.prior_leak import chain_leak
from adomnia.priors.moves.solve import solve
from adomnia.priors.shapes import margins
from adomnia.priors.system import System
from experiments.claim import Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.front import Front
from experiments.measured import Measured, mean, share

__all__ = ["RELEASES"]


def leak(scale: Scale) -> Found:
    """Section 4.1: the variance of the averaged estimate, and whole tables rebuilt."""
    ks, trials = (2, 8, 32, 128, 512, 2048), scale.pick(200, 5000)
    curve = chain_leak(list(ks), 1.0, trials, scale.seed).details["curve"]
    before = [Measured(p["averaging"]["value"], _se(p["averaging"], trials)) for p in curve]
    best = [p["before"]["value"] for p in curve]
    after = [p["after"]["value"] for p in curve]
    told = [p["averaging_formula"] for p in curve]
    variances = {k: _variance(k, scale) for k in (4, 16, scale.pick(32, 64))}
    rows = [(k, 2 / k, found) for k, found in variances.items()]
    # The package's noise is of integers: its variance at ε = 1 is a little below 2.
    q = np.exp(-1)
    unit = 2 * q / (1 - q) ** 2
    reached = all(found.near(unit / k) for k, found in variances.items())
    lines = [
        Line("averaging", ks, [one.value for one in before], [1.96 * one.se for one in before]),
        Line("best estimate", ks, best),
        Line("accounted for", ks, after),
        Line("erf(ε√k/4)", ks, told, paper=True),
    ]
    plot = Plot("Whole tables rebuilt after exact sums of neighbours", "cells k",
                "share of tables", lines, log_across=True, ends_up=(0, 1))  # fmt: skip
    return Found(
        f"variance {', '.join(f'{found} (k = {k})' for k, found in variances.items())}; rebuilt "
        f"{best[0]:.0%} at k = 2, {best[-1]:.0%} at k = {ks[-1]:,}; accounted for: {after[-1]:.1%}",
        reached and best[-1] > 0.99 and after[-1] < 0.2,
        "Answers that do not know of the exact releases are averaged to variance 2/(kε²) (integer "
        f"noise: {unit:.3f}/(kε²)) and give the whole table when k is large. Registered with "
        "`adomnia prior add`, the exact answers make the noise k times wider, and what remains is "
        "hardly more than a guess.",
        f"chain of k cells, ε = 1, {trials} tables for each k; variances through the front door",
        [Table(("k", "2/(kε²)", "measured"), rows)],
        [draw(plot)],
    )


def _se(rate: dict[str, float], trials: int) -> float:
    return share(round(rate["value"] * trials), trials).se


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
    rows, agrees = [], True
    for r, c in itertools.combinations_with_replacement(range(2, 7), 2):
        system = System.of(margins((r, c), [(0,), (1,)]))
        every = sparse.csr_array(sparse.eye_array(r * c, dtype=np.int64))
        found = solve(system, every, 1)
        agrees &= found.exact and found.upper == min(2 * r, 2 * c)
        listed = _listed(r, c) if r * c <= scale.pick(6, 9) else None
        agrees &= listed is None or listed == min(2 * r, 2 * c)
        rows.append((r, c, min(2 * r, 2 * c), str(found.upper), "" if listed is None else listed))
    return Found(
        f"min(2r, 2c) in all {len(rows)} cases",
        agrees,
        "The solver's bound is exact in every case, with a pair of neighbours that reaches it; "
        "for small tables all differences of neighbours were listed. The sketched proof speaks "
        "of Hamiltonian cycles; an alternating cycle through each row and column at most once is "
        "what is needed.",
        "row and column sums are public, all cells are asked",
        [Table(("r", "c", "min(2r, 2c)", "solver", "by listing"), rows)],
    )


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
    right = found["ab"] == (False, 4) and found["ac"][0] and found["bc"][0]
    system = System.of(sums)
    exact = solve(system, sparse.csr_array(sparse.eye_array(4, dtype=np.int64)), 1)
    return Found(
        "a and b are not neighbours (4 moves); a and c, b and c are",
        right and exact.upper == 2,
        f"By Definition 4.4, word for word. The largest distance of neighbours is {exact.upper}: "
        "noise for two rows is enough.",
        "A + B = 9 and C + D = 10 are public",
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
    Claim("000", "Example 4.1",
          "After the histograms are released, an approximate chi-squared value of salary and "
          "gender could be released without additional leakage.",
          "no number", chi_squared, seconds=(15, 300)),
)  # fmt: skip
