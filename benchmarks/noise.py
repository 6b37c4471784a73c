"""Exact noise, draws a second: ours, OpenDP's and NumPy's (not safe) in one run.

    python benchmarks/noise.py [--repeats 5]

Ours and NumPy draw a million values at a time, OpenDP a hundred thousand (its speed does not
depend on the number); the figure is the median of the repeats.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from adomnia.mechanisms.noise import gaussian, laplace

SCALES = [Fraction(1), Fraction(10), Fraction(1000), Fraction(10**6)]
OURS, THEIRS = 1_000_000, 100_000


def speed(draw: Callable[[int], object], size: int, repeats: int) -> float:
    """Draws a second: the median over the repeats, after one that warms up."""
    draw(size)
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        draw(size)
        seconds.append(time.perf_counter() - begun)
    return size / statistics.median(seconds)


def opendp_laplace(scale: Fraction) -> Callable[[int], object]:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = dp.m.make_laplace(*space, scale=float(scale))
    return lambda size: measurement([0] * size)


def opendp_gaussian(scale: Fraction) -> Callable[[int], object]:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, scale=float(scale))
    return lambda size: measurement([0] * size)


def compare(name: str, scale: Fraction, repeats: int) -> None:
    """One line of the table."""
    numpy_draws = np.random.default_rng()
    if name == "laplace":
        ours = speed(lambda size: laplace.sample(scale, size), OURS, repeats)
        theirs = speed(opendp_laplace(scale), THEIRS, repeats)
        unsafe = speed(lambda size: numpy_draws.laplace(0, float(scale), size), OURS, repeats)
    else:
        ours = speed(lambda size: gaussian.sample(scale * scale, size), OURS, repeats)
        theirs = speed(opendp_gaussian(scale), THEIRS, repeats)
        unsafe = speed(lambda size: numpy_draws.normal(0, float(scale), size), OURS, repeats)
    print(
        f"{name:9}{float(scale):>10.0f}{ours:>14,.0f}{theirs:>12,.0f}{ours / theirs:>8.0f}x"
        f"{unsafe:>14,.0f}{ours / unsafe:>8.2f}x"
    )


def single(name: str, draw: Callable[[], object]) -> None:
    """What one draw costs when nothing is prepared."""
    seconds = []
    for _ in range(2000):
        begun = time.perf_counter()
        draw()
        seconds.append(time.perf_counter() - begun)
    print(f"one {name} draw: {statistics.median(seconds) * 1e6:.0f} microseconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    dp.enable_features("contrib")
    print("draws a second; NumPy's floats are not safe and stand here for scale only")
    print(
        f"{'noise':9}{'scale':>10}{'ours':>14}{'OpenDP':>12}{'ratio':>9}{'NumPy':>14}{'ratio':>9}"
    )
    for name in ("laplace", "gaussian"):
        for scale in SCALES:
            compare(name, scale, repeats)
    single("laplace", lambda: laplace.sample(Fraction(10), 1))
    single("gaussian", lambda: gaussian.sample(Fraction(100), 1))


if __name__ == "__main__":
    main()
