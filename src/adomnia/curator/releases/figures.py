"""The figures of a published table: counts first, then whatever stands beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.release import Release
from adomnia.marginals.workload import Subset

__all__ = ["COUNT", "Figure", "figures"]

COUNT = "count"


@dataclass(frozen=True, eq=False)
class Figure:
    """A number for each cell of a table, and how far it may be off; NaN where there is none.

    `rounds` says whether it is printed as a multiple of another number.
    """

    name: str
    values: NDArray[Any]
    margins: NDArray[np.float64]
    said: str
    rounds: bool = True

    @property
    def columns(self) -> tuple[str, str]:
        """What it is called in a file, and its margin."""
        return self.name, f"{self.name}_margin"

    @property
    def mark(self) -> str:
        """What its mark is called."""
        return "mark" if self.name == COUNT else f"{self.name}_mark"

    @property
    def whole(self) -> bool:
        """Whether all its numbers are whole."""
        return self.values.dtype.kind in "iu"

    def pairs(self) -> Iterator[tuple[Any, float | None]]:
        """The number of each cell with its margin, in order; None and None where there is none."""
        listed = zip(
            self.values.reshape(-1).tolist(), self.margins.reshape(-1).tolist(), strict=True
        )
        return ((None, None) if number != number else (number, off) for number, off in listed)  # noqa: PLR0124 (NaN)


def figures(release: Release, subset: Subset) -> tuple[Figure, ...]:
    """What a table is published with."""
    found = [Figure(COUNT, release.tables[subset], release.margins[subset], "count")]
    for one in release.sums:
        name = one.magnitude.name
        sums = Figure(f"sum_{name}", one.sums[subset], one.sum_margins[subset], f"sum of {name}")
        averages, off = one.averages[subset], one.average_margins[subset]
        average = Figure(f"avg_{name}", averages, off, f"average {name}", rounds=False)
        found += [sums, average]
    return tuple(found)
