"""Random forests: trees drawn by lot, whose leaves are counted by class (`random_forest.md`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.errors import QuestionError
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.classifier import Classifier
from adomnia.mining.parts.coarsening import Coarsening, axes_of
from adomnia.mining.parts.contingency import NOISE
from adomnia.mining.parts.fitting import Fitting, check_whole
from adomnia.mining.parts.moments import ask_rows, scale_of
from adomnia.mining.parts.random_tree import KEPT, RandomTree, draw_tree
from adomnia.mining.parts.splits import shares_of
from adomnia.mining.parts.statements import TargetClasses, identifier, select

__all__ = ["RandomForest"]

SPLIT = {"rows": 1, "trees": 19}
MOST_TREES, MOST_DEPTH, LEAST = 10, 12, 1e-9
"""Each tree is a pass over the rows; more trees would add little that is worth its time."""


class RandomForest(Classifier):
    """Trees whose tests are drawn by lot (`seed`), and only whose leaves are asked for.

    `n_estimators` is the number of trees, which share the epsilon; without it as many are taken
    as the noise allows. Numbers are cut at `cuts` (points by column), or into `bins` of equal
    width. `split` weighs `rows` (how many there are) and `trees`. After `fit`, `trees_` has the
    trees, and `counts_` for each of them the noisy rows by leaf and class.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = RandomForest(3).fit(database.session(), ["age", "region"], "sex", epsilon=5)
    >>> len(model.trees_), model.predict_proba([[30, 2]]).shape
    (3, (1, 2))
    """

    trees_: tuple[RandomTree, ...]
    counts_: tuple[Floats, ...]

    def __init__(
        self,
        n_estimators: int | None = None,
        max_depth: int = 5,
        bins: int = 16,
        cuts: Mapping[str, Sequence[float]] | None = None,
        split: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.bins = bins
        self.cuts = cuts
        self.split = split
        self.seed = seed

    def check_parameters(self) -> None:
        """Refuse, by a QuestionError, numbers, depths, bins and seeds of no forest."""
        check_whole("max_depth", self.max_depth, 0)
        check_whole("bins", self.bins, 2)
        check_whole("seed", self.seed, 0)
        if self.n_estimators is not None:
            check_whole("n_estimators", self.n_estimators, 1)
        if self.max_depth > MOST_DEPTH:
            raise QuestionError(f"max_depth must be at most {MOST_DEPTH}")

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """How many rows there are, and the leaves of the trees."""
        return SPLIT

    def questions(self, features: Sequence[str]) -> int:
        """The rows, and each tree."""
        return 1 + (self.n_estimators or MOST_TREES)

    def learn(self, fit: Fitting, classes: TargetClasses) -> None:
        """Draw the trees and ask how many rows of each class lie in their leaves.

        Raises a QuestionError where the split leaves nothing for the trees.
        """
        axes = axes_of(fit.session, fit.features, self.bins, self.cuts)
        if not self.split_["trees"]:
            raise QuestionError("the trees need a part of the budget", "give trees a weight")
        self.trees_, self.counts_ = self._grow(fit, axes, classes)

    def predict_proba(self, rows: Any) -> Floats:
        """The mean over the trees of the share of each class in a public row's leaf."""
        columns = list(self.columns(rows).values())
        found = [
            shares_of(counts)[tree.leaves(columns)]
            for tree, counts in zip(self.trees_, self.counts_, strict=True)
        ]
        out: Floats = np.mean(found, axis=0)
        return out

    def class_scores(self, rows: Any) -> Floats:
        """The mean shares: the class that most of them speak for is predicted."""
        return self.predict_proba(rows)

    def _grow(
        self, fit: Fitting, axes: Sequence[Coarsening], classes: TargetClasses
    ) -> tuple[tuple[RandomTree, ...], tuple[Floats, ...]]:
        epsilon, draw = self.split_["trees"], np.random.default_rng(self.seed)
        rows = ask_rows(fit, self.split_["rows"])
        first = draw_tree(axes, self.max_depth, draw)
        count = self.n_estimators or self._affordable(fit, first, classes, rows)
        trees = (first, *(draw_tree(axes, self.max_depth, draw) for _ in range(count - 1)))
        fit.total = fit.done + count
        return trees, tuple(_leaves(fit, tree, classes, epsilon / count) for tree in trees)

    def _affordable(
        self, fit: Fitting, tree: RandomTree, classes: TargetClasses, rows: float
    ) -> int:
        """As many trees as leave the noise within the rows of a class that share a leaf."""
        noise = scale_of(fit.plan(_question(fit, tree, classes), self.split_["trees"]))
        together = rows / len(classes.values) * KEPT**self.max_depth
        if together < noise:
            fit.note(NOISE)
        return max(1, min(MOST_TREES, int(together / max(noise, LEAST))))


def _question(fit: Fitting, tree: RandomTree, classes: TargetClasses) -> str:
    keys = {"leaf": tree.expression(), "class": identifier(classes.name)}
    if tree.size == 1:
        del keys["leaf"]
    return select(fit.session, {"n": "COUNT(*)"}, keys=keys)


def _leaves(fit: Fitting, tree: RandomTree, classes: TargetClasses, epsilon: Fraction) -> Floats:
    """The noisy rows by leaf and class: one question, in which a row counts once."""
    code = {value: place for place, value in enumerate(classes.values)}
    counts = np.zeros((tree.size, len(classes.values)))
    for *leaf, value, count in fit.ask(_question(fit, tree, classes), epsilon, "tree").rows:
        if value is not None:
            counts[int(leaf[0]) if leaf else 0, code[value]] = count
    return counts
