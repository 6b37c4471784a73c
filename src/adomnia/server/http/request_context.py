"""The context of an operation: one request, who makes it, and what it says, checked."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from starlette.requests import Request

from adomnia.limits import MAX_HTTP_BODY
from adomnia.server.accounts import Person, UnauthenticatedError
from adomnia.server.http.error_responses import MediaTypeError, ShapeError, SlowError, TooLargeError
from adomnia.server.http.validation import parse_json, validated
from adomnia.server.service import Service

__all__ = ["RequestContext", "credentials", "read_body", "read_query"]

SECONDS = 30.0
"""How long a request may take to arrive."""


@dataclass(frozen=True)
class RequestContext:
    """Who asks for what; an open operation has nobody.

    Body and query have the shapes that the operation names.
    """

    service: Service
    request: Request
    person: Person
    body: Any = None
    query: Any = None

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


async def read_body(request: Request, shape: type[Struct]) -> Struct:
    """The JSON object that a request carries, of the right shape."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise MediaTypeError("the body must be JSON", "send Content-Type: application/json")
    try:
        async with asyncio.timeout(SECONDS):
            data = await _received(request)
    except TimeoutError:
        raise SlowError("the request did not arrive in time", "send it again") from None
    return validated(parse_json(data), shape, "the body")


async def _received(request: Request) -> bytes:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MAX_HTTP_BODY:
            raise TooLargeError(f"the body is longer than {MAX_HTTP_BODY:,} bytes", "shorten it")
    return bytes(data)


def read_query(request: Request, shape: type[Struct]) -> Struct:
    """The parameters behind the question mark, of the right shape."""
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) < len(pairs):
        raise ShapeError("a parameter is given twice", "give it once")
    return validated(dict(pairs), shape, "the query", is_text=True)
