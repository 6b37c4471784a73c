"""Answers as a person sees them: each noisy number with its margin, in text, HTML and frames."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from html import escape
from typing import Any, Protocol

from adomnia.formatting import amounts, confidence, is_number, label, margin, one_line, value

__all__ = [
    "AnswerCell",
    "answer_cells",
    "answer_footer",
    "as_floats",
    "as_html",
    "as_text",
    "fit_for_frames",
    "has_dates",
    "margin_columns",
]  # fmt: skip

MOST_ROWS = 60
"""A longer answer is cut where a value is merely looked at; its `rows` have them all."""


class Shown(Protocol):
    """What is shown of an answer."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> list[tuple[Any, ...]]: ...
    @property
    def margins(self) -> dict[str, list[float | None]]: ...
    @property
    def margin_units(self) -> Mapping[str, str]: ...
    @property
    def intervals(self) -> Mapping[str, Sequence[tuple[Any, Any] | None]]: ...
    @property
    def whole(self) -> Mapping[str, Sequence[tuple[float, float] | None]]: ...
    @property
    def confidence(self) -> float: ...
    @property
    def spent(self) -> Mapping[str, Fraction]: ...
    @property
    def remaining(self) -> Mapping[str, Fraction]: ...
    @property
    def receipt(self) -> str: ...
    @property
    def edition(self) -> int | None: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class AnswerCell:
    """A value as a person reads it, with its margin where it is noisy."""

    text: str
    margin: str = ""
    is_number: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.margin}".rstrip() if self.margin else self.text


def answer_cells(answer: Shown, row: int) -> list[AnswerCell]:
    """The cells of one row."""
    cells = []
    for name, given in zip(answer.columns, answer.rows[row], strict=True):
        off = answer.margins[name][row] if name in answer.margins else None
        unit = answer.margin_units.get(name, "")
        if off is None or not (is_number(given) or unit == "rows"):
            text = value(given) if name in answer.margins else label(given)
            sure = _ends(answer, name, row).removeprefix(", ")
            cells.append(AnswerCell(text, sure, is_number(given)))
        else:
            text = value(given, None if unit == "rows" else off)
            sure = margin(off, unit) + _ends(answer, name, row)
            cells.append(AnswerCell(text, sure, is_number(given)))
    return cells


def _ends(answer: Shown, name: str, row: int) -> str:
    """From which value to which a quantile lies, where that was paid for; and in which a count or a
    sum does with what is left out, where there are several: of one it is said in a sentence."""
    ends = answer.intervals[name][row] if name in answer.intervals else None
    said = "" if ends is None else f", {value(ends[0])} to {value(ends[1])}"
    several = name in answer.whole and len(answer.rows) > 1
    whole = answer.whole[name][row] if several else None
    return said if whole is None else f"{said}, whole {value(whole[0])} to {value(whole[1])}"


def answer_footer(answer: Shown) -> Iterator[str]:
    """What it cost and what is left, how sure the margins are, then the notes."""
    left = {name: amount for name, amount in answer.remaining.items() if name != "delta" or amount}
    of = "" if answer.edition is None else f"; edition {answer.edition}"
    yield f"paid {amounts(answer.spent)}; left {amounts(left)}; receipt {answer.receipt}{of}"
    yield f"each ± holds with {confidence(answer.confidence)} confidence"
    yield from (f"note: {one_line(note)}" for note in answer.notes)


def margin_columns(answer: Shown) -> Iterator[tuple[str, list[Any]]]:
    """The columns by name, a column of margins behind each noisy one.

    It is called `n_margin`, or `n_margin_rows` where the margin is in rows; the ends of an interval
    are `n_low` and `n_high`, of one with nothing left out `n_whole_low` and `n_whole_high`. A name
    that the answer has already gets underscores behind it.
    """
    taken = set(answer.columns)
    for index, name in enumerate(answer.columns):
        yield name, [row[index] for row in answer.rows]
        for said, given in _beside(answer, name):
            beside = said
            while beside in taken:
                beside += "_"
            taken.add(beside)
            yield beside, given


def _beside(answer: Shown, name: str) -> Iterator[tuple[str, list[Any]]]:
    """The columns that stand behind a noisy one."""
    if name in answer.margins:
        rows = "_rows" if answer.margin_units.get(name) == "rows" else ""
        yield f"{name}_margin{rows}", answer.margins[name]
    for of, intervals in (("", answer.intervals), ("whole_", answer.whole)):
        for side, place in (("low", 0), ("high", 1)) if name in intervals else ():
            yield f"{name}_{of}{side}", [ends and ends[place] for ends in intervals[name]]


def fit_for_frames(values: Sequence[Any]) -> list[Any]:
    """A column as frames hold it: whole numbers of more than 64 bits become floats."""
    if any(type(given) is int and not -(2**63) <= given < 2**63 for given in values):
        return as_floats(values)
    return list(values)


def has_dates(values: Sequence[Any]) -> bool:
    """Whether days or moments are in a column, which are no floats in a frame."""
    return any(isinstance(given, date) for given in values)


def as_floats(values: Sequence[Any]) -> list[Any]:
    """Whole numbers as the nearest floats; those past all floats are infinite."""
    return [_float(given) if type(given) is int else given for given in values]


def _float(given: int) -> float:
    try:
        return float(given)
    except OverflowError:
        return math.inf if given > 0 else -math.inf


def as_text(answer: Shown) -> str:
    """A table in plain text, numbers to the right, and what should be said below it."""
    rows = [[one_line(str(cell)) for cell in line] for line in _lines(answer)]
    names = [one_line(name) for name in answer.columns]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    right = [name in answer.margins for name in answer.columns]
    table = [names, ["-" * width for width in widths], *rows]
    lines = [_line(cells, widths, right) for cells in table]
    return "\n".join([*lines, *_cut(answer), "", *answer_footer(answer)])


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if number else cell.ljust(width)
        for cell, width, number in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def as_html(answer: Shown) -> str:
    """The same as an HTML table, for notebooks."""
    head = "".join(f"<th>{escape(one_line(name))}</th>" for name in answer.columns)
    body = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in _lines(answer))
    said = "<br>".join(map(escape, (*_cut(answer), *answer_footer(answer))))
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{said}</small></p>"
    )


def _cell(cell: AnswerCell) -> str:
    side = ' style="text-align:right"' if cell.is_number or cell.margin else ""
    return f"<td{side}>{escape(one_line(str(cell)))}</td>"


def _lines(answer: Shown) -> list[list[AnswerCell]]:
    return [answer_cells(answer, row) for row in range(min(len(answer.rows), MOST_ROWS))]


def _cut(answer: Shown) -> list[str]:
    more = len(answer.rows) - MOST_ROWS
    return [f"… and {more:,} more rows, in `rows`"] if more > 0 else []
