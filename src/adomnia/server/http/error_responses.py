"""Error responses over HTTP: one shape for everything that goes wrong.

`{"error": {"code": …, "message": …, "position": …, "hint": …}}`, where the code is the error's kind
and the hint says what to do next.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adomnia.errors import AdomniaError, MachineryError, QuestionError
from adomnia.server.accounts import UnauthenticatedError
from adomnia.server.login_limits import TooManyError
from adomnia.server.service import BusyError

__all__ = [
    "MediaTypeError",
    "MissingError",
    "ShapeError",
    "SlowError",
    "TooLargeError",
    "as_json",
    "json_bytes",
    "refuse",
    "refuse_http",
    "shape",
]

CHALLENGE = 'Bearer realm="adomnia", Basic realm="adomnia", charset="UTF-8"'
_SOON = 2
"""Seconds after which a busy service may be asked again."""


class MissingError(QuestionError):
    """There is no such thing, or none that this person may see."""

    http_status = 404


class SlowError(QuestionError):
    """The request did not arrive in time."""

    http_status = 408


class TooLargeError(QuestionError):
    """The request is larger than any question needs to be."""

    http_status = 413


class MediaTypeError(QuestionError):
    """The request is not JSON."""

    http_status = 415


class ShapeError(QuestionError):
    """The request has not the shape that the OpenAPI document describes."""

    http_status = 422


def shape(error: Exception) -> dict[str, Any]:
    """An error as everybody is told it; of one that is not ours the kind alone."""
    if not isinstance(error, AdomniaError):
        error = MachineryError(f"the machinery failed ({type(error).__name__})")
    return {
        "error": {
            "code": _code(error),
            "message": error.message,
            "position": getattr(error, "position", None),
            "hint": error.hint,
        }
    }


def refuse(error: Exception) -> Response:
    """The response to a request that ended with an error."""
    status = error.http_status if isinstance(error, AdomniaError) else 500
    return as_json(shape(error), status, _headers(error))


async def refuse_http(request: Request, error: Exception) -> Response:
    """The response where no operation was found: the wrong path or the wrong method."""
    assert isinstance(error, HTTPException)
    code = {404: "missing", 405: "method"}.get(error.status_code, "request")
    told = {
        "code": code,
        "message": f"{request.method} {request.url.path[:200]}: {error.detail}".rstrip(),
        "position": None,
        "hint": "GET /openapi.json lists what can be asked",
    }
    return as_json({"error": told}, error.status_code, error.headers)


def as_json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as a JSON response that nobody keeps a copy of."""
    kept = {"cache-control": "no-store", "x-content-type-options": "nosniff", **(headers or {})}
    return Response(json_bytes(value), status, kept, "application/json")


def json_bytes(value: Any) -> bytes:
    """A value as JSON; a number that JSON does not know becomes null."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")  # a lone surrogate, as JSON escapes it


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _code(error: AdomniaError) -> str:
    """`QuestionError` is `question`, `TooManyError` is `too_many`, unless the kind says its own."""
    own = getattr(error, "code", None)
    if own is not None:
        return str(own)
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _headers(error: Exception) -> dict[str, str]:
    if isinstance(error, UnauthenticatedError):
        return {"www-authenticate": CHALLENGE}
    if isinstance(error, TooManyError):
        return {"retry-after": str(max(1, math.ceil(error.seconds)))}
    return {"retry-after": str(_SOON)} if isinstance(error, BusyError) else {}
