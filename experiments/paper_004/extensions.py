"""Section 4: smooth sensitivity, and the exponential mechanism at an auction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from adomnia.formatting import significant
from adomnia.mechanisms.choices.auction import revenue, sell
from adomnia.mechanisms.quantiles.quantile import Share
from adomnia.mechanisms.quantiles.smooth import smooth_sensitivity
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.measured import mean, share

__all__ = ["EXTENSIONS"]

LOW, HIGH, BETA = 0, 10_000, Fraction(1, 6)
CANDIDATES = 1000


def smooth_median(scale: Scale) -> Found:
    """The smooth sensitivity of the median against its global sensitivity."""
    chance, runs, whole = scale.chance(4, 5), scale.pick(24, 200), HIGH - LOW
    worlds = {
        "incomes": lambda n: np.clip(chance.lognormal(7.8, 0.5, n), LOW, HIGH),
        "uniform": lambda n: chance.uniform(LOW, HIGH, n),
        "two camps": lambda n: np.where(np.arange(n) % 2 == 0, LOW, HIGH),
    }
    sizes = (11, 101, 1001, 10_001)
    found = {name: [mean([_smooth(world(n)) for _ in range(runs)]) for n in sizes]
             for name, world in worlds.items()}  # fmt: skip
    lines = [Series(name, sizes, [one.value for one in seen], [1.96 * one.se for one in seen])
             for name, seen in found.items()]  # fmt: skip
    lines.append(Series("global", sizes, [whole] * len(sizes), paper=True))
    plot = Plot(f"Smooth sensitivity of the median, β = {BETA}", "rows n", "sensitivity", lines,
                log_across=True, log_up=True)  # fmt: skip
    small, hard = found["incomes"][-1], found["two camps"][-1]
    return Found(
        f"{sizes[-1]:,} rows: incomes {small}, two camps {significant(hard.value)}; "
        f"global {whole:,}",
        small.below(whole / 100) and hard.above(whole / 2),
        "Agrees where incomes surely need less than a hundredth of the global sensitivity, and two "
        "camps more than half of it: where half are at either end the median is truly sensitive, "
        "and the noise stays large.",
        f"made-up values from {LOW} to {HIGH:,}, drawn anew {runs} times a point; two camps are "
        "always the same",
        [Table(("data", *(f"n = {n:,}" for n in sizes)),
               [(name, *seen) for name, seen in found.items()])],
        [draw(plot)],
    )  # fmt: skip


def _smooth(data: np.ndarray) -> float:
    values, counts = np.unique(data.astype(np.int64), return_counts=True)
    return float(smooth_sensitivity(values, counts, (LOW, HIGH), Share(Fraction(1, 2)), BETA))


def auction(scale: Scale) -> Found:
    """Revenue of the private price against the best one."""
    chance, runs, prices = scale.chance(4, 6), scale.pick(60, 1000), tuple(range(1, 101))
    sizes, epsilons = (10, 100, 1000, 10_000), (0.1, 1.0)
    found = {epsilon: [mean([_brought(chance, n, prices, epsilon) for _ in range(runs)])
                       for n in sizes] for epsilon in epsilons}  # fmt: skip
    lines = [Series(f"ε = {epsilon:g}", sizes, [one.value for one in seen],
                  [1.96 * one.se for one in seen]) for epsilon, seen in found.items()]  # fmt: skip
    lines.append(Series("the best price", sizes, [1.0] * len(sizes), paper=True))
    plot = Plot("Revenue of the private price", "bidders", "share of the best revenue", lines,
                log_across=True, ends_up=(0, 1))  # fmt: skip
    little, much = (found[epsilon] for epsilon in epsilons)
    return Found(
        f"ε = 1, {sizes[-1]:,} bidders: {much[-1]} of the best revenue",
        much[-1].above(0.99) and little[-1].above(0.95),
        f"Agrees where {sizes[-1]:,} bidders surely bring more than 99 % of the best revenue at "
        f"ε = 1, and 95 % at ε = 0.1. With {sizes[0]} bidders it is {much[0]} and {little[0]}. The "
        "price is drawn by permute-and-flip, not by the exponential mechanism of the paper: it "
        "keeps the same promise, and its expected revenue is never lower.",
        f"prices 1 to {prices[-1]}; {runs} auctions a point, each with other made-up bids",
        [Table(("ε", *(f"n = {n:,}" for n in sizes)),
               [(epsilon, *seen) for epsilon, seen in found.items()])],
        [draw(plot)],
    )  # fmt: skip


def _brought(chance: np.random.Generator, n: int, prices: tuple[int, ...], epsilon: float) -> float:
    """The revenue at the private price, as a share of the best one, for bids drawn anew."""
    bids = np.clip(chance.lognormal(3.2, 0.6, n), 1, prices[-1]).astype(np.int64)
    brought = revenue(bids, prices)
    return float(brought[sell(bids, prices, str(epsilon)) - 1] / brought.max())


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
        f"Privacy is truthfulness: e^ε is {math.exp(epsilon):.3f}. The law is that of permute-and-"
        "flip, which is used here in the place of the exponential mechanism; what `sell` draws "
        f"{'follows' if drawn else 'does not follow'} it.",
        f"12 bidders, prices 1 to {prices[-1]}, ε = {epsilon}; every lie of the first bidder, "
        f"computed; {draws:,} draws of `sell`",
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
    many = _many(epsilon)
    return Found(
        f"the log-ratio reaches {worst:.3f} with two candidates, {many:.3f} with {CANDIDATES:,}; "
        f"ε = {epsilon:g}",
        worst <= epsilon + 1e-9 and many <= epsilon + 1e-9,
        "With scores of sensitivity 1 the weights exp(u ε) change by e^ε and so does their sum, in "
        f"the other direction: together up to e^(2ε), of which {CANDIDATES:,} candidates reach "
        f"e^{many:.3f}. The exponent is u ε/2, or u ε where all scores move one way, as revenue "
        "does; that is what is used here.",
        "exact values",
    )


def _many(epsilon: float) -> float:
    """One candidate rises and all others fall: the ratio of its probability."""
    before, after = np.zeros(CANDIDATES), np.full(CANDIDATES, -1.0)
    after[0] = 1.0
    one, two = np.exp(epsilon * before), np.exp(epsilon * after)
    return float(abs(np.log((two[0] / two.sum()) / (one[0] / one.sum()))))


EXTENSIONS = (
    Claim("004", "Section 4, smooth sensitivity",
          "A function with high global sensitivity may be locally insensitive on many databases; "
          "noise by a smoothed local sensitivity is then small.",
          "no number", smooth_median, seconds=(0.5, 2)),
    Claim("004", "Section 4, the auction",
          "The exponential mechanism sells a digital good at a nearly optimal price.",
          "nearly optimal revenue", auction, seconds=(0.5, 5)),
    Claim("004", "Section 4, truthfulness",
          "A participant cannot dramatically reduce the price he pays by lying about his "
          "valuation: probabilities change by at most e^ε.",
          "e^ε", truthful, seconds=(2, 30)),
    Claim("004", "Section 4, the exponent",
          "The mechanism outputs y with probability proportional to exp(u(X, y) ε) and ensures "
          "ε-differential privacy.",
          "ε", exponent, DIFFERS, (0.2, 0.2)),
)  # fmt: skip
