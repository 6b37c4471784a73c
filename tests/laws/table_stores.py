"""The stores that the laws of several tables are about: each maker gives sources, and a store.

A place is filled with the rows of all its tables, again and again. A store joins the laws by one
line in `TABLE_STORES`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import duckdb
import psycopg
from sources import _SERVER_TYPES

from adomnia.engines.duckdb.edition_store import EditionFolder
from adomnia.engines.postgres.edition_store import EditionSchema
from adomnia.engines.spark.edition_store import EditionFiles
from tests import postgres_server, spark_session


@dataclass(frozen=True)
class TablesPlace:
    """How to fill the sources of tables with rows, keep their editions, and list what is kept."""

    fill: object
    store: object
    kept: object


def _create(connection, name, columns, rows):
    listed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    connection.execute(f'CREATE TABLE "{name}" ({listed})')
    marks = ", ".join("?" for _ in columns)
    if rows:
        connection.executemany(
            f'INSERT INTO "{name}" VALUES ({marks})', [[row[c] for c in columns] for row in rows]
        )


@contextmanager
def in_files(columns):
    """Parquet files and tables of one DuckDB file by turns, and a folder of editions."""
    with TemporaryDirectory() as room:
        database, folder = Path(room) / "all.duckdb", Path(room) / "editions"
        parquet = [*columns][::2]
        sources = {
            name: (str(Path(room) / f"{name}.parquet") if name in parquet else str(database), name)
            for name in columns
        }

        def fill(rows):
            database.unlink(missing_ok=True)
            with duckdb.connect(str(database)) as connection:
                for name, types in columns.items():
                    _create(connection, name, types, rows[name])
                    if name in parquet:
                        target = sources[name][0]
                        connection.execute(f"""COPY "{name}" TO '{target}' (FORMAT parquet)""")
                        connection.execute(f'DROP TABLE "{name}"')

        yield TablesPlace(
            fill,
            lambda: EditionFolder(folder, "", "", relations=sources),
            lambda: sorted(one.name for one in folder.iterdir() if one.name != "lock"),
        )


@contextmanager
def in_postgres(columns):
    """Tables that a role may only read, and a schema that is this role's."""
    server, mark = postgres_server.shared(), uuid4().hex
    source, schema, url = f"law_{mark}", f"editions_{mark}", server.url(role="reader")
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE SCHEMA {source}")
        owner.execute(f"GRANT USAGE ON SCHEMA {source} TO reader")
        owner.execute(f"CREATE SCHEMA {schema} AUTHORIZATION reader")
        for name, types in columns.items():
            kinds = {c: _SERVER_TYPES.get(kind, kind) for c, kind in types.items()}
            listed = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
            owner.execute(f'CREATE TABLE {source}."{name}" ({listed})')
            owner.execute(f'GRANT SELECT ON {source}."{name}" TO reader')

        def fill(rows):
            for name, types in columns.items():
                owner.execute(f'DELETE FROM {source}."{name}"')
                values = [[row[column] for column in types] for row in rows[name]]
                marks = ", ".join(["%s"] * len(types))
                statement = f'INSERT INTO {source}."{name}" VALUES ({marks})'
                owner.cursor().executemany(statement, values)

        def kept():
            found = owner.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                f"'{schema}'::regnamespace ORDER BY 1"
            )
            return sorted({"_".join(name.split("_")[:2]) for (name,) in found.fetchall()})

        relations = {name: (url, f"{source}.{name}") for name in columns}
        try:
            yield TablesPlace(fill, lambda: EditionSchema(url, "", schema, relations), kept)
        finally:
            owner.execute(f"DROP SCHEMA {source} CASCADE")
            owner.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def in_spark(columns):
    """Parquet files that Spark reads."""
    spark_session.shared()
    with TemporaryDirectory() as room:
        folder = Path(room) / "editions"
        files = {name: Path(room) / f"{name}.parquet" for name in columns}
        relations = {n: (f"{spark_session.ADDRESS}?path={p}", n) for n, p in files.items()}

        def fill(rows):
            with duckdb.connect() as connection:
                for name, types in columns.items():
                    _create(connection, name, types, rows[name])
                    files[name].unlink(missing_ok=True)
                    connection.execute(f"""COPY "{name}" TO '{files[name]}' (FORMAT parquet)""")

        address = next(place for place, _ in relations.values())
        own = Path(room) / "own"
        yield TablesPlace(
            fill,
            lambda: EditionFiles(address, "", own, str(folder), relations),
            lambda: sorted(one.name for one in folder.iterdir() if one.name != "lock"),
        )


TABLE_STORES = {"folder": in_files, "postgres": in_postgres, "spark": in_spark}
SLOW = {in_spark}
"""Where a load takes seconds."""
