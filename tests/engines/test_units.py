"""Contribution bounding: which rows of a unit are kept depends on what is in them alone."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.duckdb.engine import DuckDB
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.measurement import Quantile
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import ranked, request_of

DOMAINS = {
    "value": Grid(Fraction(0), Fraction(100)),
    "kind": Categories(("a", "b", "c")),
    "who": Open(),
}
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
STATEMENTS = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(DISTINCT who) FROM t",
    "SELECT COUNT(*), COUNT(DISTINCT who) FROM t",
    "SELECT SUM(value) FROM t",
    "SELECT kind, COUNT(*), AVG(value) FROM t GROUP BY kind",
    "SELECT COUNT(*) FROM t WHERE value > 50",
    "SELECT COUNT(DISTINCT who) FROM t WHERE kind = 'a'",
    "SELECT kind, COUNT(DISTINCT who) FROM t GROUP BY kind",
    "SELECT MEDIAN(value) FROM t GROUP BY kind",
    "SELECT VAR_SAMP(value) FROM t",
]


def table(rows):
    return Table("t", ATTRIBUTES, "who", rows)


def made(seed, size=600):
    """Rows with units of all sizes, twins among them, and rows that are nobody's."""
    pick = random.Random(seed)
    rows = []
    for _ in range(size):
        who = pick.choice([None, "", "ä", *(f"u{i}" for i in range(40)), *["crowd"] * 9])
        value = pick.choice([None, 1, 7, pick.randint(0, 100)])
        rows.append((who, value, pick.choice(["a", "b", "c", "d", None]), pick.random() < 0.5))
    return rows + rows[:100]


def written(folder, rows, parts=1):
    folder.mkdir()
    for part in range(parts):
        columns = zip(*rows[part::parts], strict=True)
        found = dict(zip(("who", "value", "kind", "extra"), columns, strict=True))
        pq.write_table(pa.table({k: list(v) for k, v in found.items()}), folder / f"{part}.parquet")
    return folder


def answers(path, max_rows, threads=None):
    engine = DuckDB(path, "t", DOMAINS)
    if threads is not None:
        engine._connection.execute(f"SET threads = {threads}")
    try:
        return [answer(engine, sql, table(max_rows)) for sql in STATEMENTS]
    finally:
        engine.close()


def answer(engine, sql, private):
    question = bind(sql, private, tuple(engine.columns()))
    found = plan_measurements(question).measurements
    plain = tuple(m for m in found if not isinstance(m, Quantile))
    request = request_of(private, question.where, question.keys, plain)
    out = [unseal(part).tolist() for part in engine.measure(request)] if plain else []
    for quantile in (m for m in found if isinstance(m, Quantile)):
        cells = unseal(engine.histogram(request, ranked(quantile)))
        out.append({cell: (v.tolist(), n.tolist()) for cell, (v, n) in cells.items()})
    return out


def test_the_choice_depends_on_the_rows_alone(tmp_path):
    rows = made(1)
    wanted = answers(written(tmp_path / "one", rows), 3)
    for number, (parts, threads) in enumerate([(1, 1), (5, 2), (3, 4), (7, 1)]):
        shuffled = random.Random(number).sample(rows, len(rows))
        folder = written(tmp_path / str(number), shuffled, parts)
        assert answers(folder, 3, threads) == wanted


@pytest.mark.parametrize("max_rows", [1, 3, 10**6])
def test_at_most_so_many_rows_of_each_unit_are_kept(tmp_path, max_rows):
    rows = made(2)
    sizes = Counter(row[0] for row in rows if row[0] is not None)
    engine = DuckDB(written(tmp_path / "data", rows), "t", DOMAINS)
    kept = {}
    for who in sizes:
        sql = f"SELECT COUNT(*) FROM t WHERE who = '{who}'"
        kept[who] = answer(engine, sql, table(max_rows))[0][0][0]
    total = answer(engine, "SELECT COUNT(*) FROM t WHERE TRUE", table(max_rows))
    nobody = answer(engine, "SELECT COUNT(*) FROM t WHERE who IS NULL", table(max_rows))
    engine.close()
    assert kept == {who: min(size, max_rows) for who, size in sizes.items()}
    assert total == [[[sum(kept.values())]]]
    assert nobody == [[[0]]]


def test_another_unit_changes_nothing_for_the_rest(tmp_path):
    rows = made(4)
    less = [row for row in rows if row[0] != "crowd"]
    few = [row for row in rows if row[0] == "crowd"]
    with_crowd = answers(written(tmp_path / "with", rows), 3)
    without = answers(written(tmp_path / "without", less), 3)
    alone = answers(written(tmp_path / "alone", few), 3)
    sums = STATEMENTS.index("SELECT SUM(value) FROM t")
    assert with_crowd[sums][0][0][0] == without[sums][0][0][0] + alone[sums][0][0][0]
    assert with_crowd[0][0][0][0] == without[0][0][0][0] + 3


def test_units_of_every_type(tmp_path):
    for number, (kind, values) in enumerate({
        "DOUBLE": ["'nan'", "'nan'", "'inf'", "-0.0", "0.0", "1.5", "NULL"],
        "DATE": ["'infinity'", "'2020-01-01'", "'2020-01-01'", "NULL"],
        "BLOB": ["'a'", "'\\xFF'", "NULL"],
        "INTEGER[]": ["[1]", "[1]", "[]", "NULL"],
        "BOOLEAN": ["TRUE", "TRUE", "FALSE", "NULL"],
    }.items()):  # fmt: skip
        path = str(tmp_path / f"{number}.duckdb")
        rows = ", ".join(f"(CAST({value} AS {kind}), {i})" for i, value in enumerate(values))
        with duckdb.connect(path) as connection:
            connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {rows}) v(who, value)")
        engine = DuckDB(path, "t", DOMAINS)
        private = Table("t", {"value": ATTRIBUTES["value"]}, "who", 1)
        found = [
            answer(engine, f"SELECT {what} FROM t{where}", private)[0][0][0]
            for what in ("COUNT(*)", "COUNT(DISTINCT who)")
            for where in ("", " WHERE value >= 0")
        ]
        engine.close()
        assert len({*found}) == 1
        assert 1 < found[0] < len(values)
