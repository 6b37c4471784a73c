"""A context: one request, who makes it, and what it says, checked against its operation."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from starlette.requests import Request

from adomnia.errors import QuestionError
from adomnia.server.accounts import Person, UnauthenticatedError
from adomnia.server.http.error_responses import MediaTypeError, ShapeError, SlowError, TooLargeError
from adomnia.server.http.validate import problem
from adomnia.server.service import Service

__all__ = ["MAX_BODY", "RequestContext", "credentials", "read_body", "read_query"]

MAX_BODY = 1 << 20
SECONDS = 30.0
"""How long a request may take to arrive."""


@dataclass(frozen=True)
class RequestContext:
    """Who asks for what; an open operation has nobody."""

    service: Service
    request: Request
    person: Person
    body: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asks_as(self) -> str:
        """The name under which the ledger knows them."""
        return self.service.session(self.person).analyst


async def credentials(service: Service, request: Request) -> Person:
    """Who sent the request: by API key, or by name and secret."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    address = request.client.host if request.client else ""
    if scheme.lower() == "bearer" and given:
        return await service.log_in_by_key(given.strip(), address)
    if scheme.lower() == "basic" and given:
        name, secret = _decoded(given)
        return await service.log_in(name, secret, address)
    raise UnauthenticatedError(
        "this needs an account",
        "send Authorization: Bearer KEY (adomnia account key NAME), or Basic with name and secret",
    )


def _decoded(given: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(given.strip(), validate=True).decode("utf-8")
    except ValueError:
        raise UnauthenticatedError(
            "this is not Basic authentication", "base64 of name:secret"
        ) from None
    name, _, secret = text.partition(":")
    return name, secret


async def read_body(request: Request, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object that a request carries, of the right shape."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise MediaTypeError("the body must be JSON", "send Content-Type: application/json")
    try:
        async with asyncio.timeout(SECONDS):
            data = await _received(request)
    except TimeoutError:
        raise SlowError("the request did not arrive in time", "send it again") from None
    body = _parsed(data)
    _check(body, schema, "the body")
    assert isinstance(body, dict)
    return body


async def _received(request: Request) -> bytes:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MAX_BODY:
            raise TooLargeError(f"the body is longer than {MAX_BODY:,} bytes", "shorten it")
    return bytes(data)


def _parsed(data: bytes) -> Any:
    def refused(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        found = json.loads(data, parse_constant=refused)
        json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate is no text
    except (ValueError, RecursionError):
        raise QuestionError("the body is not valid JSON", "in UTF-8, without NaN") from None
    return found


def read_query(request: Request, schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters behind the question mark, of the right shape."""
    given = request.query_params.multi_items()
    if len({name for name, _ in given}) < len(given):
        raise ShapeError("a parameter is given twice", "give it once")
    found = {name: _whole(value, schemas.get(name, {})) for name, value in given}
    whole = {"properties": schemas, "additionalProperties": False}
    _check(found, whole, "the query")
    return {**{n: s["default"] for n, s in schemas.items() if "default" in s}, **found}


def _whole(value: str, schema: Mapping[str, Any]) -> Any:
    """A number where one is meant; anything else stays the text it is."""
    plain = value.isascii() and value.removeprefix("-").isdecimal() and len(value) <= 18
    return int(value) if schema.get("type") == "integer" and plain else value


def _check(value: Any, schema: Mapping[str, Any], name: str) -> None:
    wrong = problem(value, schema, name)
    if wrong is not None:
        raise ShapeError(wrong, "GET /openapi.json describes every request")
