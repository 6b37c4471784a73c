"""What is to be drawn in a frame: series of values, their axes, and levels right across."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adomnia.formatting import significant

__all__ = ["MARKED", "Plot", "Series"]

MARKED = 16
"""Lines with more places than this have no marks on them, and are not read out in full."""


@dataclass(frozen=True)
class Series:
    """A named series: places, values, and how far each value may be off.

    What the `paper` says is drawn dashed, or as hollow dots; `dots` are not joined, `labels` may
    name each of them, and those in `ringed` have a ring.
    """

    name: str
    places: Sequence[float]
    values: Sequence[float]
    margins: Sequence[float] = ()
    paper: bool = False
    dots: bool = False
    labels: Sequence[str] = ()
    ringed: frozenset[int] = frozenset()

    def spots(self) -> list[tuple[float, float, float]]:
        """Place, value and margin, zero where none is given."""
        margins = self.margins or [0.0] * len(self.values)
        return list(zip(self.places, self.values, margins, strict=True))

    @property
    def marked(self) -> bool:
        """Whether there is a mark at each place."""
        return self.dots or not (self.paper or len(self.values) > MARKED)


@dataclass(frozen=True)
class Plot:
    """One drawing: its title, its axes with their units, and whether they are logarithmic.

    A level is a dashed line right across, with its name. Numbers on the axes are written by
    `show_across` and `show_up`; of `whole` values no part of one is marked.
    """

    title: str
    across: str
    up: str
    lines: Sequence[Series]
    log_across: bool = False
    log_up: bool = False
    ends_up: tuple[float, float] | None = None
    whole: bool = False
    levels: Sequence[tuple[str, float]] = ()
    show_across: Callable[[float], str] = significant
    show_up: Callable[[float], str] = significant
