"""Stairs: what was spent by then, after each step, up to a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adomnia.present.drawing.svg import element, svg, text

__all__ = ["stairs"]

TALL, WIDE, ABOVE = 200, 1000, 24


def stairs(
    steps: Sequence[tuple[float, float]], high: float, level: str, ends: tuple[str, str], title: str
) -> str:
    """What was spent by then: (time, sum) after each step, up to a level at the height of `high`.

    The times at both ends stand beneath; without a level's name the heights alone are told.
    """
    top = high or 1.0
    line = _path(steps, top)
    foot = ABOVE + TALL + 20
    scaled = element(
        "svg",
        element("path", class_="area", d=f"{line}L{WIDE} {TALL}Z"),
        element("path", class_="line c0", d=line, stroke_width=2,
                vector_effect="non-scaling-stroke"),
        y=ABOVE, width="100%", height=TALL, overflow="visible", viewBox=f"0 0 {WIDE} {TALL}",
        preserveAspectRatio="none",
    )  # fmt: skip
    return svg(
        title, "100%", foot + 8,
        *(part for quarter in range(5) for part in _height(quarter, top, level)),
        scaled,
        text(ends[0], 0, foot, class_="soft"),
        text(ends[1], "100%", foot, class_="soft", text_anchor="end"),
        class_="chart",
    )  # fmt: skip


def _path(steps: Sequence[tuple[float, float]], top: float) -> str:
    first, last = steps[0][0], steps[-1][0]
    span = 1.03 * (last - first) or 1.0  # a little room after the last
    path, before = [f"M0 {TALL}"], float(TALL)
    for time, spent in steps:
        x, y = WIDE * (time - first) / span, TALL * (1 - spent / top)
        path.append(f"L{x:.1f} {before:.2f}L{x:.1f} {y:.2f}")
        before = y
    return "".join([*path, f"L{WIDE} {before:.2f}"])


def _height(quarter: int, top: float, level: str) -> Iterator[str]:
    """A line across at so many quarters of the height, and what it means."""
    y, is_level = ABOVE + TALL * (1 - quarter / 4), quarter == 4 and bool(level)
    yield element("line", class_="level" if is_level else "axis", x1=0, x2="100%", y1=y, y2=y)
    if quarter:
        words = f"{top * quarter / 4:.4g} {level if is_level else ''}".strip()
        yield text(words, 0, y - 5, class_="soft")
