"""Conditions and choices: comparisons, AND, OR, NOT, IN, LIKE, CASE, in SQL's three values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import call
from adomnia.queries.ranges import Day, Number, Text, Truth
from adomnia.queries.sql.binder import Binder, Handler, as_day, as_truth, describe, is_null, null
from adomnia.queries.sql.numbers import align

__all__ = ["CONDITIONS"]


def _pair(binder: Binder, node: exp.Expression, other: exp.Expression) -> tuple[Expr, Expr] | None:
    """Two expressions brought to one type; None where one is NULL."""
    left, right = binder.row(node), binder.row(other)
    if is_null(left) or is_null(right):
        return None
    kinds = (type(left.range), type(right.range))
    if Day in kinds:
        left, right = as_day(binder, node, left), as_day(binder, other, right)
    elif Number in kinds:
        left, right = align(binder.number(node), binder.number(other))
    elif Truth in kinds and Text in kinds:
        left, right = as_truth(left), as_truth(right)
    if type(left.range) is not type(right.range):
        message = f"{describe(left.range)} cannot be compared with {describe(right.range)}"
        raise binder.refuse(other, message)
    return left, right


def _compare(op: str) -> Callable[[Binder, exp.Binary], Expr]:
    def handle(binder: Binder, node: exp.Binary) -> Expr:
        pair = _pair(binder, node.this, node.expression)
        return Constant(None, Truth()) if pair is None else call(op, *pair)

    return handle


def _between(binder: Binder, node: exp.Between) -> Expr:
    low = _compare("ge")(binder, exp.GTE(this=node.this, expression=node.args["low"]))
    high = _compare("le")(binder, exp.LTE(this=node.this, expression=node.args["high"]))
    return call("and", low, high)


def _logic(op: str) -> Callable[[Binder, exp.Binary], Expr]:
    def handle(binder: Binder, node: exp.Binary) -> Expr:
        # A chain of ANDs is a left-deep tree; it is flattened here, not by recursion.
        parts, rest = [node.expression], node.this
        while type(rest) is type(node):
            parts.append(rest.expression)
            rest = rest.this
        return call(op, *(binder.truth(part) for part in reversed([*parts, rest])))

    return handle


def _not(binder: Binder, node: exp.Not) -> Expr:
    bound = binder.truth(node.this)
    return bound if is_null(bound) else call("not", bound)


def _is(binder: Binder, node: exp.Is) -> Expr:
    bound, other = binder.row(node.this), binder.row(node.expression)
    if is_null(other):
        return call("is_null", bound)
    if isinstance(other.range, Truth) and isinstance(bound.range, Truth):
        known = call("not", call("is_null", bound))
        return call("and", known, call("eq", bound, other))
    raise binder.refuse(node, "IS takes NULL, TRUE or FALSE")


def _in(binder: Binder, node: exp.In) -> Expr:
    if node.args.get("query") or node.args.get("unnest"):
        raise binder.refuse(
            node, "IN takes a list of constants", "a subquery is allowed in FROM only"
        )
    pairs = [_pair(binder, node.this, item) for item in node.expressions]
    present = [pair for pair in pairs if pair is not None]
    tests = [call("eq", *pair) for pair in present]
    simple = {pair[0] for pair in present}
    if len(simple) == 1 and all(isinstance(pair[1], Constant) for pair in present):
        values = tuple(dict.fromkeys(pair[1].value for pair in present))  # type: ignore[union-attr]
        tests = [call("in", simple.pop(), params=values)]
    if len(present) < len(pairs) or not tests:
        tests.append(Constant(None, Truth()))
    return call("or", *tests) if len(tests) > 1 else tests[0]


def _like(ignore_case: bool) -> Callable[[Binder, exp.Binary], Expr]:
    def handle(binder: Binder, node: exp.Binary) -> Expr:
        bound, pattern = binder.row(node.this), binder.row(node.expression)
        if not isinstance(bound.range, Text):
            raise binder.refuse(node.this, "LIKE takes text on its left")
        if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
            raise binder.refuse(node.expression, "LIKE takes a pattern written out on its right")
        return call("like", bound, params=(pattern.value, ignore_case))

    return handle


def _unify(binder: Binder, nodes: list[exp.Expression], bound: list[Expr]) -> list[Expr]:
    """Branches of a CASE brought to one type; NULL takes the type of the others."""
    known = [expr for expr in bound if not is_null(expr)]
    if not known:
        return [null(Truth()) for _ in bound]
    if any(isinstance(expr.range, Day) for expr in known):
        bound = [as_day(binder, node, expr) for node, expr in zip(nodes, bound, strict=True)]
    known = [expr for expr in bound if not is_null(expr)]
    if len({type(expr.range) for expr in known}) > 1:
        raise binder.refuse(nodes[-1], "the branches are of different types")
    if isinstance(known[0].range, Number):
        bound = [null(known[0].range) if is_null(expr) else expr for expr in bound]
        return align(*bound)
    return [null(known[0].range) if is_null(expr) else expr for expr in bound]


def _case(binder: Binder, node: exp.Case) -> Expr:
    subject, branches = node.this, node.args["ifs"]
    tests = [
        part.this if subject is None else exp.EQ(this=subject, expression=part.this)
        for part in branches
    ]
    nodes = [part.args["true"] for part in branches]
    nodes.append(node.args.get("default") or exp.Null())
    values = _unify(binder, nodes, [binder.row(part) for part in nodes])
    conditions = [binder.truth(test) for test in tests]
    args = [part for pair in zip(conditions, values, strict=False) for part in pair]
    return call("case", *args, values[-1])


def _if(binder: Binder, node: exp.If) -> Expr:
    default = node.args.get("false") or exp.Null()
    branch = exp.If(this=node.this, true=node.args["true"])
    return _case(binder, exp.Case(ifs=[branch], default=default))


def _coalesce(binder: Binder, node: exp.Coalesce) -> Expr:
    nodes = [node.this, *node.expressions]
    values = _unify(binder, nodes, [binder.row(part) for part in nodes])
    out = values[-1]
    for value in reversed(values[:-1]):
        # Where the first is not NULL it is taken, so its own NULL does not pass on.
        present = replace(value.range, nullable=False)
        taken = value if not isinstance(value, Call | Column) else replace(value, range=present)
        out = call("case", call("not", call("is_null", value)), taken, out)
    return out


def _nullif(binder: Binder, node: exp.Nullif) -> Expr:
    same = exp.EQ(this=node.this, expression=node.expression)
    return _case(binder, exp.Case(ifs=[exp.If(this=same, true=exp.Null())], default=node.this))


CONDITIONS: Mapping[type[exp.Expression], Handler] = {
    exp.EQ: _compare("eq"),
    exp.NEQ: _compare("ne"),
    exp.LT: _compare("lt"),
    exp.LTE: _compare("le"),
    exp.GT: _compare("gt"),
    exp.GTE: _compare("ge"),
    exp.Between: _between,
    exp.And: _logic("and"),
    exp.Or: _logic("or"),
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Like: _like(ignore_case=False),
    exp.ILike: _like(ignore_case=True),
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
}
"""What this module binds."""
