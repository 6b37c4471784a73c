"""What an engine must compute, said in plain Python: cleaning, rows, cells, primitives."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np

from adomnia.engines.sql.sql_engine import places
from adomnia.queries.expression import Call, Expr
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import width_of
from adomnia.queries.operations import divide, evaluate
from adomnia.queries.ranges import UNLISTED, from_domain, outside
from adomnia.schema.domain import Dates, Grid, Open, Timestamps
from tests.enforced import aggregated, measured

NUMBER = re.compile(
    r"[+-]?((\d+(_\d+)*\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE | re.ASCII
)
TRUTHS = {"t": True, "true": True, "yes": True, "y": True, "1": True}
TRUTHS |= {"f": False, "false": False, "no": False, "n": False, "0": False}
FAR = {"infinity": date.max, "-infinity": date.min, "99999-01-01": date.max}


def cleaned(raw, domain):
    """The value that the policy says a raw value stands for."""
    if raw is None:
        return None
    if isinstance(domain, Grid):
        return clean_number(raw, domain)
    if isinstance(domain, Dates):
        day = as_day(raw)
        return None if day is None else beyond(day, from_domain(domain))
    if isinstance(domain, Timestamps):
        return clean_moment(raw, domain)
    if isinstance(domain, Open):
        return as_text(raw)
    return listed_value(raw, domain)


def listed_value(raw, domain):
    value = as_member(raw, type(domain.values[0]))
    if value in domain.values and value is not None:
        return value
    if domain.other is not None or value is None or isinstance(value, bool):
        return domain.other
    return UNLISTED if isinstance(value, str) else beyond(value, from_domain(domain), True)


def beyond(value, spread, gaps=False):
    """The value, or what stands for all that lie below or above its domain; what lies in the gaps
    of a list counts as above."""
    below, above = outside(spread)
    if value < spread.low:
        return below
    return above if value > spread.high or gaps else value


def clean_number(raw, grid):
    ends = int(grid.low / grid.step) - 1, int(grid.high / grid.step) + 1
    if type(raw) is int and grid.step == 1:
        return min(max(raw, ends[0]), ends[1])
    value = as_float(raw)
    if value is None or math.isnan(value):
        return None
    inside = min(max(value, float(ends[0] * grid.step)), float(ends[1] * grid.step))
    inverse = 1 / grid.step
    whole = inverse.denominator == 1
    scaled = Fraction(inside * float(inverse) if whole else inside / float(grid.step))
    index = divide(scaled.numerator, scaled.denominator, "round")
    return min(max(index, ends[0]), ends[1])


def as_float(raw):
    if isinstance(raw, bool | int | float | Decimal):
        return float(raw)
    text = raw.strip() if isinstance(raw, str) else ""
    return float(text) if NUMBER.fullmatch(text) else None


def as_day(raw):
    if isinstance(raw, datetime):
        return raw.date()
    if isinstance(raw, date):
        return raw
    text = raw.strip() if isinstance(raw, str) else ""
    try:
        return FAR.get(text) or date.fromisoformat(text[:10])
    except ValueError:
        return None


MOMENT = re.compile(
    r"(\d{1,6})([-/])(\d{1,2})\2(\d{1,2})"
    r"([ T](\d{1,2}):(\d{1,2})(:(\d{1,2})(\.\d*)?)?( ?(Z|UTC|([+-])(\d{2})(:?(\d{2}))?))?)?",
    re.ASCII,
)


def clean_moment(raw, domain):
    """The step of the zone's clock at which a raw value lies, or what stands for those outside."""
    moment, knows = as_moment(raw)
    if moment is None:
        return None
    if knows and abs(moment.year - 5000) < 4990:
        local = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(domain.zone))
        moment = local.replace(tzinfo=None)
    step = timedelta(seconds=domain.step)
    if moment < domain.low:
        return domain.low - step
    return min(moment - (moment - domain.low) % step, domain.high + step)


def as_moment(raw):
    """A raw value as a moment, in UTC where it knows its zone, and whether it does."""
    if isinstance(raw, datetime):
        if raw.tzinfo is None:
            return raw, False
        return raw.astimezone(UTC).replace(tzinfo=None), True
    if isinstance(raw, date):
        return datetime.combine(raw, time()), False
    text = raw.strip() if isinstance(raw, str) else ""
    if text in FAR:
        return datetime.combine(FAR[text], time()), False
    return written_moment(text)


def written_moment(text):
    found = MOMENT.fullmatch(text)
    if found is None:
        return None, False
    hour, minute, second = (int(found[place] or 0) for place in (6, 7, 9))
    if (hour, minute, second) > (24, 0, 0) or max(minute, second) > 59:
        return None, False
    year, month, day = int(found[1]), int(found[3]), int(found[4])
    try:
        date(min(max(year, 4), 9996) if (month, day) != (2, 29) else year, month, day)
    except ValueError:
        return None, False
    if not 1 < year < 9999:
        return (datetime.min if year <= 1 else datetime.max), False
    clock = timedelta(hours=hour, minutes=minute, seconds=second)
    ahead = timedelta(hours=int(found[14] or 0), minutes=int(found[16] or 0))
    ahead = -ahead if found[13] == "-" else ahead
    return datetime(year, month, day) + clock - ahead, found[11] is not None


def as_text(raw):
    if isinstance(raw, bool):
        return str(raw).lower()
    return raw if isinstance(raw, str) else str(raw)


def as_member(raw, kind):
    if kind is str:
        return as_text(raw)
    if kind is bool:
        return TRUTHS.get(raw.lower()) if isinstance(raw, str) else bool(raw)
    if isinstance(raw, str):
        value = as_float(raw)
        if value is None or not math.isfinite(value):
            return None
        exact = Fraction(raw.strip())
        return divide(exact.numerator, exact.denominator, "round")
    return raw if isinstance(raw, int) else None


def clean_rows(raw_rows, attributes):
    return [
        {name: cleaned(row[name], attribute.domain) for name, attribute in attributes.items()}
        for row in raw_rows
    ]


def kept(rows, where):
    return [row for row in rows if where is None or evaluate(where, row) is True]


def components(request, measurements, rows):
    """The components of each measurement, on all cells."""
    found = by_cell(request, kept(rows, request.where))
    size = cell_count(request.keys)
    for measurement in measurements:
        out = np.zeros((size, width_of(measurement)), dtype=object)
        for cell, members in found.items():
            out[cell] = measured(measurement, members)
        yield out


def by_cell(request, rows):
    columns = [[evaluate(key, row) for row in rows] for key in request.keys]
    cells = places(request.keys, columns, len(rows)).tolist()
    assert -1 not in cells
    found = {}
    for cell, row in zip(cells, rows, strict=True):
        found.setdefault(cell, []).append(row)
    return found


def listed(request, quantile, rows):
    """The values in each cell with their counts."""
    out = {}
    for cell, members in by_cell(request, kept(rows, request.where)).items():
        values = [aggregated(quantile.argument, row) for row in members]
        counts = Counter(value for value in values if value is not None)
        if counts:
            out[cell] = sorted(counts.items())
    return out


def keyed(request, measurements, rows):
    """The components of all measurements for each key that occurs."""
    groups = {}
    for row in kept(rows, request.where):
        key = tuple(evaluate(part, row) for part in request.keys)
        groups.setdefault(key, []).append(row)
    return {
        key: [value for m in measurements for value in measured(m, members)]
        for key, members in groups.items()
    }


def operations(expr: Expr | None) -> set[str]:
    """The operations in an expression."""
    if not isinstance(expr, Call):
        return set()
    return {expr.op}.union(*(operations(arg) for arg in expr.args))
