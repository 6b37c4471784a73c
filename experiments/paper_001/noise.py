"""Sections 4 and 5: Theorems 4 and 5, histograms, groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from adomnia.mechanisms import laplace
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.front import Front
from experiments.measured import Measured

__all__ = ["NOISE"]


def log_chance(noise: Sequence[int] | np.ndarray, scale: float) -> float:
    """The logarithm of the probability of a vector of integer Laplace noise."""
    q = math.exp(-1 / scale)
    size = np.abs(np.asarray(noise))
    return float(size.sum() * math.log(q) + size.size * math.log((1 - q) / (1 + q)))


def theorem_four(scale: Scale) -> Found:
    """The log-ratio on every output of a small histogram, and on events seen in draws."""
    rows, draws, agrees = [], scale.pick(200_000, 10_000_000), True
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        width = float(1 / epsilon)
        before, after = np.array([3, 5, 2]), np.array([3, 6, 2])  # one row more in the second cell
        ratios = [
            log_chance(np.array(out) - after, width) - log_chance(np.array(out) - before, width)
            for out in itertools.product(range(-4, 12), repeat=3)
        ]
        most = max(abs(ratio) for ratio in ratios)
        noise = laplace.sample(1 / epsilon, 2 * draws).reshape(2, draws)
        hits = [int((before[1] + noise[0] >= 6).sum()), int((after[1] + noise[1] >= 6).sum())]
        seen = Measured(math.log(hits[1] / hits[0]), math.sqrt(1 / hits[0] + 1 / hits[1]))
        agrees &= abs(most - float(epsilon)) < 1e-9 and seen.near(float(epsilon))
        rows.append((str(epsilon), most, seen))
    return Found(
        "the largest log-ratio is ε: " + ", ".join(f"{row[1]:.6f}" for row in rows),
        agrees,
        "Never above ε on any output, and equal to it on half of them: the bound is reached. "
        "The second number is the same ratio for one event, counted in draws.",
        f"a histogram of three cells and its neighbour, 4,096 outputs; {draws:,} draws each",
        [Table(("ε", "largest log-ratio, exact", "log-ratio of P(second cell ≥ 6), drawn"), rows)],
    )


def wrong_way(scale: Scale) -> Found:
    """The sentence after Theorem 4: σ ≥ ε/Δf."""
    rows = []
    for epsilon, delta in ((0.1, 1), (0.5, 2), (2.0, 1)):
        printed, needed = epsilon / delta, delta / epsilon
        rows.append((epsilon, delta, printed, delta / printed, needed, delta / needed))
    return Found(
        "loss " + ", ".join(f"{row[3]:g}" for row in rows) + " where "
        + ", ".join(f"{row[0]:g}" for row in rows) + " was asked for",
        all(abs(row[3] - row[0]) < 1e-9 for row in rows),
        "Theorem 4 itself gives Δf/σ, so σ must be at least Δf/ε: the fraction stands upside down. "
        "(Likewise 'variance k/ε' and '1/ε' for histograms are scales, not variances.)",
        "by Theorem 4",
        [Table(("ε", "Δf", "σ as printed", "its loss", "σ = Δf/ε", "its loss"), rows)],
    )  # fmt: skip


def histograms(scale: Scale) -> Found:
    """The noise of a histogram as one query, and as k queries."""
    rows, lines, ratios = [], [[], []], []
    ks = (2, 5, 10, 50)
    for k in ks:
        with Front({"a": np.arange(100) % k}, {"a": k}) as front, front.open() as database:
            session = database.session()
            whole = session.plan("SELECT a, COUNT(*) AS n FROM people GROUP BY a", epsilon="1/2")
            alone = session.plan("SELECT COUNT(*) AS n FROM people WHERE a = 0",
                                 epsilon=Fraction(1, 2 * k))  # fmt: skip
        scales = [float(plan.steps[0].noise.parameter) for plan in (alone, whole)]
        ratios.append(scales[0] / scales[1])
        rows.append((k, *scales, ratios[-1]))
        for line, value in zip(lines, scales, strict=True):
            line.append(value)
    plot = Plot("Noise scale of a histogram, ε = 1/2", "cells k", "scale of the noise",
                [Line("k questions", ks, lines[0]), Line("one question", ks, lines[1]),
                 Line("k/ε", ks, [2 * k for k in ks], paper=True)],
                log_across=True, log_up=True)  # fmt: skip
    return Found(
        f"scale {lines[1][0]:g} for any k, against {lines[0][-1]:g} for k = {ks[-1]}",
        all(abs(ratio - k) < 1e-9 for ratio, k in zip(ratios, ks, strict=True)),
        "One row lies in one cell, so the whole histogram has sensitivity 1.",
        "as `adomnia plan` says, ε = 1/2 in all",
        [Table(("k", "k questions: k/ε", "one question: 1/ε", "ratio"), rows)],
        [draw(plot)],
    )


def theorem_five(scale: Scale) -> Found:
    """A strategy whose second query depends on the noise of the first answer."""
    sigma, domain = 2.0, (0, 1, 2)
    tables = [rows for n in range(4) for rows in itertools.product(domain, repeat=n)]
    reports, worst, delta = range(-8, 12), 0.0, 0
    for rows in tables:
        for more in domain:
            pair = [_counts(rows), _counts((*rows, more))]
            for reported in reports:
                answers = [_strategy(counts, reported) for counts in pair]
                apart = sum(abs(a - b) for a, b in zip(*answers, strict=True))
                delta = max(delta, apart)
                # The ratio is largest where the second report lies beyond both answers.
                for second in (-10, 14):
                    chances = [
                        log_chance([reported - first, second - then], sigma)
                        for first, then in answers
                    ]
                    worst = max(worst, abs(chances[0] - chances[1]))
    bound, naive = delta / sigma, 2 / sigma
    with Front({"a": np.arange(60) % 3}, {"a": 3}, "epsilon = 1") as front, front.open() as books:
        session = books.session()
        first = session.ask("SELECT COUNT(*) AS n FROM people WHERE a = 0", "1/4").rows[0][0]
        chosen = "a = 1" if first > 20 else "a >= 1"
        session.ask(f"SELECT COUNT(*) AS n FROM people WHERE {chosen}", "1/4")
        left = session.remaining()["epsilon"]
    return Found(
        f"largest log-ratio {worst:.3f}, bound ΔF/σ = {bound:.3f}",
        worst <= bound + 1e-9 and worst > 0.99 * bound and left == Fraction(1, 2),
        "The second query ('if the reported number exceeds the true one, then … else …') depends "
        f"on the noise, and the loss stays within that of the strategy, whose sensitivity is "
        f"{delta} and not that of two counts: priced as such ({naive:.1f}) it would be broken. "
        "Here a statement cannot speak of the true answer, only of the reported one; who "
        f"chooses by that pays for each answer (1/4 twice of 1: {left} is left).",
        "all tables of up to 3 rows over 3 values and all their neighbours; σ = 2",
    )


def _counts(rows: Sequence[int]) -> tuple[int, int, int]:
    return tuple(sum(row == value for row in rows) for value in range(3))  # type: ignore[return-value]


def _strategy(counts: tuple[int, int, int], reported: int) -> tuple[int, int]:
    """How many have 0; then, if more were reported than there are, how many have 1, else 2."""
    return counts[0], counts[1] if reported > counts[0] else counts[2]


def groups(scale: Scale) -> Found:
    """c rows at once: the loss, and the noise that hides them."""
    epsilon, rows = Fraction(1, 4), []
    for c in (1, 2, 5, 10):
        before, after = np.array([20]), np.array([20 + c])
        loss = max(
            abs(log_chance(np.array([out]) - after, 4) - log_chance(np.array([out]) - before, 4))
            for out in range(-30, 80)
        )
        promise = f"epsilon = 1\ngroup = {c}"
        with Front({"a": np.zeros(50, np.int64)}, {"a": 2}, promise) as front, front.open() as db:
            plan = db.session().plan("SELECT COUNT(*) AS n FROM people", epsilon=epsilon)
        rows.append((c, loss, float(c * epsilon), float(plan.steps[0].noise.parameter)))
    return Found(
        "loss " + ", ".join(f"{row[1]:g}" for row in rows) + " for c = 1, 2, 5, 10",
        all(abs(row[1] - row[2]) < 1e-9 and row[3] == 4 * row[0] for row in rows),
        "Exactly cε for c rows; `group = c` in the policy makes the noise c times wider, and the "
        "group is hidden by ε again.",
        f"a count with ε = {epsilon}; exact values",
        [Table(("c", "largest log-ratio", "cε", "scale of the noise with group = c"), rows)],
    )


NOISE = (
    Claim("001", "Section 4, groups",
          "A group of c is protected by a factor of e^(cε).",
          "e^(cε)", groups, seconds=(1, 1)),
    Claim("001", "Theorem 4",
          "Adding symmetric exponential noise of scale σ to each component of a vector gives "
          "(Δf/σ)-differential privacy.",
          "Δf/σ", theorem_four, seconds=(1, 5)),
    Claim("001", "After Theorem 4",
          "To achieve ε-differential privacy one must choose σ ≥ ε/Δf.",
          "σ ≥ ε/Δf", wrong_way, DIFFERS, (0.1, 0.1)),
    Claim("001", "Section 5.1, histograms",
          "A histogram of k cells needs noise 1/ε in each, not k/ε.",
          "1/ε against k/ε", histograms, seconds=(2, 2)),
    Claim("001", "Theorem 5",
          "An adaptive strategy, also one that asks about the noise that was added, loses no more "
          "than ΔF/σ.",
          "ΔF/σ", theorem_five, seconds=(1, 1)),
)  # fmt: skip
