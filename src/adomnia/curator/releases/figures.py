"""The figures of a published table: counts first, then whatever stands beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.release import Release
from adomnia.marginals.workload import Subset

__all__ = ["COUNT", "Figure", "figures"]

COUNT = "count"


@dataclass(frozen=True, eq=False)
class Figure:
    """A number for each cell of a table, and how far it may be off; `blank` where there is none.

    Margins without end are none: the numbers are those of a model. `rounds` says whether it is
    printed as a multiple of another number.
    """

    name: str
    values: NDArray[Any]
    margins: NDArray[np.float64]
    said: str
    rounds: bool = True
    blank: NDArray[np.bool_] | None = None

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
        """The number of each cell with its margin, in order; None where there is none."""
        blank = np.zeros(self.values.shape, bool) if self.blank is None else self.blank
        listed = (part.reshape(-1).tolist() for part in (self.values, self.margins, blank))
        for number, off, gone in zip(*listed, strict=True):
            yield None if gone else number, None if gone or isinf(off) else off

    @property
    def is_model(self) -> bool:
        """Whether it was not measured."""
        return bool(np.isinf(self.margins).any())

    @property
    def largest_margin(self) -> float | None:
        """The widest margin of its numbers; a model has none."""
        if self.is_model:
            return None
        return max((off for _, off in self.pairs() if off is not None), default=0.0)


def figures(release: Release, subset: Subset) -> tuple[Figure, ...]:
    """What a table is published with."""
    found = [Figure(COUNT, release.tables[subset], release.margins[subset], "count")]
    for one in release.sums:
        name = one.magnitude.name
        sums = Figure(f"sum_{name}", one.sums[subset], one.sum_margins[subset], f"sum of {name}")
        averages, off = one.averages[subset], one.average_margins[subset]
        nobody = np.isnan(averages)
        average = Figure(f"avg_{name}", averages, off, f"average {name}", False, nobody)
        found += [sums, average]
    for part in release.cumulative.get(subset, ()):
        said = f"count up to and including this {part.key}"
        name = f"cumulative_{part.key}"
        found.append(Figure(name, part.counts, part.margins, said, blank=part.blank))
    return tuple(found)
