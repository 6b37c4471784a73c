"""What is known while a statement over several tables is bound, and readings of its syntax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.limits import MAX_SCANS
from adomnia.queries.expression import Column, Expr
from adomnia.queries.question import Refusal
from adomnia.queries.rows import Filtered, Rows
from adomnia.queries.sql.binder import Relation, look_up
from adomnia.queries.sql.parse import refuse
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = [
    "Named",
    "TablesContext",
    "bare",
    "conjuncts",
    "filtered_rows",
    "nullable",
    "resolved",
    "rows_of",
]

Named = Mapping[str, Callable[[], Relation]]
"""CTEs and views by name: each use is bound anew, so that it can be joined with itself."""


@dataclass(frozen=True)
class TablesContext:
    """The statement's text, the private tables and the columns of each, public tables, and the
    views; `names` counts what has been named so far."""

    sql: str
    tables: Tables
    columns: Mapping[str, tuple[str, ...]]
    shared: Table
    views: Mapping[str, exp.Select] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list, compare=False)
    names: list[str] = field(default_factory=list, compare=False)

    def fresh(self, name: str, node: exp.Expression) -> str:
        """A name that nothing else here has; there are only so many."""
        if len(self.names) >= MAX_SCANS:
            raise self.refuse(node, f"a statement reads {MAX_SCANS} tables and subqueries at most")
        many = sum(other.split(" #")[0] == name for other in self.names)
        self.names.append(name if not many else f"{name} #{many + 1}")
        return self.names[-1]

    def refuse(self, node: exp.Expression | None, message: str, hint: str = "") -> QuestionError:
        """An error that points at the node."""
        return refuse(self.sql, node, message, hint)


def conjuncts(node: exp.Expression) -> Iterator[exp.Expression]:
    """The conditions that must all hold."""
    node = bare(node)
    if isinstance(node, exp.And):
        yield from conjuncts(node.this)
        yield from conjuncts(node.expression)
    else:
        yield node


def bare(node: exp.Expression) -> exp.Expression:
    """What stands in parentheses, or before AS."""
    while isinstance(node, exp.Paren | exp.Alias):
        node = node.this
    return node


def resolved(sql: str, node: exp.Expression, relation: Relation) -> Expr | None:
    """What a column stands for in a relation; None where it is none of its own."""
    if not isinstance(node, exp.Column):
        return None
    plain = exp.Column(this=node.this.copy(), table=node.args.get("table"))
    try:
        return look_up(sql, plain, relation)
    except QuestionError:
        return None


def rows_of(relation: Relation) -> Rows:
    """The rows that a relation of several tables is about."""
    assert relation.rows is not None
    return relation.rows


def filtered_rows(relation: Relation) -> Rows:
    """The rows with their condition, which is tested before they are joined or grouped."""
    rows = rows_of(relation)
    return rows if relation.where is None else Filtered(rows, relation.where)


def nullable(expr: Expr) -> Expr:
    """A column that may be NULL; anything else as it is."""
    if isinstance(expr, Column):
        return Column(expr.name, replace(expr.range, nullable=True))
    return expr
