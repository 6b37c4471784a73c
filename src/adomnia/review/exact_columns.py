"""What an audit may see of the policy's own data: exact columns and counts.

An auditor judges what a release would tell, and must know what is there to be told. So these
numbers are exact and not sealed. Nothing here answers an analyst: only what a curator orders
himself calls it (`docs/audit.md` says what may be printed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.files import CodedColumns
from adomnia.curator.database import PrivateDatabase
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.releases.release import release_mechanism
from adomnia.curator.releases.release_plan import ReleasePlan
from adomnia.engines.exact import ExactView, exact_view
from adomnia.engines.sql.dialect import quoted
from adomnia.errors import QuestionError
from adomnia.policy.axis_values import axis_values
from adomnia.privacy.reads import REST, MarginalTables
from adomnia.queries.expression import Column, Expr
from adomnia.queries.ranges import Range, from_domain, lies_outside, show

__all__ = [
    "column_names",
    "exact_counts",
    "exact_numbers",
    "exact_tables",
    "key_values",
    "own_columns",
    "people_of",
    "release_again",
    "release_count",
    "released_rows",
]

Codes = NDArray[np.int64]


def column_names(database: PrivateDatabase) -> tuple[str, ...]:
    """All columns of the source, declared or not."""
    return database._backend.columns


def release_count(database: PrivateDatabase) -> int:
    """How many exact releases the ledger knows."""
    return database._backend.public()[0]


def own_columns(database: PrivateDatabase, names: Sequence[str]) -> CodedColumns:
    """Declared attributes of the policy's data, as a release would count them.

    Values are cleaned, rows of one unit limited, and rows with NULL in an attribute that is not
    nullable left out.
    """
    refuse_several(database.policy, "exact columns are of one table")
    attributes = database.policy.attributes
    for name in names:
        if name not in attributes:
            hint = "declared are: " + ", ".join(attributes)
            raise QuestionError(f"{name[:60]!r} is not a declared attribute", hint)
    keys = tuple(Column(name, from_domain(attributes[name].domain)) for name in names)
    axes = [axis_values(database.policy, name) for name in names]
    codes = _rows(database, keys, axes)
    return CodedColumns(
        dict(zip(names, codes, strict=True)),
        {
            name: [show(key.range, value) for value in axis]
            for name, key, axis in zip(names, keys, axes, strict=True)
        },
    )


def released_rows(database: PrivateDatabase, planned: ReleasePlan) -> Codes:
    """The rows that a planned release is made of: for each, the places of its keys' values."""
    reads = planned.layout.reads
    codes = _rows(database, reads.keys, reads.axes, reads.where)
    return np.column_stack(codes)


def key_values(database: PrivateDatabase, keys: Mapping[str, Expr]) -> dict[str, list[Any]]:
    """What all rows have for these keys, as a person reads it; None for NULL, and for a value
    outside of its domain, of which nothing else is kept."""
    with _view(database) as view:
        columns, counts = view.groups(tuple(keys.values()))
    times = counts.tolist()
    return {
        name: [
            shown
            for value, many in zip(column, times, strict=True)
            for shown in repeat(_shown(key.range, value), many)
        ]
        for (name, key), column in zip(keys.items(), columns, strict=True)
    }


def release_again(database: PrivateDatabase, planned: ReleasePlan) -> Callable[[Any], Any]:
    """The mechanism of a planned release, to be used on other tables: nothing is paid or read.

    It takes what gives sealed marginals, and returns the released tables with their records.
    """
    return release_mechanism(database._backend, planned).release


def _rows(
    database: PrivateDatabase,
    keys: tuple[Expr, ...],
    axes: Sequence[tuple[Any, ...]],
    where: Expr | None = None,
) -> list[Codes]:
    """A column of places for each key; rows with another value than its axis has are left out,
    unless it has a place for the rest."""
    with _view(database) as view:
        columns, counts = view.groups(keys, where)
    codes = [_codes(column, axis) for column, axis in zip(columns, axes, strict=True)]
    inside = np.all([code >= 0 for code in codes], axis=0)
    return [np.repeat(code[inside], counts[inside]) for code in codes]


def people_of(
    database: PrivateDatabase, column: str, target: str, many: int
) -> tuple[list[Any], list[int]]:
    """The first people by this column, and whether each fulfils the condition (0 or 1).

    For the scoring of an attack that the curator ordered. A value that several rows share names
    nobody, and is left out.
    """
    columns = column_names(database)
    if column not in columns:
        hint = "it has: " + ", ".join(columns)
        raise QuestionError(f"the data has no column {column[:60]!r}", hint)
    name, table = quoted(column), quoted(database.policy.table)
    keys = database.bind(f"SELECT {name}, COUNT(*) AS n FROM {table} GROUP BY {name}").keys  # noqa: S608
    where = _condition(database, target)
    with _view(database) as view:
        (values,), counts = view.groups(keys)
        (held,), _ = view.groups(keys, where)
    alone = [v for v, rows in zip(values, counts.tolist(), strict=True) if rows == 1]
    chosen, fulfil = sorted(v for v in alone if _is_known(keys[0].range, v))[:many], set(held)
    bits = [int(value in fulfil) for value in chosen]
    return [show(keys[0].range, value) for value in chosen], bits


def exact_counts(database: PrivateDatabase, conditions: Sequence[str]) -> list[int]:
    """How many rows fulfil each condition; to score an attack, never to be printed."""
    for condition in conditions:
        if not condition.strip():
            raise QuestionError("an empty condition", "for example \"sex = 'F'\"")
    with _view(database) as view:
        return [int(view.groups((), _condition(database, one))[1].sum()) for one in conditions]


def exact_numbers(
    database: PrivateDatabase, column: str, where: Expr | None
) -> tuple[Codes, Codes]:
    """The numbers of a declared column in rising order, in steps of its domain, and how many rows
    have each; for the curator. What lies outside of the domain is in no table, and left out."""
    key = Column(column, from_domain(database.policy.attributes[column].domain))
    with _view(database) as view:
        (values,), counts = view.groups((key,), where)
    known = np.array([_is_known(key.range, value) for value in values], bool)
    numbers = np.array([value for value in values if _is_known(key.range, value)], np.int64)
    order = np.argsort(numbers)
    return numbers[order], counts[known][order]


@contextmanager
def exact_tables(
    database: PrivateDatabase, reads: MarginalTables
) -> Iterator[Callable[[Sequence[tuple[int, ...]]], dict[tuple[int, ...], Codes]]]:
    """The tables that a release measures, as they are, all of one moment; for the curator."""
    with _view(database) as view:
        yield view.tables(reads)


def _is_known(spread: Range, value: Any) -> bool:
    return value is not None and not lies_outside(spread, value)


def _shown(spread: Range, value: Any) -> Any:
    return show(spread, value) if _is_known(spread, value) else None


def _condition(database: PrivateDatabase, sql: str) -> Expr | None:
    """A condition as an expression; wrong SQL is refused here."""
    return database.bind(
        f"SELECT COUNT(*) AS n FROM {quoted(database.policy.table)} WHERE {sql}"  # noqa: S608
    ).where


@contextmanager
def _view(database: PrivateDatabase) -> Iterator[ExactView]:
    """The auditor's view; all that is read through it is of one moment."""
    with exact_view(database._backend.engine, database._backend.table) as view:
        yield view


def _codes(column: Sequence[Any], axis: tuple[Any, ...]) -> Codes:
    index = {value: number for number, value in enumerate(axis)}
    rest = index.get(REST, -1)
    return np.fromiter((index.get(value, rest) for value in column), np.int64, len(column))
