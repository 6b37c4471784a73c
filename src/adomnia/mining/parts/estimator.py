"""Estimators: scikit-learn's manners for models that see the data through a session alone.

A model is fitted by questions that the session prices, pays and answers; what is kept are their
noisy answers and what follows from them. So the privacy of a fitted model is the session's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.answers.answer import Answer
from adomnia.curator.planning.plan import LossRequest, Plan, make_plan
from adomnia.errors import AdomniaError, QuestionError
from adomnia.privacy.loss import Amount, exact

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["Classifier", "Estimator", "Fitting", "Watch", "check_whole", "shares"]

Watch = Callable[[str, int, int], None]
"""What a fit calls as it goes on: the step's name, how many are done, how many there are."""


def shares(
    epsilon: Amount, split: Mapping[str, Any] | None, default: Mapping[str, Any]
) -> dict[str, Fraction]:
    """The epsilon of each part of a fit: weights by name, which need not sum to one.

    A part with weight 0 is not asked; a name that is left out has weight 0.
    """
    weights = default if split is None else split
    if not isinstance(weights, Mapping) or not set(weights) <= set(default):
        raise QuestionError(
            "split must give a weight to parts of the budget by name",
            "the parts are: " + ", ".join(default),
        )
    parts = {name: Fraction(str(weights.get(name, 0))) for name in default}
    if min(parts.values()) < 0 or sum(parts.values()) == 0:
        raise QuestionError("the weights of split must not be negative, nor all zero")
    total = exact(epsilon)
    return {name: total * part / sum(parts.values()) for name, part in parts.items()}


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse a parameter that is not a whole number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise QuestionError(f"{name} must be a whole number of at least {least}")


@dataclass
class Fitting:
    """One fit under way: asks the session, counts what was spent, tells who watches."""

    session: Session
    watch: Watch
    total: int
    spent: Fraction = Fraction(0)
    done: int = 0
    notes: list[str] = field(default_factory=list)

    def ask(self, sql: str, epsilon: Amount, name: str = "") -> Answer:
        """A private answer, paid by the session; a refusal says what was spent before it."""
        try:
            answer = self.session.ask(sql, epsilon=epsilon)
        except AdomniaError as error:
            error.message += f" (spent by this fit before: epsilon = {self.spent})"
            raise
        self.spent += answer.spent["epsilon"]
        self.done += 1
        self.watch(name, self.done, max(self.total, self.done))
        return answer

    def plan(self, sql: str, epsilon: Amount) -> Plan:
        """What the session would do for an answer: noise and its scale, which are public."""
        desk = self.session.desk
        _, known = desk.public()
        return make_plan(desk.bind(sql), desk.policy, LossRequest(exact(epsilon)), known)

    def note(self, text: str) -> None:
        """Something the fitted model should say beside its results, once."""
        if text not in self.notes:
            self.notes.append(text)


class Estimator:
    """The base of all models: parameters from `__init__`, fitted state in names that end in `_`.

    Every model has `fit(session, …, epsilon=…)`. After it `feature_names_in_` has the columns in
    the order in which `predict` takes them, `spent_` what was paid, `split_` the epsilon of each
    part, and `notes_` what should be known of the fit. A fit that fails leaves it unfitted.
    """

    _estimator_type: str | None = None  # scikit-learn's word for it

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
        """Change parameters by name; an unknown one is refused and nothing is changed."""
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

    # Fitting

    @contextmanager
    def fitting(
        self, session: Session, total: int, progress: bool | Watch = False
    ) -> Iterator[Fitting]:
        """A fit of about so many questions: state is set inside; if it fails, none is left."""
        self._forget()
        with _watching(type(self).__name__, total, progress) as watch:
            under_way = Fitting(session, watch, total)
            try:
                yield under_way
            except BaseException:
                self._forget()
                raise
        self.spent_ = under_way.spent
        self.notes_ = tuple(under_way.notes)

    def _takes(self, features: Sequence[str]) -> None:
        """The columns in the order in which `predict` takes them."""
        self.feature_names_in_ = np.array(list(features), dtype=object)
        self.n_features_in_ = len(features)

    def _forget(self) -> None:
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "spent_")

    def check_fitted(self) -> None:
        """Refuse what only a fitted model can do."""
        if not self.__sklearn_is_fitted__():
            raise QuestionError(
                f"this {type(self).__name__} is not fitted",
                "fit it first: model.fit(session, …, epsilon=…)",
            )

    # Public rows

    def columns(self, rows: Any) -> dict[str, NDArray[Any]]:
        """Public rows by feature: from a mapping or frame of columns, or rows in fitted order."""
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
        """Public rows as a matrix of numbers, in fitted order."""
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


class Classifier(Estimator):
    """The base of models that tell classes apart; `classes_` has them in their order."""

    _estimator_type = "classifier"

    classes_: NDArray[Any]

    def predict(self, rows: Any) -> NDArray[Any]:
        """The class of each public row."""
        raise NotImplementedError

    def score(self, rows: Any, truth: Sequence[Any]) -> float:
        """The share of public rows whose class is predicted."""
        return float(np.mean(self.predict(rows) == np.asarray(truth)))


def _wanted(names: Sequence[str]) -> str:
    return "the model takes: " + ", ".join(names[:30])


def _two_way(rows: Any) -> NDArray[Any]:
    table = np.asarray(rows)
    if table.dtype.kind in "US" and not isinstance(rows, np.ndarray):
        table = np.array(rows, dtype=object)  # a list with texts keeps its numbers as numbers
    if table.ndim != 2:
        raise QuestionError("rows must be a table with two dimensions", "for example [[1, 2]]")
    return table


@contextmanager
def _watching(name: str, total: int, progress: bool | Watch) -> Iterator[Watch]:
    """Who is told of each step: a function that was given, a bar, or nobody."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield lambda *_: None
    else:
        from rich.progress import Progress  # noqa: PLC0415 (slow to import)

        with Progress(transient=True) as bar:
            task = bar.add_task(name, total=total)
            yield lambda step, done, most: bar.update(
                task, description=f"{name}: {step}", completed=done, total=most
            )
