"""Server-sent events: the stages of a question while it runs, then its answer or its error.

A heartbeat says how long it takes so far. How far an engine is through the data is not told,
since that would be about the data.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any

from starlette.responses import Response, StreamingResponse

from adomnia.curator.access import Watch
from adomnia.curator.answers.answer import Answer
from adomnia.server.accounts import Person
from adomnia.server.http.error_responses import json_bytes, shape

__all__ = ["HEARTBEAT", "RunningQuestions", "event_stream"]

HEARTBEAT = 1.0
"""Seconds between two signs of life."""

Event = tuple[str, Mapping[str, Any]]
Ask = Callable[[Watch], Coroutine[Any, Any, Answer]]
"""How the question is asked, under a watch."""


class RunningQuestions:
    """The questions that run now, by names that cannot be guessed."""

    def __init__(self) -> None:
        self._watches: dict[str, tuple[Person, Watch]] = {}

    def add(self, person: Person, watch: Watch) -> str:
        """A name for a question that begins."""
        identity = secrets.token_hex(16)
        self._watches[identity] = (person, watch)
        return identity

    def remove(self, identity: str) -> None:
        """A question has ended."""
        self._watches.pop(identity, None)

    def cancel(self, identity: str, person: Person) -> bool:
        """End a question of this person; whether there was one."""
        found = self._watches.get(identity)
        if found is None or found[0] != person:
            return False
        found[1].cancel()
        return True


def event_stream(ask: Ask, person: Person, running: RunningQuestions) -> Response:
    """A response that tells the stages of a question; closing it cancels the question."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    told = _told(ask, person, running)
    return StreamingResponse(told, headers=headers, media_type="text/event-stream")


async def _told(ask: Ask, person: Person, running: RunningQuestions) -> AsyncIterator[bytes]:
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[Event]()

    def tell(stage: str) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, ("stage", {"stage": stage}))

    watch = Watch(tell)
    identity = running.add(person, watch)
    task = asyncio.create_task(_outcome(ask(watch), queue))
    try:
        yield _written("stage", {"stage": "received", "question": identity})
        async for kind, body in _events(queue):
            yield _written(kind, body)
    finally:
        running.remove(identity)
        task.cancel()  # where nobody listens any more, the question ends


async def _events(queue: asyncio.Queue[Event]) -> AsyncIterator[Event]:
    """What is put into the queue, with heartbeats between, up to the answer or the error."""
    begun, kind = time.monotonic(), ""
    while kind not in ("answer", "error"):
        try:
            kind, body = await asyncio.wait_for(queue.get(), HEARTBEAT)
        except TimeoutError:
            kind, body = "heartbeat", {"elapsed": round(time.monotonic() - begun, 1)}
        yield kind, body


async def _outcome(answer: Awaitable[Answer], queue: asyncio.Queue[Event]) -> None:
    """Put the answer or the error behind the stages."""
    try:
        queue.put_nowait(("answer", (await answer).to_json()))
    except Exception as error:
        queue.put_nowait(("error", shape(error)))


def _written(kind: str, body: Mapping[str, Any]) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + json_bytes(body) + b"\n\n"
