"""Every address of the console, and which page it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute

from adomnia.server.console.console import Console, PageContext
from adomnia.server.console.views import (
    answers,
    ask,
    audit,
    budget,
    ledger,
    policy,
    releases,
    sign_in,
)
from adomnia.server.http.error_responses import MissingError

if TYPE_CHECKING:
    from adomnia.server.service import Service

__all__ = ["routes"]


def routes(service: Service) -> list[BaseRoute]:
    """The console's routes; the last one takes every address that nobody else took."""
    console = Console(service)
    get, post = console.get, console.post
    return [
        console.templates.static(),
        get("/sign-in", sign_in.show, private=False),
        post("/sign-in", sign_in.receive, private=False),
        post("/sign-out", sign_in.leave),
        get("/", ask.show),
        post("/plan", ask.plan),
        post("/ask", ask.submit),
        get("/asked/{key}", ask.asked),
        get("/asked/{key}/events", ask.events),
        post("/asked/{key}/cancel", ask.cancel),
        get("/answers/{receipt}", answers.show),
        get("/answers/{receipt}/table.csv", answers.table),
        get("/budget", budget.show),
        get("/ledger", ledger.show),
        get("/ledger.csv", ledger.as_csv),
        get("/ledger.json", ledger.as_json),
        get("/releases", releases.show),
        get("/audit", audit.show),
        get("/policy", policy.show),
        get("/{path:path}", _nothing, private=False),
    ]


async def _nothing(context: PageContext) -> Response:
    """A kind page for an address that is none; programs of the API get their own."""
    if context.request.url.path.startswith("/v1"):
        raise HTTPException(404)
    raise MissingError("there is no page at this address", "the menu above leads to all of them")
