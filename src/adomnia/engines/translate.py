"""Bound expressions become SQL here. Every text it makes is total: no row can make it fail.

Every number is a 64-bit integer from the leaves up, so what the ranges say fits, fits. A text
that grows long is given a name and computed once, so that a statement grows with its question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from adomnia.engines.dialect import Dialect
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import OPERATIONS
from adomnia.queries.ranges import Number, Text

__all__ = ["Columns", "Texts"]

LONG = 500
"""A text of more signs than this is computed once and named."""

MAX_CASE = 40
"""A longer table of values is looked up by a join, not tried one by one."""


class Columns(Protocol):
    """The columns of a source as expressions read them."""

    @property
    def dialect(self) -> Dialect:
        """How the engine says it."""
        ...

    def value(self, name: str) -> str:
        """The SQL of a column's cleaned value."""
        ...

    def compared(self, call: Call) -> str | None:
        """A cheaper text of a comparison that is the same for every row, where there is one."""
        ...

    def selected(self, call: Call) -> str | None:
        """A cheaper text that is true for the same rows, where there is one."""
        ...


class Texts:
    """The SQL of expressions over one source, and the names it needs there."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._dialect = columns.dialect
        self._done: dict[int, tuple[Expr, str]] = {}
        self._names: dict[str, str] = {}

    def of(self, expr: Expr) -> str:
        """The SQL of an expression."""
        if id(expr) not in self._done:
            self._done[id(expr)] = (expr, self._short(self._made(expr)))
        return self._done[id(expr)][1]

    def where(self, expr: Expr) -> str:
        """The SQL of a condition, of which only matters where it is true."""
        if isinstance(expr, Call) and expr.op == "and":
            return "(" + " AND ".join(self.where(arg) for arg in expr.args) + ")"
        chosen = self._columns.selected(expr) if isinstance(expr, Call) else None
        return self.of(expr) if chosen is None else chosen

    def around(self, source: str) -> str:
        """The source with the named texts as further columns, each over those before it."""
        for text, name in self._names.items():
            further = f"SELECT *, {text} AS {name} FROM {source}{self._dialect.barrier}"
            source = f"({further}) AS {self._dialect.quoted('adomnia rows')}"
        return source

    def _made(self, expr: Expr) -> str:
        if isinstance(expr, Column):
            return self._columns.value(expr.name)
        if isinstance(expr, Constant):
            return self._dialect.typed(expr.value, expr.range)
        cheap = self._columns.compared(expr)
        if cheap is not None:
            return cheap
        return _TEMPLATES[expr.op](expr, [self.of(arg) for arg in expr.args], self._dialect)

    def _short(self, text: str) -> str:
        if len(text) <= LONG:
            return text
        return self._names.setdefault(text, self._dialect.quoted(f"adomnia {len(self._names)}"))


Template = Callable[[Call, list[str], Dialect], str]
"""The SQL of a call, from that of its arguments."""


def _infix(sign: str) -> Template:
    return lambda call, args, say: "(" + f" {sign} ".join(args) + ")"


def _case(call: Call, args: list[str], say: Dialect) -> str:
    branches = zip(args[0:-1:2], args[1:-1:2], strict=True)
    whens = " ".join(f"WHEN {test} THEN {value}" for test, value in branches)
    return f"(CASE {whens} ELSE {args[-1]} END)"


def _in(call: Call, args: list[str], say: Dialect) -> str:
    return _among(args[0], call.params, say)


def _among(text: str, values: tuple[Any, ...], say: Dialect) -> str:
    if not values:
        return f"(CASE WHEN {text} IS NOT NULL THEN FALSE END)"
    return f"({text} IN ({', '.join(say.constant(value) for value in values)}))"


def _map(call: Call, args: list[str], say: Dialect) -> str:
    pairs, spread = call.params
    kept = [(key, value) for key, value in pairs if value is not None]
    if not kept:
        return say.typed(None, spread)
    if len(kept) > MAX_CASE:
        return say.lookup(args[0], kept, (call.args[0].range, spread))
    whens = " ".join(
        f"WHEN {say.constant(key)} THEN {say.typed(value, spread)}" for key, value in kept
    )
    return f"(CASE {args[0]} {whens} END)"


def _like(call: Call, args: list[str], say: Dialect) -> str:
    # Listed values are tried here, so that the engine and the reference cannot disagree.
    pattern, ignore_case = call.params
    spread = call.args[0].range
    if isinstance(spread, Text) and spread.values is not None:
        matches = OPERATIONS["like"].compute
        listed = tuple(v for v in spread.values if matches(v, pattern, ignore_case))
        return _among(args[0], listed, say)
    # A backslash at the end would be an error in some engines; in ours it stands for nothing.
    stripped = pattern[:-1] if (len(pattern) - len(pattern.rstrip("\\"))) % 2 else pattern
    return say.like(args[0], stripped, ignore_case)


def _div(call: Call, args: list[str], say: Dialect) -> str:
    p, q, mode, _ = call.params
    top = args[0] if p == 1 else f"({args[0]} * CAST({p} AS BIGINT))"
    divisor = call.args[1]
    if isinstance(divisor, Constant) and divisor.value:
        return _DIVISIONS[mode](top, f"CAST({divisor.value * q} AS BIGINT)", say)
    bottom = f"NULLIF({args[1]}, 0)"
    return _DIVISIONS[mode](top, bottom if q == 1 else f"({bottom} * CAST({q} AS BIGINT))", say)


def _round_division(n: str, d: str, say: Dialect) -> str:
    half = f"CASE WHEN ({n} < 0) = ({d} < 0) THEN {d} ELSE -{d} END"
    return say.quotient(f"(2 * {n} + {half})", f"(2 * {d})")


def _floor_division(n: str, d: str, say: Dialect) -> str:
    uneven = f"({n} % {d}) <> 0 AND ({n} < 0) <> ({d} < 0)"
    return f"({say.quotient(n, d)} - CASE WHEN {uneven} THEN 1 ELSE 0 END)"


_DIVISIONS: Mapping[str, Callable[[str, str, Dialect], str]] = {
    "trunc": lambda n, d, say: say.quotient(n, d),
    "floor": _floor_division,
    "ceil": lambda n, d, say: f"(-{_floor_division(f'(-{n})', d, say)})",
    "round": _round_division,
}


def _real(call: Call, args: list[str], say: Dialect) -> str:
    name, step = call.params
    spread = call.range
    assert isinstance(spread, Number)
    lowest = {"sqrt": 0, "ln": 1}.get(name)
    inside = args[0] if lowest is None else f"GREATEST({args[0]}, {lowest})"
    value = f"(CAST({inside} AS {say.double}) * {_float(step, say)})"
    if name == "exp":
        # Below it the result is no step, and some engines raise an error where it underflows.
        value = f"GREATEST({value}, {_float(Fraction(-700), say)})"
    index = say.rounded(f"{name.upper()}({value}) * {_float(Fraction(10**6), say)}")
    bounded = f"LEAST(GREATEST({index}, {spread.low}), {spread.high})"
    known = "IS NOT NULL" if lowest is None else f">= {lowest}"
    return f"(CASE WHEN {args[0]} {known} THEN {bounded} END)"


def _float(number: Fraction, say: Dialect) -> str:
    return f"CAST({float(number)!r} AS {say.double})"


_TEMPLATES: Mapping[str, Template] = {
    "add": _infix("+"),
    "sub": _infix("-"),
    "mul": _infix("*"),
    "neg": lambda call, args, say: f"(-{args[0]})",
    "abs": lambda call, args, say: f"ABS({args[0]})",
    "sign": lambda call, args, say: f"CAST(SIGN({args[0]}) AS BIGINT)",
    "scale": lambda call, args, say: f"({args[0]} * CAST({call.params[0]} AS BIGINT))",
    "restep": lambda call, args, say: args[0],
    "div": _div,
    "mod": lambda call, args, say: f"({args[0]} % NULLIF({args[1]}, 0))",
    "real": _real,
    "least": lambda call, args, say: f"LEAST({', '.join(args)})",
    "greatest": lambda call, args, say: f"GREATEST({', '.join(args)})",
    "eq": _infix("="),
    "ne": _infix("<>"),
    "lt": _infix("<"),
    "le": _infix("<="),
    "gt": _infix(">"),
    "ge": _infix(">="),
    "and": _infix("AND"),
    "or": _infix("OR"),
    "not": lambda call, args, say: f"(NOT {args[0]})",
    "is_null": lambda call, args, say: f"({args[0]} IS NULL)",
    "in": _in,
    "like": _like,
    "case": _case,
    "map": _map,
    "extract": lambda call, args, say: say.extract(call.params[0], args[0]),
    "trunc": lambda call, args, say: say.truncated(call.params[0], args[0]),
    "days": lambda call, args, say: say.days(args[0], args[1]),
}
