"""The models by name: our own, and those that other packages bring.

A package registers a model under the entry point group `adomnia.models`, by its name and the
class, which is an `Unsupervised` or a `Classifier` of its own (`docs/own-model.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from adomnia.errors import MachineryError, QuestionError
from adomnia.mining.parts.estimator import Estimator

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


def models() -> tuple[str, ...]:
    """The names of all models, our own first; none is loaded.

    >>> models()[:3]
    ('CategoricalNB', 'DecisionTree', 'FrequentItemSets')
    """
    return (*OWN, *registered())


def model_named(name: str) -> type[Estimator]:
    """The model of this name: a class, to be given parameters.

    Raises a QuestionError where there is none, and a MachineryError where a package registered
    one that cannot be loaded or is no model.

    >>> model_named("KMeans")(n_clusters=3)
    KMeans(n_clusters=3, steps=None, split=None, random_state=0)
    """
    if name in OWN:
        found: type[Estimator] = getattr(import_module(f"adomnia.mining.{OWN[name]}"), name)
        return found
    others = registered()
    if name not in others:
        hint = "there are: " + ", ".join(models())
        raise QuestionError(f"there is no model {name[:60]!r}", hint)
    return _loaded(others[name])


def registered() -> dict[str, EntryPoint]:
    """The models of other packages, by name; none can take the name of one of ours."""
    points = sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value))
    return {one.name: one for one in points if one.name not in OWN}


def _loaded(point: EntryPoint) -> type[Estimator]:
    hint = f"it is registered as {point.value!r} in the entry point group {GROUP}"
    try:
        made = point.load()
    except Exception as error:
        kind = type(error).__name__
        raise MachineryError(f"the model {point.name!r} cannot be loaded ({kind})", hint) from None
    if not (isinstance(made, type) and issubclass(made, Estimator) and hasattr(made, "fit")):
        raise MachineryError(f"{point.name!r} is no Unsupervised and no Classifier", hint)
    return made
