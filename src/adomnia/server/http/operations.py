"""The operations of the HTTP door: one table, from which routes and OpenAPI both are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from adomnia.server.http import ledger_view as books
from adomnia.server.http import questions as asking
from adomnia.server.http import schema_view as described
from adomnia.server.http.request_context import RequestContext
from adomnia.server.http.schemas import KEY, LEDGER_QUERY, RECEIPT

__all__ = ["OPERATIONS", "ROOT", "HttpOperation"]

Schema = Mapping[str, Any]
Handle = Callable[[RequestContext], Awaitable[Response]]

ROOT = "/v1"
"""What all paths begin with; what is under it keeps its meaning."""

QUESTION: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}


@dataclass(frozen=True)
class HttpOperation:
    """What can be done: where, by whom, what it takes, what it gives and how it may be refused.

    `body` and `answer` name shapes in `schemas.COMPONENTS`. What `pays` has a receipt, and can be
    watched as a stream of events.
    """

    method: str
    path: str
    handle: Handle
    answer: str
    body: str | None = None
    query: Mapping[str, Schema] = field(default_factory=dict)
    places: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, Schema] = field(default_factory=dict)
    refused: tuple[int, ...] = ()
    status: int = 200
    pays: bool = False
    is_open: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.handle.__name__

    @property
    def about(self) -> str:
        """What it does, in the words of its function."""
        return (self.handle.__doc__ or "").partition("\n\n")[0].strip()


OPERATIONS = (
    HttpOperation(
        "POST",
        "/ask",
        asking.ask,
        "Answer",
        body="Ask",
        headers={"Idempotency-Key": KEY},
        refused=(400, 402, 403, 409),
        pays=True,
    ),
    HttpOperation("POST", "/plan", asking.plan, "Forecast", body="Plan", refused=(400, 403)),
    HttpOperation(
        "DELETE",
        "/questions/{question}",
        asking.cancel,
        "Cancelled",
        places={"question": QUESTION},
        refused=(404,),
        status=202,
    ),
    HttpOperation("GET", "/budget", books.budget, "Budget", refused=(403,)),
    HttpOperation("GET", "/schema", described.schema, "Schema"),
    HttpOperation(
        "GET",
        "/receipts/{receipt}",
        books.receipt,
        "Receipt",
        places={"receipt": RECEIPT},
        refused=(403, 404),
    ),
    HttpOperation("GET", "/ledger", books.ledger, "Ledger", query=LEDGER_QUERY, refused=(403, 422)),
    HttpOperation("GET", "/releases", books.releases, "Releases"),
    HttpOperation("GET", "/health", described.health, "Health", is_open=True),
)
