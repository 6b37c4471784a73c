"""The sections `[attributes.NAME]` of a policy: the public domain of every column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from adomnia.policy.toml_reader import Reader, flag
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open
from adomnia.schema.table import Attribute

__all__ = ["attributes_of"]


def attributes_of(reader: Reader) -> dict[str, Attribute]:
    """What the policy says its columns may hold."""
    found = {}
    for name, part in reader.tree.get("attributes", {}).items():
        path = ("attributes", name)
        domain = reader.guard(path, partial(_domain, reader, part, path))
        nullable = flag(reader, part, (*path, "nullable"))
        sensitive = flag(reader, part, (*path, "sensitive"), default=True)
        found[name] = Attribute(name, domain, nullable, sensitive)
    return found


def _domain(reader: Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    kind = part.get("kind", "values" if "values" in part else "number" if "low" in part else None)
    makers: Mapping[Any, Callable[..., Domain]] = {
        "values": _values,
        "number": _grid,
        "date": _dates,
        "text": lambda *_: Open(),
    }
    if kind not in makers:
        hint = 'give values = […], or low and high, or kind = "date" with both, or kind = "text"'
        reader.fail(f"the domain of {path[-1]!r} is not clear", hint, path)
    return makers[kind](reader, part, path)


def _values(reader: Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    if "low" in part or "high" in part or "step" in part:
        reader.fail("either values, or low and high", "", (*path, "values"))
    values = part.get("values")
    if not isinstance(values, list):
        reader.fail("values must be a list", 'for example values = ["F", "M"]', (*path, "values"))
    made: Domain = reader.guard(
        (*path, "values"), lambda: Categories(tuple(values), part.get("other"))
    )
    return made


def _grid(reader: Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    ends = []
    for name, default in (("low", None), ("high", None), ("step", 1)):
        value = part.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            reader.fail(f"{name} must be a number", f"for example {name} = 1", (*path, name))
        if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < 100):
            reader.fail(f"{name} must be a finite number", "", (*path, name))
        ends.append(Fraction(value))
    made: Domain = reader.guard((*path, "low"), lambda: Grid(*ends))
    return made


def _dates(reader: Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    ends = [_date(reader, part.get(name), (*path, name)) for name in ("low", "high")]
    made: Domain = reader.guard((*path, "low"), lambda: Dates(*ends))
    return made


def _date(reader: Reader, value: Any, path: tuple[str, ...]) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        reader.fail(f"{path[-1]} must be a date", f'for example {path[-1]} = "2015-01-01"', path)
