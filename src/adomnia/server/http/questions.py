"""Asking over HTTP: an answer, a forecast, an answer whose stages can be watched, and its end."""

from __future__ import annotations

from starlette.responses import Response

from adomnia.curator.access import Watch
from adomnia.curator.answers.answer import Answer
from adomnia.server.http.error_responses import MissingError, as_json
from adomnia.server.http.events import RunningQuestions, event_stream
from adomnia.server.http.request_context import RequestContext
from adomnia.server.http.requests import AskRequest, IdempotencyKey, PlanRequest, given
from adomnia.server.http.responses import CancelledResponse
from adomnia.server.http.validation import validated_text

__all__ = ["ask", "cancel", "plan"]

STREAM = "text/event-stream"


async def ask(context: RequestContext) -> Response:
    """A private answer; as a stream of events where the request accepts one.

    Without a stream the question runs to its end also if the connection is lost: its answer is
    in the ledger, and asking again gives it at no cost.
    """
    body: AskRequest = context.body
    asked, key = given(body), context.request.headers.get("idempotency-key")
    if key is not None:
        validated_text(key, IdempotencyKey, "Idempotency-Key")

    async def answer(watch: Watch | None = None) -> Answer:
        return await context.service.ask(context.person, watch=watch, key=key, **asked)

    if STREAM in context.request.headers.get("accept", ""):
        return event_stream(answer, context.person, running(context))
    return as_json((await answer()).to_json())


async def plan(context: RequestContext) -> Response:
    """The error that an answer would have, or the epsilon that a margin needs; spends nothing."""
    body: PlanRequest = context.body
    service, person = context.service, context.person
    found = await service.run_for(person, service.session(person).plan, **given(body))
    return as_json(found.to_json())


async def cancel(context: RequestContext) -> Response:
    """End one of one's own questions."""
    identity = context.request.path_params["question"]
    if not running(context).cancel(identity, context.person):
        raise MissingError("no such question of yours is running", "it may have ended by itself")
    message = "it ends soon; what was reserved for it stays spent"
    return as_json(CancelledResponse(identity, message), 202)


def running(context: RequestContext) -> RunningQuestions:
    """The questions that run now and can be watched."""
    found: RunningQuestions = context.request.app.state.running
    return found
