"""Logistic regression, additive in groups of each attribute, from one noisy table.

Gradient and curvature of the loss are sums over the table's cells: statistical queries that were
all answered by one question, so the optimiser may take as many steps as it likes
(`logistic_regression.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mining.parts.additive_scores import curvature, scores, step_sums
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.classifier import TableClassifier
from adomnia.mining.parts.coarsening import ABSENT
from adomnia.mining.parts.contingency import ContingencyTable
from adomnia.mining.parts.fitting import Fitting

__all__ = ["LogisticRegression"]

LEAST = 0.01
"""A penalty that only keeps weights finite."""

STEPS, HALVED, FAR = 50, 20, 5.0
"""How long and how carefully the maximum is looked for."""

CLOSE = 0.1
"""A step that makes the counts likelier by a smaller factor, in nats, is the last; to chance alone
each coefficient owes half a nat."""


class LogisticRegression(TableClassifier):
    """Multinomial logistic regression whose features are steps: "is the value past this cut?".

    Numbers are cut at `cuts` (points by column), or into `bins` of equal width, of which the data
    keeps a few. `penalty` is the weight of squared coefficients, in rows, beside what the noise
    asks for. `split` and `seed` as in `DecisionTree`. After `fit`, `coef_` has a row for each
    class and a column for each step, which `steps_` names; `intercept_` one number for each class.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = LogisticRegression().fit(database.session(), ["age"], "sex", epsilon=5)
    >>> model.coef_.shape == (2, len(model.steps_)), model.predict_proba([[30]]).shape
    (True, (1, 2))
    """

    coef_: Floats
    intercept_: Floats
    steps_: tuple[str, ...]

    def __init__(
        self,
        penalty: float = 1.0,
        bins: int = 16,
        cuts: Mapping[str, Sequence[float]] | None = None,
        split: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.penalty = penalty
        self.bins = bins
        self.cuts = cuts
        self.split = split
        self.seed = seed

    def check_parameters(self) -> None:
        """Refuse, by a QuestionError, a penalty, bins or a seed that no model can have."""
        super().check_parameters()
        if not isinstance(self.penalty, int | float) or not 0 <= self.penalty < np.inf:
            raise QuestionError("penalty must be a number that is not negative")

    def learn_table(self, fit: Fitting, table: ContingencyTable) -> None:
        """Find the coefficients that the counts make likeliest."""
        self.steps_ = tuple(
            axis.describe(end, axis.size) for axis in table.axes for end in range(1, axis.size)
        )
        if table.blind:  # few rows lie in few cells: most of the others are noise
            table = replace(table, counts=np.maximum(table.counts, 0.0))
        weights = _likeliest(table, float(self.penalty))
        self.intercept_, self.coef_ = weights[:, 0], weights[:, 1:]

    def decision_function(self, rows: Any) -> Floats:
        """The score of each class for each public row; a value without a group takes no step."""
        codes = self._codes(rows)
        taken = _steps(codes, [axis.size for axis in self.axes_])
        out: Floats = taken @ np.column_stack([self.intercept_, self.coef_]).T
        return out

    def predict_proba(self, rows: Any) -> Floats:
        """The probability of each class for each public row."""
        return _softmax(self.decision_function(rows))[0]

    def class_scores(self, rows: Any) -> Floats:
        """The scores: the likeliest class is predicted."""
        return self.decision_function(rows)


def _steps(codes: NDArray[np.int64], sizes: Sequence[int]) -> Floats:
    """One, and for each group after an axis's first whether the row is in it or past it."""
    parts = [np.ones((len(codes), 1))]
    for place, size in enumerate(sizes):
        here = codes[:, place : place + 1]
        parts.append(((here >= np.arange(1, size)) & (here != ABSENT)).astype(np.float64))
    return np.concatenate(parts, axis=1)


def _likeliest(found: ContingencyTable, penalty: float) -> Floats:
    """The penalised maximum of the likelihood by Newton's method, one row of weights per class.

    Counts are not clipped: clipped noise is no longer centred, and would add up over the cells.
    A weight is held back as by a normal prior of variance one: by the variance of the noise in its
    gradient over the curvature, both up to the same factor. Cells whose
    noisy rows are negative are left out of the curvature, so every step goes down.
    """
    sizes, rows = found.counts.shape[:-1], found.counts.sum(axis=-1)
    observed = step_sums(found.counts)
    feigned = found.variance * found.counts.size / len(observed) / max(float(rows.sum()), 1.0)
    held = np.full(observed.shape, max(penalty, LEAST) + feigned)
    held[:, 0] = LEAST + feigned

    def loss(weights: Floats) -> float:
        log_sums = _softmax(scores(weights, sizes))[1]
        data = (rows * log_sums).sum() - (observed * weights).sum()
        return float(data + (held * weights**2).sum() / 2)

    weights = np.zeros(observed.shape)
    for _ in range(STEPS):
        chances = _softmax(scores(weights, sizes))[0]
        slope = step_sums(chances * rows[..., None]) - observed + held * weights
        curve = _curvature(chances, np.maximum(rows, 0.0)) + np.diag(held.ravel())
        move = np.linalg.solve(curve, slope.ravel()).reshape(weights.shape)
        move = np.clip(move, -FAR, FAR)
        shorter = (weights - move / 2**k for k in range(HALVED))
        before = loss(weights)
        after = next((each for each in shorter if loss(each) < before), None)
        if after is None:
            break
        weights = after
        if before - loss(after) < CLOSE:
            break
    return weights


def _curvature(chances: Floats, rows: Floats) -> Floats:
    """The second derivatives of the loss: one block for each pair of classes."""
    classes = chances.shape[-1]
    pairs = list(combinations_with_replacement(range(classes), 2))
    weight = [chances[..., a] * ((a == b) - chances[..., b]) for a, b in pairs]
    shared = curvature(np.stack(weight, axis=-1) * rows[..., None])
    width = shared.shape[1]
    out = np.zeros((classes, width, classes, width))
    for (a, b), block in zip(pairs, shared, strict=True):
        out[a, :, b] = out[b, :, a] = block
    return out.reshape(classes * width, classes * width)


def _softmax(found: Floats) -> tuple[Floats, Floats]:
    """Probabilities by class, and the logarithms of the sums that they were divided by."""
    top = found.max(axis=-1, keepdims=True)
    powers = np.exp(found - top)
    sums = powers.sum(axis=-1, keepdims=True)
    return powers / sums, (top + np.log(sums))[..., 0]
