"""Section 2.2: what attackers know, and how likely Bob's record comes out."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from adomnia.audit.correlation.correlation import Groups, odds_factor
from adomnia.mechanisms.counts.randomized_response import Response, respond
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.measured import share

__all__ = ["RISK"]

RECORDS = list(product((0, 1), repeat=4))
BOB = (0, 0, 1, 0)


def bits_apart(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def attributes_apart(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return (a[:2] != b[:2]) + (a[2:] != b[2:])


def records_apart(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return int(a != b)


RELATIONS: dict[str, tuple[Callable[..., int], Callable[[float], float]]] = {
    "bit": (bits_apart, lambda e: math.exp(4 * e) / (1 + math.exp(e)) ** 4),
    "attribute": (attributes_apart,
                  lambda e: math.exp(2 * e) / (9 + 6 * math.exp(e) + math.exp(2 * e))),
    "bounded": (records_apart, lambda e: math.exp(e) / (15 + math.exp(e))),
}  # fmt: skip


def answered(name: str, epsilon: Fraction, runs: int) -> int:
    """How often the package's randomized response gives Bob's record, under each relation."""
    if name == "bounded":
        truth = np.full(runs, RECORDS.index(BOB))
        return int((respond(truth, Response(epsilon, 16)) == truth).sum())
    width, parts = (2, 4) if name == "bit" else (4, 2)
    values = BOB if name == "bit" else (2 * BOB[0] + BOB[1], 2 * BOB[2] + BOB[3])
    same = np.ones(runs, bool)
    for place in range(parts):
        truth = np.full(runs, values[place])
        same &= respond(truth, Response(epsilon, width)) == truth
    return int(same.sum())


def most(name: str, epsilon: float) -> float:
    """The largest probability of the true record that any private mechanism has: a program."""
    apart, many = RELATIONS[name][0], len(RECORDS)
    rows, columns, values, row = [], [], [], 0
    for i, j in product(range(many), repeat=2):
        if i == j or apart(RECORDS[i], RECORDS[j]) != 1:
            continue
        for out in range(many):
            rows += [row, row]
            columns += [i * many + out, j * many + out]
            values += [1.0, -math.exp(epsilon)]
            row += 1
    for i in range(many):  # the smallest diagonal entry is at least the last variable
        rows += [row, row]
        columns += [i * many + i, many * many]
        values += [-1.0, 1.0]
        row += 1
    upper = sparse.csr_array((values, (rows, columns)), shape=(row, many * many + 1))
    sums = sparse.kron(sparse.eye_array(many), np.ones((1, many)))
    equal = sparse.hstack([sums, sparse.csr_array((many, 1))])
    cost = np.zeros(many * many + 1)
    cost[-1] = -1
    solved = linprog(cost, A_ub=upper, b_ub=np.zeros(row), A_eq=equal, b_eq=np.ones(many))
    return float(-solved.fun)


def figure_one(scale: Scale) -> Found:
    """Figure 1, three times: the printed formula, the mechanism's draws, and the best possible."""
    epsilons = [Fraction(tenth, 10) for tenth in range(1, 11, scale.pick(3, 1))]
    runs, lines, rows, agrees = scale.pick(20_000, 400_000), [], [], True
    for name, (_, formula) in RELATIONS.items():
        seen = [share(answered(name, epsilon, runs), runs) for epsilon in epsilons]
        printed = [formula(float(epsilon)) for epsilon in epsilons]
        best = [most(name, float(epsilon)) for epsilon in epsilons]
        places = [float(epsilon) for epsilon in epsilons]
        agrees &= all(one.near(value) for one, value in zip(seen, printed, strict=True))
        agrees &= all(abs(a - b) < 1e-6 for a, b in zip(best, printed, strict=True))
        margins = [1.96 * one.se for one in seen]
        lines.append(Series(name, places, [one.value for one in seen], margins))
        lines.append(Series(f"{name}, printed", places, printed, paper=True))
        rows.append((name, printed[-1], seen[-1], best[-1]))
    plot = Plot("Figure 1: probability of Bob's record", "ε", "probability", lines)
    return Found(
        ", ".join(f"{name} {seen}" for name, _, seen, _ in rows) + f" at ε = {epsilons[-1]}",
        agrees,
        "Randomized response on bits, on attributes and on the whole record gives the printed "
        "probabilities, and a linear program over all mechanisms shows that none gives more.",
        f"16 records of two attributes of two bits; {runs:,} draws a point",
        [Table(("neighbours", "printed", "seen", "most that is possible"), rows)],
        [draw(plot)],
    )


def family(scale: Scale) -> Found:
    """Example 2.1: the answer 12 about a family of ten moves the odds by e^(10ε)."""
    rows, agrees = [], True
    for epsilon in (0.1, 0.5, 1.0):
        factor = odds_factor(Groups((10,)), 0, epsilon, 12)
        printed = math.exp(10 * epsilon)
        agrees &= abs(factor / printed - 1) < 1e-9
        rows.append((epsilon, printed, factor))
    return Found(
        f"factors {', '.join(f'{row[2]:.6g}' for row in rows)}",
        agrees,
        "A whole family that falls ill together acts as one row of weight ten: `group = 10` in "
        "the policy is what protects it.",
        "all ten are ill or none is, as likely; computed from the mechanism's integer noise",
        [Table(("ε", "e^(10ε)", "factor of the odds"), rows)],
    )


RISK = (
    Claim("000", "Figure 1",
          "The probability of outputting Bob's record under bit, attribute and bounded "
          "differential privacy, for ε from 0 to 1: the more an attacker is assumed to know, the "
          "more is let out.",
          "e^4ε/(1+e^ε)^4, e^2ε/(9+6e^ε+e^2ε), e^ε/(15+e^ε)", figure_one, seconds=(4, 20)),
    Claim("000", "Example 2.1",
          "An answer of 12 is e^(10ε) times as likely if the whole family of ten is ill than if "
          "nobody is.",
          "e^(10ε)", family, seconds=(0.5, 0.5)),
)  # fmt: skip
