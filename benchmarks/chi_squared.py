"""Is salary independent of gender, the two histograms being public? The power of private tests.

    python benchmarks/chi_squared.py [--runs 2000]

A table of 2 rows and 10 columns with fixed margins; the share of the first row grows linearly
along the columns, by an effect of the given size (Cohen's w). Every test has the level .05: its
critical value is simulated from the public margins with its own noise. The noise is that of the
package. All tests promise epsilon for induced neighbours.

    not private   chi-squared
    X2            chi-squared with Laplace noise
    root          its root with Laplace noise
    median        the root, damped by the median expected count
    chosen        the root, damped as `choose_kappa` says
    cells         chi-squared of noisy cells (one row measured, the other follows)
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
from scipy.optimize import linear_sum_assignment

from adomnia.mechanisms.noise import laplace
from adomnia.priors.chi_squared import choose_kappa, root, square

SALARIES = np.array([40, 75, 135, 175, 190, 155, 115, 70, 30, 15])
CASES = [
    (1_000, Fraction(1), 0.10),
    (1_000, Fraction(1), 0.15),
    (1_000, Fraction(1, 2), 0.15),
    (10_000, Fraction(1), 0.04),
    (10_000, Fraction(1, 10), 0.06),
]
LATTICE = 1 << 20
NULL = 10
Test = Callable[[np.ndarray], np.ndarray]


def associated(n: int, effect: float, size: int, chance: np.random.Generator) -> np.ndarray:
    """First rows of tables with these margins; the second follows. Drawn by rejection."""
    columns = SALARIES * n // SALARIES.sum()
    score = np.arange(10) - columns @ np.arange(10) / n
    score = score / sqrt(columns @ score**2 / n)
    found: list[np.ndarray] = []
    while sum(map(len, found)) < size:
        drawn = chance.binomial(columns, (1 + effect * score) / 2, (50_000, 10))
        found.append(drawn[drawn.sum(axis=1) == n // 2])
    return np.concatenate(found)[:size]


def noise(scale: float, shape: tuple[int, ...]) -> np.ndarray:
    """Laplace noise of this scale, from the exact sampler on a fine lattice."""
    steps = laplace.sample(Fraction(ceil(scale * LATTICE)), int(np.prod(shape)))
    return steps.reshape(shape) / LATTICE


def squared_length(first: np.ndarray, n: int, kappa: float = 0.0) -> np.ndarray:
    """X2_kappa; both rows deviate from half their column by as much."""
    expected = SALARIES * n // SALARIES.sum() / 2
    return (2 * (first - expected) ** 2 / (expected + kappa)).sum(axis=1)


def sensitivity(n: int) -> float:
    """Of chi-squared itself: what one added row in each row and column can change (see the note).

    A cell that grows had at most min(R, C) - 1 rows; cells that shrink lower the value.
    """
    rows, columns = np.array([n // 2] * 2)[:, None], SALARIES * n // SALARIES.sum()
    gains = n * (2 / np.maximum(rows, columns) - 1 / (rows * columns))
    return float(gains[linear_sum_assignment(gains, maximize=True)].sum())


def tests(n: int, epsilon: Fraction) -> dict[str, Test]:
    """Statistics of many tables at once, with their noise."""
    columns = (SALARIES * n // SALARIES.sum()).tolist()
    margins = ([n // 2] * 2, columns)
    share = float(epsilon)

    def damped(kappa: Fraction) -> Test:
        plan = root(margins, kappa)
        scale = float(plan.scale(epsilon)) / 2**plan.places
        return lambda first: (
            np.sqrt(squared_length(first, n, float(kappa))) + noise(scale, first.shape[:1])
        )

    return {
        "not private": lambda first: squared_length(first, n),
        "X2": lambda first: (
            squared_length(first, n) + noise(sensitivity(n) / share, first.shape[:1])
        ),
        "root": damped(Fraction(0)),
        "median": damped(Fraction(sorted(columns)[5], 2)),
        "chosen": damped(choose_kappa(margins, epsilon)),
        "cells": lambda first: squared_length(first + noise(2 / share, first.shape), n),
    }


def power(test: Test, null: np.ndarray, level: np.ndarray, real: np.ndarray) -> tuple[float, float]:
    """How often the test rejects without association (about .05) and with it."""
    critical = np.quantile(test(null), 0.95)
    return float((test(level) > critical).mean()), float((test(real) > critical).mean())


def main() -> None:
    """Prints the sensitivities and the table of powers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    chance = np.random.default_rng(1)
    begun = time.perf_counter()
    for n in (1_000, 10_000):
        margins = ([n // 2] * 2, (SALARIES * n // SALARIES.sum()).tolist())
        plain = sqrt(square(margins, Fraction(0)))
        print(f"n = {n}: sensitivity of X2 {sensitivity(n):.2f}, of its root {plain:.3f}")
    print(
        f"{'n':>6}{'epsilon':>9}{'effect':>8}",
        *(f"{name:>14}" for name in tests(1000, Fraction(1))),
    )
    for n, epsilon, effect in CASES:
        null, level = (associated(n, 0, NULL * runs, chance) for _ in range(2))
        real = associated(n, effect, runs, chance)
        found = [power(test, null, level, real) for test in tests(n, epsilon).values()]
        shown = (f"{f'{real:.2f} ({level:.3f})':>14}" for level, real in found)
        print(f"{n:>6}{float(epsilon):>9.2f}{effect:>8.2f}", *shown)
    print(f"power (level), {runs} runs, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
