"""Moments that no calendar has, in columns of every type: none fails, and each is in its place."""

from __future__ import annotations

from datetime import datetime

import duckdb
import psycopg
import pytest

from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.engines.sql.coding import lost
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.measurement import Counts
from adomnia.queries.sql.bind import bind
from adomnia.schema.domain import Timestamps
from adomnia.schema.table import Attribute, Table
from tests import postgres_server
from tests.enforced import request_of

DOMAIN = Timestamps(datetime(2024, 1, 1), datetime(2024, 1, 1, 3), 3600, "Europe/Berlin")
TABLE = Table("people", {"seen": Attribute("seen", DOMAIN)})

BELOW, ABOVE = 6, 7
"""Where the two stand that lie outside: after the values and NULL of a key."""

TYPES = {
    "TIMESTAMP": {
        "infinity": ABOVE - 1, "-infinity": BELOW - 1, "290000-01-01 00:00": ABOVE - 1,
        "0044-03-15 (BC) 12:00:00": BELOW - 1, "2024-01-01 02:59:59.999999": 2,
        "1582-10-15 00:00:00": BELOW - 1,
    },
    "TIMESTAMPTZ": {
        "infinity": ABOVE - 1, "-infinity": BELOW - 1, "2023-12-31 23:00:00+00": 0,
        "2024-01-01 00:00:00+00": 1, "2024-01-01 03:00:00+00": ABOVE - 1,
        "2023-12-31 22:59:59.999999+00": BELOW - 1,
    },
    "TIMESTAMP_S": {"2024-01-01 01:30:00": 1, "infinity": ABOVE - 1},
    "TIMESTAMP_MS": {"2024-01-01 01:30:00": 1, "-infinity": BELOW - 1},
    "TIMESTAMP_NS": {"2024-01-01 01:59:59.999999999": 1, "1700-01-01": BELOW - 1},
    "DATE": {"infinity": ABOVE - 1, "5000000-01-01": ABOVE - 1, "2024-01-01": 0,
             "0044-03-15 (BC)": BELOW - 1},
    "BIGINT": {"1704067200": 4, "-1": 4},
    "BOOLEAN": {"true": 4},
    "TIME": {"12:00:00": 4},
    "INTERVAL": {"1 day": 4},
    "VARCHAR[]": {"[2024-01-01]": 4},
}  # fmt: skip


def places(engine):
    """How many rows each cell of a key has: the values, NULL, and what lies outside."""
    question = bind("SELECT seen, COUNT(*) FROM people GROUP BY seen", TABLE, ("seen",))
    request = request_of(TABLE, question.where, question.keys, (Counts((None,)),))
    (counts,) = (unseal(part)[:, 0].tolist() for part in engine.measure(request))
    return counts


@pytest.fixture(params=["in place", "edition"])
def opened(request, tmp_path):
    """A way to open a DuckDB file."""

    def open_file(path):
        if request.param == "in place":
            return DuckDB(path, "people", {"seen": DOMAIN})
        facts = write_edition(tmp_path / "edition.duckdb", path, "people", TABLE)
        return DuckDBEdition(tmp_path / "edition.duckdb", facts, TABLE, "edition 1")

    return open_file


@pytest.mark.parametrize(
    ("kind", "value", "place"),
    [(kind, value, place) for kind, values in TYPES.items() for value, place in values.items()],
)
def test_every_moment_of_a_database_is_in_its_place(tmp_path, opened, kind, value, place):
    path = str(tmp_path / "people.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TABLE people (seen {kind})")
        connection.execute(f"INSERT INTO people VALUES (CAST(? AS {kind})), (NULL)", [value])
    engine = opened(path)
    wanted = [0, 0, 0, 0, 1, 0, 0]
    wanted[place] += 1
    assert places(engine) == wanted
    engine.close()


@pytest.mark.parametrize(
    ("kind", "value", "place"),
    [
        ("timestamp", "infinity", 6), ("timestamp", "-infinity", 5),
        ("timestamp", "4713-01-01 BC", 5), ("timestamp", "294276-12-31 23:59:59.999999", 6),
        ("timestamp", "2024-01-01 03:59:59.999999", 3), ("timestamptz", "infinity", 6),
        ("timestamptz", "2023-12-31 23:00:00+00", 0), ("timestamptz", "294276-12-31 23:59+00", 6),
        ("date", "infinity", 6), ("date", "5874897-12-31", 6), ("date", "2024-01-01", 0),
        ("text", "infinity", 6), ("text", "2024-01-01 00:30+00", 1), ("integer", "5", 4),
        ("time", "12:00", 4), ("interval", "1 day", 4), ("timestamp[]", "{2024-01-01}", 4),
        ("jsonb", '"2024-01-01"', 4), ("tstzrange", "[2024-01-01,2024-01-02)", 4),
    ],
)  # fmt: skip
def test_every_moment_of_a_server_is_in_its_place(kind, value, place):
    server = postgres_server.shared()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA hostile CREATE TABLE people (seen {kind})")
        try:
            connection.execute(f"INSERT INTO hostile.people VALUES ('{value}'), (NULL)")
            connection.execute("GRANT USAGE ON SCHEMA hostile TO reader")
            connection.execute("GRANT SELECT ON hostile.people TO reader")
            url = server.url(role="reader")
            engine = PostgreSQL(url, "hostile.people", {"seen": DOMAIN})
            wanted = [0, 0, 0, 0, 1, 0, 0]
            wanted[place] += 1
            assert places(engine) == wanted
            engine.close()
        finally:
            connection.execute("DROP SCHEMA hostile CASCADE")


def test_what_is_left_out_is_marked(tmp_path):
    path = str(tmp_path / "people.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people (seen VARCHAR)")
        connection.execute(
            "INSERT INTO people VALUES ('2024-01-01 01:00'), ('noon'), ('2030-01-01'), (NULL)"
        )
    facts = write_edition(tmp_path / "edition.duckdb", path, "people", TABLE)
    with duckdb.connect(str(tmp_path / "edition.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            f'SELECT seen, "{lost("seen")}" FROM adomnia_rows ORDER BY ALL'
        ).fetchall()
    assert facts.rows == 4
    assert sorted(rows, key=str) == sorted(
        [(1, False), (4, True), (None, False), (None, True)], key=str
    )
