"""Answers: rows, margins, what they cost and what is left; everything here is already public."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import cmp_to_key, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from adomnia.curator.answers.answer_view import (
    as_floats,
    as_html,
    as_text,
    fit_for_frames,
    has_dates,
    margin_columns,
)
from adomnia.curator.answers.column_margins import column_margin, jointly
from adomnia.curator.answers.estimate import (
    ColumnNoise,
    Estimate,
    Interval,
    Unit,
    column_noise,
    estimates,
)
from adomnia.curator.answers.quantile_columns import (
    computed_notes,
    has_interval,
    interval_in,
    quantile_notes,
)
from adomnia.curator.planning.plan import Plan
from adomnia.errors import MachineryError
from adomnia.mechanisms.noisy_values import Measured, Noisy
from adomnia.privacy.events import Free
from adomnia.queries.measurement import Mode, Quantile
from adomnia.queries.post import known_beforehand, reckon, statistics
from adomnia.queries.question import Given, Post, Question
from adomnia.queries.ranges import Day, Moment, Range, lies_outside, show
from adomnia.queries.shown_groups import shown_rows
from adomnia.schema.table import Attribute

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from polars import DataFrame

    from adomnia.curator.answers.omissions import Omission
    from adomnia.curator.answers.whole import Whole

__all__ = ["Answer", "AnswerRow", "AnswerTable", "arrange", "margin_unit", "tabulate"]

MOST_BITS = 10_000
"""Bits of a whole number in an answer: sums multiplied with each other have ever more."""


@dataclass(frozen=True)
class AnswerTable:
    """The rows of an answer, its margins by column, and what should be said beside them."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    margins: dict[str, list[float | None]]
    notes: tuple[str, ...] = ()
    margin_units: Mapping[str, Unit] = field(default_factory=dict)
    noise: Mapping[str, ColumnNoise] = field(default_factory=dict)
    intervals: Mapping[str, list[Interval | None]] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Answer:
    """A private answer.

    `margins` gives for each noisy column one number per row: the truth is within it with the
    given confidence. `margin_units` says in what: `value`, as the column itself, or `rows`, for
    quantiles and modes, by how many rows the rank or the count may be off. `noise` says of each
    column that is one count, sum or moment what was added to it. `spent` and `remaining` are
    exact; `receipt` names the ledger's entry, `edition` the number of the edition that was asked.
    `intervals` has the quantiles that were asked with `error="interval"`: for each row from which
    value to which, and the exact one lies between them with the given confidence.

    `left_out` says what cleaning and bounds leave out of it, in numbers where the curator paid for
    them. Then `whole` gives for counts and sums of a column the interval in which the truth lies if
    nothing were left out, with the same confidence (`adomnia why quality`); `whole_beside` says
    which rows of a few people are not in it, and to which bounds values are cut.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     answer = database.session().ask("SELECT MEDIAN(age) AS age FROM people", epsilon=1)
    >>> answer.columns, len(answer.rows), answer.margin_units["age"], answer.spent["epsilon"]
    (('age',), 1, 'rows', Fraction(1, 1))
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    margins: dict[str, list[float | None]]
    confidence: float
    spent: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    receipt: str
    notes: tuple[str, ...] = field(default=())
    margin_units: Mapping[str, Unit] = field(default_factory=dict)
    noise: Mapping[str, ColumnNoise] = field(default_factory=dict)
    edition: int | None = None
    left_out: tuple[Omission, ...] = ()
    whole: Whole = field(default_factory=dict)
    whole_beside: Mapping[str, str | None] = field(default_factory=dict)
    intervals: Mapping[str, list[Interval | None]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {
            "columns": list(self.columns),
            "rows": [[_plain(value) for value in row] for row in self.rows],
            "margins": self.margins,
            "margin_units": dict(self.margin_units),
            "intervals": {
                name: [e and [*map(_plain, e)] for e in ends]
                for name, ends in self.intervals.items()
            },
            "confidence": self.confidence,
            "spent": {name: str(value) for name, value in self.spent.items()},
            "remaining": {name: str(value) for name, value in self.remaining.items()},
            "receipt": self.receipt,
            "notes": list(self.notes),
            "edition": self.edition,
            "left_out": [part.to_json() for part in self.left_out],
            "whole": {name: list(intervals) for name, intervals in self.whole.items()},
            "whole_beside": dict(self.whole_beside),
        }

    def __str__(self) -> str:
        """A table with margins, what it cost and what is left; long ones are cut."""
        return as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        return as_html(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame, with a column of margins behind each noisy one.

        `n_margin` is in the unit of `n`; of quantiles and modes it is `m_margin_rows`, in rows, and
        an interval that was asked for is in `m_low` and `m_high`. Where it is known what is left
        out, `n_whole_low` and `n_whole_high` have the interval of `whole`. The frame's `attrs` have
        the confidence, the receipt, in what each margin is, and what is left out. Raises a
        MachineryError where pandas is not installed.
        """
        pandas = _library("pandas")

        made = {
            name: pandas.Series(fit_for_frames(given))
            if name in self.columns or has_dates(given)
            else pandas.Series(as_floats(given), dtype="float64")
            for name, given in margin_columns(self)
        }
        frame = pandas.DataFrame(made)
        frame.attrs.update(self._about())
        return frame

    def to_polars(self) -> DataFrame:
        """A polars frame, with columns as `to_pandas` has them; it has no room for more.

        Raises a MachineryError where polars is not installed.
        """
        polars = _library("polars")
        frame: DataFrame = polars.DataFrame(
            [
                polars.Series(name, fit_for_frames(given), strict=False)
                if name in self.columns or has_dates(given)
                else polars.Series(name, as_floats(given), dtype=polars.Float64)
                for name, given in margin_columns(self)
            ]
        )
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table, with columns as `to_pandas` has them; its metadata is those `attrs`."""
        import pyarrow  # noqa: PLC0415 (slow to import)

        made = {
            name: pyarrow.array(fit_for_frames(given))
            if name in self.columns or has_dates(given)
            else pyarrow.array(as_floats(given), pyarrow.float64())
            for name, given in margin_columns(self)
        }
        return pyarrow.table(made).replace_schema_metadata({"adomnia": json.dumps(self._about())})

    def _about(self) -> dict[str, Any]:
        """What a frame says of its numbers."""
        said = self.to_json()
        named = ("margin_units", "confidence", "receipt", "spent", "notes", "left_out", "whole",
                 "whole_beside")  # fmt: skip
        return {name: said[name] for name in named}


def _library(name: str) -> Any:
    """A library of frames, which is an extra."""
    try:
        return import_module(name)
    except ImportError:
        raise MachineryError(
            f"{name} is not installed", "pip install 'adomnia[frames]'; rows and margins are lists"
        ) from None


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def tabulate(
    plan: Plan, readings: Measured, confidence: float, attributes: Mapping[str, Attribute]
) -> AnswerTable:
    """The table that the statement asks for, from what was measured."""
    question = plan.question
    found = estimates(plan, readings, confidence)
    sure = jointly(plan, readings, confidence)
    noisy = {
        output.name: (output.value, sure.get(len(used), found))
        for output in question.outputs
        if (used := statistics(output.value)) or known_beforehand(output.value)
    }
    rows = [
        _row(question, keys, cell, found, noisy.values())
        for cell, keys in _cells(question, readings, attributes)
    ]
    rows = arrange(question, rows)
    names = tuple(output.name for output in question.outputs)
    margins = {name: [row.margins[i] for row in rows] for i, name in enumerate(noisy)}
    notes = (*question.notes, *_notes(plan, readings.parts))
    units = {name: margin_unit(post, found) for name, (post, _) in noisy.items()}
    noise = column_noise(plan, readings, [row.cell for row in rows])
    ends = {
        name: [interval_in(post, row.cell, row.keys, found) for row in rows]
        for name, (post, _) in noisy.items()
        if has_interval(post, found)
    }
    return AnswerTable(names, [row.values for row in rows], margins, notes, units, noise, ends)


def margin_unit(post: Post, found: Sequence[Estimate]) -> Unit:
    """In what the margin of a column is: as that of its one statistic, or in its own unit."""
    return found[post.index].unit if isinstance(post, Given) else "value"


@dataclass(frozen=True)
class AnswerRow:
    """One row of an answer, the margins of its noisy columns, and what it was computed of: its
    keys, its statistics, and the cell that these were measured in."""

    values: tuple[Any, ...]
    margins: tuple[float | None, ...]
    keys: tuple[Any, ...]
    given: tuple[Any, ...]
    cell: int = 0


def _cells(
    question: Question, readings: Measured, attributes: Mapping[str, Attribute]
) -> list[tuple[int, tuple[Any, ...]]]:
    if readings.keys is None:
        return list(shown_rows(question.keys, attributes, question.where))
    spreads = [key.range for key in question.keys]
    return [
        (i, tuple(_shown(spread, value) for spread, value in zip(spreads, key, strict=True)))
        for i, key in enumerate(readings.keys)
        if not any(map(_is_outside, spreads, key))
    ]


def _is_outside(spread: Range, value: Any) -> bool:
    return lies_outside(spread, _kept(spread, value))


def _shown(spread: Range, value: Any) -> Any:
    """A selected key as a person reads it."""
    return show(spread, _kept(spread, value))


def _kept(spread: Range, value: Any) -> Any:
    """A selected key; the ledger keeps days and moments as text."""
    if isinstance(spread, Day) and isinstance(value, str):
        return date.fromisoformat(value)
    moment = isinstance(spread, Moment) and isinstance(value, str)
    return datetime.fromisoformat(value) if moment else value


def _row(
    question: Question,
    keys: tuple[Any, ...],
    cell: int,
    found: list[Estimate],
    noisy: Iterable[tuple[Post, list[Estimate]]],
) -> AnswerRow:
    given = tuple(estimate.values[cell] for estimate in found)
    values = tuple(_held(reckon(output.value, keys, given)) for output in question.outputs)
    margins = tuple(column_margin(post, keys, cell, trusted) for post, trusted in noisy)
    return AnswerRow(values, margins, keys, given, cell)


def _held(value: Any) -> Any:
    """The value; a whole number of more digits than Python writes is infinite."""
    if type(value) is int and value.bit_length() > MOST_BITS:
        return math.inf if value > 0 else -math.inf
    return value


def arrange(question: Question, rows: list[AnswerRow]) -> list[AnswerRow]:
    """HAVING, ORDER BY, OFFSET and LIMIT, on the noisy rows."""
    having = question.having
    if having is not None:
        rows = [row for row in rows if reckon(having, row.keys, row.given) is True]
    if question.order:
        rows = sorted(rows, key=cmp_to_key(partial(_compare, question)))
    end = None if question.limit is None else question.offset + question.limit
    return rows[question.offset : end]


def _compare(question: Question, a: AnswerRow, b: AnswerRow) -> int:
    for sort in question.order:
        first, second = (reckon(sort.value, row.keys, row.given) for row in (a, b))
        if first == second:
            continue
        if first is None or second is None:
            return -1 if (first is None) == sort.nulls_first else 1
        return -1 if _is_before(first, second) != sort.descending else 1
    return 0


def _is_before(first: Any, second: Any) -> bool:
    """The order of two values; those of different types go by the names of their types."""
    try:
        return bool(first < second)
    except TypeError:
        return type(first).__name__ < type(second).__name__


def _notes(plan: Plan, parts: tuple[Noisy, ...]) -> tuple[str, ...]:
    notes: list[str] = []
    pairs = zip(plan.steps, parts, strict=True)
    quantiles = [(s.measurement, p.law) for s, p in pairs if isinstance(s.measurement, Quantile)]
    notes += quantile_notes(quantiles)
    notes += computed_notes(plan.question)
    if any(isinstance(step.measurement, Mode) for step in plan.steps):
        notes.append(
            "the margin of a mode is in rows: how many fewer may have it than have the most "
            "frequent value; without rows every value is as likely"
        )
    if any(isinstance(step.event, Free) for step in plan.steps):
        notes.append(
            "a number without a margin of error is the same for all neighbours: "
            "it is public, and nothing was spent on it"
        )
    if any(part.fitted for part in parts):
        notes.append(
            "the counts were moved to the nearest table that agrees with what is public; "
            "margins are those of the noise before that"
        )
    if plan.threshold is not None:
        same = all(s.noise == p.noise for s, p in zip(plan.steps, parts, strict=True))
        reached = str(plan.threshold) if same else "the threshold of its time"
        notes.append(f"groups are shown only where their noisy count reached {reached}")
    return tuple(notes)
