"""The frame of a plot: where numbers lie in it, its grid, and what stands at its axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adomnia.present.drawing.scale import Scale
from adomnia.present.drawing.series import Plot
from adomnia.present.drawing.svg import element, text

__all__ = ["HEIGHT", "LEFT", "LETTER", "ROW", "WHOLE", "WIDTH", "Frame"]

LEFT, WIDTH, HEIGHT, RIGHT = 78, 464, 290, 26
WHOLE = LEFT + WIDTH + RIGHT
LETTER, ROW = 7.9, 21
"""About how wide a letter is, and how high a line of text."""


@dataclass(frozen=True)
class Frame:
    """Two scales and how their numbers are written; its top is below the title."""

    across: Scale
    up: Scale
    top: float
    show_across: Callable[[float], str]
    show_up: Callable[[float], str]

    @classmethod
    def of(cls, plot: Plot, top: float) -> Frame:
        """The frame that holds everything of a plot."""
        places = [place for line in plot.lines for place in line.places]
        ends = [v + side * m for line in plot.lines for _, v, m in line.spots() for side in (-1, 1)]
        # On a logarithmic axis a band may reach zero: only the values themselves say where to end.
        heights = [v for line in plot.lines for v in line.values] if plot.log_up else ends
        heights += [height for _, height in plot.levels]
        return cls(
            Scale.across(places, plot.log_across),
            Scale.up(heights, plot.log_up, plot.ends_up, plot.whole),
            top,
            plot.show_across,
            plot.show_up,
        )

    @property
    def foot(self) -> float:
        """Where the frame ends below."""
        return self.top + HEIGHT

    @property
    def middle(self) -> float:
        """Half its height."""
        return self.top + HEIGHT / 2

    def x(self, place: float) -> float:
        """How far from the left a place lies."""
        return LEFT + WIDTH * min(max(self.across.share(place), 0.0), 1.0)

    def y(self, value: float) -> float:
        """How far from the top a value lies; one past the ends stays inside."""
        return self.top + HEIGHT * (1 - min(max(self.up.share(value), 0.0), 1.0))

    def grid(self) -> Iterator[str]:
        """Lines across with their numbers, and ticks below with theirs."""
        for tick in self.up.spaced(HEIGHT, lambda tick: ROW):
            y = self.y(tick)
            yield element("line", class_="axis", x1=LEFT, x2=LEFT + WIDTH, y1=y, y2=y)
            yield text(self.show_up(tick), LEFT - 8, y + 5, text_anchor="end")
        for tick in self.across.spaced(WIDTH, self._room):
            x = self.x(tick)
            yield element("line", class_="axis", x1=x, x2=x, y1=self.foot, y2=self.foot + 5)
            shown = self.show_across(tick)
            inside = min(x, WHOLE - LETTER * len(shown) / 2)  # a long one ends with the drawing
            yield text(shown, inside, self.foot + ROW, text_anchor="middle")

    def _room(self, tick: float) -> float:
        return LETTER * len(self.show_across(tick)) + 12
