"""Classifiers that are made of one noisy joint table of coarsened attributes (`contingency.md`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mining.parts.coarsening import Coarsening, axes_of
from adomnia.mining.parts.contingency import SPLIT, ContingencyTable, ask_contingency, classes_of
from adomnia.mining.parts.estimator import Classifier, Fitting, check_whole, shares
from adomnia.privacy.loss import Amount

__all__ = ["TableClassifier"]


class TableClassifier(Classifier):
    """What such models share: the parameters of the table, asking for it, and rows as its cells."""

    bins: int
    cuts: Mapping[str, Sequence[float]] | None
    split: Mapping[str, Any] | None
    seed: int
    axes_: tuple[Coarsening, ...]

    def _check_table(self) -> None:
        check_whole("bins", self.bins, 2)
        check_whole("seed", self.seed, 0)

    def _ask_table(
        self, fit: Fitting, features: Sequence[str], target: str, epsilon: Amount
    ) -> ContingencyTable:
        """The table of the attributes that tell most, in few groups; `axes_` has these."""
        axes = axes_of(fit.session, features, self.bins, self.cuts)
        classes = classes_of(fit.session, target, features)
        self.split_ = shares(epsilon, self.split, SPLIT)
        self._takes(features)
        self.classes_ = np.array(classes.values)
        found = ask_contingency(fit, axes, classes, self.split_, self.seed)
        self.axes_ = found.axes
        return found

    def _codes(self, rows: Any) -> NDArray[np.int64]:
        """The groups of public rows, a column for each axis of the table."""
        columns = self.columns(rows)
        return np.column_stack([axis.codes(columns[axis.name]) for axis in self.axes_])
