"""Moments as codes: what a source holds becomes a number of steps above `low`, by the zone's clock.

Everything is whole seconds since the first moment of the year 1, so that no number is negative. A
moment that knows its zone is moved by a table of the declared zone's offsets, which is made of
constants: no engine converts by rules of its own (`coding.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from adomnia.engines.sql.dialect import Dialect
from adomnia.queries.calendar import DAY_SECONDS, midnight, seconds_of
from adomnia.schema.domain import Timestamps
from adomnia.schema.zone import offsets

__all__ = ["FIRST_DAY", "moment_code", "seconds_text"]

FIRST_DAY = date.min
"""The day from which seconds are counted, a Monday."""

MARGIN = timedelta(days=10)
"""A written offset is less than five days, and a zone's less than two: what is farther from the
domain than this is outside of it by every clock."""

_CLOCK = "[ T]([0-9]{1,2}):", "[ T][0-9]{1,2}:([0-9]{1,2})", "[ T][0-9:]+:[0-9]{1,2}:([0-9]{1,2})"
_LENGTHS = 3600, 60, 1
_ZONED = ":[0-9.]+ ?(Z|U|[+-])"
_WEST = ":[0-9.]+ ?(-)"
_AHEAD = ":[0-9.]+ ?[+-]([0-9]{2})", ":[0-9.]+ ?[+-][0-9]{2}:?([0-9]{2})"


def moment_code(column: str, domain: Timestamps, declared: str, dialect: Dialect) -> str:
    """The SQL of a code: -1 below the domain, one past the last above it, NULL for no moment."""
    kind = dialect.family(declared)
    if kind == "other":
        column, kind = dialect.words(column, kind), "text"
    if kind not in ("date", "moment", "text"):
        return "CAST(NULL AS BIGINT)"

    def near(day: str) -> str:
        local = _local(column, day, domain, (kind, declared), dialect)
        return _by_day(day, _steps(local, domain, dialect), domain, dialect)

    code = dialect.let("day", dialect.day(column, kind), near)
    if kind != "text":
        return code

    def quickly(seconds: str) -> str:
        found = _steps(seconds, domain, dialect)
        return f"CASE WHEN {seconds} IS NOT NULL THEN {found} ELSE {code} END"

    return dialect.let("usual", dialect.usual_moment(column), quickly)


def _steps(seconds: str, domain: Timestamps, dialect: Dialect) -> str:
    """The step at or before a number of seconds, at most one past each end."""
    below = seconds_of(domain.low) - domain.step
    above = dialect.quotient(f"({seconds} - CAST({below} AS BIGINT))", str(domain.step))
    return f"LEAST(GREATEST({above} - 1, -1), {domain.count})"


def _by_day(day: str, steps: str, domain: Timestamps, dialect: Dialect) -> str:
    """The steps of what is near the domain, so that nothing passes what an engine holds; what is
    not is below or above."""
    first, last = (end.date() for end in (domain.low - MARGIN, domain.high + MARGIN))
    return (
        f"CASE WHEN {day} < {dialect.constant(first)} THEN -1 "
        f"WHEN {day} > {dialect.constant(last)} THEN {domain.count} "
        f"WHEN {day} IS NOT NULL THEN {steps} END"
    )


def seconds_text(day: str, dialect: Dialect) -> str:
    """The SQL of the seconds at which a day begins."""
    return f"({dialect.days(day, dialect.constant(FIRST_DAY))} * {DAY_SECONDS})"


def _local(
    column: str, day: str, domain: Timestamps, kind: tuple[str, str], dialect: Dialect
) -> str:
    """The seconds by the zone's clock, of a value whose day is near the domain."""
    if kind[0] == "date":
        return seconds_text(day, dialect)
    if kind[0] == "moment":
        seconds = dialect.clock(column, kind[1])
        return _moved(seconds, domain, dialect) if dialect.knows_zone(kind[1]) else seconds
    trimmed = dialect.trimmed(column)
    return dialect.let("text", trimmed, lambda text: _read(text, day, domain, dialect))


def _read(text: str, day: str, domain: Timestamps, dialect: Dialect) -> str:
    """A text as seconds; it is of the form of a day, with a time and an offset or without."""
    parts = zip(_CLOCK, _LENGTHS, strict=True)
    clock = [f"COALESCE({dialect.captured(text, form)}, 0) * {size}" for form, size in parts]
    written = " + ".join([seconds_text(day, dialect), *clock])
    ahead = [f"COALESCE({dialect.captured(text, form)}, 0) * {size}"
             for form, size in zip(_AHEAD, _LENGTHS, strict=False)]  # fmt: skip
    sign = f"CASE WHEN {dialect.matches(text, _WEST)} THEN -1 ELSE 1 END"
    instant = f"({written} - ({sign}) * ({' + '.join(ahead)}))"
    knows = dialect.matches(text, _ZONED)
    return f"CASE WHEN {knows} THEN {_moved(instant, domain, dialect)} ELSE {written} END"


def _moved(seconds: str, domain: Timestamps, dialect: Dialect) -> str:
    """Seconds of UTC as those of the zone's clock."""
    first, last = domain.low - MARGIN - MARGIN, domain.high + MARGIN + MARGIN
    table = offsets(domain.zone, midnight(first.date()), midnight(last.date()))
    rows = [(seconds_of(moment), ahead) for moment, ahead in table]
    if len(rows) == 1:
        return f"({seconds} + ({rows[0][1]}))"
    return dialect.let("utc", seconds, lambda utc: f"({utc} + {_ahead(utc, rows)})")


def _ahead(utc: str, rows: Sequence[tuple[int, int]]) -> str:
    """The offset at a moment, found by halving."""
    if len(rows) == 1:
        return f"({rows[0][1]})"
    half = len(rows) // 2
    before, after = _ahead(utc, rows[:half]), _ahead(utc, rows[half:])
    return f"CASE WHEN {utc} < {rows[half][0]} THEN {before} ELSE {after} END"
