"""Noise from its far tails: samplers that return what hardly ever comes, to see what bears it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import cycle, islice
from unittest import mock

import numpy as np

from adomnia.mechanisms.graphs import measure as graph_measure
from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.tables import linear

FAR = (-740, -40, -3, 0, 3, 40, 740)
"""Multiples of a Laplace scale; the last is passed once in 10^321 draws."""


@contextmanager
def far_tails(pattern: Sequence[int]) -> Iterator[None]:
    """Every draw of noise is the next of the pattern, times how wide the noise is."""

    def drawn(width: Fraction, size: int) -> np.ndarray:
        values = [round(times * width) for times in islice(cycle(pattern), size)]
        small = all(abs(value) < 1 << 62 for value in values)
        return np.array(values, np.int64 if small else object).reshape(size)

    def of_laplace(scale: Fraction, size: int, bits: object = None) -> np.ndarray:
        return drawn(Fraction(scale), size)

    def of_gaussian(variance: Fraction, size: int, bits: object = None) -> np.ndarray:
        return drawn(Fraction(math.isqrt(math.ceil(variance)), 20), size)

    def thinned(
        width: Fraction, variances: list[Fraction], counts: list[int], bits: object
    ) -> np.ndarray:
        pairs = zip(variances, counts, strict=True)
        return np.concatenate([of_gaussian(variance, count) for variance, count in pairs])

    with (
        mock.patch.object(laplace, "sample", of_laplace),
        mock.patch.object(gaussian, "compact", of_gaussian),
        mock.patch.object(linear, "_thinned", thinned),
        mock.patch.object(gaussian, "sample", of_gaussian),
        mock.patch.object(graph_measure, "sample", of_laplace),
    ):
        yield
