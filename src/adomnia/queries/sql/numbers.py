"""Numbers: arithmetic on lattices, where every result stays a whole multiple of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd

from sqlglot import exp

from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import FLOAT_STEP, call, constant
from adomnia.queries.ranges import Number
from adomnia.queries.sql.binder import Binder, Handler, null, whole
from adomnia.queries.sql.dates import is_calendar, is_interval, later, subtract

__all__ = ["NUMBERS", "align", "rounded"]


def align(*exprs: Expr) -> list[Expr]:
    """The same numbers on their common lattice."""
    steps = [expr.range.step for expr in exprs if isinstance(expr.range, Number)]
    common = steps[0]
    for step in steps[1:]:
        bottom = common.denominator * step.denominator
        top = gcd(common.numerator * step.denominator, step.numerator * common.denominator)
        common = Fraction(top, bottom)
    return [_on(expr, common) for expr in exprs]


def _on(expr: Expr, step: Fraction) -> Expr:
    factor = int(expr.range.step / step) if isinstance(expr.range, Number) else 1
    if factor == 1:
        return expr
    if isinstance(expr, Constant) and expr.value is None:
        return null(call("scale", Column("", expr.range), params=(factor,)).range)
    return call("scale", expr, params=(factor,))


def _arithmetic(op: str) -> Callable[[Binder, exp.Binary], Expr]:
    def handle(binder: Binder, node: exp.Binary) -> Expr:
        left, right = binder.number(node.this), binder.number(node.expression)
        return call(op, *align(left, right))

    return handle


def _multiply(binder: Binder, node: exp.Mul) -> Expr:
    left, right = binder.number(node.this), binder.number(node.expression)
    for number, factor in ((left, right), (right, left)):
        if isinstance(factor, Constant) and factor.value and not isinstance(number, Constant):
            return _times(number, factor)
    return call("mul", left, right)


def _times(number: Expr, factor: Constant) -> Expr:
    """A multiple by a constant: the same indices on a wider or narrower lattice."""
    assert isinstance(factor.range, Number)
    assert isinstance(number.range, Number)
    scaled = call("restep", number, params=(abs(factor.value) * factor.range.step,))
    decimal = not (factor.range.whole and number.range.whole)
    if decimal and isinstance(scaled.range, Number) and scaled.range.whole:
        scaled = call("scale", scaled, params=(10,))  # 1.0 times a whole number is a decimal
    return scaled if factor.value > 0 else call("neg", scaled)


def _add(binder: Binder, node: exp.Add) -> Expr:
    for written, other in ((node.expression, node.this), (node.this, node.expression)):
        if is_interval(written):
            return later(binder, other, written, 1)
    return _arithmetic("add")(binder, node)


def _subtract(binder: Binder, node: exp.Sub) -> Expr:
    if is_interval(node.expression):
        return later(binder, node.this, node.expression, -1)
    if is_calendar(binder.value(node.this), binder.value(node.expression)):
        return subtract(binder, node)
    return _arithmetic("sub")(binder, node)


def _divide(binder: Binder, node: exp.Expression) -> Expr:
    left, right = binder.number(node.this), binder.number(node.expression)
    whole = all(isinstance(side.range, Number) and side.range.whole for side in (left, right))
    return _quotient(left, right, *(("trunc", Fraction(1)) if whole else ("round", FLOAT_STEP)))


def _quotient(left: Expr, right: Expr, mode: str, step: Fraction) -> Expr:
    """left / right, rounded to a multiple of step; as many digits as fit are kept."""
    assert isinstance(left.range, Number)
    assert isinstance(right.range, Number)
    while True:
        ratio = left.range.step / (right.range.step * step)
        params = (ratio.numerator, ratio.denominator, mode, step)
        try:
            return call("div", left, right, params=params)
        except ValueError:
            if step >= 1:
                raise
            step *= 10


def rounded(mode: str) -> Callable[[Binder, exp.Expression], Expr]:
    """Rounding of one kind, to a number of digits."""

    def handle(binder: Binder, node: exp.Expression) -> Expr:
        digits = node.args.get("decimals")
        places = int(whole(binder, digits)) if digits is not None else 0
        if abs(places) > 15:
            raise binder.refuse(node, "between -15 and 15 digits can be rounded to")
        step = Fraction(10) ** -places
        bound = binder.number(node.this)
        if isinstance(bound.range, Number) and (bound.range.step / step).denominator == 1:
            return bound
        return _quotient(bound, constant(1), mode, step)

    return handle


def _power(binder: Binder, node: exp.Pow) -> Expr:
    base, power = binder.number(node.this), whole(binder, node.expression)
    if not 1 <= power <= 8:
        raise binder.refuse(node.expression, "a power from 1 to 8 can be derived")
    out = base
    for _ in range(power - 1):
        out = call("mul", out, base)
    if power % 2 == 0 and isinstance(out.range, Number) and isinstance(out, Call):
        return replace(out, range=replace(out.range, low=max(0, out.range.low)))
    return out


def _real(name: str) -> Callable[[Binder, exp.Expression], Expr]:
    def handle(binder: Binder, node: exp.Expression) -> Expr:
        bound = binder.number(node.this)
        assert isinstance(bound.range, Number)
        return call("real", bound, params=(name, bound.range.step))

    return handle


def _one(op: str) -> Callable[[Binder, exp.Expression], Expr]:
    return lambda binder, node: call(op, binder.number(node.this))


def _several(op: str) -> Callable[[Binder, exp.Expression], Expr]:
    def handle(binder: Binder, node: exp.Expression) -> Expr:
        nodes = [node.this, *node.expressions]
        return call(op, *align(*(binder.number(part) for part in nodes)))

    return handle


NUMBERS: Mapping[type[exp.Expression], Handler] = {
    exp.Add: _add,
    exp.Sub: _subtract,
    exp.Mul: _multiply,
    exp.Div: _divide,
    exp.IntDiv: _divide,
    exp.Mod: _arithmetic("mod"),
    exp.Neg: _one("neg"),
    exp.Abs: _one("abs"),
    exp.Sign: _one("sign"),
    exp.Round: rounded("round"),
    exp.Floor: rounded("floor"),
    exp.Ceil: rounded("ceil"),
    exp.Trunc: rounded("trunc"),
    exp.Pow: _power,
    exp.Sqrt: _real("sqrt"),
    exp.Ln: _real("ln"),
    exp.Exp: _real("exp"),
    exp.Least: _several("least"),
    exp.Greatest: _several("greatest"),
}
"""What this module binds."""
