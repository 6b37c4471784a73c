"""How a series is drawn: its colour, mark and dashes, in the frame and as a sample by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adomnia.present.drawing.frame import Frame
from adomnia.present.drawing.series import Series
from adomnia.present.drawing.svg import element, points

__all__ = ["COLOURS", "Pen"]

COLOURS = 8
"""So many colours there are, as the classes c0 to c7; then they begin again."""
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "M-4-4H4V4H-4Z",
    "M0-5L5 4H-5Z",
    "M0-5.5L5 0 0 5.5-5 0Z",
)


@dataclass(frozen=True)
class Pen:
    """A series, its number among those of the plot, and how many later ones run over it."""

    line: Series
    at: int
    under: int

    @property
    def colour(self) -> str:
        """The class of its colour."""
        return f"c{self.at % COLOURS}"

    def drawn(self, frame: Frame) -> Iterator[str]:
        """The band, the line or the bars of errors, then marks and rings."""
        spots = [(frame.x(p), frame.y(v), frame.y(v - m), frame.y(v + m))
                 for p, v, m in self.line.spots()]  # fmt: skip
        if self.line.dots:
            for x, _, low, high in spots:
                if low != high:
                    yield element("line", class_=f"whisker {self.colour}", stroke_width=1.5, x1=x,
                                  x2=x, y1=low, y2=high)  # fmt: skip
        else:
            upper = [(x, high) for x, _, _, high in spots]
            around = upper + [(x, low) for x, _, low, _ in spots[::-1]]
            if self.line.margins:
                yield element("polygon", class_=f"band {self.colour}", points=points(around))
            yield self._path([(x, y) for x, y, *_ in spots])
        for number, (x, y, *_) in enumerate(spots):
            if self.line.marked:
                yield self._mark(x, y)
            if number in self.line.ringed:
                yield element("circle", class_="ring", cx=x, cy=y, r=9)

    def sample(self, x: float, y: float) -> Iterator[str]:
        """A short piece of the line, to stand before its name."""
        if self.line.dots:
            yield self._mark(x + 15, y)
            return
        if self.line.margins:
            yield element("rect", class_=f"band {self.colour}", x=x, y=y - 6, width=30, height=12)
        yield self._path([(x, y), (x + 30, y)])
        if self.line.marked:
            yield self._mark(x + 15, y)

    def _mark(self, x: float, y: float) -> str:
        kinds = f"mark {self.colour}" + " hollow" * self.line.paper
        return element("path", class_=kinds, transform=f"translate({x:.1f} {y:.1f})",
                       d=MARKS[self.at % len(MARKS)], stroke_width=1.5)  # fmt: skip

    def _path(self, places: list[tuple[float, float]]) -> str:
        kinds = f"line {self.colour}" + " paper" * self.line.paper + " under" * bool(self.under)
        wide = 4 + 4 * self.under if self.under else 2
        return element("polyline", class_=kinds, stroke_width=wide, points=points(places))
