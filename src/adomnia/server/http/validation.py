"""Validation of requests: what was sent, held against its shape, and what is wrong in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

import msgspec

from adomnia.errors import QuestionError
from adomnia.server.http.error_responses import ShapeError

__all__ = ["parse_json", "validated", "validated_text"]

T = TypeVar("T", bound=msgspec.Struct)

SHOWN = 60
"""So many characters of what was sent are told back."""

_DOCUMENT = "GET /openapi.json describes every request"
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", int: "a number",
          float: "a number", type(None): "null"}  # fmt: skip


def parse_json(data: bytes) -> Any:
    """The JSON value in a body; whatever is none is refused."""
    try:
        return msgspec.json.decode(data)
    except msgspec.ValidationError:
        raise ShapeError("a number in the body is too large", _DOCUMENT) from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise QuestionError("the body is not valid JSON", "in UTF-8, without NaN") from None


def validated(value: Any, shape: type[T], name: str, *, is_text: bool = False) -> T:
    """What was sent, as its shape says; the first thing that is wrong is told.

    `name` is what it is called, such as *the body*. Where all of it `is_text`, as behind a
    question mark, texts are read as the numbers that are meant.
    """
    if not isinstance(value, dict):
        raise ShapeError(f"{name} must be an object, not {_KINDS[type(value)]}", _DOCUMENT)
    fields = {field.name: field.required for field in msgspec.structs.fields(shape)}
    for key in value:
        if key not in fields:
            raise ShapeError(f"{name} has an unknown part {_told(key)}", _near(key, [*fields]))
    for key, required in fields.items():
        if required and key not in value:
            raise ShapeError(f"{name} lacks {key!r}", _meaning(shape, key))
    try:
        return msgspec.convert(value, shape, strict=not is_text)
    except msgspec.ValidationError as error:
        raise _explained(str(error), value, shape, name) from None


def validated_text(value: str, shape: Any, name: str) -> str:
    """A single text, as its shape says."""
    try:
        return str(msgspec.convert(value, shape))
    except msgspec.ValidationError:
        hint = str(msgspec.json.schema(shape).get("description", _DOCUMENT))
        raise ShapeError(f"{name} cannot be {_told(value)}", hint) from None


def _explained(
    reason: str, value: Mapping[str, Any], shape: type[msgspec.Struct], name: str
) -> ShapeError:
    """The part of a value that its shape does not allow: what was sent, and what is allowed."""
    at = re.search(r" - at `\$\.(\w+)", reason)
    if at is None:  # two parts that do not go together, in our own words
        return ShapeError(f"{name} {reason}", _DOCUMENT)
    return ShapeError(f"{at[1]} cannot be {_told(value[at[1]])}", _meaning(shape, at[1]))


def _meaning(shape: type[msgspec.Struct], key: str) -> str:
    """What a part means and may be, as OpenAPI says it."""
    components = msgspec.json.schema_components([shape])[1]
    about = components[shape.__name__]["properties"][key].get("description", "")
    return f"{key}: {about}; {_DOCUMENT}"


def _near(key: str, known: list[str]) -> str:
    close = get_close_matches(key[:SHOWN], known, 1)
    listed = f"known are {', '.join(known)}" if known else "there is none"
    return f"did you mean {close[0]!r}? {listed}" if close else listed


def _told(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:  # Python writes out no number of thousands of digits
        return "so large a number"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
