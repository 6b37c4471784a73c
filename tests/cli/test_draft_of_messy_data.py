"""Drafts of data as it really is: odd cells, rare values, several tables, files that differ."""

from __future__ import annotations

import tomllib

import duckdb
import pytest

from adomnia.errors import PolicyError
from adomnia.policy.policy import read_policy
from adomnia.review.drafts.draft import Wish, draft_policy
from adomnia.schema.domain import Timestamps


def draft(tmp_path, columns, wish=None, name="t.csv"):
    """The draft of a CSV file of these columns."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    made = draft_policy(tmp_path / name, tmp_path / "adomnia.toml", wish)
    return made, tomllib.loads(made.text)["attributes"]


# Odd cells


def test_a_few_odd_cells_do_not_make_text_of_numbers(tmp_path):
    ages = [*(20 + i % 60 for i in range(980)), *["unknown"] * 12, *["n/a"] * 8]
    made, found = draft(tmp_path, {"age": ages})
    assert found["age"] == {"low": 20, "high": 80, "nullable": True}
    assert "# 98 % of these are numbers; the rest counts as NULL" in made.text
    assert "unknown" not in made.text


def test_a_single_odd_cell_is_told_as_more_than_99_percent(tmp_path):
    made, found = draft(tmp_path, {"n": [*range(0, 5000, 5), "x7"], "few": [*[1, 2] * 500, "Zoe"]})
    assert found["n"]["high"] == 5000
    assert found["few"] == {"low": 1, "high": 2, "nullable": True}
    assert made.text.count("More than 99 % of these are numbers") == 2
    assert "Zoe" not in made.text


def test_a_few_odd_cells_do_not_make_text_of_dates(tmp_path):
    days = [*(f"2020-0{1 + i % 9}-11" for i in range(960)), *["soon"] * 20, *["9999-12-31"] * 20]
    made, found = draft(tmp_path, {"day": days})
    assert found["day"] == {
        "kind": "date", "low": "2020-01-01", "high": "2020-12-31", "nullable": True,
    }  # fmt: skip
    assert "98 % of these are dates" in made.text
    assert "9999-12-31, far from all others: a code for missing?" in made.text


def test_one_number_with_many_decimals_does_not_decide_the_step(tmp_path):
    _, found = draft(tmp_path, {"n": [*[3, 40, 500] * 300, 3.14159], "m": [*[1.25, 3.5] * 450, 1]})
    assert "step" not in found["n"]
    assert found["m"]["step"] == 0.01


def test_half_numbers_stay_text(tmp_path):
    _, found = draft(tmp_path, {"c": [*["1", "2"] * 50, *["a", "b"] * 50], "zip": ["01234"] * 200})
    assert found["c"] == {"values": ["1", "2", "a", "b"]}
    assert found["zip"] == {"values": ["01234"]}


# Rare values


def test_rare_values_are_left_out_and_not_named(tmp_path):
    jobs = [*["clerk", "nurse"] * 100, *["bishop"] * 9, "astronaut"]
    made, found = draft(tmp_path, {"job": jobs})
    assert found["job"] == {"values": ["clerk", "nurse"], "other": "other"}
    assert "2 values have fewer than 10 rows" in made.text
    assert "bishop" not in made.text
    assert "astronaut" not in made.text
    assert made.columns[0].rare == 2


def test_rare_values_are_listed_on_request_and_marked(tmp_path):
    made, found = draft(tmp_path, {"job": [*["clerk"] * 99, "bishop"]}, Wish(rare=True))
    assert found["job"] == {"values": ["bishop", "clerk"]}
    assert "# 1 value has fewer than 10 rows, listed as asked" in made.text


def test_values_that_are_all_rare_are_no_list(tmp_path):
    made, found = draft(tmp_path, {"job": ["a", "b", "c", "d"] * 5, "n": [1] * 20})
    assert set(found) == {"n"}
    assert "# job: 4 values have fewer than 10 rows" in made.text


def test_rare_numbers_are_outside_the_bounds(tmp_path):
    made, found = draft(tmp_path, {"children": [*[0, 1, 2, 3] * 50, 17]})
    assert found["children"] == {"low": 0, "high": 3}
    assert "1 value has fewer than 10 rows and may lie outside" in made.text
    assert "17" not in made.text


# Files that differ


def test_files_of_different_columns_are_refused_by_group(tmp_path):
    for name, line in (("a1", "id,age"), ("a2", "age,id"), ("b", "day,place")):
        (tmp_path / f"{name}.csv").write_text(line + "\n1,2\n")
    with pytest.raises(PolicyError) as caught:
        draft_policy(tmp_path, tmp_path / "adomnia.toml")
    assert "do not have the same columns" in caught.value.message
    assert "a1.csv and 1 more: id, age" in caught.value.hint
    assert "b.csv: day, place" in caught.value.hint
    assert draft_policy(tmp_path / "a*.csv", tmp_path / "adomnia.toml").table == "a"


def test_parquet_files_of_different_columns_too(tmp_path):
    duckdb.sql("SELECT 1 AS a").write_parquet(str(tmp_path / "x.parquet"))
    duckdb.sql("SELECT 1 AS b").write_parquet(str(tmp_path / "y.parquet"))
    with pytest.raises(PolicyError, match="same columns"):
        draft_policy(tmp_path / "*.parquet", tmp_path / "adomnia.toml")


# Several tables


def test_the_tables_of_a_database_are_listed(tmp_path):
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 7 AS day FROM range(100) AS r(i)")
    assert draft_policy(path, tmp_path / "adomnia.toml").table == "people"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW visits AS SELECT 1 AS a, 2 AS b")
    with pytest.raises(PolicyError) as caught:
        draft_policy(path, tmp_path / "adomnia.toml")
    assert "people (1 column), visits (2 columns)" in caught.value.hint


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "no.duckdb").write_text("nothing")
    with pytest.raises(PolicyError, match="cannot be read"):
        draft_policy(tmp_path / "no.duckdb", tmp_path / "adomnia.toml")


# Moments


def test_moments_are_drafted_as_timestamps(tmp_path):
    moments = [f"2020-03-0{1 + i % 9} {i % 24:02}:15:00" for i in range(200)]
    made, found = draft(tmp_path, {"at": moments})
    assert found["at"] == {"kind": "timestamp", "low": "2020-01-01 00:00",
                           "high": "2020-12-31 23:00", "step": "1h"}  # fmt: skip
    (tmp_path / "adomnia.toml").write_text(made.text)
    assert isinstance(read_policy(tmp_path / "adomnia.toml").attributes["at"].domain, Timestamps)


def test_moments_of_centuries_are_days(tmp_path):
    made, found = draft(tmp_path, {"at": [f"{1801 + i}-03-01 10:15:00" for i in range(250)]})
    assert found["at"] == {"kind": "date", "low": "1801-01-01", "high": "2050-12-31"}
    assert "times of the day" in made.text


def test_midnights_are_days(tmp_path):
    sql = "SELECT TIMESTAMP '2020-01-01' + INTERVAL (i) DAY AS t FROM range(99) AS r(i)"
    duckdb.sql(sql).write_parquet(str(tmp_path / "t.parquet"))
    made = draft_policy(tmp_path / "t.parquet", tmp_path / "adomnia.toml")
    assert 'kind = "date"' in made.text
    assert "times of the day" not in made.text


@pytest.mark.parametrize("kind", ["TIMESTAMP_NS", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS"])
def test_every_type_of_moment_is_looked_at(tmp_path, kind):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        moments = "TIMESTAMP '2020-01-01 10:00:00' + INTERVAL (i) DAY"
        connection.execute(f"CREATE TABLE t AS SELECT ({moments})::{kind} AS t FROM range(9) r(i)")
        connection.execute("INSERT INTO t VALUES ('infinity'), (NULL)")
    made = draft_policy(path, tmp_path / "adomnia.toml")
    assert "times of the day" in made.text or 'kind = "timestamp"' in made.text


# Reading back


def test_a_draft_of_all_this_is_a_policy(tmp_path):
    columns = {
        "patient_id": [f"p{i % 200}" for i in range(600)],
        "age": [*(i % 90 for i in range(590)), *["?"] * 10],
        "job": [*["a b", 'c "d"'.replace('"', "'")] * 295, *[f"j{i}" for i in range(10)]],
        "income": [i * i % 99_991 for i in range(600)],
    }
    made, _ = draft(tmp_path, columns)
    (tmp_path / "adomnia.toml").write_text(made.text)
    policy = read_policy(tmp_path / "adomnia.toml")
    assert (policy.unit, policy.neighbors.rows) == ("patient_id", 3)
    assert set(policy.attributes) == {"age", "job", "income"}


# Forms that are not read


def quoted(values):
    return [f'"{value}"' for value in values]


DAYS = [(1 + i % 28, 1 + i // 28 % 12, 1950 + i // 336) for i in range(2000)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([f"{d:02}.{m:02}.{y}" for d, m, y in DAYS], "looks like dates as day.month.year"),
        ([f"{m:02}/{d:02}/{y}" for d, m, y in DAYS], "looks like dates with slashes"),
        ([f"{d}-{m}-{y}" for d, m, y in DAYS], "looks like dates as day-month-year"),
        ([f"{i},{i % 10}" for i in range(2000)], "looks like numbers with a decimal comma"),
        ([f"{900 + i:,}" for i in range(2000)], "looks like numbers with commas at thousands"),
        ([""] * 30, "no value in it"),
    ],
)
def test_days_and_numbers_in_another_form_are_told_and_are_no_unit(tmp_path, values, said):
    columns = {"score": [i % 5 for i in range(len(values))], "person": quoted(values)}
    made, _ = draft(tmp_path, columns)
    assert f"# person: {said}" in made.text
    assert "person" not in made.units
    assert not any(line.startswith("unit =") for line in made.text.splitlines())


def test_few_days_in_another_form_are_listed_and_told(tmp_path):
    made, found = draft(tmp_path, {"due": ["31.12.2020", "30.06.2020"] * 50})
    assert found["due"]["values"] == ["30.06.2020", "31.12.2020"]
    assert "# looks like dates as day.month.year, not read: write 2020-12-31" in made.text


def test_codes_with_zeros_in_front_are_no_numbers_in_another_form(tmp_path):
    made, found = draft(tmp_path, {"ward": ["007", "012", "100"] * 50})
    assert found["ward"]["values"] == ["007", "012", "100"]
    assert "looks like" not in made.text
