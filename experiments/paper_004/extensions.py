"""Section 4: smooth sensitivity, and the exponential mechanism at an auction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.auction import revenue, sell
from adomnia.mechanisms.quantile import Share
from adomnia.mechanisms.smooth import smooth_sensitivity
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.measured import mean, share

__all__ = ["EXTENSIONS"]

LOW, HIGH = 0, 10_000


def smooth_median(scale: Scale) -> Found:
    """The smooth sensitivity of the median against its global sensitivity."""
    chance, rows, lines = scale.chance(4, 5), [], []
    worlds = {
        "incomes": lambda n: np.clip(chance.lognormal(7.8, 0.5, n), LOW, HIGH),
        "uniform": lambda n: chance.uniform(LOW, HIGH, n),
        "two camps": lambda n: np.where(np.arange(n) % 2 == 0, LOW, HIGH),
    }
    sizes = (11, 101, 1001, 10_001)
    for name, world in worlds.items():
        found = []
        for n in sizes:
            values, counts = np.unique(world(n).astype(np.int64), return_counts=True)
            bound = smooth_sensitivity(values, counts, (LOW, HIGH), Share(Fraction(1, 2)),
                                       Fraction(1, 6))  # fmt: skip
            found.append(float(bound))
        rows.append((name, *found))
        lines.append(Line(name, sizes, found))
    lines.append(Line("global", sizes, [HIGH - LOW] * len(sizes), paper=True))
    plot = Plot("Smooth sensitivity of the median, β = 1/6", "rows n", "sensitivity", lines,
                log_across=True, log_up=True)  # fmt: skip
    small, hard = rows[0][-1], rows[2][-1]
    return Found(
        f"incomes {small:.3g}, two camps {hard:.3g}; global {HIGH - LOW:,}",
        small < (HIGH - LOW) / 100 and hard > (HIGH - LOW) / 2,
        "On ordinary data the noise is small though the worst case is the whole range; where half "
        "are at either end the median is truly sensitive, and the noise stays large.",
        f"values from {LOW} to {HIGH:,}",
        [Table(("data", *(f"n = {n:,}" for n in sizes)), rows)],
        [draw(plot)],
    )


def auction(scale: Scale) -> Found:
    """Revenue of the private price against the best one."""
    chance, runs, prices = scale.chance(4, 6), scale.pick(60, 1000), tuple(range(1, 101))
    sizes, lines, rows = (10, 100, 1000, 10_000), [], []
    for epsilon in (0.1, 1.0):
        shares = []
        for n in sizes:
            bids = np.clip(chance.lognormal(3.2, 0.6, n), 1, 100).astype(np.int64)
            brought = revenue(bids, prices)
            sold = [brought[sell(bids, prices, str(epsilon)) - 1] for _ in range(runs)]
            shares.append(mean((np.array(sold) / brought.max()).tolist()))
        rows.append((epsilon, *shares))
        lines.append(Line(f"ε = {epsilon:g}", sizes, [one.value for one in shares],
                          [1.96 * one.se for one in shares]))  # fmt: skip
    lines.append(Line("the best price", sizes, [1.0] * len(sizes), paper=True))
    plot = Plot("Revenue of the private price", "bidders", "share of the best revenue", lines,
                log_across=True, ends_up=(0, 1))  # fmt: skip
    return Found(
        f"ε = 1, 10,000 bidders: {rows[1][-1]} of the best revenue",
        rows[1][-1].value > 0.99 and rows[0][-1].value > 0.95,
        "With enough bidders the selling price is nearly optimal; with ten it is a guess.",
        f"prices 1 to 100, {runs} auctions a point",
        [Table(("ε", *(f"n = {n:,}" for n in sizes)), rows)],
        [draw(plot)],
    )


def truthful(scale: Scale) -> Found:
    """What one bidder gains by any lie: the probability of each price, computed exactly."""
    prices, epsilon = tuple(range(1, 21)), 0.5
    chance, worst, gains = scale.chance(4, 7), 0.0, []
    for _ in range(scale.pick(20, 400)):
        bids = chance.integers(1, 21, 12)
        honest = _law(revenue(bids, prices), prices[-1], epsilon)
        for lie in range(0, 21):
            other = bids.copy()
            other[0] = lie
            law = _law(revenue(other, prices), prices[-1], epsilon)
            worst = max(worst, float(np.abs(np.log(law / honest)).max()))
            keeps = np.maximum(bids[0] - np.array(prices), 0)
            gains.append(float(law @ keeps) / max(float(honest @ keeps), 1e-12))
    seen = max(g for g in gains if math.isfinite(g))
    # The same law from draws of the package's selection, so that it is not our formula alone.
    bids = np.array([3, 8, 8, 15, 20, 20])
    draws = scale.pick(4000, 200_000)
    picked = np.bincount([sell(bids, prices, "1/2") for _ in range(draws)], minlength=21)[1:]
    law = _law(revenue(bids, prices), prices[-1], epsilon)
    drawn = all(share(int(n), draws).near(p) for n, p in zip(picked, law, strict=True))
    return Found(
        f"any price's probability moves by at most e^{worst:.3f}; expected gain of a lie at most "
        f"{seen:.3f} times",
        worst <= epsilon + 1e-9 and seen <= math.exp(epsilon) + 1e-9 and drawn,
        "Privacy is truthfulness: no bid changes what a bidder can expect by more than e^ε.",
        f"12 bidders, prices 1 to 20, ε = {epsilon}; every lie of the first bidder",
    )


def _law(scores: np.ndarray, sensitivity: int, epsilon: float) -> np.ndarray:
    """The probabilities of permute-and-flip for these scores (`select.md`), by recursion."""
    accept = np.exp(epsilon / sensitivity * (scores - scores.max()).astype(float))
    # P(r) = accept_r * integral over t in [0,1] of prod over others (1 - accept t), exactly.
    law = np.empty(len(accept))
    for place in range(len(accept)):
        product = np.array([1.0])
        for other, value in enumerate(accept):
            if other != place:
                product = np.convolve(product, [1.0, -value])
        law[place] = accept[place] * sum(c / (i + 1) for i, c in enumerate(product))
    return law / law.sum()


def exponent(scale: Scale) -> Found:
    """The printed exponent u·ε, against what two neighbouring databases show."""
    epsilon, worst = 1.0, 0.0
    for first in ((0, 0), (1, 0), (1, 1)):
        for second in ((1, 0), (0, 1), (0, 0)):
            if max(abs(a - b) for a, b in zip(first, second, strict=True)) > 1:
                continue
            one, two = (np.exp(epsilon * np.array(s)) for s in (first, second))
            worst = max(worst, float(np.abs(np.log((one / one.sum()) / (two / two.sum()))).max()))
    return Found(
        f"two candidates: the log-ratio reaches {worst:.3f}; up to 2 with many",
        worst <= epsilon + 1e-9 and _many(epsilon) <= epsilon + 1e-9,
        "With scores of sensitivity 1 the weights exp(u ε) change by e^ε and so does their sum, in "
        f"the other direction: together up to e^(2ε) ({_many(epsilon):.3f} with 1,000 candidates). "
        "The exponent is u ε/2, or u ε where all scores move one way, as revenue does; that is "
        "what is used here.",
        "exact values",
    )


def _many(epsilon: float) -> float:
    """One candidate rises and a thousand fall: the ratio of its probability."""
    before, after = np.zeros(1000), np.full(1000, -1.0)
    after[0] = 1.0
    one, two = np.exp(epsilon * before), np.exp(epsilon * after)
    return float(abs(np.log((two[0] / two.sum()) / (one[0] / one.sum()))))


EXTENSIONS = (
    Claim("004", "Section 4, smooth sensitivity",
          "A function with high global sensitivity may be locally insensitive on many databases; "
          "noise by a smoothed local sensitivity is then small.",
          "no number", smooth_median, seconds=(1, 1)),
    Claim("004", "Section 4, the auction",
          "The exponential mechanism sells a digital good at a nearly optimal price.",
          "nearly optimal revenue", auction, seconds=(2, 20)),
    Claim("004", "Section 4, truthfulness",
          "A participant cannot dramatically reduce the price he pays by lying about his "
          "valuation: probabilities change by at most e^ε.",
          "e^ε", truthful, seconds=(4, 60)),
    Claim("004", "Section 4, the exponent",
          "The mechanism outputs y with probability proportional to exp(u(X, y) ε) and ensures "
          "ε-differential privacy.",
          "ε", exponent, DIFFERS, (0.2, 0.2)),
)  # fmt: skip
