"""Comparisons that are never true: a misspelt value, a number out of bounds, `= NULL`.

They are told with what would work instead. All of it rests on the public domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from sqlglot import exp

from adomnia.queries.emptiness import Emptiness, may_be, may_be_true
from adomnia.queries.expression import Call, Column, Constant, Expr, columns
from adomnia.queries.question import Refusal
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, show
from adomnia.queries.sql.binder import Binder, is_null
from adomnia.queries.sql.parse import place
from adomnia.schema.domain import step_text

__all__ = ["impossible_in", "never_true", "unlisted"]

MOST_SHOWN = 12
"""So many values of a list are shown in an error or a note."""

LONGEST = 40
"""A longer value is cut where it is shown."""


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


def unlisted(exprs: Iterable[Expr | None], written: frozenset[str]) -> Iterator[str]:
    """Notes on values that a statement writes out and that their column never has."""
    found: dict[Column, list[Any]] = {}
    for expr in exprs:
        for column, value in _compared(expr):
            if not may_be(column, value) and str(show(column.range, value)) in written:
                found.setdefault(column, []).append(value)
    for column, values in found.items():
        many = list(dict.fromkeys(values))
        says = "are no values" if len(many) > 1 else "is no value"
        meant = _meant(column.range, many)
        yield f"{_listed(column.range, many)} {says} of {column.name}{f': {meant}' * bool(meant)}"


def _compared(expr: Expr | None) -> Iterator[tuple[Column, Any]]:
    """The constants that columns of listed values are compared with."""
    if not isinstance(expr, Call):
        return
    left, right = expr.args if len(expr.args) == 2 else (expr.args[0], expr.args[-1])
    if isinstance(left, Constant):
        left, right = right, left
    left = _unscaled(left)
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
        return _never(node.this, second, op, first)
    at = node.this if isinstance(left, Constant) else node.expression  # it may be mirrored
    return _never(at, first, bound.op, second)


def _between(binder: Binder, node: exp.Between) -> Refusal | None:
    bound, ends = binder.row(node), (node.args["low"], node.args["high"])
    parts = bound.args if isinstance(bound, Call) and bound.op == "and" else ()
    for part, end in zip(parts, ends, strict=False):
        if is_null(part):
            return _with_null(binder, end, (binder.row(node.this), part))
        if isinstance(part, Call) and not may_be_true(part) and isinstance(part.args[1], Constant):
            return _never(end, part.args[0], part.op, part.args[1])
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
    return _no_value(first, *_tested(bound))


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
    name, spread = _name(bound.args[0]), bound.args[0].range
    message = f"no value of {name} is like {_quoted(bound.params[0])}"
    return Refusal(message, _values(name, spread), place(node.expression))


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
    name = _name(read[0])
    hint = f"use {name} IS NULL" if isinstance(read[0], Column) else "use IS NULL"
    return Refusal("a comparison with NULL is never true", hint, place(node))


def _never(node: exp.Expression, expr: Expr, op: str, other: Constant | Expr) -> Refusal | None:
    if not isinstance(other, Constant) or not columns(expr):
        return None
    inner, value = _unscaled(expr), show(other.range, other.value)
    if op == "eq" and getattr(inner.range, "values", None) is not None and not _is_scaled(expr):
        return _no_value(node, expr, (other.value,))
    message = f"{_name(inner)} is never {_WORDS[op]}{_quoted(value)}"
    between = op == "eq" and _is_scaled(expr)
    return Refusal(message, _bounds(_name(inner), inner, between), place(node))


def _no_value(node: exp.Expression, expr: Expr, values: tuple[Any, ...]) -> Refusal:
    inner, name = _unscaled(expr), _name(_unscaled(expr))
    said = _listed(expr.range, list(values))
    several = "are no values" if len(values) > 1 else "is no value"
    return Refusal(f"{said} {several} of {name}", _hint(name, inner, values), place(node))


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


# Words


def _unscaled(expr: Expr) -> Expr:
    """The column that a comparison is about, as it was written."""
    while isinstance(expr, Call) and expr.op in ("scale", "inside"):
        expr = expr.args[0]
    return expr


def _is_scaled(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.op == "scale"


def _name(expr: Expr) -> str:
    inner = _unscaled(expr)
    return inner.name if isinstance(inner, Column) else "this"


def _hint(name: str, expr: Expr, values: tuple[Any, ...]) -> str:
    if getattr(expr.range, "values", None) is None:
        return _bounds(name, expr)
    meant = _meant(expr.range, list(values))
    return f"{meant} {_values(name, expr.range)}".strip()


def _values(name: str, spread: Range) -> str:
    values = list(getattr(spread, "values", None) or ())
    return f"the values of {name} are {_listed(spread, values)}"


def _bounds(name: str, expr: Expr, lattice: bool = False) -> str:
    spread = expr.range
    if getattr(spread, "values", None) is not None or not isinstance(spread, Number | Day | Moment):
        return _values(name, spread)
    ends = f"{name} lies between {_bound(spread, spread.low)} and {_bound(spread, spread.high)}"
    if isinstance(spread, Number) and (spread.step != 1 or lattice):
        ends += f", in steps of {_bound(spread, 1)}"
    if isinstance(spread, Moment) and not spread.unit:
        ends += f", in steps of {step_text(spread.step)}"
    beyond = "; values outside of these are not told apart"
    return ends + beyond if isinstance(expr, Column) else ends


def _bound(spread: Range, value: Any) -> str:
    shown = show(spread, value)
    return f"{shown:.15g}" if isinstance(shown, float) else str(shown)


def _meant(spread: Range, values: list[Any]) -> str:
    """What was perhaps meant by the first value that is not listed."""
    known = {str(value): value for value in getattr(spread, "values", None) or ()}
    folded = {text.casefold().strip(): text for text in known}
    for value in values if isinstance(spread, Text) else ():
        close = get_close_matches(str(value).casefold().strip(), list(folded)[:1000], 1)
        if close:
            return f"did you mean {_quoted(known[folded[close[0]]])}?"
    return ""


def _listed(spread: Range, values: list[Any]) -> str:
    shown = ", ".join(_quoted(show(spread, value)) for value in values[:MOST_SHOWN])
    return shown + " …" * (len(values) > MOST_SHOWN)


def _quoted(value: Any) -> str:
    text = "".join(sign if sign.isprintable() else " " for sign in str(value))
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return "'" + short.replace("'", "''") + "'" if isinstance(value, str) else short
