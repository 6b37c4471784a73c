"""PostgreSQL: a table, a view or a partitioned table on a server, read by a role that only reads.

The exact part of a question is one statement that the server computes, so only groups leave it and
the table may be larger than this machine. No object is made on the server. `docs/sources.md` says
how to make the role.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adomnia.engines.engine import quietly
from adomnia.engines.exact import Survey
from adomnia.engines.postgres.reader import PostgresReader
from adomnia.engines.postgres.relation import find_relation, first_row, unreadable
from adomnia.engines.sql.inspection.survey import survey
from adomnia.engines.sql.statement import DATA
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgreSQL"]

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


class PostgreSQL(PostgresReader):
    """A table on a server, read as it is at each question."""

    def __init__(self, url: str, table: str, domains: Mapping[str, Domain]) -> None:
        super().__init__(url)
        try:
            with self.snapshot() as moment:
                self._table = found = quietly(
                    lambda: find_relation(moment._connection, table, self._place), self._unreadable
                )
            quietly(lambda: found.check(domains), self._unreadable)
        except BaseException:
            self.close()
            raise
        self._types, self._dialect, self._reading = found.types, found.dialect, found.reading
        found.warn()

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

    def is_counted(self) -> bool:
        """Whether the server counts what changes in the table: then its version stays else."""
        with self.snapshot() as moment:
            counts, *_ = quietly(lambda: first_row(moment._connection.execute(_MOMENT)), self._lost)
            parts = moment._connection.execute(_PARTS, [self._table.oid]).fetchall()
        return bool(counts) and not {"f", "v"} & {part[1] for part in parts}

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        with self.snapshot() as moment:
            return quietly(
                lambda: survey(self._types, DATA, moment._fetched, self._dialect), self._unreadable
            )

    def _text(self, statement: str) -> str:
        return f"WITH {DATA} AS NOT MATERIALIZED ({self._reading}) {statement}"

    def _facts(self, connection: psycopg.Connection[Any]) -> tuple[Any, ...]:
        counts, *resets, last, now, database = first_row(connection.execute(_MOMENT))
        parts = connection.execute(_PARTS, [self._table.oid]).fetchall()
        kinds = {part[1] for part in parts}
        if "f" in kinds:
            return (database, now)
        if not counts or "v" in kinds:
            return (database, self._table.oid, last)
        return (database, resets, parts)

    def _unreadable(self, kind: str) -> PolicyError:
        return unreadable(self._place, kind)
