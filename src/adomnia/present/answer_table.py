"""Answers as tables: each noisy number with its margin, and a chart for each noisy column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adomnia.curator.answers.answer import Answer
from adomnia.present.drawing.bars import Bar
from adomnia.present.formatting import is_number, label, margin, value

__all__ = ["AnswerCell", "answer_bars", "answer_cells", "margin_columns"]

LARGEST = 1e300
"""A picture holds no larger number."""


@dataclass(frozen=True)
class AnswerCell:
    """A value as a person reads it, with its margin where it is noisy."""

    text: str
    margin: str = ""
    is_number: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.margin}".rstrip() if self.margin else self.text


def answer_cells(answer: Answer, row: int) -> list[AnswerCell]:
    """The cells of one row."""
    cells = []
    for name, given in zip(answer.columns, answer.rows[row], strict=True):
        off = answer.margins[name][row] if name in answer.margins else None
        unit = answer.margin_units.get(name, "")
        if off is None or not (is_number(given) or unit == "rows"):
            text = value(given) if name in answer.margins else label(given)
            cells.append(AnswerCell(text, is_number=is_number(given)))
        else:
            text = value(given, None if unit == "rows" else off)
            cells.append(AnswerCell(text, margin(off, unit), is_number(given)))
    return cells


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
        figure = value(given, off) if off is None else f"{value(given, off)} {margin(off)}"
        bars.append(Bar(key, float(given), off if _is_drawable(off) else None, figure))
    return bars


def _is_drawable(given: Any) -> bool:
    """Whether this is a number that a picture can hold; an infinite margin is told, not drawn."""
    return is_number(given) and abs(given) < LARGEST


def margin_columns(answer: Answer) -> Iterator[list[Any]]:
    """The head and the rows of a table with a column of margins beside each noisy one."""
    head: list[Any] = []
    for name in answer.columns:
        unit = " in rows" if answer.margin_units.get(name) == "rows" else ""
        head += [name, f"{name} margin{unit}"] if name in answer.margins else [name]
    yield head
    for number, row in enumerate(answer.rows):
        line: list[Any] = []
        for name, given in zip(answer.columns, row, strict=True):
            noisy = name in answer.margins
            line += [given, answer.margins[name][number]] if noisy else [given]
        yield line
