"""A logistic regression that tells outputs of two inputs apart, for outputs of many numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from adomnia.audit.claims.events import Floats, Pair

__all__ = ["fit_classifier", "middles"]

ROWS = 8_000
REACH = 3.0
RIDGE = 1e-3
STEPS = 12
SMALL = 1e-6


def fit_classifier(tables: Pair) -> Callable[[Floats], Floats]:
    """The score of a table's rows, higher where they look like the second input's.

    The features are each coordinate's robust distance from the middle, cut off, and its sign:
    privacy losses of noise grow up to a bound, and then stay there.
    """
    sides = [table[:ROWS] for table in (tables.one, tables.other)]
    rows = np.vstack(sides)
    middle = middles(rows)
    missing = np.isnan(rows).any(axis=0)
    spread = middles(np.abs(rows - middle))
    spread = np.where(spread > 0, spread, 1.0)

    def features(table: Floats) -> Floats:
        scaled = np.clip((table - middle) / spread, -REACH, REACH)
        numbers = np.nan_to_num(scaled)
        parts = [numbers, np.sign(numbers), np.isnan(scaled)[:, missing]]
        return np.column_stack([*parts, np.ones(len(table))])

    labels = np.repeat([0.0, 1.0], [len(side) for side in sides])
    weights = _fit(features(rows), labels)
    return lambda table: _scores(features(table), weights)


def middles(rows: Floats) -> Floats:
    """The median of each column's numbers; 0 where it has none."""
    shown = np.where(np.isnan(rows).all(axis=0), 0.0, rows)
    return np.asarray(np.nanmedian(shown, axis=0), np.float64)


def _fit(features: Floats, labels: Floats) -> Floats:
    """Weights of the penalised maximum likelihood, by Newton's steps, halved where they overshoot.

    Sums are written out: threads of a library for matrices wait for each other on busy machines.
    """
    weights = np.zeros(features.shape[1])
    penalty = RIDGE * len(labels)
    loss = math.inf
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(_scores(features, weights), -30, 30)))
        slope = np.einsum("ij,i->j", features, chance - labels) + penalty * weights
        heavy = features * (chance * (1 - chance))[:, None]
        bend = np.einsum("ij,ik->jk", heavy, features) + penalty * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        while (now := _loss(features, labels, weights - step, penalty)) > loss and any(step):
            step = np.where(np.abs(step) < SMALL, 0.0, step / 2)
        weights = weights - step
        if loss - now < SMALL * len(labels):
            break
        loss = now
    return weights


def _scores(features: Floats, weights: Floats) -> Floats:
    return np.asarray(np.einsum("ij,j->i", features, weights))


def _loss(features: Floats, labels: Floats, weights: Floats, penalty: float) -> float:
    scores = _scores(features, weights)
    misfit = (np.logaddexp(0, scores) - labels * scores).sum()
    return float(misfit + penalty * (weights**2).sum() / 2)
