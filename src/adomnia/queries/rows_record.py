"""Derived rows as plain JSON values, as a record has them."""

from __future__ import annotations

from typing import Any

from adomnia.queries.canonical import expression_json
from adomnia.queries.rows import (
    Combined,
    Filtered,
    Joined,
    Numbered,
    Projected,
    Rows,
    Scan,
)

__all__ = [
    "rows_json",
]


def rows_json(rows: Rows) -> Any:
    """Rows as plain JSON values."""
    if isinstance(rows, Scan):
        return {"scan": rows.table, "name": rows.name}
    if isinstance(rows, Joined | Combined):
        return _sides_json(rows)
    inner = rows_json(rows.rows)
    if isinstance(rows, Filtered):
        return {"filtered": inner, "where": expression_json(rows.where)}
    if isinstance(rows, Numbered):
        return {"numbered": inner, "name": rows.name}
    if isinstance(rows, Projected):
        made = [[name, expression_json(expr)] for name, expr in rows.columns]
        return {"projected": inner, "columns": made}
    return {
        "grouped": inner,
        "name": rows.name,
        "keys": [[name, expression_json(key)] for name, key in rows.keys],
        "totals": [
            [name, total.kind, *map(expression_json, (total.argument, total.by)), total.known]
            for name, total in rows.totals
        ],
    }


def _sides_json(rows: Joined | Combined) -> Any:
    sides = [rows_json(rows.left), rows_json(rows.right)]
    if isinstance(rows, Combined):
        shown = [[name, *map(expression_json, both)] for name, *both in rows.columns]
        return {"combined": sides, "kind": rows.kind, "name": rows.name, "columns": shown}
    pairs = [[expression_json(a), expression_json(b)] for a, b in rows.pairs]
    marks = {"outer": rows.outer, "apart": rows.apart or None}
    told = {name: mark for name, mark in marks.items() if mark is not None}
    return {"joined": sides, "pairs": pairs} | told
