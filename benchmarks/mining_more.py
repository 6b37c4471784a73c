"""Trees and linear models through a session, against diffprivlib and without privacy, in one run.

    python benchmarks/mining_more.py [--seeds 20] [--sets adult,iris] [--million]

All get the same rows, the same bounds and the same epsilon; what is printed is the mean accuracy
on rows held back, twice its standard error over the seeds, and the median time of a fit. Ours
reads Parquet and writes its ledger within that time; the others have the rows in memory.
diffprivlib runs in its own environment (`benchmarks/peers/setup`). Its logistic regression gets
the columns scaled to [-1, 1] and their norm; it hands scikit-learn a parameter that newer ones no
longer take, so that one parameter is taken off here and nothing else is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "build" / "peers" / "diffprivlib" / "bin" / "python"
EPSILONS = (0.1, 1.0, 10.0)
SETS = ("adult", "iris", "wine", "breast_cancer")
NUMBERS = ("age", "education_num", "hours_per_week", "capital_gain", "capital_loss")
BOUNDS = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99),
          "capital_gain": (0, 99_999), "capital_loss": (0, 4356)}  # fmt: skip
STEP = 1000
"""A declared column has so many steps, at most."""

OURS = ("LogisticRegression", "DecisionTree", "Perceptron")
THEIRS = ("LogisticRegression", "RandomForestClassifier", "DecisionTreeClassifier")
PAIRS = {"LogisticRegression": ("LogisticRegression",),
         "DecisionTree": ("RandomForestClassifier", "DecisionTreeClassifier")}  # fmt: skip

Rows = dict[str, np.ndarray]


# Data


def load(name: str, million: bool = False) -> Rows:
    """Training and test rows as numbers, and the bounds: of the declared or the rounded range."""
    x, y, low, high, train = _adult() if name == "adult" else _bundled(name)
    x = np.round((x - low) / (high - low) * STEP).clip(0, STEP)  # in declared steps
    rows = {"x": x[train], "y": y[train], "tx": x[~train], "ty": y[~train]}
    if million:
        drawn = np.random.default_rng(1).integers(0, len(rows["y"]), 1_000_000)
        rows |= {"x": rows["x"][drawn], "y": rows["y"][drawn]}
    return rows


def _adult() -> tuple[Any, ...]:
    import pyarrow.parquet as pq

    home = Path(os.environ.get("ADOMNIA_DATA", ROOT.parent / "shared" / "data"))
    table = pq.read_table(home / "adult" / "adult.parquet")
    columns = [table[name].to_numpy().astype(float) for name in NUMBERS]
    sex = (table["sex"].to_numpy() == "Male").astype(float)
    low, high = (np.array([*(BOUNDS[n][k] for n in NUMBERS), k], float) for k in (0, 1))
    y = np.array([str(v).startswith(">") for v in table["income"].to_pylist()]).astype(int)
    return np.column_stack([*columns, sex]), y, low, high, table["split"].to_numpy() == "train"


def _bundled(name: str) -> tuple[Any, ...]:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    low, high = np.floor(found.data.min(axis=0)), np.ceil(found.data.max(axis=0))
    high = np.maximum(high, low + 1)  # a column may have one value only
    train = np.zeros(len(found.target), bool)
    train[np.random.default_rng(0).permutation(len(train))[: len(train) * 4 // 5]] = True
    return found.data, found.target, low, high, train


# Systems


class Ours:
    """adomnia, with a ledger of its own for every fit."""

    def __init__(self, rows: Rows, folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._rows, self._folder = rows, folder
        self.names = [f"x{place}" for place in range(rows["x"].shape[1])]
        columns = dict(zip(self.names, rows["x"].T.astype(np.int64), strict=True))
        pq.write_table(pa.table({**columns, "y": rows["y"]}), folder / "rows.parquet")
        classes = len(set(rows["ty"].tolist()))
        self._policy = (
            '[data]\nsource = "rows.parquet"\ntable = "people"\n'
            "[privacy]\nepsilon = 1000\nconfirmed = true\n"
            f"[attributes.y]\nvalues = {list(range(classes))}\n"
            + "".join(f"[attributes.{n}]\nlow = 0\nhigh = {STEP}\n" for n in self.names)
        )

    def fit(self, model: str, epsilon: float, seed: int) -> tuple[float, float]:
        """Accuracy and seconds."""
        import adomnia
        from adomnia.mining.decision_tree import DecisionTree
        from adomnia.mining.logistic_regression import LogisticRegression
        from adomnia.mining.perceptron import Perceptron

        made: Any = {
            "DecisionTree": lambda: DecisionTree(seed=seed),
            "LogisticRegression": lambda: LogisticRegression(seed=seed),
            "Perceptron": Perceptron,
        }[model]()
        name = f"{model}-{epsilon}-{seed}"
        policy = self._folder / f"{name}.toml"
        policy.write_text(f'{self._policy}[ledger]\nurl = "{name}.ledger"\n', "utf-8")
        with adomnia.open(policy) as database:
            begun = time.perf_counter()
            made.fit(database.session(), self.names, "y", epsilon=epsilon)
            seconds = time.perf_counter() - begun
        return made.score(self._rows["tx"], self._rows["ty"]), seconds


class Plain:
    """scikit-learn, without privacy."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def fit(self, model: str, epsilon: float, seed: int) -> tuple[float, float]:
        """Accuracy and seconds."""
        from sklearn.linear_model import LogisticRegression, Perceptron
        from sklearn.tree import DecisionTreeClassifier

        made: Any = {
            "DecisionTree": lambda: DecisionTreeClassifier(max_depth=5, random_state=seed),
            "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
            "Perceptron": lambda: Perceptron(random_state=seed),
        }[model]()
        scaled = 2 * self._rows["x"] / STEP - 1
        begun = time.perf_counter()
        made.fit(scaled, self._rows["y"])
        seconds = time.perf_counter() - begun
        return made.score(2 * self._rows["tx"] / STEP - 1, self._rows["ty"]), seconds


class Peer:
    """diffprivlib in a process of its own: this file, run by its interpreter."""

    def __init__(self, rows: Rows, folder: Path) -> None:
        np.savez(folder / "rows.npz", **rows)
        self._process = subprocess.Popen(
            [PEER, __file__, "--serve", str(folder / "rows.npz")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def fit(self, model: str, epsilon: float, seed: int) -> tuple[float, float]:
        """Accuracy and seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([model, epsilon, seed]), file=self._process.stdin, flush=True)
        accuracy, seconds = json.loads(self._process.stdout.readline())
        return accuracy, seconds

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def serve(file: str) -> None:
    """What the peer's process does: fit as it is told, line by line."""
    warnings.simplefilter("ignore")
    forest, tree, regression = _diffprivlib()
    with np.load(file) as held:
        rows = dict(held)
    x, tx = (2 * rows[key] / STEP - 1 for key in ("x", "tx"))
    width, classes = x.shape[1], sorted(set(rows["ty"].tolist()))
    limits = {"bounds": (-np.ones(width), np.ones(width)), "classes": classes}
    for line in sys.stdin:
        model, epsilon, seed = json.loads(line)
        made: Any = {
            "LogisticRegression": lambda e, s: regression(
                epsilon=e, data_norm=width**0.5, random_state=s
            ),
            "RandomForestClassifier": lambda e, s: forest(epsilon=e, random_state=s, **limits),
            "DecisionTreeClassifier": lambda e, s: tree(epsilon=e, random_state=s, **limits),
        }[model](epsilon, seed)
        begun = time.perf_counter()
        made.fit(x, rows["y"])
        seconds = time.perf_counter() - begun
        print(json.dumps([float(made.score(tx, rows["ty"])), seconds]), flush=True)


def _diffprivlib() -> tuple[Any, Any, Any]:
    """Its models; its logistic regression is built on one that ignores `multi_class`."""
    from sklearn import linear_model

    real = linear_model.LogisticRegression

    class Ignoring(real):  # type: ignore[valid-type, misc]
        def __init__(self, penalty="l2", *, dual=False, tol=1e-4, C=1.0, fit_intercept=True,
                     intercept_scaling=1, class_weight=None, random_state=None, solver="lbfgs",
                     max_iter=100, multi_class="ovr", verbose=0, warm_start=False,
                     n_jobs=None):  # fmt: skip
            super().__init__(dual=dual, tol=tol, C=C, fit_intercept=fit_intercept,
                             random_state=random_state, max_iter=max_iter, verbose=verbose,
                             warm_start=warm_start)  # fmt: skip
            self.multi_class = multi_class

    linear_model.LogisticRegression = Ignoring
    from diffprivlib.models import LogisticRegression, RandomForestClassifier
    from diffprivlib.models.forest import DecisionTreeClassifier

    linear_model.LogisticRegression = real
    return RandomForestClassifier, DecisionTreeClassifier, LogisticRegression


# Measuring


def measure(name: str, seeds: int, epsilons: tuple[float, ...], million: bool) -> Iterator[str]:
    """One line for each system, model and epsilon; then where a peer is better beyond doubt."""
    rows = load(name, million)
    said, means = f"{name}{' × 10^6 rows' if million else ''}", {}
    with tempfile.TemporaryDirectory() as text:
        ours, plain = Ours(rows, Path(text)), Plain(rows)
        peer = Peer(rows, Path(text)) if PEER.exists() else None
        for model in OURS:
            if model == "Perceptron" and len(set(rows["ty"].tolist())) > 2:
                continue
            yield _line(said, "no privacy", model, None, [plain.fit(model, 0, 0)])[0]
            for epsilon in epsilons:
                runs = [ours.fit(model, epsilon, seed) for seed in range(seeds)]
                line, means["adomnia", model, epsilon] = _line(
                    said, "adomnia", model, epsilon, runs
                )
                yield line
        for model in THEIRS if peer else ():
            for epsilon in epsilons:
                runs = [peer.fit(model, epsilon, seed) for seed in range(seeds)]  # type: ignore[union-attr]
                line, means["diffprivlib", model, epsilon] = _line(
                    said, "diffprivlib", model, epsilon, runs
                )
                yield line
        if peer:
            peer.close()
    yield from _worse(said, means, epsilons)


def _line(
    name: str, system: str, model: str, epsilon: float | None, runs: list[tuple[float, float]]
) -> tuple[str, tuple[float, float, float]]:
    accuracies, times = zip(*runs, strict=True)
    mean, seconds = statistics.fmean(accuracies), statistics.median(times)
    doubt = statistics.stdev(accuracies) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
    shown = "" if epsilon is None else f"{epsilon:g}"
    line = f"{name:22} {system:12} {model:24} {shown:>5} {mean:8.3f} ± {2 * doubt:.3f}"
    return f"{line} {seconds:9.3f} s", (mean, doubt, seconds)


def _worse(name: str, means: dict[Any, Any], epsilons: tuple[float, ...]) -> Iterator[str]:
    for model, rivals in PAIRS.items():
        for rival in rivals:
            for epsilon in epsilons:
                theirs = means.get(("diffprivlib", rival, epsilon))
                if theirs is None:
                    continue
                (mine, doubt, took), (other, second, rival_took) = (
                    means["adomnia", model, epsilon], theirs,
                )  # fmt: skip
                if other - mine > 2 * (doubt**2 + second**2) ** 0.5:
                    yield f"{name}: {model} is less accurate than {rival} at epsilon {epsilon:g}"
                if took > rival_took and "10^6" in name:  # on few rows the ledger decides
                    yield f"{name}: {model} is slower than {rival} at epsilon {epsilon:g}"


def main() -> None:
    """Read what is asked, print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--million", action="store_true", help="adult drawn to 10^6 rows instead")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve)
        return
    print(
        f"{'data':22} {'system':12} {'model':24} {'eps':>5} {'accuracy':>8}           {'time':>9}"
    )
    for name in ["adult"] if asked.million else asked.sets.split(","):
        for line in measure(
            name, asked.seeds, (1.0,) if asked.million else EPSILONS, asked.million
        ):
            print(line, flush=True)


if __name__ == "__main__":
    main()
