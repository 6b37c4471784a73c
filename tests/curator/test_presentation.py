"""What an office prints: rounded and blank where it is unsure, beside the tables as they are."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest
from town import Town

import adomnia
from adomnia.curator.releases.presentation import Imprint, Presentation
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.present.release_page import release_page


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ((23, 4.0), (25, 7, "")),
        ((22, 4.0), (20, 7, "")),
        ((4, 4.0), (5, 7, "")),
        ((3, 4.0), (None, None, "unsure")),
        ((0, 1.0), (None, None, "unsure")),
        ((-3.5, 1.0), (None, None, "unsure")),
        ((0, 0.0), (0, 0, "")),
        ((12.5, 0.0), (15, 3, "")),
    ],
)
def test_numbers_are_rounded_and_unsure_ones_left_blank(given, printed):
    assert Presentation(5, suppress_unsure=True).printed(*given) == printed


def test_what_is_printed_is_as_close_as_it_says():
    for count in range(60):
        for off in (0.0, 0.4, 3.0):
            number, margin, _ = Presentation(7).printed(count, off)
            assert abs(number - count) + off <= margin
            assert number % 7 == 0


def test_each_of_both_goes_by_itself():
    assert Presentation(10).printed(3, 40.0) == (0, 45, "")
    assert Presentation(suppress_unsure=True).printed(13, 2.5) == (13, 3, "")
    with pytest.raises(QuestionError, match="multiples"):
        Presentation(0)


def test_the_folder_has_both_and_the_metadata_describes_both(town: Town, tmp_path: Path) -> None:
    database = town.open()
    made = database.release(database.plan_release(marginals=["sex,region", "age"], epsilon="0.5"))
    printed = Presentation(5, suppress_unsure=True)
    place = write_folder(made, tmp_path / "out", presentation=printed)
    marks = set()
    for table in json.loads((place / "csv-metadata.json").read_text())["tables"]:
        titles = [column["titles"] for column in table["tableSchema"]["columns"]]
        with (place / table["url"]).open() as lines:
            head, *rows = csv.reader(lines)
        assert titles == head
        if table["url"].startswith("presentation/"):
            marks |= {row[-1] for row in rows}
            assert all((row[-3] == "") == (row[-1] == "unsure") for row in rows)
            assert all(int(row[-3]) % 5 == 0 for row in rows if row[-3])
    assert marks == {"", "unsure"}
    facts = json.loads((place / "release.json").read_text())
    assert facts["presentation"]["round_to"] == 5
    assert "unsure" in facts["presentation"]["marks"]
    exact = (place / "marginals" / "age.csv").read_text()
    plain = write_folder(made, tmp_path / "plain")
    assert (plain / "marginals" / "age.csv").read_text() == exact
    assert not (plain / "presentation").exists()


def test_the_page_says_who_publishes_what_when_and_of_which_data(
    town: Town, tmp_path: Path
) -> None:
    file = town.write()
    file.write_text(file.read_text().replace("[data]", '[data]\nversion = "<spring>"'))
    with adomnia.open(file) as database:
        made = database.release(database.plan_release(marginals=["sex"], epsilon=1))
    imprint = Imprint("People & places", "Office <of> Statistics", date(2026, 1, 31))
    page = release_page(made, imprint, Presentation(5))
    said = "Published by Office &lt;of&gt; Statistics on 31 January 2026, from the table people"
    assert f"{said}, version &lt;spring&gt;." in page
    assert "<h1>People &amp; places</h1>" in page
    assert "multiples of 5" in page
    place = write_folder(made, tmp_path / "out", imprint=imprint)
    metadata = json.loads((place / "csv-metadata.json").read_text())
    assert metadata["dc:publisher"] == "Office <of> Statistics"
    assert metadata["dc:issued"] == "2026-01-31"
    facts = json.loads((place / "release.json").read_text())
    assert (facts["title"], facts["version"]) == ("People & places", "<spring>")


def test_without_an_imprint_it_says_the_day_and_that_no_version_is_declared(town: Town) -> None:
    database = town.open()
    made = database.release(database.plan_release(marginals=["sex"], epsilon=1))
    page = release_page(made)
    assert "Published on " in page
    assert "no version of it is declared" in page
