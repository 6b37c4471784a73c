"""Scans: statements that name columns and no aggregate, where they can be answered without rows.

Drivers and tools ask such statements for the names and types of columns (`LIMIT 0`,
`WHERE 1 <> 1`), or for the values that a column may have (`SELECT DISTINCT`): both are public.
"""

from __future__ import annotations

from sqlglot import exp

from adomnia.queries.expression import Constant
from adomnia.queries.sql.aggregates import is_aggregate
from adomnia.queries.sql.parse import refuse
from adomnia.queries.sql.rows import row_binder
from adomnia.queries.sql.scope import Relation
from adomnia.schema.table import Table

__all__ = ["is_never", "shows_nothing", "without_rows"]


def is_never(sql: str, select: exp.Select) -> bool:
    """Whether the condition names no column and is not true: no row meets it, whatever the data.

    Conditions on columns are judged when they are bound.
    """
    where = select.args.get("where")
    if where is None or where.find(exp.Column, exp.Subquery, exp.Select):
        return False
    test = row_binder(sql, Relation({})).truth(where.this)
    return isinstance(test, Constant) and test.value is not True


def shows_nothing(select: exp.Select) -> bool:
    """Whether the statement asks for no row of its answer."""
    limit = select.args.get("limit")
    count = limit and (limit.args.get("expression") or limit.args.get("count"))
    return isinstance(count, exp.Literal) and not count.is_string and str(count.this) == "0"


def without_rows(sql: str, select: exp.Select, table: Table) -> exp.Select:
    """The statement with its columns as groups, where it is a scan that needs no row."""
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise refuse(sql, select, "DISTINCT ON cannot be answered", "use GROUP BY")
    free = distinct is not None or is_never(sql, select) or shows_nothing(select)
    if not free or select.args.get("group") or _aggregates(select):
        if distinct is not None:
            hint = "GROUP BY shows every cell once"
            raise refuse(sql, select, "DISTINCT cannot stand beside aggregates or groups", hint)
        return select
    found = select.copy()
    items = [item for part in found.expressions for item in _items(part, table)]
    keys = [item.this if isinstance(item, exp.Alias) else item for item in items]
    named = [key.copy() for key in keys if key.find(exp.Column)]
    found.set("expressions", items)
    found.set("distinct", None)
    found.set("group", exp.Group(expressions=named) if named else None)
    return found


def _aggregates(select: exp.Select) -> bool:
    shown = [*select.expressions, select.args.get("having"), select.args.get("order")]
    return any(is_aggregate(part) for node in shown if node is not None for part in node.walk())


def _items(item: exp.Expression, table: Table) -> list[exp.Expression]:
    """The item, or where it is a star the declared attributes."""
    star = isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )
    if not star:
        return [item]
    qualifier = item.table if isinstance(item, exp.Column) else None
    return [exp.column(name, table=qualifier or None, quoted=True) for name in table.attributes]
