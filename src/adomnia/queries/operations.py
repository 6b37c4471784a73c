"""Operations: what may be computed in a row, with the range that comes out and its meaning.

Each operation has a rule that derives the range of its result and a function that computes it
in Python. Engines translate the same operations to SQL; the function is the reference. None of
them can fail on any row: what has no value is NULL (`ranges.md`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from adomnia.limits import MAX_EXPRESSION_CALLS
from adomnia.queries.calendar_rules import CALENDAR
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.ranges import (
    UNLISTED,
    Day,
    Moment,
    Number,
    Range,
    Text,
    Truth,
    lies_outside,
    union,
)

__all__ = [
    "FLOAT_STEP",
    "LIMIT",
    "OPERATIONS",
    "Operation",
    "call",
    "constant",
    "evaluate",
    "inside",
    "nearest",
]

LIMIT = 10**18
"""No index may pass this, so that doubled values still fit a 64-bit engine integer."""


FLOAT_STEP = Fraction(1, 10**6)
"""The lattice to which results of division, roots, logarithms and powers of e are rounded."""


@dataclass(frozen=True)
class Operation:
    """A rule for ranges and its function on values; `strict` ones give NULL for any NULL."""

    derive: Callable[..., Range]
    compute: Callable[..., Any]
    strict: bool = True


def call(op: str, *args: Expr, params: tuple[Any, ...] = ()) -> Expr:
    """The bound call with its range; a call on constants alone is computed at once."""
    spread = OPERATIONS[op].derive(*(arg.range for arg in args), *params)
    if isinstance(spread, Number) and max(abs(spread.low), abs(spread.high)) > LIMIT:
        raise ValueError("the result can become too large to be computed exactly")
    size = 1 + sum(arg.size for arg in args if isinstance(arg, Call))
    if size > MAX_EXPRESSION_CALLS:
        raise ValueError("the expression is too large")
    bound = Call(op, args, spread, params, size)
    if args and all(isinstance(arg, Constant) for arg in args):
        return _narrow(evaluate(bound, {}), spread)
    return bound


def constant(value: Any, step: Fraction = Fraction(1)) -> Constant:
    """A literal with the range that holds just it; a number is given as its index."""
    if value is None:
        return Constant(None, Text(()))
    if isinstance(value, bool):
        return Constant(value, Truth(nullable=False))
    if isinstance(value, int):
        return Constant(value, Number(value, value, step, nullable=False))
    if isinstance(value, datetime):  # which is a date as well, in Python
        return Constant(value, Moment(value, value, 1, nullable=False))
    if isinstance(value, date):
        return Constant(value, Day(value, value, nullable=False))
    return Constant(value, Text((value,), nullable=False))


def _narrow(value: Any, spread: Range) -> Constant:
    if value is None:
        return Constant(None, replace(spread, nullable=True))
    return constant(value, spread.step if isinstance(spread, Number) else Fraction(1))


def evaluate(expr: Expr, row: Mapping[str, Any]) -> Any:
    """The value of an expression in a row of cleaned values (numbers as indices)."""
    if isinstance(expr, Column):
        return row[expr.name]
    if isinstance(expr, Constant):
        return expr.value
    operation = OPERATIONS[expr.op]
    values = [evaluate(arg, row) for arg in expr.args]
    if operation.strict and None in values:
        return None
    return operation.compute(*values, *expr.params)


def inside(expr: Expr) -> Expr:
    """A column's value where it is one of its domain, else NULL; anything else as it is."""
    return call("inside", expr, params=(expr.range,)) if expr.range.ragged else expr


def nearest(expr: Expr) -> Expr:
    """The same expression with numbers, days and moments outside of their domain at its nearest
    end, as an aggregate reads them. What a condition in it compares stays as it is."""
    if not isinstance(expr, Call) or isinstance(expr.range, Truth):
        return expr
    if expr.op == "inside":
        return _nearest(expr) if isinstance(expr.range, Number | Day | Moment) else expr
    args = [_tested(arg) if isinstance(arg.range, Truth) else nearest(arg) for arg in expr.args]
    return replace(expr, args=tuple(args))


def _nearest(expr: Call) -> Expr:
    """What was tested for NULL before is none here either."""
    found = call("nearest", *expr.args, params=expr.params)
    nullable = found.range.nullable and expr.range.nullable
    return replace(found, range=replace(found.range, nullable=nullable))


def _tested(test: Expr) -> Expr:
    """A condition in an aggregate; whether there is a value at all is asked as it is read."""
    if not isinstance(test, Call) or test.op not in ("not", "is_null"):
        return test
    args = [nearest(arg) if test.op == "is_null" else _tested(arg) for arg in test.args]
    return replace(test, args=tuple(args))


def _within(a: Range, spread: Range) -> Range:
    return replace(spread, nullable=True, ragged=False)


def _at_ends(a: Range, spread: Range) -> Range:
    return replace(spread, nullable=a.nullable, ragged=False, **_unlisted(spread))


def _unlisted(spread: Range) -> dict[str, Any]:
    return {"values": None} if isinstance(spread, Number) and spread.values else {}


# Numbers. Arguments of add, sub, least, greatest and comparisons share a step (see `bind`).


def _hull(*ends: int, of: Number, nullable: bool) -> Number:
    return Number(min(ends), max(ends), of.step, nullable)


def _add(a: Number, b: Number) -> Number:
    return _hull(a.low + b.low, a.high + b.high, of=a, nullable=a.nullable or b.nullable)


def _sub(a: Number, b: Number) -> Number:
    return _hull(a.low - b.high, a.high - b.low, of=a, nullable=a.nullable or b.nullable)


def _mul(a: Number, b: Number) -> Number:
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Number(min(ends), max(ends), a.step * b.step, a.nullable or b.nullable)


def _neg(a: Number) -> Number:
    return _hull(-a.high, -a.low, of=a, nullable=a.nullable)


def _abs(a: Number) -> Number:
    lowest = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return _hull(lowest, max(abs(a.low), abs(a.high)), of=a, nullable=a.nullable)


def _sign(a: Number) -> Number:
    return Number(max(-1, min(1, a.low)), max(-1, min(1, a.high)), nullable=a.nullable)


def _scale(a: Number, factor: int) -> Number:
    values = None if a.values is None else tuple(value * factor for value in a.values)
    return Number(a.low * factor, a.high * factor, a.step / factor, a.nullable, values)


def _restep(a: Number, factor: Fraction) -> Number:
    return replace(a, step=a.step * factor)


def _extreme(pick: Callable[..., int]) -> Callable[..., Number]:
    def derive(*ranges: Number) -> Number:
        # NULL arguments are passed over, so any subset of them can decide the result.
        sure = [spread for spread in ranges if not spread.nullable]
        low = min(spread.low for spread in ranges)
        high = max(spread.high for spread in ranges)
        if sure and pick is min:
            high = min(spread.high for spread in sure)
        if sure and pick is max:
            low = max(spread.low for spread in sure)
        return Number(low, high, ranges[0].step, nullable=not sure)

    return derive


def _pick(choose: Callable[..., int]) -> Callable[..., int | None]:
    def compute(*values: int | None) -> int | None:
        present = [value for value in values if value is not None]
        return choose(present) if present else None

    return compute


def divide(numerator: int, denominator: int, mode: str) -> int:
    """The quotient as an integer: `trunc` to zero, `floor`, `ceil`, or `round` half away."""
    if mode == "floor":
        return numerator // denominator
    if mode == "ceil":
        return -(-numerator // denominator)
    n, d = abs(numerator), abs(denominator)
    size = n // d if mode == "trunc" else (2 * n + d) // (2 * d)
    return size if (numerator >= 0) == (denominator >= 0) else -size


def _div(a: Number, b: Number, p: int, q: int, mode: str, step: Fraction) -> Number:
    # For a divisor of one sign the quotient is monotone in both, so the corners are extreme.
    if max(abs(a.low), abs(a.high)) * p > LIMIT or max(abs(b.low), abs(b.high)) * q > LIMIT:
        raise ValueError("the division can become too large to be computed exactly")
    divisors = {d for d in (b.low, b.high, -1, 1) if d != 0 and b.low <= d <= b.high}
    ends = [divide(n * p, d * q, mode) for n in (a.low, a.high) for d in divisors] or [0]
    return Number(min(ends), max(ends), step, a.nullable or b.nullable or b.low <= 0 <= b.high)


def _compute_div(a: int, b: int, p: int, q: int, mode: str, step: Fraction) -> int | None:
    return divide(a * p, b * q, mode) if b else None


def _mod(a: Number, b: Number) -> Number:
    size = max(0, max(abs(b.low), abs(b.high)) - 1)
    low = -min(size, -a.low) if a.low < 0 else 0
    high = min(size, a.high) if a.high > 0 else 0
    return Number(low, high, a.step, a.nullable or b.nullable or b.low <= 0 <= b.high)


def _compute_mod(a: int, b: int) -> int | None:
    return a - b * divide(a, b, "trunc") if b else None


def _root(value: float) -> float | None:
    return math.sqrt(value) if value >= 0 else None


def _log(value: float) -> float | None:
    return math.log(value) if value > 0 else None


def _exp(value: float) -> float | None:
    return math.exp(value)


_REAL = {"sqrt": _root, "ln": _log, "exp": _exp}


def _real(a: Number, name: str) -> Number:
    # All three functions rise; one step of slack covers the last bit of an engine's arithmetic.
    lowest = {"sqrt": 0, "ln": 1}.get(name)
    low, high = (a.low, a.high) if lowest is None else (max(a.low, lowest), max(a.high, lowest))
    if high * a.step > 40 and name == "exp":
        raise ValueError("the power of e can become too large to be computed exactly")
    ends = [_lattice(_REAL[name](float(end * a.step))) for end in (low, high)]
    nullable = a.nullable or (lowest is not None and a.low < lowest)
    return Number(ends[0] - 1, ends[1] + 1, FLOAT_STEP, nullable)


def _lattice(value: float | None) -> int:
    exact = Fraction(value or 0.0) / FLOAT_STEP
    return divide(exact.numerator, exact.denominator, "round")


def _compute_real(a: int, name: str, step: Fraction) -> int | None:
    value = _REAL[name](float(a * step))
    return None if value is None else _lattice(value)


# Truth: SQL's three values.


def _truth(*ranges: Any) -> Truth:
    return Truth(any(getattr(spread, "nullable", False) for spread in ranges))


def _and(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _or(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


def _like(value: str, pattern: str, ignore_case: bool) -> bool:
    if value == UNLISTED:
        return False
    return re.fullmatch(like_regex(pattern), value, _LIKE_FLAGS[ignore_case]) is not None


_LIKE_FLAGS = {False: re.DOTALL, True: re.DOTALL | re.IGNORECASE}


def like_regex(pattern: str, literally: Callable[[str], str] = re.escape) -> str:
    """The regular expression of an SQL LIKE pattern; a backslash takes the next sign literally.

    What stands between two `%` is taken where it is first found and never looked for again: that
    loses nothing, and without it a pattern of many `%` would take for ever.
    """
    parts, escaped = [""], False
    for sign in pattern:
        if sign == "\\" and not escaped:
            escaped = True
        elif sign == "%" and not escaped:
            parts.append("")
        else:
            parts[-1] += "." if sign == "_" and not escaped else literally(sign)
            escaped = False
    if len(parts) == 1:
        return parts[0]
    first, *middle, last = parts
    return first + "".join(f"(?>.*?{part})" for part in middle if part) + ".*" + last


# Choice and lists.


def _case(*ranges: Range) -> Range:
    out = ranges[1]
    for spread in (*ranges[3::2], ranges[-1]):
        joined = union(out, spread)
        if joined is None:
            raise ValueError("the branches are of different types")
        out = joined
    return out


def _compute_case(*values: Any) -> Any:
    for condition, value in zip(values[0:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


def _map(_: Range, pairs: tuple[tuple[Any, Any], ...], spread: Range) -> Range:
    return spread


OPERATIONS: Mapping[str, Operation] = {
    "add": Operation(_add, lambda a, b: a + b),
    "sub": Operation(_sub, lambda a, b: a - b),
    "mul": Operation(_mul, lambda a, b: a * b),
    "neg": Operation(_neg, lambda a: -a),
    "abs": Operation(_abs, abs),
    "sign": Operation(_sign, lambda a: (a > 0) - (a < 0)),
    "scale": Operation(_scale, lambda a, factor: a * factor),
    "restep": Operation(_restep, lambda a, factor: a),
    "div": Operation(_div, _compute_div),
    "mod": Operation(_mod, _compute_mod),
    "real": Operation(lambda a, name, step: _real(a, name), _compute_real),
    "least": Operation(_extreme(min), _pick(min), strict=False),
    "greatest": Operation(_extreme(max), _pick(max), strict=False),
    "eq": Operation(_truth, lambda a, b: a == b),
    "ne": Operation(_truth, lambda a, b: a != b),
    "lt": Operation(_truth, lambda a, b: a < b),
    "le": Operation(_truth, lambda a, b: a <= b),
    "gt": Operation(_truth, lambda a, b: a > b),
    "ge": Operation(_truth, lambda a, b: a >= b),
    "and": Operation(_truth, _and, strict=False),
    "or": Operation(_truth, _or, strict=False),
    "not": Operation(_truth, lambda a: not a),
    "is_null": Operation(lambda a: Truth(nullable=False), lambda a: a is None, strict=False),
    "in": Operation(lambda a, *values: Truth(a.nullable), lambda a, *values: a in values),
    "like": Operation(lambda a, pattern, ignore: Truth(a.nullable), _like),
    "case": Operation(_case, _compute_case, strict=False),
    "map": Operation(_map, lambda a, pairs, spread: dict(pairs).get(a)),
    **{name: Operation(*rule) for name, rule in CALENDAR.items()},
    "inside": Operation(_within, lambda a, spread: None if lies_outside(spread, a) else a),
    "nearest": Operation(_at_ends, lambda a, spread: max(spread.low, min(a, spread.high))),
}
