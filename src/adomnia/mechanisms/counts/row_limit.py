"""No more rows than were declared: a larger table is read as an empty one (`row_limit.md`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.sealed_noise import Cells
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["limit_histogram", "limit_rows"]


def limit_rows(
    sealed: Sealed[NDArray[Any]], rows: Sealed[NDArray[Any]], most: int
) -> Sealed[NDArray[Any]]:
    """The components, still sealed; those of no row where more than `most` rows were read.

    `rows` counts the rows of each cell, and must come from the same reading.
    """
    read = sum(int(count) for count in unseal(rows).flat)
    return sealed if read <= most else Sealed(np.zeros_like(unseal(sealed)))


def limit_histogram(sealed: Sealed[Cells], most: int) -> Sealed[Cells]:
    """The values in each cell, still sealed; none where they are of more than `most` rows."""
    read = sum(int(count) for _, counts in unseal(sealed).values() for count in counts)
    return sealed if read <= most else Sealed({})
