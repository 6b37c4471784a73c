"""Report noisy max: the place of the largest score after noise, with or without the gap
(`noisy_max.md`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.select import Scores, lattice, rate
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.loss import Amount, exact

__all__ = ["Gap", "noisy_max", "noisy_max_gap", "noisy_max_margin"]

SAFE = 1 << 61


@dataclass(frozen=True)
class Gap:
    """Who won, and how far its noisy score could fall and still win; `scale` is the noise's.

    Two Laplace noises of this scale are in the gap, that of the winner and of the runner-up.
    """

    place: int
    gap: Fraction
    scale: Fraction


def noisy_max(
    scores: Scores,
    sensitivity: Amount,
    epsilon: Amount,
    bits: Bits = SYSTEM,
    monotone: bool = False,
) -> int:
    """The place of the largest score plus geometric noise; a tie goes to any of them, equally.

    Costs epsilon, for scores that a neighbour moves by at most `sensitivity` each.
    """
    whole, step = _whole(scores)
    eta = rate(sensitivity, epsilon, monotone) * step
    drawn = laplace.sample(1 / eta, whole.size, bits)
    noisy = _sum(whole, np.where(drawn < 0, -1 - drawn, drawn))  # folded: geometric
    tied = np.flatnonzero(noisy == noisy.max())
    return int(tied[bits.below(tied.size)])


def noisy_max_margin(candidates: int, eta: Fraction, confidence: float) -> int:
    """By how many steps the score of `noisy_max` may fall short of the best one, on any data."""
    if candidates < 1 or not 0 < confidence < 1:
        raise QuestionError("a margin needs a candidate, and a confidence between 0 and 1")
    doubt = 1 - Fraction(str(confidence))
    odds = (candidates - 1) / (doubt * (1 + Fraction(math.exp(-float(min(eta, Fraction(700)))))))
    if odds <= 1:
        return 0
    logarithm = math.log(odds.numerator) - math.log(odds.denominator)
    return math.ceil((Fraction(logarithm) + Fraction(1, 10**9)) / eta) - 1


def noisy_max_gap(
    scores: Scores,
    sensitivity: Amount,
    epsilon: Amount,
    bits: Bits = SYSTEM,
    monotone: bool = False,
    step: Amount = 1,
) -> Gap:
    """The place of the largest score plus Laplace noise, and the gap to the others, for epsilon.

    Ties go to the one that comes first: the order of the scores must be public, and so must
    `step`. The gap is a multiple of it; scores are rounded down to one, the sensitivity up.
    """
    width = exact(step, "step")
    whole, apart = _rounded(scores, width), math.ceil(exact(sensitivity, "sensitivity") / width)
    eta = rate(apart, epsilon, monotone)
    noisy = _sum(whole, laplace.sample(1 / eta, whole.size, bits))
    place = int(noisy.argmax())
    before, after = noisy[:place], noisy[place + 1 :]
    hurdles = [int(before.max()) + 1] if before.size else []
    hurdles += [int(after.max())] if after.size else []
    if not hurdles:
        raise QuestionError("a gap needs two scores or more")
    return Gap(place, (int(noisy[place]) - max(hurdles)) * width, width / eta)


def _whole(scores: Scores) -> tuple[NDArray[Any], Fraction]:
    whole, step = lattice(scores)
    if whole.ndim != 1 or not whole.size:
        raise QuestionError("there is nothing to choose from: the list of scores is empty")
    return whole, step


def _rounded(scores: Scores, step: Fraction) -> NDArray[Any]:
    """The scores in whole steps, rounded down: which lattice they lie on stays private."""
    whole, fine = _whole(scores)
    if fine == step:
        return whole
    ratio = fine / step
    return np.array([int(s) * ratio.numerator // ratio.denominator for s in whole], object)


def _sum(whole: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """Scores and noise, exactly; int64 below 2^61 cannot overflow."""
    fits = whole.dtype == noise.dtype == np.int64 and abs(noise).max() < SAFE
    kind: type = np.int64 if fits else object
    total: NDArray[Any] = whole.astype(kind) + noise.astype(kind)
    return total
