"""What one logged-in connection has set, prepared, opened and begun."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

from adomnia.wire.errors import WireError
from adomnia.wire.statements.portals import NamedRegistry, Portal, PreparedStatement
from adomnia.wire.statements.results import Notice
from adomnia.wire.statements.settings import Settings

__all__ = ["FAILED", "IDLE", "OPEN", "ConnectionState", "SharedSettings"]

IDLE, OPEN, FAILED = b"I", b"T", b"E"

MAX_PREPARED = 1 << 20
"""How many characters the prepared statements of one connection may have."""

MAX_SAVEPOINTS = 1000


class ConnectionState:
    """One connection's state. Transactions change nothing but settings and cursors: there is no
    data here to be written.
    """

    def __init__(self, user: str, settings: Settings) -> None:
        self.user = user
        self.settings = self.lasting = settings
        self.prepared: NamedRegistry[PreparedStatement] = NamedRegistry(
            "prepared statement", 1000, "26000"
        )
        self.portals: NamedRegistry[Portal] = NamedRegistry("cursor", 100, "34000")
        self.status = IDLE
        self.is_batch = False
        self._before = settings
        self._irrevocable: Notice | None = None
        self._savepoints: list[tuple[str, Settings, Settings]] = []

    def keep(self, name: str, prepared: PreparedStatement) -> None:
        """Keep a prepared statement; all of them together are not too long."""
        length = sum(len(each.sql) for each in self.prepared.values())
        if length + len(prepared.sql) > MAX_PREPARED:
            raise WireError("the prepared statements are too long", "deallocate some", "53000")
        self.prepared.put(name, prepared, "42P05")

    # Settings

    def set(self, name: str, value: str | None, local: bool = False) -> None:
        """Change a setting, for the connection or for the transaction."""
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
        self.status, self._before, self._irrevocable = OPEN, self.lasting, None

    def end(self, keep: bool) -> tuple[Notice, ...]:
        """The block ends; what is told then is what was done in it and cannot be undone."""
        if not keep:
            self.lasting = self._before
        stays, self._irrevocable = None if keep else self._irrevocable, None
        self.status, self._savepoints = IDLE, []
        self.settle()
        return () if stays is None else (stays,)

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
        """Forget a savepoint and those after it."""
        del self._savepoints[self._index(name) :]

    def go_back(self, name: str) -> None:
        """Go back to a savepoint: settings as they were there; a failure is over."""
        index = self._index(name)
        _, self.settings, self.lasting = self._savepoints[index]
        del self._savepoints[index + 1 :]
        self.status = OPEN

    def _index(self, name: str) -> int:
        for index in reversed(range(len(self._savepoints))):
            if self._savepoints[index][0] == name:
                return index
        raise WireError(f"there is no savepoint {name[:63]!r}", "", "3B001")

    def stays_done(self, notice: Notice) -> None:
        """Something was done in this block that a ROLLBACK does not undo, and then says."""
        self._irrevocable = notice


class SharedSettings(MutableMapping[str, str]):
    """The settings of a connection as its catalogue sees them, and changes them by `set_config`."""

    def __init__(self, state: ConnectionState) -> None:
        self._state = state

    def __getitem__(self, name: str) -> str:
        return self._state.settings.values[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._state.set(name, value)

    def __delitem__(self, name: str) -> None:
        self._state.set(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.settings.values)

    def __len__(self) -> int:
        return len(self._state.settings.values)
