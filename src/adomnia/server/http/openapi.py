"""The OpenAPI document, made from the table of operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from adomnia.server.http.operations import ROOT, HttpOperation
from adomnia.server.http.responses import ErrorResponse

__all__ = ["components", "document"]

_REFERENCE = "#/components/schemas/{name}"

_ERRORS = {
    400: "The question is wrong: `position` says where.",
    401: "This needs an account.",
    402: "It would pass a budget; nothing was spent.",
    403: "This person may not.",
    404: "There is no such thing, or none that this person may see.",
    408: "The request did not arrive in time.",
    409: "The idempotency key belongs to another request, or the question was cancelled.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request has another shape than is described here.",
    429: "Too many log-ins have failed.",
    500: "The machinery failed; nothing was answered, and what was reserved stays spent.",
    503: "Too many questions are waiting; nothing was spent.",
}
_EVENTS = (
    "Events `stage` (received, with the question's name; planned; paid; answered), `heartbeat` "
    "(seconds so far), and last `answer` or `error`."
)
_ABOUT = (
    "Ask sensitive data in SQL. Every answer is differentially private, carries its margin of "
    "error, and is paid from a budget. Amounts are exact fractions, written as text."
)
_LINKS = {
    "receipt": {"operationId": "receipt", "parameters": {"receipt": "$response.body#/receipt"}}
}
_WAIT = {"retry-after": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 1}}}
_CHALLENGE = {"www-authenticate": {"description": "How to log in.", "schema": {"type": "string"}}}
_HEADERS: Mapping[int, Mapping[str, Any]] = {401: _CHALLENGE, 429: _WAIT, 503: _WAIT}


def components(operations: Sequence[HttpOperation]) -> dict[str, Any]:
    """The shapes of all bodies and answers, and what they are made of, by name."""
    bodies = [operation.body for operation in operations if operation.body is not None]
    answers = [operation.answer for operation in operations]
    _, shapes = msgspec.json.schema_components(
        [*bodies, *answers, ErrorResponse], ref_template=_REFERENCE
    )
    for body in bodies:
        shapes[body.__name__] |= {"not": {"required": ["epsilon", "rho"]}}  # `__post_init__` checks
    return shapes


def document(operations: Sequence[HttpOperation], version: str) -> dict[str, Any]:
    """The document that describes these operations."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(ROOT + operation.path, {})[operation.method.lower()] = _described(
            operation
        )
    return {
        "openapi": "3.1.0",
        "info": {"title": "adomnia", "version": version, "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": components(operations),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "An API key."},
                "secret": {"type": "http", "scheme": "basic", "description": "Name and secret."},
            },
        },
    }


def _described(operation: HttpOperation) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "security": [] if operation.is_open else [{"key": []}, {"secret": []}],
        "responses": dict(_responses(operation)),
    }
    parameters = list(_parameters(operation))
    if parameters:
        made["parameters"] = parameters
    if operation.body:
        content = {"application/json": {"schema": _reference(operation.body)}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _parameters(operation: HttpOperation) -> Iterator[dict[str, Any]]:
    query = msgspec.json.schema_components([operation.query])[1][operation.query.__name__]
    for kind, schemas in (
        ("path", _schemas(operation.path_parameters)),
        ("query", query["properties"]),
        ("header", _schemas(operation.headers)),
    ):
        for name, schema in schemas.items():
            yield {"name": name, "in": kind, "required": kind == "path", "schema": schema}


def _schemas(types: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: msgspec.json.schema(of) for name, of in types.items()}


def _responses(operation: HttpOperation) -> Iterator[tuple[str, dict[str, Any]]]:
    content: dict[str, Any] = {"application/json": {"schema": _reference(operation.answer)}}
    if operation.pays:
        content["text/event-stream"] = {"schema": {"type": "string", "description": _EVENTS}}
    answer = {"description": operation.about, "content": content}
    yield str(operation.status), answer | ({"links": _LINKS} if operation.pays else {})
    for status in sorted(_refused(operation)):
        refusal: dict[str, Any] = {
            "description": _ERRORS[status],
            "content": {"application/json": {"schema": _reference(ErrorResponse)}},
        }
        if status in _HEADERS:
            refusal["headers"] = _HEADERS[status]
        yield str(status), refusal


def _refused(operation: HttpOperation) -> set[int]:
    """How the operation may be refused: its own ways, and those of everything like it."""
    own = {*operation.refused, 500, 503}
    by_login = set() if operation.is_open else {401, 429}
    by_body = {400, 408, 413, 415, 422} if operation.body else set()
    return own | by_login | by_body


def _reference(shape: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=shape.__name__)}
