"""Estimators: scikit-learn's manners for models that see the data through a session alone.

A model is fitted by questions that the session prices, pays and answers; what is kept are their
noisy answers and what follows from them. So the privacy of a fitted model is the session's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mining.parts.fitting import Fitting, Watch, shares, watching
from adomnia.mining.parts.statements import check_features
from adomnia.privacy.loss import Amount

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["Estimator", "Unsupervised"]


class Estimator:
    """The base of all models: parameters from `__init__`, fitted state in names that end in `_`.

    A model of one's own is an `Unsupervised` or a `Classifier`, and says what is its own in
    `learn`; and, where it has them, in `parts`, `check_parameters` and `questions`. Every model
    has `fit(session, …, epsilon=…)`. After it `feature_names_in_` has the columns in the order in
    which `predict` takes them, `spent_` what was paid, `split_` the epsilon of each part, and
    `notes_` what should be known of the fit. A fit that fails leaves it unfitted.

    >>> from adomnia.mining import KMeans
    >>> KMeans(3).set_params(steps=2)
    KMeans(n_clusters=3, steps=2, split=None, random_state=0)
    """

    _estimator_type: str | None = None  # scikit-learn's word for it

    split: Mapping[str, Any] | None = None
    feature_names_in_: NDArray[Any]
    n_features_in_: int
    split_: dict[str, Fraction]
    spent_: Fraction
    notes_: tuple[str, ...]

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given; `deep` is for scikit-learn, nothing is nested."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name, and return the model.

        An unknown one is refused by a QuestionError, and nothing is changed.
        """
        unknown = [name for name in params if name not in self._names()]
        if unknown:
            raise QuestionError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}",
                "it has: " + (", ".join(self._names()) or "none"),
            )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"

    # Fitting: what a model says of itself

    def check_parameters(self) -> None:
        """Refuse, by a QuestionError, parameters with which nothing can be fitted."""

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """The parts of a fit that share its epsilon, with their weights unless `split` has others.

        It may look at the declared columns; nothing has been asked then.
        """
        return {"all": 1}

    def questions(self, features: Sequence[str]) -> int:
        """About how many questions a fit asks, for who watches."""
        return 1

    def _fit(
        self,
        session: Session,
        features: Sequence[str],
        terms: tuple[Amount, bool | Watch],
        learn: Callable[[Fitting], None],
    ) -> Self:
        """The one way in which every model is fitted; if it fails, no state is left."""
        epsilon, progress = terms
        with self._fitting(session, features, progress) as fit:
            self.split_ = shares(epsilon, self.split, self.parts(fit))
            self.feature_names_in_ = np.array(fit.features, dtype=object)
            self.n_features_in_ = len(fit.features)
            learn(fit)
        return self

    @contextmanager
    def _fitting(
        self, session: Session, features: Sequence[str], progress: bool | Watch
    ) -> Iterator[Fitting]:
        self._forget()
        self.check_parameters()
        named = check_features(features)
        total = self.questions(named)
        with watching(type(self).__name__, total, progress) as watch:
            under_way = Fitting(session, named, watch, total)
            try:
                yield under_way
            except BaseException:
                self._forget()
                raise
        self.spent_ = under_way.spent
        self.notes_ = tuple(under_way.notes)

    def _forget(self) -> None:
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "spent_")

    def check_fitted(self) -> None:
        """Refuse, by a QuestionError, what only a fitted model can do."""
        if not self.__sklearn_is_fitted__():
            raise QuestionError(
                f"this {type(self).__name__} is not fitted",
                "fit it first: model.fit(session, …, epsilon=…)",
            )

    # Public rows

    def columns(self, rows: Any) -> dict[str, NDArray[Any]]:
        """Public rows by feature: from a mapping or frame of columns, or rows in fitted order.

        Raises a QuestionError where a column is missing, or rows have too few or too many.
        """
        self.check_fitted()
        names = [str(name) for name in self.feature_names_in_]
        if isinstance(rows, Mapping) or hasattr(rows, "columns"):
            held = rows.column_names if hasattr(rows, "column_names") else list(rows)
            absent = [name for name in names if name not in held]
            if absent:
                raise QuestionError(f"the rows have no column {absent[0]!r}", _wanted(names))
            return {name: np.asarray(rows[name]) for name in names}
        table = _two_way(rows)
        if table.shape[1] != len(names):
            raise QuestionError(f"the rows have {table.shape[1]} columns", _wanted(names))
        return {name: table[:, place] for place, name in enumerate(names)}

    def numbers(self, rows: Any) -> NDArray[np.float64]:
        """Public rows as a matrix of numbers, in fitted order.

        Raises a QuestionError where a value is missing or no number.
        """
        found = list(self.columns(rows).values())
        try:
            made = np.column_stack([np.asarray(column, np.float64) for column in found])
        except (TypeError, ValueError):
            raise QuestionError("the rows must hold numbers only") from None
        if np.isnan(made).any():
            raise QuestionError("a row has a value that is missing", "fill or drop such rows first")
        return made

    # scikit-learn

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's own description of an estimator; it asks for it, so it is there."""
        utils = import_module("sklearn.utils")  # an extra: nothing here needs it otherwise
        kind = self._estimator_type
        return utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags() if hasattr(self, "transform") else None,
            classifier_tags=utils.ClassifierTags() if kind == "classifier" else None,
        )


class Unsupervised(Estimator):
    """The base of models that are fitted on features alone; one's own says how in `learn`.

    >>> class Rows(Unsupervised):
    ...     def learn(self, fit):
    ...         (self.rows_,) = fit.ask(select(fit.session, {"n": "COUNT(*)"}), 1).rows[0]
    >>> from adomnia.mining import select
    >>> from adomnia.testing.worlds import town
    >>> with town(rows=100).open() as database:
    ...     model = Rows().fit(database.session(), ["age"], epsilon=1)
    >>> type(model.rows_), model.spent_
    (<class 'int'>, Fraction(1, 1))
    """

    def fit(
        self,
        session: Session,
        features: Sequence[str],
        *,
        epsilon: Amount,
        progress: bool | Watch = False,
    ) -> Self:
        """Learn from these columns by questions to the session; returns the model.

        `epsilon` is the most that is spent, shared over the parts of `split`. `progress` shows a
        bar, or is a function that is told each step. Raises a QuestionError, before anything is
        spent, for columns or parameters with which it cannot be fitted; and what the session
        raises, as a BudgetError, with what was spent before it. Then the model is unfitted.
        """
        return self._fit(session, features, (epsilon, progress), self.learn)

    def learn(self, fit: Fitting) -> None:
        """Ask by `fit.ask`, each part of `split_` for its epsilon, and keep what was learned."""
        raise NotImplementedError


def _wanted(names: Sequence[str]) -> str:
    return "the model takes: " + ", ".join(names[:30])


def _two_way(rows: Any) -> NDArray[Any]:
    table = np.asarray(rows)
    if table.dtype.kind in "US" and not isinstance(rows, np.ndarray):
        table = np.array(rows, dtype=object)  # a list with texts keeps its numbers as numbers
    if table.ndim != 2:
        raise QuestionError("rows must be a table with two dimensions", "for example [[1, 2]]")
    return table
