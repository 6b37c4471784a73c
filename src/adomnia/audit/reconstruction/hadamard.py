"""Yekhanin's attack: the n Fourier questions, undone by one fast transform and rounding.

Question k weighs person j with +1 or −1, by the parity of the bits that j and k share
(`hadamard.md`). With noise within ±E at most 4E² bits can come out wrong.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding
from adomnia.audit.reconstruction.subset_sums import (
    Ask,
    SimulatedNoise,
    balanced_secret,
    majority,
    recovery,
)
from adomnia.errors import BudgetError, QuestionError
from adomnia.marginals.paper.bits import signs, walsh_hadamard

__all__ = ["fourier_decode", "hadamard"]

Floats = NDArray[np.float64]

PAPER = (
    "Yekhanin (2006), in Dwork, An ad omnia approach to defining and achieving private data "
    "analysis, 2007"
)
REMEDY = "noise of the order of sqrt(n) or a budget on the number of answers; adomnia has both"
MOST = 1 << 24


def hadamard(
    n: int,
    noise: float | SimulatedNoise | Ask,
    seed: int = 0,
    time_limit: float = 60.0,
    truth: Sequence[int] | None = None,
) -> Finding:
    """Ask the Fourier questions of a column of n bits (filled up with zeros to a power of two).

    `noise` and `truth` are those of `subset_sums`; a function is handed one weight of +1 or −1
    for each of the n people, and a BudgetError of it ends the attack. Questions without an answer
    count as answered by 0.

    Returns the share of the bits that came back. Raises a QuestionError where the column is empty
    or too long.

    >>> hadamard(8, noise=0.5, seed=1).success.value
    1.0
    """
    if not 1 <= n <= MOST:
        raise QuestionError("the column is empty or too long", f"from 1 to {MOST} people")
    size = 1 << (n - 1).bit_length()
    end = time.monotonic() + time_limit
    chance = np.random.default_rng(seed)
    given = None if truth is None else np.asarray(truth, np.int64)
    if callable(noise):
        answers, answered = _ask(noise, n, size, end)
        return _finding(fourier_decode(answers)[:n], given, None, answered, size)
    secret = balanced_secret(n, chance) if given is None else given
    drawn = noise if isinstance(noise, SimulatedNoise) else SimulatedNoise("uniform", float(noise))
    filled = np.zeros(size)
    filled[:n] = secret
    answers = walsh_hadamard(filled) + drawn.draw(size, chance)
    bound = drawn.size if drawn.kind == "uniform" else None
    return _finding(fourier_decode(answers)[:n], secret, bound, size, size)


def fourier_decode(answers: Floats) -> Floats:
    """The column whose Fourier coefficients were answered: the transform is its own inverse."""
    column: Floats = walsh_hadamard(answers) / answers.size
    return column


def _ask(ask: Ask, n: int, size: int, end: float) -> tuple[Floats, int]:
    answers = np.zeros(size)
    people = np.arange(n, dtype=np.int64)
    for k in range(size):
        if time.monotonic() > end:
            return answers, k
        try:
            answers[k] = ask(signs(np.array([k]), people)[0])
        except BudgetError:
            return answers, k
    return answers, size


def _finding(
    column: Floats, secret: NDArray[np.int64] | None, bound: float | None, answered: int, size: int
) -> Finding:
    guess = (column > 0.5).astype(np.int64)
    n = guess.size
    success = recovery(guess, secret)
    base = majority(secret)
    scored = "not scored" if secret is None else f"{success.value:.2%} of {n} bits came back"
    details: dict[str, Any] = {
        "n": n,
        "questions": size,
        "answered": answered,
        "scored": secret is not None,
        "guess": guess.tolist(),
    }
    if bound is not None:
        details["noise_in_sqrt_n"] = bound / math.sqrt(size)
        details["most_wrong_bits"] = min(n, math.floor(4 * bound * bound))
    return Finding(
        attack="hadamard",
        claim=f"From {answered} Fourier questions: {scored}, where a guess hits {base:.1%}.",
        affected=f"all {n} people of the column",
        success=success,
        baseline=base,
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=answered == size,
    )
