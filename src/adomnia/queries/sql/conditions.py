"""Conditions and choices: comparisons, AND, OR, NOT, IN, LIKE, CASE, in SQL's three values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import call, constant, inside
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth
from adomnia.queries.sql.binder import (
    Binder,
    Handler,
    as_truth,
    describe,
    is_null,
    literal_number,
    null,
)
from adomnia.queries.sql.dates import is_calendar, on_lattice, same_calendar
from adomnia.queries.sql.numbers import align
from adomnia.queries.sql.value_words import declared_hint, listed, name_of
from adomnia.queries.undeclared import Undeclared, denied_constant

__all__ = ["CONDITIONS", "unify"]


def _test(op: str, binder: Binder, node: exp.Expression, other: exp.Expression) -> Expr:
    """A comparison, in which the two sides are brought to one type; NULL where one is NULL."""
    left, right = binder.row(node), binder.row(other)
    if is_null(left) or is_null(right):
        return Constant(None, Truth())
    kinds = (type(left.range), type(right.range))
    if is_calendar(left, right):
        left, right = same_calendar(binder, (node, left), (other, right))
        on_lattice(binder, other, left, right)
        on_lattice(binder, node, right, left)
    elif Number in kinds:
        _refuse_text(binder, (node, left), (other, right))
        _refuse_text(binder, (other, right), (node, left))
        left, right = _number(binder, node, left), _number(binder, other, right)
    elif Truth in kinds and Text in kinds:
        left, right = as_truth(left), as_truth(right)
    if type(left.range) is not type(right.range):
        message = f"{describe(left.range)} cannot be compared with {describe(right.range)}"
        raise binder.refuse(other, message)
    if Truth in kinds:
        _refuse_denied(binder, node, left, None)
        _refuse_denied(binder, other, right, None)
    found = _compared(op, left, right)
    _refuse_denied(binder, node if isinstance(left, Constant) else other, found)
    return found


def _refuse_denied(
    binder: Binder, node: exp.Expression, test: Expr, denied: bool | None = False
) -> None:
    """Refuse what would have to know of values outside of a domain which ones they are."""
    found = denied_constant(test, denied)
    if found is None:
        return
    name, said = name_of(binder, found.column), listed(found.range, [found.value])
    values = getattr(found.column.range, "values", None) is not None
    why = "is not listed" if values else "is not declared"
    message = f"{said} {why} for {name}, so which rows are not {said} is not known"
    ends = _instead(name, found.column.range, found)
    hint = declared_hint(name, found.column, (found.value,))
    raise binder.refuse(node, message, f"{hint}; {ends}, or have the curator declare {said}")


def _instead(name: str, spread: Range, found: Undeclared) -> str:
    """A condition that rows with a declared value meet."""
    if getattr(spread, "values", None) is not None:
        return f"ask {name} IN (…) with those that are meant"
    assert isinstance(spread, Number | Day | Moment)
    above = _is_above(spread, found)
    end = listed(spread, [spread.high if above else spread.low])
    sign = "<=" if above else ">="
    return f"ask for example {name} {sign} {end if isinstance(spread, Number) else repr(end)}"


def _is_above(spread: Number | Day | Moment, found: Undeclared) -> bool:
    place, _ = _place(spread, Constant(found.value, found.range))
    return bool(place > spread.high)


def _refuse_text(
    binder: Binder, text: tuple[exp.Expression, Expr], other: tuple[exp.Expression, Expr]
) -> None:
    """Refuse a column of text beside a number that is written out, and say how it is written."""
    (_, column), (node, number) = text, other
    written = isinstance(column, Column) and isinstance(column.range, Text)
    if written and isinstance(number, Constant):
        name, said = name_of(binder, column), listed(number.range, [number.value])
        raise binder.refuse(node, f"{name} is text, and {said} a number", f"write '{said}'")
    if isinstance(column, Column) and isinstance(number, Constant):
        _refuse_words(binder, node, column, number)


def _refuse_words(binder: Binder, node: exp.Expression, column: Column, other: Constant) -> None:
    """Refuse text that is no number beside a column of numbers, and say what the column has."""
    if not isinstance(other.value, str):
        return
    try:
        literal_number(binder, node, other.value)
    except QuestionError as error:
        hint = declared_hint(name_of(binder, column), column, ())
        raise binder.refuse(node, error.message, hint) from None


def _number(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    return bound if isinstance(bound.range, Number) else binder.number(node)


_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _compared(op: str, left: Expr, right: Expr) -> Expr:
    """Two values of one type; a column beside a constant is compared with what lies outside."""
    if isinstance(left, Constant) and isinstance(right, Column):
        op, left, right = _MIRRORED.get(op, op), right, left
    if isinstance(left, Column) and left.range.ragged and isinstance(right, Constant):
        if isinstance(left.range, Number | Day | Moment):
            return _against(op, left, right)
        return call(op, left, right)
    left, right = inside(left), inside(right)
    return call(op, *(align(left, right) if isinstance(left.range, Number) else (left, right)))


def _against(op: str, column: Column, other: Constant) -> Expr:
    """A column of numbers, days or moments beside a constant, by its place among what is declared.

    What lies outside is below or above all of these. Past their end no two values are told apart:
    where they end at 120, `x <= 500` is not met by what may lie above 500.
    """
    spread, (place, exact) = column.range, _place(column.range, other)
    assert isinstance(spread, Number | Day | Moment)
    if op in ("eq", "ne"):
        if exact and spread.low <= place <= spread.high:
            return call(op, column, _at(place, spread))
        pair = inside(column), other
        return call(op, *(align(*pair) if isinstance(spread, Number) else pair))
    below = op in ("lt", "le")
    if not exact:  # between two values: at most the lower one, or above it
        op = "le" if below else "gt"
    if below and place > spread.high:
        op, place = "le", spread.high
    if not below and place < spread.low:
        op, place = "ge", spread.low
    return call(op, column, _at(place, spread))


def _place(spread: Range, other: Constant) -> tuple[Any, bool]:
    """The last value at or before a constant, and whether it is the constant itself."""
    if not (isinstance(spread, Number) and isinstance(other.range, Number)):
        return other.value, True
    index = other.value * other.range.step / spread.step
    return math.floor(index), index.denominator == 1


def _at(place: Any, spread: Range) -> Constant:
    return constant(place, spread.step) if isinstance(spread, Number) else constant(place)


def _compare(op: str) -> Callable[[Binder, exp.Binary], Expr]:
    return lambda binder, node: _test(op, binder, node.this, node.expression)


def _between(binder: Binder, node: exp.Between) -> Expr:
    low = _compare("ge")(binder, exp.GTE(this=node.this, expression=node.args["low"]))
    high = _compare("le")(binder, exp.LTE(this=node.this, expression=node.args["high"]))
    return call("and", low, high)


def _distinct(negated: bool) -> Callable[[Binder, exp.Binary], Expr]:
    """IS DISTINCT FROM, and IS NOT DISTINCT FROM where it is negated: NULL is a value here."""

    def handle(binder: Binder, node: exp.Binary) -> Expr:
        sides = [call("is_null", binder.row(part)) for part in (node.this, node.expression)]
        test = _test("eq" if negated else "ne", binder, node.this, node.expression)
        if negated:
            both = call("and", *sides)
            return call("or", both, call("and", *(call("not", side) for side in sides), test))
        some = call("or", *(call("not", side) for side in sides))
        return call("and", call("or", *sides, test), some)

    return handle


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
    _refuse_denied(binder, node.this, bound, denied=True)
    return bound if is_null(bound) else call("not", bound)


def _is(binder: Binder, node: exp.Is) -> Expr:
    bound, other = binder.row(node.this), binder.row(node.expression)
    asked = isinstance(other, Constant) and other.value is True
    _refuse_denied(binder, node.this, bound, False if asked else None)
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
    tests = [_test("eq", binder, node.this, item) for item in node.expressions]
    values: dict[Expr, dict[Any, None]] = {}
    for test in tests:
        if isinstance(test, Call) and _is_value(test):
            values.setdefault(test.args[0], {})[_value(test)] = None
    listed = [call("in", left, params=tuple(found)) for left, found in values.items()]
    rest = [test for test in tests if not (isinstance(test, Call) and _is_value(test))]
    tests = [*listed, *dict.fromkeys(rest)] or [Constant(None, Truth())]
    return call("or", *tests) if len(tests) > 1 else tests[0]


def _is_value(test: Call) -> bool:
    return test.op == "eq" and isinstance(test.args[1], Constant)


def _value(test: Call) -> Any:
    assert isinstance(test.args[1], Constant)
    return test.args[1].value


def _like(ignore_case: bool) -> Callable[[Binder, exp.Binary], Expr]:
    def handle(binder: Binder, node: exp.Binary) -> Expr:
        bound, pattern = binder.row(node.this), binder.row(node.expression)
        if not isinstance(bound.range, Text):
            raise binder.refuse(node.this, "LIKE takes text on its left")
        if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
            raise binder.refuse(node.expression, "LIKE takes a pattern written out on its right")
        return call("like", bound, params=(pattern.value, ignore_case))

    return handle


def unify(binder: Binder, nodes: list[exp.Expression], bound: list[Expr]) -> list[Expr]:
    """Branches of a CASE brought to one type; NULL takes the type of the others."""
    bound = [inside(expr) for expr in bound]
    known = [expr for expr in bound if not is_null(expr)]
    if not known:
        return [null(Truth()) for _ in bound]
    if is_calendar(*known):
        bound = same_calendar(binder, *zip(nodes, bound, strict=True))
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
    values = unify(binder, nodes, [binder.row(part) for part in nodes])
    conditions = [binder.truth(test) for test in tests]
    if not _is_nothing(values[-1]):  # what meets none of the tests is told from what does
        for part, test in zip(branches, conditions, strict=True):
            _refuse_denied(binder, part.this, test, denied=True)
    args = [part for pair in zip(conditions, values, strict=False) for part in pair]
    return call("case", *args, values[-1])


def _is_nothing(expr: Expr) -> bool:
    return isinstance(expr, Constant) and not expr.value


def _if(binder: Binder, node: exp.If) -> Expr:
    default = node.args.get("false") or exp.Null()
    branch = exp.If(this=node.this, true=node.args["true"])
    return _case(binder, exp.Case(ifs=[branch], default=default))


def _coalesce(binder: Binder, node: exp.Coalesce) -> Expr:
    nodes = [node.this, *node.expressions]
    values = unify(binder, nodes, [binder.row(part) for part in nodes])
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
    exp.NullSafeEQ: _distinct(negated=True),
    exp.NullSafeNEQ: _distinct(negated=False),
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
