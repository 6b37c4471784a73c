"""The report of made-up records: where it may be, who may read it, and what it shows."""

from __future__ import annotations

import json
import stat

import pytest

from adomnia.errors import MachineryError, QuestionError
from adomnia.present.microdata_report import (
    microdata_report,
    refuse_place,
    write_microdata_report,
)
from adomnia.review.microdata.records_comparison import (
    Association,
    ComparedCell,
    ComparedTable,
    RecordsComparison,
)

FOUND = RecordsComparison(
    rows_made=101,
    rows_true=100,
    columns=(ComparedTable(("sex",), 0.02, True), ComparedTable(("<age>",), 0.25, True)),
    pairs=(ComparedTable(("sex", "<age>"), 0.3, False, Association("Cramér's V", 0.5, -0.25)),),
    cells=(ComparedCell({"sex": "F", "<age>": None}, 17, 3),),
    left_out=(("sex", "street"),),
)


def test_the_page_says_on_top_that_it_is_exact():
    page = microdata_report(FOUND)
    assert page.index("This page holds exact data") < page.index("Total variation")
    assert "for the curator's eyes only" in page.replace("&#39;", "'")


def test_it_has_the_figures_and_three_pictures_and_escapes_names():
    page = microdata_report(FOUND)
    assert page.count("<svg") == 3
    assert "<age>" not in page
    assert "17" in page
    assert "sex × street" in page


def test_of_one_column_there_are_bars_alone():
    one = RecordsComparison(5, 5, (ComparedTable(("sex",), 0.0, True),), (), ())
    page = microdata_report(one)
    assert page.count("<svg") == 1
    assert "None is off." in page


@pytest.mark.parametrize("name", ["r.html", "r.json"])
def test_only_its_owner_may_read_it(tmp_path, name):
    file = write_microdata_report(FOUND, tmp_path / name)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    if name.endswith("json"):
        assert json.loads(file.read_text())["worst_cells"][0]["made"] == 17


def test_it_writes_over_nothing(tmp_path):
    (tmp_path / "r.html").write_text("mine")
    with pytest.raises(MachineryError, match="the report could not be written"):
        write_microdata_report(FOUND, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == "mine"


def test_it_may_not_lie_in_what_is_published(tmp_path):
    out = tmp_path / "tables"
    (tmp_path / "taken.html").write_text("x")
    (tmp_path / "link").symlink_to(out)
    for file in (out / "r.html", out / "deep" / "r.html", tmp_path / "link" / "r.html", out,
                 tmp_path / "x" / ".." / "tables" / "r.html"):  # fmt: skip
        with pytest.raises(QuestionError, match="is published"):
            refuse_place(file, out)
    with pytest.raises(QuestionError, match="there already"):
        refuse_place(tmp_path / "taken.html", out)
    with pytest.raises(QuestionError, match="no file can be written"):
        refuse_place(tmp_path / "none" / "r.html", out)
    refuse_place(tmp_path / "tables.html", out)
