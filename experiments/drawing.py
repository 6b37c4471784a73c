"""Lines with error bands, and the paper's own numbers beside them, drawn as SVG by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

__all__ = ["Line", "Plot", "draw"]

LEFT, TOP, WIDTH, HEIGHT, RIGHT, BOTTOM = 74, 44, 470, 290, 190, 56
COLOURS = ("#31688e", "#c2410c", "#4d7c0f", "#7e22ce", "#0f766e", "#9d174d")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222}.grid{stroke:#ddd}.title{font-weight:600}"
    ".line{fill:none;stroke-width:2}.band{opacity:.22;stroke:none}.paper{stroke-dasharray:6 4}"
)


@dataclass(frozen=True)
class Line:
    """A named series: places, values, and how far each value may be off.

    What the `paper` says is drawn dashed; `dots` are not joined.
    """

    name: str
    places: Sequence[float]
    values: Sequence[float]
    margins: Sequence[float] = ()
    paper: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Plot:
    """One drawing: its title, its axes with their units, and whether they are logarithmic."""

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    log_across: bool = False
    log_up: bool = False
    ends_up: tuple[float, float] | None = field(default=None)


def draw(plot: Plot) -> str:
    """The drawing as SVG; the title is read aloud."""
    across = _Axis.of([x for line in plot.lines for x in line.places], plot.log_across, None)
    heights = [value for line in plot.lines for value in _reach(line)]
    up = _Axis.of(heights, plot.log_up, plot.ends_up, from_zero=True)
    frame = _Frame(across, up)
    drawn = "".join(
        _drawn(line, COLOURS[i % len(COLOURS)], frame) for i, line in enumerate(plot.lines)
    )
    middle, below = LEFT + WIDTH / 2, TOP + HEIGHT + 42
    label = f'transform="translate(18 {TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(plot.title)}"'
        f' viewBox="0 0 {LEFT + WIDTH + RIGHT} {TOP + HEIGHT + BOTTOM}"'
        f' width="{LEFT + WIDTH + RIGHT}"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text class="title" x="{LEFT}" y="24">{escape(plot.title)}</text>{frame.grid()}{drawn}'
        f"{_names(plot.lines)}"
        f'<text x="{middle}" y="{below}" text-anchor="middle">{escape(plot.across)}</text>'
        f"<text {label}>{escape(plot.up)}</text></svg>\n"
    )


def _reach(line: Line) -> list[float]:
    margins = line.margins or [0.0] * len(line.values)
    pairs = list(zip(line.values, margins, strict=True))
    return [v - m for v, m in pairs] + [v + m for v, m in pairs]


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        logarithmic: bool,
        ends: tuple[float, float] | None,
        from_zero: bool = False,
    ) -> _Axis:
        used = [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)] or [1.0]
        low, high = ends or (min(used), max(used))
        if from_zero and not logarithmic and ends is None:
            low = min(0.0, low)
        return cls(low, high if high > low else low + 1, logarithmic)

    def share(self, value: float) -> float:
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """About five round numbers; of a logarithmic axis powers of ten, and 2 and 5 of few."""
        if self.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1, 2, 5) if len(powers) < 4 else (1,)
            every = [10.0**power * step for power in powers for step in steps]
            return [tick for tick in every if self.low <= tick <= self.high]
        rough = (self.high - self.low) / 5
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough)
        first = math.ceil(self.low / step - 1e-9)
        return [round(step * k, 10) for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class _Frame:
    across: _Axis
    up: _Axis

    def x(self, place: float) -> float:
        return LEFT + WIDTH * self.across.share(place)

    def y(self, value: float) -> float:
        return TOP + HEIGHT * (1 - min(max(self.up.share(value), 0.0), 1.0))

    def grid(self) -> str:
        rows = "".join(
            f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{self.y(v):.1f}"'
            f' y2="{self.y(v):.1f}"/>'
            f'<text x="{LEFT - 8}" y="{self.y(v) + 4:.1f}" text-anchor="end">{v:g}</text>'
            for v in self.up.ticks()
        )
        columns = "".join(
            f'<text x="{self.x(v):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{v:g}</text>'
            for v in self.across.ticks()
        )
        return rows + columns


def _drawn(line: Line, colour: str, frame: _Frame) -> str:
    margins = line.margins or [0.0] * len(line.values)
    spots = list(zip(line.places, line.values, margins, strict=True))
    above = [f"{frame.x(p):.1f},{frame.y(v + m):.1f}" for p, v, m in spots]
    below = [f"{frame.x(p):.1f},{frame.y(v - m):.1f}" for p, v, m in reversed(spots)]
    through = [f"{frame.x(p):.1f},{frame.y(v):.1f}" for p, v, _ in spots]
    if line.dots:
        return "".join(
            f'<circle cx="{frame.x(p):.1f}" cy="{frame.y(v):.1f}" r="4" fill="{colour}"/>'
            f'<line x1="{frame.x(p):.1f}" x2="{frame.x(p):.1f}" y1="{frame.y(v - m):.1f}"'
            f' y2="{frame.y(v + m):.1f}" stroke="{colour}" stroke-width="1.5"/>'
            for p, v, m in spots
        )
    kind = "line paper" if line.paper else "line"
    band = f'<polygon class="band" style="fill:{colour}" points="{" ".join(above + below)}"/>'
    return (
        f'{band if line.margins else ""}<polyline class="{kind}" style="stroke:{colour}"'
        f' points="{" ".join(through)}"/>'
    )


def _names(lines: Sequence[Line]) -> str:
    return "".join(
        f'<text x="{LEFT + WIDTH + 12}" y="{TOP + 20 + 22 * i}"'
        f' style="fill:{COLOURS[i % len(COLOURS)]}">{escape(line.name)}</text>'
        for i, line in enumerate(lines)
    )
