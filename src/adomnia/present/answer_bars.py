"""Answers as charts: a bar for each row of a noisy column."""

from __future__ import annotations

from typing import Any

from adomnia.curator.answers.answer import Answer
from adomnia.formatting import is_number, label, margin, value
from adomnia.present.drawing.bars import Bar

__all__ = ["answer_bars"]

LARGEST = 1e300
"""A picture holds no larger number."""


def answer_bars(answer: Answer, name: str) -> list[Bar]:
    """A bar for each row of a noisy column that can be drawn."""
    column = answer.columns.index(name)
    keys = [i for i, other in enumerate(answer.columns) if other not in answer.margins]
    in_rows = answer.margin_units.get(name) == "rows"  # along another axis than the value
    bars = []
    for number, row in enumerate(answer.rows):
        given = row[column]
        if not _is_drawable(given):
            continue
        key = ", ".join(label(row[i]) for i in keys) or f"row {number + 1}"
        off = None if in_rows else answer.margins[name][number]
        ends = answer.intervals[name][number] if name in answer.intervals else None
        bars.append(_bar(key, given, off, ends))
    return bars


def _bar(key: str, given: float, off: float | None, ends: tuple[Any, Any] | None) -> Bar:
    """A bar with its margin to both sides, or with the interval that was paid for."""
    if ends is not None and all(map(_is_drawable, ends)):
        figure = f"{value(given)}, {value(ends[0])} to {value(ends[1])}"
        return Bar(key, float(given), None, figure, (float(ends[0]), float(ends[1])))
    figure = value(given, off) if off is None else f"{value(given, off)} {margin(off)}"
    return Bar(key, float(given), off if _is_drawable(off) else None, figure)


def _is_drawable(given: Any) -> bool:
    """Whether this is a number that a picture can hold; an infinite margin is told, not drawn."""
    return is_number(given) and abs(given) < LARGEST
