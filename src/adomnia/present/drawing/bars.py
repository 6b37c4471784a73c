"""Pictures of answers and budgets: SVG in shares of its width, so that text stays legible.

The report room's drawings shrink as a whole on a narrow page; an answer and a gauge are looked at
on telephones too, so here only the bars shrink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from adomnia.present import formatting as words

__all__ = ["Bar", "bar_chart", "meter", "stairs"]

ROW, TRACK = 44, 10
MOST_BARS = 60
TALL, WIDE, ABOVE = 200, 1000, 24


@dataclass(frozen=True)
class Bar:
    """A value with its name; the margin is to be drawn, `said` is what stands beside it."""

    label: str
    value: float
    margin: float | None
    said: str


def bar_chart(bars: Sequence[Bar], title: str) -> str:
    """A bar for each value with its margin to both sides, from a common zero."""
    shown = bars[:MOST_BARS]
    ends = [(bar.value - (bar.margin or 0), bar.value + (bar.margin or 0)) for bar in shown]
    low = min(0.0, *(end[0] for end in ends)) if ends else 0.0
    high = max(0.0, *(end[1] for end in ends)) if ends else 0.0
    span = (high - low) or 1.0
    rows = "".join(_row(bar, place * ROW, low, span) for place, bar in enumerate(shown))
    return (
        f'<svg class="chart" role="img" aria-label="{escape(title)}" width="100%" '
        f'height="{ROW * len(shown)}">{rows}</svg>'
    )


def _row(bar: Bar, top: float, low: float, span: float) -> str:
    def at(value: float) -> float:
        return 0.4 + 99.2 * (value - low) / span  # the caps at both ends stay whole

    zero, end = at(0.0), at(bar.value)
    middle = top + 26 + TRACK / 2
    drawn = [
        f'<text class="label" x="0" y="{top + 17}">{escape(words.one_line(bar.label, 34))}</text>',
        f'<text class="figure" x="100%" y="{top + 17}" text-anchor="end">{escape(bar.said)}</text>',
        f'<rect class="back" x="0" y="{top + 26}" width="100%" height="{TRACK}" rx="3"/>',
        f'<rect class="bar" x="{min(zero, end):.2f}%" y="{top + 26}" '
        f'width="{abs(end - zero):.2f}%" height="{TRACK}" rx="3"/>',
    ]
    if bar.margin is not None:
        left, right = at(bar.value - bar.margin), at(bar.value + bar.margin)
        for look in ("halo", "error"):  # the halo keeps it apart from the bar beneath
            drawn.append(_stroke(look, (left, right), (middle, middle)))
            drawn += [_stroke(look, (x, x), (middle - 6, middle + 6)) for x in (left, right)]
    return "".join(drawn)


def _stroke(look: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    across = f'x1="{x[0]:.2f}%" x2="{x[1]:.2f}%"'
    return f'<line class="{look}" {across} y1="{y[0]}" y2="{y[1]}"/>'


def meter(spent: float, total: float, label: str, said: str) -> str:
    """A gauge of a budget: what is spent of it, read aloud as it is written beside it."""
    share = min(max(spent / total, 0.0), 1.0) if total else 1.0
    mood = "gone" if share > 0.999 else "low" if share > 0.8 else "calm"
    return (
        f'<div class="meter {mood}" role="meter" aria-label="{escape(label)}" aria-valuemin="0" '
        f'aria-valuemax="{total:.9g}" aria-valuenow="{min(spent, total):.9g}" '
        f'aria-valuetext="{escape(said)}"><svg aria-hidden="true" width="100%" height="12">'
        '<rect class="back" x="0" y="0" width="100%" height="12" rx="6"/>'
        f'<rect class="bar" x="0" y="0" width="{100 * share:.2f}%" height="12" rx="6"/></svg></div>'
    )


def stairs(
    steps: Sequence[tuple[float, float]], high: float, level: str, ends: tuple[str, str], title: str
) -> str:
    """What was spent by then: (time, sum) after each step, up to a level at the height of `high`.

    The times at both ends stand beneath; without a level's name the heights alone are told.
    """
    first, last = steps[0][0], steps[-1][0]
    span, top = 1.03 * (last - first) or 1.0, high or 1.0  # a little room after the last
    path, before = [f"M0 {TALL}"], float(TALL)
    for time, spent in steps:
        x, y = WIDE * (time - first) / span, TALL * (1 - spent / top)
        path.append(f"L{x:.1f} {before:.2f}L{x:.1f} {y:.2f}")
        before = y
    path.append(f"L{WIDE} {before:.2f}")
    line = "".join(path)
    fit = f'viewBox="0 0 {WIDE} {TALL}" preserveAspectRatio="none"'
    foot = ABOVE + TALL + 20
    return (
        f'<svg class="chart" role="img" aria-label="{escape(title)}" width="100%" '
        f'height="{foot + 8}">{"".join(_height(part, top, level) for part in range(5))}'
        f'<svg y="{ABOVE}" width="100%" height="{TALL}" overflow="visible" {fit}>'
        f'<path class="area" d="{line}L{WIDE} {TALL}Z"/>'
        f'<path class="line c0" d="{line}" vector-effect="non-scaling-stroke"/></svg>'
        f'<text class="soft" x="0" y="{foot}">{escape(ends[0])}</text>'
        f'<text class="soft" x="100%" y="{foot}" text-anchor="end">{escape(ends[1])}</text></svg>'
    )


def _height(part: int, top: float, level: str) -> str:
    """A line across at so many quarters of the height, and what it means."""
    y, is_level = ABOVE + TALL * (1 - part / 4), part == 4 and bool(level)
    said = f"{top * part / 4:.4g} {level if is_level else ''}" if part else ""
    look = "level" if is_level else "axis"
    return (
        f'<line class="{look}" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        f'<text class="soft" x="0" y="{y - 5}">{escape(said)}</text>'
    )
