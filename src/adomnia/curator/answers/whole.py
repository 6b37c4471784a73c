"""Whole intervals: where a count or a sum lies if nothing were left out (`quality.md`).

They are given for counts, and for sums of a column by itself. What is declared stays as it is:
values of such a sum are cut to their bounds, and the intervals say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from adomnia.curator.answers.cleaned_rows import only_misses
from adomnia.curator.answers.column_uses import deciding_columns
from adomnia.curator.answers.estimate import scaled
from adomnia.curator.answers.omissions import Omission, is_known
from adomnia.formatting import value
from adomnia.queries.expression import Column
from adomnia.queries.question import Given, Group, Question, Statistic
from adomnia.queries.ranges import Number

__all__ = ["Interval", "Whole", "whole_beside", "whole_columns", "whole_intervals", "whole_notes"]

Interval = tuple[float, float]
"""A low and a high end."""

Whole = Mapping[str, Sequence[Interval | None]]
"""For each column that is one count or sum an interval for each row; None where there is none."""

CLOSE = Fraction(1, 1000)
"""By so much of a step the floats of a sum may be off."""

_Moved = tuple[float, float]
"""By how much the truth may lie below and above what was counted, noise aside."""


def whole_columns(question: Question, left_out: Sequence[Omission]) -> tuple[str, ...]:
    """The columns that have such intervals, before anything is asked: what concerns them must be
    known."""
    return () if question.public else tuple(_bounded(question, left_out))


def whole_intervals(
    question: Question,
    rows: Sequence[tuple[Any, ...]],
    margins: Mapping[str, Sequence[float | None]],
    left_out: Sequence[Omission],
) -> dict[str, list[Interval | None]]:
    """The intervals of columns that are one count, or one sum of a column.

    The margins must hold with half of the doubt that the intervals have, and what is left out
    with the other half, as `left_out_of` tells it.
    """
    found: dict[str, list[Interval | None]] = {}
    places = {output.name: place for place, output in enumerate(question.outputs)}
    for name, statistic in _bounded(question, left_out).items():
        parts = _concerning(question, statistic, left_out)
        missing = only_misses(question, statistic)
        moved = {both: _moved(question, statistic, parts, both) for both in (True, False)}
        cells = [row[places[name]] for row in rows]
        found[name] = [
            _around(given, off, moved[not missing or _is_rest(question, row)], statistic)
            for row, given, off in zip(rows, cells, margins[name], strict=True)
        ]
    return found


def _is_rest(question: Question, row: tuple[Any, ...]) -> bool:
    """Whether a row of the answer is, or may be, of a group without a value: where what cannot be
    read is put."""
    keys = [
        place for place, output in enumerate(question.outputs) if isinstance(output.value, Group)
    ]
    return len(keys) < len(question.keys) or any(row[place] is None for place in keys)


def whole_beside(question: Question, left_out: Sequence[Omission]) -> dict[str, str | None]:
    """In words, what the interval of each column is about: values that are cut, and which rows are
    not in it."""
    return {
        name: ", ".join([*_cut(statistic), *_few(left_out)]) or None
        for name, statistic in _bounded(question, left_out).items()
    }


def whole_notes(found: Whole, beside: Mapping[str, str | None]) -> list[str]:
    """The intervals in words, of an answer that is one row; of several, what they are about."""
    return [*_of_one(found, beside), *_of_several(found, beside)]


def _of_several(found: Whole, beside: Mapping[str, str | None]) -> Iterator[str]:
    for name, ends in found.items():
        if len(ends) > 1:
            said = f", {beside[name]}" if beside[name] else ""
            yield f"whole: between these {name} lies with what is left out{said}"


def _of_one(found: Whole, beside: Mapping[str, str | None]) -> list[str]:
    pairs = [(name, ends[0]) for name, ends in found.items() if len(ends) == 1]
    return [
        f"with what is left out, {name} is between {value(ends[0])} and {value(ends[1])}"
        + (f", {beside[name]}" if beside[name] else "")
        for name, ends in pairs
        if ends is not None
    ]


def _bounded(question: Question, left_out: Sequence[Omission]) -> dict[str, Statistic]:
    """The statistics that have an interval, by the column that is one of them."""
    given = {
        output.name: question.statistics[output.value.index]
        for output in question.outputs
        if isinstance(output.value, Given)
    }
    return {
        name: statistic
        for name, statistic in given.items()
        if (statistic.kind == "count" or _summed(statistic) is not None)
        and is_known(_concerning(question, statistic, left_out))
    }


def _concerning(
    question: Question, statistic: Statistic, left_out: Sequence[Omission]
) -> list[Omission]:
    """What is left out of one count or sum: rows, and rows for the values that decide on them."""
    deciding, column = deciding_columns(question, statistic), _summed(statistic)
    own = deciding if column is None else deciding | {column.name}
    return [part for part in left_out if part.column is None or part.column in own]


def _summed(statistic: Statistic) -> Column | None:
    """The column that is added up, where it is a column by itself and between bounds.

    Values that are not in a list of numbers are not cut to its ends: some lie in its gaps.
    """
    column, spread = statistic.argument, getattr(statistic.argument, "range", None)
    if statistic.kind != "sum" or not isinstance(column, Column):
        return None
    return column if isinstance(spread, Number) and spread.values is None else None


def _cut(statistic: Statistic) -> list[str]:
    column = _summed(statistic)
    if column is None:
        return []
    assert isinstance(column.range, Number)
    low, high = (value(end * column.range.step) for end in (column.range.low, column.range.high))
    return [f"with values of {column.name} cut to {low}..{high}"]


def _few(left_out: Sequence[Omission]) -> list[str]:
    """Whose rows no number bounds."""
    rows = [part for part in left_out if part.what == "rows" and part.bound is not None]
    return [
        f"counting at most {part.bound:,} row{'s' * (part.bound != 1)} of each"
        if part.people is None
        else f"beside the rows beyond {part.bound:,} of at most {part.people:,} people"
        for part in rows
    ]


def _around(given: Any, off: float | None, moved: _Moved, statistic: Statistic) -> Interval | None:
    """The ends around a number, in whole steps as the number itself is."""
    if off is None or not isinstance(given, int | float):
        return None
    floor, column = _floor(statistic), _summed(statistic)
    low, high = max(floor, given - off + moved[0]), max(floor, given + off + moved[1])
    if column is None or not isinstance(column.range, Number):
        return low, high
    step = column.range.step
    return _stepped(low, step, math.floor), _stepped(high, step, math.ceil)


def _stepped(end: float, step: Fraction, away: Callable[[Fraction], int]) -> float:
    """An end at the step that it is, but for the last digit of a float; else at the next one."""
    if not math.isfinite(end):
        return end
    steps = Fraction(end) / step
    near = round(steps)
    return scaled(near if abs(steps - near) < CLOSE else away(steps), step)


def _floor(statistic: Statistic) -> float:
    """What no table has less of: a count is never negative, nor is a sum of such numbers."""
    column = _summed(statistic)
    return 0 if column is None or _ends(column)[0] >= 0 else -math.inf


def _ends(column: Column) -> tuple[float, float]:
    """The least and the most that one row adds to a sum; nothing is always possible."""
    spread = column.range
    assert isinstance(spread, Number)
    least, most = min(0, spread.low), max(0, spread.high)
    return float(least * spread.step), float(most * spread.step)


def _moved(
    question: Question, statistic: Statistic, parts: Sequence[Omission], both: bool
) -> _Moved:
    """Rows that are left out may all meet the conditions, or none. Rows whose values were cleaned
    may be missing, and where it is `both` be there by mistake, too. Without conditions every row
    counts. To a sum each row adds a number between the declared bounds, or nothing."""
    rows = [part for part in parts if part.what == "rows"]
    most, least = sum(part.most or 0 for part in rows), sum(part.least or 0 for part in rows)
    deciding, column = deciding_columns(question, statistic), _summed(statistic)
    turned = sum(part.most or 0 for part in parts if part.column in deciding)
    if column is not None:
        low, high = _ends(column)
        down = low - high if both else low
        up = high - low if both else high
        return most * low + down * turned, most * high + up * turned
    if question.where is None and not question.keys and statistic.argument is None:
        return least, most
    return -turned if both else 0, most + turned
