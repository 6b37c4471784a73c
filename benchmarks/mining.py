"""What is learned through a session, against diffprivlib and models without privacy, in one run.

    python benchmarks/mining.py [--seeds 5] [--only NAME …] [--large 1000000] [--out FILE]

Same rows, same epsilon, same bounds: every feature is scaled to [0, 1] by bounds that count as
public, and rounded to 1/10000. Classifiers are scored by accuracy on held-out rows, k-means by
the inertia of the training rows a row, principal components by the share of variance that they
explain of it. diffprivlib runs in an environment of its own (`benchmarks/peers/setup diffprivlib`)
and has the rows in memory; adomnia reads Parquet and writes a fresh ledger in every fit.
diffprivlib takes the number of rows as public, adomnia does not.
"""

from __future__ import annotations

import argparse
import json
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import adomnia

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
PEER = ROOT / "build" / "peers" / "diffprivlib" / "bin" / "python"
RUNNER = ROOT / "benchmarks" / "peers" / "mine_diffprivlib.py"
EPSILONS = (0.1, 1.0, 10.0)
STEP, LONGEST = 1e-4, 60.0
OURS, THEIRS, PLAIN = "adomnia", "diffprivlib", "not private"


# Data


@dataclass(frozen=True)
class Data:
    """Rows between 0 and 1, their classes, and rows held out."""

    name: str
    X: np.ndarray
    y: np.ndarray
    T: np.ndarray
    truth: np.ndarray

    @property
    def features(self) -> list[str]:
        return [f"f{place}" for place in range(self.X.shape[1])]


def _halves(name: str, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> Data:
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = np.round((X - low) / np.where(high > low, high - low, 1) / STEP) * STEP
    return Data(name, scaled[train], y[train], scaled[~train], y[~train])


def bundled(name: str) -> Data:
    """One of scikit-learn's own sets; three rows in ten are held out."""
    from sklearn import datasets

    held = getattr(datasets, f"load_{name}")()
    train = np.random.default_rng(0).random(len(held.data)) < 0.7
    return _halves(name, held.data, held.target, train)


ADULT = ("age", "education-num", "hours-per-week", "capital-gain", "capital-loss")
BOUNDS = {"age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99),
          "capital-gain": (0, 20_000), "capital-loss": (0, 5_000)}  # fmt: skip


def adult(_: str) -> Data:
    """UCI Adult: five numbers, and whether somebody earns more than 50,000."""
    table = pq.read_table(SHARED / "adult" / "adult.parquet")
    names = {name.replace("_", "-").replace(".", "-"): name for name in table.column_names}
    columns = []
    for name in ADULT:
        low, high = BOUNDS[name]
        values = np.clip(table[names[name]].to_numpy().astype(float), low, high)
        columns.append((values - low) / (high - low))
    label = table[names.get("income", "income")].to_pylist()
    y = np.array([int(">" in str(value)) for value in label])
    train = np.random.default_rng(0).random(len(y)) < 0.7
    X = np.round(np.column_stack(columns) / STEP) * STEP
    return Data("adult", X[train], y[train], X[~train], y[~train])


def made_up(rows: int) -> Data:
    """Four clouds in six dimensions, two classes: for the time that many rows take."""
    draw = np.random.default_rng(1)
    centers = draw.random((4, 6)) * 0.6 + 0.2
    which = draw.integers(0, 4, rows + 1000)
    X = np.clip(centers[which] + 0.08 * draw.standard_normal((rows + 1000, 6)), 0, 1)
    X = np.round(X / STEP) * STEP
    return Data(f"{rows:,} rows", X[:rows], which[:rows] % 2, X[rows:], which[rows:] % 2)


SETS: Mapping[str, Callable[[str], Data]] = {
    "iris": bundled, "wine": bundled, "breast_cancer": bundled, "digits": bundled, "adult": adult,
}  # fmt: skip


# Algorithms


@dataclass(frozen=True)
class Algorithm:
    """How a model is made and fitted by us and without privacy, what it found, and its score.

    `ours` fits and returns a model. `found` reads from a model what `score` takes: the classes of
    the rows T, centers, or components. More algorithms are more lines in `ALGORITHMS`.
    """

    name: str
    ours: Callable[[Any, Data, float, Mapping[str, Any]], Any]
    plain: Callable[[Data, Mapping[str, Any]], Any]
    found: Callable[[Any, Data], Any]
    score: Callable[[Any, Data], float]
    better: int = 1
    params: Callable[[Data], Mapping[str, Any]] = field(default=lambda data: {})


def accuracy(found: Sequence[Any], data: Data) -> float:
    return float(np.mean(np.asarray(found) == data.truth))


def inertia(centers: Any, data: Data) -> float:
    """The mean squared distance of a training row to the nearest center."""
    centers = np.asarray(centers)
    parts = np.array_split(data.X, max(1, len(data.X) // 100_000))
    apart = [((part[:, None, :] - centers) ** 2).sum(axis=2).min(axis=1).sum() for part in parts]
    return float(sum(apart) / len(data.X))


def explained(components: Any, data: Data) -> float:
    """The share of the training rows' variance within the span of the components."""
    spread = np.cov(data.X.T)
    basis, _ = np.linalg.qr(np.asarray(components).T)
    return float(np.trace(basis.T @ spread @ basis) / np.trace(spread))


def classes(model: Any, data: Data) -> list[Any]:
    return list(model.predict(data.T))


def _bayes(session: Any, data: Data, epsilon: float, params: Mapping[str, Any]) -> Any:
    from adomnia.mining.naive_bayes import GaussianNB

    return GaussianNB().fit(session, data.features, "y", epsilon=epsilon)


def _plain_bayes(data: Data, params: Mapping[str, Any]) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=1e-3).fit(data.X, data.y)


def _k_means(session: Any, data: Data, epsilon: float, params: Mapping[str, Any]) -> Any:
    from adomnia.mining.k_means import KMeans

    return KMeans(params["clusters"]).fit(session, data.features, epsilon=epsilon)


def _plain_k_means(data: Data, params: Mapping[str, Any]) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(params["clusters"], n_init=3, random_state=0).fit(data.X)


def _components(session: Any, data: Data, epsilon: float, params: Mapping[str, Any]) -> Any:
    from adomnia.mining.components import PCA

    return PCA(params["components"]).fit(session, data.features, epsilon=epsilon)


def _plain_components(data: Data, params: Mapping[str, Any]) -> Any:
    from sklearn.decomposition import PCA

    return PCA(params["components"]).fit(data.X)


def _kinds(data: Data) -> Mapping[str, Any]:
    return {"clusters": max(2, len(np.unique(data.y)))}


ALGORITHMS: tuple[Algorithm, ...] = (
    Algorithm("naive bayes", _bayes, _plain_bayes, classes, accuracy),
    Algorithm("k-means", _k_means, _plain_k_means,
              lambda model, _: model.cluster_centers_, inertia, -1, _kinds),
    Algorithm("components", _components, _plain_components,
              lambda model, _: model.components_, explained, 1, lambda data: {"components": 2}),
)  # fmt: skip


# Systems


@dataclass(frozen=True)
class Place:
    """A folder with a set's rows, for both systems, and a new ledger for every fit."""

    folder: Path
    data: Data

    def write(self) -> None:
        columns = {name: self.data.X[:, i] for i, name in enumerate(self.data.features)}
        pq.write_table(pa.table({**columns, "y": self.data.y}), self.folder / "rows.parquet")
        np.savez(self.folder / "rows.npz", X=self.data.X, y=self.data.y, T=self.data.T)

    def policy(self, name: str) -> Path:
        number = f"low = 0\nhigh = 1\nstep = {STEP:f}\n"
        text = '[data]\nsource = "rows.parquet"\ntable = "rows"\n'
        text += "[privacy]\nepsilon = 1000\nconfirmed = true\n"
        text += "".join(f"[attributes.{feature}]\n{number}" for feature in self.data.features)
        text += f"[attributes.y]\nvalues = {sorted({int(v) for v in self.data.y})}\n"
        file = self.folder / f"{name}.toml"
        file.write_text(f'{text}[ledger]\nurl = "{name}.ledger"\n', "utf-8")
        return file


class Peer:
    """diffprivlib in its own process; one that is silent for too long is ended and not asked so
    again."""

    def __init__(self) -> None:
        self._silent: set[tuple[Any, ...]] = set()
        self._begin()

    def _begin(self) -> None:
        self._process = subprocess.Popen(
            [PEER, RUNNER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        hello = self._hear() or {"version": "did not start", "algorithms": []}
        self.version, self.algorithms = hello["version"], set(hello["algorithms"])

    def fit(self, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        kind = tuple(asked[name] for name in ("algorithm", "data", "epsilon"))
        if asked["algorithm"] not in self.algorithms or kind in self._silent:
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


@dataclass(frozen=True)
class Fit:
    """One fit: how long it took and how good it is."""

    seconds: float
    score: float


def fit_ours(place: Place, algorithm: Algorithm, epsilon: float, seed: int) -> Fit:
    """A fit with a new ledger; opening it is not counted, every question and its record is."""
    data = place.data
    name = f"{algorithm.name.replace(' ', '-')}-{epsilon:g}-{seed}"
    with adomnia.open(place.policy(name)) as database:
        begun = time.perf_counter()
        model = algorithm.ours(database.session(), data, epsilon, algorithm.params(data))
        seconds = time.perf_counter() - begun
    return Fit(seconds, algorithm.score(algorithm.found(model, data), data))


def fit_theirs(
    peer: Peer, place: Place, algorithm: Algorithm, epsilon: float, seed: int
) -> Fit | None:
    data = place.data
    asked = {"algorithm": algorithm.name, "data": str(place.folder / "rows.npz"), "seed": seed,
             "epsilon": epsilon, **algorithm.params(data)}  # fmt: skip
    said = peer.fit(asked)
    return None if said is None else Fit(said["seconds"], algorithm.score(said["found"], data))


def fit_plain(place: Place, algorithm: Algorithm) -> Fit:
    data = place.data
    begun = time.perf_counter()
    model = algorithm.plain(data, algorithm.params(data))
    seconds = time.perf_counter() - begun
    return Fit(seconds, algorithm.score(algorithm.found(model, data), data))


# Reporting

HEAD = (
    "| algorithm | data | epsilon | adomnia | diffprivlib | not private | verdict |"
    " seconds: adomnia | diffprivlib |"
)


def _told(fits: Sequence[Fit]) -> tuple[float, float]:
    """The mean score and its standard error."""
    scores = [fit.score for fit in fits]
    doubt = statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
    return statistics.fmean(scores), doubt


def _verdict(algorithm: Algorithm, ours: Sequence[Fit], theirs: Sequence[Fit]) -> str:
    if not theirs:
        return "–"
    (mine, one), (other, two) = _told(ours), _told(theirs)
    lead, doubt = algorithm.better * (mine - other), 2 * (one**2 + two**2) ** 0.5
    return "better" if lead > doubt else "worse" if lead < -doubt else "level"


def line(
    algorithm: Algorithm,
    data: Data,
    epsilon: float,
    fits: Mapping[str, Sequence[Fit]],
) -> str:
    """One line of the table."""
    cells = [algorithm.name, data.name, f"{epsilon:g}"]
    for system in (OURS, THEIRS):
        mean, doubt = _told(fits[system]) if fits[system] else (float("nan"), 0.0)
        cells.append(f"{mean:.4f} ± {doubt:.4f}" if fits[system] else "–")
    cells.append(f"{fits[PLAIN][0].score:.4f}")
    cells.append(_verdict(algorithm, fits[OURS], fits[THEIRS]))
    for system in (OURS, THEIRS):
        seconds = [fit.seconds for fit in fits[system]]
        cells.append(f"{statistics.median(seconds):.3f}" if seconds else "–")
    return f"| {' | '.join(cells)} |"


def compare(place: Place, algorithm: Algorithm, peer: Peer | None, seeds: int) -> Iterator[str]:
    """A line for each epsilon; the systems take turns."""
    plain = fit_plain(place, algorithm)
    for epsilon in EPSILONS:
        fits: dict[str, list[Fit]] = {OURS: [], THEIRS: [], PLAIN: [plain]}
        for seed in range(seeds):
            fits[OURS].append(fit_ours(place, algorithm, epsilon, seed))
            other = None if peer is None else fit_theirs(peer, place, algorithm, epsilon, seed)
            fits[THEIRS] += [] if other is None else [other]
        yield line(algorithm, place.data, epsilon, fits)


def wanted(only: Sequence[str], large: int) -> Iterator[tuple[Data, Sequence[Algorithm]]]:
    """The sets and algorithms whose names were asked for; all of them otherwise."""
    asked = set(only) & {*SETS, "large"}
    names = [name for name in SETS if not asked or name in asked]
    some = [a for a in ALGORITHMS if a.name in only] or list(ALGORITHMS)
    for name in names:
        if name != "adult" or SHARED.exists():
            yield SETS[name](name), some
    if large:
        yield made_up(large), some


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--only", nargs="*", default=[], help="algorithms or sets; `large`: made-up rows alone"
    )
    parser.add_argument("--large", type=int, default=0, help="also so many made-up rows")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    asked = parser.parse_args()
    lines = [HEAD, "|---" * 9 + "|"]
    with ExitStack() as opened:
        peer = opened.enter_context(Peer()) if PEER.exists() else None
        if peer is None:
            print("diffprivlib is not there; make it with: benchmarks/peers/setup diffprivlib")
        print(*lines, sep="\n", flush=True)
        for data, algorithms in wanted(asked.only, asked.large):
            seeds = min(asked.seeds, 3) if asked.large == len(data.X) else asked.seeds
            with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
                place = Place(Path(folder), data)
                place.write()
                for algorithm in algorithms:
                    for row in compare(place, algorithm, peer, seeds):
                        lines.append(row)
                        print(row, flush=True)
    if asked.out:
        asked.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
