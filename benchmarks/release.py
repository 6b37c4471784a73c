"""Released marginals: error, CPU seconds and memory, against plainer ways, in one run.

    python benchmarks/release.py [--quick] [--readme] [--data ../shared/data] [--repeats 3]

L1 is the mean over the marginals of the sum of absolute cell errors, `cell` the largest error of
a cell, TV = L1/(2n) with n the true rows; medians over the repeats. `--quick` leaves out the
three-way marginals of Adult and 100 attributes. MST runs once, in an environment of its own
(`benchmarks/peers/setup mst` makes it).
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import readme

from adomnia.marginals.core import estimate
from adomnia.marginals.core.basis import grouped
from adomnia.marginals.core.cost import WHOLE, SubsetShares, laplace_factor
from adomnia.marginals.core.estimate import Residuals
from adomnia.marginals.core.measure import MarginalStrategy, take
from adomnia.marginals.core.planner import residual_parts
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.randomness import SYSTEM
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

RHO = Loss.concentrated(Fraction(1, 2))
EPSILON = Loss.pure(Fraction(1))
ROOT = Path(__file__).resolve().parent.parent
LONGEST = 300.0
SEPARATE, FOURIER, UNBIASED, OURS, MST = (
    "noise on each marginal", "the paper's Fourier", "ours, unbiased", "ours", "MST",
)  # fmt: skip
SCALE = "Scaling to 100 attributes"


@dataclass(frozen=True)
class Score:
    """How one way did: errors, CPU seconds, and whether all tables are whole and none negative."""

    mean: float
    worst: float
    tv: float
    seconds: float
    whole: bool

    def __str__(self) -> str:
        cell = f"{self.mean:,.0f} / {self.worst:,.0f} / {self.tv:.4f}"
        return f"{cell}, {self.seconds:,.{1 if self.seconds >= 1 else 2}f} s"


@dataclass(frozen=True)
class Target:
    """What ours must not pass; whole numbers, none negative, always."""

    mean: float = math.inf
    worst: float = math.inf
    tv: float = math.inf
    seconds: float = math.inf

    def limits(self) -> Iterator[tuple[str, str, str]]:
        """The limits there are: the field, its name, and how it is written."""
        for name, label, form in (
            ("mean", "L1", ",.0f"), ("worst", "cell", ",.0f"), ("tv", "TV", ".4f"),
            ("seconds", "CPU s", ".1f"),
        ):  # fmt: skip
            if math.isfinite(getattr(self, name)):
                yield name, label, form

    def __str__(self) -> str:
        return ", ".join(f"{label} ≤ {getattr(self, name):,g}" for name, label, _ in self.limits())

    def missed(self, score: Score) -> Iterator[str]:
        for name, label, form in self.limits():
            found, limit = getattr(score, name), getattr(self, name)
            if found > limit:
                yield f"{label} {found:{form}} instead of {limit:,g}"
        if not score.whole:
            yield "tables that are not whole numbers from 0 up"


NLTCS_PURE, NLTCS_RHO = "NLTCS, 3-way, epsilon = 1", "NLTCS, 3-way, rho = 0.5"
ADULT_RHO, ADULT_PURE = "Adult, 1- and 2-way, rho = 0.5", "Adult, 1- and 2-way, epsilon = 1"
ADULT_THREE = "Adult, up to 3-way, rho = 0.5"
TARGETS = {
    NLTCS_PURE: Target(mean=320, worst=220),
    NLTCS_RHO: Target(mean=43),
    ADULT_RHO: Target(mean=1400, worst=60, seconds=5),
    ADULT_PURE: Target(mean=5000),
    ADULT_THREE: Target(tv=0.05),
}
MOST_SECONDS, MOST_MEMORY, MOST_EXPONENT, MOST_PLAN, FASTER = 10, 1000, 1.05, 1, 10


class Counter:
    """Counts marginals of records; the code of all attributes but the last is kept."""

    def __init__(self, records, sizes):
        self.columns = [np.ascontiguousarray(column, np.int64) for column in records.T]
        self.sizes, self.rows = sizes, len(records)
        self.head, self.code = None, np.zeros(self.rows, np.int64)

    def table(self, subset):
        if not subset:
            return np.array(self.rows)
        shape = tuple(self.sizes[place] for place in subset)
        head = (subset[:-1], shape[-1])
        if head != self.head:
            self.head, code = head, np.zeros(self.rows, np.int64)
            for place in subset[:-1]:
                code = code * self.sizes[place] + self.columns[place]
            self.code = code * shape[-1]
        code = self.code + self.columns[subset[-1]]
        return np.bincount(code, minlength=math.prod(shape)).reshape(shape)

    def __call__(self, subsets):
        return {subset: Sealed(self.table(subset)) for subset in subsets}


def read(folder: Path, name: str):
    with gzip.open(folder / name, "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)


def ways(sizes: Sequence[int], orders: Sequence[int]) -> Workload:
    places = range(len(sizes))
    wanted = tuple(part for order in orders for part in combinations(places, order))
    return Workload(tuple(f"a{place}" for place in places), tuple(sizes), wanted)


def errors(found, counter, workload):
    total, worst = [], 0.0
    for subset in workload.marginals:
        off = np.abs(found[subset] - counter.table(subset))
        total.append(float(off.sum()))
        worst = max(worst, float(off.max()))
    mean = statistics.fmean(total)
    return mean, worst, mean / 2 / max(counter.rows, 1)


def ours(workload, counter, loss, keep="marginals"):
    found = release_marginals(
        plan_marginals(workload, loss), counter, microdata=keep == "marginals"
    )
    return getattr(found, keep)


def separately(workload, counter, loss):
    """Noise on each marginal on its own."""
    many = len(workload.marginals)
    found = {}
    for subset in workload.marginals:
        table = counter.table(subset)
        if loss.rho:
            noise = gaussian.sample(many / (2 * loss.rho), table.size)
        else:
            noise = laplace.sample(many / loss.epsilon, table.size)
        found[subset] = table + noise.reshape(table.shape)
    return found


def paper(workload, counter, loss):
    """Theorem 4: the same Laplace noise on every parity needed."""
    parts = residual_parts(workload, "laplace", "mean", False)
    share = WHOLE // sum(len(part.shares) for part in parts)
    even = tuple(SubsetShares(part.group, np.full(len(part.shares), share)) for part in parts)
    factor = laplace_factor(Neighbors())
    strategy = MarginalStrategy("residual", "laplace", even, factor, loss.epsilon)
    residuals = Residuals(workload.sizes, tuple(take(strategy, counter, SYSTEM)))
    return estimate.tables(residuals, grouped(workload.marginals, workload.sizes))


def line(label, score):
    note = "whole, >= 0, agree" if score.whole else ""
    errors = f"{score.mean:>12,.1f}{score.worst:>9,.0f}{score.tv:>9.4f}"
    print(f"  {label:<38}{errors}{score.seconds:>8.2f}  {note}", flush=True)


def row(label, run, workload, counter, repeats) -> Score:
    seen = []
    for _ in range(repeats):
        begun = time.process_time()
        found = run()
        seconds = time.process_time() - begun
        seen.append((*errors(found, counter, workload), seconds))
    whole = all(table.dtype.kind == "i" and (table >= 0).all() for table in found.values())
    score = Score(*(statistics.median(part) for part in zip(*seen, strict=True)), whole)
    line(label, score)
    return score


def table(title, workload, counter, loss, repeats, rivals) -> dict[str, Score]:
    begun = time.process_time()
    made = plan_marginals(workload, loss)
    planned = (time.process_time() - begun) * 1000
    print(f"\n{title}: {len(workload.marginals):,} marginals, {workload.total_cells:,} cells")
    print(f"  plan: {made.name}, {planned:.0f} ms; target: {TARGETS[title]}")
    print(f"  {'':<38}{'L1':>12}{'cell':>9}{'TV':>9}{'CPU s':>8}")
    found = {}
    for label, run in rivals.items():
        if isinstance(run, Score):
            line(label, run)
            found[label] = run
        else:
            ask = partial(run, workload, counter, loss)
            found[label] = row(label, ask, workload, counter, repeats)
    ask = partial(ours, workload, counter, loss)
    found[UNBIASED] = row(UNBIASED, partial(ask, "unbiased"), workload, counter, 1)
    found[OURS] = row(OURS, ask, workload, counter, repeats)
    if MST in found:
        print(f"  ours is {against(found[OURS], found[MST])}")
    for text in TARGETS[title].missed(found[OURS]):
        print(f"  target missed: {text}")
    return found


def against(mine: Score, theirs: Score) -> str:
    """Ours as a ratio to MST's."""
    better = theirs.mean / mine.mean
    word, ratio = ("better", better) if better >= 1 else ("worse", 1 / better)
    faster = theirs.seconds / mine.seconds
    share = f"1/{faster:.0f} of" if faster >= 1.5 else f"{1 / faster:.1f} times"
    cell = theirs.worst / mine.worst
    return f"{word} than MST by {ratio:.1f} (largest cell {cell:.1f}), in {share} its CPU time"


def mst(folder: Path) -> tuple[str, dict[str, Score]]:
    """MST on Adult at the same rho: what it is, and its score for each task; empty if it is not
    installed, fails, or takes longer than its limit."""
    python = ROOT / "build" / "peers" / "mst" / "bin" / "python"
    if not python.exists():
        print("MST is not installed; make it with: benchmarks/peers/setup mst")
        return "", {}
    table, domain = folder / "adult_coded.csv.gz", folder / "adult_coded_domain.json"
    runner = ROOT / "benchmarks" / "peers" / "run_mst.py"
    command = [python, runner, table, domain, "--rho", str(float(RHO.rho))]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=LONGEST
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        print(f"MST did not end within {LONGEST:.0f} s")
        return "", {}
    except subprocess.CalledProcessError as error:
        print(f"MST failed: {(error.stderr.splitlines() or ['no reason given'])[-1]}")
        return "", {}
    said = json.loads(ended.stdout.splitlines()[-1])
    what = (
        f"MST of {said['version']} at epsilon {said['epsilon']:.3f}, delta {said['delta']:g}, which"
        f" is rho = {said['rho']:.3f} by its own conversion; one run"
    )
    print(f"\n{what}: {said['seconds']:.0f} CPU s, TV of 3-way alone {said['tv_three']:.4f}")
    return what, {
        ADULT_RHO: Score(*said["two"], said["tv"], said["seconds"], True),
        ADULT_THREE: Score(*said["three"], said["tv_up_to_three"], said["seconds"], True),
    }


def peak_memory() -> float:
    """Megabytes; from the kernel's own mark where there is one (rusage counts the parent too)."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def scaling(attributes: int) -> None:
    """One size, in a process of its own: prints cells, seconds to plan and to release, MB."""
    chance = np.random.default_rng(1)
    records = chance.integers(0, 10, (10_000, attributes))
    workload = up_to_ways(tuple(map(str, range(attributes))), (10,) * attributes, 3)
    begun = time.process_time()
    made = plan_marginals(workload, RHO)
    planned = time.process_time() - begun
    begun = time.process_time()
    release_marginals(made, Counter(records, workload.sizes), microdata=False)
    released = time.process_time() - begun
    memory = peak_memory()
    print(json.dumps([workload.total_cells, planned, released, memory]))


@dataclass(frozen=True)
class Size:
    """One size of the scaling: CPU seconds to plan and to release, megabytes."""

    attributes: int
    cells: int
    planned: float
    released: float
    memory: float


def scale(sizes: Sequence[int]) -> list[Size]:
    print(
        "\nScaling: all marginals of up to 3 of d attributes of 10 values, 10,000 rows, rho = 0.5"
    )
    print(f"  {'d':>4}{'cells':>14}{'plan ms':>10}{'release CPU s':>15}{'peak MB':>9}")
    seen = []
    for size in sizes:
        command = [sys.executable, __file__, "--scaling", str(size)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        one = Size(size, *json.loads(said))
        seen.append(one)
        print(
            f"  {size:>4}{one.cells:>14,}{one.planned * 1e3:>10.1f}{one.released:>15.2f}"
            f"{one.memory:>9,.0f}",
            flush=True,
        )
    print(f"  CPU seconds grow as cells^{exponent(seen):.2f}")
    return seen


def exponent(seen: Sequence[Size]) -> float:
    points = [(math.log(one.cells), math.log(one.released)) for one in seen]
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])


@dataclass
class Report:
    """What was measured, for docs/benchmarks.md."""

    repeats: int
    scores: dict[str, dict[str, Score]] = field(default_factory=dict)
    sizes: list[Size] = field(default_factory=list)
    peer: str = ""

    def missed(self) -> Iterator[str]:
        """Every target that this run did not reach."""
        for title, scores in self.scores.items():
            for text in TARGETS[title].missed(scores[OURS]):
                yield f"{title}: {text}"
            if MST in scores:
                mine, theirs = scores[OURS], scores[MST]
                if mine.mean >= theirs.mean or mine.seconds * FASTER > theirs.seconds:
                    yield f"{title}: {against(mine, theirs)} (asked: better, in 1/{FASTER})"
        if self.sizes and self.sizes[-1].attributes == 100:
            last, grows = self.sizes[-1], exponent(self.sizes)
            if last.released > MOST_SECONDS:
                yield f"100 attributes: {last.released:.1f} CPU s instead of {MOST_SECONDS}"
            if last.memory > MOST_MEMORY:
                yield f"100 attributes: {last.memory:,.0f} MB instead of {MOST_MEMORY:,}"
            if last.planned > MOST_PLAN:
                yield f"100 attributes: {last.planned:.1f} s to plan instead of milliseconds"
            if grows > MOST_EXPONENT:
                yield f"scaling: cells^{grows:.2f} instead of linear"

    def left_out(self) -> Iterator[str]:
        yield from (title for title in TARGETS if title not in self.scores)
        if not self.sizes or self.sizes[-1].attributes != 100:
            yield SCALE
        if not self.peer:
            yield MST

    def figure(self) -> str:
        """The line for the README: the error of Adult's tables, against MST."""
        mine, theirs = (self.scores[ADULT_RHO][label] for label in (OURS, MST))
        return (
            f"**{theirs.mean / mine.mean:.1f} times** less error than MST in the 1- and 2-way "
            f"tables of Adult at rho = 0.5 ({mine.mean:,.0f} against {theirs.mean:,.0f}, L1), in "
            f"1/{theirs.seconds / mine.seconds:.0f} of its CPU time."
        )

    def markdown(self) -> str:
        others = (SEPARATE, FOURIER, MST)
        rows = [["task", "target", OURS, *others], ["---"] * 6]
        for title, scores in self.scores.items():
            cells = (str(scores.get(label, "–")) for label in (OURS, *others))
            rows.append([title, str(TARGETS[title]), *cells])
        scaled = [["attributes of 10 values", "cells", "plan", "release", "peak"], ["---"] * 5]
        scaled += [
            [str(one.attributes), f"{one.cells:,}", f"{one.planned * 1e3:.0f} ms",
             f"{one.released:.1f} CPU s", f"{one.memory:,.0f} MB"]
            for one in self.sizes
        ]  # fmt: skip
        ratios = [
            f"{title}: {against(scores[OURS], scores[MST])}."
            for title, scores in self.scores.items()
            if MST in scores
        ]
        missed, left = "; ".join(self.missed()), "; ".join(self.left_out())
        return "\n".join([
            "Mean L1 error of a marginal / largest error of a cell / TV, CPU seconds; medians of "
            f"{self.repeats} (up to 3-way and MST: one run), Python {platform.python_version()}. "
            "Our tables are whole numbers, none negative, and all agree; with noise on each "
            "marginal they do not agree, and there as in the paper's Fourier basis cells may be "
            "negative."
            + (f" {self.peer}; it is told the true number of rows, ours is not." * bool(self.peer)),
            "",
            *(f"| {' | '.join(cells)} |" for cells in rows),
            "",
            *ratios,
            "",
            "All marginals of up to 3 attributes, 10,000 rows, rho = 0.5, unbiased tables:",
            "",
            *(f"| {' | '.join(cells)} |" for cells in scaled),
            "",
            f"CPU seconds grow as cells^{exponent(self.sizes):.2f}"
            f" (target: linear; 100 attributes in {MOST_SECONDS} CPU s and {MOST_MEMORY:,} MB).",
            "",
            f"Targets missed in this run: {missed}." if missed else "No target that ran is missed.",
            *([f"Not run: {left}."] if left else []),
        ])  # fmt: skip


def run(folder: Path, repeats: int, quick: bool) -> Report:
    report = Report(repeats)
    if (folder / "nltcs").exists():
        records = read(folder, "nltcs/nltcs.csv.gz")
        three, counter = ways((2,) * 16, (3,)), Counter(records, (2,) * 16)
        rivals = {SEPARATE: separately, FOURIER: paper}
        for title, loss in ((NLTCS_PURE, EPSILON), (NLTCS_RHO, RHO)):
            report.scores[title] = table(title, three, counter, loss, repeats, rivals)
            rivals = {SEPARATE: separately}
    if (folder / "adult").exists():
        records = read(folder, "adult/adult_coded.csv.gz")
        sizes = json.loads((folder / "adult/adult_coded_domain.json").read_text()).values()
        counter, two = Counter(records, tuple(sizes)), ways(tuple(sizes), (1, 2))
        report.peer, peer = mst(folder / "adult")
        tasks = [(ADULT_RHO, two, RHO, repeats), (ADULT_PURE, two, EPSILON, repeats)]
        if not quick:
            tasks.append((ADULT_THREE, ways(tuple(sizes), (1, 2, 3)), RHO, 1))
        for title, workload, loss, often in tasks:
            rivals = {SEPARATE: separately} | ({MST: peer[title]} if title in peer else {})
            report.scores[title] = table(title, workload, counter, loss, often, rivals)
    report.sizes = scale((20, 50) if quick else (20, 50, 100))
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--readme", action="store_true", help="put the table into docs/benchmarks.md"
    )
    parser.add_argument("--repeats", type=int, default=3)
    default = os.environ.get("ADOMNIA_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--scaling", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.scaling:
        scaling(asked.scaling)
        return
    report = run(asked.data, asked.repeats, asked.quick)
    text = report.markdown()
    print(f"\n{text}")
    if asked.readme:
        readme.put("release", text)
        if MST in report.scores.get(ADULT_RHO, {}):
            readme.figure("release", report.figure())


if __name__ == "__main__":
    main()
