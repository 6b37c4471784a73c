"""Which keys of a GROUP BY may be shown when their domain is not public (`selection.md`)."""

from __future__ import annotations

import math
from fractions import Fraction

from adomnia.mechanisms.noise.exponential import enclose, first

__all__ = ["threshold"]


def threshold(scale: Fraction, delta: Fraction, rows: int, keys: int) -> int:
    """The smallest count, noise of this scale included, at which a key may be shown.

    One protected entity has at most `rows` rows, in at most `keys` keys of its own; the chance
    that any of these is shown is at most `delta` (`selection.md`). Always above `rows`.
    """
    if not 0 < delta < 1 or rows < 1 or keys < 1 or scale < 0:
        raise ValueError("a threshold needs 0 < delta < 1, rows >= 1, keys >= 1 and scale >= 0")
    if scale == 0:
        return rows + 1
    precision = 64 + sum(math.floor(x).bit_length() for x in (1 / delta, rows, scale))
    bound = delta * (1 << precision)

    def safe(above: int) -> bool:
        spread = min(keys, rows)
        return all(_leak(scale, above, (rows, k), precision) <= bound for k in {1, spread})

    return rows + first(safe, 1, math.floor(scale * Fraction(_log(1 / delta))))


def _leak(scale: Fraction, above: int, shape: tuple[int, int], precision: int) -> Fraction:
    """Upper bound of P(any of k keys passes rows + above), one key holding all it can."""
    rows, k = shape
    fullest = enclose((above + k - 1) / scale, precision)[1]
    single = enclose((above + rows - 1) / scale, precision)[1]
    least = enclose(1 / scale, precision)[0]
    return Fraction((fullest + (k - 1) * single) << precision, (1 << precision) + least)


def _log(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)
