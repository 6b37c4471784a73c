"""Answers as they are looked at: in text, in a notebook, in frames."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

from adomnia import Answer, MachineryError
from adomnia.testing import town


def answer(**fields) -> Answer:
    given = {
        "columns": ("town", "n", "m"),
        "rows": [("Ede", 1234, 41), ("<Ulm>", -3, None)],
        "margins": {"n": [11.5, 11.5], "m": [7.0, None]},
        "confidence": 0.95,
        "spent": {"epsilon": Fraction(1, 10)},
        "remaining": {"epsilon": Fraction(9, 10), "delta": Fraction(0)},
        "receipt": "r1",
        "notes": ("a note",),
        "margin_units": {"n": "value", "m": "rows"},
    }
    return Answer(**given | fields)


def test_print_shows_a_table_with_margins():
    assert str(answer()).splitlines() == [
        "town            n              m",
        "-----  ----------  -------------",
        "Ede    1,234 ± 12  41 ± 7.0 rows",
        "<Ulm>     -3 ± 12           NULL",
        "",
        "paid epsilon 0.1; left epsilon 0.9; receipt r1",
        "each ± holds with 95 % confidence",
        "note: a note",
    ]


def test_a_long_answer_is_cut_where_it_is_looked_at():
    rows = [(f"t{i}", i, i) for i in range(1000)]
    long = answer(rows=rows, margins={"n": [1.0] * 1000, "m": [1.0] * 1000})
    assert "… and 940 more rows, in `rows`" in str(long)
    assert len(str(long).splitlines()) < 70
    assert repr(long) == str(long)
    assert long._repr_html_().count("<tr>") == 61


def test_a_notebook_shows_text_and_no_markup_of_the_data():
    page = answer()._repr_html_()
    assert "&lt;Ulm&gt;" in page
    assert "<Ulm>" not in page
    assert "1,234 ± 12" in page
    assert "95 % confidence" in page


def test_control_characters_do_not_reach_a_terminal():
    assert "\x1b" not in str(answer(rows=[("\x1b[2J", 1, 2)], margins={"n": [1.0], "m": [1.0]}))


@pytest.mark.parametrize("huge", [2**63, -(2**80)])
def test_frames_hold_numbers_of_any_size(huge):
    wide = answer(rows=[("Ede", huge, 1), ("Ulm", 1, 2)])
    for frame in (wide.to_pandas(), wide.to_polars(), wide.to_arrow().to_pandas()):
        assert float(frame["n"][0]) == float(huge)
        assert list(frame.columns) == ["town", "n", "n_margin", "m", "m_margin_rows"]


def test_a_margin_takes_no_name_that_is_taken():
    other = answer(columns=("n_margin", "n", "m"))
    assert list(other.to_pandas().columns)[:3] == ["n_margin", "n", "n_margin_"]


def test_no_rows_are_a_table_too():
    empty = answer(rows=[], margins={"n": [], "m": []})
    assert str(empty).splitlines()[0] == "town  n  m"
    assert empty.to_pandas().shape == (0, 5)
    assert empty.to_polars().shape == (0, 5)
    assert empty.to_arrow().num_rows == 0


@pytest.mark.parametrize("huge", [10**30, 10**400, -(10**4000)])
def test_what_is_past_all_floats_is_shown_all_the_same(huge):
    wide = answer(
        rows=[("Ede", huge, 1), ("Ulm", 1.5, 2)],
        margins={"n": [huge, 2**60 + 1], "m": [float("inf"), None]},
    )
    assert "× 10" in str(wide)
    assert "× 10" in wide._repr_html_()
    assert wide.to_pandas().shape == wide.to_polars().shape == (2, 5)
    assert wide.to_arrow().num_rows == 2


def test_products_of_sums_are_answered_however_many_digits_they_have():
    with town(rows=5).open() as database:
        sql = "SELECT " + " * ".join(["SUM(income)"] * 100) + " AS p FROM people"
        found = database.session().ask(sql, epsilon="1e-60")
    assert str(found)
    assert found.to_arrow().num_rows == 1


def test_html_has_no_control_characters():
    page = answer(columns=("a\x1b", "n", "m"), rows=[("\x00\u202e", 1, 2)])._repr_html_()
    assert not {"\x1b", "\x00", "\u202e"} & set(page)


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MachineryError, match="pandas is not installed") as caught:
        answer().to_pandas()
    assert "adomnia[frames]" in caught.value.hint


def test_a_plan_is_printed_in_words():
    with town(rows=5).open() as database:
        plan = database.session().plan(
            "SELECT sex, COUNT(*) AS n FROM people GROUP BY 1", epsilon=1
        )
    lines = str(plan).splitlines()
    assert lines[0].startswith("it would cost epsilon 1 (laplace noise, ")
    assert lines[1].startswith("  n: margin ± ")
    assert lines[-1] == "nothing was spent"
    assert repr(plan) == str(plan)
