"""What can be learned through a session alone is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.exports import Exports

if TYPE_CHECKING:
    from adomnia.mining.components import PCA
    from adomnia.mining.decision_tree import DecisionTree
    from adomnia.mining.item_sets import FrequentItemSets
    from adomnia.mining.k_means import KMeans
    from adomnia.mining.logistic_regression import LogisticRegression
    from adomnia.mining.naive_bayes import CategoricalNB, GaussianNB
    from adomnia.mining.parts.association_rules import AssociationRule, ItemSet, NoisyCount
    from adomnia.mining.parts.classifier import Classifier
    from adomnia.mining.parts.coarsening import Coarsening
    from adomnia.mining.parts.estimator import Estimator, Unsupervised
    from adomnia.mining.parts.fitting import Fitting
    from adomnia.mining.parts.random_tree import RandomTree
    from adomnia.mining.parts.splits import TreeNode
    from adomnia.mining.parts.statements import (
        Bounds,
        TargetClasses,
        bounds_of,
        decimal,
        identifier,
        literal,
        select,
        values_of,
    )
    from adomnia.mining.perceptron import Perceptron
    from adomnia.mining.random_forest import RandomForest
    from adomnia.mining.registry import model_named, models

_MEMBERS = {
    "components": "PCA",
    "decision_tree": "DecisionTree",
    "item_sets": "FrequentItemSets",
    "k_means": "KMeans",
    "logistic_regression": "LogisticRegression",
    "naive_bayes": "CategoricalNB GaussianNB",
    "perceptron": "Perceptron",
    "random_forest": "RandomForest",
    "registry": "model_named models",
    "parts.association_rules": "AssociationRule ItemSet NoisyCount",
    "parts.classifier": "Classifier",
    "parts.coarsening": "Coarsening",
    "parts.estimator": "Estimator Unsupervised",
    "parts.fitting": "Fitting",
    "parts.random_tree": "RandomTree",
    "parts.splits": "TreeNode",
    "parts.statements": "Bounds TargetClasses bounds_of decimal identifier literal select "
    "values_of",
}
"""What each module of the room gives to everybody."""

__all__ = [
    "PCA",
    "AssociationRule",
    "Bounds",
    "CategoricalNB",
    "Classifier",
    "Coarsening",
    "DecisionTree",
    "Estimator",
    "Fitting",
    "FrequentItemSets",
    "GaussianNB",
    "ItemSet",
    "KMeans",
    "LogisticRegression",
    "NoisyCount",
    "Perceptron",
    "RandomForest",
    "RandomTree",
    "TargetClasses",
    "TreeNode",
    "Unsupervised",
    "bounds_of",
    "decimal",
    "identifier",
    "literal",
    "model_named",
    "models",
    "select",
    "values_of",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
