"""What is shown: columns of the answer as expressions over its keys and statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.emptiness import Emptiness
from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.question import (
    Apply,
    Given,
    Group,
    Literal,
    Post,
    Refusal,
    Statistic,
)
from adomnia.queries.ranges import Number
from adomnia.queries.sql.aggregates import AGGREGATES, bind_aggregate, is_aggregate
from adomnia.queries.sql.binder import Binder
from adomnia.queries.sql.never import impossible_in
from adomnia.schema.table import Table

__all__ = ["Made", "bind_post", "name_of"]


@dataclass
class Made:
    """A SELECT in the making: what has been bound so far."""

    binder: Binder
    table: Table
    items: Mapping[str, exp.Expression]
    keys: list[Expr] = field(default_factory=list)
    statistics: list[Statistic] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    emptiness: Emptiness = field(default_factory=Emptiness)
    never: bool = False
    """Whether no row meets the statement's own condition."""


def name_of(node: exp.Expression) -> str:
    """What a column is called where the statement gives it no name."""
    while isinstance(node, exp.WithinGroup | exp.Filter | exp.Paren):
        node = node.this
    if isinstance(node, exp.Column):
        return node.name
    return AGGREGATES.get(type(node), "column")


_OPERATORS: Mapping[type[exp.Expression], str] = {
    exp.Add: "add",
    exp.Sub: "sub",
    exp.Mul: "mul",
    exp.Div: "div",
    exp.Mod: "mod",
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.And: "and",
    exp.Or: "or",
    exp.Neg: "neg",
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Sqrt: "sqrt",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Nullif: "nullif",
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
    exp.Round: "round",
    exp.Between: "between",
    exp.Is: "is_null",
    exp.In: "in",
    exp.Case: "case",
}


def bind_post(made: Made, node: exp.Expression, shown: Mapping[str, Post]) -> Post:
    """The node as an expression over the answer: keys, statistics and what is derived of them."""
    if is_aggregate(node):
        return _statistic(made, node)
    if isinstance(node, exp.Column) and not node.table and node.name in shown:
        return shown[node.name]
    key = _key(made, node)
    if key is not None:
        return key
    if isinstance(node, exp.Paren) or _casts_aggregate(node):
        return bind_post(made, node.this, shown)
    if isinstance(node, exp.Column | exp.Star):
        raise _bare(made, node)
    compound = _compound(made, node, shown)
    if compound is not None:
        return compound
    constant = made.binder.row(node)
    if not isinstance(constant, Constant):
        raise made.binder.refuse(
            node,
            "this is neither an aggregate nor in GROUP BY",
            "group by it, or put it inside an aggregate",
        )
    spread = constant.range
    scaled = constant.value is not None and isinstance(spread, Number)
    return Literal(_plain(constant.value * spread.step) if scaled else constant.value)  # type: ignore[union-attr]


def _casts_aggregate(node: exp.Expression) -> bool:
    """A cast of what is noisy already changes nothing that matters."""
    return isinstance(node, exp.Cast) and any(is_aggregate(part) for part in node.walk())


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _statistic(made: Made, node: exp.Expression) -> Post:
    statistic, root = bind_aggregate(made.binder, made.table, node)
    known = None if made.never else made.emptiness.known(statistic, made.binder.relation.where)
    if known is not None:
        refusal = impossible_in(made.binder, node)
        made.refusals.extend([] if refusal is None else [refusal])
        return known
    if statistic not in made.statistics:
        made.statistics.append(statistic)
    given = Given(made.statistics.index(statistic))
    return Apply("sqrt", (given,)) if root else given


def _key(made: Made, node: exp.Expression) -> Post | None:
    if not made.keys or any(is_aggregate(part) for part in node.walk()):
        return None
    try:
        bound = made.binder.row(node)
    except QuestionError:
        return None
    return Group(made.keys.index(bound)) if bound in made.keys else None


def _compound(made: Made, node: exp.Expression, shown: Mapping[str, Post]) -> Post | None:
    """The node as an operation on parts of the answer; None where it is none."""
    parts = _PARTS.get(type(node), _operands)(node)
    op = _OPERATORS.get(type(node))
    if op is None or parts is None:
        return None
    bound = Apply(op, tuple(bind_post(made, part, shown) for part in parts))
    return Apply("not", (bound,)) if node.args.get("negate") else bound


_Parts = list[exp.Expression] | None


def _operands(node: exp.Expression) -> _Parts:
    parts = [node.this, node.args.get("expression"), *node.expressions]
    return [part for part in parts if part is not None]


def _round_parts(node: exp.Expression) -> _Parts:
    return [part for part in (node.this, node.args.get("decimals")) if part is not None]


def _between_parts(node: exp.Expression) -> _Parts:
    return [node.this, node.args["low"], node.args["high"]]


def _is_parts(node: exp.Expression) -> _Parts:
    return [node.this] if isinstance(node.expression, exp.Null) else None


def _in_parts(node: exp.Expression) -> _Parts:
    return None if node.args.get("query") else [node.this, *node.expressions]


def _case_parts(node: exp.Expression) -> _Parts:
    if node.this is not None:
        return None
    branches = [part for each in node.args["ifs"] for part in (each.this, each.args["true"])]
    return [*branches, node.args.get("default") or exp.Null()]


_PARTS: Mapping[type[exp.Expression], Callable[[exp.Expression], _Parts]] = {
    exp.Round: _round_parts,
    exp.Between: _between_parts,
    exp.Is: _is_parts,
    exp.In: _in_parts,
    exp.Case: _case_parts,
}


def _bare(made: Made, node: exp.Expression) -> QuestionError:
    if isinstance(node, exp.Star) or isinstance(node.this, exp.Star):
        return made.binder.refuse(
            node, "single rows are never shown", "ask for aggregates, for example SELECT COUNT(*)"
        )
    bound = made.binder.row(node)  # an unknown column is said to be unknown
    name = made.binder.relation.called(bound) if isinstance(bound, Column) else node.name
    return made.binder.refuse(
        node,
        f"{name!r} is neither aggregated nor in GROUP BY",
        f"add GROUP BY {name}, or use it inside an aggregate",
    )
