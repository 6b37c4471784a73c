"""A heat map: a cell for each pair of values, the darker the more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from adomnia.formatting import one_line
from adomnia.present.drawing.frame import LETTER, WHOLE
from adomnia.present.drawing.svg import element, svg, text

__all__ = ["heat_map"]

TALLEST, HIGHEST, LONGEST = 560.0, 24.0, 18
"""How high the map may be, how high a row, and how long a name is shown."""
TOP, EDGE = 30, 14


def heat_map(
    sides: tuple[tuple[str, Sequence[str]], tuple[str, Sequence[str]]],
    cells: Sequence[Sequence[tuple[float, str]]],
    title: str,
    show: Callable[[float], str] = "{:,.0f}".format,
    what: str = "",
) -> str:
    """A row for each value of the first side, a column for each of the second.

    A side has its name and its values; a cell its number, and the words that are told of it. The
    legend writes the largest number as `show` does, and `what` the numbers are.
    """
    (down, rows), (across, columns) = sides
    left = EDGE + 12 + LETTER * max((min(len(name), LONGEST) for name in rows), default=1)
    wide = (WHOLE - left - EDGE) / max(len(columns), 1)
    high = min(HIGHEST, TALLEST / max(len(rows), 1))
    foot = TOP + high * len(rows)
    most = max((number for row in cells for number, _ in row), default=0.0) or 1.0
    return svg(
        title, WHOLE, foot + 92,
        element("title", escape(title, quote=False)),
        *_cells(cells, (left, wide, high), most),
        *(text(one_line(rows[i], LONGEST), left - 8, TOP + high * (i + 0.5) + 5, text_anchor="end")
          for i in _spaced(len(rows), high, 20.0)),
        *(text(one_line(columns[i], LONGEST), left + wide * (i + 0.5), foot + 20,
               text_anchor="middle") for i in _spaced(len(columns), wide, _room(columns))),
        text(down, EDGE, 20, class_="title"),
        text(across, (left + WHOLE - EDGE) / 2, foot + 44, class_="title", text_anchor="middle"),
        *_legend(left, foot + 66, f"{show(most)} {what}".rstrip()),
        class_="framed plot", viewBox=f"0 0 {WHOLE} {foot + 92:g}",
    )  # fmt: skip


def _cells(
    cells: Sequence[Sequence[tuple[float, str]]], sizes: tuple[float, float, float], most: float
) -> Iterator[str]:
    left, wide, high = sizes
    for i, row in enumerate(cells):
        for j, (number, words) in enumerate(row):
            told = element("title", escape(words, quote=False))
            yield element("rect", told, class_="heat", x=left + wide * j, y=TOP + high * i,
                          width=wide, height=high, fill_opacity=_dark(number / most))  # fmt: skip


def _dark(share: float) -> float:
    return round(0.04 + 0.96 * min(max(share, 0.0), 1.0), 3)


def _room(names: Sequence[str]) -> float:
    return LETTER * max((min(len(name), LONGEST) for name in names), default=1) + 10


def _spaced(many: int, size: float, room: float) -> range:
    """Which of the names have room."""
    return range(0, many, max(1, -int(-room // max(size, 0.1))))


def _legend(x: float, y: float, most: str) -> Iterator[str]:
    """From none to the most, in five steps."""
    yield text("0", x, y + 13)
    for step in range(5):
        yield element("rect", class_="heat", x=x + 16 + 24 * step, y=y, width=24.0, height=16.0,
                      fill_opacity=_dark(step / 4))  # fmt: skip
    yield text(most, x + 16 + 24 * 5 + 8, y + 13)
