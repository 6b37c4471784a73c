"""Whether exact values lie where they were said to lie: for the curator alone, never an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["agrees"]


def agrees(sealed: Sealed[Any], intervals: Sequence[Sequence[tuple[int, int]]]) -> bool:
    """Whether every component of every cell is between its two ends.

    The outcome tells of single rows: who calls this shows it to nobody but the curator, and
    decides nothing by it that an analyst could notice.
    """
    cells = np.asarray(unseal(sealed)).tolist()
    return len(cells) == len(intervals) and all(
        low <= value <= high
        for row, ends in zip(cells, intervals, strict=True)
        for value, (low, high) in zip(row, ends, strict=True)
    )
