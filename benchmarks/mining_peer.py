"""diffprivlib's models over NumPy arrays: a line of JSON in for each fit, one out.

It runs in diffprivlib's own environment. In: `model`, `data` (an .npz with X, y and T, all between
0 and 1), `epsilon`, `seed` and `count` (of clusters or components). Out: `seconds` of the fit, and
`found`: classes of the rows T, centers, or components.

Its logistic regression hands scikit-learn a parameter that newer ones no longer take, so that one
parameter is taken off, and nothing else is changed; it gets columns from -1 to 1 and their norm.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn import linear_model

Given = dict[str, Any]
_real = linear_model.LogisticRegression


class _Ignoring(_real):  # type: ignore[valid-type, misc]
    def __init__(self, penalty="l2", *, dual=False, tol=1e-4, C=1.0, fit_intercept=True,
                 intercept_scaling=1, class_weight=None, random_state=None, solver="lbfgs",
                 max_iter=100, multi_class="ovr", verbose=0, warm_start=False,
                 n_jobs=None):  # fmt: skip
        super().__init__(dual=dual, tol=tol, C=C, fit_intercept=fit_intercept,
                         random_state=random_state, max_iter=max_iter, verbose=verbose,
                         warm_start=warm_start)  # fmt: skip
        self.multi_class = multi_class


linear_model.LogisticRegression = _Ignoring
from diffprivlib import models  # noqa: E402 (it builds on what is named so when it is imported)

linear_model.LogisticRegression = _real


@lru_cache(maxsize=2)
def load(file: str) -> dict[str, np.ndarray]:
    """The arrays of a file."""
    with np.load(file) as held:
        return {name: held[name] for name in held.files}


def classes(model: Any, rows: np.ndarray) -> list[int]:
    """The classes that a model finds."""
    return [int(label) for label in model.predict(rows)]


def _common(asked: Given, data: Given) -> Given:
    width = data["X"].shape[1]
    bounds = (np.zeros(width), np.ones(width))
    return {"epsilon": asked["epsilon"], "bounds": bounds, "random_state": asked["seed"]}


def k_means(asked: Given, data: Given) -> Any:
    """k-means."""
    return models.KMeans(asked["count"], **_common(asked, data))


def components(asked: Given, data: Given) -> Any:
    """Principal components."""
    norm = data["X"].shape[1] ** 0.5
    return models.PCA(asked["count"], data_norm=norm, **_common(asked, data))


def naive_bayes(asked: Given, data: Given) -> Any:
    """Naive Bayes."""
    return models.GaussianNB(**_common(asked, data))


def tree(asked: Given, data: Given) -> Any:
    """A tree of random splits."""
    return models.DecisionTreeClassifier(classes=np.unique(data["y"]), **_common(asked, data))


def forest(asked: Given, data: Given) -> Any:
    """Such trees on rows of their own."""
    return models.RandomForestClassifier(classes=np.unique(data["y"]), **_common(asked, data))


def logistic_regression(asked: Given, data: Given) -> Any:
    """Logistic regression by objective perturbation."""
    norm = data["X"].shape[1] ** 0.5
    return models.LogisticRegression(
        epsilon=asked["epsilon"], data_norm=norm, random_state=asked["seed"]
    )


MODELS: dict[str, tuple[Callable[[Given, Given], Any], Callable[[Any, np.ndarray], Any]]] = {
    "naive Bayes": (naive_bayes, classes),
    "k-means": (k_means, lambda model, _: model.cluster_centers_.tolist()),
    "components": (components, lambda model, _: model.components_.tolist()),
    "logistic regression": (logistic_regression, classes),
    "tree": (tree, classes),
    "forest": (forest, classes),
}


def answer(asked: Given) -> Given:
    """Fit as asked, and say what was found."""
    make, read = MODELS[asked["model"]]
    data = load(asked["data"])
    rows, test = data["X"].copy(), data["T"]  # some change the rows they are given
    if asked["model"] == "logistic regression":
        rows, test = 2 * rows - 1, 2 * test - 1
    model = make(asked, data)
    begun = time.perf_counter()
    model.fit(rows, data["y"])
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "found": read(model, test)}


def main() -> None:
    """Answer line by line."""
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr
    hello = {"version": f"diffprivlib {version('diffprivlib')}", "models": list(MODELS)}
    print(json.dumps(hello), file=out, flush=True)
    for line in sys.stdin:
        try:
            said = answer(json.loads(line))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(said), file=out, flush=True)


if __name__ == "__main__":
    main()
