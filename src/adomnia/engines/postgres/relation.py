"""Tables of a server: which one a name stands for, what its columns are, and how they are read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.engines.postgres.dialect import PostgresDialect
from adomnia.engines.sql.coding import coded
from adomnia.errors import PolicyError
from adomnia.schema.domain import Categories, Domain

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresRelation", "find_relation", "first_row", "server_dialect", "unreadable"]

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


@dataclass(frozen=True)
class PostgresRelation:
    """The private table on the server, its columns' types, and the SQL that is spoken there."""

    oid: int
    schema: str
    name: str
    writable: bool
    types: Mapping[str, str]
    dialect: PostgresDialect

    @property
    def reading(self) -> str:
        """The statement that reads all rows, each column as the kinds know it."""
        say = self.dialect.quoted
        columns = [self.dialect.read(name, kind) for name, kind in self.types.items()]
        return f"SELECT {', '.join(columns)} FROM {say(self.schema)}.{say(self.name)}"

    def check(self, domains: Mapping[str, Domain]) -> None:
        """Refuse now what no question could be asked of."""
        if any(name.lower().startswith("adomnia ") for name in self.types):
            raise PolicyError("a column's name begins with 'adomnia '", "rename it in a view")
        for name, domain in domains.items():
            if isinstance(domain, Categories) and any("\0" in str(v) for v in domain.members):
                raise PolicyError(f"a value of {name!r} has a NUL", "no text in PostgreSQL has one")
            if name in self.types:
                coded(name, domain, self.types[name], self.dialect)

    def warn(self) -> None:
        """Say so where the role could do more than it needs to."""
        if self.writable:
            warnings.warn(
                f"the role that reads {self.name!r} could also change it; "
                "use one that may only read (docs/sources.md)",
                stacklevel=3,
            )


def unreadable(place: str, kind: str) -> PolicyError:
    """The failure of opening or loading a table."""
    return PolicyError(f"the source {place} cannot be read ({kind})", "check [data]")


def find_relation(connection: psycopg.Connection[Any], table: str, place: str) -> PostgresRelation:
    """The table of this name on the server at a place, as it may be shown."""
    dialect = server_dialect(connection, place)
    found = connection.execute(_TABLES, [table, table]).fetchall()
    oid, schema, name, writable = _chosen(found, table, place)
    types = dict(connection.execute(_COLUMNS, [oid]).fetchall())
    return PostgresRelation(oid, schema, name, writable, types, dialect)


def server_dialect(connection: psycopg.Connection[Any], place: str) -> PostgresDialect:
    """The SQL that a server speaks, with its collation for small and capital letters."""
    encoding, folding = first_row(connection.execute(_SERVER))
    if encoding != "UTF8":
        raise PolicyError(f"the database {place} is not in UTF8", "make it one that is")
    return PostgresDialect(folding or "C")


def _chosen(found: Sequence[Any], table: str, where: str) -> tuple[int, str, str, bool]:
    """The table of this name. One that is named with its schema comes before one whose own name
    has a dot in it; else the name must be of one table alone: anybody may have made the other."""
    found = [row for row in found if row[-1]] or found
    readable = [row[:4] for row in found if row[4]]
    if not readable:
        told = "the role may not read" if found else "there is no"
        raise PolicyError(f"{told} table {table!r} at {where}", "check table in [data]")
    if len(readable) > 1:
        schemas = ", ".join(row[1] for row in readable)
        raise PolicyError(
            f"there are several tables {table!r} at {where}, in {schemas}",
            f"write the schema before it, for example {readable[0][1]}.{readable[0][2]}",
        )
    oid, schema, name, writable = readable[0]
    return oid, schema, name, writable


def first_row(cursor: psycopg.Cursor[Any]) -> tuple[Any, ...]:
    """The first row of what a statement gave."""
    row: tuple[Any, ...] = cursor.fetchall()[0]
    return row
