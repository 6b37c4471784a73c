"""Intervals of quantiles on skewed rows: how often they hold, how wide they are, what they cost.

    python benchmarks/quantile_margins.py [--runs 10000] [--confidence 0.95]

Every run is one private answer by the mechanism itself, at one loss. `holds`: the interval holds
the lowest and the highest exact quantile; `width`: the median width; `alone`: the mean error of a
quantile that gets the whole loss, `beside`: of one with an interval. `worst`: rows at both ends of
the grid, on which the bound is nearly met. It fails where an interval holds less often than asked,
less half of one in a hundred. `split` compares other shares of the loss for the point.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.quantiles.quantile import Rank, Share, quantile, sensitivity
from adomnia.mechanisms.quantiles.value_margin import Around, Beyond, extreme_rank, interval_rows
from adomnia.mechanisms.randomness import SYSTEM

Rows = np.ndarray
GRIDS = {"incomes": 999_999, "payments": 999_999, "ages": 99, "worst": 999_999}
SHORT = Fraction(1, 200)
"""By how much less often an interval may hold, in a run of so many."""


@dataclass(frozen=True)
class Case:
    """Rows on a grid, a quantile, and a loss."""

    name: str
    rows: Rows
    target: Share | Rank
    epsilon: Fraction

    @property
    def table(self) -> tuple[Rows, Rows]:
        """The values present and their numbers of rows."""
        return np.unique(self.rows, return_counts=True)

    @property
    def exact(self) -> tuple[int, int]:
        """The lowest and the highest exact quantile."""
        ordered = np.sort(self.rows)
        if isinstance(self.target, Rank):
            value = int(ordered[-1 if self.target.from_top else 0])
            return value, value
        at = self.target.q * ordered.size
        low, high = max(0, math.ceil(at) - 1), min(ordered.size - 1, math.floor(at))
        return int(ordered[low]), int(ordered[high])

    def around(self, confidence: float, point: Fraction) -> Around | Beyond:
        """The mechanism, with this part of the loss for the point."""
        points, whole = GRIDS[self.name] + 1, self.epsilon / (2 * sensitivity(self.target))
        if isinstance(self.target, Rank):
            rank = extreme_rank(points, whole, confidence)
            return Beyond(Rank(rank, self.target.from_top), whole)
        end = whole * (1 - point) / 2
        rows = interval_rows(points, end, self.target, confidence)
        return Around(self.target, whole * point, end, rows)

    def alone(self) -> int:
        """A quantile that gets the whole loss."""
        eta, aimed = self.epsilon / (2 * sensitivity(self.target)), self.target
        if isinstance(aimed, Rank):
            inside = 1 + math.ceil(Fraction(math.log(GRIDS[self.name] + 1)) / eta)
            aimed = Rank(inside, aimed.from_top)
        return quantile(*self.table, 0, GRIDS[self.name], aimed, eta, SYSTEM)


def skewed(name: str, count: int, made: np.random.Generator) -> Rows:
    """Made-up rows with a long tail; or half of them at each end of the grid."""
    drawn = {
        "incomes": lambda: np.exp(made.normal(10.3, 0.9, count)),
        "payments": lambda: 100 * made.pareto(1.2, count),
        "ages": lambda: made.gamma(3, 12, count),
        "worst": lambda: np.repeat([0, GRIDS["worst"]], [count // 2, count - count // 2]),
    }
    return np.clip(drawn[name](), 0, GRIDS[name]).astype(np.int64)


def cases(made: np.random.Generator) -> Iterator[Case]:
    """Every kind of rows, few and many, the median, a high quantile and an extreme."""
    for name in GRIDS:
        for count in (1001, 10_001):
            rows = skewed(name, count, made)
            for target in (Share(Fraction(1, 2)), Share(Fraction(9, 10)), Rank(1, from_top=True)):
                yield Case(name, rows, target, Fraction(1))


def measured(case: Case, runs: int, confidence: float, point: Fraction) -> tuple[float, ...]:
    """How often the interval holds, its median width, and the mean error of the point."""
    around, table, grid = case.around(confidence, point), case.table, (0, GRIDS[case.name])
    low, high = case.exact
    found = np.array([around.draw(*table, grid, SYSTEM) for _ in range(runs)])
    holds = ((found[:, 1] <= low) & (found[:, 2] >= high)).mean()
    width = float(np.median(found[:, 2] - found[:, 1]))
    return float(holds), width, float(np.abs(found[:, 0] - low).mean())


def named(target: Share | Rank) -> str:
    """The quantile in a word."""
    return "max" if isinstance(target, Rank) else str(target.q)


def main() -> int:
    """Print the table; 1 where an interval holds too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--confidence", type=float, default=0.95)
    given, made, failed = parser.parse_args(), np.random.default_rng(1), 0
    print("rows      n       q      holds     width     alone    beside  (epsilon 1, half for it)")
    listed = list(cases(made))
    for case in listed:
        holds, width, beside = measured(case, given.runs, given.confidence, Fraction(1, 2))
        low = case.exact[0]
        alone = np.mean([abs(case.alone() - low) for _ in range(min(given.runs, 2000))])
        failed += holds < given.confidence - SHORT
        line = f"{case.name:9} {case.rows.size:6} {named(case.target):>5} {holds:9.4f}"
        print(f"{line} {width:9.0f} {alone:9.1f} {beside:9.1f}", flush=True)
    print("\nsplit: the part for the point    width    error   (incomes, n 10,001, 1/2)")
    chosen = next(c for c in listed if c.rows.size > 10_000 and c.name == "incomes")
    for part in ("1/5", "1/3", "1/2", "2/3"):
        _, width, error = measured(chosen, min(given.runs, 2000), given.confidence, Fraction(part))
        print(f"       {part:24} {width:9.0f} {error:8.1f}")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
