"""The clock in statements: operations on days and moments, by whole numbers and days alone.

A moment is a number of seconds since the first moment of the year 1, which was a Monday: none is
negative, so cutting is rounding down, and weeks begin where seconds do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.moments import FIRST_DAY, seconds_text
from adomnia.queries.calendar import CLOCK_UNITS, DAY_SECONDS, EPOCH
from adomnia.queries.expression import Call

__all__ = ["MOMENTS"]

_TURNS = {"hour": (3600, 24), "minute": (60, 60), "second": (1, 60)}
"""How many seconds each lasts, and how many of them make a round."""


def _day(moment: str, say: Dialect) -> str:
    """The day of a moment."""
    return say.later(say.constant(FIRST_DAY), say.quotient(moment, str(DAY_SECONDS)))


def _part(call: Call, args: list[str], say: Dialect) -> str:
    part, (moment,) = call.params[0], args
    if part == "epoch":
        return f"({moment} - CAST({EPOCH} AS BIGINT))"
    if part not in _TURNS:
        return say.extract(part, _day(moment, say))
    length, count = _TURNS[part]
    return f"({say.quotient(moment, str(length))} % {count})"


def _trunc(call: Call, args: list[str], say: Dialect) -> str:
    unit, (moment,) = call.params[0], args
    if unit in CLOCK_UNITS:
        return f"({moment} - {moment} % {CLOCK_UNITS[unit]})"
    return seconds_text(say.truncated(unit, _day(moment, say)), say)


def _day_shift(call: Call, args: list[str], say: Dialect) -> str:
    months, days = call.params
    moved = say.months_later(args[0], months) if months else args[0]
    return say.later(moved, str(days)) if days else moved


def _moment_shift(call: Call, args: list[str], say: Dialect) -> str:
    months, days, seconds = call.params
    rest = f"CAST({days * DAY_SECONDS + seconds} AS BIGINT)"
    if not months:
        return f"({args[0]} + {rest})"
    moved = seconds_text(say.months_later(_day(args[0], say), months), say)
    return f"({moved} + {args[0]} % {DAY_SECONDS} + {rest})"


MOMENTS: Mapping[str, Callable[[Call, list[str], Dialect], str]] = {
    "day_shift": _day_shift,
    "moment_part": _part,
    "moment_trunc": _trunc,
    "moment_shift": _moment_shift,
    "seconds": lambda call, args, say: f"({args[0]} - {args[1]})",
    "to_day": lambda call, args, say: _day(args[0], say),
    "to_moment": lambda call, args, say: seconds_text(args[0], say),
}
"""The SQL of each operation, from that of its arguments."""
