"""A histogram with the bounds of a domain drawn in, and another colour outside of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adomnia.present.drawing.svg import element, svg, text

__all__ = ["BinnedCounts", "histogram"]

WIDE, TALL, LEFT, ABOVE, FOOT = 640, 150, 8, 40, 28
LETTER = 7.5


@dataclass(frozen=True)
class BinnedCounts:
    """Counts between edges, and the bounds between which values count as they are."""

    edges: Sequence[float]
    counts: Sequence[int]
    bounds: tuple[float, float]

    def x(self, place: float) -> float:
        """How far from the left a place lies; what is past an end lies at it."""
        first, last = self.edges[0], self.edges[-1]
        share = (place - first) / ((last - first) or 1.0)
        return LEFT + (WIDE - 2 * LEFT) * min(max(share, 0.0), 1.0)


def histogram(
    bins: BinnedCounts, title: str, ends: tuple[str, str], labels: tuple[str, str]
) -> str:
    """Bars from a common foot, a line at each bound with its label, and the ends beneath."""
    most = max([1, *bins.counts])
    foot = ABOVE + TALL
    return svg(
        title, WIDE, foot + FOOT,
        *_bars(bins, most),
        element("line", class_="axis", x1=LEFT, x2=WIDE - LEFT, y1=foot, y2=foot),
        *_bounds(bins, labels),
        text(ends[0], LEFT, foot + 18, class_="soft"),
        text(ends[1], WIDE - LEFT, foot + 18, class_="soft", text_anchor="end"),
        text(f"highest bar: {most:,} values", WIDE / 2, foot + 18, class_="soft",
             text_anchor="middle"),
        class_="framed histogram", viewBox=f"0 0 {WIDE} {foot + FOOT}",
    )  # fmt: skip


def _bars(bins: BinnedCounts, most: int) -> Iterator[str]:
    """A bar for each bin that is not empty, coloured by whether it lies between the bounds."""
    for first, last, many in zip(bins.edges, bins.edges[1:], bins.counts, strict=False):
        if many:
            middle, tall = (first + last) / 2, max(1.5, TALL * many / most)
            kind = "bar" if bins.bounds[0] <= middle <= bins.bounds[1] else "outside"
            x = bins.x(first)
            yield element("rect", class_=kind, x=x, y=ABOVE + TALL - tall,
                          width=max(0.5, bins.x(last) - x - 0.5), height=tall)  # fmt: skip


def _bounds(bins: BinnedCounts, labels: tuple[str, str]) -> Iterator[str]:
    """Both bounds, each with what it is called; near each other one stands higher."""
    xs = [bins.x(bound) for bound in bins.bounds]
    near = xs[1] - xs[0] < LETTER * (len(labels[0]) + len(labels[1])) / 2 + 20
    for number, (x, label) in enumerate(zip(xs, labels, strict=True)):
        y = 14 if number == 0 or not near else 30
        anchor = "start" if x < WIDE / 4 else "end" if x > WIDE * 3 / 4 else "middle"
        yield element("line", class_="level", x1=x, x2=x, y1=y + 5, y2=ABOVE + TALL)
        yield text(label, x, y, text_anchor=anchor)
