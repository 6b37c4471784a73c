"""What an answer looks like before there is one: its columns and types, and answers of no row.

All of it rests on the statement and the policy alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from adomnia.curator.answers.answer import AnswerRow, AnswerTable, arrange
from adomnia.errors import QuestionError
from adomnia.limits import MAX_FREE_GROUPS
from adomnia.queries.grouping import cell_count
from adomnia.queries.post import known_beforehand, reckon, statistics
from adomnia.queries.question import Given, Group, Literal, Post, Question, Statistic
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth
from adomnia.queries.shown_groups import shown_rows
from adomnia.schema.table import Attribute

__all__ = ["Described", "describe", "without_data"]


WHOLE, EXACT, REAL = "bigint", "numeric", "double precision"
TEXT, TRUTH, DAY, MOMENT = "text", "boolean", "date", "timestamp"

_TRUTHS = ("eq", "ne", "lt", "le", "gt", "ge", "in", "between", "and", "or", "not", "is_null")
_WHOLES = ("floor", "ceil", "round")
_SAME = ("add", "sub", "mul", "neg", "abs", "least", "greatest", "coalesce", "nullif")


@dataclass(frozen=True)
class Described:
    """A column of an answer: its name, its type as PostgreSQL calls it, whether it has margins.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     database.session().describe("SELECT COUNT(*) AS n FROM people")
    (Described(name='n', type='bigint', is_noisy=True),)
    """

    name: str
    type: str
    is_noisy: bool = False
    has_interval: bool = field(default=False, repr=False)
    """Whether it is a quantile, or computed of one alone: it can be asked with an interval."""
    has_whole: bool = field(default=False, repr=False)
    """Whether it is a count or a sum of which is known what is left out."""
    in_rows: bool = field(default=False, repr=False)
    """Whether its margin is one of ranks or counts: so many rows, and not of values."""


def describe(question: Question) -> tuple[Described, ...]:
    """The columns of the question's answer."""
    return tuple(
        Described(
            output.name,
            _type(question, output.value),
            bool(statistics(output.value)) or known_beforehand(output.value),
            _has_interval(question, output.value),
            in_rows=_in_rows(question, output.value),
        )
        for output in question.outputs
    )


def _in_rows(question: Question, post: Post) -> bool:
    kinds = ("quantile", "min", "max", "mode")
    return isinstance(post, Given) and question.statistics[post.index].kind in kinds


def _has_interval(question: Question, post: Post) -> bool:
    kinds = [question.statistics[index].kind for index in statistics(post)]
    return len(kinds) == 1 and kinds[0] in ("quantile", "min", "max")


def without_data(question: Question, attributes: Mapping[str, Attribute]) -> AnswerTable:
    """The answer of a question that is public: its groups alone, or what is said of no row.

    What costs nothing can be asked for ever, so it is bounded more closely than what is paid.
    """
    if not question.empty and cell_count(question.keys) > MAX_FREE_GROUPS:
        raise QuestionError(
            f"at most {MAX_FREE_GROUPS:,} groups are listed for free", "group more coarsely"
        )
    names = tuple(output.name for output in question.outputs)
    noisy = [column.name for column in describe(question) if column.is_noisy]
    nothing = tuple(0 if s.kind in ("count", "distinct") else None for s in question.statistics)
    cells = () if question.empty else shown_rows(question.keys, attributes, question.where)
    rows = [
        AnswerRow(
            tuple(reckon(o.value, keys, nothing) for o in question.outputs), (), keys, nothing
        )
        for _, keys in cells
    ]
    found = [row.values for row in arrange(question, rows)]
    margins: dict[str, list[float | None]] = {name: [0.0] * len(found) for name in noisy}
    return AnswerTable(names, found, margins, question.notes, dict.fromkeys(noisy, "value"))


def _type(question: Question, post: Post) -> str:
    if isinstance(post, Group):
        return _of_range(question.keys[post.index].range)
    if isinstance(post, Given):
        return _of_statistic(question.statistics[post.index])
    if isinstance(post, Literal):
        return _of_value(post.value) if post.of is None else _of_statistic(post.of)
    return _of_operation(post.op, [_type(question, arg) for arg in post.args])


def _of_operation(op: str, types: list[str]) -> str:
    if op == "case":
        return _widest([*types[1:-1:2], types[-1]])
    if op in _SAME:
        return _widest(types)
    if op in _TRUTHS:
        return TRUTH
    return EXACT if op in _WHOLES and len(types) == 1 else REAL


def _of_range(spread: Range) -> str:
    if isinstance(spread, Number):
        return WHOLE if spread.whole else REAL
    return {Text: TEXT, Truth: TRUTH, Day: DAY, Moment: MOMENT}[type(spread)]


def _of_statistic(statistic: Statistic) -> str:
    if statistic.kind in ("count", "distinct"):
        return WHOLE
    if statistic.kind in ("avg", "var") or statistic.argument is None:
        return REAL
    found = _of_range(statistic.calendar or statistic.argument.range)
    return EXACT if statistic.kind == "sum" and found == WHOLE else found


def _of_value(value: Any) -> str:
    if isinstance(value, bool):
        return TRUTH
    kinds = ((int, WHOLE), (float, REAL), (datetime, MOMENT), (date, DAY))
    return next((name for kind, name in kinds if isinstance(value, kind)), TEXT)


def _widest(types: Sequence[str]) -> str:
    """The type that holds values of all of these; text where nothing else does."""
    order = (WHOLE, EXACT, REAL)
    if all(kind in order for kind in types):
        return max(types, key=order.index)
    return types[0] if len({*types}) == 1 else TEXT
