"""The journal in PostgreSQL: for any number of processes on any number of machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import uuid4

from adomnia.errors import LedgerError
from adomnia.ledger.account import Account
from adomnia.ledger.check import Check
from adomnia.ledger.entry import Entry, Row
from adomnia.ledger.stores import postgres_database
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.postgres_connection import Interrupted, connect, failures
from adomnia.ledger.stores.store import Lock, Mark, Since
from adomnia.ledger.stores.stored_journal import Outcome, Pending, StoredJournal

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresJournal", "PostgresStore"]

PATIENCE = 30.0  # seconds; a server that restarts is back by then
Result = TypeVar("Result")


class PostgresJournal(StoredJournal):
    """A journal in two tables of a database (`ledger.md`).

    What was interrupted before it was stored is tried again, with everything decided anew.
    """

    _store: PostgresStore

    def __init__(
        self,
        address: LedgerAddress | str,
        create: bool = True,
        opening: Mapping[str, Any] | None = None,
    ) -> None:
        place = LedgerAddress.of(address) if isinstance(address, str) else address
        super().__init__(PostgresStore(place, create, opening))

    @classmethod
    def found(cls, address: LedgerAddress) -> Self | None:
        """The journal at this address; None where none was ever made."""
        try:
            return cls(address, create=False)
        except _NeverMade:
            return None

    def account(self) -> Account:
        """What all entries so far add up to, those of other machines included."""
        return _patiently(super().account)

    def _rows(self, after: int, limit: int, bodies: Collection[str] = ()) -> list[Row]:
        return _patiently(lambda: super(PostgresJournal, self)._rows(after, limit, bodies))

    def _turn(self, batch: list[Pending], durable: bool) -> list[Outcome]:
        # Around the turn, not in it: who waits for a server must not keep forks waiting.
        return _patiently(lambda: super(PostgresJournal, self)._turn(batch, durable))

    def _write(self, batch: list[Pending], durable: bool) -> list[Outcome]:
        if not self._account.number:
            super().account()  # long, so not while the others wait for the head
        return super()._write(batch, durable)


class PostgresStore:
    """The connection of one process, and the anchor of its machine where there is one."""

    def __init__(
        self, address: LedgerAddress, create: bool, opening: Mapping[str, Any] | None = None
    ) -> None:
        self.address = address
        self.lock = None if address.anchor is None else Lock(address.anchor, address)
        self._connection: Connection[Any] | None = None
        self._closed = False
        self._within = False
        self._entries: Sequence[Entry] = ()
        try:
            with failures(address):
                if not postgres_database.exists(self.connection, address):
                    self._make(create, opening)
        except LedgerError:
            self.close()
            raise

    @property
    def connection(self) -> Connection[Any]:
        """The connection of this process."""
        if self._closed:
            raise LedgerError("the ledger was closed")
        if self._connection is None:
            if self._within:
                raise Interrupted("the ledger's connection was lost in the middle")
            self._connection = connect(self.address)
        return self._connection

    def disconnect(self) -> None:
        """Let go of the connection; the next use makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def forked(self) -> None:
        """Leave the anchor's lock to the parent."""
        if self.lock is not None:
            self.lock.close()

    def close(self) -> None:
        """Let go of everything for good."""
        self._closed = True
        self.disconnect()
        self.forked()

    def held(self) -> AbstractContextManager[None]:
        """Queue with the writers that share the anchor; the database keeps all others apart."""
        return nullcontext() if self.lock is None else self.lock.held()

    @contextmanager
    def writing(self, after: int, durable: bool) -> Iterator[Since]:
        """One transaction, always durable: what any process can see is then never lost."""
        self._entries = ()
        with self._transaction(after) as since:
            yield since
            connection = self.connection
            if not self._entries:
                connection.execute("ROLLBACK")
        if self._entries:
            self._commit(connection)

    def since(self, after: int) -> Since:
        """What is new, in one consistent view of the ledger."""
        with self._using():
            return postgres_database.view(self.connection, self.address, after)

    def rows(self, after: int, limit: int | None = None, bodies: Collection[str] = ()) -> list[Row]:
        """The rows above number `after`, in order, with the bodies of entries of these kinds."""
        with self._using():
            if self._within:  # only heads are needed to decide
                return postgres_database.rows(self.connection, self.address, after, limit)
            return postgres_database.view(self.connection, self.address, after, limit, bodies)[1]

    def insert(self, entries: Sequence[Entry]) -> None:
        """Have entries and the new head written at the end of the transaction, with its commit."""
        self._entries = entries

    def anchor(self) -> Mark | None:
        """The last durable entry that this machine noted."""
        return None if self.lock is None else self.lock.anchor()

    def note(self, last: Mark) -> None:
        """Note the last durable entry on this machine."""
        if self.lock is not None:
            self.lock.note(*last)

    def check(self, seen: Mark) -> Check:
        """What a reading of everything, over a connection of its own, finds."""
        check = Check()
        try:
            # The anchor first: it is written after the entries, so it is never ahead of them.
            anchor = None if self.lock is None else self.lock.settled()
            with failures(self.address), connect(self.address) as connection:
                postgres_database.read(connection, self.address, check)
            check.marks(anchor, seen)
        except LedgerError as error:
            check.problem(error.message)
        return check

    @contextmanager
    def _using(self) -> Iterator[None]:
        """Use the connection; whatever goes wrong, the transaction ends with it."""
        try:
            with failures(self.address):
                yield
        except BaseException:
            self.disconnect()
            raise

    @contextmanager
    def _transaction(self, after: int) -> Iterator[Since]:
        """Everything over one connection: on a new one it would be outside the transaction."""
        with self._using():
            since = postgres_database.begin(self.connection, self.address, after)
            self._within = True
            try:
                yield since
            finally:
                self._within = False

    def _commit(self, connection: Connection[Any]) -> None:
        batch = uuid4().hex
        try:
            with self._using():
                postgres_database.commit(connection, self.address, self._entries, batch)
        except LedgerError:
            if not self._stored(batch):
                raise

    def _stored(self, batch: str) -> bool:
        """Whether what was written last is there, though its commit was not seen to succeed."""
        try:
            return _patiently(lambda: self._found(batch))
        except LedgerError as error:
            raise LedgerError(
                f"it is not known whether the last entries were stored: {error.message}",
                hint="what was stored stays spent; adomnia budget says how much that is",
            ) from error

    def _found(self, batch: str) -> bool:
        with self._using():
            return postgres_database.written(
                self.connection, self.address, self._entries[-1], batch
            )

    def _make(self, create: bool, opening: Mapping[str, Any] | None) -> None:
        if self.lock is not None:
            self.lock.never_made()
        if not create:
            raise _NeverMade(f"there is no ledger at {self.address}")
        postgres_database.make(self.connection, self.address, opening)


class _NeverMade(LedgerError):
    """There is no ledger, and nothing says that there ever was."""


def _patiently(work: Callable[[], Result]) -> Result:
    """Do what may be done again until it is not interrupted, or patience ends."""
    end, pause = time.monotonic() + PATIENCE, 0.02
    while True:
        try:
            return work()
        except Interrupted:
            if time.monotonic() + pause > end:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 1.0)
