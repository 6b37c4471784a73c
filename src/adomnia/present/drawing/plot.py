"""Lines with error bands and dots in one frame.

Colours, marks and dashes say the same thing three times, so that a drawing can be read on paper
without colours; its description says it once more, for those who hear the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from zlib import crc32

from adomnia.formatting import significant
from adomnia.present.drawing.frame import LEFT, LETTER, ROW, WHOLE, WIDTH, Frame
from adomnia.present.drawing.names import placed_names
from adomnia.present.drawing.pen import Pen
from adomnia.present.drawing.series import MARKED, Plot, Series
from adomnia.present.drawing.svg import element, svg, text

__all__ = ["Plot", "Series", "draw"]

BOLD = 8.7
"""About how wide a letter of the title is."""


def draw(plot: Plot, heading: bool = True) -> str:
    """The drawing as SVG, with a title and a description that are read aloud.

    Without a `heading` the title is not shown: the page around has one.
    """
    titles = wrap(plot.title, int((WHOLE - 28) / BOLD)) if heading else []
    frame = Frame.of(plot, 18 + ROW * len(titles))
    pens = [Pen(line, at, _covers(plot.lines, at, frame)) for at, line in enumerate(plot.lines)]
    names, end = _names(pens, frame.foot + 60)
    name = f"plot{crc32(repr((plot.title, plot.lines)).encode()):08x}"
    return svg(
        plot.title, WHOLE, end,
        element("title", escape(plot.title, quote=False), id=f"{name}t"),
        element("desc", escape(_description(plot), quote=False), id=f"{name}d"),
        *(text(part, 14, 22 + ROW * i, class_="title") for i, part in enumerate(titles)),
        *frame.grid(),
        *_levels(plot, frame),
        *(part for pen in pens for part in pen.drawn(frame)),
        *placed_names(plot, frame),
        text(plot.across, LEFT + WIDTH / 2, frame.foot + 46, text_anchor="middle"),
        element("text", escape(plot.up, quote=False), text_anchor="middle",
                transform=f"translate(17 {frame.middle}) rotate(-90)"),
        *names,
        class_="framed plot", aria_labelledby=f"{name}t {name}d", viewBox=f"0 0 {WHOLE} {end}",
    )  # fmt: skip


def _levels(plot: Plot, frame: Frame) -> Iterator[str]:
    for _, height in plot.levels:
        y = frame.y(height)
        yield element("line", class_="level", x1=LEFT, x2=LEFT + WIDTH, y1=y, y2=y)


def _description(plot: Plot) -> str:
    """What is drawn, in words: the axes, and the numbers of each line, or its ends if many."""
    logs = [name for name, is_log in (("across", plot.log_across), ("up", plot.log_up)) if is_log]
    words = [f"Across: {plot.across}. Up: {plot.up}."]
    words += [f"Logarithmic: {' and '.join(logs)}."] if logs else []
    words += [f"A level at {plot.show_up(height)}: {name}." for name, height in plot.levels]
    for line in plot.lines:
        spots, many = line.spots(), ""
        if len(spots) > MARKED:
            spots, many = [spots[0], spots[-1]], f" ({len(spots)} points, the first and the last)"
        numbers = ", ".join(
            f"{_off(plot, v, m)} at {plot.show_across(place)}" for place, v, m in spots
        )
        named = f" These are {', '.join(line.labels)}." if line.labels else ""
        words.append(f"{line.name}{many}: {numbers}.{named}")
    return " ".join(words)


def _off(plot: Plot, value: float, margin: float) -> str:
    shown = plot.show_up(value)
    return f"{shown} ± {significant(margin, 2)}" if margin else shown


def _covers(lines: Sequence[Series], at: int, frame: Frame) -> int:
    """How many later lines run over this one, which must be wider than they are to be seen."""
    mine, many = {place: value for place, value, _ in lines[at].spots()}, 0
    for other in lines[at + 1 :]:
        theirs = {place: value for place, value, _ in other.spots()}
        near = [abs(frame.y(mine[place]) - frame.y(theirs[place])) < 3
                for place in mine.keys() & theirs.keys()]  # fmt: skip
        joined = not (lines[at].dots or other.dots)
        many += joined and len(near) > 1 and sum(near) > len(near) / 2
    return many


def _names(pens: Sequence[Pen], y: float) -> tuple[list[str], int]:
    """A sample and the name of every line, in rows below the frame, and where they end."""
    drawn: list[str] = []
    x, room = 14.0, WHOLE - 14
    for pen in pens:
        parts = wrap(pen.line.name, int((room - 52) / LETTER)) or [""]
        width = 38 + LETTER * max(map(len, parts)) + 18
        if x == 14 or x + width > room + 18:
            x, y = 14.0, y + ROW
        drawn += pen.sample(x, y - 5)
        for i, part in enumerate(parts):
            y += ROW * (i > 0)
            drawn.append(text(part, x + 38, y))
        x += width
    return drawn, math.ceil(y + 14)
