"""One whole number drawn around the truth, near ones on the rungs of a ladder (`ladder.md`).

The rungs are as wide as the answer may differ between graphs so many steps away, so the noise is
as large as this graph needs, and not as the worst graph does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.noise.exponential import choose, first
from adomnia.mechanisms.randomness import Bits

__all__ = ["Ladder", "Rung", "draw", "height"]

BASE_DOUBT = Fraction(1, 5)
"""The part of the doubt in a margin that the noisy base may take."""
WIDEST = 800
"""Bits of the widest rung that is computed with in floats."""
Rung = Callable[[int], int]
"""The width of a rung, from the base of a graph plus the rung's place."""


def height(epsilon: Fraction, digits: int) -> int:
    """How many rungs are told apart: so many that all beyond them weigh less than 2^-60."""
    return math.ceil((digits + 64) * Fraction(7, 10) / (epsilon / 2))


def draw(truth: int, rungs: Sequence[int], epsilon: Fraction, digits: int, bits: Bits) -> int:
    """An integer between -2^digits and 2^digits, by the exponential mechanism (`ladder.md`).

    A candidate's penalty is the number of rungs between it and the truth, all beyond the last
    rung having one more than there are rungs.
    """
    limit = 1 << digits
    ends = [*itertools.accumulate(rungs, initial=0), 2 * limit + abs(truth)]
    above = _sizes(truth, ends, limit)
    below = _sizes(-truth, ends, limit)
    center = int(-limit <= truth <= limit)
    many = [center, *(up + down for up, down in zip(above, below, strict=True))]
    penalties = np.array([place for place, number in enumerate(many) if number])
    counts = np.array([number for number in many if number], object)
    rung = int(penalties[choose(penalties, counts, epsilon / 2, bits)])
    if rung == 0:
        return truth
    place = bits.below(many[rung])
    up = above[rung - 1]
    if place < up:
        return _nearest(truth, ends[rung - 1], limit) + place
    return -_nearest(-truth, ends[rung - 1], limit) - (place - up)


def _sizes(truth: int, ends: Sequence[int], limit: int) -> list[int]:
    """How many candidates above the truth lie between each two ends."""
    clipped = [min(max(truth + end, -limit - 1), limit) for end in ends]
    return [after - before for before, after in itertools.pairwise(clipped)]


def _nearest(truth: int, end: int, limit: int) -> int:
    """The first candidate beyond an end, above the truth."""
    return max(truth + end, -limit - 1) + 1


@dataclass(frozen=True)
class Ladder:
    """What may be known of a ladder's noise: its rate, and a noisy base that bounds its rungs.

    `rung` gives a rung's width from base and place; without a base no margin is public.
    """

    epsilon: Fraction
    rung: Rung | None = None
    base: int = 0
    scale: Fraction = Fraction(0)

    def margin(self, confidence: float) -> int | None:
        """A bound of the error that holds with this confidence (`ladder.md`, claim 3)."""
        if self.rung is None:
            return None
        doubt = 1 - Fraction(str(confidence))
        if not 0 < doubt < 1:
            raise ValueError("a confidence lies between 0 and 1")
        spare = float(BASE_DOUBT * doubt)
        shift = first(lambda m: laplace.tail(self.scale, m) / 2 <= spare, 0, 0)
        base = max(self.base + shift, 1)
        return _reach(self.rung, base, float(self.epsilon) / 2, float((1 - BASE_DOUBT) * doubt))


def _reach(rung: Rung, base: int, eta: float, doubt: float) -> int:
    """The distance from the truth that is passed with at most this doubt, the base being right."""
    odds = doubt / (1 - doubt) * math.exp(-min(2 * eta, 600.0))
    allowed = odds / (1 + odds)
    widths = [rung(base + place) for place in range(math.ceil((60 - math.log(allowed)) / eta))]
    places = np.arange(1, len(widths) + 1)
    bits = max(0, max(widths).bit_length() - WIDEST)  # what floats do not hold is scaled down
    weights = 2 * np.array([width >> bits for width in widths], float) * np.exp(-eta * places)
    beyond = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    total = float(beyond[0]) + math.ldexp(1.0, -bits)
    if beyond[0] <= doubt * total:
        return 0
    last = int(np.argmax(beyond <= allowed * total))  # all rungs from here on are allowed to miss
    missing = allowed * total - float(beyond[last])
    spare = math.floor(missing / (2 * math.exp(-eta * last)) * (1 - 1e-9)) << bits
    return sum(widths[:last]) - min(spare, widths[last - 1])
