"""The operations of HTTP: one table, from which routes and OpenAPI both are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from adomnia.server.http import ledger_view, questions, schema_view
from adomnia.server.http.request_context import RequestContext
from adomnia.server.http.requests import (
    AskRequest,
    EmptyQuery,
    IdempotencyKey,
    LedgerQuery,
    PlanRequest,
    QuestionName,
    ReceiptName,
)
from adomnia.server.http.responses import (
    AnswerResponse,
    BudgetResponse,
    CancelledResponse,
    ForecastResponse,
    HealthResponse,
    LedgerResponse,
    ReceiptResponse,
    ReleasesResponse,
    SchemaResponse,
)

__all__ = ["OPERATIONS", "ROOT", "HttpOperation"]

Handle = Callable[[RequestContext], Awaitable[Response]]

ROOT = "/v1"
"""What all paths begin with; what is under it keeps its meaning."""


@dataclass(frozen=True)
class HttpOperation:
    """What can be done: where, by whom, what it takes, what it gives and how it may be refused.

    Body, query and answer are shapes; parameters of the path and headers are types by their
    names. What `pays` has a receipt, and can be watched as a stream of events.
    """

    method: str
    path: str
    handle: Handle
    answer: type[Struct]
    body: type[Struct] | None = None
    query: type[Struct] = EmptyQuery
    path_parameters: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
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
        questions.ask,
        AnswerResponse,
        body=AskRequest,
        headers={"Idempotency-Key": IdempotencyKey},
        refused=(400, 402, 403, 409),
        pays=True,
    ),
    HttpOperation(
        "POST", "/plan", questions.plan, ForecastResponse, body=PlanRequest, refused=(400, 403)
    ),
    HttpOperation(
        "DELETE",
        "/questions/{question}",
        questions.cancel,
        CancelledResponse,
        path_parameters={"question": QuestionName},
        refused=(404,),
        status=202,
    ),
    HttpOperation("GET", "/budget", ledger_view.budget, BudgetResponse, refused=(403,)),
    HttpOperation("GET", "/schema", schema_view.schema, SchemaResponse),
    HttpOperation(
        "GET",
        "/receipts/{receipt}",
        ledger_view.receipt,
        ReceiptResponse,
        path_parameters={"receipt": ReceiptName},
        refused=(403, 404),
    ),
    HttpOperation(
        "GET", "/ledger", ledger_view.ledger, LedgerResponse, query=LedgerQuery, refused=(403, 422)
    ),
    HttpOperation("GET", "/releases", ledger_view.releases, ReleasesResponse),
    HttpOperation("GET", "/health", schema_view.health, HealthResponse, is_open=True),
)
