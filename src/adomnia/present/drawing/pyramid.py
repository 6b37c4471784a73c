"""A pyramid: two groups to both sides of a common axis, as populations are drawn by age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from adomnia.formatting import significant
from adomnia.present.drawing.frame import ROW, WHOLE
from adomnia.present.drawing.scale import Scale
from adomnia.present.drawing.svg import element, svg, text

__all__ = ["PyramidSide", "pyramid"]

MIDDLE, EDGE, TOP = 64, 14, 34
"""How wide the names between both sides are, how far all stays from the edge, and from above."""
TALLEST, THINNEST, THICKEST = 420, 4.0, 22.0


@dataclass(frozen=True)
class PyramidSide:
    """One of the two groups: its name, a value for each step, and how far each may be off."""

    name: str
    values: Sequence[float]
    margins: Sequence[float]


def pyramid(
    steps: Sequence[str], sides: tuple[PyramidSide, PyramidSide], words: tuple[str, str, str]
) -> str:
    """Bars for both groups at each step, the first one lowest; `words` are the title, what the
    steps are, and what the bars count."""
    title, along, counted = words
    thick = min(max(TALLEST / max(len(steps), 1), THINNEST), THICKEST)
    foot = TOP + thick * len(steps)
    ends = [v + m for side in sides for v, m in zip(side.values, side.margins, strict=True)]
    scale = Scale.up([0.0, *ends], logarithmic=False, whole=True)
    rows = [part for at in (0, 1) for part in _bars(sides[at], at, (foot, thick), scale)]
    return svg(
        title, WHOLE, foot + 62,
        element("title", escape(title, quote=False)),
        *(part for at in (0, 1) for part in _axis(at, foot, scale)),
        *rows,
        *_names(steps, foot, thick),
        *(text(sides[at].name, (EDGE + _ROOM / 2, WHOLE - EDGE - _ROOM / 2)[at], 22,
               class_="title", text_anchor="middle") for at in (0, 1)),
        text(along, WHOLE / 2, 22, text_anchor="middle"),
        text(counted, WHOLE / 2, foot + 52, text_anchor="middle"),
        class_="framed plot", viewBox=f"0 0 {WHOLE} {foot + 62:g}",
    )  # fmt: skip


_ROOM = (WHOLE - MIDDLE) / 2 - EDGE
"""How long the longest bar may be."""


def _at(side: int, share: float) -> float:
    """How far from the left a share of the room lies, on the left or on the right."""
    inner = WHOLE / 2 + (MIDDLE / 2 if side else -MIDDLE / 2)
    return inner + (1 if side else -1) * _ROOM * min(max(share, 0.0), 1.0)


def _bars(group: PyramidSide, side: int, place: tuple[float, float], scale: Scale) -> Iterator[str]:
    foot, thick = place
    for step, (value, margin) in enumerate(zip(group.values, group.margins, strict=True)):
        y = foot - thick * (step + 1)
        near, far = sorted((_at(side, 0.0), _at(side, scale.share(max(value, 0.0)))))
        yield element("rect", class_=f"mark c{side}", stroke="none", x=near, y=y + thick * 0.08,
                      width=far - near, height=thick * 0.84)  # fmt: skip
        low, high = (_at(side, scale.share(value + sign * margin)) for sign in (-1, 1))
        middle = y + thick / 2
        if margin:
            yield element("line", class_="spread", x1=low, x2=high, y1=middle, y2=middle)


def _axis(side: int, foot: float, scale: Scale) -> Iterator[str]:
    for tick in scale.spaced(_ROOM, lambda tick: 8.0 * len(significant(tick)) + 12):
        x = _at(side, scale.share(tick))
        yield element("line", class_="axis", x1=x, x2=x, y1=TOP, y2=foot + 5)
        yield text(significant(tick), x, foot + ROW, text_anchor="middle")


def _names(steps: Sequence[str], foot: float, thick: float) -> Iterator[str]:
    """As many names as have room, from the lowest on."""
    each = max(1, round(ROW / thick + 0.5)) if thick < ROW else 1
    each = next(n for n in (1, 2, 5, 10, 20, 25, 50, 100, 10**6) if n >= each)
    for step in range(0, len(steps), each):
        y = foot - thick * (step + 0.5) + 5
        yield text(steps[step], WHOLE / 2, y, text_anchor="middle")
