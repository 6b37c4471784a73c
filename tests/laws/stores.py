"""The stores that the laws of editions are about: each maker gives a source, and a store beside it.

A place is filled with rows, again and again; it opens the source as it is, and a store of its
editions. A store joins the laws by one line in `STORES`.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

import reference
from sources import _SERVER_TYPES, TYPES, _filled

from adomnia.engines.duckdb.edition_store import EditionFolder
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.postgres.edition_store import EditionSchema
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.engines.spark.edition_store import EditionFiles
from adomnia.engines.spark.engine import Spark
from tests import postgres_server, spark_session

COLUMNS = {**TYPES, "id": "BIGINT"}


@dataclass(frozen=True)
class Place:
    """How to fill a source, open it as it is, keep its editions, and list what is kept there."""

    fill: object
    engine: object
    store: object
    kept: object


@contextmanager
def in_folder():
    """A DuckDB file, and a folder beside it."""
    with TemporaryDirectory() as room:
        path, folder = Path(room) / "people.duckdb", Path(room) / "editions"

        def fill(rows):
            path.unlink(missing_ok=True)
            _filled(str(path), rows, COLUMNS).close()

        yield Place(
            fill,
            lambda domains: DuckDB(path, "people", domains),
            lambda: EditionFolder(folder, str(path), "people"),
            lambda: sorted(one.name for one in folder.iterdir() if one.name != "lock"),
        )


@contextmanager
def in_postgres():
    """A table that a role may only read, and a schema that is this role's."""
    server, mark = postgres_server.shared(), uuid4().hex
    source, schema = f"law_{mark}", f"editions_{mark}"
    columns = ", ".join(f"{name} {_SERVER_TYPES.get(kind, kind)}" for name, kind in COLUMNS.items())
    marks, url = ", ".join(["%s"] * len(COLUMNS)), server.url(role="reader")
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE SCHEMA {source} CREATE TABLE people ({columns})")
        owner.execute(f"GRANT USAGE ON SCHEMA {source} TO reader")
        owner.execute(f"GRANT SELECT ON {source}.people TO reader")
        owner.execute(f"CREATE SCHEMA {schema} AUTHORIZATION reader")

        def fill(rows):
            owner.execute(f"DELETE FROM {source}.people")
            values = [[row[name] for name in COLUMNS] for row in rows]
            owner.cursor().executemany(f"INSERT INTO {source}.people VALUES ({marks})", values)

        def kept():
            found = owner.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                f"'{schema}'::regnamespace AND relname NOT LIKE '%\\_w%' "
                "AND relname NOT LIKE '%\\_facts' ORDER BY 1"
            )
            return [name for (name,) in found.fetchall()]

        try:
            yield Place(
                fill,
                lambda domains: PostgreSQL(url, f"{source}.people", domains),
                lambda: EditionSchema(url, f"{source}.people", schema),
                kept,
            )
        finally:
            owner.execute(f"DROP SCHEMA {source} CASCADE")
            owner.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def in_spark():
    """A Parquet file, which has no days beyond the calendar and whole numbers of 38 digits."""
    spark_session.shared()
    types = COLUMNS | {name: "DECIMAL(38,0)" for name, kind in COLUMNS.items() if kind == "HUGEINT"}
    days = [name for name, kind in COLUMNS.items() if kind == "DATE"]
    with TemporaryDirectory() as room:
        path, folder = Path(room) / "people.parquet", Path(room) / "editions"
        address = f"{spark_session.ADDRESS}?path={path}"

        def fill(rows):
            rows = [row | {n: None for n in days if row[n] in reference.FAR} for row in rows]
            path.unlink(missing_ok=True)
            with _filled(":memory:", rows, types) as connection:
                connection.execute(f"COPY people TO '{path}' (FORMAT parquet)")

        yield Place(
            fill,
            lambda domains: Spark(address, "people", domains),
            lambda: EditionFiles(address, "people", Path(room) / "own", str(folder)),
            lambda: sorted(one.name for one in folder.iterdir() if one.name != "lock"),
        )


STORES = {"folder": in_folder, "postgres": in_postgres, "spark": in_spark}
FEWER = {in_spark: 4}
"""Where a statement takes a second, one of so many does."""
