"""Bound expressions become SQL here. Every text it makes is total: no row can make it fail.

What may be written is a closed list of operations, each a function of one row's values alone. Every
number is a 64-bit integer from the leaves up, with an extent of its own (`extent.py`): where an
operation could pass 64 bits it is computed in more, and clamped back. A text that grows long is
given a name and computed once, so that a statement grows with its question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from adomnia.engines.sql.clock import MOMENTS
from adomnia.engines.sql.coding import MAX_CASE, clamped
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.extent import (
    WHOSE,
    Extent,
    Kind,
    extent_of,
    fits,
    foreign,
    kind_of,
    of_constant,
    of_value,
)
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import LIMIT, OPERATIONS
from adomnia.queries.ranges import UNLISTED, Day, Moment, Number, Text

__all__ = ["Columns", "Texts"]

SHORT = 80
"""A text of no more signs may be repeated."""

LONG = 500
"""A text of more signs than this is computed once and named."""


class Columns(Protocol):
    """The columns of a source as expressions read them."""

    @property
    def dialect(self) -> Dialect:
        """How the engine says it."""
        ...

    def value(self, name: str) -> str:
        """The SQL of what a column's code stands for."""
        ...

    def extent(self, name: str) -> Extent:
        """Between which bounds that lies."""
        ...

    def kind(self, name: str) -> Kind:
        """Of which kind it is."""
        ...

    def code(self, name: str) -> str:
        """The SQL of the code itself."""
        ...

    def encoded(self, name: str, value: Any) -> int | None:
        """The code of a value, where it has one."""
        ...

    def compared(self, call: Call) -> str | None:
        """A comparison by codes that is the same for every row, where there is one."""
        ...


class Texts:
    """The SQL of expressions over one source, and the names it needs there."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._dialect = columns.dialect
        self._done: dict[int, tuple[Expr, str, Extent]] = {}
        self._kinds: dict[int, tuple[Expr, Kind]] = {}
        self._names: dict[str, str] = {}

    def of(self, expr: Expr) -> str:
        """The SQL of an expression."""
        return self._found(expr)[1]

    def key(self, expr: Expr) -> str:
        """The SQL by which rows are grouped: a column goes by its code (`Coded.decode`)."""
        if self._kind(expr) == WHOSE:
            raise foreign("single units are never shown")
        return self._columns.code(expr.name) if isinstance(expr, Column) else self.of(expr)

    def kind(self, expr: Expr) -> Kind:
        """Of which kind an expression is; refused where its parts do not fit together."""
        return self._kind(expr)

    def is_unit(self, expr: Expr) -> bool:
        """Whether an expression names a unit."""
        return self._kind(expr) == WHOSE

    def extent(self, expr: Expr) -> Extent:
        """Between which bounds the SQL of an expression lies."""
        return self._found(expr)[2]

    def within(self, expr: Expr, low: int, high: int) -> str:
        """The SQL of a number clamped to bounds, unless its text lies between them anyway."""
        text, extent = self.of(expr), self.extent(expr)
        if extent is None or not all(isinstance(end, int) for end in extent):
            raise foreign("a number is needed here")
        return _within(text, extent, max(low, -LIMIT), min(high, LIMIT), self.once)

    def once(self, text: str) -> str:
        """A name for a text, which is computed once in a row."""
        return self._names.setdefault(text, self._dialect.quoted(f"adomnia {len(self._names)}"))

    def where(self, expr: Expr) -> str:
        """The SQL of a condition, of which only matters where it is true."""
        if self._kind(expr) not in ("truth", "any"):
            raise foreign("a condition is needed here")
        if isinstance(expr, Call) and expr.op == "and":
            return "(" + " AND ".join(self.where(arg) for arg in expr.args) + ")"
        return self.of(expr)

    def around(self, source: str) -> str:
        """The source with the named texts as further columns, each over those before it."""
        for text, name in self._names.items():
            further = f"SELECT *, {text} AS {name} FROM {source}{self._dialect.barrier}"
            source = f"({further}) AS {self._dialect.quoted('adomnia rows')}"
        return source

    def _found(self, expr: Expr) -> tuple[Expr, str, Extent]:
        if id(expr) not in self._done:
            self._kind(expr)
            text, extent = self._made(expr)
            self._done[id(expr)] = (expr, self._short(text), extent)
        return self._done[id(expr)]

    def _kind(self, expr: Expr) -> Kind:
        """The kind of an expression; refused where its parts do not fit together."""
        if id(expr) not in self._kinds:
            self._kinds[id(expr)] = (expr, self._fitting(expr))
        return self._kinds[id(expr)][1]

    def _fitting(self, expr: Expr) -> Kind:
        if isinstance(expr, Column):
            return self._columns.kind(expr.name)
        if isinstance(expr, Constant):
            return of_value(expr.value)
        if not isinstance(expr, Call) or expr.op not in _TEMPLATES:
            raise foreign("this is no operation on one row")
        return kind_of(expr, [self._kind(arg) for arg in expr.args])

    def _made(self, expr: Expr) -> tuple[str, Extent]:
        if isinstance(expr, Column):
            return self._columns.value(expr.name), self._columns.extent(expr.name)
        if isinstance(expr, Constant):
            extent = of_constant(expr.value)
            if extent is not None and isinstance(extent[0], int) and not fits(extent, 2**63 - 1):
                raise foreign("a number is too large")
            return self._dialect.typed(expr.value, expr.range), extent
        listed = _listed_like(expr)
        cheap = self._columns.compared(expr if listed is None else listed)
        return (cheap, None) if cheap is not None else self._called(expr)

    def _called(self, call: Call) -> tuple[str, Extent]:
        """A call on arguments that are made small enough, in more than 64 bits where it must be."""
        args, extents = [self.of(arg) for arg in call.args], [self.extent(a) for a in call.args]
        if call.op in _SIZES:
            if any(isinstance(part, int) and abs(part) > LIMIT for part in call.params):
                raise foreign("a factor is too large")
            sizes = _SIZES[call.op](call)
            pairs = [self._small(*pair) for pair in zip(args, extents, sizes, strict=False)]
            args, extents = [text for text, _ in pairs], [extent for _, extent in pairs]
        if call.op in _REPEATED:
            args = [self.once(text) if len(text) > SHORT else text for text in args]
        if call.op == "map":
            call, args = self._by_code(call, args)
        extent, make = extent_of(call, extents), _TEMPLATES[call.op]
        if call.op not in _GROWING or fits(extent):
            return make(call, args, self._dialect), extent
        wide = [f"CAST({arg} AS {self._dialect.wide})" for arg in args]
        text = clamped(self.once(make(call, wide, self._dialect)), str(-LIMIT), str(LIMIT))
        assert extent is not None
        return f"CAST({text} AS BIGINT)", (max(extent[0], -LIMIT), min(extent[1], LIMIT))

    def _by_code(self, call: Call, args: list[str]) -> tuple[Call, list[str]]:
        """A table of a column's values as one of its codes; what has none is no value of it."""
        column, (pairs, spread) = call.args[0], call.params
        if not isinstance(column, Column) or not pairs or of_value(pairs[0][0]) != "text":
            return call, args
        codes = [(self._columns.encoded(column.name, key), value) for key, value in pairs]
        if all(code is None for code, _ in codes):
            return call, args
        kept = tuple((code, value) for code, value in codes if code is not None)
        number = Column(column.name, Number(0, 0))
        return Call("map", (number,), call.range, (kept, spread)), [self._columns.code(column.name)]

    def _small(self, text: str, extent: Extent, most: int) -> tuple[str, Extent]:
        """An argument between two numbers of one size."""
        if extent is None or not all(isinstance(end, int) for end in extent):
            raise foreign("a number is needed here")
        small = max(-most, min(extent[0], most)), max(-most, min(extent[1], most))
        return _within(text, extent, -most, most, self.once), small

    def _short(self, text: str) -> str:
        return text if len(text) <= LONG else self.once(text)


def _within(text: str, extent: Extent, low: int, high: int, once: Callable[[str], str]) -> str:
    assert extent is not None
    if low <= extent[0] and extent[1] <= high:
        return text
    return f"CAST({clamped(once(text), str(low), str(high))} AS BIGINT)"


_REPEATED = ("inside", "nearest", "moment_trunc", "moment_shift")
"""Operations whose text has its argument several times."""

_GROWING = ("add", "sub", "mul", "scale")
"""Operations whose result may be larger than their arguments, and need more bits."""

_SIZES: Mapping[str, Callable[[Call], tuple[int, ...]]] = {
    **dict.fromkeys(("add", "sub", "mul", "mod"), lambda call: (LIMIT, LIMIT)),
    **dict.fromkeys(("neg", "abs", "sign", "scale", "real"), lambda call: (LIMIT,)),
    "div": lambda call: (LIMIT // call.params[0], LIMIT // call.params[1]),
}
"""How large the arguments of an operation may be: doubled, they still fit 64 bits."""

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
    # A key stands for one value, whatever else it is paired with: a row stays one row.
    kept = [(key, value) for key, value in dict(pairs).items() if value is not None]
    if not kept:
        return say.typed(None, spread)
    if len(kept) > MAX_CASE:
        return say.lookup(args[0], kept, (call.args[0].range, spread))
    whens = " ".join(
        f"WHEN {say.constant(key)} THEN {say.typed(value, spread)}" for key, value in kept
    )
    return f"(CASE {args[0]} {whens} END)"


def _listed_like(call: Call) -> Call | None:
    """A pattern for listed values as a list of them: the values are tried here, so that the engine
    and the reference cannot disagree."""
    if call.op != "like" or not isinstance(spread := call.args[0].range, Text):
        return None
    if spread.values is None:
        return None
    matches = OPERATIONS["like"].compute
    listed = tuple(value for value in spread.values if matches(value, *call.params))
    return Call("in", call.args, call.range, listed)


def _like(call: Call, args: list[str], say: Dialect) -> str:
    pattern, ignore_case = call.params
    listed = _listed_like(call)
    if listed is not None:
        return _among(args[0], listed.params, say)
    # A backslash at the end would be an error in some engines; in ours it stands for nothing.
    stripped = pattern[:-1] if (len(pattern) - len(pattern.rstrip("\\"))) % 2 else pattern
    return say.like(args[0], stripped, ignore_case)


def _div(call: Call, args: list[str], say: Dialect) -> str:
    p, q, mode, _ = call.params
    top = args[0] if p == 1 else f"({args[0]} * CAST({p} AS BIGINT))"
    divisor = call.args[1]
    if isinstance(divisor, Constant) and divisor.value and abs(divisor.value) * q <= LIMIT:
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
        # Above, it would pass the largest number that may be rounded.
        lowest_power, highest_power = (_float(Fraction(end), say) for end in ("-700", "27.7"))
        value = f"LEAST(GREATEST({value}, {lowest_power}), {highest_power})"
    large = f"{name.upper()}({value}) * {_float(Fraction(10**6), say)}"
    index = say.rounded(f"LEAST({large}, {_float(Fraction(LIMIT), say)})")
    bounded = f"LEAST(GREATEST({index}, {spread.low}), {spread.high})"
    known = "IS NOT NULL" if lowest is None else f">= {lowest}"
    return f"(CASE WHEN {args[0]} {known} THEN {bounded} END)"


def _bounds(call: Call, say: Dialect) -> tuple[str, str]:
    spread = call.params[0]
    return say.typed(spread.low, spread), say.typed(spread.high, spread)


def _inside(call: Call, args: list[str], say: Dialect) -> str:
    """A value of its domain, NULL where it stands for what lies outside."""
    if not isinstance(call.params[0], Number | Day | Moment):
        return f"NULLIF({args[0]}, {say.typed(UNLISTED, Text(None))})"
    low, high = _bounds(call, say)
    return f"(CASE WHEN {args[0]} BETWEEN {low} AND {high} THEN {args[0]} END)"


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
    **MOMENTS,
    "inside": _inside,
    "nearest": lambda call, args, say: clamped(args[0], *_bounds(call, say)),
}
