"""Lines with error bands, and the paper's own numbers beside them, drawn as SVG by hand.

Colours, marks and dashes say the same thing three times, so that a drawing can be read on paper
without colours; its description says it once more, for those who hear the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from textwrap import wrap
from zlib import crc32

from adomnia.present.drawing.scale import Scale, number

__all__ = ["Plot", "Series", "draw"]

LEFT, WIDTH, HEIGHT, RIGHT = 78, 464, 290, 26
WHOLE = LEFT + WIDTH + RIGHT
LETTER, BOLD, ROW = 7.9, 8.7, 21
"""About how wide a letter is, one of the title, and how high a line of text."""
COLOURS = ("#1f5f8b", "#c2410c", "#3f7d20", "#7e22ce", "#0891b2", "#be185d", "#8a6d00", "#3f3f46")
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "M-4-4H4V4H-4Z",
    "M0-5L5 4H-5Z",
    "M0-5.5L5 0 0 5.5-5 0Z",
)
MARKED = 16
"""Lines with more places than this have no marks on them, and are not read out in full."""
STYLE = (
    ".plot text{font:14px system-ui,sans-serif;fill:#222}.plot .title{font-weight:600}"
    ".plot .grid{stroke:#ddd}.plot .line{fill:none;stroke-width:2}.plot .band{opacity:.2}"
    ".plot .label{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}"
    ".plot .under{opacity:.4}.plot .paper{stroke-dasharray:7 4}"
)


@dataclass(frozen=True)
class Series:
    """A named series: places, values, and how far each value may be off.

    What the `paper` says is drawn dashed, or as hollow dots; `dots` are not joined, and `labels`
    may name each of them.
    """

    name: str
    places: Sequence[float]
    values: Sequence[float]
    margins: Sequence[float] = ()
    paper: bool = False
    dots: bool = False
    labels: Sequence[str] = ()

    def spots(self) -> list[tuple[float, float, float]]:
        """Place, value and margin, zero where none is given."""
        margins = self.margins or [0.0] * len(self.values)
        return list(zip(self.places, self.values, margins, strict=True))


@dataclass(frozen=True)
class Plot:
    """One drawing: its title, its axes with their units, and whether they are logarithmic."""

    title: str
    across: str
    up: str
    lines: Sequence[Series]
    log_across: bool = False
    log_up: bool = False
    ends_up: tuple[float, float] | None = None


def draw(plot: Plot) -> str:
    """The drawing as SVG, with a title and a description that are read aloud."""
    titles = wrap(plot.title, int((WHOLE - 28) / BOLD))
    frame = _Frame.of(plot, 18 + ROW * len(titles))
    pens = [_Pen(line, at, _covers(plot.lines, at, frame)) for at, line in enumerate(plot.lines)]
    below = frame.top + HEIGHT + 46
    names, end = _names(pens, below + 14)
    name = f"plot{crc32(repr(plot).encode()):08x}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img"'
        f' aria-labelledby="{name}t {name}d" viewBox="0 0 {WHOLE} {end}" width="{WHOLE}">'
        f'<title id="{name}t">{escape(plot.title)}</title>'
        f'<desc id="{name}d">{escape(_described(plot))}</desc><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        + "".join(_text(part, 14, 22 + ROW * i, "title") for i, part in enumerate(titles))
        + frame.grid()
        + "".join(pen.drawn(frame) for pen in pens)
        + _labels(plot.lines, frame)
        + _text(plot.across, LEFT + WIDTH / 2, below, anchor="middle")
        + f'<text transform="translate(17 {frame.top + HEIGHT / 2}) rotate(-90)"'
        f' text-anchor="middle">{escape(plot.up)}</text>{names}</svg>\n'
    )


def _text(text: str, x: float, y: float, kind: str = "", anchor: str = "start") -> str:
    role = f' class="{kind}"' if kind else ""
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{role} x="{x:.1f}" y="{y:.1f}"{side}>{escape(text)}</text>'


def _described(plot: Plot) -> str:
    """What is drawn, in words: the axes, and the numbers of each line, or its ends if many."""
    logs = [name for name, is_log in (("across", plot.log_across), ("up", plot.log_up)) if is_log]
    said = [f"Across: {plot.across}. Up: {plot.up}."]
    said += [f"Logarithmic: {' and '.join(logs)}."] if logs else []
    for line in plot.lines:
        spots, many = line.spots(), ""
        if len(spots) > MARKED:
            spots, many = [spots[0], spots[-1]], f" ({len(spots)} points, the first and the last)"
        told = ", ".join(f"{_off(v, m)} at {number(p)}" for p, v, m in spots)
        named = f" These are {', '.join(line.labels)}." if line.labels else ""
        said.append(f"{line.name}{many}: {told}.{named}")
    return " ".join(said)


def _off(value: float, margin: float) -> str:
    return f"{number(value)} ± {number(margin, 2)}" if margin else number(value)


@dataclass(frozen=True)
class _Frame:
    across: Scale
    up: Scale
    top: float

    @classmethod
    def of(cls, plot: Plot, top: float) -> _Frame:
        places = [place for line in plot.lines for place in line.places]
        ends = [v + side * m for line in plot.lines for _, v, m in line.spots() for side in (-1, 1)]
        # On a logarithmic axis a band may reach zero: only the values themselves say where to end.
        heights = [v for line in plot.lines for v in line.values] if plot.log_up else ends
        return cls(
            Scale.across(places, plot.log_across), Scale.up(heights, plot.log_up, plot.ends_up), top
        )

    def x(self, place: float) -> float:
        return LEFT + WIDTH * self.across.share(place)

    def y(self, value: float) -> float:
        return self.top + HEIGHT * (1 - min(max(self.up.share(value), 0.0), 1.0))

    def grid(self) -> str:
        foot = self.top + HEIGHT
        rows = "".join(
            f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{self.y(v):.1f}"'
            f' y2="{self.y(v):.1f}"/>{_text(number(v), LEFT - 8, self.y(v) + 5, anchor="end")}'
            for v in self.up.spaced(HEIGHT, lambda tick: ROW)
        )
        columns = "".join(
            f'<line class="grid" x1="{self.x(v):.1f}" x2="{self.x(v):.1f}" y1="{foot}"'
            f' y2="{foot + 5}"/>{_text(number(v), self.x(v), foot + ROW, anchor="middle")}'
            for v in self.across.spaced(WIDTH, lambda tick: LETTER * len(number(tick)) + 12)
        )
        return rows + columns


def _covers(lines: Sequence[Series], at: int, frame: _Frame) -> int:
    """How many later lines run over this one, which must be wider than they are to be seen."""
    mine, found = {place: value for place, value, _ in lines[at].spots()}, 0
    for other in lines[at + 1 :]:
        theirs = {place: value for place, value, _ in other.spots()}
        near = [abs(frame.y(mine[place]) - frame.y(theirs[place])) < 3
                for place in mine.keys() & theirs.keys()]  # fmt: skip
        joined = not (lines[at].dots or other.dots)
        found += joined and len(near) > 1 and sum(near) > len(near) / 2
    return found


@dataclass(frozen=True)
class _Pen:
    """How a line is drawn, in the frame and as a sample beside its name."""

    line: Series
    at: int
    under: int

    @property
    def colour(self) -> str:
        return COLOURS[self.at % len(COLOURS)]

    def mark(self, x: float, y: float) -> str:
        inside = "#fff" if self.line.paper else self.colour
        return (
            f'<path transform="translate({x:.1f} {y:.1f})" d="{MARKS[self.at % len(MARKS)]}"'
            f' fill="{inside}" stroke="{self.colour}" stroke-width="1.5"/>'
        )

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        kinds = "line" + " paper" * self.line.paper + " under" * bool(self.under)
        spots = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        wide = f' style="stroke-width:{4 + 4 * self.under}"' if self.under else ""
        return f'<polyline class="{kinds}" stroke="{self.colour}"{wide} points="{spots}"/>'

    @property
    def marked(self) -> bool:
        return self.line.dots or not (self.line.paper or len(self.line.values) > MARKED)

    def drawn(self, frame: _Frame) -> str:
        spots = [(frame.x(p), frame.y(v), frame.y(v - m), frame.y(v + m))
                 for p, v, m in self.line.spots()]  # fmt: skip
        parts = [self.mark(x, y) for x, y, *_ in spots] if self.marked else []
        if self.line.dots:
            bars = [
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"'
                f' stroke="{self.colour}" stroke-width="1.5"/>'
                for x, _, low, high in spots
                if low != high
            ]
            return "".join(bars + parts)
        around = [(x, high) for x, _, _, high in spots] + [(x, low) for x, _, low, _ in spots[::-1]]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in around)
        band = f'<polygon class="band" fill="{self.colour}" points="{corners}"/>'
        path = self.path([(x, y) for x, y, *_ in spots])
        return (band if self.line.margins else "") + path + "".join(parts)

    def sample(self, x: float, y: float) -> str:
        if self.line.dots:
            return self.mark(x + 15, y)
        band = (
            f'<rect class="band" x="{x}" y="{y - 6}" width="30" height="12" fill="{self.colour}"/>'
        )
        mark = self.mark(x + 15, y) if self.marked else ""
        return (band if self.line.margins else "") + self.path([(x, y), (x + 30, y)]) + mark


def _names(pens: Sequence[_Pen], y: float) -> tuple[str, int]:
    """A sample and the name of every line, in rows below the frame, and where they end."""
    said, x, room = [], 14.0, WHOLE - 14
    for pen in pens:
        parts = wrap(pen.line.name, int((room - 52) / LETTER)) or [""]
        width = 38 + LETTER * max(map(len, parts)) + 18
        if x == 14 or x + width > room + 18:
            x, y = 14.0, y + ROW
        said.append(pen.sample(x, y - 5))
        for i, part in enumerate(parts):
            y += ROW * (i > 0)
            said.append(_text(part, x + 38, y))
        x += width
    return "".join(said), math.ceil(y + 14)


def _labels(lines: Sequence[Series], frame: _Frame) -> str:
    """Names beside dots: right or left of them, where they hide least of lines and other names."""
    said, taken = [], [point for line in lines if not line.dots for point in _along(line, frame)]
    for line in lines:
        for label, (place, value, _) in zip(line.labels, line.spots(), strict=False):
            x, y, width = frame.x(place), frame.y(value), LETTER * len(label)
            sides = (x + 10, x - 10 - width)
            starts = [side for side in sides if LEFT <= side < WHOLE - width] or [LEFT]
            spots = [(start, y + down) for down in (5, -10, 20) for start in starts]
            best = min(spots, key=lambda spot: _hidden(spot, width, taken))
            taken += [(best[0] + part * width / 9, best[1] - 5) for part in range(10)]
            left = best[0] < x
            said.append(_text(label, best[0] + left * width, best[1], "label",
                              "end" if left else "start"))  # fmt: skip
    return "".join(said)


def _along(line: Series, frame: _Frame) -> list[tuple[float, float]]:
    """Points on a line, close to each other."""
    ends = [(frame.x(place), frame.y(value)) for place, value, _ in line.spots()]
    return [
        (x + (u - x) * part / 50, y + (v - y) * part / 50)
        for (x, y), (u, v) in pairwise(ends)
        for part in range(51)
    ]


def _hidden(spot: tuple[float, float], width: float, points: Sequence[tuple[float, float]]) -> int:
    """How many of the points a name at this spot would lie on."""
    x, y = spot
    return sum(x - 2 <= u <= x + width + 2 and y - 14 <= v <= y + 5 for u, v in points)
