"""What is learned through a session, against diffprivlib and models without privacy, in one run.

    python benchmarks/mining.py [--quick] [--docs] [--seeds 20] [--only NAME …] [--rows 1000000]

Same rows, same bounds, same epsilon. Classifiers are scored by accuracy on held-out rows, k-means
by the mean squared distance of a training row to its center, principal components by the share of
variance that they explain. diffprivlib runs in an environment of its own
(`benchmarks/peers/setup diffprivlib`) and has the rows in memory as an array; adomnia reads
Parquet, written as DuckDB writes it, and writes a fresh ledger in every fit. diffprivlib takes the
number of rows as public, adomnia does not. The made-up rows are for the time. Models that
diffprivlib lacks are fitted where they are named. Two idle cores take about a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import readme
from mining_models import MODELS, Model
from mining_sets import STEPS, Data, made_up, sets

import adomnia

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "build" / "peers" / "diffprivlib" / "bin" / "python"
EPSILONS = (0.1, 1.0, 10.0)
LONGEST, ROW_GROUP, REPEATS = 30.0, 122_880, 5
OURS, THEIRS, PLAIN = "adomnia", "diffprivlib", "not private"


# Systems


@dataclass(frozen=True)
class Place:
    """A folder with a set's rows, for both systems, and a new ledger for every fit."""

    folder: Path
    data: Data

    def write(self) -> None:
        """The rows as Parquet, and as arrays."""
        X = self.data.X.astype(np.int32)
        columns = {name: X[:, i] for i, name in enumerate(self.data.features)}
        table = pa.table({**columns, "y": self.data.y})
        pq.write_table(table, self.folder / "rows.parquet", row_group_size=ROW_GROUP)
        np.savez(
            self.folder / "rows.npz", X=self.data.X / STEPS, y=self.data.y, T=self.data.T / STEPS
        )

    def policy(self, name: str) -> Path:
        """A policy whose ledger has this name."""
        text = '[data]\nsource = "rows.parquet"\ntable = "rows"\n'
        text += "[privacy]\nepsilon = 1000\nconfirmed = true\n"
        for feature in self.data.features:
            text += f"[attributes.{feature}]\nlow = 0\nhigh = {STEPS}\n"
        text += f"[attributes.y]\nvalues = {list(range(self.data.classes))}\n"
        file = self.folder / f"{name}.toml"
        file.write_text(f'{text}[ledger]\nurl = "{name}.ledger"\n', "utf-8")
        return file


class Peer:
    """diffprivlib in its own process; what it is silent on for too long it is not asked again."""

    def __init__(self) -> None:
        self._silent: set[tuple[Any, ...]] = set()
        self._begin()

    def _begin(self) -> None:
        runner = Path(__file__).with_name("mining_peer.py")
        self._process = subprocess.Popen(
            [PEER, runner],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        hello = self._hear() or {"version": "did not start", "models": []}
        self.version, self.models = hello["version"], set(hello["models"])

    def fit(self, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        """Seconds and what was found; None if it has no such model, fails, or is silent."""
        kind = tuple(asked[name] for name in ("model", "data", "epsilon"))
        if asked["model"] not in self.models or kind in self._silent:
            return None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        said = self._hear()
        if said is None:
            print(f"  {self.version} gave no answer in {LONGEST:.0f} s", flush=True)
            self._silent.add(kind)
            self.__exit__()
            self._begin()
        elif "error" in said:
            print(f"  {self.version}: {said['error']}", flush=True)
        return said if said is not None and "found" in said else None

    def _hear(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], LONGEST)[0]:
            return None
        line = self._process.stdout.readline()
        return dict(json.loads(line)) if line else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


# Fits


@dataclass(frozen=True)
class Fit:
    """One fit: how long it took and how good it is."""

    seconds: float
    score: float


def fit_ours(place: Place, model: Model, epsilon: float, seed: int) -> Fit:
    """A fit with a new ledger; opening it is not counted, every question and its record is."""
    data = place.data
    name = f"{model.name.replace(' ', '-')}-{epsilon:g}-{seed}"
    made, more = model.ours(model.count(data), seed), ["y"] if model.supervised else []
    with adomnia.open(place.policy(name)) as database:
        session = database.session()
        begun = time.perf_counter()
        made.fit(session, data.features, *more, epsilon=epsilon)
        seconds = time.perf_counter() - begun
    return Fit(seconds, model.score(_in_units(model, model.found(made, data.T)), data))


def _in_units(model: Model, found: Any) -> Any:
    """Centers are in the columns' own units."""
    return found / STEPS if model.name == "k-means" else found


def fit_theirs(peer: Peer, place: Place, model: Model, epsilon: float, seed: int) -> Fit | None:
    """A fit by diffprivlib, where it has such a model."""
    asked = {"model": model.name, "data": str(place.folder / "rows.npz"), "seed": seed,
             "epsilon": epsilon, "count": model.count(place.data)}  # fmt: skip
    said = peer.fit(asked)
    return None if said is None else Fit(said["seconds"], model.score(said["found"], place.data))


def fit_plain(place: Place, model: Model) -> Fit:
    """A fit without privacy, by scikit-learn."""
    data = place.data
    made = model.plain(model.count(data))
    begun = time.perf_counter()
    made.fit(data.X / STEPS, data.y)
    seconds = time.perf_counter() - begun
    return Fit(seconds, model.score(model.found(made, data.T / STEPS), data))


# Reporting

HEAD = (
    "| model | data | ε | adomnia | diffprivlib | not private | verdict |"
    " seconds: adomnia | diffprivlib |\n|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Result:
    """The fits of a model on a set at one epsilon, by system."""

    model: Model
    data: Data
    epsilon: float
    fits: Mapping[str, Sequence[Fit]]

    def score(self, system: str) -> str:
        """The mean score of a system."""
        fits = self.fits[system]
        return f"{_told(fits)[0]:.3f}" if fits else "–"

    def doubt(self, system: str) -> str:
        """The standard error of the mean."""
        fits = self.fits[system]
        return f" ± {_told(fits)[1]:.3f}" if fits else ""

    def seconds(self, system: str) -> str:
        """The median time of a system."""
        seconds = [fit.seconds for fit in self.fits[system]]
        return f"{statistics.median(seconds):.3f}" if seconds else "–"

    def verdict(self) -> str:
        """Whether ours is better or worse by more than two standard errors."""
        if not self.fits[THEIRS]:
            return "–"
        (mine, one), (other, two) = _told(self.fits[OURS]), _told(self.fits[THEIRS])
        lead, doubt = self.model.better * (mine - other), 2 * (one**2 + two**2) ** 0.5
        return "better" if lead > doubt else "worse" if lead < -doubt else "level"


def _told(fits: Sequence[Fit]) -> tuple[float, float]:
    """The mean score and its standard error."""
    scores = [fit.score for fit in fits]
    doubt = statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
    return statistics.fmean(scores), doubt


def line(result: Result) -> str:
    """One line of the table."""
    cells = [result.model.name, result.data.name, f"{result.epsilon:g}"]
    cells += [result.score(system) + result.doubt(system) for system in (OURS, THEIRS)]
    cells += [result.score(PLAIN), result.verdict()]
    cells += [result.seconds(system) for system in (OURS, THEIRS)]
    return f"| {' | '.join(cells)} |"


def summary(results: Sequence[Result]) -> str:
    """The table of the documentation: a line for each model and set, with all its epsilons."""
    epsilons = ", ".join(f"{epsilon:g}" for epsilon in EPSILONS)
    lines = [
        f"| model | data | adomnia (ε = {epsilons}) | diffprivlib | not private | verdict |"
        " seconds: adomnia | diffprivlib |\n|---|---|---|---|---|---|---|---|"
    ]
    for _, group in groupby(results, key=lambda result: (result.model.name, result.data.name)):
        some = list(group)
        cells = [some[0].model.name, some[0].data.name]
        cells += [", ".join(each.score(system) for each in some) for system in (OURS, THEIRS)]
        cells += [some[0].score(PLAIN), ", ".join(each.verdict() for each in some)]
        cells += [", ".join(each.seconds(system) for each in some) for system in (OURS, THEIRS)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def compare(
    place: Place, model: Model, peer: Peer | None, seeds: int, epsilons: Sequence[float]
) -> Iterator[Result]:
    """A result for each epsilon; the systems take turns."""
    plain = fit_plain(place, model)
    for epsilon in epsilons:
        fits: dict[str, list[Fit]] = {OURS: [], THEIRS: [], PLAIN: [plain]}
        for seed in range(seeds):
            fits[OURS].append(fit_ours(place, model, epsilon, seed))
            other = None if peer is None else fit_theirs(peer, place, model, epsilon, seed)
            fits[THEIRS] += [] if other is None else [other]
        yield Result(model, place.data, epsilon, fits)


def measure(asked: argparse.Namespace, peer: Peer | None) -> Iterator[Result]:
    """The results of all sets and models that were named; otherwise of all that are shared."""
    shared = [model for model in MODELS if model.shared]
    models = [model for model in MODELS if model.name in asked.only] or shared
    known = sets()
    names = [name for name in known if name in asked.only] or list(known)
    whole = [known[name](name) for name in names if "rows" not in asked.only]
    for data in [*whole, *([made_up(asked.rows)] if asked.rows else [])]:
        timed = len(data.X) == asked.rows
        seeds, epsilons = (REPEATS, (1.0,)) if timed else (asked.seeds, EPSILONS)
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), data)
            place.write()
            for model in models:
                if data.name not in model.without:
                    yield from compare(place, model, peer, seeds, epsilons)


def main() -> None:
    """Read what is asked, and print the table as it grows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1_000_000, help="made-up rows; 0 for none")
    parser.add_argument(
        "--only", nargs="*", default=[], help="models or sets; `rows`: the made-up rows alone"
    )
    parser.add_argument("--quick", action="store_true", help="iris, three seeds, 100,000 rows")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/mining.md")
    asked = parser.parse_args()
    if asked.quick:
        asked.seeds, asked.rows, asked.only = 3, 100_000, asked.only or ["iris"]
    results: list[Result] = []
    with ExitStack() as opened:
        peer = opened.enter_context(Peer()) if PEER.exists() else None
        if peer is None:
            print("diffprivlib is not there; make it with: benchmarks/peers/setup diffprivlib")
        print(HEAD, flush=True)
        for result in measure(asked, peer):
            results.append(result)
            print(line(result), flush=True)
    if asked.docs:
        readme.put("mining", summary(results), ROOT / "docs" / "mining.md")


if __name__ == "__main__":
    main()
