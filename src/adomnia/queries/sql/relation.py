"""FROM: CTEs, subqueries that filter and project, and joins to public tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.calendar import midnight
from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.operations import call, constant
from adomnia.queries.question import Refusal
from adomnia.queries.ranges import Day, Moment, Text, Truth, from_domain
from adomnia.queries.sql.binder import Binder, Handler, Relation, literal_number, look_up, match
from adomnia.queries.sql.conditions import CONDITIONS
from adomnia.queries.sql.never import never_true
from adomnia.queries.sql.numbers import NUMBERS
from adomnia.queries.sql.parse import refuse
from adomnia.queries.sql.values import VALUES, mapped
from adomnia.schema.domain import Open
from adomnia.schema.table import PublicTable, Table

__all__ = ["StatementContext", "bind_from", "conjoin", "join_public", "projected", "row_binder"]


@dataclass(frozen=True)
class StatementContext:
    """The statement's text, the private table, its columns' names, and the CTEs in sight."""

    sql: str
    table: Table
    columns: tuple[str, ...]
    ctes: Mapping[str, Relation]
    refusals: list[Refusal] = field(default_factory=list, compare=False)
    """What is never true in the conditions that were read so far."""


def bind_from(source: StatementContext, select: exp.Select) -> tuple[StatementContext, Relation]:
    """The rows that a SELECT reads, after its joins and its WHERE."""
    source = _with(source, select)
    clause = select.args.get("from_") or select.args.get("from")
    if clause is None:
        hint = f"ask about the table {source.table.name}"
        raise refuse(source.sql, select, "a question needs a FROM", hint)
    relation = _relation(source, clause.this)
    for join in select.args.get("joins") or ():
        relation = join_public(source, relation, join)
    where = select.args.get("where")
    if where is None:
        return source, relation
    binder = row_binder(source.sql, relation)
    test = binder.truth(where.this)
    refusal = never_true(binder, where.this)
    source.refusals.extend([] if refusal is None else [refusal])
    return source, Relation(relation.columns, conjoin(relation.where, test), relation.rows)


def conjoin(first: Expr | None, second: Expr | None) -> Expr | None:
    """Both conditions at once, as one flat AND; None where there is none."""
    parts: list[Expr] = []
    for test in (first, second):
        flat = test.args if test is not None and getattr(test, "op", "") == "and" else (test,)  # type: ignore[union-attr]
        parts += [part for part in flat if part is not None and part not in parts]
    parts = [part for part in parts if not (isinstance(part, Constant) and part.value is True)]
    if not parts:
        return None
    return call("and", *parts) if len(parts) > 1 else parts[0]


def _with(source: StatementContext, select: exp.Select) -> StatementContext:
    clause = select.args.get("with_") or select.args.get("with")
    if clause is None:
        return source
    if clause.args.get("recursive"):
        raise refuse(source.sql, clause, "recursive queries cannot be answered privately")
    ctes = dict(source.ctes)
    for cte in clause.expressions:
        inner = replace(source, ctes=ctes)
        ctes[cte.alias.lower()] = _project(inner, cte.this).named(cte.alias)
    return replace(source, ctes=ctes)


def _relation(source: StatementContext, node: exp.Expression) -> Relation:
    if isinstance(node, exp.Subquery):
        return _project(source, node.this).named(node.alias or "subquery")
    if not isinstance(node, exp.Table) or node.args.get("sample"):
        raise refuse(source.sql, node, "only a table, a CTE or a subquery can stand in FROM")
    if not isinstance(node.this, exp.Identifier) or node.args.get("joins"):
        raise refuse(source.sql, node, "functions cannot stand in FROM")
    if node.name.lower() in source.ctes and not node.db:
        return source.ctes[node.name.lower()].named(node.alias or node.name)
    if not _names(node, source.table):
        hint = f"the private table is {source.table.name}"
        if match(node.name, source.table.public):
            hint += f"; a public table is joined to it: FROM {source.table.name} JOIN {node.name} …"
        raise refuse(source.sql, node, f"there is no private table {_whole(node)!r}", hint)
    return Relation({node.alias or node.name: _columns(source)})


def _whole(node: exp.Table) -> str:
    return ".".join(part for part in (node.catalog, node.db, node.name) if part)


def _names(node: exp.Table, table: Table) -> bool:
    """Whether this is the private table; the catalogue says that it is in the schema `public`."""
    named = node.name.lower() == table.name.lower()
    return named and not node.catalog and node.db.lower() in ("", "public")


def _columns(source: StatementContext) -> dict[str, Expr]:
    return {name: _column(source.table, name) for name in source.columns}


def _column(table: Table, name: str) -> Column:
    attribute = table.attributes.get(name)
    return Column(name, from_domain(attribute.domain if attribute else Open()))


_NOT_ROWS = {
    "group": "GROUP BY",
    "having": "HAVING",
    "distinct": "DISTINCT",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "order": "ORDER BY",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
}


def _project(source: StatementContext, node: exp.Expression) -> Relation:
    if not isinstance(node, exp.Select):
        raise refuse(source.sql, node, "a subquery is a SELECT that filters and projects rows")
    for part, name in _NOT_ROWS.items():
        if node.args.get(part):
            message = f"{name} cannot stand in a subquery"
            raise refuse(
                source.sql,
                node.args[part] if part != "windows" else node,
                message,
                "a subquery may filter and project rows; aggregate outside of it",
            )
    source, relation = bind_from(source, node)
    binder = row_binder(source.sql, relation)
    columns: dict[str, Expr] = {}
    for item in node.expressions:
        columns |= projected(binder, item)
    return Relation({"": columns}, relation.where)


def projected(binder: Binder, item: exp.Expression) -> dict[str, Expr]:
    """The columns that an item of a subquery's list makes."""
    star = (
        item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
    )
    if isinstance(star, exp.Star):
        if any(star.args.values()):
            raise binder.refuse(item, "* is taken whole here, without EXCEPT or REPLACE")
        parts, named = binder.relation.columns, item.table if isinstance(item, exp.Column) else ""
        wanted = [match(named, parts)] if named else [*binder.relation.aliases]
        found: dict[str, Expr] = {}
        for alias in wanted:  # of two columns with one name the first keeps it
            found = {**(parts[alias] if alias else {}), **found}
        return {**found, **({} if named else binder.relation.merged)}
    if not item.alias_or_name:
        raise binder.refuse(item, "a computed column of a subquery needs a name", "write … AS name")
    inner = item.this if isinstance(item, exp.Alias) else item
    return {item.alias_or_name: binder.row(inner)}


# Public tables: a unique key makes a join a function of the private row.


def join_public(source: StatementContext, relation: Relation, join: exp.Join) -> Relation:
    """The rows with the columns that a public table has for each of them."""
    node = join.this
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    name = match(node.name, source.table.public) if isinstance(node, exp.Table) else None
    if name is None:
        raise refuse(
            source.sql,
            node,
            "only public tables named in the policy can be joined",
            "two private tables, or one with itself, cannot be joined",
        )
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or join.args.get("method"):
        raise refuse(source.sql, join, "a public table is joined by JOIN or LEFT JOIN")
    public, alias = source.table.public[name], node.alias or node.name
    key = _join_key(source, relation, join, public, alias)
    found = _lookups(source, public, key)
    if join.args.get("using"):  # one column for both: where they match, they are the same
        found = {name: expr for name, expr in found.items() if name != public.key}
    kept = relation.where
    if side != "LEFT":
        known = tuple(_index(key, row[public.columns.index(public.key)]) for row in public.rows)
        kept = conjoin(kept, call("in", key, params=tuple(v for v in known if v is not None)))
    return replace(relation, columns={**relation.columns, alias: found}, where=kept)


def _join_key(
    source: StatementContext, relation: Relation, join: exp.Join, public: PublicTable, alias: str
) -> Expr:
    """The private expression that the join equates with the public key."""
    using, on = join.args.get("using"), join.args.get("on")
    binder = row_binder(source.sql, relation)
    hint = f"join ON {alias}.{public.key} = a column of {source.table.name}"
    if using and len(using) == 1 and using[0].name.lower() == public.key.lower():
        return binder.row(exp.Column(this=using[0].copy()))
    if not isinstance(on, exp.EQ):
        raise refuse(source.sql, join, f"a public table is joined on its key {public.key!r}", hint)
    for mine, theirs in ((on.this, on.expression), (on.expression, on.this)):
        if not isinstance(theirs, exp.Column) or theirs.name.lower() != public.key.lower():
            continue
        if theirs.table.lower() == alias.lower():
            return binder.row(mine)
    raise refuse(source.sql, on, f"a public table is joined on its key {public.key!r}", hint)


def _lookups(source: StatementContext, public: PublicTable, key: Expr) -> dict[str, Expr]:
    at = public.columns.index(public.key)
    places = [_index(key, row[at]) for row in public.rows]
    known = [place for place in places if place is not None]
    if len(set(known)) < len(known):
        message = f"two keys of the public table {public.name!r} mean the same value here"
        raise QuestionError(message, "a join must not make several rows of one", source.sql)
    out: dict[str, Expr] = {}
    for position, name in enumerate(public.columns):
        pairs = zip(places, public.rows, strict=True)
        out[name] = mapped(key, {k: _plain(row[position]) for k, row in pairs if k is not None})
    return out


def _index(key: Expr, value: Any) -> Any:
    """A public key exactly as the private expression would have it; None where it never is.

    It must be of the very type that the engine compares, or the engine would convert it and
    match, or fail on, rows that the sensitivity knows nothing of.
    """
    if value is None or isinstance(key.range, Text):
        return None if value is None else str(value)
    if isinstance(key.range, Truth):
        return value if isinstance(value, bool) else None
    if isinstance(key.range, Day | Moment):
        return _day(value) if isinstance(key.range, Day) else _moment(value)
    try:
        index = Fraction(str(value)) / key.range.step
    except (ValueError, ZeroDivisionError):
        return None
    return int(index) if index.denominator == 1 else None


def _day(value: Any) -> date | None:
    """A day, or a moment at its beginning, or their ISO text, as a plain date."""
    moment = _moment(value)
    return moment.date() if moment is not None and moment.time() == time() else None


def _moment(value: Any) -> datetime | None:
    """A moment in whole seconds and without a zone, or a day, or their ISO text."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return midnight(value)
    plain = isinstance(value, datetime) and value.tzinfo is None and not value.microsecond
    return value if plain else None


def _plain(value: Any) -> Any:
    whole = isinstance(value, int | bool) or value is None
    return value if whole else str(value)


# Row expressions: all that may be computed in a row, and the binder that knows it.


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
