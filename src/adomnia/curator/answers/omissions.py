"""What is left out of an answer: in numbers where it was paid for, in words where it was not.

It rests on the statement, the policy and paid counts alone: nothing that is exact decides what is
said (`quality.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adomnia.curator.answers.quality_counts import Quality
from adomnia.engines.sql.units import ChosenGroups
from adomnia.mechanisms.margins.margin import margin
from adomnia.queries.expression import Expr, columns
from adomnia.queries.question import Question
from adomnia.schema.domain import Categories, Dates, Grid
from adomnia.schema.table import Table

__all__ = ["Omission", "all_left_out", "is_known", "left_out_of", "read_columns"]

CLAMPED = ("sum", "avg", "var", "quantile", "min", "max")
"""Statistics that take a value outside of its bounds as the nearest one."""
HOW = "how many is not known: adomnia load --quality 0.02"


@dataclass(frozen=True)
class Omission:
    """Something that cleaning or a bound leaves out of an answer.

    `count` is about how many rows or values of the whole table that is, up to `margin`; None where
    nobody paid to know. Rows are counted up to `bound` for each person, and at most `people` have
    more (None where that is not known). All of it holds together with half of the answer's doubt;
    `says` tells it in words.

    >>> Omission("rows", "rows beyond max_rows are not counted").to_json()["count"] is None
    True
    """

    what: Literal["rows", "groups", "values"]
    says: str
    column: str | None = None
    count: int | None = None
    margin: int | None = None
    bound: int | None = None
    people: int | None = None

    @property
    def most(self) -> int | None:
        """So many at most."""
        if self.count is None or self.margin is None:
            return None
        return max(0, self.count + self.margin)

    @property
    def least(self) -> int | None:
        """So many at least."""
        if self.count is None or self.margin is None:
            return None
        return max(0, self.count - self.margin)

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        return dict(vars(self))


def left_out_of(
    question: Question, table: Table, quality: Quality | None, confidence: float
) -> tuple[Omission, ...]:
    """What concerns this question of all that is left out."""
    read = [name for name in table.attributes if name in read_columns(question)]
    paid = [] if quality is None else [name for name in read if name in quality.values]
    claims = len(paid) + (0 if quality is None or quality.rows is None else 2)
    sure = 1 - (1 - confidence) / (2 * max(1, claims))
    return tuple(_all(question, table, quality, (paid, sure)))


def all_left_out(table: Table, quality: Quality, confidence: float) -> tuple[Omission, ...]:
    """All that was counted of an edition, whatever is asked."""
    rows = quality.rows is not None
    sure = 1 - (1 - confidence) / max(1, len(quality.values) + 2 * rows)
    values = (_values(table, quality, name, sure) for name in quality.values)
    return (*([_rows(quality, sure)] if rows else []), *values)


def is_known(parts: Sequence[Omission]) -> bool:
    """Whether there is something, and a number for all of it."""
    return bool(parts) and all(part.most is not None for part in parts)


def _all(
    question: Question, table: Table, quality: Quality | None, paid: tuple[list[str], float]
) -> Iterator[Omission]:
    (known, sure), owned = paid, table.unit is not None and bool(question.statistics)
    if owned:
        yield _rows(quality, sure)
    if owned and ChosenGroups.of(table, question.keys):
        yield Omission("groups", "rows beyond max_groups are not counted; how many is not known")
    if quality is not None:
        yield from (_values(table, quality, name, sure) for name in known)
        return
    for name in _clamped(question, table):
        says = f"values of {name} outside of its bounds count as the nearest of them; {HOW}"
        yield Omission("values", says, name)


def read_columns(question: Question, arguments: bool = True) -> frozenset[str]:
    """The columns that a question reads; of its statistics only conditions, without arguments."""
    listed: list[Expr | None] = [question.where, *question.keys]
    listed += [s.argument for s in question.statistics if arguments or s.kind == "count"]
    return frozenset(column.name for expr in listed for column in columns(expr))


def _clamped(question: Question, table: Table) -> Iterator[str]:
    """Columns of numbers and days that are clamped in a sum, an average or a quantile."""
    arguments = [s.argument for s in question.statistics if s.kind in CLAMPED]
    named = {column.name for expr in arguments for column in columns(expr)}
    for name, attribute in table.attributes.items():
        if name in named and isinstance(attribute.domain, Grid | Dates):
            yield name


def _rows(quality: Quality | None, sure: float) -> Omission:
    if quality is None or quality.rows is None or quality.scan is None:
        return Omission("rows", f"rows beyond max_rows are not counted; {HOW}")
    found, scan = quality.rows, quality.scan
    off = math.ceil(margin([(1, scan.noise(found.bound))], sure))
    people = scan.plan.most_above(found.bound, 1 - sure)
    count = found.total or 0
    says = _rows_said(scan.beyond, found.bound, (count, off), people)
    return Omission("rows", says, None, count, off, found.bound, people)


def _rows_said(beyond: int, bound: int, found: tuple[int, int], people: int | None) -> str:
    """The sentence about rows beyond `max_rows`."""
    few = "" if people is None else f"at most {people:,} people with more than {bound:,} rows each"
    if bound == beyond:
        return f"rows beyond max_rows = {beyond:,} are left out: those of {few}"
    beside = f", beside those of {few}" if few else f", counting {bound:,} rows of each at most"
    many = _about(*found, "row", " of the whole table")
    return f"{many} are left out by max_rows{beside}"


def _values(table: Table, quality: Quality, name: str, sure: float) -> Omission:
    count = quality.values[name]
    off = math.ceil(margin([(1, quality.noise)], sure))
    domain = table.attributes[name].domain
    why = "are not listed" if isinstance(domain, Categories) else "are outside of its bounds"
    many = _about(count, off, "value", f" of {name}")
    return Omission("values", f"{many} {why}, or could not be read", name, count, off)


def _about(count: int, off: int, what: str, of: str = "") -> str:
    """About how many, or no more than how many where it may be none."""
    if count > off:
        step = 10 ** max(0, len(str(off)) - 2)  # as many digits as the margin leaves meaning
        return f"about {round(count / step) * step:,} {what}s{of} (± {off:,})"
    return f"at most {max(0, count + off):,} {what}s{of}"
