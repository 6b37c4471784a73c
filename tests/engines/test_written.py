"""Text that stands for a number or a day: one rule, and every engine reads by it."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_place import placed

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.postgres.dialect import PostgresDialect
from adomnia.engines.spark.dialect import SPARK
from tests import spark_session

DAYS = ["2020-02-03", "2020/2/3", "2020-02-03 10:11:12", "2020-02-03T10:11:12Z", "infinity",
        "2020-02-03 10:11:12+01", "epoch", "0044-01-01 (BC)", "12020-01-01", "-0044-01-01",
        "2020-02-30", "today", "now", "2020.01.01", "20200101", "Jan 1 2020"]  # fmt: skip
NUMBERS = ["12", "-1.5e3", "0x1", "0b11", "0o7", "1_000", "inf", "NaN", ".5", "5.", "1e40", "+7",
           "1e4_0", "+-2", "1,5", "12f", "1d", "1L", "0x1p3", "٣", "\t5\u2003",
           "0" * 201]  # fmt: skip
SIGNS = "0123456789-/: T.Z+eE_xbdf\\("


def mutated(seeds, number, pick):
    """Texts that are nearly one of these."""
    found = dict.fromkeys(seeds)
    while len(found) < number:
        text = pick.choice(seeds)
        for _ in range(pick.randint(1, 3)):
            place = pick.randint(0, len(text))
            text = text[:place] + pick.choice(SIGNS) + text[place + pick.randint(0, 1) :]
        found[text] = None
    return [*found]


def meaning(dialect, column):
    """Whether a text is a number, which whole one, and whether it is a day, and which."""
    number, day = dialect.number(column, "text"), dialect.day(column, "text")
    within = f"CASE WHEN {day} BETWEEN DATE '0002-01-01' AND DATE '9998-12-31' THEN {day} END"
    place = f"EXTRACT(YEAR FROM {within}) * 10000 + EXTRACT(DAY FROM {within})"
    return f"{number} IS NULL, {dialect.integer(column, 'text')}, {day} IS NULL, {place}"


def test_a_text_is_the_same_number_and_day_on_every_engine():
    pick = random.Random(2)
    texts = mutated(DAYS, 400, pick) + mutated(NUMBERS, 400, pick)
    values = ", ".join(f"({DUCKDB.constant(text)})" for text in texts)
    sql = f"SELECT {meaning(DUCKDB, 'x')} FROM (VALUES {values}) AS t(x)"
    expected = [tuple(map(plain, row)) for row in duckdb.connect().execute(sql).fetchall()]
    with placed() as place:
        dialect = PostgresDialect()
        sql = f"SELECT {meaning(dialect, 'x')} FROM (VALUES {values}) AS t(x)"
        found = place.owner.execute(sql.encode()).fetchall()
    assert differing(texts, found, expected) == []
    values = ", ".join(f"({SPARK.constant(text)})" for text in texts)
    session = spark_session.shared().newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    found = session.sql(f"SELECT {meaning(SPARK, 'x')} FROM VALUES {values} AS t(x)").collect()
    assert differing(texts, found, expected) == []
    words = dict(zip(texts, expected, strict=True))
    assert words["epoch"][2]
    assert words["0044-01-01 (BC)"][2]
    assert words["0x1"][:2] == (True, None)
    assert words["12"] == (False, 12, True, None)


def plain(value):
    return value if value is None or isinstance(value, bool) else int(value)


def differing(texts, found, expected):
    """The texts that are read otherwise."""
    pairs = zip(texts, found, expected, strict=True)
    return [(t, f, e) for t, row, e in pairs if (f := tuple(map(plain, row))) != e]
