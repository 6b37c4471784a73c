"""The perceptron, one statistical query after another (`perceptron.md`).

It starts between the two classes' noisy means; each step then asks for the sums of the rows that
the weights so far get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.errors import QuestionError
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.classifier import Classifier
from adomnia.mining.parts.fitting import Fitting, check_whole
from adomnia.mining.parts.statements import (
    Bounds,
    TargetClasses,
    bounds_of,
    decimal,
    identifier,
    literal,
    select,
)

__all__ = ["Perceptron"]

SPLIT = {"start": 0.5, "steps": 0.5}
FINE = 10**6
"""Weights are written with about six digits: they are public, so rounding them costs nothing."""


@dataclass(frozen=True)
class _Border:
    """Weights of positions: columns less `center`, in units of half their bounds."""

    bounds: tuple[Bounds, ...]
    classes: TargetClasses
    center: tuple[Fraction, ...]
    rows: float
    weights: Floats

    def middled(self, place: int) -> str:
        """A column from its center on, in SQL."""
        return f"({identifier(self.bounds[place].name)} - {decimal(self.center[place])})"

    def side(self) -> str:
        """A row's score in SQL, in whole multiples of a small unit."""
        half = _half(self.bounds)
        unit = FINE / max(float(np.abs(self.weights).max()), 1e-12) * max(1.0, float(half.max()))
        whole = [round(unit * weight) for weight in self.weights[1:] / half]
        terms = [f"{decimal(Fraction(w))} * {self.middled(i)}" for i, w in enumerate(whole)]
        return " + ".join([*terms, decimal(Fraction(round(unit * self.weights[0])))])

    def sign(self) -> str:
        """1 for rows of the second class, -1 for the first: in a sum the sign costs nothing."""
        column, second = identifier(self.classes.name), literal(self.classes.values[1])
        return f"CASE WHEN {column} = {second} THEN 1 ELSE -1 END"

    def wrong(self) -> str:
        """The rows on the other class's side of the border."""
        column, (first, second) = identifier(self.classes.name), self.classes.values
        below, above = f"{column} = {literal(first)}", f"{column} = {literal(second)}"
        side = self.side()
        return f"({above} AND {side} <= 0) OR ({below} AND {side} > 0)"


class Perceptron(Classifier):
    """A linear border between two classes: between their means first, then moved `steps` times.

    Numbers are taken in units of half their bounds, so every feature weighs alike. `split` weighs
    `start` and `steps`; with `steps` 0 all goes to the start, which is best where noise is much.
    After `fit`, `coef_` and `intercept_` are for the columns as they are.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = Perceptron().fit(database.session(), ["age", "income"], "sex", epsilon=5)
    >>> model.coef_.shape, model.decision_function([[30, 700]]).shape
    ((2,), (1,))
    """

    coef_: Floats
    intercept_: float

    def __init__(self, steps: int = 3, split: Mapping[str, Any] | None = None) -> None:
        self.steps = steps
        self.split = split

    def check_parameters(self) -> None:
        """Refuse a number of steps that is none."""
        check_whole("steps", self.steps, 0)

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """The start, and the steps where there are any."""
        return SPLIT if self.steps else {"start": 1}

    def questions(self, features: Sequence[str]) -> int:
        """The start, and each step."""
        return 1 + self.steps

    def learn(self, fit: Fitting, classes: TargetClasses) -> None:
        """Ask for the start and the steps; the border is the mean of those of the later half.

        Raises a QuestionError where the target has not two classes, or the start no part of the
        budget.
        """
        if len(classes.values) != 2:
            raise QuestionError(
                f"a perceptron tells two classes apart, {classes.name!r} has {len(classes.values)}",
                "use LogisticRegression or DecisionTree",
            )
        if not self.split_["start"]:
            raise QuestionError("the start needs a part of the budget", "give start a weight")
        bounds = bounds_of(fit.session, fit.features)
        border = _start(fit, bounds, classes, self.split_["start"])
        taken = [border.weights]
        for step in range(self.steps if self.split_.get("steps") else 0):
            border = _step(fit, border, self.split_["steps"] / self.steps, step)
            taken.append(border.weights)
        self._keep(np.mean(taken[len(taken) // 2 :], axis=0), border)

    def _keep(self, weights: Floats, border: _Border) -> None:
        """The weights of the columns themselves, not of positions between their bounds."""
        self.coef_ = weights[1:] / _half(border.bounds)
        center = np.array([float(point) for point in border.center])
        self.intercept_ = float(weights[0] - self.coef_ @ center)

    def decision_function(self, rows: Any) -> Floats:
        """On which side of the border each public row lies: above zero is the second class."""
        out: Floats = self.numbers(rows) @ self.coef_ + self.intercept_
        return out

    def class_scores(self, rows: Any) -> Floats:
        """Nothing for the first class, and for the second on which side of the border a row is."""
        side = self.decision_function(rows)
        return np.column_stack([np.zeros(len(side)), side])


def _half(bounds: Sequence[Bounds]) -> Floats:
    return np.array([float(bound.width) / 2 or 1.0 for bound in bounds])


def _start(
    fit: Fitting, bounds: tuple[Bounds, ...], classes: TargetClasses, epsilon: Fraction
) -> _Border:
    """The border half way between the classes' means, across the line from one to the other."""
    middle = tuple((bound.low + bound.high) / 2 for bound in bounds)
    border = _Border(bounds, classes, middle, 1.0, np.zeros(len(bounds) + 1))
    outputs = {f"s{i}": f"SUM({border.middled(i)})" for i in range(len(bounds))}
    sql = select(
        fit.session, {"n": "COUNT(*)", **outputs}, keys={"class": identifier(classes.name)}
    )
    by_class = {row[0]: row[1:] for row in fit.ask(sql, epsilon, "start").rows}
    table = np.array([by_class[value] for value in classes.values], np.float64)
    rows = np.maximum(table[:, 0], 1.0)
    sums = table[:, 1:] / _half(bounds)
    means = np.clip(sums / rows[:, None], -1.0, 1.0)
    center = np.clip(sums.sum(axis=0) / rows.sum(), -1.0, 1.0)
    across = means[1] - means[0]
    weights = np.concatenate([[-across @ (means.mean(axis=0) - center)], across])
    moved = tuple(
        point + bound.step * round(half * float(shift / bound.step))
        for point, bound, half, shift in zip(
            middle, bounds, _half(bounds).tolist(), center.tolist(), strict=True
        )
    )
    return _Border(bounds, classes, moved, float(rows.sum()), weights)


def _step(fit: Fitting, border: _Border, epsilon: Fraction, step: int) -> _Border:
    """The weights, moved by the mean of the rows that they get wrong."""
    sign, count = border.sign(), len(border.bounds)
    outputs = {"s": f"SUM({sign})"}
    outputs |= {f"s{i}": f"SUM(({sign}) * {border.middled(i)})" for i in range(count)}
    sql = select(fit.session, outputs, where=border.wrong())
    row = np.array(fit.ask(sql, epsilon, f"step {step + 1}").rows[0], np.float64)
    moved = row / np.concatenate([[1.0], _half(border.bounds)]) / border.rows
    return replace(border, weights=border.weights + moved / (1 + step) ** 0.5)
