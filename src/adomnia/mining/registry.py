"""The models by name: our own, and those that other packages bring.

A package registers a model under the entry point group `adomnia.models`, by its name and the
class, which is an `Unsupervised` or a `Classifier` of its own (`docs/own-model.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

from adomnia.mining.parts.estimator import Estimator
from adomnia.plugins import Registry

__all__ = ["GROUP", "OWN", "model_named", "models", "registered"]

GROUP = "adomnia.models"
"""The entry point group of models."""

OWN: Mapping[str, str] = {
    "CategoricalNB": "naive_bayes",
    "DecisionTree": "decision_tree",
    "FrequentItemSets": "item_sets",
    "GaussianNB": "naive_bayes",
    "KMeans": "k_means",
    "LogisticRegression": "logistic_regression",
    "PCA": "components",
    "Perceptron": "perceptron",
    "RandomForest": "random_forest",
}
"""The modules that our own models are in; each is loaded when it is named."""


def _is_model(made: Any) -> bool:
    return isinstance(made, type) and issubclass(made, Estimator) and hasattr(made, "fit")


MODELS: Registry[type[Estimator]] = Registry(
    "model",
    GROUP,
    {name: f"adomnia.mining.{module}:{name}" for name, module in OWN.items()},
    _is_model,
    "is no Unsupervised and no Classifier",
)


def models() -> tuple[str, ...]:
    """The names of all models, our own first; none is loaded.

    >>> models()[:3]
    ('CategoricalNB', 'DecisionTree', 'FrequentItemSets')
    """
    return MODELS.names()


def model_named(name: str) -> type[Estimator]:
    """The model of this name: a class, to be given parameters.

    Raises a QuestionError where there is none, and a MachineryError where a package registered
    one that cannot be loaded or is no model.

    >>> model_named("KMeans")(n_clusters=3)
    KMeans(n_clusters=3, steps=None, split=None, random_state=0)
    """
    return MODELS.named(name)


def registered() -> dict[str, EntryPoint]:
    """The models of other packages, by name; none can take the name of one of ours."""
    return MODELS.registered()
