"""Naive Bayes: counts, means and variances by class, each asked once (`naive_bayes.md`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.classifier import Classifier
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.moments import (
    CHUNK,
    GroupKey,
    PositionMoments,
    ask_moments,
    onto_simplex,
    scale_of,
    shrunk,
)
from adomnia.mining.parts.statements import (
    MOST_VALUES,
    Bounds,
    TargetClasses,
    bounds_of,
    identifier,
    select,
    values_of,
)
from adomnia.schema.domain import Value

__all__ = ["CategoricalNB", "GaussianNB"]


class _Bayes(Classifier):
    """What both have in common: classes, their shares, and the choice of the likeliest."""

    fewest_classes: ClassVar[int] = 1
    most_classes: ClassVar[int] = MOST_VALUES
    class_prior_: Floats

    def joint_log_likelihood(self, rows: Any) -> Floats:
        """The logarithm of each class's share times the likelihood of the row in it."""
        raise NotImplementedError

    def class_scores(self, rows: Any) -> Floats:
        """The joint logarithms: the likeliest class is predicted."""
        return self.joint_log_likelihood(rows)

    def predict_proba(self, rows: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        joint = self.joint_log_likelihood(rows)
        likelihood = np.exp(joint - joint.max(axis=1, keepdims=True))
        out: Floats = likelihood / likelihood.sum(axis=1, keepdims=True)
        return out

    def _share_out(self, rows: Floats, noise: float) -> None:
        """The classes' shares; one that noise may have made empty keeps the share of half a row."""
        kept = np.maximum(rows, max(0.5, noise / 10))
        self.class_prior_ = kept / kept.sum()


class GaussianNB(_Bayes):
    """Naive Bayes with normal features: three moments of each feature by class.

    `split` has one part, `moments`. `smoothing` is the least standard deviation, as a share of a
    feature's bounds. After `fit`, `theta_` and `var_` have a row for each class, and
    `class_prior_` its share.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = GaussianNB().fit(database.session(), ["age", "income"], "sex", epsilon=5)
    >>> model.theta_.shape, model.predict_proba([[30, 700]]).shape
    ((2, 2), (1, 2))
    """

    theta_: Floats
    var_: Floats

    def __init__(self, smoothing: float = 1e-3, split: Mapping[str, Any] | None = None) -> None:
        self.smoothing = smoothing
        self.split = split

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """The moments are all that is asked."""
        return {"moments": 1}

    def questions(self, features: Sequence[str]) -> int:
        """One statement has a limited number of columns."""
        return 1 + (len(features) - 1) // CHUNK

    def learn(self, fit: Fitting, classes: TargetClasses) -> None:
        """Ask for the moments by class, and keep them as `theta_` and `var_`."""
        bounds = bounds_of(fit.session, fit.features)
        groups = GroupKey(identifier(classes.name), classes.values)
        found = ask_moments(fit, bounds, self.split_["moments"], groups)
        self._keep(found, bounds, fit)

    def _keep(self, found: PositionMoments, bounds: Sequence[Bounds], fit: Fitting) -> None:
        self._share_out(found.rows, found.scale)
        off = found.scale / found.rows[:, None]  # the standard deviation of a mean's noise
        scatter = found.mean.var(axis=0, ddof=1) if len(self.classes_) > 1 else np.zeros(1)
        between = max(0.0, float(np.mean(scatter - (off**2).mean(axis=0))))  # in all features
        mean, left = shrunk(found.mean, off, between / 4)
        variance, _ = shrunk(found.variance, np.minimum(off, 1.0))
        floor = max(self.smoothing, 1e-9) ** 2 + (np.minimum(off, 1.0) / 4) ** 2
        width = np.array([float(bound.width) for bound in bounds])
        low = np.array([float(bound.low) for bound in bounds])
        step = np.array([float(bound.step) for bound in bounds])
        least = np.maximum(step**2 / 12, 1e-18)
        self.theta_ = low + width * np.clip(mean, 0.0, 1.0)
        self.var_ = np.maximum(width**2 * (np.maximum(variance, floor) + left), least)
        if off.min() > 0.5:
            fit.note("the noise is wider than the classes can be apart: use a larger epsilon")

    def joint_log_likelihood(self, rows: Any) -> Floats:
        """The logarithm of each class's share times the normal densities of the row in it."""
        values = self.numbers(rows)[:, None, :]
        terms = np.log(2 * np.pi * self.var_) + (values - self.theta_) ** 2 / self.var_
        out: Floats = np.log(self.class_prior_) - terms.sum(axis=2) / 2
        return out


class CategoricalNB(_Bayes):
    """Naive Bayes with listed values: one table of counts by class and value for each feature.

    `split` gives weights to features by name; without it they share evenly. `alpha` rows are added
    to each value's count, as in Laplace's rule. After `fit`, `feature_log_prob_` has a table of
    classes by values for each feature, in the order of `values_`.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = CategoricalNB().fit(database.session(), ["region"], "sex", epsilon=5)
    >>> model.feature_log_prob_["region"].shape, model.predict([[3]])[0] in ("F", "M")
    ((2, 4), True)
    """

    feature_log_prob_: dict[str, Floats]
    values_: dict[str, tuple[Value, ...]]

    def __init__(self, alpha: float = 1.0, split: Mapping[str, Any] | None = None) -> None:
        self.alpha = alpha
        self.split = split

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """A part for each feature."""
        return dict.fromkeys(fit.features, 1)

    def questions(self, features: Sequence[str]) -> int:
        """A table for each feature."""
        return len(features)

    def learn(self, fit: Fitting, classes: TargetClasses) -> None:
        """Ask for one table a feature, and keep the logarithms of its shares by class."""
        self.values_ = {name: values_of(fit.session, name) for name in fit.features}
        self._keep({name: self._ask(fit, name, classes.name) for name in fit.features})

    def _ask(self, fit: Fitting, name: str, target: str) -> tuple[Floats, float]:
        """The noisy counts by class and value, and the scale of their noise."""
        share = self.split_[name]
        shape = (len(self.classes_), len(self.values_[name]))
        if share == 0:
            return np.zeros(shape), np.inf
        keys = {"y": identifier(target), "x": identifier(name)}
        sql = select(fit.session, {"n": "COUNT(*)"}, keys=keys)
        answer = fit.ask(sql, share, name)
        counts = {(y, x): n for y, x, n in answer.rows}
        table = [[counts[y, x] for x in self.values_[name]] for y in self.classes_.tolist()]
        return np.array(table, np.float64), scale_of(answer)

    def _keep(self, asked: Mapping[str, tuple[Floats, float]]) -> None:
        """Every table counts the same rows by class: their totals are averaged by precision."""
        precision = {n: 1 / (t.shape[1] * max(s, 1e-9) ** 2) for n, (t, s) in asked.items()}
        total = sum(precision.values())
        rows = sum(w * asked[n][0].sum(axis=1) for n, w in precision.items()) / total
        rows = np.maximum(np.asarray(rows), 1.0)
        self._share_out(rows, total**-0.5)
        self.feature_log_prob_ = {}
        for name, (table, scale) in asked.items():
            if precision[name] == 0:
                self.feature_log_prob_[name] = np.zeros_like(table)
                continue
            counts = onto_simplex(table, rows) + self.alpha
            share = counts / counts.sum(axis=1, keepdims=True)
            share, _ = shrunk(share, scale / rows[:, None])
            share = np.maximum(share, self.alpha / (rows[:, None] + self.alpha * share.shape[1]))
            self.feature_log_prob_[name] = np.log(share / share.sum(axis=1, keepdims=True))

    def joint_log_likelihood(self, rows: Any) -> Floats:
        """The logarithm of each class's share times those of its values; unknown ones count not."""
        columns = self.columns(rows)
        joint = None
        for name, column in columns.items():
            place = {value: index for index, value in enumerate(self.values_[name])}
            known = np.array([place.get(_plain(value), -1) for value in column])
            logs = np.where(known[:, None] >= 0, self.feature_log_prob_[name].T[known], 0.0)
            joint = logs if joint is None else joint + logs
        assert joint is not None
        out: Floats = joint + np.log(self.class_prior_)
        return out


def _plain(value: Any) -> Any:
    """A value of a NumPy column as Python's own; whole floats as whole numbers."""
    plain = value.item() if isinstance(value, np.generic) else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain
