"""Dates and timestamps: literals, parts, units, casts, intervals and differences.

A literal is read exactly or refused: what a column cannot tell apart is not rounded and paid for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction

from sqlglot import exp

from adomnia.queries.calendar import CLOCK_PARTS, CLOCK_UNITS, PARTS, UNITS, midnight
from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.operations import call, constant, inside
from adomnia.queries.ranges import Day, Moment, Text
from adomnia.queries.sql.binder import Binder, describe, is_null
from adomnia.schema.domain import step_text

__all__ = [
    "as_day",
    "as_moment",
    "extract",
    "is_calendar",
    "is_interval",
    "later",
    "on_lattice",
    "same_calendar",
    "steps_from_low",
    "subtract",
    "to_day",
    "to_moment",
    "truncated",
    "units_between",
]

Side = tuple[exp.Expression, Expr]
"""A piece of syntax and what it is bound to."""


def is_calendar(*bound: Expr) -> bool:
    """Whether one of these is a date or a timestamp."""
    return any(isinstance(expr.range, Day | Moment) for expr in bound)


# Literals


def _literal(binder: Binder, node: exp.Expression, text: str) -> datetime:
    """The moment that a text spells; a date is its midnight."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        hint = "write it as '2024-12-31' or '2024-12-31 18:00'"
        raise binder.refuse(node, "this is not a date", hint) from None
    if moment.tzinfo is not None:
        hint = "write it as the clocks of the column's own zone show it, without a zone"
        raise binder.refuse(node, "a timestamp here is a local time", hint)
    if moment.microsecond:
        hint = "leave out what is behind the seconds"
        raise binder.refuse(node, "moments are told apart by whole seconds at best", hint)
    return moment


def _spelt(bound: Expr) -> str | None:
    spelt = isinstance(bound, Constant) and isinstance(bound.value, str)
    return str(bound.value) if isinstance(bound, Constant) and spelt else None


def as_day(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    """A constant as the date it spells; anything else as it is."""
    text = _spelt(bound)
    moment = None if text is None else _literal(binder, node, text)
    if isinstance(bound, Constant) and isinstance(bound.value, datetime):
        moment = bound.value
    if moment is None:
        return bound
    if moment != midnight(moment.date()):
        hint = f"write the day alone: '{moment.date()}'"
        raise binder.refuse(node, "a date has no time of day", hint)
    return constant(moment.date())


def as_moment(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    """A date, or a constant that spells one, as a moment; anything else as it is."""
    text = _spelt(bound)
    if text is not None:
        return constant(_literal(binder, node, text))
    return call("to_moment", inside(bound)) if isinstance(bound.range, Day) else bound


def same_calendar(binder: Binder, *sides: Side) -> list[Expr]:
    """Dates and timestamps that are compared or chosen between, all as one of the two.

    Where one is a timestamp that rows have, all are; a constant beside a date must be one.
    """
    open_sides = [bound for _, bound in sides if not isinstance(bound, Constant)]
    moments = [bound for bound in open_sides if isinstance(bound.range, Moment)]
    if not moments and any(isinstance(bound.range, Day) for bound in open_sides):
        return [as_day(binder, node, bound) for node, bound in sides]
    plain = [bound for _, bound in sides if not is_null(bound)]
    if not moments and not any(isinstance(bound.range, Moment) for bound in plain):
        return [as_day(binder, node, bound) for node, bound in sides]
    return [bound if is_null(bound) else as_moment(binder, node, bound) for node, bound in sides]


def on_lattice(binder: Binder, node: exp.Expression, other: Expr, bound: Expr) -> None:
    """Refuse a constant that lies between two steps of what it is compared with."""
    if not (isinstance(bound, Constant) and isinstance(bound.value, datetime)):
        return
    spread = other.range
    if isinstance(other, Constant) or not isinstance(spread, Moment) or spread.holds(bound.value):
        return
    name = "what it is compared with"
    if isinstance(other, Column):
        name = binder.relation.called(other)
    before = bound.value - (bound.value - spread.low) % timedelta(seconds=spread.step)
    hint = f"moments are told apart by {step_text(spread.step)}: write '{before}', or the next one"
    raise binder.refuse(node, f"this lies between two steps of {name}", hint)


# Parts and units


def extract(binder: Binder, node: exp.Extract) -> Expr:
    """EXTRACT(part FROM …) of a date, a timestamp, or as seconds of a difference of two."""
    part, inner = node.this.name.lower(), node.expression.unnest()
    part = {"dayofweek": "dow", "dayofyear": "doy"}.get(part, part)
    if part == "epoch" and isinstance(inner, exp.Sub):
        ends = [binder.value(side) for side in (inner.this, inner.expression)]
        if any(isinstance(end.range, Moment) for end in ends):
            return _decimal(call("seconds", *_two_moments(binder, inner)))
    bound = binder.value(node.expression)
    if not is_calendar(bound):
        raise binder.refuse(node.expression, "EXTRACT takes a date")
    known = CLOCK_PARTS if isinstance(bound.range, Moment) else PARTS
    if part not in known:
        raise binder.refuse(node, f"{part!r} cannot be extracted", "one of " + ", ".join(known))
    if isinstance(bound.range, Day):
        return call("extract", bound, params=(part,))
    found = call("moment_part", bound, params=(part,))
    return _decimal(found) if part == "epoch" else found


def _decimal(number: Expr) -> Expr:
    """A whole number that is divided as a decimal: seconds of an epoch are none of SQL's
    integers."""
    return call("scale", number, params=(10,))


def truncated(binder: Binder, node: exp.Expression) -> Expr:
    """DATE_TRUNC: the beginning of the unit."""
    unit, bound = node.args["unit"].name.lower(), binder.value(node.this)
    if not is_calendar(bound):
        raise binder.refuse(node, "DATE_TRUNC takes a date")
    if isinstance(bound.range, Moment) and unit in (*CLOCK_UNITS, *UNITS):
        return call("moment_trunc", bound, params=(unit,))
    if isinstance(bound.range, Moment):
        hint = "one of " + ", ".join(dict.fromkeys((*CLOCK_UNITS, *UNITS)))
        raise binder.refuse(node, f"a timestamp cannot be cut to {unit!r}", hint)
    if unit not in UNITS:
        raise binder.refuse(node, f"a date cannot be cut to {unit!r}", "one of " + ", ".join(UNITS))
    return call("trunc", bound, params=(unit,))


def to_day(binder: Binder, node: exp.Expression) -> Expr:
    """CAST(… AS DATE)."""
    bound = binder.row(node)
    if isinstance(bound.range, Moment):
        return call("to_day", inside(bound))
    return as_day(binder, node, bound)


def to_moment(binder: Binder, node: exp.Expression) -> Expr:
    """CAST(… AS TIMESTAMP)."""
    return as_moment(binder, node, binder.row(node))


# Intervals

_LENGTHS: Mapping[str, tuple[int, int, int]] = {
    "second": (0, 0, 1), "minute": (0, 0, 60), "hour": (0, 0, 3600), "day": (0, 1, 0),
    "week": (0, 7, 0), "month": (1, 0, 0), "quarter": (3, 0, 0), "year": (12, 0, 0),
}  # fmt: skip
"""Months, days and seconds of each unit."""

_AMOUNT = re.compile(r"([+-]?[0-9]{1,9})\s*([a-zA-Z]+)\s*")


def is_interval(node: exp.Expression) -> bool:
    """Whether an INTERVAL is written here."""
    inner = node.unnest()
    return isinstance(inner.this.unnest() if isinstance(inner, exp.Neg) else inner, exp.Interval)


def later(binder: Binder, node: exp.Expression, written: exp.Expression, sign: int) -> Expr:
    """A date or a timestamp so much later, or earlier."""
    months, days, seconds = (sign * part for part in _interval(binder, written))
    bound = binder.value(node)
    if isinstance(bound.range, Text) and isinstance(bound, Constant):
        bound = as_moment(binder, node, bound)
    if isinstance(bound.range, Moment):
        return call("moment_shift", bound, params=(months, days, seconds))
    if not isinstance(bound.range, Day):
        raise binder.refuse(node, "an INTERVAL is added to a date or a timestamp")
    if seconds % 86_400:
        hint = "add whole days, or CAST it AS TIMESTAMP first"
        raise binder.refuse(written, "a date has no time of day", hint)
    return call("day_shift", bound, params=(months, days + seconds // 86_400))


def _interval(binder: Binder, written: exp.Expression) -> tuple[int, int, int]:
    """Months, days and seconds of an INTERVAL."""
    node = written.unnest()
    if isinstance(node, exp.Neg):
        months, days, seconds = _interval(binder, node.this)
        return -months, -days, -seconds
    amount, unit = node.this, node.args.get("unit")
    text = amount.unnest().name if amount is not None else ""
    if unit is not None:
        text = f"{text} {unit.name}"
    found = _AMOUNT.findall(text) if re.fullmatch(f"({_AMOUNT.pattern})+", text.strip()) else []
    parts = [(int(number), _LENGTHS.get(_singular(name))) for number, name in found]
    if not parts or any(length is None for _, length in parts):
        hint = "a whole number of seconds, minutes, hours, days, weeks, months or years"
        raise binder.refuse(written, "this INTERVAL is not understood", f"write {hint}")
    sums = [sum(n * length[i] for n, length in parts if length) for i in range(3)]
    if max(map(abs, sums)) > 10**12:
        raise binder.refuse(written, "this INTERVAL is too long")
    return sums[0], sums[1], sums[2]


def _singular(name: str) -> str:
    return name.lower().removesuffix("s")


# Differences


def subtract(binder: Binder, node: exp.Sub) -> Expr:
    """The days between two dates; what lies between timestamps is asked for in a unit."""
    left, right = binder.value(node.this), binder.value(node.expression)
    if isinstance(left.range, Moment) or isinstance(right.range, Moment):
        raise binder.refuse(
            node,
            "the difference of two timestamps has no unit here",
            "EXTRACT(EPOCH FROM a - b) is in seconds, DATE_DIFF('hour', b, a) in whole hours",
        )
    days = as_day(binder, node.this, left), as_day(binder, node.expression, right)
    if not all(isinstance(day.range, Day) for day in days):
        raise binder.refuse(node, "only a date can be taken from a date")
    return call("days", *days)


def _two_moments(binder: Binder, node: exp.Sub) -> list[Expr]:
    ends = [as_moment(binder, side, binder.value(side)) for side in (node.this, node.expression)]
    if not all(isinstance(end.range, Moment) for end in ends):
        raise binder.refuse(node, "only a timestamp can be taken from a timestamp")
    return ends


def steps_from_low(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    """Where a day or a moment lies among those of its range, so that they can be put in order."""
    spread = bound.range
    assert isinstance(spread, Day | Moment)
    if spread.unit not in ("", "day"):
        hint = f"ask for it without cutting to the {spread.unit}, and cut the answer"
        raise binder.refuse(node, f"the beginnings of {spread.unit}s cannot be ordered here", hint)
    if isinstance(spread, Day):
        return call("days", bound, constant(spread.low))
    apart, step = call("seconds", bound, constant(spread.low)), constant(spread.step)
    return call("div", apart, step, params=(1, 1, "trunc", Fraction(1)))


def units_between(binder: Binder, node: exp.Anonymous) -> Expr:
    """DATE_DIFF(unit, from, to): how many beginnings of the unit lie between, as DuckDB has it."""
    if len(node.expressions) != 3 or not isinstance(node.expressions[0], exp.Literal):
        hint = "for example DATE_DIFF('hour', admitted, discharged)"
        raise binder.refuse(node, "DATE_DIFF takes a unit, a beginning and an end", hint)
    unit = _singular(node.expressions[0].name)
    sides = [(side, binder.value(side)) for side in node.expressions[1:]]
    first, last = same_calendar(binder, *sides)
    if not (is_calendar(first) and type(first.range) is type(last.range)):
        raise binder.refuse(node, "DATE_DIFF takes dates", f"this is {describe(first.range)}")
    timed = isinstance(first.range, Moment)
    known = dict.fromkeys((*CLOCK_UNITS, *UNITS)) if timed else dict.fromkeys(UNITS)
    if unit not in known:
        raise binder.refuse(node, f"{unit!r} is no unit here", "one of " + ", ".join(known))
    if unit in ("month", "quarter", "year"):
        return call("sub", _number(last, unit), _number(first, unit))
    cut, gap = ("moment_trunc", "seconds") if timed else ("trunc", "days")
    apart = call(gap, *(call(cut, end, params=(unit,)) for end in (last, first)))
    length = CLOCK_UNITS[unit] if timed else CLOCK_UNITS[unit] // CLOCK_UNITS["day"]
    return call("div", apart, constant(length), params=(1, 1, "trunc", Fraction(1)))


def _number(bound: Expr, unit: str) -> Expr:
    """The number of a month, a quarter or a year, counted through all years."""
    op = "moment_part" if isinstance(bound.range, Moment) else "extract"
    year = call(op, bound, params=("year",))
    if unit == "year":
        return year
    count = {"month": 12, "quarter": 4}[unit]
    return call("add", call("mul", year, constant(count)), call(op, bound, params=(unit,)))
