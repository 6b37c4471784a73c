"""The exponential mechanism's better sister: permute-and-flip, drawn exactly (`select.md`).

One of many candidates, nearly the best by a score that depends on the data. Every candidate
tosses a coin of odds exp(-eta * gap), and one of those that show heads is taken at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.exponential import CHUNK, exponentials, under
from adomnia.mechanisms.randomness import SYSTEM, Bits, narrow
from adomnia.privacy.loss import Amount, exact

__all__ = [
    "best_split",
    "lattice",
    "most_frequent",
    "permute_and_flip",
    "rate",
    "score_margin",
    "select",
    "split_scores",
]

T = TypeVar("T")
Scores = NDArray[Any] | Sequence[int] | Sequence[int | Fraction]
SAFE = 1 << 61
WIDTH = 16
SLACK = 2e-12
"""Floats of exp(-x) are right to 1e-12 of themselves (`exponential.md`); the rest is rounding."""


def select(
    candidates: Sequence[T],
    score: Callable[[T], int | Fraction] | Scores,
    sensitivity: Amount,
    epsilon: Amount,
    bits: Bits = SYSTEM,
    monotone: bool = False,
) -> T:
    """A candidate with a high score, chosen epsilon-privately (`select.md`).

    `score` is a function of a candidate, or all scores in the candidates' order: whole numbers
    or fractions. A neighbour moves each by at most `sensitivity`; `monotone` says that it never
    raises one and lowers another, and halves the error. The candidates are public.
    """
    if not len(candidates):
        raise QuestionError("there is nothing to choose from: the list of candidates is empty")
    scores = list(map(score, candidates)) if callable(score) else score
    whole, step = lattice(scores)
    if whole.shape != (len(candidates),):
        raise QuestionError("every candidate has one score")
    eta = rate(sensitivity, epsilon, monotone) * step
    return candidates[permute_and_flip(whole.max() - whole, eta, bits)]


def rate(sensitivity: Amount, epsilon: Amount, monotone: bool = False) -> Fraction:
    """Eta, the price of one unit of score: epsilon over the sensitivity, or over twice of it."""
    times = 1 if monotone else 2
    return exact(epsilon) / (times * exact(sensitivity, "sensitivity"))


def lattice(scores: Scores) -> tuple[NDArray[Any], Fraction]:
    """The scores as whole multiples of one step, and the step; int64 where differences fit."""
    if isinstance(scores, np.ndarray) and scores.dtype.kind in "iu":
        return _fitted(scores), Fraction(1)
    listed = [_rational(score) for score in _listed(scores)]
    below = math.lcm(*(score.denominator for score in listed))
    whole = np.array([score.numerator * (below // score.denominator) for score in listed], object)
    return _fitted(whole), Fraction(1, below)


def _listed(scores: Scores) -> Iterable[Any]:
    return scores.tolist() if isinstance(scores, np.ndarray) else scores


def _rational(score: object) -> Fraction | int:
    """The score, if it is exact; a sensitivity says nothing about rounded ones, or about NaN."""
    if isinstance(score, (int, np.integer)):
        return int(score)
    if isinstance(score, Fraction):
        return score
    raise QuestionError(
        "scores are whole numbers or fractions",
        hint="count in steps of a lattice in the place of floating point; NaN is no score",
    )


def _fitted(whole: NDArray[Any]) -> NDArray[Any]:
    fits = whole.size == 0 or (whole.min() > -SAFE and whole.max() < SAFE)
    return whole.astype(np.int64 if fits else object, copy=False)


def permute_and_flip(gaps: NDArray[Any], eta: Fraction, bits: Bits = SYSTEM) -> int:
    """The place of the first heads, in random order, of coins with odds exp(-eta * gap).

    Gaps are integers >= 0 and one of them is 0. The order is as good as drawn: one of all heads
    is taken, each with the same probability (`select.md`, lemma 1).
    """
    heads = _heads(gaps, eta, bits)
    return int(heads[bits.below(heads.size)])


def _heads(gaps: NDArray[Any], eta: Fraction, bits: Bits) -> NDArray[np.intp]:
    """Where a uniform number is below exp(-eta * gap); floats decide only what is certain."""
    drawn = narrow(bits, gaps.size, np.uint16)
    found = np.empty(gaps.size, bool)
    for start in range(0, gaps.size, CHUNK):
        part = slice(start, start + CHUNK)
        first = drawn[part].astype(np.float64)
        odds = exponentials(gaps[part], eta) * (1 << WIDTH)
        found[part] = first + 1 <= odds * (1 - SLACK)
        for doubt in np.flatnonzero((first < odds * (1 + SLACK)) & ~found[part]) + start:
            found[doubt] = under(int(drawn[doubt]), WIDTH, eta * int(gaps[doubt]), bits)
    return np.flatnonzero(found)


def score_margin(
    candidates: int,
    sensitivity: Amount,
    epsilon: Amount,
    confidence: float,
    monotone: bool = False,
) -> Fraction:
    """By how much the choice may fall short of the best score, with this confidence, on any data.

    log((C - 1) / (2 beta)) / eta (`select.md`, claim 4), rounded up.
    """
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    if candidates < 1:
        raise ValueError("there is at least one candidate")
    odds = (candidates - 1) / (2 * (1 - Fraction(str(confidence))))
    if odds <= 1:
        return Fraction(0)
    logarithm = math.log(odds.numerator) - math.log(odds.denominator)
    return (Fraction(logarithm) + Fraction(1, 10**9)) / rate(sensitivity, epsilon, monotone)


def most_frequent(
    domain: Sequence[T],
    counts: Scores,
    epsilon: Amount,
    bits: Bits = SYSTEM,
    changed: bool = False,
) -> T:
    """A value that occurs (nearly) most often: the private mode of a public domain.

    `counts` are the rows of each value. Neighbours have a row more or less, or one `changed`.
    """
    return select(domain, counts, 1, epsilon, bits, monotone=not changed)


def best_split(
    counts: NDArray[Any], epsilon: Amount, bits: Bits = SYSTEM, changed: bool = False
) -> int:
    """A threshold that parts the classes (nearly) best: values below it go left.

    `counts[value, class]` are the rows of each value of a public grid; 1 <= threshold < values.
    """
    scores = split_scores(counts)
    return select(range(1, len(counts)), scores, 1, epsilon, bits, monotone=not changed)


def split_scores(counts: NDArray[Any]) -> NDArray[Any]:
    """For each threshold, the rows that are right if each side says its largest class."""
    if counts.ndim != 2 or counts.shape[1] < 1 or len(counts) < 2:
        raise QuestionError("a split needs counts of two values or more, by class")
    left = np.cumsum(lattice(counts.reshape(-1))[0].reshape(counts.shape), axis=0)
    scores: NDArray[Any] = left[:-1].max(axis=1) + (left[-1] - left[:-1]).max(axis=1)
    return scores
