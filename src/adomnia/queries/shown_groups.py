"""Groups that a condition rules out: no row is in them that meets it, whatever the data.

It rests on the statement and the declared domains alone, so it tells nothing of the rows. Such
groups are measured like all others, and not shown: `WHERE sex = 'F'` has no group of 'M'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from adomnia.queries.expression import Column, Expr, columns, conjuncts
from adomnia.queries.grouping import axes, key_rows
from adomnia.queries.operations import evaluate
from adomnia.queries.patterns import is_rounded, names
from adomnia.queries.ranges import cells, count_cells, outside
from adomnia.schema.table import Attribute

__all__ = ["reached", "shown_rows"]

MAX_TRIED = 40_000
"""A column of no more values is tried on all of them, such as the days of a hundred years."""


def shown_rows(
    keys: tuple[Expr, ...], attributes: Mapping[str, Attribute], where: Expr | None
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The number of each cell that is shown, and its keys as a person reads them; those left out
    that no row can be in which meets the condition."""
    listed = key_rows(keys, attributes)
    tests = [_occurrence(key, where) for key in keys]
    if not any(tests):
        return listed
    spans = axes(keys)
    may = [
        [test is None or test(value) for value in span]
        for test, span in zip(tests, spans, strict=True)
    ]
    return (row for row in listed if all(_along(may, row[0])))


def _along(may: list[list[bool]], cell: int) -> Iterator[bool]:
    """Whether each value of a cell may occur, from the last key to the first."""
    for options in reversed(may):
        cell, place = divmod(cell, len(options))
        yield options[place]


def _occurrence(key: Expr, where: Expr | None) -> Callable[[Any], bool] | None:
    """Whether a row can have a value of the key and meet the condition; None where all may.

    Of the parts of a condition that must all hold, those are tried that read the one column of the
    key and nothing else.
    """
    read = names(key)
    tests = tuple(test for test in conjuncts(where) if names(test) == read and not is_rounded(test))
    if not tests or len(read) != 1 or is_rounded(key):
        return None
    if isinstance(key, Column):
        name = key.name
        return lambda value: all(evaluate(test, {name: value}) is True for test in tests)
    values = reached(key, tests)
    return None if values is None else values.__contains__


@lru_cache(maxsize=256)
def reached(key: Expr, tests: tuple[Expr, ...]) -> frozenset[Any] | None:
    """The values that a key has on the values of its column that meet the tests; None where these
    are too many to try, or not public."""
    column = next(iter(columns(key)))
    if (count_cells(column.range) or MAX_TRIED + 1) > MAX_TRIED:
        return None
    rows = ({column.name: x} for x in (None, *cells(column.range), *outside(column.range)))
    met = (row for row in rows if all(evaluate(test, row) is True for test in tests))
    return frozenset(evaluate(key, row) for row in met)
