"""What analysts type of several tables is answered as plain DuckDB does, but for the noise."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import duckdb
import pytest

from adomnia.curator.database import open_database
from tests.linked_worlds import WORLDS


def statements():
    """Each statement of the fixture, with the office that it is asked of."""
    for part in (Path(__file__).parent / "asked_of_tables.sql").read_text("utf-8").split("-- ")[1:]:
        name, _, text = part.partition("\n")
        yield from ((name, sql.strip()) for sql in text.strip().split("\n\n"))


@pytest.fixture(scope="module")
def offices(tmp_path_factory):
    """The offices' databases, and DuckDB on the same files."""
    made = {}
    for name, world in WORLDS.items():
        file = world().write(folder := tmp_path_factory.mktemp(name))
        plain = duckdb.connect()
        for table in world().columns:
            plain.execute(f"CREATE VIEW {table} AS FROM '{folder / table}.parquet'")
        made[name] = open_database(file), plain
    yield made
    for database, plain in made.values():
        database.close()
        plain.close()


def said(value):
    """A value by itself: numbers as they are, whatever their type."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | bool) else float(value)


def rows_of(rows, keys):
    """The rows by what they are grouped by, without those of empty cells."""
    return {tuple(map(said, row[:keys])): [*map(said, row[keys:])] for row in rows
            if any(row[keys:])}  # fmt: skip


@pytest.mark.parametrize(("office", "sql"), statements())
def test_what_is_asked_within_the_bounds_is_answered_as_duckdb_does(offices, office, sql):
    database, plain = offices[office]
    answer = database.session().ask(sql, epsilon=10**9)
    noisy = sum(name in answer.margins for name in answer.columns)
    keys = len(answer.columns) - noisy
    expected, found = (rows_of(r, keys) for r in (plain.execute(sql).fetchall(), answer.rows))
    assert found.keys() == expected.keys()
    for cell, values in expected.items():
        assert found[cell] == pytest.approx(values, abs=0.011)
