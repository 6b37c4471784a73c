"""Files of Stata, SPSS and SAS: labels, missing values, days and moments; no value fails a load."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import adomnia
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.duckdb.statistics import reader
from adomnia.engines.duckdb.statistics.variables import Variable, decoded_column
from adomnia.errors import PolicyError
from adomnia.policy.policy import read_policy
from adomnia.review.drafts.draft import draft_policy

DAYS = [date(2020, 2, 29), date(1899, 12, 31), None, date(2000, 1, 1)]
MOMENTS = [datetime(2020, 2, 29, 23, 59, 59), datetime(1950, 1, 1), None, datetime(2000, 1, 1, 7)]
FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "age": [20.5, -3.0, None, 1e10],
        "name": ["Ann", "Bö", "", "x y"],
        "day": pd.Series(DAYS, dtype=object),
        "at": pd.Series(MOMENTS, dtype=object),
    }
)
LABELS = {"sex": {1: "male", 2: "female"}}


def rows_of(path, table="t"):
    """What is read of a file."""
    engine = DuckDB(path, table, {})
    try:
        return engine._connection.execute("SELECT * FROM copied.adomnia_rows").fetchall()
    finally:
        engine.close()


def types_of(path):
    engine = DuckDB(path, "t", {})
    engine.close()
    return dict(engine.columns())


def spss(path, frame=FRAME, **more):
    pyreadstat.write_sav(frame, str(path), **more)
    return path


def stata(path, frame=FRAME, **more):
    pyreadstat.write_dta(frame, str(path), **more)
    return path


def sas(path, frame=FRAME, **more):
    pyreadstat.write_xport(frame, str(path), **more)
    return path


@pytest.mark.parametrize(("write", "name", "more"), [
    (spss, "t.sav", {"variable_value_labels": LABELS}),
    (spss, "t.zsav", {"variable_value_labels": LABELS, "compress": True}),
    (stata, "t.dta", {"variable_value_labels": LABELS}),
    (sas, "t.xpt", {}),
])  # fmt: skip
def test_numbers_texts_days_and_moments_are_what_they_are(tmp_path, write, name, more):
    found = rows_of(write(tmp_path / name, **more))
    columns = dict(zip(FRAME, zip(*found, strict=True), strict=True))
    assert columns["age"] == (20.5, -3.0, None, 1e10)
    assert columns["name"] == ("Ann", "Bö", None, "x y")
    assert columns["day"] == tuple(DAYS)
    assert columns["at"] == tuple(MOMENTS)
    labelled = ("male", "female", "9", None)  # a value without a label is its number
    assert columns["sex"] == (labelled if more else (1.0, 2.0, 9.0, None))


def test_what_spss_declares_missing_is_null(tmp_path):
    labels = {"sex": {1: "male", 2: "female", 9: "no answer"}, "age": {-3: "refused"}}
    ranges = {"sex": [9], "age": [{"lo": -9, "hi": -1}], "name": ["x y"]}
    path = spss(tmp_path / "t.sav", variable_value_labels=labels, missing_ranges=ranges)
    sex, age, name, *_ = zip(*rows_of(path), strict=True)
    assert sex == ("male", "female", None, None)
    assert age == (20.5, None, None, 1e10)  # its one label is of a missing value
    assert name == ("Ann", "Bö", None, None)


def test_what_stata_declares_missing_is_null(tmp_path):
    frame = pd.DataFrame({"n": [1, "a", 3, "z"]}, dtype=object)
    path = stata(tmp_path / "t.dta", frame, missing_user_values={"n": ["a", "z"]})
    assert rows_of(path) == [(1.0,), (None,), (3.0,), (None,)]


def test_marks_on_a_scale_leave_numbers(tmp_path):
    frame = pd.DataFrame({"mark": [0.0, 5.0, 10.0], "party": [1.0, 2.0, 3.0]})
    labels = {"mark": {0: "not at all", 10: "wholly"}, "party": {1: "A", 2: "B", 3: "C"}}
    path = spss(tmp_path / "t.sav", frame, variable_value_labels=labels,
                variable_measure={"mark": "scale", "party": "scale"})  # fmt: skip
    assert rows_of(path) == [(0.0, "A"), (5.0, "B"), (10.0, "C")]


def test_whole_numbers_of_stata_are_whole(tmp_path):
    frame = pd.DataFrame({"n": np.array([1, 2, 30_000], np.int32)})
    path = stata(tmp_path / "t.dta", frame)
    assert types_of(path) == {"n": "BIGINT"}
    assert rows_of(path) == [(1,), (2,), (30_000,)]


@pytest.mark.parametrize(("form", "number", "day"), [
    ("%tm", 721.0, date(2020, 2, 1)), ("%tq", 241.0, date(2020, 4, 1)),
    ("%th", -1.0, date(1959, 7, 1)), ("%tdD_m_Y", -1.0, date(1959, 12, 31)),
    ("%d", 0.0, date(1960, 1, 1)),
])  # fmt: skip
def test_periods_of_stata_are_their_first_days(tmp_path, form, number, day):
    frame = pd.DataFrame({"p": [number, None, 1e300, -1e300]})
    path = stata(tmp_path / "t.dta", frame, variable_format={"p": form})
    assert rows_of(path) == [(day,), (None,), (None,), (None,)]


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e308, -1e308, 1e18, -1e18, 5e-324])
def test_every_number_is_a_day_and_a_moment_or_null(number):
    for variable in (
        Variable("x", "day"), Variable("x", "moment", unit=86_400.0, begin=3653),
        Variable("x", "moment", unit=86_400_000.0), Variable("x", "day", months=3),
        Variable("x", "whole"), Variable("x", "number"),
        Variable("x", "text", labels={1.0: "one", 2.0: "two"}),
    ):  # fmt: skip
        array = decoded_column(variable, [number, 1.0, None])
        array.validate(full=True)
        assert array.type == variable.arrow
        assert array.is_valid().to_pylist()[1:] == [True, False]


def data_of(raw, path):
    """Where the rows of an uncompressed file begin and end."""
    if path.suffix == ".dta":
        return raw.index(b"<data>") + 6, raw.index(b"</data>")
    start = raw.index(b"Ann") - 16
    return start, start + 4 * 8 * 5


@pytest.mark.parametrize(("write", "name"), [(spss, "t.sav"), (stata, "t.dta")])
@pytest.mark.parametrize("seed", range(12))
def test_no_bytes_of_a_row_can_make_a_load_fail(tmp_path, write, name, seed):
    path = write(tmp_path / name)
    raw = bytearray(path.read_bytes())
    start, end = data_of(bytes(raw), path)
    chance = np.random.default_rng(seed)
    places = chance.integers(start, end, 40) if seed else range(start, end)
    for place in places:
        raw[place] = 0xFF if not seed else chance.integers(256)
    path.write_bytes(raw)
    assert len(rows_of(path)) == len(FRAME)


def test_rows_are_read_in_lots(tmp_path, monkeypatch):
    frame = pd.DataFrame({"n": np.arange(2500.0), "s": [f"s{i}" for i in range(2500)]})
    monkeypatch.setattr(reader, "CELLS", 0)
    for write, name in ((spss, "t.sav"), (stata, "t.dta"), (sas, "t.xpt")):
        found = rows_of(write(tmp_path / name, frame))
        assert [row[0] for row in found] == list(range(2500))


def test_a_file_of_spss_is_drafted_loaded_and_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"sex": [1.0, 2.0] * 100, "age": np.arange(200.0) % 80})
    spss(tmp_path / "people.sav", frame, variable_value_labels=LABELS)
    made = draft_policy("people.sav", "adomnia.toml")
    assert 'values = ["female", "male"]' in made.text
    (tmp_path / "adomnia.toml").write_text(made.text.replace("confirmed = false",
                                                             "confirmed = true"))  # fmt: skip
    with adomnia.open("adomnia.toml") as database:
        answer = database.session().ask("SELECT sex, AVG(age) AS a FROM people GROUP BY sex",
                                        epsilon=1)  # fmt: skip
    assert [row[0] for row in answer.rows] == ["female", "male"]


def test_labels_of_columns_become_descriptions(tmp_path):
    frame = pd.DataFrame({"age": np.arange(90.0), "n": [1.0] * 90, "id": np.arange(90.0)})
    labels = ['Age\tat  \x1binterview "now"', "", "Who it is"]
    path = spss(tmp_path / "t.sav", frame, column_labels=labels)
    (tmp_path / "adomnia.toml").write_text(draft_policy(path, tmp_path / "adomnia.toml").text)
    found = read_policy(tmp_path / "adomnia.toml").attributes
    assert {name: one.description for name, one in found.items()} == {
        "age": 'Age at interview "now"', "n": "",
    }  # fmt: skip


def test_the_number_of_rows_of_a_transport_file_is_not_public(tmp_path):
    engine = DuckDB(sas(tmp_path / "t.xpt"), "t", {})
    assert not engine.row_count_is_stable
    engine.close()


def test_what_is_no_such_file_is_refused(tmp_path):
    for name in ("t.sav", "t.dta", "t.sas7bdat", "t.xpt"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(PolicyError, match="cannot be read"):
            rows_of(tmp_path / name)


def test_without_the_reader_it_is_said_what_to_install(tmp_path, monkeypatch):
    path = spss(tmp_path / "t.sav")
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(PolicyError) as caught:
        rows_of(path)
    assert "adomnia[files]" in caught.value.hint
