"""Text, dates and casts: functions of text are computed value by value, when they are bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from adomnia.limits import MAX_MAPPED_VALUES
from adomnia.queries.expression import Constant, Expr
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Number, Range, Text, Truth, cells, count_cells
from adomnia.queries.sql.binder import Binder, Handler, as_truth, truth, unsupported, whole
from adomnia.queries.sql.dates import extract, to_day, to_moment, truncated, units_between
from adomnia.queries.sql.numbers import rounded
from adomnia.queries.sql.parse import UNITS_BETWEEN

__all__ = ["VALUES", "mapped"]


def _text(function: Callable[..., Any], *names: str) -> Callable[[Binder, exp.Expression], Expr]:
    def handle(binder: Binder, node: exp.Expression) -> Expr:
        bound = binder.row(node.this)
        if isinstance(bound, Constant) and isinstance(bound.value, str):
            return constant(function(bound.value, *_arguments(binder, node, names)))
        values = bound.range.values if isinstance(bound.range, Text) else None
        if values is None or len(values) > MAX_MAPPED_VALUES:
            raise binder.refuse(node, "this needs a text column with declared values")
        arguments = _arguments(binder, node, names)
        return mapped(bound, {value: function(value, *arguments) for value in values})

    return handle


def _arguments(binder: Binder, node: exp.Expression, names: tuple[str, ...]) -> list[int]:
    given = (node.args.get(name) for name in names)
    return [whole(binder, part) for part in given if part is not None]


def _substring(text: str, start: int = 1, length: int | None = None) -> str:
    end = len(text) if length is None else max(start, 1) - 1 + max(0, length + min(start, 1) - 1)
    return text[max(start, 1) - 1 : end]


def _right(text: str, count: int) -> str:
    return text[-count:] if count < 0 else text[max(0, len(text) - count) :]


def mapped(bound: Expr, table: Mapping[Any, Any]) -> Expr:
    """A function given value by value, as an expression; values outside the table give NULL."""
    images = [value for value in table.values() if value is not None]
    kinds = {type(value) for value in images}
    nullable = bound.range.nullable or None in table.values() or not _covers(table, bound.range)
    if kinds == {bool}:
        spread: Range = Truth(nullable)
    elif kinds == {int}:
        codes = tuple(sorted(set(images)))
        spread = Number(codes[0], codes[-1], nullable=nullable, values=codes)
    else:
        table = {key: None if value is None else str(value) for key, value in table.items()}
        spread = Text(tuple(dict.fromkeys(str(value) for value in images)), nullable)
    return call("map", bound, params=(tuple(table.items()), spread))


def _covers(table: Mapping[Any, Any], spread: Range) -> bool:
    """Whether the table has a line for every value of the range."""
    count = count_cells(spread)
    return count is not None and count <= len(table) and set(cells(spread)) <= set(table)


def _part(part: str) -> Callable[[Binder, exp.Expression], Expr]:
    return lambda binder, node: extract(
        binder, exp.Extract(this=exp.Var(this=part), expression=node.this)
    )


def _named(binder: Binder, node: exp.Anonymous) -> Expr:
    """A function that the parser does not know by name."""
    handler = _FUNCTIONS.get(node.name.upper())
    if handler is None:
        raise unsupported(binder, node)
    return handler(binder, node)


def _epoch(binder: Binder, node: exp.Anonymous) -> Expr:
    if len(node.expressions) != 1:
        raise binder.refuse(node, "EPOCH takes one expression")
    return extract(binder, exp.Extract(this=exp.Var(this="epoch"), expression=node.expressions[0]))


_FUNCTIONS: Mapping[str, Handler] = {UNITS_BETWEEN: units_between, "EPOCH": _epoch}


def _cast(binder: Binder, node: exp.Cast) -> Expr:
    kind, target = binder.row(node.this), node.args["to"].this
    if target in exp.DataType.INTEGER_TYPES:
        return rounded("round")(binder, exp.Round(this=node.this))
    if target in exp.DataType.FLOAT_TYPES or target in _DECIMALS:
        number = binder.number(node.this)
        whole = isinstance(number.range, Number) and number.range.whole
        return call("scale", number, params=(10,)) if whole else number
    if target in exp.DataType.TEXT_TYPES:
        return _to_text(binder, node, kind)
    if target == exp.DataType.Type.DATE:
        return to_day(binder, node.this)
    if target in _TIMESTAMPS:
        return to_moment(binder, node.this)
    if target == exp.DataType.Type.BOOLEAN:
        return truth(binder, node, as_truth(kind))
    raise binder.refuse(
        node, "this cast is not supported", "to a number, text, date, timestamp or boolean"
    )


def _to_text(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    if isinstance(bound.range, Text):
        return bound
    count = count_cells(bound.range)
    if (
        isinstance(bound.range, Number)
        and bound.range.whole
        and 0 < (count or 0) <= MAX_MAPPED_VALUES
    ):
        step = int(bound.range.step)
        return mapped(bound, {value: str(value * step) for value in cells(bound.range)})
    raise binder.refuse(node, "only text and short lists of whole numbers can become text")


_DECIMALS = {exp.DataType.Type.DECIMAL, exp.DataType.Type.BIGDECIMAL}
_TIMESTAMPS = {exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ}


VALUES: Mapping[type[exp.Expression], Handler] = {
    exp.Upper: _text(str.upper),
    exp.Lower: _text(str.lower),
    exp.Length: _text(len),
    exp.Trim: _text(lambda text: text.strip(" ")),
    exp.Substring: _text(_substring, "start", "length"),
    exp.Left: _text(lambda text, count: text[:count], "expression"),
    exp.Right: _text(_right, "expression"),
    exp.Extract: extract,
    exp.Anonymous: _named,
    exp.Date: lambda binder, node: to_day(binder, node.this),
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.Hour: _part("hour"),
    exp.Minute: _part("minute"),
    exp.DateTrunc: truncated,
    exp.TimestampTrunc: truncated,
    exp.Cast: _cast,
}
"""What this module binds."""
