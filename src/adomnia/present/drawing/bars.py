"""Bars with their margins to both sides, in shares of the width: on a telephone only they shrink,
and words stay legible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adomnia.formatting import one_line, significant
from adomnia.present.drawing.scale import Scale
from adomnia.present.drawing.svg import element, svg, text

__all__ = ["MOST_BARS", "Bar", "bar_chart"]

ROW, TRACK, THIN = 44, 10, 6
"""How high a bar is with its words, how high itself, and how high without words."""
BENEATH = 48
"""How high an axis is with its words."""
MOST_BARS = 60
"""So many have their words."""


@dataclass(frozen=True)
class Bar:
    """A value with its name; the margin is to be drawn, `figure` is what stands beside it.

    Where the margin is not the same to both sides, `interval` has its ends.
    """

    label: str
    value: float
    margin: float | None
    figure: str
    interval: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Where the margin ends, if there is one."""
        if self.interval is not None or self.margin is None:
            return self.interval
        return self.value - self.margin, self.value + self.margin


def bar_chart(
    bars: Sequence[Bar], title: str, most: int = MOST_BARS, axis: str | None = None
) -> str:
    """A bar for each value with its margin, from a common zero; after `most` it ends.

    Very many bars are drawn thin, and without words. An `axis` has ticks beneath the bars, and
    this name.
    """
    shown = bars[:most]
    ends = [bar.ends or (bar.value, bar.value) for bar in shown]
    low, high = min([0.0, *(end[0] for end in ends)]), max([0.0, *(end[1] for end in ends)])
    scale = Scale.up([low, high], logarithmic=False)
    if axis is not None:
        low, high = scale.low, scale.high
    span = (high - low) or 1.0
    row, drawn = (ROW, _worded) if len(shown) <= MOST_BARS else (THIN, _thin)
    rows = [part for i, bar in enumerate(shown) for part in drawn(bar, i * row, low, span)]
    foot = row * len(shown)
    beneath = [] if axis is None or not shown else list(_axis(scale, foot, axis))
    return svg(title, "100%", foot + bool(beneath) * BENEATH, *beneath, *rows, class_="chart")


def _axis(scale: Scale, foot: float, name: str) -> Iterator[str]:
    """Ticks with their numbers below all bars, few enough for a telephone, and a name."""
    for tick in scale.spaced(300, lambda tick: 8.0 * len(significant(tick)) + 12):
        share = _at(tick, scale.low, (scale.high - scale.low) or 1.0)
        anchor = "start" if share < 5 else "end" if share > 95 else "middle"
        yield element("line", class_="axis", x1=_percent(share), x2=_percent(share), y1=0,
                      y2=foot + 5)  # fmt: skip
        yield text(significant(tick), _percent(share), foot + 20, class_="soft", text_anchor=anchor)
    yield text(name, "50%", foot + 40, class_="soft", text_anchor="middle")


def _worded(bar: Bar, top: float, low: float, span: float) -> Iterator[str]:
    """The name and the figure above, the bar on a track beneath, its margin with caps."""
    yield text(one_line(bar.label, 34), 0, top + 17, class_="label")
    yield text(bar.figure, "100%", top + 17, class_="figure", text_anchor="end")
    yield element("rect", class_="back", x=0, y=top + 26, width="100%", height=TRACK, rx=3)
    yield _bar(bar, (top + 26, TRACK), low, span)
    if bar.ends is None:
        return
    ends = (_at(bar.ends[0], low, span), _at(bar.ends[1], low, span))
    middle = top + 26 + TRACK / 2
    for kind in ("halo", "error"):  # the halo keeps it apart from the bar beneath
        yield _stroke(kind, ends, (middle, middle))
        yield from (_stroke(kind, (x, x), (middle - 6, middle + 6)) for x in ends)


def _thin(bar: Bar, top: float, low: float, span: float) -> Iterator[str]:
    yield _bar(bar, (top + 1, THIN - 2), low, span)
    if bar.ends is not None:
        ends = (_at(bar.ends[0], low, span), _at(bar.ends[1], low, span))
        yield _stroke("error", ends, (top + THIN / 2, top + THIN / 2))


def _bar(bar: Bar, vertical: tuple[float, float], low: float, span: float) -> str:
    zero, end = _at(0.0, low, span), _at(bar.value, low, span)
    y, height = vertical
    return element("rect", class_="bar", x=_percent(min(zero, end)), y=y,
                   width=_percent(abs(end - zero)), height=height, rx=0.3 * height)  # fmt: skip


def _stroke(kind: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    return element("line", class_=kind, x1=_percent(x[0]), x2=_percent(x[1]), y1=y[0], y2=y[1])


def _at(value: float, low: float, span: float) -> float:
    return 0.4 + 99.2 * (value - low) / span  # the caps at both ends stay whole


def _percent(share: float) -> str:
    return f"{share:.2f}%"
