"""Editions on a server: tables in a schema of their own, which their owner alone may read.

Everything is written in one transaction, which ends when the edition has its name: a crash leaves
nothing behind. Whoever owns a table of the schema decides what is in it, and the owner of the
schema which tables there are, so only the role's own are read, in a schema of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from adomnia.engines.edition_store import (
    EditionFacts,
    EditionName,
    Means,
    Relations,
    TablesFacts,
    if_found,
    surplus,
)
from adomnia.engines.engine import quietly
from adomnia.engines.postgres.connections import begin_writing, writing_connection
from adomnia.engines.postgres.dialect import PostgresDialect
from adomnia.engines.postgres.edition import EditionTables, PostgresEdition, write_edition
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.engines.postgres.relation import (
    PostgresRelation,
    find_relation,
    first_row,
    unreadable,
)
from adomnia.engines.postgres.tables_edition import PostgresTablesEdition, write_tables
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables
from adomnia.storage.address import shown_address

if TYPE_CHECKING:
    import psycopg

__all__ = ["SCHEMA", "EditionSchema"]

SCHEMA = "adomnia_editions"
"""The schema of editions, where the policy names no other."""

LOCK_TIMEOUT = 5
"""Seconds to wait for questions that read an edition which shall be erased; after these it stays
until the next load."""

_RIGHTS = """
SELECT pg_is_in_recovery(), n.oid IS NOT NULL,
       CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
       ELSE has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE') END,
       n.oid IS NULL OR pg_get_userbyid(n.nspowner) = current_user
FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = %s
"""

_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_roles o ON o.oid = c.relowner
WHERE n.nspname = %s AND c.relkind = 'r' AND o.rolname = current_user
  AND starts_with(c.relname, %s)
ORDER BY c.relname
"""

# Default privileges may let others read whatever the role makes.
_OTHERS = """
SELECT DISTINCT c.relname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
WHERE n.nspname = %s AND starts_with(c.relname, %s) AND a.grantee <> c.relowner
"""


class EditionSchema:
    """The editions of a table on a server, or of several, in a schema there."""

    def __init__(
        self, url: str, relation: str, schema: str | None = None, relations: Relations | None = None
    ) -> None:
        self._url, self._relation, self._relations = url, relation, relations or {}
        self._shown = shown_address(url)
        self.place = schema or SCHEMA

    @contextmanager
    def writing(self) -> Iterator[_SchemaWriter]:
        """A turn to write: loads of one table wait for each other."""
        with closing(quietly(lambda: writing_connection(self._url), self._lost)) as connection:
            quietly(lambda: self._prepare(connection), self._failed)
            quietly(lambda: self._begin(connection), self._failed)
            yield _SchemaWriter(self, connection, f"draft_{uuid4().hex}")

    def sources(self) -> Iterator[PostgreSQL]:
        """The table as it is, or each of several."""
        for relation in [name for _, name in self._relations.values()] or [self._relation]:
            yield PostgreSQL(self._url, relation, {})

    def open(
        self, name: EditionName, table: Table | Tables
    ) -> PostgresEdition | PostgresTablesEdition | None:
        """The engine that asks an edition; None where it is not there, or somebody else's."""
        label, places = f"edition {name.number}", EditionTables(self.place, str(name))
        if isinstance(table, Tables):
            return if_found(PostgresTablesEdition(self._url, places, table, label))
        return if_found(PostgresEdition(self._url, places, table, label))

    def write(
        self, connection: psycopg.Connection[Any], draft: str, table: Table | Tables, means: Means
    ) -> EditionFacts | TablesFacts:
        """Write an edition under a name that means nothing, in the transaction that was begun."""
        places = EditionTables(self.place, draft)
        facts: EditionFacts | TablesFacts
        if isinstance(table, Tables):
            sources = {name: self._found(connection, name, means) for name in table.tables}
            facts = write_tables(connection, sources, table, places, means)
        else:
            source = find_relation(connection, self._relation, self._shown)
            source.warn()
            facts = write_edition(connection, source, table, places, means)
        for name, grantee in connection.execute(_OTHERS, [self.place, draft]).fetchall():
            _run(connection, f"REVOKE ALL ON {self._said(name)} FROM {grantee}")
        return facts

    def _found(
        self, connection: psycopg.Connection[Any], name: str, means: Means
    ) -> PostgresRelation:
        """One of several tables."""
        with means.about(name):
            found = find_relation(connection, self._relations[name][1], self._shown)
        found.warn()
        return found

    def publish(self, connection: psycopg.Connection[Any], draft: str, name: str) -> None:
        """Give the tables of a draft the names of an edition, and end the transaction."""
        self._drop(connection, name)  # of a ledger that went back: it knows no such number
        for table in self._tables(connection, draft):
            renamed = PostgresDialect().quoted(name + table.removeprefix(draft))
            _run(connection, f"ALTER TABLE {self._said(table)} RENAME TO {renamed}")
        _run(connection, "COMMIT")

    def editions(self, connection: psycopg.Connection[Any]) -> list[str]:
        """The names of all editions that are there and the role's own."""
        with _transaction(connection):
            found = connection.execute(_TABLES, [self.place, ""]).fetchall()
        names = {EditionName.read(table) for (table,) in found}
        return sorted(str(name) for name in names if name is not None)

    def erase(self, connection: psycopg.Connection[Any], names: Sequence[str]) -> None:
        """Remove editions, each on its own."""
        for edition in names:
            with suppress_errors(), _transaction(connection):
                _run(connection, f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}s'")
                self._drop(connection, edition)

    def _drop(self, connection: psycopg.Connection[Any], name: str) -> None:
        for table in self._tables(connection, name):
            _run(connection, f"DROP TABLE {self._said(table)}")

    def _tables(self, connection: psycopg.Connection[Any], name: str) -> list[str]:
        """The role's own tables with this name, or with more after it."""
        found = connection.execute(_TABLES, [self.place, name]).fetchall()
        return [table for (table,) in found if table == name or table.startswith(f"{name}_")]

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        """Make the schema where there is none; refuse a role that may not."""
        with _transaction(connection):
            _lock(connection, f"adomnia editions {self.place}")
            standby, there, allowed, own = first_row(connection.execute(_RIGHTS, [self.place]))
            if not allowed:
                what = "make tables in" if there else "make"
                raise self._refused(f"the role may not {what} the schema {self.place!r}")
            if not own:
                raise self._refused(f"the schema {self.place!r} is not the role's own")
            if standby:
                raise self._refused("nothing can be written to the replica")
            if not there:
                say = PostgresDialect().quoted(self.place)
                _run(connection, f"CREATE SCHEMA {say}; REVOKE ALL ON SCHEMA {say} FROM PUBLIC")

    def _begin(self, connection: psycopg.Connection[Any]) -> None:
        begin_writing(connection, one_moment=bool(self._relations))
        relations = sorted(relation for _, relation in self._relations.values())
        _lock(connection, " ".join(["adomnia editions", self.place, self._relation, *relations]))

    def _refused(self, why: str) -> PolicyError:
        say = PostgresDialect().quoted(self.place)
        return PolicyError(
            f"{why} at {self._shown}, so no edition can be written there",
            f"let the database's owner run CREATE SCHEMA {say} AUTHORIZATION and the role's name, "
            f"or ALTER SCHEMA {say} OWNER TO and its name where the schema is there; "
            "or say in_place = true in [data]: the table is then read as it is at each question, "
            "which promises less (docs/sources.md)",
        )

    def _said(self, table: str) -> str:
        say = PostgresDialect().quoted
        return f"{say(self.place)}.{say(table)}"

    def _failed(self, kind: str) -> AdomniaError:
        return unreadable(self._shown, kind)

    def _lost(self, kind: str) -> AdomniaError:
        return MachineryError(
            f"the source {self._shown} cannot be reached ({kind})",
            "is the server up, and are host, database, role and password right?",
        )


@dataclass(frozen=True)
class _SchemaWriter:
    """Writes one edition in the transaction that was begun."""

    store: EditionSchema
    connection: psycopg.Connection[Any]
    draft: str

    def write(self, table: Table | Tables, means: Means) -> EditionFacts | TablesFacts:
        """Read the source once and write what it holds."""
        work = partial(self.store.write, self.connection, self.draft, table, means)
        return quietly(work, self.store._failed)

    def drafted(self, table: Tables) -> None:
        """Nothing is seen of it before it is published."""
        return

    def source_version(self) -> str | None:
        """Which state of the table is there now, if the server counts what changes in it."""
        found = []
        for source in self.store.sources():
            with closing(source):
                found.append(source.version() if source.is_counted() else None)
        return None if None in found else " ".join(map(str, found))

    def publish(self, name: EditionName) -> None:
        """Put it in its place."""
        work = partial(self.store.publish, self.connection, self.draft, str(name))
        quietly(work, self.store._lost)

    def erase(self, ledger: str, known: Collection[int], keep: int) -> None:
        """Remove all but the last; who reads one is waited for."""
        with suppress_errors():
            there = self.store.editions(self.connection)
            self.store.erase(self.connection, surplus(there, ledger, known, keep))


@contextmanager
def suppress_errors() -> Iterator[None]:
    """What fails here is done by the next load."""
    from psycopg import Error  # noqa: PLC0415 (an extra)

    with suppress(Error):
        yield


@contextmanager
def _transaction(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """One that is committed where the block comes to its end."""
    begin_writing(connection)
    try:
        yield
    except BaseException:
        with suppress_errors():
            _run(connection, "ROLLBACK")
        raise
    _run(connection, "COMMIT")


def _lock(connection: psycopg.Connection[Any], what: str) -> None:
    """Wait for others who do this; whoever ends the transaction lets the next one do it."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [what])


def _run(connection: psycopg.Connection[Any], statement: str) -> None:
    connection.execute(statement.encode())
