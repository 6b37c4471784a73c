"""UNION, INTERSECT and EXCEPT: rows of two SELECTs under each other, compared within a unit."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Expr
from adomnia.queries.ranges import Text
from adomnia.queries.row_columns import combined_range
from adomnia.queries.rows import OWNER, Combined, is_owner
from adomnia.queries.sql.binder import Relation
from adomnia.queries.sql.conditions import unify
from adomnia.queries.sql.relation import row_binder
from adomnia.queries.sql.several.context import TablesContext, filtered_rows
from adomnia.queries.sql.several.unit_keys import UnitKeys

__all__ = ["combined"]

KINDS: Mapping[type[exp.Expression], str] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


def combined(
    context: TablesContext, node: exp.SetOperation, left: Relation, right: Relation
) -> Relation:
    """The rows of both sides; what compares them does so within a unit, or is refused."""
    keys, kind = UnitKeys(context), _kind(context, node)
    for part in (left, right):
        keys.check_one(node, part)
    names, pairs = _columns(context, node, left, right)
    if kind != "all" and not any(keys.is_unit(pair, left, right) for pair in pairs):
        raise _of_several_units(context, node, kind)
    name = context.fresh("combined", node)
    columns: dict[str, Expr] = {}
    made: list[tuple[str, Expr, Expr]] = []
    for place, (column, (a, b)) in enumerate(zip(names, pairs, strict=True)):
        owners = [isinstance(e, Column) and is_owner(e.name) for e in (a, b)]
        if all(owners):
            columns[column] = Column(f"{name}.{OWNER}", Text(None, nullable=False))
            continue
        spread = _unified(context, node, (column, a, b), any(owners))
        made.append((f"c{place}", *spread))
        columns[column] = Column(f"{name}.c{place}", combined_range(*spread))
    rows = Combined(filtered_rows(left), filtered_rows(right), name, tuple(made), kind)
    return Relation({"": columns}, None, rows)


def _kind(context: TablesContext, node: exp.SetOperation) -> str:
    kind = KINDS[type(node)]
    if node.args.get("by_name"):
        raise context.refuse(node, "BY NAME is not understood here", "list the columns in order")
    if node.args.get("distinct", True):
        return kind
    if kind == "union":
        return "all"
    word = kind.upper()
    raise context.refuse(node, f"{word} ALL cannot be answered", f"write {word}, without ALL")


def _columns(
    context: TablesContext, node: exp.SetOperation, left: Relation, right: Relation
) -> tuple[list[str], list[tuple[Expr, Expr]]]:
    """The names of the left side, and what both sides have there."""
    sides = [{n: e for part in side.columns.values() for n, e in part.items()}
             for side in (left, right)]  # fmt: skip
    if len(sides[0]) != len(sides[1]):
        said = f"one side has {len(sides[0])} columns, the other {len(sides[1])}"
        raise context.refuse(node, said, "select the same columns on both sides")
    return [*sides[0]], [*zip(sides[0].values(), sides[1].values(), strict=True)]


def _of_several_units(context: TablesContext, node: exp.SetOperation, kind: str) -> QuestionError:
    names = [table.name for table in node.find_all(exp.Table)]
    units, word = context.tables.unit_name, kind.upper()
    hint = f"select a key that leads to {units} on both sides, at the same place"
    if kind == "union":
        hint += "; or write UNION ALL"
    tables = " and ".join(dict.fromkeys(names))
    return context.refuse(node, f"{word} compares rows of several {units} here: of {tables}", hint)


def _unified(
    context: TablesContext, node: exp.SetOperation, column: tuple[str, Expr, Expr], unit: bool
) -> tuple[Expr, Expr]:
    """What both sides have in a column, as values of one kind."""
    name, *both = column
    said = f"the two sides of {KINDS[type(node)].upper()} have {name!r} of different types"
    if unit:
        raise context.refuse(node, said, "one of them names a person: select it on both sides")
    try:
        nodes: list[exp.Expression] = [exp.column(name), exp.column(name)]
        a, b = unify(row_binder(context.sql, Relation({})), nodes, both)
    except (QuestionError, ValueError):
        raise context.refuse(node, said, "select values of one type on both sides") from None
    if type(a.range) is not type(b.range):
        raise context.refuse(node, said, "select values of one type on both sides")
    return a, b
