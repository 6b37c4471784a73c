"""Names of points and levels of a plot, placed where they hide least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from adomnia.present.drawing.frame import LEFT, LETTER, WHOLE, WIDTH, Frame
from adomnia.present.drawing.series import Plot, Series
from adomnia.present.drawing.svg import text

__all__ = ["placed_names"]


def placed_names(plot: Plot, frame: Frame) -> Iterator[str]:
    """Names of levels, and of points right or left of them, where they hide least."""
    taken = [point for line in plot.lines if not line.dots for point in _along(line, frame)]
    for name, height in plot.levels:
        width, y = LETTER * len(name), frame.y(height)
        spots = [(x, y + down) for x in (LEFT + WIDTH - width - 4, LEFT + 6) for down in (-5, 16)]
        best = min(spots, key=lambda spot: _hidden(spot, width, taken))
        taken += _under(best, width)
        yield text(name, best[0], best[1], class_="label soft")
    for line in plot.lines:
        for label, (place, value, _) in zip(line.labels, line.spots(), strict=False):
            x, y, width = frame.x(place), frame.y(value), LETTER * len(label)
            sides = (x + 10, x - 10 - width)
            starts = [side for side in sides if LEFT <= side < WHOLE - width] or [LEFT]
            spots = [(start, y + down) for down in (5, -10, 20) for start in starts]
            best = min(spots, key=lambda spot: _hidden(spot, width, taken))
            taken += _under(best, width)
            left = best[0] < x
            yield text(label, best[0] + left * width, best[1], class_="label",
                       text_anchor="end" if left else None)  # fmt: skip


def _along(line: Series, frame: Frame) -> list[tuple[float, float]]:
    """Points on a line, close to each other."""
    ends = [(frame.x(place), frame.y(value)) for place, value, _ in line.spots()]
    return [
        (x + (u - x) * part / 50, y + (v - y) * part / 50)
        for (x, y), (u, v) in pairwise(ends)
        for part in range(51)
    ]


def _under(spot: tuple[float, float], width: float) -> list[tuple[float, float]]:
    """Points that a name at this spot lies on."""
    return [(spot[0] + part * width / 9, spot[1] - 5) for part in range(10)]


def _hidden(spot: tuple[float, float], width: float, points: Sequence[tuple[float, float]]) -> int:
    """How many of the points a name at this spot would lie on."""
    x, y = spot
    return sum(x - 2 <= u <= x + width + 2 and y - 14 <= v <= y + 5 for u, v in points)
