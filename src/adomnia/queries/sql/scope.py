"""Names: what a column of the statement stands for, as an expression over the private table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Expr
from adomnia.queries.sql.parse import refuse

__all__ = ["Relation", "look_up", "match"]


@dataclass(frozen=True)
class Relation:
    """Rows of the private table as a FROM clause sees them: columns by alias, and a filter."""

    columns: Mapping[str, Mapping[str, Expr]]
    where: Expr | None = None
    open: bool = False

    def named(self, alias: str) -> Relation:
        """The same rows, all columns under one alias."""
        merged = {name: expr for part in self.columns.values() for name, expr in part.items()}
        return Relation({alias: merged}, self.where)


def look_up(sql: str, node: exp.Column, relation: Relation) -> Expr:
    """The expression a column name stands for, or an error that says what names there are."""
    parts = relation.columns
    if node.table:
        alias = match(node.table, parts)
        if alias is None:
            hint = "in FROM there is " + ", ".join(parts)
            raise refuse(sql, node, f"there is no table {node.table!r} here", hint)
        parts = {alias: parts[alias]}
    found = [part[name] for part in parts.values() if (name := match(node.name, part))]
    if not found:
        raise _unknown(sql, node, sorted({name for part in parts.values() for name in part}))
    if len(set(found)) > 1:
        raise refuse(sql, node, f"{node.name!r} is in several tables", "write table.column")
    return found[0]


def match(name: str, names: Mapping[str, object]) -> str | None:
    """The listed name that is meant: the same, or the one that differs only in case."""
    if name in names:
        return name
    folded = [other for other in names if other.lower() == name.lower()]
    return folded[0] if len(folded) == 1 else None


def _unknown(sql: str, node: exp.Column, names: list[str]) -> QuestionError:
    shown = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
    return refuse(sql, node, f"there is no column {node.name!r}", f"the columns are: {shown}")
