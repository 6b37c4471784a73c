"""No row, and no file, decides how another is read; a unit is one wherever units are told apart."""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from postgres_place import exact, placed, table

from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.engine import Request
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.engine import Spark
from adomnia.errors import PolicyError
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.contribution import DistinctUnits
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.privacy.sensitivity import Setting, sensitivity
from adomnia.queries.expression import Column, Constant
from adomnia.queries.measurement import Counts, Distinct
from adomnia.queries.operations import OPERATIONS, call, constant
from adomnia.queries.ranges import Text, from_domain
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Table
from adomnia.storage.driver import connect
from tests import spark_session
from tests.enforced import request_of


def groups(engine, domain, name="x", unit=None):
    """How many rows have each cleaned value of a column."""
    private = Table("people", table({name: domain}).attributes, unit, 9)
    request = request_of(private, None, (Column(name, from_domain(domain)),), (Counts((None,)),))
    keys, counts = unseal(engine.keyed(request))
    return {key: many for (key,), many in zip(keys, counts[:, 0].tolist(), strict=True)}


def opened(path, domains, read):
    """What is read of a source."""
    engine = DuckDB(path, "people", domains)
    try:
        return read(engine)
    finally:
        engine.close()


# Collations


@pytest.mark.parametrize(
    "column",
    [
        "x COLLATE NOCASE",
        "x COLLATE NOACCENT",
        "MAX(x COLLATE NOCASE) OVER (PARTITION BY x)",
        "CASE WHEN x = x THEN x || '' COLLATE NOCASE END",
        "[x COLLATE NOCASE]",
        "{'a': [x COLLATE NOCASE]}",
        "MAP {'a': x COLLATE NOCASE}",
    ],
)
def test_no_view_of_a_database_brings_a_collation(tmp_path, column):
    path = tmp_path / "people.duckdb"
    texts = ["ULM", "Ulm", "ulm", "Úlm"]
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE base AS SELECT UNNEST(?) AS x", [texts])
        connection.execute(f"CREATE VIEW people AS SELECT {column} AS x FROM base")

    def read(engine):
        private = Table("people", table({"x": Open()}).attributes, "x", 2)
        units = exact(engine, "SELECT COUNT(DISTINCT x) FROM people", private)
        return groups(engine, Open()), groups(engine, Open(), unit="x"), units

    found, bounded, units = opened(path, {"x": Open()}, read)
    assert [*found.values()] == [*bounded.values()] == [1] * 4
    assert units == [[[4]]]


# Units


WHO, AGE = Column("who", Text(None)), Column("age", from_domain(Grid(Fraction(0), Fraction(9))))
NOTHING = Constant(None, Text(None))


def test_units_are_told_apart_by_one_rule():
    """Where the noise is for one unit, the engine counts units, and nowhere else."""
    young = call("lt", AGE, constant(5))
    leaves = [WHO, NOTHING, Column("age", Text(None)), Constant("x", Text(None))]
    once = [call("case", young, a, b) for a, b in product(leaves, leaves)]
    twice = [call("case", young, a, young, b, c) for a, b, c in product(once[:6], leaves, leaves)]
    counted = 0
    for expr in [*leaves, *once, *twice]:
        setting, near = Setting(unit="who"), Neighbors("unbounded", 7)
        part = contribution_of(Distinct(expr), setting, near)
        units = isinstance(part, DistinctUnits)
        assert units == (sensitivity(part, setting, near).l1 == 1), expr
        counted += units
    assert 10 < counted < 60


# Files


def test_folders_are_read_one_by_one(tmp_path):
    """A file in a folder that is named for nothing, and one that is not UTF-8, change nothing
    elsewhere."""
    domains, found = {"kind": Categories(("1", "01", "x y")), "a": Open()}, []
    for name, more in (("less", None), ("full", b"a\n1\n"), ("odd", b"a\n\xe9\n")):
        for kind in ("1", "01", "x%20y"):
            folder = tmp_path / name / f"kind={kind}"
            folder.mkdir(parents=True)
            (folder / "part.csv").write_bytes(b"a\n1\n2\n")
        if more:
            nothing = tmp_path / name / "kind=__HIVE_DEFAULT_PARTITION__"
            nothing.mkdir()
            (nothing / "more.csv").write_bytes(more)
        if name == "odd":
            (tmp_path / name / "kind=01" / "part.csv").write_bytes(b"a\n1\n\xe9\n")
        found.append(opened(tmp_path / name, domains, lambda e: groups(e, domains["kind"], "kind")))
    less, *full = found
    assert less == {"1": 2, "01": 2, "x y": 2}
    assert full == [less | {None: 1}] * 2


VARIED = {
    # the column's domain, and arrays of two types
    "a text": (Open(), [8010] * 3, [8010.0, None]),
    "a listed text": (Categories(("1", "true"), other="else"), [1, 2], [True, False]),
    "whole numbers": (Categories((2**53 + 1, 2**53)), [2**53 + 1], [0.5]),
    "halves": (Categories((2, 3), other=9), [2.5, 4.0], ["2.5", "x"]),
    "truths": (Categories((True, False)), [2, 0], ["yes", "2"]),
    "numbers": (Grid(Fraction(0), Fraction(9)), [True, False], [5, 2**60]),
    "small": (Open(), pa.array([1], pa.int8()), pa.array([2], pa.int64())),
}


@pytest.mark.parametrize("case", VARIED)
def test_a_column_of_two_types_is_read_as_in_each_file_alone(tmp_path, case):
    domain, *arrays = VARIED[case]
    alone = {}
    for number, array in enumerate(arrays):
        file = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"x": array}), file)
        for key, many in opened(file, {"x": domain}, lambda e: groups(e, domain)).items():
            alone[key] = alone.get(key, 0) + many
    assert opened(tmp_path, {"x": domain}, lambda e: groups(e, domain)) == alone


def test_a_unit_of_two_types_is_refused(tmp_path):
    """7 in one file and 7.0 in another may be one person, or two: nobody can say."""
    for number, (name, array) in enumerate((("x", [7, 8]), ("X", [7.0, None]))):
        pq.write_table(pa.table({name: array, "y": [1, 2]}), tmp_path / f"{number}.parquet")
    domains = {"x": Open(), "y": Open()}

    def refused(engine):
        private = Table("people", table(domains).attributes, "x", 2)
        key = Column("y", from_domain(Categories((1, 2))))
        for ask in (
            lambda: exact(engine, "SELECT COUNT(*) FROM people", private),
            lambda: groups(engine, Open(), "y", unit="x"),
            lambda: engine.contingency(Request(private, None, (key,), ()), ((1, 2),)),
        ):
            with pytest.raises(PolicyError, match="another type"):
                ask()
        return groups(engine, Open(), "y", unit="y")

    assert opened(tmp_path, domains, refused) == {"1": 2, "2": 2}


def test_files_of_spark_have_one_type_each(tmp_path):
    spark_session.shared()
    for number, array in enumerate((pa.array([1]), pa.array([1.5]))):
        pq.write_table(pa.table({"x": array}), tmp_path / f"{number}.parquet")
    with pytest.raises(PolicyError, match="cannot be read"):
        Spark(f"{spark_session.ADDRESS}?path={tmp_path}", "people", {})
    pq.write_table(pa.table({"y": ["late"]}), tmp_path / "1.parquet")
    engine = Spark(f"{spark_session.ADDRESS}?path={tmp_path}", "people", {})
    assert [*engine.columns()] == ["x", "y"]
    engine.close()


# What a DataFrame computes


REFUSED = {
    "SELECT * FROM {t} LIMIT 3": "Limit",
    "SELECT * FROM {t} ORDER BY id LIMIT 3 OFFSET 1": "Limit",
    "SELECT * FROM {t} OFFSET 1": "Offset",
    "SELECT * FROM {t} TABLESAMPLE (50 PERCENT) REPEATABLE (7)": "Sample",
    "SELECT * FROM {t} WHERE rand(7) < 0.5": "Rand",
    "SELECT id, uuid() AS u FROM {t}": "Uuid",
    "SELECT id, monotonically_increasing_id() % 2 AS u FROM {t}": "MonotonicallyIncreasingID",
    "SELECT id, spark_partition_id() AS u FROM {t}": "SparkPartitionID",
    "SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS u FROM {t}": "Window",
    "SELECT id, id / SUM(id) OVER () AS u FROM {t}": "Window",
    "SELECT * FROM {t} WHERE id IN (SELECT id FROM {t} WHERE rand(7) < 0.5)": "Rand",
    "WITH few AS (SELECT * FROM {t} LIMIT 3) SELECT a.id FROM {t} a JOIN few USING (id)": "Limit",
}
TAKEN = [
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v) AS u FROM {t}",
    "SELECT v, COUNT(*) AS n FROM {t} GROUP BY v",
    "SELECT a.id, b.v FROM {t} a JOIN {t} b USING (id)",
    "SELECT DISTINCT v, input_file_name() AS file, current_date() AS today FROM {t}",
]


def test_plans_in_which_one_row_moves_many_are_refused():
    session = spark_session.shared()
    session.sql("SELECT id, id % 3 AS v FROM RANGE(9)").createOrReplaceTempView("nine")
    for sql, step in REFUSED.items():
        with pytest.raises(PolicyError, match=f"one row could move many others.*{step}"):
            Spark(session.sql(sql.format(t="nine")), "people", {})
    for sql in TAKEN:
        Spark(session.sql(sql.format(t="nine")), "people", {}).close()
    session.sql("CREATE OR REPLACE TEMP VIEW few AS SELECT * FROM nine LIMIT 3")
    with pytest.raises(PolicyError, match="GlobalLimit"):
        Spark(session, "few", {})


# Patterns


def test_a_pattern_means_the_same_in_spark():
    """Parts are taken where they are first found: the same texts match as in any other way."""
    pick = random.Random(3)
    signs = ["a", "B", "b", ".", "\n", "\\", "$", "ä", "Ä", "😀", "_", "%", "*", "["]
    texts = ["".join(pick.choices(signs, k=pick.randint(0, 7))) for _ in range(60)]
    wild = [*signs, "%", "%", "_", "\\%", "\\_", "\\\\", "\\a"]
    patterns = ["".join(pick.choices(wild, k=pick.randint(0, 6))) for _ in range(120)]
    patterns = [pattern.rstrip("\\") for pattern in patterns]
    pairs = [(pattern, bool(place % 2)) for place, pattern in enumerate(patterns)]
    tests = ", ".join(SPARK.like("x", *pair) for pair in pairs)
    values = ", ".join(f"({SPARK.constant(text)})" for text in texts)
    found = spark_session.shared().sql(f"SELECT {tests} FROM VALUES {values} AS t(x)").collect()
    matches = OPERATIONS["like"].compute
    assert [list(row) for row in found] == [[matches(t, *pair) for pair in pairs] for t in texts]
    assert 100 < sum(map(sum, found)) < 60 * 120 - 100


# Names and connections


def test_a_name_without_a_schema_is_of_one_table():
    """Who may make tables in public cannot put one in the way of another schema's."""
    with placed() as place:
        name = f"t_{place.schema}"
        place.run(f"CREATE TABLE {name} AS SELECT 1::bigint AS id")
        url = place.server.url(role="reader")
        PostgreSQL(url, name, {}).close()
        place.owner.execute(
            f"CREATE TABLE public.{name} (id bigint); GRANT SELECT ON public.{name} TO reader"
        )
        try:
            with pytest.raises(PolicyError, match=f"several tables .* in public, {place.schema}"):
                PostgreSQL(url, name, {})
            for schema, rows in (("public", 0), (place.schema, 1)):
                engine = PostgreSQL(url, f"{schema}.{name}", {})
                assert exact(engine, "SELECT COUNT(*) FROM people", table({})) == [[[rows]]]
                engine.close()
        finally:
            place.owner.execute(f"DROP TABLE public.{name}")


def test_nothing_is_left_set_on_a_connection():
    """A pool before the server may clear ours between two questions, or give it to others."""
    with placed() as place:
        engine = place.fill().opened()
        before = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
        connection = connect(place.server.url(role="reader"))
        fresh = connection.execute(before).fetchall()
        connection.close()
        assert exact(engine, "SELECT COUNT(*) FROM people") == [[[3]]]
        idle = engine._connections._idle.get_nowait()
        assert idle.execute(before).fetchall() == fresh
        idle.execute("DISCARD ALL")
        engine._connections._idle.put(idle)
        assert exact(engine, "SELECT COUNT(*) FROM people") == [[[3]]]
        with engine.snapshot() as moment:
            assert moment._connection is idle
            limit = moment._connection.execute("SHOW statement_timeout").fetchone()
        assert limit == ("10min",)
