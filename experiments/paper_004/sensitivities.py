"""Section 3: averaging, sums of sensitivities, counts and histograms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from adomnia.mechanisms import laplace
from experiments.claim import Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.front import Front
from experiments.measured import Measured, mean

__all__ = ["SENSITIVITIES"]


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
        Line("fresh noise", repeats, [one.value for one in spread],
             [1.96 * one.se for one in spread]),
        Line("variance/m", repeats, [unit / many for many in repeats], paper=True),
    ]  # fmt: skip
    plot = Plot("Averaging a repeated question", "repetitions m", "squared error", lines,
                log_across=True, log_up=True)  # fmt: skip
    return Found(
        f"squared error {spread[0]} → {spread[-1]}; here 50 repetitions gave one number, for "
        f"ε = {spent} in all",
        falls and same and spent == Fraction(1, 10),
        "Fresh noise averages away as 1/m. Here the same question gets the same answer, at no "
        "cost; where it is put in other words that are not recognised, each answer is paid for, "
        "which is the footnote's point.",
        f"ε = 1/10; {runs:,} runs of {repeats[-1]:,} repetitions, more of fewer",
        plots=[draw(plot)],
    )


def joint(scale: Scale) -> Found:
    """k counts of disjoint groups: priced one by one, and together."""
    k, rows_out = 10, []
    rows = scale.chance(4, 3).integers(0, k, 2000)
    parts = ", ".join(f"COUNT(*) FILTER (WHERE a = {i}) AS n{i}" for i in range(k))
    alone = [f"SELECT COUNT(*) AS n FROM people WHERE a = {i}" for i in range(k)]
    with Front({"a": rows}, {"a": k}) as front, front.open() as database:
        session = database.session()
        single = session.plan(alone[0], epsilon=Fraction(1, k)).margins["n"]
        together = session.plan(f"SELECT {parts} FROM people", epsilon=1)
        grouped = session.plan("SELECT a, COUNT(*) AS n FROM people GROUP BY a", epsilon=1)
    bounds = [float(step.sensitivity.l1) for step in (*together.steps, *grouped.steps)]
    rows_out = [
        ("k questions, ε/k each", k, single),
        ("one question with k counts", bounds[0], together.margins["n0"]),
        ("GROUP BY", bounds[-1], grouped.margins["n"]),
    ]
    return Found(
        f"sensitivity {bounds[0]:g} and {bounds[-1]:g} together, {k} as a sum",
        bounds == [1.0, 1.0] and single > 5 * grouped.margins["n"],
        "What one row can change in all answers together is 1, since it lies in one group: the "
        "noise is ten times smaller than by adding up sensitivities.",
        f"{k} disjoint groups, ε = 1 in all, margins at 95 %",
        [Table(("asked as", "sensitivity", "margin of a count"), rows_out)],
    )


def counting(scale: Scale) -> Found:
    """The noise of `Count P` and of a histogram: Lap(1/ε), whatever the data."""
    runs, cells = scale.pick(20, 500), 1000
    rows = scale.chance(4, 4).integers(0, cells, 5 * cells)
    truth = np.bincount(rows, minlength=cells)
    squares = []
    with Front({"a": rows}, {"a": cells}) as front:
        for _ in range(runs):
            with front.open() as database:
                found = database.session().ask(
                    "SELECT a, COUNT(*) AS n FROM people GROUP BY a", "1/5"
                )
            squares.append(np.square([n for _, n in found.rows] - truth))
    spread = mean(np.concatenate(squares))
    q = np.exp(-1 / 5)
    exact, printed = 2 * q / (1 - q) ** 2, 2 * 5**2
    return Found(
        f"standard deviation {spread.value**0.5:.2f} in each of {cells:,} cells",
        spread.near(exact),
        f"√2/ε = {printed**0.5:.2f} is printed for real numbers; integer noise has "
        f"{exact**0.5:.2f}. It is the same for one count and for a whole histogram.",
        f"ε = 1/5, {cells:,} cells, {runs} answers",
        [Table(("", "variance"), [("printed: 2/ε²", Measured(printed)),
                                  ("integer noise", Measured(exact)), ("measured", spread)])],
    )  # fmt: skip


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
          "√2/ε", counting, seconds=(2, 40)),
)  # fmt: skip
