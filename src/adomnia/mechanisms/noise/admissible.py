"""Noise whose scale may depend on the data: what it asks of a smooth sensitivity, and what it
costs (`admissible.md`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise import laplace, waring
from adomnia.mechanisms.noise.exponential import enclose
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.loss import Loss

__all__ = ["Admissible", "SmoothLaplace", "SmoothWaring"]

LEAST = Fraction(1, 1 << 20)
TERMS = 12
FINE = 1 << 48


class Admissible(Protocol):
    """Integer noise that hides a shift of the smooth sensitivity, and a stretch by e^beta."""

    @property
    def beta(self) -> Fraction:
        """By how much the logarithm of the sensitivity may differ between neighbours."""

    @property
    def loss(self) -> Loss:
        """What one answer costs."""

    def scale(self, sensitivity: Fraction) -> Fraction:
        """The scale of the noise for a smooth upper bound of the local sensitivity."""

    def draw(self, sensitivity: Fraction, bits: Bits = SYSTEM) -> int:
        """One exact draw of it."""


@dataclass(frozen=True)
class SmoothWaring:
    """Pure epsilon: Waring's noise, half of epsilon for the shift and half for the stretch."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _large_enough(self.epsilon)

    @property
    def beta(self) -> Fraction:
        """Epsilon / 6: a stretch costs three times its logarithm."""
        return self.epsilon / (2 * waring.TAIL)

    @property
    def loss(self) -> Loss:
        """Epsilon, with no probability of failure."""
        return Loss.pure(self.epsilon)

    def scale(self, sensitivity: Fraction) -> Fraction:
        """Sensitivity / (e^(epsilon/8) - 1), rounded up."""
        return sensitivity / _growth(self.epsilon / (2 * (waring.TAIL + 1)))

    def draw(self, sensitivity: Fraction, bits: Bits = SYSTEM) -> int:
        """One exact draw of Waring's noise."""
        return waring.draw(self.scale(sensitivity), bits)


@dataclass(frozen=True)
class SmoothLaplace:
    """(epsilon, delta): integer Laplace noise, half of epsilon for the shift, half for the
    stretch; delta is the part of the tail that a stretch does not hide."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _large_enough(self.epsilon)
        if not 0 < self.delta < 1:
            raise QuestionError("delta lies between 0 and 1")

    @property
    def beta(self) -> Fraction:
        """The largest stretch, to 48 binary places, whose tail stays within delta."""
        return _stretch(self.epsilon / 2, self.delta)

    @property
    def loss(self) -> Loss:
        """Epsilon and delta."""
        return Loss.approximate(self.epsilon, self.delta)

    def scale(self, sensitivity: Fraction) -> Fraction:
        """Twice the sensitivity over epsilon."""
        return 2 * sensitivity / self.epsilon

    def draw(self, sensitivity: Fraction, bits: Bits = SYSTEM) -> int:
        """One exact draw of integer Laplace noise."""
        return int(laplace.sample(self.scale(sensitivity), 1, bits)[0])


def _large_enough(epsilon: Fraction) -> None:
    if epsilon < LEAST:
        raise QuestionError(
            "epsilon is too small for noise that follows the data",
            hint="ask with epsilon 0.000001 or more, or take the exponential mechanism",
        )


def _growth(x: Fraction) -> Fraction:
    """A lower bound of e^x - 1, x > 0: the first terms of its series, all positive."""
    term = total = x
    for count in range(2, TERMS):
        term = term * x / count
        total += term
    return total


@lru_cache(maxsize=64)
def _stretch(alpha: Fraction, delta: Fraction) -> Fraction:
    """A lower bound of log R for the largest R = 1 + k / 2^48 that alpha and delta allow."""
    low, high = 0, int(min(alpha, Fraction(1)) * FINE)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_hidden(middle, alpha, delta) else (low, middle)
    if not low:
        raise QuestionError("delta is too small for this epsilon")
    return _logarithm(Fraction(low, FINE))


def _logarithm(rise: Fraction) -> Fraction:
    """A lower bound of log(1 + rise)."""
    return 2 * rise / (2 + rise)


def _is_hidden(k: int, alpha: Fraction, delta: Fraction) -> bool:
    """Whether 2 (1 - 1/R) exp(-(alpha + log R) / (R - 1)) <= delta, R = 1 + k / 2^48."""
    rise = Fraction(k, FINE)
    precision = 64 + (delta.denominator // delta.numerator).bit_length()
    tail = enclose((alpha + _logarithm(rise)) / rise, precision)[1]
    return 2 * rise / (1 + rise) * tail <= delta * (1 << precision)
