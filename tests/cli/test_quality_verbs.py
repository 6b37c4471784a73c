"""What bounds leave out, at the command line: of half a million rows a fifth is not counted."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from adomnia.testing import World, listed

ROWS, TRUTH = 1_000_494, 500_247
POLICY = """[data]
source = "visits.parquet"
table = "visits"

[privacy]
epsilon = 10
unit = "person"
max_rows = 5
confirmed = true

[attributes.sex]
values = ["F", "M"]

[attributes.cost]
low = 0
high = 2
"""
ASKED = "SELECT COUNT(*) AS n, SUM(cost) AS t FROM visits WHERE sex = 'F'"


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """People with a geometric number of visits; every other visit is a woman's."""
    folder = tmp_path_factory.mktemp("visits")
    sizes = np.random.default_rng(1).geometric(0.3, ROWS)
    person = np.repeat(np.arange(ROWS), sizes)[:ROWS]
    rows = np.arange(ROWS)
    columns = {"person": person, "sex": np.array(["F", "M"])[rows % 2], "cost": rows % 3}
    parquet.write_table(pa.table(columns), folder / "visits.parquet")
    (folder / "adomnia.toml").write_text(POLICY)
    return folder


def test_an_answer_says_honestly_what_max_rows_leaves_out(visits, run, monkeypatch):
    monkeypatch.chdir(visits)
    before = run("ask", ASKED, "--epsilon", "1", "--format", "json").json
    count, off = before["rows"][0][0], before["margins"]["n"][0]
    assert TRUTH - count > 100 * off  # the noise alone does not tell it
    used = "of each person at most 5 rows are used; "
    assert f"{used}how many rows are left out is not known" in " ".join(before["notes"])
    assert before["whole"] == {}

    loaded = run("load", "--quality", "0.02")
    assert loaded.code == 0
    (said,) = [line for line in loaded.out.splitlines() if "max_rows" in line]
    pattern = (
        used
        + r"about (1\d\d,\d{3}) rows of the whole table \(± [\d,]+\) are left out by max_rows, "
    )
    pattern += r"beside those of at most [\d,]+ people with more than \d+ rows each; "
    pattern += "rows without a person are not counted"
    assert re.fullmatch(pattern, said)

    found = run("ask", ASKED, "--epsilon", "1", "--format", "json").json
    assert found["edition"] == 2
    (low, high), (least, most) = found["whole"]["n"][0], found["whole"]["t"][0]
    assert low <= TRUTH <= high
    assert least <= (np.arange(0, ROWS, 2) % 3).sum() <= most
    rows = found["left_out"][0]
    assert (rows["what"], rows["column"]) == ("rows", None)
    assert rows["says"] in found["notes"]
    assert rows["bound"] > 5
    few = f"beside the rows beyond {rows['bound']:,} of at most {rows['people']:,} people"
    beside = {"n": few, "t": f"with values of cost cut to 0..2, {few}"}
    assert found["whole_beside"] == beside
    (said,) = [note for note in found["notes"] if note.startswith("with what is left out, t is")]
    assert said.endswith(f", {beside['t']}")
    assert run("budget", "--format", "json").json["data"]["spent"] == "101/50"

    plain = run("ask", ASKED, "--epsilon", "0.1").out
    assert "rows of the whole table" in plain
    assert "left out by max_rows" in run("plan", ASKED, "--epsilon", "1").out


def test_counts_cost_what_they_say_or_are_refused(visits, run, monkeypatch):
    monkeypatch.chdir(visits)
    refused = run("load", "--quality", "1000", "--format", "json")
    assert refused.code == 3
    assert run("load", "--quality", "none").code == 2


def test_bounds_are_proposed_with_the_lines_to_paste(visits, run, monkeypatch):
    monkeypatch.chdir(visits)
    text = run("bounds", "cost", "--epsilon", "0.5").out
    lines = r'^\[attributes.cost\]\nlow = -?\d+\nhigh = \d+\norigin = "[0-9a-f]{32}"$'
    assert re.search(lines, text, re.MULTILINE)
    assert re.search(r"^at most [\d,]+ people have a value above high$", text, re.MULTILINE)
    found = run("bounds", "cost", "--epsilon", "0.5", "--format", "json").json
    assert int(found["low"]) <= 0
    assert int(found["high"]) >= 1
    assert found["spent"] == {"epsilon": "1/2"}
    assert "step 1 was taken, and decimals are rounded; for two decimals give --step 0.01" in text
    assert "step 1" not in run("bounds", "cost", "--epsilon", "0.5", "--step", "1").out


def test_bounds_are_sought_of_numbers_alone_and_nothing_is_spent_otherwise(tmp_path, run):
    columns = {"s": ["a", "b"], "free": ["1", "n/a"], "yes": [True, False]}
    file = str(World(columns, {"s": listed("a", "b")}, "epsilon = 10").write(tmp_path))
    asked = ("--epsilon", "0.5", "--policy", file)
    refusals = {
        "nowhere": "the data has no column 'nowhere'",
        "s": "s has listed values",
        "free": "free is text in the source and not declared",
        "yes": "yes is a BOOLEAN in the source",
    }
    for column, said in refusals.items():
        refused = run("bounds", column, *asked)
        assert refused.code == 2
        assert said in refused.err
        assert "adomnia.toml" not in refused.err
    assert run("budget", "--policy", file, "--format", "json").json["data"]["spent"] == "0"
    assert run("bounds", "free", "--step", "1", *asked).code == 0
