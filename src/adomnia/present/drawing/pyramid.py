"""A pyramid: two groups to both sides of a common axis, as populations are drawn by age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from adomnia.formatting import one_line, significant
from adomnia.present.drawing.frame import LETTER, ROW, WHOLE
from adomnia.present.drawing.scale import Scale
from adomnia.present.drawing.svg import element, svg, text

__all__ = ["PyramidSide", "pyramid"]

LEAST_MIDDLE, LEAST_EDGE, TOP = 64, 14, 34
"""How wide the names between both sides are at least, how far all stays from the edge, and from
above."""
TALLEST, THINNEST, THICKEST = 420, 4.0, 22.0
LONGEST_STEP, LONGEST_NAME = 24, 30
"""So many letters of a step, and of a group's name, are shown."""
BOLD = 1.1
"""Letters of a title are so much wider."""


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
    ends = [v + m for side in sides for v, m in zip(side.values, side.margins, strict=True)]
    scale = Scale.up([0.0, *ends], logarithmic=False, whole=True)
    shown = [one_line(step, LONGEST_STEP) for step in steps]
    named = [one_line(side.name, LONGEST_NAME) for side in sides]
    room = _Room.of(shown, scale)
    top = TOP if _is_one_line(named, along) else TOP + ROW
    foot = top + thick * len(steps)
    rows = [part for at in (0, 1) for part in _bars(sides[at], at, (foot, thick), (scale, room))]
    return svg(
        title, WHOLE, foot + 62,
        element("title", escape(title, quote=False)),
        *(part for at in (0, 1) for part in _axis(at, (top, foot), scale, room)),
        *rows,
        *_names(shown, foot, thick),
        *(text(named[at], WHOLE * (1 + 2 * at) / 4, 22, class_="title", text_anchor="middle")
          for at in (0, 1)),
        text(one_line(along, LONGEST_NAME), WHOLE / 2, top - 12, text_anchor="middle"),
        text(counted, WHOLE / 2, foot + 52, text_anchor="middle"),
        class_="framed plot", viewBox=f"0 0 {WHOLE} {foot + 62:g}",
    )  # fmt: skip


@dataclass(frozen=True)
class _Room:
    """How wide the middle is, and how far both sides end from the edge: all that is written there
    has its place."""

    middle: float
    edge: float

    @classmethod
    def of(cls, steps: Sequence[str], scale: Scale) -> _Room:
        """For these names in the middle, and the number at the far end of both axes."""
        widest = max((len(step) for step in steps), default=0)
        last = LETTER * len(significant(scale.ticks[-1])) / 2 + 6
        return cls(max(LEAST_MIDDLE, LETTER * widest + 12), max(LEAST_EDGE, last))

    @property
    def length(self) -> float:
        """How long the longest bar may be."""
        return (WHOLE - self.middle) / 2 - self.edge

    def at(self, side: int, share: float) -> float:
        """How far from the left a share of the room lies, on the left or on the right."""
        inner = WHOLE / 2 + (self.middle / 2 if side else -self.middle / 2)
        return inner + (1 if side else -1) * self.length * min(max(share, 0.0), 1.0)


def _is_one_line(names: Sequence[str], along: str) -> bool:
    """Whether what lies between both groups can stand between their names."""
    widest = BOLD * LETTER * max(map(len, names))
    return (widest + LETTER * len(along)) / 2 + 12 <= WHOLE / 4


def _bars(
    group: PyramidSide, side: int, place: tuple[float, float], within: tuple[Scale, _Room]
) -> Iterator[str]:
    (foot, thick), (scale, room) = place, within
    for step, (value, margin) in enumerate(zip(group.values, group.margins, strict=True)):
        y = foot - thick * (step + 1)
        near, far = sorted((room.at(side, 0.0), room.at(side, scale.share(max(value, 0.0)))))
        yield element("rect", class_=f"mark c{side}", stroke="none", x=near, y=y + thick * 0.08,
                      width=far - near, height=thick * 0.84)  # fmt: skip
        low, high = (room.at(side, scale.share(value + sign * margin)) for sign in (-1, 1))
        middle = y + thick / 2
        if margin:
            yield element("line", class_="spread", x1=low, x2=high, y1=middle, y2=middle)


def _axis(side: int, ends: tuple[float, float], scale: Scale, room: _Room) -> Iterator[str]:
    top, foot = ends
    for tick in scale.spaced(room.length, lambda tick: LETTER * len(significant(tick)) + 12):
        x = room.at(side, scale.share(tick))
        yield element("line", class_="axis", x1=x, x2=x, y1=top, y2=foot + 5)
        yield text(significant(tick), x, foot + ROW, text_anchor="middle")


def _names(steps: Sequence[str], foot: float, thick: float) -> Iterator[str]:
    """As many names as have room, from the lowest on."""
    each = max(1, round(ROW / thick + 0.5)) if thick < ROW else 1
    each = next(n for n in (1, 2, 5, 10, 20, 25, 50, 100, 10**6) if n >= each)
    for step in range(0, len(steps), each):
        y = foot - thick * (step + 0.5) + 5
        yield text(steps[step], WHOLE / 2, y, text_anchor="middle")
