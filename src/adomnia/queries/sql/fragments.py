"""Parts of statements that stand by themselves: a condition on rows, a key to group by."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.ranges import from_domain
from adomnia.queries.sql.binder import Binder, Relation
from adomnia.queries.sql.never import impossible_in, never_true
from adomnia.queries.sql.parse import check, parse, refuse
from adomnia.queries.sql.relation import row_binder
from adomnia.schema.domain import Domain, Open

__all__ = ["bind_condition", "bind_key"]

BEGIN = "SELECT "
"""What makes a statement of a part, so that errors point into it."""


def bind_condition(text: str, domains: Mapping[str, Domain]) -> Expr:
    """A condition on the rows of a table with these columns; one that is never true is refused."""
    binder, node = _part(text, domains, "a condition")
    bound = binder.truth(node)
    if isinstance(bound, Constant):
        raise binder.refuse(node, "this condition reads no column", "for example age < 18")
    refusal = never_true(binder, node)
    if refusal is not None:
        raise QuestionError(refusal.message, refusal.hint, binder.sql, refusal.position)
    return bound


def bind_key(
    text: str, columns: tuple[str, ...], domains: Mapping[str, Domain]
) -> tuple[str | None, Expr]:
    """What GROUP BY could group by, and its alias if it has one; columns without a domain are
    text."""
    known = {name: domains.get(name, Open()) for name in columns}
    binder, node = _part(text, known, "a key")
    alias = node.alias or None
    inner = node.this if isinstance(node, exp.Alias) else node
    bound = binder.row(inner)
    if isinstance(bound, Constant):
        raise binder.refuse(inner, "a constant cannot be grouped by")
    refusal = impossible_in(binder, inner)
    if refusal is not None:
        raise QuestionError(refusal.message, refusal.hint, binder.sql, refusal.position)
    return alias, bound


def _part(text: str, domains: Mapping[str, Domain], what: str) -> tuple[Binder, exp.Expression]:
    """The one expression that a text holds, and what binds it."""
    if not text.strip():
        raise QuestionError(f"{what} is needed here, and there is none", "for example age / 10")
    sql = f"{BEGIN}{text}"
    select = parse(sql, tuple(domains))
    if [name for name, part in select.args.items() if part] != ["expressions"]:
        raise refuse(sql, select, f"this is no part of a statement: {what} is needed")
    if len(select.expressions) != 1:
        raise refuse(sql, select, f"{what} is needed here, and there are several", "one at a time")
    check(sql, select)
    columns = {name: Column(name, from_domain(domain)) for name, domain in domains.items()}
    return row_binder(sql, Relation({"": columns})), select.expressions[0]
