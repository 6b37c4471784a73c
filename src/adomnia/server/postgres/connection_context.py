"""What the answers to one connection need: who asks, of what, how their question is ended, and how
it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from adomnia.curator.access import Watch
from adomnia.errors import AdomniaError
from adomnia.server.accounts import Person
from adomnia.server.postgres.known_columns import KnownColumns
from adomnia.server.service import Service
from adomnia.wire.catalogue.catalogue import Catalogue
from adomnia.wire.errors import WireError, as_wire_error
from adomnia.wire.statements.connection_state import ConnectionState

__all__ = ["ConnectionContext", "to_wire_error", "wire_errors"]

P = ParamSpec("P")
T = TypeVar("T")


class ConnectionContext:
    """Somebody who is logged in, the state of their connection, and their view of the catalogue.

    A person looks up one thing at a time (`lookups`), on however many connections: nobody's
    statements about the catalogue keep others waiting.
    """

    def __init__(
        self,
        service: Service,
        person: Person,
        state: ConnectionState,
        catalogue: Catalogue,
        lookups: asyncio.Semaphore,
    ) -> None:
        self.service, self.person, self.state = service, person, state
        self.catalogue, self.lookups = catalogue, lookups
        self.session = service.session(person)
        self.known_columns = KnownColumns(service.database)
        self._watch: Watch | None = None

    async def look(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, in a thread; it tells nothing that needs an account."""
        return await self.service.run(function, *args, **kwargs)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, in a thread, for somebody who still has their account."""
        return await self.service.run_for(self.person, function, *args, **kwargs)

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """A watch over the question that runs now, for whoever wants to end it."""
        self._watch = Watch()
        try:
            yield self._watch
        finally:
            self._watch = None

    def cancel(self) -> None:
        """End the question that runs, if there is one."""
        if self._watch is not None:
            self._watch.cancel()


# Errors of ours as PostgreSQL's clients see them: never with a foreign text.


def to_wire_error(error: Exception) -> WireError:
    """The same error on the wire, with its SQLSTATE and, where it points into a text, its place."""
    if not isinstance(error, AdomniaError):
        return as_wire_error(error)
    position = getattr(error, "position", None)
    return WireError(error.message, error.hint, error.sqlstate, position)


@contextmanager
def wire_errors() -> Iterator[None]:
    """What is refused in the block is refused as the protocol knows it."""
    try:
        yield
    except AdomniaError as error:
        raise to_wire_error(error) from None
