"""The models that are compared: how each is fitted by us and without privacy, and its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mining_sets import STEPS, Data

__all__ = ["MODELS", "Model"]


def accuracy(found: Sequence[Any], data: Data) -> float:
    """The share of held-out rows whose class is found."""
    return float(np.mean(np.asarray(found) == data.truth))


def inertia(centers: Any, data: Data) -> float:
    """The mean squared distance of a training row to the nearest center."""
    rows, centers = data.X / STEPS, np.asarray(centers)
    parts = np.array_split(rows, max(1, len(rows) // 100_000))
    apart = [((part[:, None, :] - centers) ** 2).sum(axis=2).min(axis=1).sum() for part in parts]
    return float(sum(apart) / len(rows))


def explained(components: Any, data: Data) -> float:
    """The share of the training rows' variance within the span of the components."""
    spread = np.cov(data.X.T)
    basis, _ = np.linalg.qr(np.asarray(components).T)
    return float(np.trace(basis.T @ spread @ basis) / np.trace(spread))


def _classes(model: Any, rows: np.ndarray) -> list[Any]:
    return list(model.predict(rows))


@dataclass(frozen=True)
class Model:
    """One line of the comparison.

    `ours` and `plain` make models from a number of clusters or components and a seed; `found`
    reads from a fitted one what `score` takes. `better` is -1 where less is better. It is not
    compared on the sets `without`; diffprivlib has what is `shared`.
    """

    name: str
    ours: Callable[[int, int], Any]
    plain: Callable[[int], Any]
    found: Callable[[Any, np.ndarray], Any] = _classes
    score: Callable[[Any, Data], float] = accuracy
    better: int = 1
    count: Callable[[Data], int] = lambda data: data.classes
    without: tuple[str, ...] = ()
    shared: bool = True

    @property
    def supervised(self) -> bool:
        """Whether it is told the classes."""
        return self.score is accuracy


def _ours(module: str, name: str, **given: Any) -> Any:
    from importlib import import_module

    return getattr(import_module(f"adomnia.mining.{module}"), name)(**given)


def _plain(module: str, name: str, **given: Any) -> Any:
    from importlib import import_module

    return getattr(import_module(f"sklearn.{module}"), name)(**given)


MODELS = (
    Model(
        "naive Bayes",
        lambda count, seed: _ours("naive_bayes", "GaussianNB"),
        lambda count: _plain("naive_bayes", "GaussianNB", var_smoothing=1e-3),
    ),
    Model(
        "k-means",
        lambda count, seed: _ours("k_means", "KMeans", n_clusters=count, random_state=seed),
        lambda count: _plain("cluster", "KMeans", n_clusters=count, n_init=3, random_state=0),
        lambda model, _: model.cluster_centers_,
        inertia,
        -1,
    ),
    Model(
        "components",
        lambda count, seed: _ours("components", "PCA", n_components=count),
        lambda count: _plain("decomposition", "PCA", n_components=count),
        lambda model, _: model.components_,
        explained,
        count=lambda data: 2,
        without=("digits",),  # diffprivlib gives no answer within a minute
    ),
    Model(
        "logistic regression",
        lambda count, seed: _ours("logistic_regression", "LogisticRegression", seed=seed),
        lambda count: _plain("linear_model", "LogisticRegression", max_iter=1000),
    ),
    Model(
        "tree",
        lambda count, seed: _ours("decision_tree", "DecisionTree", seed=seed),
        lambda count: _plain("tree", "DecisionTreeClassifier", max_depth=5, random_state=0),
    ),
    Model(
        "forest",
        lambda count, seed: _ours("random_forest", "RandomForest", seed=seed),
        lambda count: _plain("ensemble", "RandomForestClassifier", max_depth=5, random_state=0),
    ),
    Model(
        "perceptron",
        lambda count, seed: _ours("perceptron", "Perceptron"),
        lambda count: _plain("linear_model", "Perceptron", random_state=0),
        without=("iris", "wine", "digits", "diabetes"),  # it tells two classes apart
        shared=False,
    ),
)
