"""Cells: the public grid that GROUP BY lays over the data, empty cells included.

Each key has an axis: its public values, then NULL, then what stands for values outside of its
domain. Those cells are measured like any other, so that coarser tables can be summed from finer
ones. NULL is shown only where the policy says that an attribute is `nullable` or the statement
itself makes NULLs (a CASE without ELSE); what lies outside never is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from adomnia.queries.expression import Call, Column, Expr
from adomnia.queries.operations import call
from adomnia.queries.ranges import Text, cells, lies_outside, outside, show
from adomnia.schema.table import Attribute

__all__ = ["axes", "cell_count", "key_rows", "public_cells", "shows_null", "visible"]


def axes(keys: tuple[Expr, ...]) -> list[tuple[Any, ...]]:
    """For each key its values, then NULL, then what lies outside; each where it can occur."""
    return [
        (*cells(key.range), *([None] if key.range.nullable else []), *outside(key.range))
        for key in keys
    ]


def cell_count(keys: tuple[Expr, ...]) -> int:
    """How many cells there are."""
    count = 1
    for axis in axes(keys):
        count *= len(axis)
    return count


def public_cells(keys: tuple[Expr, ...]) -> int | None:
    """How many cells groups are laid out on; None where a key's values are not public."""
    is_open = any(isinstance(key.range, Text) and key.range.values is None for key in keys)
    return None if is_open else cell_count(keys)


def key_rows(
    keys: tuple[Expr, ...], attributes: Mapping[str, Attribute]
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The number of each cell that is shown, and its keys as a person reads them."""
    spans = axes(keys)
    hidden = [not shows_null(key, attributes) for key in keys]
    shown = [
        [(index, show(key.range, value)) for index, value in enumerate(span)
         if (value is not None or not hide) and not lies_outside(key.range, value)]
        for key, span, hide in zip(keys, spans, hidden, strict=True)
    ]  # fmt: skip
    yield from _walk(shown, [len(span) for span in spans])


def _walk(
    shown: list[list[tuple[int, Any]]], lengths: list[int]
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    rows: list[tuple[int, tuple[Any, ...]]] = [(0, ())]
    for options, length in zip(shown, lengths, strict=True):
        rows = [(cell * length + i, (*keys, value)) for cell, keys in rows for i, value in options]
    yield from rows


def visible(keys: tuple[Expr, ...], attributes: Mapping[str, Attribute]) -> list[int]:
    """The numbers of the cells that are shown."""
    return [cell for cell, _ in key_rows(keys, attributes)]


def shows_null(key: Expr, attributes: Mapping[str, Attribute]) -> bool:
    """Whether NULL is a group of its own: a nullable attribute, or a NULL the statement makes."""
    return _declared(key, attributes).range.nullable


def _declared(expr: Expr, attributes: Mapping[str, Attribute]) -> Expr:
    """The expression as if only attributes declared nullable could be NULL."""
    if isinstance(expr, Column):
        attribute = attributes.get(expr.name)
        nullable = expr.range.nullable and attribute is not None and attribute.nullable
        return Column(expr.name, replace(expr.range, nullable=nullable))
    if not isinstance(expr, Call):
        return expr
    if expr.op == "map":
        inner = _declared(expr.args[0], attributes)
        pairs, spread = expr.params
        partial = inner.range.nullable or not {*cells(inner.range)} <= {key for key, _ in pairs}
        return Column("", replace(spread, nullable=partial or any(v is None for _, v in pairs)))
    if expr.op in ("inside", "nearest"):  # what lies outside is in no group that is shown
        inner = _declared(expr.args[0], attributes)
        nullable = expr.range.nullable and inner.range.nullable  # it may have been tested before
        return Column("", replace(expr.range, nullable=nullable))
    return call(expr.op, *(_declared(arg, attributes) for arg in expr.args), params=expr.params)
