"""What was released exactly: read from the policy or a statement, kept in the ledger, bound.

The ledger keeps the statement and the released numbers as people read them, so that they mean
the same under a policy that was edited since.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from adomnia.errors import QuestionError
from adomnia.priors.prior_knowledge import Interval, Published
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import axes, cell_count
from adomnia.queries.measurement import Counts, Sum, number
from adomnia.queries.question import Given, Group, Question, Statistic
from adomnia.queries.ranges import lies_outside, show

__all__ = ["Prior", "bind_prior", "read_values"]

NULLS = ("", "NULL")
MANY = 1 << 57
"""More rows, or steps of a sum, than there are."""


@dataclass(frozen=True)
class Prior:
    """A statement whose answer is public, and its numbers where they were given.

    `rows` are the released lines, with a heading. `rounded`: to the nearest multiple of this.
    `below`: numbers under this were left out.
    """

    sql: str
    rows: tuple[tuple[str, ...], ...] | None = None
    rounded: int | None = None
    below: int | None = None

    @property
    def digest(self) -> str:
        """What makes two registrations the same."""
        text = json.dumps([self.sql, self.rows, self.rounded, self.below])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def is_rounded(self) -> bool:
        """Whether its numbers are not exact."""
        return self.rounded is not None or self.below is not None

    def to_json(self) -> dict[str, Any]:
        """The release as the ledger keeps it; its numbers are public."""
        return {**asdict(self), "digest": self.digest}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Prior:
        """The release of a ledger entry."""
        rows = body["rows"]
        lines = None if rows is None else tuple(tuple(str(v) for v in row) for row in rows)
        return cls(str(body["sql"]), lines, body["rounded"], body["below"])


def read_values(file: str | Path) -> tuple[tuple[str, ...], ...]:
    """The lines of a CSV file with a heading."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as opened:
            rows = tuple(tuple(v.strip() for v in row) for row in csv.reader(opened) if row)
    except (OSError, UnicodeDecodeError, csv.Error):
        raise QuestionError(
            f"the released numbers in {str(file)!r} cannot be read", "a CSV file with a heading"
        ) from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise QuestionError(
            f"the released numbers in {str(file)!r} are not a table",
            "a heading, and as many fields in every line",
        )
    return rows


def bind_prior(prior: Prior, bind: Callable[[str], Question]) -> Published:
    """The release over the cells of its keys."""
    question = bind(prior.sql)
    if question.rows is not None:
        raise QuestionError(
            "what was released of joined rows, or computed for each unit, cannot be registered",
            "register the counts of single rows that it follows from",
        )
    _refuse_partial(question)
    _columns([output.name for output in question.outputs], question)  # shown, each by itself
    measurements = tuple(_measurement(statistic) for statistic in question.statistics)
    values = None if prior.rows is None else _values(prior, question, measurements)
    loose: tuple[int, ...] = ()
    if question.keys and Counts((None,)) not in measurements:
        # Which groups an answer has is public too: whether each has a row.
        loose = (len(measurements),)
        measurements = (*measurements, Counts((None,)))
    rounded = prior.is_rounded
    return Published(prior.sql, question.where, question.keys, measurements, values, rounded, loose)


def _refuse_partial(question: Question) -> None:
    """What shows only some of its groups says something about the others: register all."""
    if question.having is not None or question.limit is not None or question.offset:
        raise QuestionError(
            "a release is registered whole",
            "leave out HAVING and LIMIT; for small numbers left out, say --below N",
        )
    if question.open:
        raise QuestionError(
            "a key of this release has no declared domain",
            "declare its values in the policy: the promise is about all its cells",
        )


def _measurement(statistic: Statistic) -> Counts | Sum:
    if statistic.kind == "count":
        return Counts((statistic.argument,))
    if statistic.kind == "sum" and statistic.argument is not None:
        return Sum(statistic.argument)
    raise QuestionError(
        f"{statistic.kind.upper()} is not a count or a sum, and only these can be registered",
        "for AVG release the SUM and the COUNT behind it too, and register these",
    )


# Released numbers


def _values(
    prior: Prior, question: Question, measurements: tuple[Counts | Sum, ...]
) -> tuple[tuple[Interval, ...], ...]:
    assert prior.rows is not None
    places = _columns(prior.rows[0], question)
    absent = [_hidden(prior, measurement) for measurement in measurements]
    presence = question.keys and Counts((None,)) not in measurements
    if presence:
        absent.append((0, MANY) if prior.is_rounded else (0, 0))
    found = [list(absent) for _ in range(cell_count(question.keys))]
    seen: set[int] = set()
    for line, row in enumerate(prior.rows[1:], start=2):
        cell = _cell(row, question.keys, places, line)
        if cell in seen:
            raise QuestionError(f"line {line} of the released numbers repeats a group", "one each")
        seen.add(cell)
        for index, measurement in enumerate(measurements):
            text = row[places[Given(index)]]
            found[cell][index] = _interval(text, measurement, prior, line)
        if presence:
            found[cell][-1] = (1, MANY)
    return tuple(tuple(row) for row in found)


def _columns(heading: Sequence[str], question: Question) -> dict[Group | Given, int]:
    """Where each key and each statistic stands in the released lines."""
    wanted = {output.name: output.value for output in question.outputs}
    simple = {value: name for name, value in wanted.items() if isinstance(value, Group | Given)}
    needed = [Group(i) for i in range(len(question.keys))]
    for part in (*needed, *(Given(i) for i in range(len(question.statistics)))):
        if part not in simple:
            raise QuestionError(
                "released numbers need every key and every count or sum as a column of its own",
                "name them in SELECT, without arithmetic",
            )
        if simple[part] not in heading:
            raise QuestionError(
                f"the released numbers have no column {simple[part]!r}",
                "their columns are: " + ", ".join(heading),
            )
    return {part: list(heading).index(name) for part, name in simple.items() if name in heading}


def _hidden(prior: Prior, measurement: Counts | Sum) -> Interval:
    """What a group stands for that the released lines do not have."""
    counts = isinstance(measurement, Counts)
    if prior.below is not None:
        return (0, max(prior.below - 1, (prior.rounded or 0) // 2)) if counts else (-MANY, MANY)
    half = Fraction(prior.rounded or 0) / 2 / _step(measurement)
    return (0 if counts else math.ceil(-half)), math.floor(half)


def _step(measurement: Counts | Sum) -> Fraction:
    return number(measurement.argument).step if isinstance(measurement, Sum) else Fraction(1)


def _cell(
    row: Sequence[str], keys: tuple[Expr, ...], places: Mapping[Group | Given, int], line: int
) -> int:
    cell = 0
    for index, (key, axis) in enumerate(zip(keys, axes(keys), strict=True)):
        text = row[places[Group(index)]]
        names = {
            _spelled(show(key.range, value)): place
            for place, value in enumerate(axis)
            if not lies_outside(key.range, value)
        }
        wanted = _spelled(None) if text in NULLS else text
        at = names.get(wanted, names.get(wanted.lower(), names.get(_number_text(wanted))))
        if at is None:
            raise QuestionError(
                f"line {line} of the released numbers has the group {text[:40]!r}, "
                "which the policy does not declare",
                "correct the numbers or the attribute's values",
            )
        cell = cell * len(axis) + at
    return cell


def _spelled(value: Any) -> str:
    if value is None:
        return "\0"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number_text(text: str) -> str:
    """5.0 is 5, and 0.50 is 0.5."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text
    return str(int(value)) if value.denominator == 1 else str(float(value))


def _interval(text: str, measurement: Counts | Sum, prior: Prior, line: int) -> Interval:
    """Between which whole numbers of steps a released number lies."""
    if text in NULLS and prior.below is not None:
        return _hidden(prior, measurement)
    step = _step(measurement)
    try:
        steps = Fraction(text) / step
    except (ValueError, ZeroDivisionError):
        raise _bad(text, line, "it is not a number") from None
    half = Fraction(prior.rounded or 0) / 2 / step
    low, high = math.ceil(steps - half), math.floor(steps + half)
    if isinstance(measurement, Counts):
        if steps < 0:
            raise _bad(text, line, "a count is not negative")
        low = max(0, low)
    if low > high:
        raise _bad(text, line, f"it is not a multiple of {step}")
    return low, high


def _bad(text: str, line: int, why: str) -> QuestionError:
    return QuestionError(
        f"line {line} of the released numbers has {text[:40]!r}: {why}", "correct it"
    )
