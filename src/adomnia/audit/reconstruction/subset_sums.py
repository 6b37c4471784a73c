"""Dinur and Nissim's attack: random subset sums of a secret column, a linear program, rounding.

Each question is a coin per person; the answers are accurate to some noise; the column that is
closest to all of them, rounded, is the guess (`subset_sums.md`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding, Rate, wilson
from adomnia.audit.reconstruction.least_absolute import Closest, least_absolute
from adomnia.errors import QuestionError

__all__ = [
    "Ask",
    "SimulatedNoise",
    "balanced_secret",
    "majority",
    "questioner",
    "recovery",
    "subset_sums",
    "subset_sums_curve",
]

Floats = NDArray[np.float64]
Bits = NDArray[np.int64]
Ask = Callable[[NDArray[Any]], float]
"""A door: a weight for each person in, a noisy sum of the secret column out."""

PAPER = "Dinur and Nissim, Revealing information while preserving privacy, PODS 2003"
QUESTIONS = 2003
REMEDY = "noise of the order of sqrt(n) or a budget on the number of answers; adomnia has both"


@dataclass(frozen=True)
class SimulatedNoise:
    """Simulated noise on an answer: `uniform` in ±size, or `laplace` of the scale `size`."""

    kind: Literal["uniform", "laplace"]
    size: float

    def draw(self, many: int, chance: np.random.Generator) -> Floats:
        """Independent noise for many answers."""
        if self.kind == "uniform":
            return chance.uniform(-self.size, self.size, many)
        return chance.laplace(0, self.size, many)


def subset_sums(
    n: int,
    questions: int,
    noise: float | SimulatedNoise | Ask,
    seed: int = 0,
    time_limit: float = 60.0,
    truth: Sequence[int] | None = None,
) -> Finding:
    """Ask `questions` random subset sums of a column of n bits, and guess the column.

    `noise` is a number E (uniform in ±E), a `SimulatedNoise`, or a function that answers; with
    either of the first two the secret is drawn here, half of it ones, unless `truth` gives it.
    With a function `truth` only scores the guess, and without it the success is unknown. Raises
    a QuestionError where there is nobody to ask about.

    >>> subset_sums(32, 256, noise=1.0, seed=1).success.value
    1.0
    """
    _check(n, questions)
    end = time.monotonic() + time_limit
    chance = questioner(seed)
    if callable(noise):
        secret = None if truth is None else np.asarray(truth, np.int64)
        asked = chance.integers(0, 2, (questions, n)).astype(np.float64)
        answers = _asked(noise, asked, end)
    else:
        secret = balanced_secret(n, chance) if truth is None else np.asarray(truth, np.int64)
        asked = chance.integers(0, 2, (questions, n)).astype(np.float64)
        drawn = (
            noise if isinstance(noise, SimulatedNoise) else SimulatedNoise("uniform", float(noise))
        )
        answers = asked @ secret + drawn.draw(questions, chance)
    closest = least_absolute(asked[: len(answers)], answers, end - time.monotonic())
    return _finding(closest, secret, questions=questions, answered=len(answers))


def subset_sums_curve(
    n: int,
    questions: Sequence[int],
    noises: Sequence[float],
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """The share recovered for each number of questions and each bound E of uniform noise.

    The figures lie in `details["curve"]`; the success is that of the strongest attack made.

    Raises a QuestionError where no questions or noises are given, or no time.

    >>> found = subset_sums_curve(16, [16, 64], [1.0])
    >>> [row["questions"] for row in found.details["curve"]]
    [64, 16]
    """
    end = time.monotonic() + time_limit
    found: list[Finding] = []
    curve = []
    for noise in sorted(noises):
        for many in sorted(questions, reverse=True):
            left = end - time.monotonic()
            if left <= 0:
                break
            one = subset_sums(n, many, noise, seed, left)
            found.append(one)
            curve.append({"noise": noise, "questions": many, "recovered": one.success.value})
    if not found:
        raise QuestionError("nothing to attack", "give questions, noises and a time above zero")
    best = max(found, key=lambda one: one.success.value)
    complete = len(found) == len(questions) * len(noises) and all(one.complete for one in found)
    details = {"n": n, "curve": curve}
    return Finding(**{**vars(best), "details": details, "complete": complete})


def questioner(seed: int) -> np.random.Generator:
    """The attacker's own chance.

    It is apart from `default_rng(seed)`: a caller who draws a secret with that would otherwise be
    asked about exactly the people whose bit is 1.
    """
    return np.random.default_rng((seed, QUESTIONS))


def balanced_secret(n: int, chance: np.random.Generator) -> Bits:
    """A random column with as many ones as zeros, so that a guess from nothing hits one half."""
    return chance.permutation(np.arange(n, dtype=np.int64) % 2)


def majority(truth: Sequence[int] | Bits | None) -> float:
    """The share that somebody hits who guesses the more frequent bit for everybody.

    Without a truth nothing is known: one half.
    """
    if truth is None:
        return 0.5
    ones = float(np.mean(truth))
    return max(ones, 1 - ones)


def recovery(guess: Bits, truth: Sequence[int] | Bits | None) -> Rate:
    """The share of people guessed right, with Wilson's interval.

    Without a truth nothing is known: one half, anywhere from 0 to 1.
    """
    if truth is None:
        return Rate(0.5, 0.0, 1.0)
    secret = np.asarray(truth, np.int64)
    if secret.shape != guess.shape or ((secret != 0) & (secret != 1)).any():
        raise QuestionError("the truth is one bit for each person", "give 0 or 1, in their order")
    return wilson(float((guess == secret).mean()), guess.size)


def _check(n: int, questions: int) -> None:
    if n < 1 or questions < 1:
        raise QuestionError("an attack needs people and questions", "give both at least as 1")


def _asked(ask: Ask, asked: Floats, end: float) -> Floats:
    """The answers to the questions that could be put before the end."""
    answers: list[float] = []
    for weights in asked:
        if time.monotonic() > end:
            break
        answers.append(float(ask(weights)))
    return np.array(answers)


def _finding(closest: Closest, secret: Bits | None, questions: int, answered: int) -> Finding:
    guess = (closest.point > 0.5).astype(np.int64)
    n = guess.size
    success = recovery(guess, secret)
    base = majority(secret)
    scored = "not scored" if secret is None else f"{success.value:.1%} of {n} bits came back"
    return Finding(
        attack="subset sums",
        claim=f"From {answered} noisy random sums: {scored}, where a guess hits {base:.1%}.",
        affected=f"all {n} people of the column",
        success=success,
        baseline=base,
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details={
            "n": n,
            "questions": questions,
            "answered": answered,
            "scored": secret is not None,
            "guess": guess.tolist(),
            "mean_error": closest.distance / max(answered, 1),
            "error_in_sqrt_n": closest.distance / max(answered, 1) / math.sqrt(n),
            "gap": closest.distance - closest.bound,
            "steps": closest.steps,
        },
        complete=closest.finished and answered == questions,
    )
