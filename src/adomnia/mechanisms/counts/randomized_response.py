"""Randomized response: everybody tells the truth or, by chance, another value (Warner;
`randomized_response.md`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.exponential import enclose
from adomnia.mechanisms.randomness import SYSTEM, Bits, Interval, InversionTable

__all__ = ["Response", "estimate", "estimate_margin", "respond"]

MOST = 1 << 32


@dataclass(frozen=True)
class Response:
    """A question with `values` possible answers, numbered from 0, and what answering costs.

    Two values are Warner's; P(truth) = e^epsilon / (e^epsilon + values - 1).
    """

    epsilon: Fraction
    values: int = 2

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or not 2 <= self.values <= MOST:
            raise QuestionError("a response needs epsilon above zero and two values or more")

    @property
    def truth(self) -> float:
        """The probability of the true value, to float precision."""
        return 1 / (1 + (self.values - 1) * math.exp(-min(self.epsilon, Fraction(700))))

    @property
    def other(self) -> float:
        """The probability of each other value."""
        return (1 - self.truth) / (self.values - 1)

    @property
    def spread(self) -> float:
        """P(truth) - P(another value): what one row adds to its own count, on average."""
        e = float(min(self.epsilon, Fraction(700)))
        return -math.expm1(-e) / (1 + (self.values - 1) * math.exp(-e))


def respond(truths: NDArray[Any], response: Response, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """An answer for each row, exactly by the law; a number that is no value is clamped to one."""
    if np.asarray(truths).dtype.kind not in "iu":
        raise QuestionError("answers are numbered by whole numbers")
    clamped = np.clip(np.asarray(truths).reshape(-1), 0, response.values - 1)
    known: NDArray[np.int64] = clamped.astype(np.int64)
    if not known.size:
        return known

    def weights(precision: int) -> tuple[list[Interval], int]:
        low, high = enclose(response.epsilon, precision)
        others = response.values - 1
        return [(1 << precision, 1 << precision), (others * low, others * high)], 0

    lies = np.flatnonzero(InversionTable(weights).draw(known.size, bits))
    known[lies] += 1 + _uniform(response.values - 1, lies.size, bits)
    known %= response.values
    return known


def _uniform(n: int, size: int, bits: Bits) -> NDArray[np.int64]:
    """Uniform integers of [0, n): words that would favour the small ones are drawn again."""
    drawn = bits.words(size).copy()
    most = np.uint64((1 << 64) // n * n - 1)
    while (over := np.flatnonzero(drawn > most)).size:
        drawn[over] = bits.words(over.size)
    found: NDArray[np.int64] = (drawn % np.uint64(n)).astype(np.int64)
    return found


def estimate(counts: NDArray[Any], response: Response) -> NDArray[np.float64]:
    """How many rows have each value, without bias, from how many answered it."""
    told = np.asarray(counts)
    if told.shape != (response.values,):
        raise QuestionError("there is one count for each value")
    expected = float(told.sum()) * response.other
    found: NDArray[np.float64] = (told.astype(np.float64) - expected) / response.spread
    return found


def estimate_margin(rows: int, response: Response, confidence: float) -> float:
    """With this confidence every estimate is this close to the truth, whatever the data are."""
    if rows < 0 or not 0 < confidence < 1:
        raise ValueError("a margin needs a number of rows, and a confidence between 0 and 1")
    exponent = math.log(2 * response.values / (1 - confidence))
    odds = [response.other, response.truth]
    middle = min(max(0.5, odds[0]), odds[1])
    variance = rows * middle * (1 - middle)
    bernstein = exponent / 3 + math.sqrt(exponent**2 / 9 + 2 * variance * exponent)
    hoeffding = math.sqrt(rows * exponent / 2)
    return min(bernstein, hoeffding) / response.spread * (1 + 1e-9)
