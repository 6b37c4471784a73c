"""Zones: how far local time is ahead of UTC, as a table of the changes between two moments.

The table is worked out here, from the rules of the time zone database, and handed to an engine as
constants: so every engine converts alike, and none needs rules of its own.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

__all__ = ["Offsets", "is_zone", "offsets"]

Offsets = tuple[tuple[datetime, int], ...]
"""Moments in UTC, in order, and how many seconds local time is ahead from each of them on."""

WIDE = timedelta(days=1)
"""No clock was ever changed and changed back within this time."""


def is_zone(name: str) -> bool:
    """Whether the time zone database has this zone.

    >>> is_zone("Europe/Berlin"), is_zone("Berlin")
    (True, False)
    """
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a name that is a path, a folder or none
        return False
    return True


@lru_cache(maxsize=64)
def offsets(zone: str, first: datetime, last: datetime) -> Offsets:
    """The offset at the first moment, and each later one with the moment at which it begins.

    Both moments are in UTC and have no zone of their own.

    >>> found = offsets("Europe/Berlin", datetime(2024, 1, 1), datetime(2024, 12, 31))
    >>> [(str(moment), ahead) for moment, ahead in found[1:]]
    [('2024-03-31 01:00:00', 7200), ('2024-10-27 01:00:00', 3600)]
    """
    rules, before = ZoneInfo(zone), first
    found = [(first, _ahead(rules, first))]
    while zone != "UTC" and before < last:
        after = min(before + WIDE, last)
        while found[-1][1] != _ahead(rules, after):
            before = _change(rules, before, after)
            found.append((before, _ahead(rules, before)))
        before = after
    return tuple(found)


def _change(rules: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The first second at which the clock is another than at the first of two moments."""
    was = _ahead(rules, before)
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        before, after = (middle, after) if _ahead(rules, middle) == was else (before, middle)
    return after


def _ahead(rules: ZoneInfo, moment: datetime) -> int:
    shift = moment.replace(tzinfo=UTC).astimezone(rules).utcoffset()
    assert shift is not None
    return int(shift.total_seconds())
