"""Columns that add up rows whose number is bounded by what is found in the data: how large they can
be is known when that is found. It decides how they are measured, and no promise rests on it."""

from __future__ import annotations

from adomnia.queries.expression import Expr, columns
from adomnia.queries.rows import (
    Combined,
    Filtered,
    Joined,
    Numbered,
    PerUnit,
    Projected,
    Rows,
    Scan,
    is_automatic,
)
from adomnia.schema.tables import Tables

__all__ = ["searched_columns"]


def searched_columns(rows: Rows, tables: Tables) -> frozenset[str]:
    """The names of such columns of these rows."""
    if isinstance(rows, Scan):
        return frozenset()
    if isinstance(rows, Joined | Combined):
        found = searched_columns(rows.left, tables) | searched_columns(rows.right, tables)
        if isinstance(rows, Joined):
            return found
        made = ((name, (left, right)) for name, left, right in rows.columns)
        return frozenset(f"{rows.name}.{name}" for name, both in made if _read(found, *both))
    inner = searched_columns(rows.rows, tables)
    if isinstance(rows, Filtered | Numbered):
        return inner
    if isinstance(rows, Projected):
        return frozenset(name for name, expr in rows.columns if _read(inner, expr))
    return _of_groups(rows, inner, is_automatic(rows.rows, tables))


def _of_groups(rows: PerUnit, inner: frozenset[str], grown: bool) -> frozenset[str]:
    totals = (
        name
        for name, total in rows.totals
        if (grown and total.kind in ("count", "sum", "distinct")) or _read(inner, total.argument)
    )
    keys = (name for name, key in rows.keys if _read(inner, key))
    return frozenset(f"{rows.name}.{name}" for name in (*totals, *keys))


def _read(names: frozenset[str], *exprs: Expr | None) -> bool:
    return any(column.name in names for expr in exprs for column in columns(expr))
