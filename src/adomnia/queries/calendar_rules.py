"""Rules for days and moments: the range of each operation on them, and what it computes.

A moment lies on a lattice: so many steps after the lowest of its range. Units of one length, from
seconds to weeks, are steps; months, quarters and years are not, and are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from math import gcd
from typing import Any

from adomnia.queries.calendar import (
    CLOCK_PARTS,
    CLOCK_UNITS,
    DAY_SECONDS,
    PARTS,
    midnight,
    seconds_of,
    shifted,
    truncate,
)
from adomnia.queries.ranges import Day, Moment, Number, Range

__all__ = ["CALENDAR"]

_PART_ENDS = {
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "dow": (0, 6),
    "isodow": (1, 7),
    "doy": (1, 366),
}
_CLOCK_ENDS = {"hour": (24, 3600), "minute": (60, 60), "second": (60, 1)}
"""How many of each there are, and how many seconds one lasts."""


# Days


def _extract(a: Day, part: str) -> Number:
    return Number(*_ends(a, part), nullable=a.nullable)


def _ends(a: Day | Moment, part: str) -> tuple[int, int]:
    if a.low.year == a.high.year and part in ("quarter", "month", "doy"):
        return PARTS[part](a.low), PARTS[part](a.high)
    return _PART_ENDS.get(part, (a.low.year, a.high.year))


def _trunc(a: Day, unit: str) -> Day:
    return Day(truncate(a.low, unit), a.high, unit, a.nullable)


def _days(a: Day, b: Day) -> Number:
    nullable = a.nullable or b.nullable
    return Number((a.low - b.high).days, (a.high - b.low).days, nullable=nullable)


def _day_shift(a: Day, months: int, days: int) -> Day:
    low, high = (_later(end, months, days) for end in (a.low, a.high))
    return Day(low, high, a.unit if _keeps(a.unit, months, days) else "day", a.nullable)


def _later(end: Any, months: int, days: int, seconds: int = 0) -> Any:
    try:
        return shifted(end, months, days, seconds)
    except (OverflowError, ValueError):
        raise ValueError("the result can lie beyond the years 1 to 9999") from None


def _keeps(unit: str, months: int, rest: int) -> bool:
    """Whether the first days of units are moved to such days."""
    size = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    return not rest and (months % size == 0 if size else not months)


# Moments


def _moment_part(a: Moment, part: str) -> Number:
    if part == "epoch":
        low, high = (CLOCK_PARTS[part](end) for end in (a.low, a.high))
        return Number(low, high, nullable=a.nullable)
    if part not in _CLOCK_ENDS:
        return Number(*_ends(a, part), nullable=a.nullable)
    count, length = _CLOCK_ENDS[part]
    found = _shown(a, count, length)
    listed = None if len(found) == found[-1] - found[0] + 1 else found
    return Number(found[0], found[-1], nullable=a.nullable, values=listed)


def _shown(a: Moment, count: int, length: int) -> tuple[int, ...]:
    """The numbers that a hand of the clock comes to in steps: in a round of it all are seen."""
    if length % a.step == 0:
        return tuple(range(count))
    low, turn = seconds_of(a.low), count * length
    return tuple(sorted({(low + i * a.step) // length % count for i in range(turn)}))


def _moment_trunc(a: Moment, unit: str) -> Moment:
    low, high = truncate(a.low, unit), truncate(a.high, unit)
    if unit not in CLOCK_UNITS:
        return Moment(low, high, DAY_SECONDS, unit, a.nullable)
    step = a.step if a.step % CLOCK_UNITS[unit] == 0 else CLOCK_UNITS[unit]
    return Moment(low, high, step, a.unit if unit != "week" else "", a.nullable)


def _moment_shift(a: Moment, months: int, days: int, seconds: int) -> Moment:
    step = gcd(a.step, DAY_SECONDS) if months else a.step  # the time of the day stays
    ends = _months_later(a, months, step) if months else (a.low, a.high)
    low, high = (_later(end, 0, days, seconds) for end in ends)
    unit = a.unit if _keeps(a.unit, months, days or seconds) else ""
    return Moment(low, high, step, unit, a.nullable)


def _months_later(a: Moment, months: int, step: int) -> tuple[datetime, datetime]:
    """The ends, months later. Several days may come to the last one of a month, and any of them may
    be the latest or the earliest by the time of day: all of such a day's lattice counts."""
    low, high = (_later(end, months, 0) for end in (a.low, a.high))
    phase = timedelta(seconds=seconds_of(a.low) % step)
    if _ends_month(low):
        low = midnight(low.date()) + phase
    if _ends_month(high):
        high = midnight(high.date()) + phase + timedelta(seconds=DAY_SECONDS - step)
    return low, high


def _ends_month(moment: datetime) -> bool:
    return moment.day >= 28 and (moment.date() == date.max or _next_day(moment).day == 1)


def _next_day(moment: datetime) -> date:
    return moment.date() + timedelta(days=1)


def _seconds(a: Moment, b: Moment) -> Number:
    second, nullable = timedelta(seconds=1), a.nullable or b.nullable
    return Number((a.low - b.high) // second, (a.high - b.low) // second, nullable=nullable)


def _to_day(a: Moment) -> Day:
    return Day(a.low.date(), a.high.date(), a.unit or "day", a.nullable)


def _to_moment(a: Day) -> Moment:
    unit = a.unit if a.unit in ("month", "quarter", "year") else ""
    low = truncate(a.low, a.unit)
    step = CLOCK_UNITS["week"] if a.unit == "week" else DAY_SECONDS
    return Moment(midnight(low), midnight(truncate(a.high, a.unit)), step, unit, a.nullable)


def _between(a: datetime, b: datetime) -> int:
    return (a - b) // timedelta(seconds=1)


Rule = tuple[Callable[..., Range], Callable[..., Any]]

CALENDAR: Mapping[str, Rule] = {
    "extract": (_extract, lambda a, part: PARTS[part](a)),
    "trunc": (_trunc, truncate),
    "days": (_days, lambda a, b: (a - b).days),
    "day_shift": (_day_shift, shifted),
    "moment_part": (_moment_part, lambda a, part: CLOCK_PARTS[part](a)),
    "moment_trunc": (_moment_trunc, truncate),
    "moment_shift": (_moment_shift, shifted),
    "seconds": (_seconds, _between),
    "to_day": (_to_day, lambda a: a.date()),
    "to_moment": (_to_moment, midnight),
}
"""The range of the result, and its value."""
