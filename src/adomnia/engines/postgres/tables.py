"""The tables that a role may read on a server and their keys, for whoever drafts a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adomnia.engines.engine import quietly
from adomnia.engines.key_facts import DeclaredKeys
from adomnia.engines.postgres.connections import reading_pool
from adomnia.errors import PolicyError
from adomnia.storage.address import shown_address

__all__ = ["declared_keys", "tables", "views"]

_TABLES = """
SELECT n.nspname || '.' || c.relname,
       (SELECT COUNT(*) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          AND has_column_privilege(c.oid, a.attnum, 'SELECT'))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY 1
"""

_VIEWS = """
SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm')
"""

# Primary keys come before unique columns. A foreign key is declared, whether its rows were looked
# at when it was made or not.
_KEYS = """
SELECT n.nspname || '.' || c.relname,
       ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY u(place, turn)
             JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.place
             ORDER BY u.turn),
       m.nspname || '.' || r.relname,
       ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY u(place, turn)
             JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.place
             ORDER BY u.turn)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_class r ON r.oid = k.confrelid LEFT JOIN pg_namespace m ON m.oid = r.relnamespace
WHERE k.contype IN ('p', 'u', 'f') AND k.conparentid = 0 AND NOT c.relispartition
ORDER BY k.contype, k.conname, k.oid
"""


def tables(url: str) -> Mapping[str, int]:
    """The tables by their names with a schema, and how many of their columns may be read."""
    return {str(name): int(many) for name, many in _catalogue(url, _TABLES)}


def views(url: str) -> frozenset[str]:
    """Which of them are views, computed from others."""
    return frozenset(str(name) for (name,) in _catalogue(url, _VIEWS))


def declared_keys(url: str) -> DeclaredKeys:
    """The primary, unique and foreign keys of all tables."""
    return DeclaredKeys.listed(_catalogue(url, _KEYS))


def _catalogue(url: str, statement: str) -> list[tuple[Any, ...]]:
    """What the server's catalogue says."""
    place = shown_address(url)

    def unreadable(kind: str) -> PolicyError:
        hint = "is the server up, and are host, database, role and password right?"
        return PolicyError(f"the tables at {place} cannot be listed ({kind})", hint)

    pool = reading_pool(url)
    try:
        return quietly(lambda: _fetched(pool, statement), unreadable)
    finally:
        pool.close()


def _fetched(pool: Any, statement: str) -> list[tuple[Any, ...]]:
    with pool.connection() as connection:
        found: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
        return found
