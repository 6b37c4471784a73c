"""Row expressions: a syntax tree over columns becomes a bound expression with its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import gcd
from typing import Any

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import FLOAT_STEP, LIMIT, PARTS, call, constant
from adomnia.queries.ranges import UNITS, Day, Number, Range, Text, Truth, cells, count_cells
from adomnia.queries.sql.parse import refuse
from adomnia.queries.sql.scope import Relation, look_up

__all__ = ["Binder", "bind_row", "truth"]

MAX_MAP = 10_000
"""Functions of text are computed value by value; a longer list is refused."""


@dataclass(frozen=True)
class Binder:
    """The statement's text, for pointing, and the rows its columns are looked up in."""

    sql: str
    relation: Relation

    def refuse(self, node: exp.Expression, message: str, hint: str = "") -> QuestionError:
        """An error that points at the node."""
        return refuse(self.sql, node, message, hint)

    def row(self, node: exp.Expression) -> Expr:
        """The bound expression of a node."""
        return bind_row(self, node)

    def number(self, node: exp.Expression) -> Expr:
        """The bound expression, which must be a number; a truth value counts as 0 or 1."""
        bound = self.row(node)
        if isinstance(bound.range, Truth):
            return call(
                "case", bound, constant(1), call("is_null", bound), _null(Number(0, 1)), constant(0)
            )
        if isinstance(bound, Constant) and isinstance(bound.value, str):
            bound = _literal_number(self, node, bound.value)
        if not isinstance(bound.range, Number) and not _is_null(bound):
            raise self.refuse(node, "a number is needed here", "this is " + _describe(bound.range))
        return bound if isinstance(bound.range, Number) else _null(Number(0, 0))

    def truth(self, node: exp.Expression) -> Expr:
        """The bound expression, which must be a condition."""
        return truth(self, node, self.row(node))


def truth(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    """The expression itself where it is a condition, else an error that points at it."""
    if _is_null(bound):
        return Constant(None, Truth())
    if not isinstance(bound.range, Truth):
        raise binder.refuse(node, "a condition is needed here", "for example age >= 18")
    return bound


def bind_row(binder: Binder, node: exp.Expression) -> Expr:
    """The bound expression of a node; refused, with a pointer, when its range is unknown."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise _unsupported(binder, node)
    try:
        return handler(binder, node)
    except ValueError as error:
        raise binder.refuse(node, str(error), "use smaller bounds or a coarser step") from None


def _unsupported(binder: Binder, node: exp.Expression) -> QuestionError:
    if isinstance(node, exp.AggFunc):
        return binder.refuse(node, "an aggregate cannot stand inside another or in WHERE")
    if isinstance(node, exp.Window):
        return binder.refuse(node, "window functions over rows cannot be answered privately")
    if isinstance(node, exp.Select | exp.Subquery | exp.Exists):
        return binder.refuse(node, "a subquery is allowed in FROM only")
    if isinstance(node, exp.Star):
        return binder.refuse(
            node, "single rows are never shown", "ask for aggregates such as COUNT(*)"
        )
    name = node.name if isinstance(node, exp.Anonymous) else node.key
    return binder.refuse(
        node,
        f"{name.upper()} is not supported: its range cannot be derived",
        "what can be used: + - * / %, ABS, ROUND, FLOOR, CEIL, LEAST, GREATEST, SQRT, LN, EXP, "
        "CASE, COALESCE, EXTRACT, DATE_TRUNC, UPPER, LOWER, LENGTH, SUBSTRING",
    )


# Literals


def _literal(binder: Binder, node: exp.Literal) -> Expr:
    if node.is_string:
        return constant(str(node.this))
    return _literal_number(binder, node, str(node.this))


def _literal_number(binder: Binder, node: exp.Expression, text: str) -> Constant:
    try:
        value = Decimal(text.strip())
        digits = value.as_tuple().exponent
        if not isinstance(digits, int) or abs(digits) > 30:
            raise InvalidOperation
    except InvalidOperation:
        raise binder.refuse(node, "this is not a number that can be used") from None
    step = Fraction(1, 10 ** max(0, -digits))
    index = int(Fraction(value) / step)
    if abs(index) > LIMIT:
        raise binder.refuse(node, "this number is too large")
    return constant(index, step)


def _null(spread: Range) -> Constant:
    return Constant(None, replace(spread, nullable=True))


def _is_null(bound: Expr) -> bool:
    return isinstance(bound, Constant) and bound.value is None


def _as_day(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    if isinstance(bound, Constant) and isinstance(bound.value, str):
        try:
            return constant(date.fromisoformat(bound.value.strip()[:10]))
        except ValueError:
            raise binder.refuse(node, "this is not a date", "write it as '2024-12-31'") from None
    return bound


# Numbers


def _align(*exprs: Expr) -> list[Expr]:
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
        return _null(call("scale", Column("", expr.range), params=(factor,)).range)
    return call("scale", expr, params=(factor,))


def _arithmetic(op: str) -> Callable[[Binder, exp.Binary], Expr]:
    def handle(binder: Binder, node: exp.Binary) -> Expr:
        left, right = binder.number(node.this), binder.number(node.expression)
        if op != "mul":
            left, right = _align(left, right)
        return call(op, left, right)

    return handle


def _subtract(binder: Binder, node: exp.Sub) -> Expr:
    left, right = binder.row(node.this), binder.row(node.expression)
    if isinstance(left.range, Day) or isinstance(right.range, Day):
        days = (_as_day(binder, node.this, left), _as_day(binder, node.expression, right))
        if not all(isinstance(day.range, Day) for day in days):
            raise binder.refuse(node, "only a date can be taken from a date")
        return call("days", *days)
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


def _rounded(mode: str) -> Callable[[Binder, exp.Expression], Expr]:
    def handle(binder: Binder, node: exp.Expression) -> Expr:
        digits = node.args.get("decimals")
        places = int(_whole(binder, digits)) if digits is not None else 0
        if abs(places) > 15:
            raise binder.refuse(node, "between -15 and 15 digits can be rounded to")
        step = Fraction(10) ** -places
        bound = binder.number(node.this)
        if isinstance(bound.range, Number) and (bound.range.step / step).denominator == 1:
            return bound
        return _quotient(bound, constant(1), mode, step)

    return handle


def _whole(binder: Binder, node: exp.Expression) -> int:
    bound = binder.row(node)
    if not (isinstance(bound, Constant) and isinstance(bound.value, int)):
        raise binder.refuse(node, "a whole number written out is needed here")
    if isinstance(bound.range, Number) and bound.range.step != 1:
        raise binder.refuse(node, "a whole number written out is needed here")
    return bound.value


def _power(binder: Binder, node: exp.Pow) -> Expr:
    base, power = binder.number(node.this), _whole(binder, node.expression)
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
        return call(op, *_align(*(binder.number(part) for part in nodes)))

    return handle


# Conditions


def _pair(binder: Binder, node: exp.Expression, other: exp.Expression) -> tuple[Expr, Expr] | None:
    """Two expressions brought to one type; None where one is NULL."""
    left, right = binder.row(node), binder.row(other)
    if _is_null(left) or _is_null(right):
        return None
    kinds = (type(left.range), type(right.range))
    if Day in kinds:
        left, right = _as_day(binder, node, left), _as_day(binder, other, right)
    elif Number in kinds:
        left, right = _align(binder.number(node), binder.number(other))
    elif Truth in kinds and Text in kinds:
        left, right = _as_truth(left), _as_truth(right)
    if type(left.range) is not type(right.range):
        message = f"{_describe(left.range)} cannot be compared with {_describe(right.range)}"
        raise binder.refuse(other, message)
    return left, right


def _as_truth(bound: Expr) -> Expr:
    words = {"true": True, "t": True, "false": False, "f": False}
    if isinstance(bound, Constant) and str(bound.value).lower() in words:
        return constant(words[str(bound.value).lower()])
    return bound


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
    return bound if _is_null(bound) else call("not", bound)


def _is(binder: Binder, node: exp.Is) -> Expr:
    bound, other = binder.row(node.this), binder.row(node.expression)
    if _is_null(other):
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


# Choice


def _unify(binder: Binder, nodes: list[exp.Expression], bound: list[Expr]) -> list[Expr]:
    """Branches of a CASE brought to one type; NULL takes the type of the others."""
    known = [expr for expr in bound if not _is_null(expr)]
    if not known:
        return [_null(Truth()) for _ in bound]
    if any(isinstance(expr.range, Day) for expr in known):
        bound = [_as_day(binder, node, expr) for node, expr in zip(nodes, bound, strict=True)]
    known = [expr for expr in bound if not _is_null(expr)]
    if len({type(expr.range) for expr in known}) > 1:
        raise binder.refuse(nodes[-1], "the branches are of different types")
    if isinstance(known[0].range, Number):
        bound = [_null(known[0].range) if _is_null(expr) else expr for expr in bound]
        return _align(*bound)
    return [_null(known[0].range) if _is_null(expr) else expr for expr in bound]


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


# Text, value by value


def _text(function: Callable[..., Any], *names: str) -> Callable[[Binder, exp.Expression], Expr]:
    def handle(binder: Binder, node: exp.Expression) -> Expr:
        bound = binder.row(node.this)
        if isinstance(bound, Constant) and isinstance(bound.value, str):
            return constant(function(bound.value, *_arguments(binder, node, names)))
        values = bound.range.values if isinstance(bound.range, Text) else None
        if values is None or len(values) > MAX_MAP:
            raise binder.refuse(node, "this needs a text column with declared values")
        arguments = _arguments(binder, node, names)
        return mapped(bound, {value: function(value, *arguments) for value in values})

    return handle


def _arguments(binder: Binder, node: exp.Expression, names: tuple[str, ...]) -> list[int]:
    given = (node.args.get(name) for name in names)
    return [_whole(binder, part) for part in given if part is not None]


def _substring(text: str, start: int = 1, length: int | None = None) -> str:
    end = len(text) if length is None else max(start, 1) - 1 + max(0, length + min(start, 1) - 1)
    return text[max(start, 1) - 1 : end]


def mapped(bound: Expr, table: Mapping[Any, Any]) -> Expr:
    """A function given value by value, as an expression; values outside the table give NULL."""
    images = [value for value in table.values() if value is not None]
    first = images[0] if images else ""
    nullable = bound.range.nullable or None in table.values()
    if isinstance(first, bool):
        spread: Range = Truth(nullable)
    elif isinstance(first, int):
        codes = tuple(sorted(set(images)))
        spread = Number(codes[0], codes[-1], nullable=nullable, values=codes)
    else:
        spread = Text(tuple(dict.fromkeys(str(value) for value in images)), nullable)
    return call("map", bound, params=(tuple(table.items()), spread))


# Dates and casts


def _extract(binder: Binder, node: exp.Extract) -> Expr:
    part, bound = node.this.name.lower(), binder.row(node.expression)
    part = {"dayofweek": "dow", "dayofyear": "doy"}.get(part, part)
    if not isinstance(bound.range, Day):
        raise binder.refuse(node.expression, "EXTRACT takes a date")
    if part not in PARTS:
        raise binder.refuse(node, f"{part!r} cannot be extracted", "one of " + ", ".join(PARTS))
    return call("extract", bound, params=(part,))


def _part(part: str) -> Callable[[Binder, exp.Expression], Expr]:
    return lambda binder, node: _extract(
        binder, exp.Extract(this=exp.Var(this=part), expression=node.this)
    )


def _trunc(binder: Binder, node: exp.Expression) -> Expr:
    unit, bound = node.args["unit"].name.lower(), binder.row(node.this)
    if not isinstance(bound.range, Day):
        raise binder.refuse(node, "DATE_TRUNC takes a date")
    if unit not in UNITS:
        raise binder.refuse(node, f"a date cannot be cut to {unit!r}", "one of " + ", ".join(UNITS))
    return call("trunc", bound, params=(unit,))


def _cast(binder: Binder, node: exp.Cast) -> Expr:
    kind, target = binder.row(node.this), node.args["to"].this
    if target in exp.DataType.INTEGER_TYPES:
        return _rounded("round")(binder, exp.Round(this=node.this))
    if target in exp.DataType.FLOAT_TYPES or target in _DECIMALS:
        number = binder.number(node.this)
        whole = isinstance(number.range, Number) and number.range.whole
        return call("scale", number, params=(10,)) if whole else number
    if target in exp.DataType.TEXT_TYPES:
        return _to_text(binder, node, kind)
    if target in _DATES:
        return _as_day(binder, node.this, kind)
    if target == exp.DataType.Type.BOOLEAN:
        return truth(binder, node, _as_truth(kind))
    raise binder.refuse(node, "this cast is not supported", "to a number, text, date or boolean")


_DECIMALS = {exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL}
_DATES = {exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ}


def _to_text(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    if isinstance(bound.range, Text):
        return bound
    count = count_cells(bound.range)
    if isinstance(bound.range, Number) and bound.range.whole and count and count <= MAX_MAP:
        step = int(bound.range.step)
        return mapped(bound, {value: str(value * step) for value in cells(bound.range)})
    raise binder.refuse(node, "only text and short lists of whole numbers can become text")


def _describe(spread: Range) -> str:
    names: Mapping[type, str] = {
        Number: "a number",
        Text: "text",
        Day: "a date",
        Truth: "a condition",
    }
    return names[type(spread)]


_HANDLERS: Mapping[type[exp.Expression], Callable[[Binder, Any], Expr]] = {
    exp.Column: lambda binder, node: look_up(binder.sql, node, binder.relation),
    exp.Paren: lambda binder, node: binder.row(node.this),
    exp.Literal: _literal,
    exp.Boolean: lambda binder, node: constant(bool(node.this)),
    exp.Null: lambda binder, node: constant(None),
    exp.Add: _arithmetic("add"),
    exp.Sub: _subtract,
    exp.Mul: _arithmetic("mul"),
    exp.Div: _divide,
    exp.IntDiv: _divide,
    exp.Mod: _arithmetic("mod"),
    exp.Neg: _one("neg"),
    exp.Abs: _one("abs"),
    exp.Sign: _one("sign"),
    exp.Round: _rounded("round"),
    exp.Floor: _rounded("floor"),
    exp.Ceil: _rounded("ceil"),
    exp.Trunc: _rounded("trunc"),
    exp.Pow: _power,
    exp.Sqrt: _real("sqrt"),
    exp.Ln: _real("ln"),
    exp.Exp: _real("exp"),
    exp.Least: _several("least"),
    exp.Greatest: _several("greatest"),
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
    exp.Upper: _text(str.upper),
    exp.Lower: _text(str.lower),
    exp.Length: _text(len),
    exp.Trim: _text(str.strip),
    exp.Substring: _text(_substring, "start", "length"),
    exp.Left: _text(lambda text, count: text[:count], "expression"),
    exp.Right: _text(lambda text, count: text[len(text) - min(count, len(text)) :], "expression"),
    exp.Extract: _extract,
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.DateTrunc: _trunc,
    exp.TimestampTrunc: _trunc,
    exp.Cast: _cast,
}
