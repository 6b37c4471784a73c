"""diffprivlib's models over NumPy arrays: a line of JSON in for each fit, one out.

In: `algorithm`, `data` (an .npz with X, y and T, all between 0 and 1), `epsilon`, `seed` and what
the algorithm takes. Out: `seconds` of the fit, and `found`: classes of the rows T, centers, or
components.
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
from diffprivlib import models

Given = dict[str, Any]


@lru_cache(maxsize=2)
def load(file: str) -> dict[str, np.ndarray]:
    with np.load(file) as held:
        return {name: held[name] for name in held.files}


def classes(model: Any, data: Given) -> list[int]:
    return [int(label) for label in model.predict(data["T"])]


def naive_bayes(asked: Given, data: Given) -> Any:
    bounds = (np.zeros(data["X"].shape[1]), np.ones(data["X"].shape[1]))
    return models.GaussianNB(epsilon=asked["epsilon"], bounds=bounds, random_state=asked["seed"])


def k_means(asked: Given, data: Given) -> Any:
    bounds = (np.zeros(data["X"].shape[1]), np.ones(data["X"].shape[1]))
    return models.KMeans(asked["clusters"], epsilon=asked["epsilon"], bounds=bounds,
                         random_state=asked["seed"])  # fmt: skip


def components(asked: Given, data: Given) -> Any:
    width = data["X"].shape[1]
    return models.PCA(
        asked["components"], epsilon=asked["epsilon"], data_norm=width**0.5,
        bounds=(np.zeros(width), np.ones(width)), random_state=asked["seed"],
    )  # fmt: skip


def logistic_regression(asked: Given, data: Given) -> Any:
    return models.LogisticRegression(epsilon=asked["epsilon"], data_norm=data["X"].shape[1] ** 0.5,
                                     random_state=asked["seed"])  # fmt: skip


def tree(asked: Given, data: Given) -> Any:
    bounds = (np.zeros(data["X"].shape[1]), np.ones(data["X"].shape[1]))
    return models.DecisionTreeClassifier(
        asked.get("depth", 5), epsilon=asked["epsilon"], bounds=bounds,
        classes=np.unique(data["y"]), random_state=asked["seed"],
    )  # fmt: skip


ALGORITHMS: dict[str, tuple[Callable[[Given, Given], Any], Callable[[Any, Given], Any]]] = {
    "naive bayes": (naive_bayes, classes),
    "k-means": (k_means, lambda model, _: model.cluster_centers_.tolist()),
    "components": (components, lambda model, _: model.components_.tolist()),
    "logistic regression": (logistic_regression, classes),
    "tree": (tree, classes),
}


def answer(asked: Given) -> Given:
    make, read = ALGORITHMS[asked["algorithm"]]
    data = load(asked["data"])
    model, rows = make(asked, data), data["X"].copy()  # some change the rows they are given
    begun = time.perf_counter()
    model.fit(rows, data["y"])
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "found": read(model, data)}


def main() -> None:
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr
    hello = {"version": f"diffprivlib {version('diffprivlib')}", "algorithms": list(ALGORITHMS)}
    print(json.dumps(hello), file=out, flush=True)
    for line in sys.stdin:
        try:
            said = answer(json.loads(line))
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(said), file=out, flush=True)


if __name__ == "__main__":
    main()
