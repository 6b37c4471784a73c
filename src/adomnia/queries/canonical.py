"""Questions as plain JSON: what was measured, in a form that outlives the classes that hold it.

A record names operations, columns, domains and constants; it says nothing that is derived from
them. So a field more in a class, another name, or a sharper rule for ranges changes no record and
no digest (`canonical.md`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Mode,
    Moments,
    Quantile,
    Sum,
)
from adomnia.queries.operations import call
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth

__all__ = [
    "digest",
    "expression_from",
    "expression_json",
    "measurement_from",
    "measurement_json",
]

Json = Any
"""Plain JSON values: None, truth values, numbers, texts, lists and objects."""


def digest(record: Json) -> str:
    """Thirty-two characters that stand for a record; equal records have equal ones."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# Expressions


def expression_json(expr: Expr | None) -> Json:
    """An expression over one row; None is every row."""
    if expr is None:
        return None
    if isinstance(expr, Column):
        return {"column": expr.name, "of": _range_json(expr.range)}
    if isinstance(expr, Constant):
        return {"constant": _value_json(expr.value), "of": _range_json(expr.range)}
    args = [expression_json(arg) for arg in expr.args]
    params = [_value_json(param) for param in expr.params]
    return {"op": expr.op, "args": args, **({"params": params} if params else {})}


def expression_from(record: Json) -> Expr | None:
    """The expression of a record; a KeyError or ValueError where it is not understood."""
    if record is None:
        return None
    if "column" in record:
        return Column(record["column"], _range_from(record["of"]))
    if "constant" in record:
        return Constant(_value_from(record["constant"]), _range_from(record["of"]))
    args = [_operand(arg) for arg in record["args"]]
    params = tuple(_value_from(param) for param in record.get("params", ()))
    return call(record["op"], *args, params=params)


def _operand(record: Json) -> Expr:
    found = expression_from(record)
    if found is None:
        raise ValueError("an operation takes expressions")
    return found


# Values


def _value_json(value: Any) -> Json:
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if isinstance(value, tuple):
        return [_value_json(part) for part in value]
    if isinstance(value, Number | Text | Day | Moment | Truth):
        return {"range": _range_json(value)}
    return value


def _value_from(record: Json) -> Any:
    if isinstance(record, list):
        return tuple(_value_from(part) for part in record)
    if not isinstance(record, Mapping):
        return record
    ((kind, text),) = record.items()
    readers: dict[str, Callable[[Any], Any]] = {
        "fraction": Fraction,
        "day": date.fromisoformat,
        "moment": datetime.fromisoformat,
        "range": _range_from,
    }
    return readers[kind](text)


def _range_json(spread: Range) -> Json:
    return {**_plain_json(spread), **({"ragged": True} if spread.ragged else {})}


def _plain_json(spread: Range) -> dict[str, Any]:
    if isinstance(spread, Number):
        listed = None if spread.values is None else list(spread.values)
        facts: dict[str, Any] = {"low": spread.low, "high": spread.high, "step": str(spread.step)}
        return {"kind": "number", **facts, "values": listed, "nullable": spread.nullable}
    if isinstance(spread, Text):
        texts = None if spread.values is None else list(spread.values)
        return {"kind": "text", "values": texts, "nullable": spread.nullable}
    if isinstance(spread, Day):
        ends = {"low": spread.low.isoformat(), "high": spread.high.isoformat()}
        return {"kind": "day", **ends, "unit": spread.unit, "nullable": spread.nullable}
    if isinstance(spread, Moment):
        ends = {"low": spread.low.isoformat(), "high": spread.high.isoformat()}
        lattice = {"step": spread.step, "unit": spread.unit}
        return {"kind": "moment", **ends, **lattice, "nullable": spread.nullable}
    return {"kind": "truth", "nullable": spread.nullable}


def _range_from(record: Mapping[str, Any]) -> Range:
    """The range of a record; those of before there was anything outside have nothing of it."""
    found = _plain_from(record)
    return replace(found, ragged=True) if record.get("ragged") else found


def _plain_from(record: Mapping[str, Any]) -> Range:
    kind, nullable = record["kind"], bool(record["nullable"])
    if kind == "number":
        listed = record["values"]
        values = None if listed is None else tuple(listed)
        return Number(record["low"], record["high"], Fraction(record["step"]), nullable, values)
    if kind == "text":
        listed = record["values"]
        return Text(None if listed is None else tuple(listed), nullable)
    if kind == "day":
        low, high = (date.fromisoformat(record[end]) for end in ("low", "high"))
        return Day(low, high, record["unit"], nullable)
    if kind == "moment":
        first, last = (datetime.fromisoformat(record[end]) for end in ("low", "high"))
        return Moment(first, last, record["step"], record["unit"], nullable)
    if kind == "truth":
        return Truth(nullable)
    raise ValueError("a range of a kind that is not known")


# Measurements


def measurement_json(measurement: Measurement) -> Json:
    """What is measured, without the rows and cells it is measured in."""
    if isinstance(measurement, Counts):
        return {"counts": [expression_json(test) for test in measurement.conditions]}
    kind, more = _FIELDS[type(measurement)]
    fields = {name: _value_json(getattr(measurement, name)) for name in more}
    return {kind: expression_json(measurement.argument), **fields}


_FIELDS: Mapping[type, tuple[str, tuple[str, ...]]] = {
    Sum: ("sum", ()),
    Moments: ("moments", ("degree", "rest")),
    Distinct: ("distinct", ()),
    Quantile: ("quantile", ("share", "edge")),
    Mode: ("mode", ()),
}


def measurement_from(record: Mapping[str, Any]) -> Measurement:
    """The measurement of a record; a KeyError or ValueError where it is not understood."""
    if "counts" in record:
        return Counts(tuple(expression_from(test) for test in record["counts"]))
    for measurement, (kind, more) in _FIELDS.items():
        if kind in record:
            fields = {name: _value_from(record[name]) for name in more}
            made: Measurement = measurement(_operand(record[kind]), **fields)
            return made
    raise ValueError("a measurement of a kind that is not known")
