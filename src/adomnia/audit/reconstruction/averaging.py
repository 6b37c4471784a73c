"""Averaging: noise that is drawn anew for the same question, or for people who are alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist, fmean, median, stdev
from typing import Any

import numpy as np

from adomnia.audit.correlation.correlation import KIFER, family_success
from adomnia.audit.finding import Finding, Rate, wilson
from adomnia.errors import BudgetError

__all__ = ["averaging", "family", "repeats_needed"]

DWORK = "Dwork, An Ad Omnia Approach to Defining and Achieving Private Data Analysis, PinKDD 2007"


def repeats_needed(epsilon: float, margin: float = 0.5, confidence: float = 0.95) -> int:
    """How many answers with Laplace(1/epsilon) noise have a mean within the margin.

    For a whole number, 30.7/epsilon² answers at 95 % (`averaging.md`).

    >>> repeats_needed(1.0), repeats_needed(0.1)
    (31, 3074)
    """
    return math.ceil(2 * (_quantile(confidence) / (margin * epsilon)) ** 2)


def averaging(
    ask: Callable[[str], float],
    condition: str,
    epsilon: float,
    repeats: int | None = None,
    truth: int | None = None,
) -> Finding:
    """Ask how many fulfil the condition again and again, and round the mean.

    `epsilon` is what each answer is thought to cost; without `repeats` as many are asked as that
    needs. A `BudgetError` of `ask` ends the attack. With the truth the guess is scored; without
    it, success is the probability that the guess is right, judged by how the answers scatter.

    Returns whether the guess is right, or how likely. Raises a ValueError where it shall be asked
    less than once.

    >>> averaging(lambda condition: 41.8, "age > 40", 1.0, repeats=3, truth=42).success.value
    1.0
    """
    planned = repeats_needed(epsilon) if repeats is None else repeats
    if planned < 1:
        raise ValueError("ask once or more")
    answers = _answers(ask, condition, planned)
    success = _success(answers, truth)
    details: dict[str, Any] = {
        "epsilon": epsilon,
        "planned": planned,
        "answers": len(answers),
        "mean": fmean(answers) if answers else None,
        "median": median(answers) if answers else None,
        "distinct": len(set(answers)),
        "spent": len(answers) * epsilon,
        "one_answer": -math.expm1(-epsilon / 2),
    }
    return Finding(
        attack="averaging",
        claim=f"{len(answers)} of {planned} repeats of one question were answered; the mean gives"
        f" the exact count with probability {success.value:.0%}.",
        affected="everybody whom the question is about",
        success=success,
        baseline=0.0,
        covered=True,
        source=DWORK,
        remedy="charge every answer to a budget, or give the same answer to the same question",
        details=details,
        complete=len(answers) == planned,
    )


def family(c: int, epsilon: float, trials: int = 10_000, seed: int = 0) -> Finding:
    """Is a family of c ill, where all are or none is? One count with Laplace(1/epsilon) noise.

    Everything else about the count is known, and both cases are as likely. The best guess is
    right with probability 1 - exp(-c epsilon / 2) / 2.
    """
    if c < 1 or trials < 1 or not 0 < epsilon < math.inf:
        raise ValueError("a family has one person or more, epsilon is positive, one trial or more")
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, trials)
    guess = c * ill + rng.laplace(0, 1 / epsilon, trials) > c / 2
    success = wilson(float((guess == ill).mean()), trials)
    formula = family_success(c, epsilon)
    return Finding(
        attack="family",
        claim=f"One count for epsilon {epsilon:g} tells whether a family of {c} is ill with"
        f" probability {success.value:.0%}; without it, 50%.",
        affected=f"families of {c} whose members are alike",
        success=success,
        baseline=0.5,
        covered=c == 1,
        source=KIFER,
        remedy=f"promise groups of {c}: the same protection as one person needs epsilon / {c}",
        details={"c": c, "epsilon": epsilon, "formula": formula, "odds_at_most": _exp(c * epsilon)},
    )


def _answers(ask: Callable[[str], float], condition: str, planned: int) -> list[float]:
    answers: list[float] = []
    try:
        while len(answers) < planned:
            answers.append(float(ask(condition)))
    except BudgetError:
        pass  # what was answered before stays answered
    return answers


def _success(answers: list[float], truth: int | None) -> Rate:
    if not answers:
        return Rate(0.0, 0.0, 1.0 if truth is None else 0.0)
    if truth is not None:
        right = float(round(fmean(answers)) == truth)
        return Rate(right, right, right)
    if len(set(answers)) == 1:
        # Either there is no noise or it is always the same: nobody outside can tell.
        return Rate(0.0, 0.0, 1.0)
    error = stdev(answers) / math.sqrt(len(answers))
    # Twice the standard error of a standard deviation under Laplace noise, sqrt(5/4n).
    doubt = min(0.99, 2 * math.sqrt(1.25 / len(answers)))
    value, low, high = (_within(error * factor) for factor in (1, 1 + doubt, 1 - doubt))
    return Rate(value, low, high)


def _within(error: float) -> float:
    """The probability that a normal mean with this standard error rounds to the truth."""
    return math.erf(0.5 / (error * math.sqrt(2)))


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _exp(power: float) -> float:
    """exp, or the greatest float where it would pass it: findings hold plain JSON numbers."""
    return math.exp(min(power, 700.0))
