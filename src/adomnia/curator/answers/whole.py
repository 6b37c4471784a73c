"""Whole intervals: where a count or a sum lies if nothing were left out (`quality.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from adomnia.curator.answers.omissions import Omission, is_known, read_columns
from adomnia.formatting import value
from adomnia.queries.measurement import number
from adomnia.queries.question import Given, Question, Statistic

__all__ = ["Interval", "Whole", "whole_columns", "whole_intervals", "whole_notes"]

Interval = tuple[float, float]
"""A low and a high end."""

Whole = Mapping[str, Sequence[Interval | None]]
"""For each column that is one count or sum an interval for each row; None where there is none."""

_Moved = tuple[float, float]
"""By how much the truth may lie below and above what was counted, noise aside."""


def whole_columns(question: Question, left_out: Sequence[Omission]) -> tuple[str, ...]:
    """The columns that have such intervals, before anything is asked: all must be known."""
    if question.public or not is_known(left_out):
        return ()
    return tuple(
        output.name
        for output in question.outputs
        if isinstance(output.value, Given)
        and question.statistics[output.value.index].kind in ("count", "sum")
    )


def whole_intervals(
    question: Question,
    rows: Sequence[tuple[Any, ...]],
    margins: Mapping[str, Sequence[float | None]],
    left_out: Sequence[Omission],
) -> dict[str, list[Interval | None]]:
    """The intervals of columns that are one count or one sum.

    The margins must hold with half of the doubt that the intervals have, and what is left out
    with the other half, as `left_out_of` tells it; all of it must be known.
    """
    found: dict[str, list[Interval | None]] = {}
    for place, output in enumerate(question.outputs):
        if not isinstance(output.value, Given):
            continue
        statistic = question.statistics[output.value.index]
        moved, floor = _moved(question, statistic, left_out), _floor(statistic)
        if moved is not None:
            cells = [row[place] for row in rows]
            found[output.name] = [
                _around(given, off, moved, floor)
                for given, off in zip(cells, margins[output.name], strict=True)
            ]
    return found


def whole_notes(found: Whole) -> list[str]:
    """The intervals in words, of an answer that is one row."""
    pairs = [(name, ends[0]) for name, ends in found.items() if len(ends) == 1]
    return [
        f"with what is left out, {name} is between {value(ends[0])} and {value(ends[1])}"
        for name, ends in pairs
        if ends is not None
    ]


def _around(given: Any, off: float | None, moved: _Moved, floor: float) -> Interval | None:
    if off is None or not isinstance(given, int | float):
        return None
    low, high = given - off + moved[0], given + off + moved[1]
    return max(floor, low), max(floor, high)


def _floor(statistic: Statistic) -> float:
    """What no table has less of: a count is never negative, nor is a sum of such numbers."""
    if statistic.kind == "count":
        return 0
    return 0 if statistic.kind == "sum" and _ends(statistic)[0] >= 0 else -math.inf


def _ends(statistic: Statistic) -> tuple[float, float]:
    """The least and the most that one row adds to a sum; nothing is always possible."""
    assert statistic.argument is not None
    spread = number(statistic.argument)
    least, most = min(0, spread.low), max(0, spread.high)
    return float(least * spread.step), float(most * spread.step)


def _moved(question: Question, statistic: Statistic, parts: Sequence[Omission]) -> _Moved | None:
    if statistic.kind == "count":
        return _count(question, statistic, parts)
    return _sum(question, statistic, parts) if statistic.kind == "sum" else None


def _count(question: Question, statistic: Statistic, parts: Sequence[Omission]) -> _Moved:
    """Rows that are left out may all meet the conditions, or none; rows whose values were cleaned
    may meet them or not. Without conditions every row counts."""
    most = sum(part.most or 0 for part in parts if part.what == "rows")
    least = sum(part.least or 0 for part in parts if part.what == "rows")
    if question.where is None and not question.keys and statistic.argument is None:
        return least, most
    turned = _turned(question, parts)
    return -turned, most + turned


def _sum(question: Question, statistic: Statistic, parts: Sequence[Omission]) -> _Moved:
    """Each row adds a number between the declared bounds, or nothing."""
    low, high = _ends(statistic)
    rows = sum(part.most or 0 for part in parts if part.what == "rows")
    apart = (high - low) * _turned(question, parts)
    return rows * low - apart, rows * high + apart


def _turned(question: Question, parts: Sequence[Omission]) -> int:
    """How many rows at most have a cleaned value in what decides whether and where they count."""
    deciding = read_columns(question, arguments=False)
    return sum(part.most or 0 for part in parts if part.column in deciding)
