"""Timeouts: a request arrives in time or its connection ends, and connections are not endless."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from adomnia.limits import MAX_HTTP_CONNECTIONS
from adomnia.server.connection_limit import connection_limit
from adomnia.server.http import request_context

__all__ = ["TimedProtocol"]


LATER = 1.0
"""Seconds after `request_context.SECONDS`: a slow body is answered before the line is cut."""


class TimedProtocol(H11Protocol):
    """uvicorn's protocol for one connection, with an end to waiting.

    uvicorn itself waits for ever for the rest of a head or a body, from anybody.
    """

    _deadline: asyncio.TimerHandle | None = None
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; where all places are taken, somebody makes room."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > connection_limit(MAX_HTTP_CONNECTIONS):
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; from its first byte on it has so long to arrive."""
        self._wait()
        super().data_received(data)
        if not self.is_waiting:
            self._arrived()

    def connection_lost(self, exc: Exception | None) -> None:
        """The line is closed."""
        self._arrived()
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether a request, or the rest of one, is still to come."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _wait(self) -> None:
        if self._deadline is None:
            self.since = self.loop.time()
            self._deadline = self.loop.call_later(request_context.SECONDS + LATER, self._cut)

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cut(self) -> None:
        self.transport.abort()

    def _make_room(self) -> None:
        """Who has waited longest with no request goes, and that may be the newcomer."""
        waiting = (each for each in self.connections if isinstance(each, TimedProtocol))
        oldest = min((each for each in waiting if each.is_waiting), key=lambda each: each.since)
        oldest._cut()
