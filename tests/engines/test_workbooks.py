"""Workbooks of Excel: a sheet is a table, each cell a text by itself, and no cell fails a load."""

from __future__ import annotations

import re
import zipfile
from datetime import date, datetime, time

import openpyxl
import pytest

import adomnia
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.errors import PolicyError
from adomnia.policy.policy import read_policy
from adomnia.review import check_source, remarks
from adomnia.review.drafts.draft import Wish, draft_policy


def book(path, **sheets):
    """A workbook of these sheets."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def rows_of(path, table="t"):
    """What is read of a sheet."""
    engine = DuckDB(path, table, {})
    try:
        return engine._connection.execute("SELECT * FROM copied.adomnia_rows").fetchall()
    finally:
        engine.close()


def test_every_type_of_cell_is_a_text(tmp_path):
    cells = [
        (3, "3"), (-0.1, "-0.1"), (1e300, "1e+300"), (True, "true"), (False, "false"),
        ("text", "text"), ("", None), (None, None), (date(2020, 2, 29), "2020-02-29"),
        (datetime(2020, 2, 29, 10, 30, 15), "2020-02-29 10:30:15"), (time(10, 30), "10:30:00"),
        (date(1900, 1, 1), "1900-01-01"), ("=1+1", None), ("ä€😀", "ä€😀"), ("007", "007"),
        (" x ", " x "), (12345678901234, "12345678901234"),
    ]  # fmt: skip
    path = book(tmp_path / "t.xlsx", t=[["v"], *([cell] for cell, _ in cells)])
    assert [row[0] for row in rows_of(path)] == [text for _, text in cells]


def test_blank_lines_are_rows_of_nulls(tmp_path):
    lines = [["a", "b"], [1, 2], [], [None, None], [3, None], [], [], [None, 4]]
    assert rows_of(book(tmp_path / "t.xlsx", t=lines)) == [
        ("1", "2"), (None, None), (None, None), ("3", None), (None, None), (None, None),
        (None, "4"),
    ]  # fmt: skip


def test_blank_lines_at_the_end_are_no_rows(tmp_path):
    lines = [["a", "b"], [], [1, 2], *[[None, ""]] * 3, [None, None, "beside the names"]]
    path = book(tmp_path / "t.xlsx", t=lines)
    made = openpyxl.load_workbook(path)
    made.active["A5000"].number_format = "0.00"
    made.active["Z90000"] = "far away"
    made.save(path)
    assert rows_of(path) == [(None, None), ("1", "2")]


def test_lines_above_the_names_and_cells_beside_them_are_left_out(tmp_path):
    lines = [[], [], ["a", None, " c "], [1, 2, 3, "beyond"]]
    path = book(tmp_path / "t.xlsx", t=lines)
    engine = DuckDB(path, "t", {})
    assert list(engine.columns()) == ["a", "column1", "c"]
    assert not engine.row_count_is_stable
    engine.close()
    assert rows_of(path) == [("1", "2", "3")]


def test_a_sheet_is_named_by_the_table(tmp_path):
    path = book(tmp_path / "t.xlsx", People=[["a"], [1]], **{"Old visits": [["b"], [2]]})
    assert rows_of(path, "people") == [("1",)]
    assert rows_of(path, "old_visits") == [("2",)]
    with pytest.raises(PolicyError) as caught:
        rows_of(path, "other")
    assert "'People', 'Old visits'" in caught.value.hint


def test_a_workbook_is_drafted_loaded_and_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [["person_id", "sex", "joined", "income"]]
    rows += [[i, "FM"[i % 2], date(2020, 1 + i % 12, 3), 1000 + i * 7.5] for i in range(200)]
    book("people.xlsx", Sheet1=rows)
    made = draft_policy("people.xlsx", "adomnia.toml")
    assert made.table == "people"
    assert set(made.confirm) == {"sex", "joined", "income"}
    (tmp_path / "adomnia.toml").write_text(made.text.replace("confirmed = false",
                                                             "confirmed = true"))  # fmt: skip
    with adomnia.open("adomnia.toml") as database:
        answer = database.session().ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex",
                                        epsilon=1)  # fmt: skip
    assert {row[0] for row in answer.rows} == {"F", "M"}


def test_several_sheets_are_listed_by_a_draft(tmp_path):
    path = book(tmp_path / "t.xlsx", People=[["a", "b"], [1, 2]], Visits=[["b"], [2]], Empty=[])
    with pytest.raises(PolicyError) as caught:
        draft_policy(path, tmp_path / "adomnia.toml")
    assert "People (2 columns), Visits (1 column)" in caught.value.hint
    assert draft_policy(path, tmp_path / "adomnia.toml", Wish(table="visits")).table == "visits"


HOSTILE = [
    '<c r="A3" t="s"><v>99999</v></c>', '<c r="A3" t="s"><v>-1</v></c>',
    '<c r="A3" t="s"><v>1e999</v></c>', '<c r="A3" t="s"><v>nan</v></c>',
    '<c r="A3"><v>abc</v></c>', '<c r="A3" t="b"><v>maybe</v></c>',
    '<c r="A3" t="e"><v>#DIV/0!</v></c>', '<c r="A3" t="?"><v>1</v></c>',
    '<c r="A3" s="x"><v>1e400</v></c>', '<c r="A3" s="1"><v>1e308</v></c>',
    '<c r="A3" s="1"><v>-5</v></c>', '<c r="A3" s="1"><v>2958465.99999999</v></c>',
    '<c r="A3" t="inlineStr"><is><t>_xD800_</t></is></c>', '<c r="A3" t="d"><v>soon</v></c>',
    '<c r="ZZZZ3"><v>1</v></c>', '<c t="str"><v>&#x10FFFF;</v></c>', '<c r="A3"/>',
    '<c r="A3" t="str"><f>1/0</f></c>', '<c r="A3" s="1"><v>nan</v></c>',
]  # fmt: skip


def rewritten(path, change):
    """The same workbook with its first sheet changed."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = change(parts[name].decode()).encode()
    with zipfile.ZipFile(path, "w") as new:
        for part, content in parts.items():
            new.writestr(part, content)
    return path


@pytest.mark.parametrize("cell", HOSTILE)
def test_no_cell_can_make_a_load_fail_or_change_others(tmp_path, cell):
    path = book(tmp_path / "t.xlsx", t=[["a"], [1], [2], [date(2020, 1, 1)]])
    rewritten(path, lambda text: re.sub(r'<c r="A3".*?</c>', lambda _: cell, text))
    found = [row[0] for row in rows_of(path)]
    assert len(found) == 3
    assert (found[0], found[2]) == ("1", "2020-01-01")


@pytest.mark.parametrize("change", [
    lambda text: text.replace("<worksheet", "<!DOCTYPE w [<!ENTITY a 'b'>]><worksheet", 1),
    lambda text: text.replace('<row r="3"', '<row r="9999999"'),
    lambda text: text.replace('<row r="3"', '<row r="1"'),
    lambda text: text[:-40],
])  # fmt: skip
def test_what_is_no_sheet_is_refused(tmp_path, change):
    path = book(tmp_path / "t.xlsx", t=[["a"], [1], [2]])
    with pytest.raises(PolicyError):
        rows_of(rewritten(path, change))


def test_what_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "t.xlsx").write_text("no")
    with pytest.raises(PolicyError, match="cannot be read"):
        rows_of(tmp_path / "t.xlsx")


def test_two_columns_of_one_name_are_refused(tmp_path):
    with pytest.raises(PolicyError, match="two columns of one name: 'a' is column 1 and column 2"):
        rows_of(book(tmp_path / "t.xlsx", t=[["a", "A"], [1, 2]]))


def test_days_are_counted_from_1904_where_the_workbook_says_so(tmp_path):
    made = openpyxl.Workbook()
    made.epoch = openpyxl.utils.datetime.MAC_EPOCH
    made.active.append(["day"])
    made.active.append([date(2021, 3, 4)])
    made.save(tmp_path / "t.xlsx")
    assert rows_of(tmp_path / "t.xlsx") == [("2021-03-04",)]


def test_a_title_above_the_names_is_told_in_drafts_and_checks(tmp_path):
    lines = [["Staff of 2025"], [], ["nr", "pay"], *([i, i % 9] for i in range(60))]
    path = book(tmp_path / "t.xlsx", first=[["a", "b"], [1, 2]], second=lines)
    made = draft_policy(path, tmp_path / "adomnia.toml", Wish(table="second"))
    assert made.titled
    assert "the names seem to be in line 3: delete what stands before it" in made.remarks[0]
    (tmp_path / "adomnia.toml").write_text(made.text)
    said = remarks(check_source(read_policy(tmp_path / "adomnia.toml")))
    assert [one.grave for one in said if "it names no columns" in one.text] == [True]
    plain = draft_policy(path, tmp_path / "adomnia.toml", Wish(table="first"))
    assert (plain.titled, plain.remarks) == (False, ())
