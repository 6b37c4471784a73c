"""Section 4, limitations: columns rebuilt from answers that are too accurate."""

from __future__ import annotations

import math

from adomnia.audit.decoding import Channel, decoding_curve, threshold
from adomnia.audit.hadamard import hadamard
from adomnia.audit.subset_sums import subset_sums
from experiments.claim import Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.measured import share

__all__ = ["ATTACKS"]


def dinur_nissim(scale: Scale) -> Found:
    """Random subset sums with noise of some multiple of the root of n."""
    n = scale.pick(128, 512)
    questions = 8 * n
    lines, rows = [], []
    for part in (0.25, 0.5, 1.0, 2.0, 4.0):
        found = subset_sums(n, questions, part * math.sqrt(n), scale.seed, 120.0)
        rows.append((part, found.success.value))
    places, values = zip(*rows, strict=True)
    lines = [Line("rebuilt", places, values), Line("guessing", places, [0.5] * 5, paper=True)]
    plot = Plot(f"Subset sums, n = {n}, {questions:,} questions", "noise in units of √n",
                "share of bits rebuilt", lines, log_across=True, ends_up=(0.4, 1))  # fmt: skip
    return Found(
        f"{values[0]:.1%} of bits at noise √n/4, {values[-1]:.1%} at 4√n",
        values[0] > 0.95 and values[-1] < 0.85 and values[0] > values[-1],
        "Answers within o(√n) give the column; noise of several √n does not.",
        f"n = {n}, {questions:,} random subsets, uniform noise, least absolute differences",
        [Table(("noise / √n", "rebuilt"), rows)],
        [draw(plot)],
    )


def yekhanin(scale: Scale) -> Found:
    """The n Fourier questions, each with noise below the root of n."""
    n, rows = scale.pick(1024, 16_384), []
    for part in (0.1, 0.25, 0.5, 1.0, 2.0):
        found = hadamard(n, part * math.sqrt(n), scale.seed)
        rows.append((part, found.success.value))
    places, values = zip(*rows, strict=True)
    lines = [Line("rebuilt", places, values), Line("guessing", places, [0.5] * 5, paper=True)]
    plot = Plot(f"Fourier questions, n = {n:,}", "noise in units of √n", "share of bits rebuilt",
                lines, log_across=True, ends_up=(0.4, 1))  # fmt: skip
    return Found(
        f"{values[0]:.1%} of bits at noise √n/10, {values[-1]:.1%} at 2√n",
        values[0] > 0.999 and values[-1] < values[0],
        "n questions are enough, and one fast transform answers for the column.",
        f"n = {n:,}, uniform noise",
        [Table(("noise / √n", "rebuilt"), rows)],
        [draw(plot)],
    )


def robust(scale: Scale) -> Found:
    """Where decoding breaks as a growing share of the answers is arbitrary."""
    n, trials = scale.pick(60, 150), scale.pick(4, 15)
    rhos = (0.1, 0.15, 0.2, 0.22, 0.24, 0.26, 0.3)
    channel = Channel(n, ratio=scale.pick(10, 20))
    found = decoding_curve(channel, rhos, trials, scale.seed, scale.pick(60, 900))
    curve = [row for row in found.details["curve"] if row.get("errors") == "adversarial"]
    points = [
        (row["rho"], share(round(row["whole"] * row["trials"]), row["trials"])) for row in curve
    ]
    last = max((rho for rho, rate in points if rate.value >= 0.5), default=0.0)
    first = min((rho for rho, rate in points if rate.value < 0.5), default=1.0)
    star = threshold()
    lines = [
        Line("adversarial errors", [rho for rho, _ in points], [r.value for _, r in points],
             [r.se for _, r in points]),
        Line("ρ* = 0.239", [star, star], [0.0, 1.0], paper=True),
    ]  # fmt: skip
    plot = Plot("Robust decoding: whole columns rebuilt", "share ρ of arbitrary answers",
                "share of trials", lines, ends_up=(0, 1))  # fmt: skip
    return Found(
        f"breaks between ρ = {last:g} and {first:g}; ρ* = {star:.4f}",
        last <= star + 0.03 and star - 0.08 <= first,
        "With n this small the curve is not yet a step, and breaks a little before the threshold, "
        "which is a limit for many questions: P(|g| > √(2 ln 2)) for a standard normal g.",
        f"n = {n}, {channel.many} Gaussian questions, {trials} trials; the curator lies where it "
        "hurts most",
        [Table(("ρ", "rebuilt"), points)],
        [draw(plot)],
    )


ATTACKS = (
    Claim("004", "Section 4, Dinur and Nissim",
          "If answers to n log² n random subset sums are within o(√n), nearly the whole column is "
          "reconstructed.",
          "all but o(n) entries", dinur_nissim, seconds=(5, 60)),
    Claim("004", "Section 4, Yekhanin",
          "n Fourier queries with noise o(√n) suffice.",
          "n queries", yekhanin, seconds=(0.5, 2)),
    Claim("004", "Section 4, robust decoding",
          "There is a sharp threshold ρ* ≈ 0.239: if a smaller share of answers is arbitrary and "
          "the others are accurate, the column is reconstructed.",
          "0.239", robust, seconds=(20, 400)),
)  # fmt: skip
