"""Asking over HTTP: an answer, a forecast, an answer whose stages can be watched, and its end."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from adomnia.curator.answers.answer import Answer
from adomnia.curator.watch import Watch
from adomnia.server.http.error_responses import MissingError, ShapeError, as_json
from adomnia.server.http.events import RunningQuestions, event_stream
from adomnia.server.http.request_context import RequestContext
from adomnia.server.http.schemas import KEY
from adomnia.server.http.validate import problem

__all__ = ["ask", "cancel", "plan"]

STREAM = "text/event-stream"


async def ask(context: RequestContext) -> Response:
    """A private answer; as a stream of events where the request accepts one.

    Without a stream the question runs to its end also if the connection is lost: its answer is
    in the ledger, and asking again gives it at no cost.
    """
    asked = dict(context.body)
    sql, key = asked.pop("sql"), context.request.headers.get("idempotency-key")
    if key is not None:
        _check_key(key)

    async def answer(watch: Watch | None = None) -> Answer:
        return await context.service.ask(context.person, sql, watch=watch, key=key, **asked)

    if STREAM in context.request.headers.get("accept", ""):
        return event_stream(answer, context.person, running(context))
    return as_json((await answer()).to_json())


async def plan(context: RequestContext) -> Response:
    """The error that an answer would have, or the epsilon that a margin needs; spends nothing."""
    asked: dict[str, Any] = dict(context.body)
    service, person = context.service, context.person
    found = await service.run_for(person, service.session(person).plan, asked.pop("sql"), **asked)
    return as_json(found.to_json())


async def cancel(context: RequestContext) -> Response:
    """End one of one's own questions."""
    identity = context.request.path_params["question"]
    if not running(context).cancel(identity, context.person):
        raise MissingError("no such question of yours is running", "it may have ended by itself")
    message = "it ends soon; what was reserved for it stays spent"
    return as_json({"question": identity, "message": message}, 202)


def running(context: RequestContext) -> RunningQuestions:
    """The questions that run now and can be watched."""
    found: RunningQuestions = context.request.app.state.running
    return found


def _check_key(key: str) -> None:
    wrong = problem(key, KEY, "Idempotency-Key")
    if wrong is not None:
        raise ShapeError("Idempotency-Key must be 1 to 200 printable characters", "such as a UUID")
