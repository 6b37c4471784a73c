"""Classifiers: one way to fit them all, and those that are made of one noisy table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.coarsening import Coarsening, axes_of
from adomnia.mining.parts.contingency import SPLIT, ContingencyTable, ask_contingency
from adomnia.mining.parts.estimator import Estimator
from adomnia.mining.parts.fitting import Fitting, Watch, check_whole
from adomnia.mining.parts.statements import TargetClasses, classes_of
from adomnia.privacy.loss import Amount

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["Classifier", "TableClassifier"]


class Classifier(Estimator):
    """The base of models that tell classes apart; `classes_` has them in their order.

    One's own says in `learn` what it asks, and in `class_scores` how it decides. The target must
    have from `fewest_classes` to `most_classes` public values.

    >>> from adomnia.mining import DecisionTree
    >>> issubclass(DecisionTree, Classifier)
    True
    """

    _estimator_type = "classifier"

    fewest_classes: ClassVar[int] = 2
    most_classes: ClassVar[int] = 100
    classes_: NDArray[Any]

    def fit(
        self,
        session: Session,
        features: Sequence[str],
        target: str,
        *,
        epsilon: Amount,
        progress: bool | Watch = False,
    ) -> Self:
        """Learn to tell the classes of the target from the features; returns the model.

        `epsilon` is the most that is spent, shared over the parts of `split`. `progress` shows a
        bar, or is a function that is told each step. Raises a QuestionError, before anything is
        spent, for columns or parameters with which it cannot be fitted; and what the session
        raises, as a BudgetError, with what was spent before it. Then the model is unfitted.
        """

        def learn(fit: Fitting) -> None:
            limits = (self.fewest_classes, self.most_classes)
            classes = classes_of(session, target, fit.features, limits)
            self.classes_ = np.array(classes.values)
            self.learn(fit, classes)

        return self._fit(session, features, (epsilon, progress), learn)

    def learn(self, fit: Fitting, classes: TargetClasses) -> None:
        """Ask by `fit.ask`, each part of `split_` for its epsilon, and keep what was learned."""
        raise NotImplementedError

    def class_scores(self, rows: Any) -> Floats:
        """A number for each public row and class: the class with the largest is predicted."""
        raise NotImplementedError

    def predict(self, rows: Any) -> NDArray[Any]:
        """The class of each public row; the first of `classes_` where two are as likely.

        Raises a QuestionError for rows that are not the features', and where it is not fitted.
        """
        found: NDArray[Any] = self.classes_[np.argmax(self.class_scores(rows), axis=1)]
        return found

    def score(self, rows: Any, truth: Sequence[Any]) -> float:
        """The share of public rows whose class is predicted."""
        return float(np.mean(self.predict(rows) == np.asarray(truth)))


class TableClassifier(Classifier):
    """The base of models made of one noisy joint table of coarsened attributes (`contingency.md`).

    They share the parameters of the table, asking for it, and rows as its cells.
    """

    bins: int
    cuts: Mapping[str, Sequence[float]] | None
    seed: int
    axes_: tuple[Coarsening, ...]

    def check_parameters(self) -> None:
        """Refuse bins and seeds that no table can have."""
        check_whole("bins", self.bins, 2)
        check_whole("seed", self.seed, 0)

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """Counts of the classes, tables to find good attributes by, and the joint table."""
        return SPLIT

    def questions(self, features: Sequence[str]) -> int:
        """A table for each attribute, the classes, and the joint table."""
        return len(features) + 2

    def learn(self, fit: Fitting, classes: TargetClasses) -> None:
        """Ask for the table of the attributes that tell most, in few groups; `axes_` has these."""
        axes = axes_of(fit.session, fit.features, self.bins, self.cuts)
        table = ask_contingency(fit, axes, classes, self.split_, self.seed)
        self.axes_ = table.axes
        self.learn_table(fit, table)

    def learn_table(self, fit: Fitting, table: ContingencyTable) -> None:
        """Make the model of the table; nothing need be asked any more."""
        raise NotImplementedError

    def predict_proba(self, rows: Any) -> Floats:
        """The probability of each class for each public row, in the order of `classes_`."""
        raise NotImplementedError

    def class_scores(self, rows: Any) -> Floats:
        """The probabilities of the classes."""
        return self.predict_proba(rows)

    def _codes(self, rows: Any) -> NDArray[np.int64]:
        """The groups of public rows, a column for each axis of the table."""
        columns = self.columns(rows)
        return np.column_stack([axis.codes(columns[axis.name]) for axis in self.axes_])
