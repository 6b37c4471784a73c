"""Spark's own ways: names and types of all sorts, files that change, interrupts, quiet failure."""

from __future__ import annotations

import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from adomnia.engines.exact import survey
from adomnia.engines.interrupts import Interrupts, watched
from adomnia.engines.spark import sessions
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.engine import Spark
from adomnia.errors import MachineryError, PolicyError
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, Sum
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Dates, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests import spark_session
from tests.enforced import request_of

SMALL = Grid(Fraction(0), Fraction(9))


def grouped(engine, **domains):
    """How many rows have which cleaned values."""
    table = Table("people", {name: Attribute(name, domain) for name, domain in domains.items()})
    keys = tuple(Column(name, from_domain(domain)) for name, domain in domains.items())
    found, counts = unseal(engine.keyed(request_of(table, None, keys, (Counts((None,)),))))
    return dict(zip(found, counts[:, 0].tolist(), strict=True))


def of(sql, table="people"):
    """An engine on what a statement of Spark gives."""
    return Spark(spark_session.shared().sql(sql), table, {})


NAMES = ["a.b", "a b", "a`b", "Ä", "x'y", 'q"q', "${z}", "select", "back\\slash"]


def test_columns_may_have_any_name():
    row = [tuple(range(len(NAMES)))]
    engine = Spark(spark_session.shared().createDataFrame(row, NAMES), "people", {})
    assert [*engine.columns()] == NAMES
    for place, name in enumerate(NAMES):
        assert grouped(engine, **{name: SMALL}) == {(place,): 1}
    engine.close()


@pytest.mark.parametrize("columns", ["1 AS a, 2 AS A", "1 AS `adomnia k0`"])
def test_names_that_cannot_be_told_apart_are_refused(columns):
    with pytest.raises(PolicyError):
        of(f"SELECT {columns}")


VALUES = {
    # a value of Spark: its kind, its text, as a number from 0 to 9, as a day of 2020; what lies
    # outside is the number or the day beside them
    "CAST(3 AS TINYINT)": ("integer", "3", 3, None),
    "CAST(3 AS DECIMAL(38,0))": ("integer", "3", 3, None),
    "CAST(2.5 AS DECIMAL(9,3))": ("decimal", "2.500", 3, None),
    "CAST(0 AS DECIMAL(20,9))": ("decimal", "0.000000000", 0, None),
    "CAST('nan' AS FLOAT)": ("real", "NaN", None, None),
    "CAST('-inf' AS DOUBLE)": ("real", "-Infinity", -1, None),
    "TRUE": ("boolean", "true", 1, None),
    "TIMESTAMP_NTZ '2020-02-03 23:59:59'": ("moment", "2020-02-03 23:59:59", None, "2020-02-03"),
    "TIMESTAMP '2020-02-03 23:59:59-05:00'": (
        "moment", "2020-02-04 04:59:59", None, "2020-02-04"),
    "DATE '0001-01-01'": ("date", "0001-01-01", None, "2019-12-31"),
    "MAKE_DATE(200000, 1, 1)": ("date", "+200000-01-01", None, "2021-01-01"),
    "CAST(X'61FF' AS STRING)": ("text", None, None, None),
    "'A' COLLATE UTF8_LCASE": ("text", "A", None, None),
    "CAST('7' AS CHAR(3))": ("text", "7", 7, None),
    "REPEAT('9', 100000)": ("text", "9" * 100000, None, None),
    "X'FF00'": ("other", None, None, None),
    "ARRAY(1, NULL)": ("other", "[1, null]", None, None),
    "MAP('a', 1)": ("other", "{a -> 1}", None, None),
    "NAMED_STRUCT('a', 1)": ("other", "{1}", None, None),
    "PARSE_JSON('{\"a\": [1]}')": ("other", '{"a":[1]}', None, None),
    "INTERVAL 1 DAY": ("other", "INTERVAL '1' DAY", None, None),
    "NULL": ("other", None, None, None),
}  # fmt: skip


def test_values_of_every_type_are_read():
    from datetime import date

    year = Dates(date(2020, 1, 1), date(2020, 12, 31))
    names = [f"c{place}" for place in range(len(VALUES))]
    columns = [f"{value} AS {name}" for value, name in zip(VALUES, names, strict=True)]
    engine = of(f"SELECT {', '.join(columns)}")
    kinds = [SPARK.family(kind) for kind in engine.columns().values()]
    assert kinds == [wanted[0] for wanted in VALUES.values()]
    for place, domain in enumerate((Open(), SMALL, year), 1):
        (found,) = grouped(engine, **dict.fromkeys(names, domain))
        told = [str(v) if isinstance(v, date) else v for v in found]
        assert told == [wanted[place] for wanted in VALUES.values()]
    engine.close()


def test_units_with_columns_of_every_type():
    columns = ", ".join(f"{value} AS c{place}" for place, value in enumerate(VALUES))
    engine = of(f"SELECT id % 2 AS who, {columns} FROM RANGE(10)")
    table = Table("people", {"c0": Attribute("c0", SMALL)}, "who", 3)
    request = request_of(table, None, (), (Sum(Column("c0", from_domain(SMALL))),))
    assert unseal(engine.measure(request)[0]).tolist() == [[18]]
    engine.close()


def test_a_null_is_hashed_where_it_is():
    rows = "VALUES (1, NULL), (NULL, 1), (1, 1), (NULL, NULL)"
    found = spark_session.shared().sql(f"SELECT {SPARK.order(['a', 'b'])} FROM {rows} AS t(a, b)")
    assert len({row[0] for row in found.collect()}) == 4


def test_constants_are_not_code():
    nasty = ["${spark.master}", "a'b", "\\", "\\'", "%", "\0", "a\\nb", "'; --", "{x}", ":y", "?"]
    frame = spark_session.shared().createDataFrame([(v,) for v in nasty], "v string")
    engine = Spark(frame, "people", {})
    assert grouped(engine, v=Categories(tuple(nasty))) == {(value,): 1 for value in nasty}
    engine.close()


def test_sums_pass_64_bits():
    wide = Grid(Fraction(-(10**15)), Fraction(10**15))
    engine = of(f"SELECT CAST({10**15} AS BIGINT) AS v FROM RANGE(20000)")
    table = Table("people", {"v": Attribute("v", wide)})
    (total,) = engine.measure(request_of(table, None, (), (Sum(Column("v", from_domain(wide))),)))
    assert unseal(total).tolist() == [[20000 * 10**15]]
    engine.close()


# Files and tables


def write(folder, name, rows):
    folder.mkdir(exist_ok=True)
    duckdb.execute(f"COPY (SELECT i AS v FROM range({rows}) t(i)) TO '{folder / name}.parquet'")


def test_a_question_sees_the_same_files_and_the_next_one_new_ones(tmp_path):
    folder = tmp_path / "a b%20c"
    write(folder, "one", 3)
    engine = Spark(f"{spark_session.ADDRESS}?path={str(folder).replace('%', '%25')}", "p", {})
    first = engine.version()
    with engine.snapshot() as moment:
        write(folder, "two", 4)
        assert sum(grouped(moment, v=SMALL).values()) == 3
    assert sum(grouped(engine, v=SMALL).values()) == 7
    second = engine.version()
    (folder / "_ledger").write_text("of no table", "utf-8")
    assert engine.version() == second
    write(folder, "two", 5)
    assert len({first, second, engine.version()}) == 3
    engine.close()
    assert spark_session.shared().sql("SELECT 1").collect()  # it was not ours to end


def test_a_table_of_the_catalog(tmp_path):
    session = spark_session.shared()
    write(tmp_path / "t", "one", 3)
    session.sql(f"CREATE TABLE lawful USING parquet LOCATION '{tmp_path / 't'}'")
    session.sql("CREATE VIEW viewed AS SELECT * FROM lawful")
    try:
        engine = Spark(spark_session.ADDRESS, "lawful", {})
        first = engine.version()
        write(tmp_path / "t", "two", 4)
        assert engine.version() == engine.version() != first
        assert sum(grouped(engine, v=SMALL).values()) == 7
        view = Spark(spark_session.ADDRESS, "viewed", {})
        assert view.version() != view.version()
    finally:
        session.sql("DROP VIEW viewed")
        session.sql("DROP TABLE lawful")


def test_a_dataframe_is_data_of_its_own(tmp_path):
    write(tmp_path / "f", "one", 3)
    frame = spark_session.shared().read.parquet(str(tmp_path / "f"))
    one, two = Spark(frame, "p", {}), Spark(frame, "p", {})
    before = one.version()
    assert before == one.version() != two.version()
    write(tmp_path / "f", "one", 4)
    assert one.version() != before


def test_the_survey_of_a_first_draft():
    rows = "VALUES (1, 'a', 0.25, DATE '2020-01-02'), (2, '7', 1.5, NULL) AS t(n, s, d, t)"
    engine = of(f"SELECT * FROM {rows}")
    found = survey(engine)
    assert {name: facts["kind"] for name, facts in found.items()} == {
        "n": "number", "s": "text", "d": "number", "t": "date"}  # fmt: skip
    assert found["s"]["values"] == ["7", "a"]
    assert found["d"]["places"] == 2
    engine.close()


# Failure


def test_a_failure_says_nothing_of_the_data():
    engine = of("SELECT CAST(RAISE_ERROR(CONCAT('secret', id)) AS INT) AS v FROM RANGE(3)")
    with pytest.raises(MachineryError) as caught:
        grouped(engine, v=SMALL)
    assert "secret" not in str(caught.value) + repr(caught.value.__context__)
    engine.close()


def test_a_statement_ends_when_it_shall():
    engine = of("SELECT 1 AS v FROM RANGE(1000000) WHERE java_method("
                "'java.lang.Thread', 'sleep', 10L) IS NOT NULL")  # fmt: skip
    interrupts, began = Interrupts(), time.monotonic()
    timer = threading.Timer(1, interrupts.interrupt)
    timer.start()
    with watched(interrupts), pytest.raises(MachineryError):
        grouped(engine, v=SMALL)
    assert time.monotonic() - began < 300
    assert grouped(of("SELECT 1 AS v"), v=SMALL) == {(1,): 1}
    context = spark_session.shared().sparkContext
    assert context.getLocalProperty("spark.jobGroup.id") is None
    engine.close()


@pytest.mark.parametrize(
    ("url", "master", "path"),
    [
        ("spark://host:7077?path=/d/p.parquet", "spark://host:7077", "/d/p.parquet"),
        ("spark://a:7077,b:7077/", "spark://a:7077,b:7077", None),
        ("spark://local[2]?path=/a%20b", "local[2]", "/a b"),
        ("spark://local-cluster[2,1,1024]", "local-cluster[2,1,1024]", None),
        ("spark://yarn?path=hdfs://n:9000/p", "yarn", "hdfs://n:9000/p"),
        ("spark://k8s://https://h:6443?path=s3a://b/p", "k8s://https://h:6443", "s3a://b/p"),
    ],
)
def test_addresses(url, master, path):
    found = sessions.address(f"{url}{'&' if '?' in url else '?'}spark.a.b=c")
    assert (found.master, found.path, found.settings) == (master, path, {"spark.a.b": "c"})
    assert "c" not in found.place.removeprefix("spark://").split(master.split("://")[-1])


@pytest.mark.parametrize("url", ["spark://", "spark://local?path=", "spark://local?table=x"])
def test_addresses_that_say_too_little_or_too_much(url):
    with pytest.raises(PolicyError):
        sessions.address(url)


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    spark_session.shared()
    with pytest.raises(PolicyError, match="already has a Spark application at spark://local"):
        Spark("spark://local[1]?path=/nothing", "p", {})
    with pytest.raises(PolicyError, match="cannot be read"):
        Spark(f"{spark_session.ADDRESS}?path={tmp_path}/nothing", "p", {})
    with pytest.raises(PolicyError, match="cannot be read"):
        Spark(spark_session.ADDRESS, "no_such_table", {})
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PolicyError, match="Java cannot be started") as caught:
        sessions._java(None)
    assert "Java 17" in caught.value.hint
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(PolicyError, match="needs the package pyspark, and Java 17"):
        Spark(f"{spark_session.ADDRESS}?path=/nothing", "p", {})


COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.optimizer.excludedRules":
        "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
}  # fmt: skip


@pytest.mark.slow
def test_compiled_statements_give_the_same_bytes():
    sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))
    from sources import from_database, from_spark
    from test_engines_alike import EXPRESSIONS, KEYS, REAL, TEXTS, drawn, sealed_bytes

    rows, values = drawn(3), (*EXPRESSIONS.values(), *REAL)
    statements = [f"SELECT SUM({e}), COUNT({e}), MEDIAN({e}) FROM people" for e in values]
    statements += [f"SELECT COUNT(*), AVG(far) FROM people GROUP BY {key}" for key in KEYS]
    with from_spark(rows) as (engine, _), from_database(rows) as (embedded, _):
        for name, value in COMPILED.items():
            engine._relation.session.conf.set(name, value)
        for sql in statements + TEXTS:
            assert sealed_bytes(engine, sql) == sealed_bytes(embedded, sql), sql
