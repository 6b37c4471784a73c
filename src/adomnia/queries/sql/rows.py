"""Row expressions: all that may be computed in a row, and the binder that knows it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from adomnia.queries.expression import Expr
from adomnia.queries.operations import constant
from adomnia.queries.sql.binder import Binder, Handler, literal_number
from adomnia.queries.sql.conditions import CONDITIONS
from adomnia.queries.sql.numbers import NUMBERS
from adomnia.queries.sql.scope import Relation, look_up
from adomnia.queries.sql.values import VALUES

__all__ = ["row_binder"]


def row_binder(sql: str, relation: Relation) -> Binder:
    """The binder of expressions over the rows of a relation."""
    return Binder(sql, relation, HANDLERS)


def _literal(binder: Binder, node: exp.Literal) -> Expr:
    if node.is_string:
        return constant(str(node.this))
    return literal_number(binder, node, str(node.this))


HANDLERS: Mapping[type[exp.Expression], Handler] = {
    exp.Column: lambda binder, node: look_up(binder.sql, node, binder.relation),
    exp.Paren: lambda binder, node: binder.row(node.this),
    exp.Literal: _literal,
    exp.Boolean: lambda binder, node: constant(bool(node.this)),
    exp.Null: lambda binder, node: constant(None),
    **NUMBERS,
    **CONDITIONS,
    **VALUES,
}
"""What binds each kind of syntax; anything else is refused."""
