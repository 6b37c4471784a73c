"""How far a noisy count moves the odds between two worlds that are known by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MeanEstimate", "Odds", "log_smooth", "odds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
MOST_CELLS = 1 << 22  # above, counts are taken in groups of neighbours
ROUNDING = 1 + 1e-9  # odds of exp(epsilon) itself are not beyond it


@dataclass(frozen=True)
class MeanEstimate:
    """A mean over runs with its standard error."""

    mean: float
    se: float


@dataclass(frozen=True)
class Odds:
    """What an attacker has from one noisy count, if both worlds are equally likely before it.

    `success`: how often the likelier world is the true one. `log_odds_with`, `log_odds_without`:
    the expected log odds for the true world, in each. `beyond`: how often the odds, one way or the
    other, are above exp(epsilon).
    """

    scale: float
    success: MeanEstimate
    log_odds_with: MeanEstimate
    log_odds_without: MeanEstimate
    beyond: MeanEstimate


def odds(without: Ints, with_edge: Ints, scale: float, epsilon: float) -> Odds:
    """The odds that integer Laplace noise of this scale leaves, from runs of both worlds.

    The attacker learns the two laws from one half of the runs and is scored on the other, and the
    halves change places: so nobody is told a difference that chance has made (`influence.md`).
    """
    worlds = (without, with_edge)
    low, high = min(int(w.min()) for w in worlds), max(int(w.max()) for w in worlds)
    group = -(-(high - low + 1) // MOST_CELLS)
    cells = (high - low) // group + 1
    grouped = [(world - low) // group for world in worlds]
    halves = [[_seen(world[part::2], cells) for world in grouped] for part in (0, 1)]
    scores = [_scores(halves[1 - part], scale / group, epsilon) for part in (0, 1)]
    means = [[_weighed(halves, scores, kind, world) for world in (0, 1)] for kind in range(3)]
    right, away, toward = means[0], means[2], means[1]
    return Odds(scale, _middle(*right), toward[1], toward[0], _middle(*away))


def _seen(places: Ints, cells: int) -> Floats:
    """How often each place came."""
    return np.bincount(places, minlength=cells).astype(float)


def _scores(learned: list[Floats], scale: float, epsilon: float) -> list[list[Floats]]:
    """For each count and true world, what to expect under noise: a right guess, the log odds for
    the truth, and odds beyond exp(epsilon)."""
    with np.errstate(divide="ignore"):
        laws = [log_smooth(np.log(seen / seen.sum()), scale) for seen in learned]
    ratio = laws[1] - laws[0]
    guess = np.where(ratio > 0, 1.0, np.where(ratio < 0, 0.0, 0.5))
    right = _expected(guess, scale)
    toward = _expected(np.maximum(ratio, 0), scale) - _expected(np.maximum(-ratio, 0), scale)
    beyond = _expected((np.abs(ratio) > epsilon * ROUNDING).astype(float), scale)
    return [[1 - right, right], [-toward, toward], [beyond, beyond]]


def log_smooth(log_weights: Floats, scale: float, constant: bool = False) -> Floats:
    """The logarithm of sum_y exp(-|x - y| / scale) w(y) at each x, from log w(y).

    Beyond both ends w is 0, or `constant`: goes on as it ends. In logarithms nothing underflows.
    """
    places = np.arange(log_weights.size) / scale
    rest = -math.log(-math.expm1(-1 / scale)) if constant else 0.0
    sides = []
    for weights in (log_weights, log_weights[::-1]):
        begun = weights.copy()
        begun[0] += rest
        sides.append(np.logaddexp.accumulate(begun + places) - places)
    below, above = sides[0], sides[1][::-1]
    after = np.append(above[1:], log_weights[-1] + rest if constant else -np.inf)
    return np.asarray(np.logaddexp(below, after - 1 / scale))


def _expected(values: Floats, scale: float) -> Floats:
    """The mean of a function, not negative, of count + noise, for each count."""
    mass = math.log(math.tanh(1 / (2 * scale)))  # (1 - q) / (1 + q), q = exp(-1 / scale)
    with np.errstate(divide="ignore"):
        return np.exp(log_smooth(np.log(values), scale, constant=True) + mass)


def _weighed(
    halves: list[list[Floats]], scores: list[list[list[Floats]]], kind: int, world: int
) -> MeanEstimate:
    """The mean score of a world over both halves, each scored by what the other has taught."""
    runs = sum(int(half[world].sum()) for half in halves)
    moments = [
        sum(float(halves[part][world] @ scores[part][kind][world] ** power) for part in (0, 1))
        / runs
        for power in (1, 2)
    ]
    return MeanEstimate(moments[0], math.sqrt(max(0.0, moments[1] - moments[0] ** 2) / runs))


def _middle(one: MeanEstimate, other: MeanEstimate) -> MeanEstimate:
    return MeanEstimate((one.mean + other.mean) / 2, math.hypot(one.se, other.se) / 2)
