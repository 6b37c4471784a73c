"""Lines with error bands, drawn as SVG by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Line", "lines"]

LEFT, TOP, WIDTH, HEIGHT, RIGHT, BOTTOM = 70, 44, 480, 300, 150, 56
COLOURS = ("#31688e", "#c2410c", "#4d7c0f", "#7e22ce")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222}.grid{stroke:#ddd}.title{font-weight:600}"
    ".line{fill:none;stroke-width:2}.band{opacity:.25;stroke:none}"
)


@dataclass(frozen=True)
class Line:
    """A named series: places, values, and how far each value may be off."""

    name: str
    places: Sequence[float]
    values: Sequence[float]
    margins: Sequence[float]


def lines(title: str, across: str, up: str, series: Sequence[Line]) -> str:
    """One plot; the axis upwards begins at 0 or below, and the title is read aloud."""
    places = [place for line in series for place in line.places]
    ends = [
        v + sign * m
        for line in series
        for v, m in zip(line.values, line.margins, strict=True)
        for sign in (-1, 1)
    ]
    frame = _Frame(min(places), max(places), min(0.0, *ends), max(*ends, 1e-9))
    drawn = "".join(_drawn(line, COLOURS[i], frame) for i, line in enumerate(series))
    names = "".join(
        f'<text x="{LEFT + WIDTH + 12}" y="{TOP + 20 + 22 * i}" style="fill:{COLOURS[i]}">'
        f"{escape(line.name)}</text>"
        for i, line in enumerate(series)
    )
    middle, below = LEFT + WIDTH / 2, TOP + HEIGHT + 42
    label = f'transform="translate(18 {TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}"'
        f' viewBox="0 0 {LEFT + WIDTH + RIGHT} {TOP + HEIGHT + BOTTOM}"'
        f' width="{LEFT + WIDTH + RIGHT}"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>{frame.grid()}{drawn}{names}'
        f'<text x="{middle}" y="{below}" text-anchor="middle">{escape(across)}</text>'
        f"<text {label}>{escape(up)}</text></svg>\n"
    )


@dataclass(frozen=True)
class _Frame:
    """From figures to places on the picture."""

    left: float
    right: float
    low: float
    high: float

    def x(self, place: float) -> float:
        return LEFT + WIDTH * (place - self.left) / ((self.right - self.left) or 1)

    def y(self, value: float) -> float:
        return TOP + HEIGHT * (self.high - value) / (self.high - self.low)

    def grid(self) -> str:
        """Ticks with thin lines across, and numbers along both axes."""
        rows = "".join(
            f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{self.y(v):.1f}"'
            f' y2="{self.y(v):.1f}"/>'
            f'<text x="{LEFT - 8}" y="{self.y(v) + 4:.1f}" text-anchor="end">{v:g}</text>'
            for v in _ticks(self.low, self.high)
        )
        columns = "".join(
            f'<text x="{self.x(v):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{v:g}</text>'
            for v in _ticks(self.left, self.right)
        )
        return rows + columns


def _drawn(line: Line, colour: str, frame: _Frame) -> str:
    spots = list(zip(line.places, line.values, line.margins, strict=True))
    above = [f"{frame.x(p):.1f},{frame.y(v + m):.1f}" for p, v, m in spots]
    below = [f"{frame.x(p):.1f},{frame.y(v - m):.1f}" for p, v, m in reversed(spots)]
    through = [f"{frame.x(p):.1f},{frame.y(v):.1f}" for p, v, _ in spots]
    return (
        f'<polygon class="band" style="fill:{colour}" points="{" ".join(above + below)}"/>'
        f'<polyline class="line" style="stroke:{colour}" points="{" ".join(through)}"/>'
    )


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers from low to high."""
    rough = (high - low or 1) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]
