"""Comparisons that are never true: a misspelt value, a number out of bounds, `= NULL`.

They are told with what would work instead. All of it rests on the public domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from adomnia.queries.emptiness import Emptiness, may_be, may_be_true
from adomnia.queries.expression import Call, Column, Constant, Expr, columns
from adomnia.queries.question import Refusal
from adomnia.queries.ranges import show
from adomnia.queries.sql.binder import Binder, Relation, is_null
from adomnia.queries.sql.parse import place
from adomnia.queries.sql.value_words import (
    bounds_said,
    declared_hint,
    is_scaled,
    listed,
    name_of,
    perhaps_meant,
    quoted,
    unscaled,
    values_said,
)

__all__ = ["impossible_in", "never_true", "unlisted"]


def never_true(binder: Binder, condition: exp.Expr) -> Refusal | None:
    """Why a condition is never true, where one comparison with a constant alone makes it so."""
    node: Any = condition.unnest()
    if isinstance(node, exp.And):
        found = (never_true(binder, part) for part in node.flatten())
        return next((refusal for refusal in found if refusal is not None), None)
    if isinstance(node, exp.Or):
        every = [never_true(binder, part) for part in node.flatten()]
        return every[0] if all(every) else None
    if isinstance(node, exp.Not):
        return _not_in(binder, node)
    atom = None if node.args.get("negate") else _ATOMS.get(type(node))
    return None if atom is None else atom(binder, node)


def impossible_in(binder: Binder, node: exp.Expression) -> Refusal | None:
    """Why one of the conditions of an aggregate is never true, in FILTER or in CASE."""
    tests = [part.this for part in node.find_all(exp.Where, exp.CountIf)]
    for part in node.find_all(exp.If):
        case = part.parent
        subject = case.this if isinstance(case, exp.Case) else None
        if subject is None:
            tests.append(part.this)
        else:
            tests.append(exp.EQ(this=subject, expression=part.this))
    found = (never_true(binder, test) for test in tests)
    return next((refusal for refusal in found if refusal is not None), None)


def unlisted(
    exprs: Iterable[Expr | None], written: frozenset[str], relation: Relation
) -> Iterator[str]:
    """Notes on values that a statement writes out and that their column never has."""
    found: dict[Column, list[Any]] = {}
    for expr in exprs:
        for column, value in _compared(expr):
            if not may_be(column, value) and str(show(column.range, value)) in written:
                found.setdefault(column, []).append(value)
    for column, values in found.items():
        many = list(dict.fromkeys(values))
        says = "are no values" if len(many) > 1 else "is no value"
        meant = perhaps_meant(column.range, many)
        name = relation.called(column)
        yield f"{listed(column.range, many)} {says} of {name}{f': {meant}' * bool(meant)}"


def _compared(expr: Expr | None) -> Iterator[tuple[Column, Any]]:
    """The constants that columns of listed values are compared with."""
    if not isinstance(expr, Call):
        return
    left, right = expr.args if len(expr.args) == 2 else (expr.args[0], expr.args[-1])
    if isinstance(left, Constant):
        left, right = right, left
    left = unscaled(left)
    if isinstance(left, Column) and getattr(left.range, "values", None) is not None:
        values = expr.params if expr.op == "in" else ()
        if expr.op in ("eq", "ne") and isinstance(right, Constant):
            values = (right.value,)
        yield from ((left, value) for value in values)
    for arg in expr.args:
        yield from _compared(arg)


# One comparison


def _comparison(binder: Binder, node: exp.Expression) -> Refusal | None:
    left, right = binder.row(node.this), binder.row(node.expression)
    if is_null(left) or is_null(right):
        return _with_null(binder, node, (left, right))
    bound = binder.row(node)
    if not isinstance(bound, Call) or may_be_true(bound):
        return None
    first, second = bound.args
    if isinstance(first, Constant):
        op = _MIRRORED.get(bound.op, bound.op)
        return _never(binder, node.this, (second, op, first))
    at = node.this if isinstance(left, Constant) else node.expression  # it may be mirrored
    return _never(binder, at, (first, bound.op, second))


def _between(binder: Binder, node: exp.Between) -> Refusal | None:
    bound, ends = binder.row(node), (node.args["low"], node.args["high"])
    parts = bound.args if isinstance(bound, Call) and bound.op == "and" else ()
    for part, end in zip(parts, ends, strict=False):
        if is_null(part):
            return _with_null(binder, end, (binder.row(node.this), part))
        if isinstance(part, Call) and not may_be_true(part) and isinstance(part.args[1], Constant):
            return _never(binder, end, (part.args[0], part.op, part.args[1]))
    fixed = all(isinstance(binder.row(end), Constant) for end in ends)
    if not parts or not fixed or Emptiness().may_hold(bound):
        return None
    hint = "the smaller bound comes first: BETWEEN 20 AND 60"
    return Refusal("no value lies between these two", hint, place(ends[0]))


def _in(binder: Binder, node: exp.In) -> Refusal | None:
    bound = binder.row(node)
    if not columns(binder.row(node.this)) or may_be_true(bound) or not node.expressions:
        return None
    constants = [binder.row(item) for item in node.expressions]
    if not all(isinstance(item, Constant) for item in constants):
        return None
    if all(is_null(item) for item in constants):
        return _with_null(binder, node, (binder.row(node.this), constants[0]))
    first = next(item for item in node.expressions if not is_null(binder.row(item)))
    return _no_value(binder, first, *_tested(bound))


def _not_in(binder: Binder, node: exp.Not) -> Refusal | None:
    """NOT IN with NULL in its list: what is not among the others might be that NULL."""
    inner = node.this.unnest()
    if not isinstance(inner, exp.In) or not columns(binder.row(inner.this)):
        return None
    if not any(is_null(binder.row(item)) for item in inner.expressions):
        return None
    message = "NOT IN with NULL in its list is never true"
    return Refusal(message, "leave NULL out of the list, and ask IS NOT NULL", place(inner))


def _like(binder: Binder, node: exp.Expression) -> Refusal | None:
    bound = binder.row(node)
    if not isinstance(bound, Call) or may_be_true(bound):
        return None
    name, spread = name_of(binder, bound.args[0]), bound.args[0].range
    message = f"no value of {name} is like {quoted(bound.params[0])}"
    return Refusal(message, values_said(name, spread), place(node.expression))


_ATOMS: Mapping[type[exp.Expression], Callable[[Binder, Any], Refusal | None]] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_WORDS = {"eq": "", "ne": "other than ", "lt": "below ", "le": "at most ", "gt": "above ",
          "ge": "at least "}  # fmt: skip


def _with_null(binder: Binder, node: exp.Expression, sides: Iterable[Expr]) -> Refusal | None:
    read = [side for side in sides if columns(side)]
    if not read:
        return None  # it names no column: the answer is empty, and free
    name = name_of(binder, read[0])
    hint = f"use {name} IS NULL" if isinstance(read[0], Column) else "use IS NULL"
    return Refusal("a comparison with NULL is never true", hint, place(node))


def _never(
    binder: Binder, node: exp.Expression, compared: tuple[Expr, str, Constant | Expr]
) -> Refusal | None:
    expr, op, other = compared
    if not isinstance(other, Constant) or not columns(expr):
        return None
    inner, value = unscaled(expr), show(other.range, other.value)
    if op == "eq" and getattr(inner.range, "values", None) is not None and not is_scaled(expr):
        return _no_value(binder, node, expr, (other.value,))
    name, between = name_of(binder, inner), op == "eq" and is_scaled(expr)
    message = f"{name} is never {_WORDS[op]}{quoted(value)}"
    return Refusal(message, bounds_said(name, inner, between), place(node))


def _no_value(binder: Binder, node: exp.Expression, expr: Expr, values: tuple[Any, ...]) -> Refusal:
    inner, name = unscaled(expr), name_of(binder, unscaled(expr))
    said = listed(expr.range, list(values))
    several = "are no values" if len(values) > 1 else "is no value"
    return Refusal(f"{said} {several} of {name}", declared_hint(name, inner, values), place(node))


def _tested(bound: Expr) -> tuple[Expr, tuple[Any, ...]]:
    """What an IN tests, and for which values."""
    if isinstance(bound, Call) and bound.op == "or":
        found = [_tested(part) for part in bound.args if isinstance(part, Call)]
        return found[0][0], tuple(value for _, values in found for value in values)
    assert isinstance(bound, Call)
    if bound.op == "in":
        return bound.args[0], bound.params
    assert isinstance(bound.args[1], Constant)
    return bound.args[0], (bound.args[1].value,)
