"""A visit: what one logged-in connection has set, prepared, opened and begun."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from adomnia.curator.watch import Watch
from adomnia.server.accounts import Person
from adomnia.server.service import Service
from adomnia.wire.catalogue.catalogue import Catalogue
from adomnia.wire.errors import WireError
from adomnia.wire.statements.portals import Portal, Prepared, Shelf
from adomnia.wire.statements.results import Notice
from adomnia.wire.statements.settings import Settings

__all__ = ["Visit"]

P = ParamSpec("P")
T = TypeVar("T")

IDLE, OPEN, FAILED = b"I", b"T", b"E"

LONG = 2000
"""A statement of more characters is read in a thread."""

MAX_PREPARED = 1 << 20
"""How many characters the prepared statements of one connection may have."""

MAX_SAVEPOINTS = 1000


class Visit:
    """One connection's state. Transactions change nothing but settings and cursors: what was paid
    stays paid.

    A person looks up one thing at a time (`lookups`), on however many connections: nobody's
    statements about the catalogue keep others waiting.
    """

    def __init__(
        self,
        service: Service,
        person: Person,
        settings: Settings,
        lookups: asyncio.Semaphore,
        name: str,
        process: int,
    ) -> None:
        self.service, self.person, self.lookups = service, person, lookups
        self.session = service.session(person)
        self.settings = self.lasting = settings
        self.catalogue = Catalogue(
            service.database,
            person.name,
            person.role,
            settings=_Shared(self),
            name=name,
            pid=process,
        )
        self.prepared: Shelf[Prepared] = Shelf("prepared statement", 1000, "26000")
        self.portals: Shelf[Portal] = Shelf("cursor", 100, "34000")
        self.status = IDLE
        self.is_batch = False
        self._before = settings
        self._has_paid = False
        self._savepoints: list[tuple[str, Settings, Settings]] = []
        self._watch: Watch | None = None

    def keep(self, name: str, prepared: Prepared) -> None:
        """Keep a prepared statement; all of them together are not too long."""
        kept = sum(len(each.sql) for each in self.prepared.values())
        if kept + len(prepared.sql) > MAX_PREPARED:
            raise WireError("the prepared statements are too long", "deallocate some", "53000")
        self.prepared.put(name, prepared, "42P05")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, in a thread, for somebody who still has their account."""
        return await self.service.run_for(self.person, function, *args, **kwargs)

    async def read(self, reader: Callable[[str], T], sql: str) -> T:
        """What a reader makes of a text; while a long one is read, others are served."""
        return reader(sql) if len(sql) <= LONG else await self.run(reader, sql)

    # Settings

    def set(self, name: str, value: str | None, local: bool = False) -> None:
        """Change a setting, for the visit or for the transaction."""
        changed = self.settings.set(name, value)
        if not local:
            self.lasting = self.lasting.set(name, value)
        self.settings = changed

    def reset(self) -> None:
        """All settings as they were at the start."""
        self.settings = self.lasting = self.lasting.reset()

    # Transactions

    @property
    def in_block(self) -> bool:
        """Whether something lasts beyond this statement."""
        return self.status != IDLE or self.is_batch

    def begin(self) -> None:
        """A transaction block begins."""
        self.status, self._before, self._has_paid = OPEN, self.lasting, False

    def end(self, keep: bool) -> tuple[Notice, ...]:
        """The block ends; kept or not, what was paid in it stays paid."""
        if not keep:
            self.lasting = self._before
        paid, self._has_paid = self._has_paid and not keep, False
        self.status, self._savepoints = IDLE, []
        self.settle()
        return (Notice("what was paid in this transaction stays spent"),) if paid else ()

    def settle(self) -> None:
        """Nothing of a transaction is left; only cursors WITH HOLD stay open."""
        if self.status == IDLE:
            self.settings, self.is_batch = self.lasting, False
            for name in [name for name, portal in self.portals.items() if not portal.holds]:
                del self.portals[name]

    def fail(self) -> None:
        """A statement failed: within a block nothing but its end is taken now."""
        if self.status == OPEN:
            self.status = FAILED

    def check(self, ends_failure: bool) -> None:
        """Refuses what comes after a failure, unless it ends the block."""
        if self.status == FAILED and not ends_failure:
            raise WireError(
                "the transaction has failed: nothing is done until it ends", "ROLLBACK it", "25P02"
            )

    def save(self, name: str) -> None:
        """Mark a place in the block to go back to."""
        if len(self._savepoints) >= MAX_SAVEPOINTS:
            raise WireError("there are too many savepoints", "release some", "53000")
        self._savepoints.append((name, self.settings, self.lasting))

    def release(self, name: str) -> None:
        """Forget a place and those after it."""
        del self._savepoints[self._place(name) :]

    def go_back(self, name: str) -> None:
        """Go back to a place: settings as they were there; a failure is over."""
        place = self._place(name)
        _, self.settings, self.lasting = self._savepoints[place]
        del self._savepoints[place + 1 :]
        self.status = OPEN

    def _place(self, name: str) -> int:
        for place in reversed(range(len(self._savepoints))):
            if self._savepoints[place][0] == name:
                return place
        raise WireError(f"there is no savepoint {name[:63]!r}", "", "3B001")

    def paid(self) -> None:
        """Something was paid in this block."""
        self._has_paid = True

    # Cancelling

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


class _Shared(MutableMapping[str, str]):
    """The settings of a visit as the catalogue sees them, and changes them by `set_config`."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit

    def __getitem__(self, name: str) -> str:
        return self._visit.settings.values[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._visit.set(name, value)

    def __delitem__(self, name: str) -> None:
        self._visit.set(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._visit.settings.values)

    def __len__(self) -> int:
        return len(self._visit.settings.values)
