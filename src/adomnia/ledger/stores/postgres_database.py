"""The PostgreSQL database itself: how a ledger in it is made, recognised, and written.

One table holds the entries of all ledgers of the database, another their heads. Locking a head's
row makes its owner the only writer; everything else needs no more than the right to insert.

Every statement names its tables with their schema, and every transaction finds all else in
`pg_catalog`: what a role has on its search path, temporary tables included, changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adomnia.errors import LedgerError
from adomnia.ledger.check import Check
from adomnia.ledger.entry import KINDS, ROOT, Entry, Row, canonical, chained, opened
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.postgres_connection import Interrupted
from adomnia.ledger.stores.store import Since, earlier, only_head

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

__all__ = ["begin", "commit", "exists", "make", "read", "rows", "view", "written"]

IDLE = 20  # seconds; a writer whose machine is gone keeps the others waiting no longer
WAIT = 30  # seconds; for the other writers, all together
MAKING = 0x41444F4D  # "ADOM": an advisory lock, held while tables are made
NAMES = ("adomnia_journal", "adomnia_head")
TABLES = """
    CREATE TABLE @.adomnia_journal (
        ledger TEXT NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL,
        head TEXT NOT NULL, body_digest BYTEA, digest BYTEA NOT NULL, batch TEXT NOT NULL,
        body TEXT, PRIMARY KEY (ledger, number));
    CREATE TABLE @.adomnia_head (
        ledger TEXT PRIMARY KEY, number BIGINT, digest BYTEA) WITH (fillfactor = 10)
"""
# pg_temp is named last, because it would be searched first where it is not named.
ALWAYS = "SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL statement_timeout = 0"
BEGIN = f"""
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {ALWAYS};
    SET LOCAL synchronous_commit = on;
    SET LOCAL lock_timeout = '{WAIT}s';
    SET LOCAL idle_in_transaction_session_timeout = '{IDLE}s'
"""
VIEW = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {ALWAYS}"
FOUND = """
    SELECT nspname::text, relname::text, relkind::text, relpersistence::text,
        EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'previous')
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relname = ANY (%(names)s) AND relpersistence <> 't' ORDER BY nspname
"""
HEAD = "SELECT number, digest FROM @.adomnia_head WHERE ledger = %(ledger)s"
ROWS = """
    SELECT number, at, kind, head, body_digest, digest FROM @.adomnia_journal
    WHERE ledger = %(ledger)s AND number > %(after)s ORDER BY number LIMIT %(limit)s
"""
BODIES = ROWS.replace("digest FROM", "digest, CASE WHEN kind = ANY (%(kinds)s) THEN body END FROM")
# Dividing by the number of heads that were moved: no head, an error, and COMMIT is not reached.
INSERT = """
    WITH written AS (
        INSERT INTO @.adomnia_journal
            (ledger, batch, number, at, kind, head, body_digest, digest, body)
        SELECT %(ledger)s, %(batch)s, * FROM unnest(
            %(number)s::bigint[], %(at)s::bigint[], %(kind)s::text[], %(head)s::text[],
            %(body_digest)s::bytea[], %(digest)s::bytea[], %(body)s::text[])
        RETURNING 1),
    moved AS (
        UPDATE @.adomnia_head SET number = %(last)s, digest = %(end)s
        WHERE ledger = %(ledger)s AND number = %(before)s AND digest = %(start)s
            AND (SELECT count(*) FROM written) = %(count)s
        RETURNING 1)
    SELECT 1 / count(*) FROM moved
"""
WRITTEN = """
    SELECT 1 FROM @.adomnia_journal
    WHERE ledger = %(ledger)s AND number = %(number)s AND digest = %(digest)s AND batch = %(batch)s
"""


def exists(connection: Connection[Any], address: LedgerAddress) -> bool:
    """Whether anything of the ledger is there."""
    connection.execute(VIEW)
    found = _exists(connection, address)
    connection.execute("ROLLBACK")
    return found


def make(
    connection: Connection[Any], address: LedgerAddress, more: Mapping[str, Any] | None = None
) -> None:
    """Make the tables, where they are missing, and the ledger's head and first entry."""
    connection.execute(BEGIN)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
    if _exists(connection, address):  # another process was first
        connection.execute("ROLLBACK")
        return
    if not _tables(connection, address):
        _refuse_second(connection, address)
        _run(connection, address, TABLES)
    head = "INSERT INTO @.adomnia_head VALUES (%(ledger)s, 0, %(root)s)"
    _run(connection, address, head, root=ROOT)
    commit(connection, address, [chained(opened(more), 1, ROOT)], batch="")


def begin(connection: Connection[Any], address: LedgerAddress, after: int) -> Since:
    """Begin to write: wait until no other writer is left, and give what they left.

    READ COMMITTED: the rows are read after the lock is had, and so are all there are.
    """
    statements = f"{BEGIN}; {HEAD} FOR UPDATE; {ROWS}"
    heads, found = _results(_run(connection, address, statements, after=after, limit=None))
    return only_head(heads, address), found


def view(
    connection: Connection[Any],
    address: LedgerAddress,
    after: int,
    limit: int | None = None,
    bodies: Collection[str] = (),
) -> Since:
    """The head and the rows above number `after`, in order, in one consistent view.

    With `bodies`, those of entries of these kinds are in a last column.
    """
    statements = f"{VIEW}; {HEAD}; {BODIES if bodies else ROWS}; ROLLBACK"
    values = {"after": after, "limit": limit, "kinds": list(bodies)}
    heads, found = _results(_run(connection, address, statements, **values))
    return only_head(heads, address), found


def rows(
    connection: Connection[Any], address: LedgerAddress, after: int, limit: int | None = None
) -> list[Row]:
    """The rows above number `after`, in order, inside a transaction."""
    return _run(connection, address, ROWS, after=after, limit=limit).fetchall()


def commit(
    connection: Connection[Any], address: LedgerAddress, entries: Sequence[Entry], batch: str
) -> None:
    """Write entries, marked with a batch, and the new head, and end the transaction with them."""
    first, last = entries[0], entries[-1]
    cursor = _run(
        connection,
        address,
        f"{INSERT}; COMMIT",
        batch=batch,
        number=[line.number for line in entries],
        at=[line.moment for line in entries],
        kind=[line.kind for line in entries],
        head=[canonical(line.head) for line in entries],
        body_digest=[line.body_digest for line in entries],
        digest=[line.digest for line in entries],
        body=[line.text for line in entries],
        **{"last": last.number, "end": last.digest, "count": len(entries)},
        **{"before": first.number - 1, "start": first.previous},
    )
    _results(cursor)
    if cursor.statusmessage != "COMMIT":  # a transaction that failed is rolled back, without error
        raise Interrupted("the ledger's transaction was rolled back")


def written(connection: Connection[Any], address: LedgerAddress, last: Entry, batch: str) -> bool:
    """Whether a transaction whose end was not seen was stored.

    Its own lock on the head is waited for first, so that it is over, one way or the other.
    """
    statements = f"{BEGIN}; {HEAD} FOR UPDATE; {WRITTEN}; ROLLBACK"
    mark = {"number": last.number, "digest": last.digest, "batch": batch}
    heads, found = _results(_run(connection, address, statements, **mark))
    only_head(heads, address)
    return bool(found)


def read(connection: Connection[Any], address: LedgerAddress, check: Check) -> None:
    """Hand everything in the ledger, in one consistent view, to a check."""
    connection.execute(VIEW)
    with connection.cursor("adomnia") as cursor:
        cursor.itersize = 100
        everything = {"after": -(2**63), "limit": None, "kinds": list(KINDS)}
        values = {"ledger": address.ledger, **everything}
        check.rows(cursor.execute(_placed(BODIES, address), values))
    heads = _run(connection, address, HEAD).fetchall()
    if len(heads) == 1:
        check.end(*heads[0])
    else:
        check.problem("the head is missing")


def _exists(connection: Connection[Any], address: LedgerAddress) -> bool:
    if not _tables(connection, address):
        return False
    return bool(_run(connection, address, HEAD).fetchall() or rows(connection, address, 0, 1))


def _tables(connection: Connection[Any], address: LedgerAddress) -> bool:
    """Whether the tables are there; one alone, or one that a crash would empty, is refused."""
    found = _found(connection)
    if any(old for schema, *_, old in found if schema == address.schema):
        raise earlier(address)
    kinds = {name: kind for schema, name, *kind, _ in found if schema == address.schema}
    if any(kind != ["r", "p"] for kind in kinds.values()):
        raise LedgerError(f"the ledger {address} is in a table that does not survive a crash")
    if len(kinds) == 1:
        raise LedgerError(
            f"the ledger {address} is damaged: of its two tables only {min(kinds)} is there",
            hint="restore the database, up to its last entry",
        )
    return bool(kinds)


def _refuse_second(connection: Connection[Any], address: LedgerAddress) -> None:
    """A database has one place for ledgers: two would let everyone spend everything twice.

    What lies elsewhere is not looked into. It may belong to a stranger, and reading a view would
    run the stranger's functions with our rights.
    """
    for schema, name, *_ in _found(connection):
        raise LedgerError(
            f"the ledger {address} is not begun: the schema {schema} of this database "
            f"has the table {name} of a ledger already",
            hint=f"name it in the address with schema={schema}, or remove it there",
        )


def _found(connection: Connection[Any]) -> list[tuple[str, str, str, str, bool]]:
    return connection.execute(FOUND, {"names": list(NAMES)}).fetchall()


def _run(
    connection: Connection[Any], address: LedgerAddress, statements: str, **values: object
) -> Cursor[Any]:
    """Send statements at once; if one fails, those after it are not run."""
    return connection.execute(_placed(statements, address), {"ledger": address.ledger, **values})


def _placed(statements: str, address: LedgerAddress) -> str:
    """Statements with the ledger's schema in the place of `@`."""
    return statements.replace("@", f'"{address.schema}"')


def _results(cursor: Cursor[Any]) -> list[list[Row]]:
    """What each of several statements selected; those that select nothing are left out."""
    found = []
    while True:
        if cursor.description is not None:
            found.append(cursor.fetchall())
        if not cursor.nextset():
            return found
