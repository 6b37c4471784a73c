"""Section 3: averaging, sums of sensitivities, counts and histograms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import laplace
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.front import Front
from experiments.measured import Measured, mean, share

__all__ = ["SENSITIVITIES", "as_promised", "deviation"]

REACHES = (0, 2, 5, 12)
"""The noise of a count is judged by how often it stays within each of these."""


def averaging(scale: Scale) -> Found:
    """The same question again and again: without books, and at the curator's desk."""
    repeats, runs = [1, 4, 16, 64, 256, 1024], scale.pick(4096, 10_000)
    noise = laplace.sample(Fraction(10), runs * repeats[-1]).reshape(runs, repeats[-1])
    # Every draw is used: few repetitions are many runs.
    spread = [mean(np.square(noise.reshape(-1, many).mean(axis=1))) for many in repeats]
    q = np.exp(-1 / 10)
    unit = 2 * q / (1 - q) ** 2
    falls = all(one.near(unit / many) for one, many in zip(spread, repeats, strict=True))
    rows = np.zeros(1000, np.int64)
    with Front({"a": rows}, {"a": 2}, "epsilon = 1") as front, front.open() as database:
        session, sql = database.session(), "SELECT COUNT(*) FROM people WHERE a = 0"
        answers = [session.ask(sql, "1/10") for _ in range(50)]
    same = len({answer.rows[0][0] for answer in answers}) == 1
    spent = sum(answer.spent["epsilon"] for answer in answers)
    lines = [
        Series("fresh noise", repeats, [one.value for one in spread],
             [1.96 * one.se for one in spread]),
        Series("variance/m", repeats, [unit / many for many in repeats], paper=True),
    ]  # fmt: skip
    plot = Plot("Averaging a repeated question", "repetitions m", "squared error", lines,
                log_across=True, log_up=True)  # fmt: skip
    return Found(
        f"squared error {spread[0]} → {spread[-1]}; here 50 repetitions gave one number, for "
        f"ε = {spent} in all",
        falls and same and spent == Fraction(1, 10),
        "Fresh noise averages away as 1/m. Footnote 2 advises against replaying recorded answers: "
        "that two questions mean the same may be undecidable, and unrelated questions do the "
        "damage as well. We depart from it, and replay: it costs nothing and keeps nothing from "
        "the asker, and no privacy rests on it. A question in other words that are not recognised "
        "is paid for like any other, and so are unrelated ones: it is the ledger that protects.",
        f"ε = 1/10; {runs:,} runs of {repeats[-1]:,} repetitions, more of fewer",
        plots=[draw(plot)],
    )


def joint(scale: Scale) -> Found:
    """k counts of disjoint groups: priced one by one, and together."""
    k = 10
    rows = scale.chance(4, 3).integers(0, k, 2000)
    parts = ", ".join(f"COUNT(*) FILTER (WHERE a = {i}) AS n{i}" for i in range(k))
    alone = [f"SELECT COUNT(*) AS n FROM people WHERE a = {i}" for i in range(k)]
    with Front({"a": rows}, {"a": k}) as front, front.open() as database:
        session = database.session()
        single = session.plan(alone[0], epsilon=Fraction(1, k)).margins["n"]
        together = session.plan(f"SELECT {parts} FROM people", epsilon=1)
        grouped = session.plan("SELECT a, COUNT(*) AS n FROM people GROUP BY a", epsilon=1)
    bounds = [float(step.sensitivity.l1) for step in (*together.steps, *grouped.steps)]
    asked = [
        ("k questions, ε/k each", k, single),
        ("one question with k counts", bounds[0], together.margins["n0"]),
        ("GROUP BY", bounds[-1], grouped.margins["n"]),
    ]
    return Found(
        f"sensitivity {bounds[0]:g} and {bounds[-1]:g} together, {k} as a sum",
        bounds == [1.0, 1.0] and single > 5 * grouped.margins["n"],
        "What one row can change in all answers together is 1, since it lies in one group: the "
        f"margin is {single / grouped.margins['n']:.1f} times smaller than by adding up.",
        f"{k} disjoint groups, ε = 1 in all, margins at 95 %",
        [Table(("asked as", "sensitivity", "margin of a count"), asked)],
    )


def counting(scale: Scale) -> Found:
    """The noise of `Count P` alone and of a histogram: Lap(1/ε), whatever the data."""
    cells, runs, single = 1000, scale.pick(20, 500), scale.pick(600, 10_000)
    rows = scale.chance(4, 4).integers(0, cells, 5 * cells)
    truth = np.bincount(rows, minlength=cells)
    alone, together = [], []
    with Front({"a": rows}, {"a": cells}) as front:
        for start in range(0, single, cells):
            with front.open() as database:
                session = database.session()
                for i in range(min(cells, single - start)):
                    found = session.ask(f"SELECT COUNT(*) FROM people WHERE a = {i}", "1/5")
                    alone.append(found.rows[0][0] - truth[i])
        for _ in range(runs):
            with front.open() as database:
                found = database.session().ask(
                    "SELECT a, COUNT(*) AS n FROM people GROUP BY a", "1/5"
                )
            together.append([n for _, n in found.rows] - truth)
    noises = {"Count P alone": np.array(alone), "histogram": np.concatenate(together)}
    spreads = {name: deviation(noise) for name, noise in noises.items()}
    q = math.exp(-1 / 5)
    exact, printed = math.sqrt(2 * q) / (1 - q), math.sqrt(2) * 5
    return Found(
        f"standard deviation {spreads['Count P alone']} of a count alone, "
        f"{spreads['histogram']} in each of {cells:,} cells",
        all(as_promised(noise, q) for noise in noises.values()),
        f"√2/ε = {printed:.2f} is printed for real numbers; integer noise has {exact:.2f}. Agrees "
        f"where for both kinds the shares of answers within {', '.join(map(str, REACHES))} of the "
        "truth are those of integer noise: squares of noise are too skewed to judge by.",
        f"ε = 1/5; {single:,} counts, of another P each time or in a new ledger; {runs} histograms "
        f"of {cells:,} cells",
        [Table(("", "standard deviation"), [("printed: √2/ε", Measured(printed)),
                                            ("integer noise", Measured(exact)),
                                            *spreads.items()])],
    )  # fmt: skip


def deviation(noise: NDArray[Any]) -> Measured:
    """The standard deviation of noise around zero, with its standard error."""
    square = mean(np.square(noise))
    root = math.sqrt(square.value)
    return Measured(root, square.se / (2 * root), square.freedom)


def as_promised(noise: NDArray[Any], q: float) -> bool:
    """Whether so many answers lie within each reach as integer noise with the ratio q has there."""
    return all(
        share(int((np.abs(noise) <= reach).sum()), noise.size).near(
            1 - 2 * q ** (reach + 1) / (1 + q)
        )
        for reach in REACHES
    )


SENSITIVITIES = (
    Claim("004", "Section 3, averaging",
          "If noise is symmetric and the same question is asked many times, the responses may be "
          "averaged, cancelling out the noise.",
          "the error falls with repetitions", averaging, seconds=(2, 5)),
    Claim("004", "Section 3, joint sensitivity",
          "Noise by the sum of the sensitivities suffices for a sequence of queries; what matters "
          "is the largest change of all answers together, which may be far less.",
          "k against 1 for a histogram", joint, seconds=(0.5, 0.5)),
    Claim("004", "Section 3, Count P and histograms",
          "A count has sensitivity 1 and so has every histogram; the noise Lap(1/ε) has standard "
          "deviation √2/ε.",
          "√2/ε", counting, seconds=(8, 140)),
)  # fmt: skip
