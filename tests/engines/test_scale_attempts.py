"""Attempts on what engines make of a table: groups that merge, units that count twice, types that
one row decides."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from postgres_place import exact, placed, table
from sources import ENGINES

from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.spark.engine import Spark
from adomnia.errors import PolicyError
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts
from adomnia.queries.ranges import Text
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Open
from adomnia.schema.table import Table
from tests import spark_session
from tests.enforced import claim, request_of

CITY = {"city": Categories(("Ulm", "Köln"), other="other"), "who": Open()}
BY_CITY = "SELECT city, COUNT(*) FROM people GROUP BY city"
WIDE = [("ULM", "a"), *[("Ulm", str(i)) for i in range(9)]]


def apart(one, other):
    """How far two measurements lie from each other, in the L1 norm."""
    return int(np.abs(np.array(one) - np.array(other)).sum())


# Collations


@contextmanager
def collated(folder, rows):
    """A DuckDB file whose cities are compared without regard to case."""
    path = folder / f"{len(rows)}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (city VARCHAR COLLATE NOCASE, who VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    engine = DuckDB(path, "people", CITY)
    try:
        yield engine
    finally:
        engine.close()


def test_one_row_in_another_case_moves_one_count(tmp_path):
    with collated(tmp_path, WIDE) as full, collated(tmp_path, WIDE[1:]) as less:
        found = [exact(engine, BY_CITY, table(CITY))[0] for engine in (full, less)]
    assert apart(*found) <= 1


def test_a_key_that_is_shown_is_the_key_of_all_its_rows(tmp_path):
    city = Column("city", Text(None))
    with collated(tmp_path, WIDE) as engine:
        request = request_of(table({"city": Open()}), None, (city,), (Counts((None,)),))
        keys, counts = unseal(engine.keyed(request))
    assert dict(zip(keys, counts[:, 0].tolist(), strict=True)) == {("ULM",): 1, ("Ulm",): 9}


def test_collations_of_servers_merge_no_groups():
    rows = "VALUES ('ULM', 'a'), ('Ulm', 'b'), ('Ulm', 'B')"
    wanted = [[[2], [0], [1], [0]], [[2], [0], [1], [0]]]
    asked = "SELECT city, COUNT(*), COUNT(DISTINCT who) FROM people GROUP BY city"
    with placed() as place:
        place.run(
            "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false); CREATE DOMAIN person AS text COLLATE blind; "
            f"CREATE TABLE people (city text COLLATE blind, who person); INSERT INTO people {rows}"
        )
        assert exact(place.opened(domains=CITY), asked, table(CITY)) == wanted
    columns = "city COLLATE UNICODE_CI AS city, who COLLATE UTF8_LCASE AS who"
    frame = spark_session.shared().sql(f"SELECT {columns} FROM {rows} AS t(city, who)")
    engine = Spark(frame, "people", CITY)
    assert exact(engine, asked, table(CITY)) == wanted
    engine.close()


# Units that are written in several ways


TWICE = {
    "database": ("DOUBLE", [0.0, -0.0]),
    "postgres": ("DECIMAL", [Decimal("1"), Decimal("1.0"), Decimal("1.00")]),
    "spark": ("DOUBLE", [0.0, -0.0]),
}


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize(
    "counted",
    [
        "COUNT(DISTINCT who) FILTER (WHERE city = 'Ulm')",
        "COUNT(DISTINCT CASE WHEN city = 'Ulm' THEN who END)",
    ],
)
def test_a_unit_counts_once_however_it_is_written(name, counted):
    kind, spellings = TWICE[name]
    rows = [{"city": "Ulm", "who": who} for who in spellings]
    private = Table("people", table(CITY).attributes, "who", 5)
    question = bind(f"SELECT {counted} FROM people", private, ("city", "who"))
    (measurement,) = plan_measurements(question).measurements
    said = claim(measurement, Setting(unit="who"), Neighbors("unbounded", 5))
    assert said.l1 == 1
    with ENGINES[name](rows, {"city": "VARCHAR", "who": kind}, CITY) as (engine, _):
        (units,) = exact(engine, "SELECT COUNT(DISTINCT who) FROM people", private)
        (found,) = unseal(engine.measure(request_of(private, None, (), (measurement,)))[0]).tolist()
    assert units == [[1]]
    assert found[0] <= said.l1


# Types that the data decide


def folder_of(place, kinds):
    """Parquet files in folders that are named by a value, as tools write them."""
    for kind, rows in kinds.items():
        (place / f"kind={kind}").mkdir(parents=True)
        people = pa.table({"who": [f"{kind} {i}" for i in range(rows)]})
        pq.write_table(people, place / f"kind={kind}" / "part.parquet")
    return place


OPENERS = {
    "duckdb": lambda path, domains: DuckDB(path, "people", domains),
    "spark": lambda path, domains: Spark(f"{spark_session.ADDRESS}?path={path}", "people", domains),
}


@pytest.mark.parametrize(
    ("opener", "alike"),
    [("duckdb", ("2020-01-01", "2020-1-1")), ("spark", ("1", "01")), ("spark", ("1", "1.0"))],
)
def test_no_row_decides_how_others_are_read(tmp_path, opener, alike):
    spark_session.shared()
    domains = {"kind": Categories(alike, other="other"), "who": Open()}
    few = dict.fromkeys(alike, 6)
    found = []
    for name, kinds in (("full", {**few, "x": 1}), ("less", few)):
        engine = OPENERS[opener](folder_of(tmp_path / name, kinds), domains)
        asked = "SELECT kind, COUNT(*) FROM people GROUP BY kind"
        found.append(exact(engine, asked, table(domains))[0])
        engine.close()
    assert apart(*found) <= 1


def test_no_file_decides_how_others_are_read(tmp_path):
    domains = {"zip": Open()}
    request = request_of(table(domains), None, (Column("zip", Text(None)),), (Counts((None,)),))
    found = []
    for name, late in (("full", pa.array([8010.0, None])), ("less", pa.array([8010]))):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"zip": [8010] * 9}), tmp_path / name / "early.parquet")
        pq.write_table(pa.table({"zip": late}), tmp_path / name / "late.parquet")
        engine = DuckDB(tmp_path / name, "people", domains)
        keys, counts = unseal(engine.keyed(request))
        found.append(dict(zip(keys, counts[:, 0].tolist(), strict=True)))
        engine.close()
    full, less = found
    # The early file is the same in both: its nine rows are in the same group.
    assert max(full.get(key, 0) for key in less) >= 9


def test_padding_is_no_part_of_a_text(tmp_path):
    session = spark_session.shared()
    session.sql(f"CREATE TABLE padded (city CHAR(5)) USING parquet LOCATION '{tmp_path}/padded'")
    try:
        session.sql("INSERT INTO padded VALUES ('Ulm')")
        engine = Spark(session, "padded", CITY)
        found = exact(engine, BY_CITY, table({"city": CITY["city"]}))
        engine.close()
    finally:
        session.sql("DROP TABLE padded")
    assert found == [[[1], [0], [0], [0]]]


# What a DataFrame computes


def test_a_sample_of_a_dataframe_is_refused_or_moves_by_one_row():
    session, found = spark_session.shared(), []
    for start in (0, 1):
        rows = session.range(start, 100_000).coalesce(1).selectExpr("'Ulm' AS city", "id AS who")
        try:
            engine = Spark(rows.sample(0.5, seed=7), "people", CITY)
        except PolicyError:
            return
        found.append(exact(engine, "SELECT COUNT(*) FROM people", table(CITY))[0])
        engine.close()
    assert apart(*found) <= 1


# Names


def test_nobody_can_put_a_table_in_the_way():
    with placed() as place:
        place.fill(3)
        shadow = f'public."{place.schema}.people"'
        place.owner.execute(
            f"CREATE TABLE {shadow} (id bigint, city text, name text); "
            f"GRANT SELECT ON {shadow} TO reader"
        )
        try:
            found = exact(place.opened(), "SELECT COUNT(*) FROM people")
        finally:
            place.owner.execute(f"DROP TABLE {shadow}")
    assert found == [[[3]]]


def test_columns_may_have_any_name_in_postgres():
    names = ["a%b", "%s", 'c"d', "e\\f", "$1", "{y}", "ü" * 31, "select", "A", "a"]
    with placed() as place:
        listed = ", ".join('"' + name.replace('"', '""') + '" bigint' for name in names)
        places = ", ".join(map(str, range(len(names))))
        place.run(f"CREATE TABLE people ({listed}); INSERT INTO people VALUES ({places})")
        domains = {name: Categories(tuple(range(len(names)))) for name in names}
        engine = place.opened(domains=domains)
        for number, name in enumerate(names):
            key = Column(name, Text(None))
            request = request_of(table({name: Open()}), None, (key,), (Counts((None,)),))
            assert unseal(engine.keyed(request))[0] == [(str(number),)]
