"""The rows that models are compared on: features in whole steps from 0 to 10,000, and classes.

The bounds of a feature count as public; for scikit-learn's sets they are its range.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

STEPS = 10_000
"""A feature lies between 0 and this, and both systems are told so."""

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ADULT = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99),
         "capital_gain": (0, 20_000), "capital_loss": (0, 5_000)}  # fmt: skip


@dataclass(frozen=True)
class Data:
    """Rows and their classes to learn from, and rows held out."""

    name: str
    X: np.ndarray
    y: np.ndarray
    T: np.ndarray
    truth: np.ndarray

    @property
    def features(self) -> list[str]:
        """The names of the columns."""
        return [f"f{place}" for place in range(self.X.shape[1])]

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.y.max()) + 1


def _held_out(name: str, X: np.ndarray, y: np.ndarray, bounds: np.ndarray) -> Data:
    """Three rows in ten are held out."""
    low, high = bounds
    shares = (np.clip(X, low, high) - low) / np.where(high > low, high - low, 1)
    rows, train = np.round(shares * STEPS), np.random.default_rng(0).random(len(y)) < 0.7
    return Data(name, rows[train], y[train], rows[~train], y[~train])


def bundled(name: str) -> Data:
    """One of scikit-learn's own sets."""
    from sklearn import datasets

    held = getattr(datasets, f"load_{name}")()
    bounds = np.stack([held.data.min(axis=0), held.data.max(axis=0)])
    return _held_out(name, held.data, held.target, bounds)


def diabetes(name: str) -> Data:
    """The progress of a disease, in thirds, as three classes."""
    from sklearn.datasets import load_diabetes

    held = load_diabetes()
    thirds = np.digitize(held.target, np.quantile(held.target, [1 / 3, 2 / 3]))
    bounds = np.stack([held.data.min(axis=0), held.data.max(axis=0)])
    return _held_out(name, held.data, thirds, bounds)


def adult(name: str) -> Data:
    """UCI Adult: five numbers, and whether somebody earns more than 50,000."""
    import pyarrow.parquet as pq

    table = pq.read_table(_home() / "adult" / "adult.parquet")
    X = np.column_stack([table[name].to_numpy().astype(float) for name in ADULT])
    y = np.array([int(str(value).startswith(">")) for value in table["income"].to_pylist()])
    return _held_out(name, X, y, np.array(list(ADULT.values()), float).T)


def _home() -> Path:
    return Path(os.environ.get("ADOMNIA_DATA", SHARED))


def made_up(rows: int) -> Data:
    """Four clouds in six dimensions, two classes: for the time that many rows take."""
    draw = np.random.default_rng(1)
    centers, which = draw.random((4, 6)) * 0.6 + 0.2, draw.integers(0, 4, rows + 1000)
    X = np.clip(centers[which] + 0.08 * draw.standard_normal((rows + 1000, 6)), 0, 1)
    X = np.round(X * STEPS)
    return Data(f"{rows:,} rows", X[:rows], which[:rows] % 2, X[rows:], which[rows:] % 2)


def sets() -> Mapping[str, Callable[[str], Data]]:
    """How the sets that are there are read, by name."""
    small = dict.fromkeys(["iris", "wine", "breast_cancer", "digits"], bundled)
    large = {"adult": adult} if (_home() / "adult").exists() else {}
    return {**small, "diabetes": diabetes, **large}
