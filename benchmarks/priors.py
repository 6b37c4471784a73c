"""How far induced neighbours differ after exact releases: bounds and times of the solver.

    python benchmarks/priors.py [--repeats 5] [--steps 1000000000] [--quick]

Each case is solved anew in each repeat; the time is the median, and has a ! where it
missed its target. Values are L1. The second table
sets our own Graver bases beside those of 4ti2, in the same run, where 4ti2 is installed; the
time of 4ti2 holds the start of its process.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import readme
from scipy import sparse

from adomnia.priors.solver.bound import Bound
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.lattice import graver
from adomnia.priors.solver.shapes import chain, margins
from adomnia.priors.solver.system import System


@dataclass(frozen=True)
class Case:
    """What is public, what is asked, and in how many seconds an answer is wanted."""

    name: str
    system: System
    asked: Any
    target: float | None = None
    hard: bool = False


def every(cells: int) -> Any:
    """The question for every cell."""
    return sparse.csr_array(sparse.eye_array(cells, dtype=np.int64))


def pairs(attributes: int) -> list[tuple[int, int]]:
    """All sets of two attributes."""
    return [(a, b) for a in range(attributes) for b in range(a)]


def block(side: int, corner: int) -> Any:
    """One count over the upper left corner of a square table."""
    inside = np.zeros((side, side), dtype=np.int64)
    inside[:corner, :corner] = 1
    return inside.reshape(1, -1)


def with_values(rows: Any, people: int) -> System:
    """The rows with the values of a seeded table of so many people."""
    places = np.random.default_rng(0).integers(rows.shape[1], size=people)
    table = np.bincount(places, minlength=rows.shape[1])
    return System.of(rows, [int(value) for value in rows @ table])


def cases() -> list[Case]:
    """Those that must be quick, those that are large, and those that no bound closes."""
    cube, university = margins((4, 4, 4), pairs(3)), (2, 10, 5, 4, 3)
    histograms = margins(university, [(a,) for a in range(5)])
    salaries = margins(university, [(0, 1)])
    geography = margins((50, 60, 2), [(0,), (0, 1)])
    return [
        Case("50 x 50, sides", System.of(margins((50, 50), [(0,), (1,)])), every(2500), 0.1),
        Case("10 x 10, a 3 x 3 block", System.of(margins((10, 10), [(0,), (1,)])), block(10, 3), 3),
        Case("3 x 3 x 3, all 2-way", System.of(margins((3, 3, 3), pairs(3))), every(27), 0.3),
        Case("50 states x 60 counties x 2", System.of(geography), every(6000), 0.5),
        Case("a chain of 1,000", System.of(chain(1000)), every(1000), 0.3),
        Case("200 x 200, sides", System.of(margins((200, 200), [(0,), (1,)])), every(40_000)),
        Case("2 x 20 x 30, all 2-way", System.of(margins((2, 20, 30), pairs(3))), every(1200)),
        Case("2 x 3 x 4, all 2-way", System.of(margins((2, 3, 4), pairs(3))), every(24)),
        Case("3 x 3 x 4, all 2-way", System.of(margins((3, 3, 4), pairs(3))), every(36), hard=True),
        Case("4 x 4 x 4, all 2-way", System.of(cube), every(64), hard=True),
        Case("  with values, 500 people", with_values(cube, 500), every(64), hard=True),
        Case("five histograms, 2-way", System.of(histograms), salaries, hard=True),
        Case("  with values, 1,000 people", with_values(histograms, 1000), salaries, hard=True),
    ]


def timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """What came out last, and the median time."""
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - begun)
    return found, statistics.median(seconds)


def written(value: Fraction) -> str:
    """A bound, short."""
    whole = value.denominator == 1 and value < 10**7
    return f"{int(value):,}" if whole else f"{float(value):.3g}"


def line(case: Case, bound: Bound, seconds: float) -> str:
    """One line of the table."""
    target = "" if case.target is None else f"{case.target:.1f} s"
    missed = "!" if case.target is not None and seconds > case.target else " "
    exact = "yes" if bound.exact else "no"
    return (
        f"{case.name:30}{written(bound.upper):>12}{written(bound.lower):>8}{exact:>7}"
        f"{seconds:>10.3f} s{target:>8}{missed} {bound.argument}"
    )


def compare(name: str, rows: Any, repeats: int) -> str:
    """Our Graver basis and that of 4ti2, and how much slower ours is."""
    ours, own = timed(lambda: graver.basis(rows, effort=Effort(100 * STEPS)), repeats)
    theirs, other = timed(lambda: graver.basis(rows, method="4ti2"), repeats)
    same = {tuple(row) for row in ours} == {tuple(row) for row in theirs}
    return (
        f"{name:30}{len(ours):>8,}{'yes' if same else 'NO':>6}"
        f"{own:>10.3f} s{other:>9.3f} s{own / other:>8.1f}x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=STEPS, help="steps for each question")
    parser.add_argument("--quick", action="store_true", help="without the cases that none closes")
    parser.add_argument(
        "--readme", action="store_true", help="put the table into docs/benchmarks.md"
    )
    options = parser.parse_args()
    rows = [
        "| released, asked for all cells | sensitivity | time | argument |",
        "|---|---|---|---|",
    ]
    print(
        f"{'released, asked for all cells':30}{'upper':>12}{'lower':>8}{'exact':>7}"
        f"{'time':>12}{'target':>8}  argument"
    )
    for case in cases():
        if case.hard and options.quick:
            continue
        repeats = 1 if case.hard else options.repeats
        ask = lambda: solve(case.system, case.asked, effort=Effort(options.steps))  # noqa: E731, B023
        bound, seconds = timed(ask, repeats)
        print(line(case, bound, seconds), flush=True)
        ends = (
            written(bound.upper)
            if bound.exact
            else f"{written(bound.lower)} to {written(bound.upper)}"
        )
        rows.append(f"| {case.name.strip()} | {ends} | {seconds:.2f} s | {bound.argument} |")
    if options.readme:
        readme.put("priors", "\n".join(rows))
    if not shutil.which("4ti2-graver"):
        print("4ti2 is not installed: our Graver bases are not compared")
        return
    print(f"\n{'Graver basis':30}{'size':>8}{'same':>6}{'ours':>12}{'4ti2':>11}{'ratio':>9}")
    for name, sizes, sets in (
        ("2 x 3 x 4, all 2-way", (2, 3, 4), pairs(3)),
        ("3 x 3 x 3, all 2-way", (3, 3, 3), pairs(3)),
        ("2 x 2 x 5, all 1-way", (2, 2, 5), [(0,), (1,), (2,)]),
        ("2 x 2 x 2 x 2, all 1-way", (2, 2, 2, 2), [(0,), (1,), (2,), (3,)]),
        ("2 x 3 x 3, all 1-way", (2, 3, 3), [(0,), (1,), (2,)]),
        ("5 x 5, sides", (5, 5), [(0,), (1,)]),
    ):
        print(compare(name, margins(sizes, sets), min(options.repeats, 3)), flush=True)


if __name__ == "__main__":
    main()
