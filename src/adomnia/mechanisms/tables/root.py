"""The root of chi-squared on a lattice, with integer Laplace noise (`root.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["Margins", "lattice_root", "release_root"]

GUARD = 64
"""Weights are rounded down to about this many binary digits."""
Margins = tuple[Sequence[int], Sequence[int]]
"""The public sums of the rows and of the columns."""


def release_root(
    sealed: Sealed[NDArray[Any]],
    margins: Margins,
    kappa: Fraction,
    places: int,
    scale: Fraction,
    bits: Bits = SYSTEM,
) -> int:
    """`lattice_root` of the sealed table plus integer Laplace noise of this scale, not 0.

    The scale is (at least) the sensitivity in lattice units over epsilon. Where nothing can vary
    there is nothing to release: the root follows from the margins.
    """
    if scale <= 0:
        raise ValueError("the noise has a positive scale; what cannot vary is not released")
    table = np.asarray(unseal(sealed)).reshape(len(margins[0]), len(margins[1]))
    noise = int(laplace.sample(scale, 1, bits)[0])
    return lattice_root(table, margins, kappa, places) + noise


def lattice_root(counts: NDArray[Any], margins: Margins, kappa: Fraction, places: int) -> int:
    """floor(2^places sqrt(X2)), X2 = sum (t - E)^2 / (E + kappa), E = R C / n from the margins.

    Exact, for any counts; the weights 1 / (E + kappa) are rounded down a little, the same for all
    data. Cells of empty rows and columns do not count.
    """
    rows, columns = (np.array([int(part) for part in side], object) for side in margins)
    total = _total(rows, columns)
    table = np.asarray(counts)
    if table.dtype.kind not in "iu":
        raise TypeError("a table holds counts: integers")
    if table.shape != (rows.size, columns.size):
        raise ValueError("the table has another shape than its margins")
    if kappa < 0 or places < 0:
        raise ValueError("kappa and places are not negative")
    products = np.multiply.outer(rows, columns)
    live = products > 0
    shares = products[live]
    digits = GUARD + ceil(total + kappa).bit_length()
    above = (total * kappa.denominator) << digits
    weights = above // (shares * kappa.denominator + total * kappa.numerator)
    deviations = table.astype(object)[live] * total - shares
    square = int((weights * deviations * deviations).sum())
    return isqrt((square << 2 * places) // (total * total << digits))


def _total(rows: NDArray[Any], columns: NDArray[Any]) -> int:
    """n, if the margins have one and it is positive."""
    if min(rows.min(initial=0), columns.min(initial=0)) < 0 or rows.sum() != columns.sum():
        raise ValueError("margins are counts, and rows and columns have the same total")
    if rows.sum() == 0:
        raise ValueError("a table without rows has no chi-squared")
    return int(rows.sum())
