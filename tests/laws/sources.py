"""The engines that the laws are about: each maker puts rows into a source and opens it.

A maker takes rows, the columns' types as DuckDB names them, and their domains; it gives the engine
and the rows as the source has them. An engine joins the laws by one line in `ENGINES`, and says in
`GAPS` what it reads otherwise than DuckDB.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import duckdb
import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import reference

from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.engines.spark.engine import Spark
from adomnia.schema.domain import Categories, Dates, Grid, Open
from tests import postgres_server, spark_session

DOMAINS = {
    "age": Grid(Fraction(0), Fraction(20)),
    "t": Grid(Fraction(-7), Fraction(5)),
    "price": Grid(Fraction(-1), Fraction(2), Fraction(1, 20)),
    "tens": Grid(Fraction(-30), Fraction(50), Fraction(10)),
    "big": Grid(Fraction(-(10**15)), Fraction(10**15)),
    "far": Grid(Fraction(10**15 - 1000), Fraction(10**15)),
    "note": Grid(Fraction(0), Fraction(9)),
    "code": Categories((7, 3, 5)),
    "kind": Categories((1, 2), other=9),
    "sex": Categories(("F", "M"), other="other"),
    "city": Categories(("Ulm", "Köln", "", "a_b", "O'Hara")),
    "flag": Categories((True, False)),
    "day": Dates(date(2019, 12, 28), date(2021, 3, 3)),
    "moment": Dates(date(2020, 1, 1), date(2020, 12, 31)),
    "name": Open(),
}
TYPES = {
    "age": "BIGINT", "t": "DOUBLE", "price": "DECIMAL(18,4)", "tens": "DOUBLE", "big": "HUGEINT",
    "far": "BIGINT", "note": "VARCHAR", "code": "VARCHAR", "kind": "BIGINT", "sex": "VARCHAR",
    "city": "VARCHAR", "flag": "BOOLEAN", "day": "DATE", "moment": "TIMESTAMP", "name": "VARCHAR",
}  # fmt: skip


@contextmanager
def closing(engine):
    """The engine, closed at the end."""
    try:
        yield engine
    finally:
        engine.close()


def _filled(path, rows, types):
    connection = duckdb.connect(path)
    connection.execute("SET TimeZone = 'UTC'")
    columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
    connection.execute(f"CREATE TABLE people ({columns})")
    if rows:
        marks = ", ".join(f"CAST(? AS {kind})" for kind in types.values())
        connection.executemany(
            f"INSERT INTO people VALUES ({marks})", [[row[name] for name in types] for row in rows]
        )
    return connection


@contextmanager
def from_database(rows, types=TYPES, domains=DOMAINS):
    """A DuckDB file."""
    with TemporaryDirectory() as folder:
        path = f"{folder}/people.duckdb"
        _filled(path, rows, types).close()
        with closing(DuckDB(path, "people", domains)) as engine:
            yield engine, rows


class _Loaded:
    """An engine that is asked from editions of its source, one for each table that is asked for."""

    def __init__(self, source, relation):
        self._source, self._relation, self._room = source, relation, TemporaryDirectory()
        self._made = {}

    def __getattr__(self, name):
        def asked(request, *rest):
            table = getattr(request, "table", request)
            return getattr(self._edition(table), name)(request, *rest)

        return asked

    def columns(self):
        with closing(DuckDB(self._source, self._relation, {})) as engine:
            return engine.columns()

    def version(self):
        return "edition 1"

    def ready(self):
        for engine in self._made.values():
            engine.ready()

    def check(self, table):
        self._edition(table).check(table)

    @contextmanager
    def snapshot(self):
        yield self

    def close(self):
        for engine in self._made.values():
            engine.close()
        self._room.cleanup()

    def _edition(self, table):
        key = (repr(table.attributes), table.unit)
        if key not in self._made:
            path = Path(self._room.name) / f"{len(self._made)}.duckdb"
            facts = write_edition(path, self._source, self._relation, table)
            self._made[key] = DuckDBEdition(path, facts, table, "edition 1")
        return self._made[key]


@contextmanager
def from_edition(rows, types=TYPES, domains=DOMAINS):
    """An edition of a DuckDB file."""
    with TemporaryDirectory() as folder:
        path = f"{folder}/people.duckdb"
        _filled(path, rows, types).close()
        with closing(_Loaded(path, "people")) as engine:
            yield engine, rows


@contextmanager
def from_parquet(rows, types=TYPES, domains=DOMAINS):
    """Two Parquet files, which have no days beyond the calendar and no 128 bits."""
    days = [name for name, kind in types.items() if kind == "DATE"]
    wide = [name for name, kind in types.items() if kind == "HUGEINT"]
    rows = [row | {n: None for n in days if row[n] in reference.FAR} for row in rows]
    with TemporaryDirectory() as folder, _filled(":memory:", rows, types) as connection:
        half = len(rows) // 2
        for number, part in enumerate((f"LIMIT {half}", f"OFFSET {half}")):
            file = f"{folder}/{number}.parquet"
            connection.execute(f"COPY (SELECT * FROM people {part}) TO '{file}' (FORMAT parquet)")
        rows = [row | {n: float(row[n]) for n in wide if row[n] is not None} for row in rows]
        with closing(DuckDB(folder, "people", domains)) as engine:
            yield engine, rows


@contextmanager
def from_csv(rows, types=TYPES, domains=DOMAINS):
    """A CSV file: all of it is text, and what is empty is NULL."""
    with TemporaryDirectory() as folder, _filled(":memory:", rows, types) as connection:
        connection.execute(f"COPY people TO '{folder}/people.csv' (HEADER, FORCE_QUOTE *)")
        texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in types)
        found = connection.execute(f"SELECT {texts} FROM people").fetchall()
        rows = [
            {name: text or None for name, text in zip(types, row, strict=True)} for row in found
        ]
        with closing(DuckDB(f"{folder}/people.csv", "people", domains)) as engine:
            yield engine, rows


_SERVER_TYPES = {
    "DOUBLE": "DOUBLE PRECISION",
    "FLOAT": "REAL",
    "HUGEINT": "NUMERIC(39,0)",
    "VARCHAR": "TEXT",
}


@contextmanager
def from_postgres(rows, types=TYPES, domains=DOMAINS):
    """A table on a server, in a schema of its own, seen by a role that may only read it."""
    server, schema = postgres_server.shared(), f"law_{uuid4().hex}"
    columns = ", ".join(f"{name} {_SERVER_TYPES.get(kind, kind)}" for name, kind in types.items())
    marks = ", ".join(["%s"] * len(types))
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema} CREATE TABLE people ({columns})")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader")
        connection.execute(f"GRANT SELECT ON {schema}.people TO reader")
        try:
            connection.cursor().executemany(
                f"INSERT INTO {schema}.people VALUES ({marks})",
                [[row[name] for name in types] for row in rows],
            )
            url = server.url(role="reader")
            with closing(PostgreSQL(url, f"{schema}.people", domains)) as engine:
                yield engine, rows
        finally:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")


@contextmanager
def from_spark(rows, types=TYPES, domains=DOMAINS):
    """A DataFrame; its whole numbers beyond 64 bits have 38 digits."""
    wide = {name: "DECIMAL(38,0)" for name, kind in types.items() if kind == "HUGEINT"}
    with _filled(":memory:", rows, types | wide) as connection:
        found = connection.sql("SELECT * FROM people").to_arrow_table()
    frame = spark_session.shared().createDataFrame(found)
    with closing(Spark(frame, "people", domains)) as engine:
        yield engine, rows


ENGINES = {
    "database": from_database,
    "edition": from_edition,
    "parquet": from_parquet,
    "csv": from_csv,
    "postgres": from_postgres,
    "spark": from_spark,
}
SERVERS = {"postgres": from_postgres, "spark": from_spark}
"""Those that hold the same rows as a DuckDB file does, and must give its very bytes."""

LONG = {"spark": pytest.mark.slow}
"""Where many random tables take minutes; all other laws are about fixed ones, and always run."""

WRITTEN = {
    from_postgres: ("DOUBLE", "FLOAT"),
    from_spark: ("DOUBLE", "FLOAT", "DATE", "TIMESTAMP"),
}
"""Types whose text is not DuckDB's for all values; `GAPS` has one of each reason."""

GAPS = {
    "postgres": {
        # what it is: column's type, domain, value; the cleaned value here, and in DuckDB
        "a double as text has no .0": ("DOUBLE", Categories(("1", "1.0")), 1.0, "1", "1.0"),
        "a NUL is in no text": ("VARCHAR", Open(), "a\0b", psycopg.DataError, "a\0b"),
    },
    "spark": {
        "a double as text has Java's exponent": ("DOUBLE", Open(), 1e20, "1.0E20", "1e+20"),
        "no day is endless": ("DATE", Open(), "infinity", "+5881580-07-11", "infinity"),
    },
}  # fmt: skip
