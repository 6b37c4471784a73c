"""The part of JSON Schema that our schemas use: what is published is what is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["problem"]

Schema = Mapping[str, Any]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _number(value) and value == value // 1,
    "number": _number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}

_RULES: Mapping[str, tuple[type | tuple[type, ...], Callable[[Any, Any], bool], str]] = {
    "minimum": ((int, float), lambda value, bound: value >= bound, "must be at least {}"),
    "maximum": ((int, float), lambda value, bound: value <= bound, "must be at most {}"),
    "exclusiveMinimum": ((int, float), lambda value, bound: value > bound, "must be above {}"),
    "exclusiveMaximum": ((int, float), lambda value, bound: value < bound, "must be below {}"),
    "minLength": (str, lambda value, count: len(value) >= count, "is shorter than {} characters"),
    "maxLength": (str, lambda value, count: len(value) <= count, "is longer than {} characters"),
    "pattern": (str, lambda value, rule: bool(re.fullmatch(rule, value)), "must match {}"),
}


def problem(value: Any, schema: Schema, name: str = "the body") -> str | None:
    """The first thing that is wrong with a value, in words; None where nothing is."""
    return next(_problems(value, schema, name), None)


def _problems(value: Any, schema: Schema, name: str) -> Iterator[str]:
    kind = schema.get("type")
    if kind is not None and not _TYPES[kind](value):
        yield f"{name} must be of type {kind}"
        return
    for rule, (applies, holds, words) in _RULES.items():
        measurable = isinstance(value, applies) and not isinstance(value, bool)
        if rule in schema and measurable and not holds(value, schema[rule]):
            yield f"{name} {words.format(schema[rule])}"
    if "anyOf" in schema and all(problem(value, part, name) for part in schema["anyOf"]):
        yield f"{name} is none of what it may be: " + "; or ".join(
            str(problem(value, part, name)) for part in schema["anyOf"]
        )
    if "not" in schema and problem(value, schema["not"], name) is None:
        yield f"{name} {schema['not'].get('description', 'is what it must not be')}"
    if isinstance(value, dict):
        yield from _of_object(value, schema, name)


def _of_object(value: dict[str, Any], schema: Schema, name: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for wanted in schema.get("required", ()):
        if wanted not in value:
            yield f"{name} lacks {wanted!r}"
    for key, part in value.items():
        if key in properties:
            yield from _problems(part, properties[key], key)
        elif schema.get("additionalProperties") is False:
            yield f"{name} has an unknown part {key[:60]!r}; known are {', '.join(properties)}"
