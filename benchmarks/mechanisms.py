"""Choices, auctions and quantiles: time, revenue and error, each beside its rival in one run.

    python benchmarks/mechanisms.py [--repeats 200]

`select`: permute-and-flip against the exponential mechanism on the same million scores.
`auction`: revenue as a part of the best price's, on made-up bids. `quantile`: the mean absolute
error of three mechanisms on the same rows, and which one the public numbers name. `noisy max`,
`sparse vector` and `randomized response`: time, and the margin that is promised.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.choices.auction import revenue, revenue_margin, sell
from adomnia.mechanisms.choices.noisy_max import noisy_max
from adomnia.mechanisms.choices.select import select
from adomnia.mechanisms.choices.sparse_vector import SparseVector, above_threshold
from adomnia.mechanisms.counts.randomized_response import Response, estimate_margin, respond
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.noise.exponential import choose
from adomnia.mechanisms.quantiles.quantile import Rank, Share, Target, quantile, sensitivity
from adomnia.mechanisms.quantiles.quantile_loss import Reference, quantile_loss
from adomnia.mechanisms.quantiles.smooth import exact_quantile, smooth_quantile, smooth_sensitivity

DELTA = Fraction(1, 10**6)
TARGETS: dict[str, Target] = {
    "median": Share(Fraction(1, 2)),
    "9/10": Share(Fraction(9, 10)),
    "maximum": Rank(1, from_top=True),
}


def milliseconds(run: Callable[[], object], repeats: int = 9) -> float:
    """The median time of a call, after one that warms up."""
    run()
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return 1000 * statistics.median(seconds)


def selecting(made: np.random.Generator) -> None:
    """A million candidates: time, and the mean gap to the best on fewer."""
    scores = made.integers(0, 10**6, 10**6)
    gaps, one = scores.max() - scores, np.ones(10**6, np.int64)
    print("\nselect, 10^6 candidates         permute-and-flip   exponential mechanism")
    for epsilon in ("0.001", "0.1", "1"):
        ours = milliseconds(lambda e=epsilon: select(range(10**6), scores, 1, e))
        eta = Fraction(epsilon) / 2
        theirs = milliseconds(lambda eta=eta: choose(gaps, one, eta))
        print(f"  epsilon {epsilon:6} time        {ours:9.1f} ms {theirs:18.1f} ms")
    few = made.integers(0, 100, 1000)
    best, unit = few.max(), np.ones(1000, np.int64)
    for epsilon in ("0.1", "1", "4"):
        eta = Fraction(epsilon) / 2
        ours = np.mean([best - select(few, few, 1, epsilon) for _ in range(400)])
        theirs = np.mean([best - few[choose(best - few, unit, eta)] for _ in range(400)])
        print(f"  epsilon {epsilon:6} mean gap    {ours:12.2f} {theirs:21.2f}   (1000 candidates)")


def auctioning(made: np.random.Generator, repeats: int) -> None:
    """Revenue as a part of the optimum, on three made-up markets with prices 1..100."""
    prices = range(1, 101)
    markets = {
        "even 1..100": made.integers(1, 101, 10**4),
        "log-normal": np.clip(made.lognormal(3, 0.6, 10**4).astype(int), 1, 100),
        "two crowds": np.concatenate([made.integers(8, 13, 8000), made.integers(60, 91, 2000)]),
    }
    print("\nauction, prices 1..100: mean revenue / best, and the part promised with 95 %")
    for name, all_bids in markets.items():
        for bidders in (100, 1000, 10_000):
            bids = made.permutation(all_bids)[:bidders]
            brought = revenue(bids, prices)
            for epsilon in ("0.1", "1"):
                got = np.mean([brought[sell(bids, prices, epsilon) - 1] for _ in range(repeats)])
                promised = 1 - float(revenue_margin(prices, epsilon, 0.95)) / brought.max()
                print(
                    f"  {name:12} {bidders:6} bidders, epsilon {epsilon:4}"
                    f" {got / brought.max():7.3f} {max(promised, 0.0):9.3f}"
                )


def error(draw: Callable[[], int], truth: int, repeats: int) -> float:
    return float(np.mean([abs(draw() - truth) for _ in range(repeats)]))


def quantiles(made: np.random.Generator, repeats: int) -> None:
    """Mean absolute errors of the three mechanisms on the same rows."""
    high = 10**5
    kinds = {
        "even": made.integers(0, high + 1, 10**4),
        "normal": np.clip(made.normal(40_000, 8000, 10**4).astype(int), 0, high),
        "log-normal": np.clip(made.lognormal(9, 1, 10**4).astype(int), 0, high),
        "one value": np.full(10**4, 30_000),
        "even, 100 rows": made.integers(0, high + 1, 100),
    }
    print("\nquantiles on 0..10^5: mean absolute error; (epsilon, 10^-6) for Laplace")
    print(
        f"  {'rows':15} {'target':8} {'eps':>4} {'exponential':>12} {'Waring':>10} {'Laplace':>10}"
    )
    for kind, rows in kinds.items():
        values, counts = np.unique(rows, return_counts=True)
        for name, target in TARGETS.items():
            truth = exact_quantile(values, counts, (0, high), target)
            for epsilon in (Fraction(1, 10), Fraction(1), Fraction(10)):
                eta = epsilon / (2 * sensitivity(target))

                def exponential(v=values, c=counts, t=target, eta=eta) -> int:
                    return quantile(v, c, 0, high, t, eta)

                errors = [error(exponential, truth, repeats)]
                for noise in (SmoothWaring(epsilon), SmoothLaplace(epsilon, DELTA)):

                    def smooth(v=values, c=counts, t=target, noise=noise) -> int:
                        return smooth_quantile(v, c, (0, high), t, noise)

                    errors.append(error(smooth, truth, repeats))
                named = quantile_loss(Reference(0, high, rows.size, target), epsilon, DELTA)
                print(
                    f"  {kind:15} {name:8} {float(epsilon):4} {errors[0]:12.1f} {errors[1]:10.1f}"
                    f" {errors[2]:10.1f}   named: {named.better()}"
                )


def smooth_times(made: np.random.Generator) -> None:
    """The smooth sensitivity of the median of sorted rows: time by rows and beta."""
    median = TARGETS["median"]
    print("\nsmooth sensitivity of the median, different values on 0..10^9, time in ms")
    for size in (10**4, 10**5, 10**6):
        values = np.unique(made.integers(0, 10**9, size))
        one = np.ones(values.size, np.int64)
        figures = []
        for beta in (Fraction(1, 6), Fraction(1, 60), Fraction(1, 600)):

            def run(v=values, c=one, beta=beta) -> object:
                return smooth_sensitivity(v, c, (0, 10**9), median, beta)

            figures.append(f"beta {float(beta):.4f}: {milliseconds(run, 5):7.1f}")
        print(f"  {size:8} rows  " + "   ".join(figures))


def others(made: np.random.Generator) -> None:
    """Noisy max, sparse vector and randomized response."""
    scores = made.integers(0, 10**6, 10**6)
    print("\nothers")
    print(f"  noisy max, 10^6 scores: {milliseconds(lambda: noisy_max(scores, 1, 1), 5):.1f} ms")
    plan = SparseVector(Fraction(1), cutoff=3)
    answers = [-(10**6)] * 10_000
    spent = milliseconds(lambda: list(above_threshold(answers, 0, plan)), 3)
    print(
        f"  sparse vector, epsilon 1, cutoff 3: {spent / 10:.1f} microseconds a question;"
        f" 95 % margin for 10,000 questions {plan.margin(10_000, 0.95)}"
    )
    for values in (2, 16):
        response = Response(Fraction(1), values)
        rows = made.integers(0, values, 10**6)
        spent = milliseconds(lambda r=rows, response=response: respond(r, response), 3)
        margin = estimate_margin(10**6, response, 0.95)
        what = f"randomized response, {values:2} values, 10^6 rows"
        print(f"  {what}: {spent:.1f} ms; 95 % margin {margin:.0f}")


def main() -> None:
    """Print every table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeats", type=int, default=200)
    repeats = options.parse_args().repeats
    made = np.random.default_rng(1)  # made-up data; the mechanisms draw their own bits
    selecting(made)
    auctioning(made, repeats)
    quantiles(made, repeats)
    smooth_times(made)
    others(made)


if __name__ == "__main__":
    main()
