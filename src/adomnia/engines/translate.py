"""Bound expressions become SQL here. Every text it makes is total: no row can make it fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.measurement import Primitive
from adomnia.queries.ranges import Number

__all__ = ["aggregate", "literal", "quoted", "translate"]

Columns = Callable[[str], str]
"""The SQL of a cleaned column, by its name."""


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A constant: NULL, a truth value, a whole number, a date or a text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return "'" + str(value).replace("'", "''").replace("\0", "") + "'"


def translate(expr: Expr, columns: Columns) -> str:
    """The SQL of a bound expression."""
    if isinstance(expr, Column):
        return columns(expr.name)
    if isinstance(expr, Constant):
        return literal(expr.value)
    args = [translate(arg, columns) for arg in expr.args]
    return _TEMPLATES[expr.op](expr, args)


def aggregate(primitive: Primitive, columns: Columns) -> str:
    """The SQL of what is computed in a group."""
    if primitive.argument is None:
        return "COUNT(*)"
    text = translate(primitive.argument, columns)
    if primitive.kind == "rows":
        return f"COUNT(*) FILTER (WHERE {text})"
    if primitive.kind == "squares":
        text = (
            f"CAST({text} AS HUGEINT) * {text}"
            if _large(primitive.argument)
            else f"{text} * {text}"
        )
        return f"SUM({text})"
    return {
        "sum": f"SUM({text})",
        "values": f"COUNT({text})",
        "distinct": f"COUNT(DISTINCT {text})",
    }[primitive.kind]


def _large(expr: Expr) -> bool:
    spread = expr.range
    return isinstance(spread, Number) and max(abs(spread.low), abs(spread.high)) > 10**9


def _infix(sign: str) -> Callable[[Call, list[str]], str]:
    return lambda call, args: "(" + f" {sign} ".join(args) + ")"


def _product(call: Call, args: list[str]) -> str:
    # One side may be narrow for the engine (a literal); the product must not be.
    return f"(CAST({args[0]} AS BIGINT) * {args[1]})"


def _case(call: Call, args: list[str]) -> str:
    branches = zip(args[0:-1:2], args[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {test} THEN {value}" for test, value in branches)
    return f"(CASE {whens} ELSE {args[-1]} END)"


def _in(call: Call, args: list[str]) -> str:
    if not call.params:
        return f"(CASE WHEN {args[0]} IS NULL THEN NULL ELSE FALSE END)"
    return f"({args[0]} IN ({', '.join(literal(value) for value in call.params)}))"


def _map(call: Call, args: list[str]) -> str:
    pairs, _ = call.params
    if not pairs:
        return "NULL"
    whens = " ".join(f"WHEN {literal(key)} THEN {literal(value)}" for key, value in pairs)
    return f"(CASE {args[0]} {whens} END)"


def _like(call: Call, args: list[str]) -> str:
    pattern, ignore_case = call.params
    # A backslash at the end would be an error in some engines; in ours it stands for nothing.
    stripped = pattern[:-1] if (len(pattern) - len(pattern.rstrip("\\"))) % 2 else pattern
    word = "ILIKE" if ignore_case else "LIKE"
    return f"({args[0]} {word} {literal(stripped)} ESCAPE '\\')"


def _div(call: Call, args: list[str]) -> str:
    p, q, mode, _ = call.params
    top = args[0] if p == 1 else f"(CAST({args[0]} AS BIGINT) * {p})"
    bottom = f"NULLIF({args[1]}, 0)" if q == 1 else f"(CAST(NULLIF({args[1]}, 0) AS BIGINT) * {q})"
    divisor = call.args[1]
    if isinstance(divisor, Constant) and divisor.value:
        bottom = str(divisor.value * q)
    return _DIVISIONS[mode](f"CAST({top} AS BIGINT)", bottom)


def _round_division(n: str, d: str) -> str:
    size = f"((2 * ABS({n}) + ABS({d})) // (2 * ABS({d})))"
    return f"(CASE WHEN ({n} >= 0) = ({d} >= 0) THEN {size} ELSE -{size} END)"


def _floor_division(n: str, d: str) -> str:
    uneven = f"({n} % {d}) <> 0 AND ({n} < 0) <> ({d} < 0)"
    return f"(({n} // {d}) - CASE WHEN {uneven} THEN 1 ELSE 0 END)"


_DIVISIONS: Mapping[str, Callable[[str, str], str]] = {
    "trunc": lambda n, d: f"({n} // {d})",
    "floor": _floor_division,
    "ceil": lambda n, d: f"(-{_floor_division(f'(-{n})', d)})",
    "round": _round_division,
}


def _real(call: Call, args: list[str]) -> str:
    name, step = call.params
    spread = call.range
    assert isinstance(spread, Number)
    value = f"(CAST({args[0]} AS DOUBLE) * {_float(step)})"
    lowest = {"sqrt": 0, "ln": 1}.get(name)
    if lowest is not None:
        value = f"(CAST(GREATEST({args[0]}, {lowest}) AS DOUBLE) * {_float(step)})"
    index = f"CAST(ROUND({name.upper()}({value}) * 1000000.0) AS BIGINT)"
    bounded = f"LEAST(GREATEST({index}, {spread.low}), {spread.high})"
    outside = (
        f"{args[0]} IS NULL" if lowest is None else f"{args[0]} IS NULL OR {args[0]} < {lowest}"
    )
    return f"(CASE WHEN {outside} THEN NULL ELSE {bounded} END)"


def _float(number: Fraction) -> str:
    return f"CAST({float(number)!r} AS DOUBLE)"


_TEMPLATES: Mapping[str, Callable[[Call, list[str]], str]] = {
    "add": _infix("+"),
    "sub": _infix("-"),
    "mul": _product,
    "neg": lambda call, args: f"(-{args[0]})",
    "abs": lambda call, args: f"ABS({args[0]})",
    "sign": lambda call, args: f"CAST(SIGN({args[0]}) AS BIGINT)",
    "scale": lambda call, args: f"(CAST({args[0]} AS BIGINT) * {call.params[0]})",
    "div": _div,
    "mod": lambda call, args: f"({args[0]} % NULLIF({args[1]}, 0))",
    "real": _real,
    "least": lambda call, args: f"LEAST({', '.join(args)})",
    "greatest": lambda call, args: f"GREATEST({', '.join(args)})",
    "eq": _infix("="),
    "ne": _infix("<>"),
    "lt": _infix("<"),
    "le": _infix("<="),
    "gt": _infix(">"),
    "ge": _infix(">="),
    "and": _infix("AND"),
    "or": _infix("OR"),
    "not": lambda call, args: f"(NOT {args[0]})",
    "is_null": lambda call, args: f"({args[0]} IS NULL)",
    "in": _in,
    "like": _like,
    "case": _case,
    "map": _map,
    "extract": lambda call, args: f"CAST(EXTRACT({call.params[0]} FROM {args[0]}) AS BIGINT)",
    "trunc": lambda call, args: f"CAST(DATE_TRUNC('{call.params[0]}', {args[0]}) AS DATE)",
    "days": lambda call, args: f"CAST({args[0]} - {args[1]} AS BIGINT)",
}
