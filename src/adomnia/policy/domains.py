"""The sections `[attributes.NAME]` of a policy: the public domain of every column."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from adomnia.policy.sections import AttributeSection
from adomnia.policy.toml_reader import Reader
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open, Timestamps
from adomnia.schema.table import Attribute

__all__ = ["attributes_of"]

Path = tuple[str, ...]


def attributes_of(reader: Reader, table: Path = ()) -> dict[str, Attribute]:
    """What the policy says its columns may hold; of one table, where it has several."""
    tree: Any = reader.tree
    for name in table:
        tree = tree[name]
    found, place = {}, (*table, "attributes")
    for name, written in tree.get("attributes", {}).items():
        path = (*place, name)
        part = reader.section(AttributeSection, path, written)
        domain = reader.guard(path, partial(_domain, reader, part, path))
        found[name] = Attribute(name, domain, part.nullable, part.sensitive, part.description or "")
    return found


def _domain(reader: Reader, part: AttributeSection, path: Path) -> Domain:
    kind = part.kind
    if kind is None:
        kind = "values" if part.values is not None else "number" if part.low is not None else ""
    makers: Mapping[str, Callable[..., Domain]] = {
        "values": _values,
        "number": _grid,
        "date": _dates,
        "timestamp": _timestamps,
        "text": lambda *_: Open(),
    }
    if not isinstance(kind, str) or kind not in makers:
        hint = (
            'give values = […], or low and high, or kind = "date" with both, or kind = '
            '"timestamp" with both and a step, or kind = "text"'
        )
        reader.fail(f"the domain of {path[-1]!r} is not clear", hint, path)
    if part.zone is not None and kind != "timestamp":
        hint = 'leave it out, or write kind = "timestamp"'
        reader.fail("only a timestamp has a zone", hint, (*path, "zone"))
    return makers[kind](reader, part, path)


def _values(reader: Reader, part: AttributeSection, path: Path) -> Domain:
    if any(end is not None for end in (part.low, part.high, part.step)):
        reader.fail("either values, or low and high", "", (*path, "values"))
    values = part.values
    if not isinstance(values, list):
        reader.fail("values must be a list", 'for example values = ["F", "M"]', (*path, "values"))
    made: Domain = reader.guard((*path, "values"), lambda: Categories(tuple(values), part.other))
    return made


def _grid(reader: Reader, part: AttributeSection, path: Path) -> Domain:
    ends = []
    step = 1 if part.step is None else part.step
    for name, value in (("low", part.low), ("high", part.high), ("step", step)):
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            reader.fail(f"{name} must be a number", f"for example {name} = 1", (*path, name))
        if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < 100):
            reader.fail(f"{name} must be a finite number", "", (*path, name))
        ends.append(Fraction(value))
    made: Domain = reader.guard((*path, "low"), lambda: Grid(*ends))
    return made


def _dates(reader: Reader, part: AttributeSection, path: Path) -> Domain:
    ends = [_date(reader, part.low, (*path, "low")), _date(reader, part.high, (*path, "high"))]
    made: Domain = reader.guard((*path, "low"), lambda: Dates(*ends))
    return made


def _date(reader: Reader, value: Any, path: Path) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        reader.fail(f"{path[-1]} must be a date", f'for example {path[-1]} = "2015-01-01"', path)


_STEP = re.compile(r"([0-9]{1,5}) ?(s|m|min|h|d)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


def _timestamps(reader: Reader, part: AttributeSection, path: Path) -> Domain:
    low, high = (_moment(reader, getattr(part, end), (*path, end)) for end in ("low", "high"))
    written = _STEP.fullmatch(part.step.strip()) if isinstance(part.step, str) else None
    if written is None:
        hint = 'how exactly moments are told apart, for example step = "1h", "15m" or "1s"'
        reader.fail("a timestamp needs a step", hint, (*path, "step"))
    step, zone = int(written[1]) * _SECONDS[written[2]], part.zone or "UTC"
    made: Domain = reader.guard((*path, "low"), lambda: Timestamps(low, high, step, zone))
    return made


def _moment(reader: Reader, value: Any, path: Path) -> datetime:
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    try:
        return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        hint = f'for example {path[-1]} = "2024-01-01 00:00"'
        reader.fail(f"{path[-1]} must be a date with a time", hint, path)
