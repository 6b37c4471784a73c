"""Timestamps over psql: their type, their values in both formats, and parameters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import parlour as rooms
import psycopg
import pytest
from parlour import Parlour

from adomnia.testing import World, analysts, dates, timestamps

FIRST = datetime(2024, 1, 1)


def write_stays(folder: Path, rows: int) -> Path:
    """Stays that begin every seven hours."""
    came = [FIRST + timedelta(hours=7 * i) for i in range(rows)]
    columns = {"came": came, "born": [date(2000, 1, 1)] * rows}
    attributes = {
        "came": timestamps("2024-01-01", "2024-12-31 23:00", "1h", "Europe/Berlin"),
        "born": dates("1930-01-01", "2010-12-31"),
    }
    more = analysts(alice=10**9)
    return World(columns, attributes, "epsilon = 1000000000", more).write(folder)


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parlour]:
    """A door to them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rooms, "write_town", write_stays)
        made = rooms.open_parlour(tmp_path_factory.mktemp("stays"), rows=100)
    yield made
    made.close()


@pytest.fixture(params=[False, True], ids=["text", "binary"])
def cursor(stays: Parlour, request: pytest.FixtureRequest) -> Iterator[psycopg.Cursor]:
    """Alice, with more epsilon than noise can hide in."""
    dsn = stays.dsn(options="'-c adomnia.epsilon=1000'")
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection.cursor(binary=request.param)


def test_a_group_is_a_timestamp(cursor: psycopg.Cursor) -> None:
    rows = cursor.execute(
        "SELECT date_trunc('week', came) AS w, count(*) FROM people GROUP BY w ORDER BY w LIMIT 2"
    ).fetchall()
    assert rows == [(FIRST, 24), (FIRST + timedelta(days=7), 24)]
    assert cursor.description[0].type_code == psycopg.adapters.types["timestamp"].oid


def test_parameters_are_moments(cursor: psycopg.Cursor) -> None:
    sql = "SELECT count(*) FROM people WHERE came >= %s AND came < %s"
    rows = cursor.execute(sql, (datetime(2024, 1, 1, 7), datetime(2024, 1, 2, 4))).fetchall()
    assert rows == [(3,)]
    assert cursor.execute(sql, (date(2024, 1, 2), "2024-01-03 00:00")).fetchall() == [(3,)]
    between = "SELECT avg(date_diff('hour', %s::timestamp, came)) FROM people WHERE came < %s"
    cursor.execute("SET adomnia.epsilon = 1000000")  # an average over a year of hours
    (found,) = cursor.execute(between, (FIRST, datetime(2024, 1, 2, 0))).fetchone()
    assert found == pytest.approx((0 + 7 + 14 + 21) / 4, abs=1)


def test_what_would_lose_precision_is_refused(cursor: psycopg.Cursor) -> None:
    for value in (datetime(2024, 1, 1, 7, 30), datetime(2024, 1, 1, 7, 0, 0, 5)):
        with pytest.raises(psycopg.Error, match=r"told apart|two steps"):
            cursor.execute("SELECT count(*) FROM people WHERE came < %s", (value,))
    with pytest.raises(psycopg.Error, match="no time of day"):
        cursor.execute("SELECT count(*) FROM people WHERE born < %s", (datetime(2001, 1, 1, 7),))


def test_the_catalogue_says_what_it_is(cursor: psycopg.Cursor) -> None:
    told = cursor.execute(
        "SELECT data_type FROM information_schema.columns WHERE column_name = 'came'"
    ).fetchall()
    assert told == [("timestamp without time zone",)]
    ((words,),) = cursor.execute(
        "SELECT domain FROM adomnia.domains WHERE attribute = 'came'"
    ).fetchall()
    assert words == (
        "moments from 2024-01-01 00:00:00 to 2024-12-31 23:00:00 in steps of 1h, "
        "by the clocks of Europe/Berlin"
    )


def test_the_interval_of_a_median_is_of_moments_and_days(cursor: psycopg.Cursor) -> None:
    for name, value in (("error", "interval"), ("margins", "on")):
        cursor.execute(f"SET adomnia.{name} = '{value}'")
    cursor.execute("SELECT median(came) AS m, median(born) AS b FROM people")
    assert cursor.description is not None
    [row] = cursor.fetchall()
    named = dict(zip([column.name for column in cursor.description], row, strict=True))
    assert named["m_low"] <= named["m"] <= named["m_high"]
    assert named["b"] == named["b_low"] == named["b_high"] == date(2000, 1, 1)
    assert isinstance(named["m_low"], datetime)
