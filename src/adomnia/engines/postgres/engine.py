"""PostgreSQL: a table, a view or a partitioned table on a server, read by a role that only reads.

The exact part of a question is one statement that the server computes, so only groups leave it and
the table may be larger than this machine. No object is made on the server. `docs/sources.md` says
how to make the role.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.exact import Survey
from adomnia.engines.interrupts import interruptible
from adomnia.engines.postgres.connections import reading_pool
from adomnia.engines.postgres.dialect import PostgresDialect
from adomnia.engines.sql.coding import coded
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.engines.sql.statement import DATA
from adomnia.engines.survey import survey
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.schema.domain import Categories, Domain
from adomnia.storage.address import shown_address

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgreSQL"]

_TABLES = """
SELECT c.oid, n.nspname, c.relname,
       has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'),
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT'),
       n.nspname || '.' || c.relname = %s::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema'
  AND n.nspname !~ '^pg_' AND %s::text IN (c.relname, n.nspname || '.' || c.relname)
ORDER BY n.nspname
"""

# A domain is what it stands on; a column that the role may not read is none.
_COLUMNS = """
WITH RECURSIVE based(place, name, type, modifier) AS (
    SELECT attnum, attname, atttypid, atttypmod FROM pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
      AND has_column_privilege(attrelid, attnum, 'SELECT')
    UNION ALL
    SELECT place, name, typbasetype, typtypmod FROM based JOIN pg_type t ON t.oid = based.type
    WHERE typtype = 'd')
SELECT name, format_type(type, modifier) FROM based JOIN pg_type t ON t.oid = based.type
WHERE typtype <> 'd' ORDER BY place
"""

_SERVER = """
SELECT current_setting('server_encoding'),
       (SELECT collname FROM pg_collation WHERE collname IN ('pg_c_utf8', 'C.utf8', 'und-x-icu')
        AND collnamespace = 'pg_catalog'::regnamespace
        ORDER BY array_position(ARRAY['pg_c_utf8', 'C.utf8', 'und-x-icu'], collname::text) LIMIT 1)
"""

# What the server counts of each part of a table, where those are its own tables and it counts.
_PARTS = """
WITH RECURSIVE part(id) AS (
    SELECT %s::oid UNION SELECT inhrelid FROM pg_inherits JOIN part ON inhparent = part.id)
SELECT id::bigint, relkind::text, pg_relation_filenode(id)::bigint, pg_stat_get_tuples_inserted(id),
       pg_stat_get_tuples_updated(id), pg_stat_get_tuples_deleted(id)
FROM part JOIN pg_class ON pg_class.oid = part.id ORDER BY id
"""
_MOMENT = """
SELECT current_setting('track_counts')::boolean AND NOT pg_is_in_recovery(),
       pg_stat_get_db_stat_reset_time(d.oid)::text, pg_stat_get_bgwriter_stat_reset_time()::text,
       txid_snapshot_xmax(txid_current_snapshot()), clock_timestamp()::text, d.oid::bigint
FROM pg_database d WHERE datname = current_database()
"""


@dataclass(frozen=True)
class _Relation:
    """The private table on the server."""

    oid: int
    schema: str
    name: str
    writable: bool


class PostgreSQL(SqlEngine):
    """A table on a server; several threads may ask at once."""

    def __init__(self, url: str, table: str, domains: Mapping[str, Domain]) -> None:
        self._place = shown_address(url)
        self._connections = reading_pool(url)
        self._held: psycopg.Connection[Any] | None = None
        try:
            with self.snapshot() as moment:
                quietly(lambda: self._open(moment._connection, table), self._unreadable)
            quietly(lambda: _check(self._types, domains, self._dialect), self._unreadable)
        except BaseException:
            self.close()
            raise
        if self._table.writable:
            warnings.warn(
                f"the role that reads {self._table.name!r} could also change it; "
                "use one that may only read (docs/sources.md)",
                stacklevel=2,
            )

    def ready(self) -> None:
        """Connect anew where the connection was lost."""
        with self.snapshot():
            pass

    def version(self) -> str:
        """A digest that changes when the data does, without reading a row.

        The server counts the rows that were ever added, changed and deleted in each part of a
        table; a rewritten part has another file, and counters that were reset another time. A
        counter can lag some seconds behind, and an old answer may be given again so long. Of what
        has no counters (a view, a replica) any transaction is a change; a foreign table is new
        each time.
        """
        with self.snapshot() as moment:
            facts = quietly(lambda: self._facts(moment._connection), self._lost)
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    @contextmanager
    def snapshot(self) -> Iterator[PostgreSQL]:
        """The engine for one question: all that is read through it is of one moment."""
        if self._held is not None:
            yield self
            return
        with ExitStack() as stack:
            opening = self._connections.connection()
            connection = quietly(lambda: stack.enter_context(opening), self._lost)
            moment = copy(self)
            moment._held = connection
            yield moment

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        with self.snapshot() as moment:
            return quietly(
                lambda: survey(self._types, DATA, moment._fetched, self._dialect), self._unreadable
            )

    def close(self) -> None:
        """Let go of the server."""
        self._connections.close()

    # Asking

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.snapshot() as moment:
            return quietly(lambda: moment._fetched(statement), unanswered)

    def _arrays(self, statement: str) -> list[NDArray[Any]]:
        with self.snapshot() as moment:
            return quietly(lambda: moment._turned(statement), unanswered)

    def _fetched(self, statement: str) -> list[tuple[Any, ...]]:
        found = self._executed(statement).fetchall()
        return [tuple(map(_plain, row)) for row in found]

    def _turned(self, statement: str) -> list[NDArray[Any]]:
        cursor = self._executed(statement)
        width, rows = len(cursor.description or ()), cursor.fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * width
        return [_array(column) for column in columns]

    def _executed(self, statement: str) -> psycopg.Cursor[Any]:
        with interruptible(self._connection.cancel):
            text = f"WITH {DATA} AS NOT MATERIALIZED ({self._reading}) {statement}"
            return self._connection.execute(text.encode())

    @property
    def _connection(self) -> psycopg.Connection[Any]:
        assert self._held is not None
        return self._held

    # Opening

    def _open(self, connection: psycopg.Connection[Any], table: str) -> None:
        encoding, folding = _one(connection.execute(_SERVER))
        if encoding != "UTF8":
            raise PolicyError(f"the database {self._place} is not in UTF8", "make it one that is")
        self._table = _relation(
            connection.execute(_TABLES, [table, table]).fetchall(), table, self._place
        )
        self._types = dict(connection.execute(_COLUMNS, [self._table.oid]).fetchall())
        self._dialect = dialect = PostgresDialect(folding or "C")
        columns = [dialect.read(name, kind) for name, kind in self._types.items()]
        source = ".".join(map(dialect.quoted, (self._table.schema, self._table.name)))
        self._reading = f"SELECT {', '.join(columns)} FROM {source}"

    def _facts(self, connection: psycopg.Connection[Any]) -> tuple[Any, ...]:
        counts, *resets, last, now, database = _one(connection.execute(_MOMENT))
        parts = connection.execute(_PARTS, [self._table.oid]).fetchall()
        kinds = {part[1] for part in parts}
        if "f" in kinds:
            return (database, now)
        if not counts or "v" in kinds:
            return (database, self._table.oid, last)
        return (database, resets, parts)

    def _unreadable(self, kind: str) -> PolicyError:
        return PolicyError(f"the source {self._place} cannot be read ({kind})", "check [data]")

    def _lost(self, kind: str) -> AdomniaError:
        return MachineryError(
            f"the source {self._place} cannot be reached ({kind})",
            "is the server up, and are host, database, role and password right?",
        )


def _relation(found: Sequence[Any], table: str, where: str) -> _Relation:
    """The table of this name. One that is named with its schema comes before one whose own name
    has a dot in it; else the name must be of one table alone: anybody may have made the other."""
    found = [row for row in found if row[-1]] or found
    readable = [_Relation(*facts) for *facts, may_read, _ in found if may_read]
    if not readable:
        told = "the role may not read" if found else "there is no"
        raise PolicyError(f"{told} table {table!r} at {where}", "check table in [data]")
    if len(readable) > 1:
        schemas = ", ".join(relation.schema for relation in readable)
        raise PolicyError(
            f"there are several tables {table!r} at {where}, in {schemas}",
            f"write the schema before it, for example {readable[0].schema}.{readable[0].name}",
        )
    return readable[0]


def _check(types: Mapping[str, str], domains: Mapping[str, Domain], dialect: Dialect) -> None:
    """Refuse now what no question could be asked of."""
    if any(name.lower().startswith("adomnia ") for name in types):
        raise PolicyError("a column's name begins with 'adomnia '", "rename it in a view")
    for name, domain in domains.items():
        if isinstance(domain, Categories) and any("\0" in str(v) for v in domain.members):
            raise PolicyError(f"a value of {name!r} has a NUL", "no text in PostgreSQL has one")
        if name in types:
            coded(name, domain, types[name], dialect)


def _one(cursor: psycopg.Cursor[Any]) -> tuple[Any, ...]:
    row: tuple[Any, ...] = cursor.fetchall()[0]
    return row


def _plain(value: Any) -> Any:
    """A value as other engines give it: sums come as decimals, and are whole."""
    return int(value) if isinstance(value, Decimal) else value


def _array(column: Sequence[Any]) -> NDArray[Any]:
    if all(type(value) is int and abs(value) < 2**62 for value in column):
        return np.array(column, np.int64)
    out = np.empty(len(column), object)
    out[:] = column
    return out
