"""The PostgreSQL database itself: how a ledger in it is made, recognised, and written.

One table holds the entries of all ledgers of the database, another their heads. Locking a head's
row makes its owner the only writer; everything else needs no more than the right to insert.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adomnia.errors import LedgerError
from adomnia.ledger.address import Address
from adomnia.ledger.check import Check
from adomnia.ledger.entry import ROOT, Entry, canonical, chained, opened
from adomnia.ledger.store import Mark, only_head

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = [
    "Interrupted",
    "begin",
    "commit",
    "connect",
    "exists",
    "failures",
    "insert",
    "make",
    "read",
    "rows",
    "view",
    "written",
]

IDLE = 20  # seconds; a writer whose machine is gone keeps the others waiting no longer
WAIT = 30  # seconds; for the other writers, all together
MAKING = 0x41444F4D  # "ADOM": an advisory lock, held while tables are made
TABLES = """
    CREATE TABLE adomnia_journal (
        ledger TEXT NOT NULL, number BIGINT NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
        body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL, batch TEXT NOT NULL,
        PRIMARY KEY (ledger, number));
    CREATE TABLE adomnia_head (
        ledger TEXT PRIMARY KEY, number BIGINT, digest TEXT) WITH (fillfactor = 10);
"""
BEGIN = f"""
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL synchronous_commit = on;
    SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = '{WAIT}s';
    SET LOCAL idle_in_transaction_session_timeout = '{IDLE}s'
"""
VIEW = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0"
HEAD = "SELECT number, digest FROM adomnia_head WHERE ledger = %s"
ROWS = """
    SELECT number, at, kind, body, previous, digest FROM adomnia_journal
    WHERE ledger = %s AND number > %s ORDER BY number LIMIT %s
"""
INSERT = """
    WITH written AS (
        INSERT INTO adomnia_journal (ledger, batch, number, at, kind, body, previous, digest)
        SELECT %s, %s, * FROM unnest(
            %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
        RETURNING 1)
    UPDATE adomnia_head SET number = %s, digest = %s
    WHERE ledger = %s AND number = %s AND digest = %s AND (SELECT count(*) FROM written) = %s
"""
WRITTEN = """
    SELECT 1 FROM adomnia_journal
    WHERE ledger = %s AND number = %s AND digest = %s AND batch = %s
"""
NAMES = ("adomnia_journal", "adomnia_head")
PERSISTENCE = "SELECT relpersistence::text FROM pg_class WHERE oid = to_regclass(%s)"
AGAIN = {"40001", "40P01", "53300", "55P03", "57P01", "57P02", "57P03", "57P05", "25P03"}
"""SQLSTATEs of what may go well next time: conflicts, a long wait, a server that restarts."""


class Interrupted(LedgerError):
    """The connection or the transaction was lost: nothing was stored, and it may be tried again."""


@contextmanager
def failures(address: Address) -> Iterator[None]:
    """Turn what PostgreSQL raises into one line for a person."""
    psycopg = _psycopg()
    try:
        yield
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:  # it may repeat the address, password and all
            raise LedgerError(
                f"the ledger {address} cannot be used: its address is not understood"
            ) from None
        raise _failure(address, error) from error
    except psycopg.Error as error:
        raise _failure(address, error) from error
    except UnicodeError as error:
        raise LedgerError(f"the ledger {address} is damaged: a text in it is broken") from error


def connect(address: Address) -> Connection[Any]:
    """A connection to a server that keeps what it acknowledges; any other is refused."""
    connection: Connection[Any] = _psycopg().connect(
        address.conninfo,
        autocommit=True,
        client_encoding="UTF8",
        **_defaults(address.conninfo),
    )
    try:
        for setting in () if address.unsafe else ("fsync", "full_page_writes"):
            if connection.execute("SELECT current_setting(%s)", (setting,)).fetchone() != ("on",):
                raise LedgerError(
                    f"the server of the ledger {address} runs with {setting} = off: "
                    "what is paid could be lost",
                    hint=f"set {setting} = on there",
                )
    except BaseException:
        connection.close()
        raise
    return connection


def exists(connection: Connection[Any], address: Address) -> bool:
    """Whether anything of the ledger is there."""
    if not _tables(connection, address):
        return False
    heads = connection.execute(HEAD, (address.ledger,)).fetchall()
    return bool(heads or rows(connection, address, 0, 1))


def make(connection: Connection[Any], address: Address) -> None:
    """Make the tables, where they are missing, and the ledger's head and first entry."""
    connection.execute(BEGIN)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
    if not exists(connection, address):  # or another process was first
        if not _tables(connection, address):
            connection.execute(TABLES)
        connection.execute("INSERT INTO adomnia_head VALUES (%s, 0, %s)", (address.ledger, ROOT))
        insert(connection, address, [chained(opened(), 1, ROOT)], batch="")
    commit(connection)


def begin(connection: Connection[Any], address: Address) -> Mark:
    """Begin to write: wait until no other writer is left, and give the head as they left it."""
    connection.execute(BEGIN)
    found = connection.execute(f"{HEAD} FOR UPDATE", (address.ledger,)).fetchall()
    return only_head(found, address)


def view(connection: Connection[Any], address: Address) -> Mark:
    """Begin to read in one consistent view, and give the head in it."""
    connection.execute(VIEW)
    return only_head(connection.execute(HEAD, (address.ledger,)).fetchall(), address)


def rows(
    connection: Connection[Any], address: Address, after: int, limit: int | None = None
) -> list[tuple[Any, ...]]:
    """The rows above number `after`, in order."""
    return connection.execute(ROWS, (address.ledger, after, limit)).fetchall()


def insert(
    connection: Connection[Any], address: Address, entries: Sequence[Entry], batch: str
) -> None:
    """Write entries, marked with a batch, and the new head, inside a transaction."""
    first, last = entries[0], entries[-1]
    columns = (
        [line.number for line in entries],
        [line.at for line in entries],
        [line.kind for line in entries],
        [canonical(line.body) for line in entries],
        [line.previous for line in entries],
        [line.digest for line in entries],
    )
    ends = (last.number, last.digest, address.ledger, first.number - 1, first.previous)
    done = connection.execute(INSERT, (address.ledger, batch, *columns, *ends, len(entries)))
    if done.rowcount != 1:
        raise LedgerError(f"the ledger {address} did not take the entries: something holds them up")


def commit(connection: Connection[Any]) -> None:
    """Commit; a transaction that had failed before would only be rolled back, without an error."""
    if connection.execute("COMMIT").statusmessage != "COMMIT":
        raise Interrupted("the ledger's transaction was rolled back")


def written(connection: Connection[Any], address: Address, last: Entry, batch: str) -> bool:
    """Whether a transaction whose end was not seen was stored.

    Its own lock on the head is waited for first, so that it is over, one way or the other.
    """
    begin(connection, address)
    found = connection.execute(
        WRITTEN, (address.ledger, last.number, last.digest, batch)
    ).fetchone()
    connection.execute("ROLLBACK")
    return found is not None


def read(connection: Connection[Any], address: Address, check: Check) -> None:
    """Hand everything in the ledger, in one consistent view, to a check."""
    connection.execute(VIEW)
    with connection.cursor("adomnia") as cursor:
        cursor.itersize = 10_000
        check.rows(cursor.execute(ROWS, (address.ledger, -(2**63), None)))
    heads = connection.execute(HEAD, (address.ledger,)).fetchall()
    if len(heads) == 1:
        check.end(*heads[0])
    else:
        check.problem("the head is missing")


def _tables(connection: Connection[Any], address: Address) -> bool:
    """Whether the tables are there; one that a crash would empty is refused."""
    kinds = [connection.execute(PERSISTENCE, (name,)).fetchone() for name in NAMES]
    if any(kind is not None and kind[0] != "p" for kind in kinds):
        raise LedgerError(f"the ledger {address} is in a table that does not survive a crash")
    return None not in kinds


def _psycopg() -> Any:
    """The driver, loaded when a ledger in PostgreSQL is first used."""
    try:
        import psycopg  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise LedgerError(
            "a ledger in PostgreSQL needs psycopg", hint='pip install "adomnia[postgres]"'
        ) from error
    return psycopg


def _defaults(conninfo: str) -> dict[str, Any]:
    """How soon a dead server is noticed, where the address does not say it."""
    ours = {
        "application_name": "adomnia",
        "connect_timeout": 10,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
    }
    return {key: value for key, value in ours.items() if f"{key}=" not in conninfo}


def _failure(address: Address, error: Any) -> LedgerError:
    state = error.sqlstate
    lost = state is None and isinstance(error, _psycopg().OperationalError)
    again = lost or state in AGAIN or str(state).startswith("08")
    reason = error.diag.message_primary or (str(error).strip().splitlines() or ["it failed"])[0]
    message = f"the ledger {address} cannot be used: PostgreSQL: {reason}"
    return Interrupted(message) if again else LedgerError(message, _hint(state))


def _hint(state: str | None) -> str:
    """What to do about the failures that setting up a database makes likely."""
    if state == "42501":  # insufficient privilege
        return "docs/ledger.md says which rights a role needs, and who makes the tables"
    if state == "25006":  # read-only transaction
        return "this server is a standby: name the primary, or use target_session_attrs=read-write"
    return ""
