"""Sections 4 and 5.1: groups, Theorem 4 and its noise, histograms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.noise import laplace
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
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
    outputs = list(itertools.product(range(-4, 12), repeat=3))
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        width = float(1 / epsilon)
        before, after = np.array([3, 5, 2]), np.array([3, 6, 2])  # one row more in the second cell
        ratios = np.array([
            log_chance(np.array(out) - after, width) - log_chance(np.array(out) - before, width)
            for out in outputs
        ])  # fmt: skip
        most = float(np.abs(ratios).max())
        reached = (np.abs(ratios) > most - 1e-9).mean(), (ratios > most - 1e-9).mean()
        seen = drawn_ratio(1 / epsilon, 1, draws)
        agrees &= abs(most - float(epsilon)) < 1e-9 and seen.near(float(epsilon))
        rows.append((str(epsilon), most, *(f"{part:.1%}" for part in reached), seen))
    return Found(
        "the largest log-ratio is " + ", ".join(f"{row[1]:.6f} for ε = {row[0]}" for row in rows),
        agrees,
        f"The largest log-ratio is met on {rows[0][2]} of the outputs, with a plus on "
        f"{rows[0][3]}: whatever integer comes out, one row more moves the distance to it by one. "
        "The last column is the same ratio for one event, counted in draws.",
        f"a histogram of three cells and its neighbour, {len(outputs):,} outputs; {draws:,} draws "
        "each",
        [Table(("ε", "largest log-ratio, exact", "met on", "with a plus", "log-ratio, drawn"), rows,
               "drawn: the second cell is 6 or more, which it is in one of the two histograms")],
    )  # fmt: skip


def drawn_ratio(width: Fraction, apart: int, draws: int) -> Measured:
    """The log-ratio of the event that a noisy count reaches the larger of two, from draws."""
    noise = laplace.sample(width, 2 * draws).reshape(2, draws)
    hits = [int((noise[0] >= apart).sum()), int((noise[1] >= 0).sum())]
    error = math.sqrt(1 / hits[0] + 1 / hits[1])
    return Measured(math.log(hits[1] / hits[0]), error, min(hits))


def wrong_way(scale: Scale) -> Found:
    """The sentence after Theorem 4: σ ≥ ε/Δf; both scales, drawn."""
    draws, rows = scale.pick(400_000, 10_000_000), []
    for epsilon, delta in ((Fraction(1, 4), 1), (Fraction(1, 2), 2), (Fraction(2), 1)):
        printed, needed = epsilon / delta, delta / epsilon
        rows.append((epsilon, delta, printed, drawn_ratio(printed, delta, draws),
                     needed, drawn_ratio(needed, delta, draws)))  # fmt: skip
    kept = all(not row[3].above(row[0]) for row in rows)
    mended = all(row[5].near(float(row[0])) for row in rows)
    return Found(
        ", ".join(f"loss {row[3]} for ε = {row[0]}" for row in rows),
        kept,
        "Theorem 4 itself gives Δf/σ, so σ must be at least Δf/ε: the fraction stands upside down, "
        "and where ε is below Δf the loss is far more than ε. With σ = Δf/ε it "
        f"{'is' if mended else 'is not'} ε in the same draws. (Likewise 'variance k/ε' and '1/ε' "
        "for histograms are scales, not variances.)"
        if not kept
        else "The printed scale loses no more than ε.",
        f"two counts Δf apart, {draws:,} draws of noise for each: log-ratio of the event that the "
        "answer reaches the larger",
        [Table(("ε", "Δf", "σ = ε/Δf as printed", "loss, drawn", "σ = Δf/ε", "loss, drawn"), rows)],
    )


def histograms(scale: Scale) -> Found:
    """The noise of a histogram as one query, and as k queries."""
    rows, ks = [], (2, 5, 10, 50)
    for k in ks:
        with Front({"a": np.arange(100) % k}, {"a": k}) as front, front.open() as database:
            session = database.session()
            whole = session.plan("SELECT a, COUNT(*) AS n FROM people GROUP BY a", epsilon="1/2")
            alone = session.plan("SELECT COUNT(*) AS n FROM people WHERE a = 0",
                                 epsilon=Fraction(1, 2 * k))  # fmt: skip
        scales = [float(plan.steps[0].noise.parameter) for plan in (alone, whole)]
        rows.append((k, *scales, scales[0] / scales[1]))
    apart, whole = ([row[place] for row in rows] for place in (1, 2))
    plot = Plot("Noise scale of a histogram, ε = 1/2", "cells k", "scale of the noise",
                [Series("k questions", ks, apart, dots=True),
                 Series("one question", ks, whole, dots=True),
                 Series("k/ε", ks, [2 * k for k in ks], paper=True),
                 Series("1/ε", ks, [2 for _ in ks], paper=True)],
                log_across=True, log_up=True)  # fmt: skip
    return Found(
        f"scale {min(whole):g} to {max(whole):g} for k from {ks[0]} to {ks[-1]}, against "
        f"{apart[0]:g} to {apart[-1]:g} for k questions",
        whole == [2] * len(ks) and apart == [2 * k for k in ks],
        "One row lies in one cell, so the whole histogram has sensitivity 1.",
        "as `adomnia plan` says, ε = 1/2 in all",
        [Table(("k", "k questions: k/ε", "one question: 1/ε", "ratio"), rows)],
        [draw(plot)],
    )


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
          "σ ≥ ε/Δf", wrong_way, DIFFERS, (0.5, 4)),
    Claim("001", "Section 5.1, histograms",
          "A histogram of k cells needs noise 1/ε in each, not k/ε.",
          "1/ε against k/ε", histograms, seconds=(2, 2)),
)  # fmt: skip
