"""How often the whole interval of a count holds the raw truth, on skewed numbers of rows.

People have rows by a Pareto, a lognormal and a Zipf law. In each run the counts of what `max_rows`
leaves out are drawn anew, and so is the answer's noise; the interval is made by the product's own
code. Two truths are looked at: that with no more than the found bound of rows for each person, and
that without the few people who have more (the interval's low end less what these may have).

    python benchmarks/quality.py [--runs 10000] [--epsilon 0.02]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.answers.omissions import left_out_of
from adomnia.curator.answers.quality_counts import Quality
from adomnia.curator.answers.whole import whole_intervals
from adomnia.engines.sql.unit_scores import laid_on_grid
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.reads import UnitRows
from adomnia.schema.sealed import Sealed
from adomnia.testing import World, number

Sizes = NDArray[np.int64]
MAX_ROWS, LAST, ASKED = 5, 10**6, Fraction(1, 10)
NEEDED = 0.945
PEOPLE = 20_000

LAWS: dict[str, Callable[[np.random.Generator, int], Sizes]] = {
    "Pareto(1.5)": lambda chance, n: np.floor(chance.pareto(1.5, n) + 1).astype(np.int64),
    "lognormal(1, 1.5)": lambda c, n: np.floor(c.lognormal(1, 1.5, n) + 1).astype(np.int64),
    "Zipf(1.8)": lambda chance, n: np.minimum(chance.zipf(1.8, n), LAST),
}


@dataclass
class Covered:
    """How many runs held each truth, out of how many that told one; how wide intervals were."""

    runs: int = 0
    clamped: int = 0
    without: int = 0
    people: int = 0
    width: float = 0.0
    untold: int = 0

    def share(self, name: str) -> float:
        """The share of runs in which this held."""
        return float(getattr(self, name) / max(1, self.runs))


def simulate(
    law: str, runs: int, epsilon: Fraction, seed: int = 1, people: int = PEOPLE, bits: Bits = SYSTEM
) -> Covered:
    """Runs on data of this law; each hundred of them has data of its own."""
    chance, found = np.random.default_rng(seed), Covered()
    policy = f'epsilon = 1\nunit = "who"\nmax_rows = {MAX_ROWS}'
    with World({"who": [1], "x": [1]}, {"x": number(0, 1)}, policy).open() as database:
        question, table = database.bind("SELECT COUNT(*) AS n FROM people"), database.table
    scan = ExcessRows(MAX_ROWS, LAST, epsilon)
    noise = Noise("laplace", MAX_ROWS / ASKED)
    off = margin([(1, noise)], 0.975)
    for run in range(runs):
        if run % 100 == 0:
            sizes = LAWS[law](chance, people)
            sealed = Sealed(scores(sizes, scan))
            kept = int(np.minimum(sizes, MAX_ROWS).sum())
        rows = scan.release(sealed, bits)
        answer = kept + int(laplace.sample(noise.parameter, 1, bits)[0])
        quality = Quality("", {}, noise, rows, scan)
        parts = left_out_of(question, table, quality, 0.95)
        whole = whole_intervals(question, [(answer,)], {"n": [off]}, parts)
        if "n" not in whole:  # nothing was found for this money, and that is said
            found.untold += 1
            continue
        ((low, high),) = whole["n"]
        look(found, sizes, (low, high), (rows.bound, parts[0].people))
    return found


def scores(sizes: Sizes, scan: ExcessRows) -> NDArray[np.int64]:
    """What an engine would seal: the rows of each rank, on the grid of the scan."""
    reads = scan.reads
    assert isinstance(reads, UnitRows)
    many = np.bincount(sizes)[::-1].cumsum()[::-1]  # of rank k there are as many as have k rows
    ranks = np.arange(MAX_ROWS + 1, len(many))
    places = np.searchsorted(np.array(reads.grid), ranks)
    found = (
        (
            int(place),
            int(many[ranks[places == place]].max()),
            int(many[ranks[places == place]].sum()),
        )
        for place in np.unique(places)
    )
    return laid_on_grid(reads, list(found))


def look(
    found: Covered, sizes: Sizes, ends: tuple[float, float], few: tuple[int, int | None]
) -> None:
    """Whether the truths are where the interval says."""
    (low, high), (bound, most) = ends, few
    above = sizes > bound
    clamped, without = int(np.minimum(sizes, bound).sum()), int(sizes[~above].sum())
    held = most is None or int(above.sum()) <= most
    found.runs += 1
    found.people += held
    found.clamped += held and low <= clamped <= high
    found.without += held and low - (most or 0) * bound <= without <= high
    found.width += high - low


def lines(runs: int, epsilon: Fraction) -> Iterator[tuple[str, bool]]:
    """A line for each law, and whether it is good enough."""
    for law in LAWS:
        began, found = time.monotonic(), simulate(law, runs, epsilon)
        shares = [found.share(name) for name in ("clamped", "without", "people")]
        said = "  ".join(f"{share:10.4f}" for share in shares)
        told = f"{found.runs / runs:10.4f}"
        width = f"{found.width / max(1, found.runs):14,.0f}"
        yield (
            f"{law:18} {said} {told} {width} {time.monotonic() - began:8.0f} s",
            min(shares) >= NEEDED,
        )


def main() -> int:
    """Print how often each truth was held; 1 where that is too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1, 50))
    asked = parser.parse_args()
    print(f"{asked.runs:,} runs of each law, {PEOPLE:,} people, epsilon {float(asked.epsilon):g}")
    print(
        f"{'law':18} {'whole':>10}  {'without':>10}  {'people':>10} {'told':>10} {'mean width':>14}"
    )
    good = True
    for line, is_good in lines(asked.runs, asked.epsilon):
        print(line, flush=True)
        good = good and is_good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
