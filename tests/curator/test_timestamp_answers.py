"""Timestamps from a policy to an answer: read by the zone's clock, shown as moments, paid once."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import PolicyError, QuestionError
from adomnia.policy.policy import read_policy
from adomnia.present.release_page import release_page
from adomnia.schema.domain import Timestamps
from adomnia.testing import World, dates, listed, number, timestamps

HOURS = timestamps("2024-01-01 00:00", "2024-12-31 23:00", "1h", "Europe/Berlin")
START = datetime(2024, 1, 1, tzinfo=UTC)
SURE = 10_000
"""At this epsilon noise is nothing."""


def stays(rows: int = 400, attribute: str = HOURS) -> World:
    """Stays whose beginning is a moment of the world, and whose end is local time as text."""
    came = [START + timedelta(minutes=1307 * i) for i in range(rows)]
    ends = [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02} {i % 24:02}:{i % 60:02}" for i in range(rows)]
    columns = {
        "came": pa.array(came, pa.timestamp("us", "UTC")),
        "gone": pa.array(ends),
        "born": pa.array([date(1950 + i % 50, 1, 1) for i in range(rows)]),
        "ward": pa.array(["A" if i % 3 else "B" for i in range(rows)]),
        "age": pa.array([i % 90 for i in range(rows)]),
    }
    attributes = {
        "came": attribute,
        "gone": HOURS,
        "born": dates("1900-01-01", "2024-12-31"),
        "ward": listed("A", "B"),
        "age": number(0, 120),
    }
    return World(columns, attributes, f"epsilon = {10 * SURE}\ndelta = 1e-6", table="stays")


def ask(sql: str, world: World | None = None):
    with (world or stays()).open() as database:
        return database.session().ask(sql, epsilon=SURE)


def local(moment: datetime) -> datetime:
    """The clock of Berlin, worked out apart: summer time lasts from the last Sunday of March to
    that of October, at one o'clock of UTC."""
    summer = datetime(2024, 3, 31, 1, tzinfo=UTC) <= moment < datetime(2024, 10, 27, 1, tzinfo=UTC)
    return (moment + timedelta(hours=2 if summer else 1)).replace(tzinfo=None)


def test_groups_of_a_moment_are_moments_of_the_zones_clock() -> None:
    answer = ask("SELECT DATE_TRUNC('month', came) AS m, COUNT(*) AS n FROM stays GROUP BY m")
    came = [local(START + timedelta(minutes=1307 * i)) for i in range(400)]
    wanted = [(datetime(2024, month, 1), sum(c.month == month and c.year == 2024 for c in came))
              for month in range(1, 13)]  # fmt: skip
    assert answer.rows == wanted
    shown = answer.to_json()["rows"][0]
    assert shown == ["2024-01-01T00:00:00", wanted[0][1]]
    assert json.loads(json.dumps(answer.to_json()))["rows"][0] == shown


def test_hours_are_those_of_the_clock_and_steps_are_floors() -> None:
    answer = ask("SELECT EXTRACT(hour FROM came) AS h, COUNT(*) AS n FROM stays GROUP BY h")
    came = [local(START + timedelta(minutes=1307 * i)) for i in range(400)]
    inside = [c.hour for c in came if c.year == 2024]
    assert answer.rows == [(hour, inside.count(hour)) for hour in range(24)]


def test_frames_have_moments() -> None:
    answer = ask("SELECT DATE_TRUNC('quarter', came) AS q, COUNT(*) AS n FROM stays GROUP BY q")
    assert answer.to_pandas()["q"].dtype.kind == "M"
    assert answer.to_arrow()["q"].type == pa.timestamp("us")


def test_a_literal_between_two_steps_is_refused_and_nothing_is_paid() -> None:
    with stays().open() as database:
        for test in ("came = '2024-03-01 12:30'", "came < '2024-03-01 12:30'",
                     "born < '2000-01-01 12:00'"):  # fmt: skip
            with pytest.raises(QuestionError):
                database.session().ask(f"SELECT COUNT(*) FROM stays WHERE {test}", epsilon=1)
        assert database.budget()["data"]["spent"] == "0"


def test_the_same_question_again_is_free() -> None:
    sql = "SELECT CAST(came AS DATE) AS d, COUNT(*) AS n FROM stays GROUP BY d"
    with stays().open() as database:
        analyst = database.session()
        first = analyst.ask(sql, epsilon=1)
        again = analyst.ask(sql.replace("CAST(came AS DATE)", "came::date"), epsilon=1)
    assert again.rows == first.rows
    assert not again.spent["epsilon"]


def test_differences_are_averaged() -> None:
    hours = "EXTRACT(EPOCH FROM came - TIMESTAMP '2024-01-01 00:00') / 3600"
    answer = ask(f"SELECT AVG({hours}) AS h FROM stays WHERE came < '2024-02-01'")
    came = [local(START + timedelta(minutes=1307 * i)) for i in range(400)]
    apart = [(c.replace(minute=0) - datetime(2024, 1, 1)).total_seconds() / 3600
             for c in came if c < datetime(2024, 2, 1)]  # fmt: skip
    assert answer.rows[0][0] == pytest.approx(sum(apart) / len(apart), abs=0.5)


def test_a_released_table_says_that_its_column_is_a_moment(tmp_path: Path) -> None:
    world = stays(attribute=timestamps("2024-01-01", "2024-12-31 18:00", "6h"))
    with world.open() as database:
        tables = ["DATE_TRUNC('month', came) AS month, ward", "came"]
        release = database.release(database.plan_release(marginals=tables, epsilon=SURE))
    folder = write_folder(release, tmp_path / "out", microdata=True)
    with (folder / "marginals" / "ward__month.csv").open() as lines:
        months = {row["month"] for row in csv.DictReader(lines)}
    assert months == {f"2024-{month:02}-01 00:00:00" for month in range(1, 13)}
    metadata = json.loads((folder / "csv-metadata.json").read_text())
    kinds = {column["titles"]: column["datatype"] for table in metadata["tables"]
             for column in table["tableSchema"]["columns"]}  # fmt: skip
    assert kinds["month"] == {"base": "datetime", "format": "yyyy-MM-dd HH:mm:ss"}
    assert "2024-06-01 00:00:00" in release_page(release)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (timestamps("2024-01-01", "2024-12-31", "7h"), "step must divide a day"),
        (timestamps("2024-01-01", "2024-12-31 12:30", "1h"), "must lie on the step"),
        (timestamps("2024-01-01", "2023-12-31", "1h"), "low is above high"),
        (timestamps("2024-01-01", "2024-12-31", "soon"), "a timestamp needs a step"),
        (timestamps("2024-01-01", "2024-12-31", "1h", "Berlin"), "Europe/Berlin"),
        (timestamps("2024-01-01", "2024-12-31", "1h", "../etc/passwd"), "Europe/Berlin"),
        (timestamps("1700-01-01", "2024-12-31", "1h", "Europe/Berlin"), "at most 200 years"),
        (timestamps("0001-01-01", "2024-12-31", "1h"), "between the years 2 and 9998"),
        (timestamps("noon", "2024-12-31", "1h"), "must be a date with a time"),
        (timestamps("2024-01-01 00:00+01:00", "2024-12-31", "1h"), "local times of the zone"),
        (dates("2024-01-01", "2024-12-31") + '\nzone = "UTC"', "only a timestamp has a zone"),
        ('kind = "timestamp"\nlow = "2024-01-01"\nhigh = "2024-12-31"', "needs a step"),
    ],
)
def test_a_policy_says_what_is_wrong_with_its_moments(
    tmp_path: Path, lines: str, said: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy(stays(rows=1, attribute=lines).write(tmp_path))
    assert said in str(caught.value)
    assert "attributes.came" in str(caught.value) or caught.value.line is not None


def test_a_policy_may_write_its_moments_as_toml_has_them(tmp_path: Path) -> None:
    lines = 'kind = "timestamp"\nlow = 2024-01-01\nhigh = 2024-12-31T23:45:00\nstep = "15 min"'
    domain = read_policy(stays(rows=1, attribute=lines).write(tmp_path)).attributes["came"].domain
    assert domain == Timestamps(datetime(2024, 1, 1), datetime(2024, 12, 31, 23, 45), 900)


def test_quantiles_of_days_and_moments_are_days_and_moments() -> None:
    answer = ask(
        "SELECT MEDIAN(came) AS m, MIN(came) AS a, MAX(born) AS z, "
        "QUANTILE(born, 0.25) FILTER (WHERE ward = 'A') AS q FROM stays"
    )
    came = sorted(local(START + timedelta(minutes=1307 * i)) for i in range(400))
    born = sorted(date(1950 + i % 50, 1, 1) for i in range(400) if i % 3)
    [(median, first, last, quarter)] = answer.rows
    assert came[198] - timedelta(hours=1) <= median <= came[201]
    assert first in {moment.replace(minute=0) for moment in came[:2]}  # a rank inside
    assert last == date(1999, 1, 1)
    assert born[64] <= quarter <= born[68]
    assert dict(answer.margin_units) == dict.fromkeys("mazq", "rows")
    shown = answer.to_json()["rows"][0]
    assert shown == [x.isoformat() for x in (median, first, last, quarter)]


def test_the_interval_of_a_median_of_moments_has_moments_for_ends() -> None:
    with stays().open() as database:
        session = database.session()
        sql = "SELECT MEDIAN(came) AS m, MEDIAN(born) AS b FROM stays"
        answer = session.ask(sql, epsilon=SURE, error="interval")
        described = session.describe(sql)
    [(low, high)], [(early, late)] = answer.intervals["m"], answer.intervals["b"]
    assert low <= answer.rows[0][0] <= high
    assert early <= answer.rows[0][1] <= late
    assert answer.to_json()["intervals"]["m"] == [[low.isoformat(), high.isoformat()]]
    assert answer.to_arrow()["m_low"].type == pa.timestamp("us")
    assert answer.to_arrow()["b_high"].type == pa.date32()
    assert answer.to_polars()["m_high"].to_list() == [high]
    assert answer.to_pandas()["m_low"].dtype.kind == "M"
    assert [column.type for column in described] == ["timestamp", "date"]


def test_moments_outside_of_the_bounds_are_at_the_nearest_end_in_quantiles() -> None:
    late = timestamps("2024-11-01 00:00", "2024-12-31 23:00", "1h", "Europe/Berlin")
    answer = ask("SELECT MEDIAN(came) AS m FROM stays", stays(attribute=late))
    assert answer.rows == [(datetime(2024, 11, 1),)]


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ("AVG(came)", "a timestamp cannot be added up", "DATE_DIFF('day', DATE '2024-01-01', …)"),
        ("SUM(born)", "a date cannot be added up", "DATE_DIFF('day', DATE '1900-01-01', …)"),
        ("MEDIAN(DATE_TRUNC('month', born))", "the beginnings of months", "without cutting"),
    ],
)
def test_what_days_cannot_do_is_refused_with_what_works(asked, message, hint) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT {asked} FROM stays")
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert ask("SELECT AVG(DATE_DIFF('day', DATE '2024-01-01', came)) AS d FROM stays").rows
