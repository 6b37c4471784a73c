"""The calendar: parts of days and moments, where their units begin, and what lies later.

Days are dates and moments are local times without a zone, in whole seconds. All of it is the
Gregorian calendar, carried on to the first year; weeks are those of ISO.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import TypeVar

__all__ = [
    "CLOCK_PARTS",
    "CLOCK_UNITS",
    "DAY_SECONDS",
    "EPOCH",
    "PARTS",
    "UNITS",
    "following",
    "midnight",
    "moment_at",
    "seconds_of",
    "shifted",
    "truncate",
]

T = TypeVar("T", date, datetime)

UNITS = ("day", "week", "month", "quarter", "year")
"""What a day can be cut to."""

CLOCK_UNITS: Mapping[str, int] = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800,
}  # fmt: skip
"""The units of one length, in seconds; a moment can be cut to all these and to `UNITS`."""

DAY_SECONDS = 86_400
EPOCH = (datetime(1970, 1, 1) - datetime.min) // timedelta(seconds=1)
"""Seconds from the first moment of the year 1 to the one from which an epoch counts."""

PARTS: Mapping[str, Callable[[date], int]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "week": lambda day: day.isocalendar()[1],
    "day": lambda day: day.day,
    "dow": lambda day: day.isoweekday() % 7,
    "isodow": lambda day: day.isoweekday(),
    "doy": lambda day: day.timetuple().tm_yday,
}
"""The parts of a day."""

CLOCK_PARTS: Mapping[str, Callable[[datetime], int]] = {
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "epoch": lambda moment: seconds_of(moment) - EPOCH,
    **PARTS,
}
"""The parts of a moment."""


def seconds_of(moment: datetime) -> int:
    """The seconds since the first moment of the year 1, which was a Monday."""
    return (moment - datetime.min) // timedelta(seconds=1)


def moment_at(seconds: int) -> datetime:
    """The moment so many seconds after the first of the year 1."""
    return datetime.min + timedelta(seconds=seconds)


def midnight(day: date) -> datetime:
    """The moment at which a day begins."""
    return datetime.combine(day, time())


def truncate(value: T, unit: str) -> T:
    """The first day or moment of the unit that holds it; weeks begin on Monday."""
    if isinstance(value, datetime):
        if unit in CLOCK_UNITS:
            seconds = seconds_of(value)
            return moment_at(seconds - seconds % CLOCK_UNITS[unit])
        return midnight(truncate(value.date(), unit))
    if unit == "week":
        return value - timedelta(days=min(value.weekday(), value.toordinal() - 1))
    if unit == "month":
        return value.replace(day=1)
    if unit == "quarter":
        return value.replace(month=(value.month - 1) // 3 * 3 + 1, day=1)
    return value.replace(month=1, day=1) if unit == "year" else value


def following(value: T, unit: str) -> T | None:
    """The beginning of the next day, week, month, quarter or year; None at the end of time."""
    try:
        if unit in ("day", "week"):
            return value + timedelta(days=1 if unit == "day" else 7)
        return _months_later(value, {"month": 1, "quarter": 3, "year": 12}[unit])
    except (OverflowError, ValueError):
        return None


def shifted(value: T, months: int, days: int, seconds: int = 0) -> T:
    """The day or moment so much later: first by months, at most to the last day of one, then by
    days, then by seconds. An OverflowError or ValueError where there is none."""
    later = _months_later(value, months) + timedelta(days=days)
    return later + timedelta(seconds=seconds) if seconds else later


def _months_later(value: T, months: int) -> T:
    ahead = value.year * 12 + value.month - 1 + months
    first = value.replace(year=ahead // 12, month=ahead % 12 + 1, day=1)
    if first.year == date.max.year and first.month == 12:
        last = 31
    else:
        last = ((first + timedelta(days=32)).replace(day=1) - timedelta(days=1)).day
    return first.replace(day=min(value.day, last))
