"""Lines and gauges, drawn as SVG by hand: small, readable without a script, and on paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Axis", "Line", "curves", "gauge", "standalone"]

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _EDGE, _TOP, _BOTTOM = 64, 150, 60, 26, 48
_STYLE = """<style>
svg { background: #fff; } text { fill: #1b1f24; font: 12px system-ui, sans-serif; }
.axis { stroke: #d1d9e0; } .line { fill: none; stroke-width: 2; } .ring { fill: none;
stroke: #b3471d; stroke-width: 2; } .level { stroke: #59636e; stroke-dasharray: 5 4; }
.c0 { stroke: #2f6f8f; } .c1 { stroke: #8a5a9e; } circle.c0 { fill: #2f6f8f; }
circle.c1 { fill: #8a5a9e; } .soft { fill: #59636e; }
</style>"""


@dataclass(frozen=True)
class Axis:
    """What is drawn along a side; a logarithmic one needs numbers above zero."""

    name: str
    logarithmic: bool = False
    show: Callable[[float], str] = "{:g}".format
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Line:
    """A line through points; `labels` stand at the points, `marked` ones have a ring."""

    name: str
    points: Sequence[tuple[float, float]]
    labels: Sequence[str] = ()
    marked: frozenset[int] = frozenset()


def curves(
    lines: Sequence[Line], x: Axis, y: Axis, title: str, levels: Sequence[tuple[str, float]] = ()
) -> str:
    """Lines in one frame; a level is a dashed line right across. The title is read aloud."""
    right = _WIDTH - (_RIGHT if levels else _EDGE)
    across = _Scale.of(x, [at for line in lines for at, _ in line.points], _LEFT, right)
    heights = [at for line in lines for _, at in line.points] + [at for _, at in levels]
    up = _Scale.of(y, heights, _HEIGHT - _BOTTOM, _TOP)
    drawn = [*_frame(across, up), *_legend(lines, right)]
    for name, at in levels:
        drawn.append(
            f'<line class="level" x1="{_LEFT}" x2="{right}" '
            f'y1="{up.place(at):.1f}" y2="{up.place(at):.1f}"/>'
        )
        drawn.append(f'<text x="{right + 8}" y="{up.place(at) + 4:.1f}">{escape(name)}</text>')
    for number, line in enumerate(lines):
        drawn += _line(line, number % 2, across, up)
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}"'
    return f'<svg role="img" aria-label="{escape(title)}" {size}>{"".join(drawn)}</svg>'


def standalone(svg: str) -> str:
    """The drawing as a file of its own, with its colours inside."""
    opened = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    head, _, rest = opened.partition(">")
    return f"{head}>{_STYLE}{rest}\n"


def gauge(value: float, ends: tuple[float, float], baseline: float, against: str) -> str:
    """A share between 0 and 1 with its interval, and a tick at the baseline with its name."""
    width, left = 420, 10
    low, high = ends

    def at(share: float) -> float:
        return left + width * min(max(share, 0.0), 1.0)

    name = escape(against)
    said = f"{value:.0%}; {name}: {baseline:.0%}"
    anchor, shift = ("start", 6) if baseline < 0.5 else ("end", -6)
    return (
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {width + 70} 50" width="{width + 70}">'
        f'<rect class="back" x="{left}" y="8" width="{width}" height="14" rx="3"/>'
        f'<rect class="bar" x="{left}" y="8" width="{at(value) - left:.1f}" height="14" rx="3"/>'
        f'<line class="error" x1="{at(low):.1f}" x2="{at(high):.1f}" y1="15" y2="15"/>'
        f'<line class="tick" x1="{at(baseline):.1f}" x2="{at(baseline):.1f}" y1="3" y2="30"/>'
        f'<text x="{left + width + 8}" y="20">{value:.0%}</text>'
        f'<text class="soft" x="{at(baseline) + shift:.1f}" y="42" text-anchor="{anchor}">'
        f"{name}</text></svg>"
    )


# Parts


@dataclass(frozen=True)
class _Scale:
    """Where a number lies along a side, from `start` to `stop`."""

    axis: Axis
    low: float
    high: float
    start: float
    stop: float

    @classmethod
    def of(cls, axis: Axis, values: Sequence[float], start: float, stop: float) -> _Scale:
        used = [v for v in values if math.isfinite(v) and (v > 0 or not axis.logarithmic)]
        low, high = axis.ends or (min(used, default=1), max(used, default=1))
        if axis.ends is None and not axis.logarithmic:
            low, high = min(0.0, low), high * 1.1
        if axis.ends is None and axis.logarithmic:
            low, high = low / 1.4, high * 1.4
        return cls(axis, low, high if high > low else low + 1, start, stop)

    def place(self, value: float) -> float:
        if self.axis.logarithmic:
            inside = max(value, self.low)
            share = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        if self.axis.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1, 2, 5) if len(powers) < 4 else (1,)
            every = [10.0**power * step for power in powers for step in steps]
            return [tick for tick in every if self.low <= tick <= self.high]
        wide = self.high - self.low
        unit = 10.0 ** math.floor(math.log10(wide))
        step = next(unit * part for part in (0.1, 0.2, 0.5, 1, 2) if wide / (unit * part) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        return [step * number for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _frame(across: _Scale, up: _Scale) -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, across.stop
    drawn = []
    for tick in up.ticks():
        y = up.place(tick)
        drawn.append(f'<line class="axis" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        shown = escape(up.axis.show(tick))
        drawn.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{shown}</text>')
    for tick in across.ticks():
        x = across.place(tick)
        shown = escape(across.axis.show(tick))
        drawn.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" '
                     f'y2="{bottom + 5}"/>')  # fmt: skip
        drawn.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{shown}</text>')
    drawn.append(f'<text class="soft" x="{(_LEFT + right) / 2:.0f}" y="{_HEIGHT - 8}" '
                 f'text-anchor="middle">{escape(across.axis.name)}</text>')  # fmt: skip
    drawn.append(f'<text class="soft" x="{_LEFT}" y="12" text-anchor="start">'
                 f"{escape(up.axis.name)}</text>")  # fmt: skip
    return drawn


def _line(line: Line, colour: int, across: _Scale, up: _Scale) -> list[str]:
    places = [(across.place(x), up.place(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    drawn = [f'<polyline class="line c{colour}" points="{path}"/>']
    for number, (x, y) in enumerate(places):
        drawn.append(f'<circle class="c{colour}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        if number in line.marked:
            drawn.append(f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="8"/>')
        if number < len(line.labels):
            text = escape(line.labels[number])
            drawn.append(f'<text x="{x + 7:.1f}" y="{y - 9:.1f}">{text}</text>')
    return drawn


def _legend(lines: Sequence[Line], right: float) -> list[str]:
    """The names of the lines above the frame, each beside a piece of its line."""
    drawn = []
    for number, line in enumerate(lines):
        x = right - 130 * (len(lines) - number)
        drawn.append(f'<line class="line c{number % 2}" x1="{x}" x2="{x + 18}" y1="8" y2="8"/>')
        drawn.append(f'<text x="{x + 24}" y="12">{escape(line.name)}</text>')
    return drawn
