"""No value makes a question fail: through the command line, as whoever attacks would try it."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from hostile import HOSTILE, array

from adomnia.cli.main import main

POLICY = """[data]
source = "people.parquet"
table = "people"

[privacy]
epsilon = 4.0
confirmed = true

[attributes.zip]
low = 0
high = 99999

[attributes.ill]
values = ["yes", "no"]

[attributes.{name}]
{domain}
"""
PEOPLE = range(12)
ILL = {1, 4, 5, 9}


def ran(*words):
    """How the command ends: its exit code and what it says, answers' numbers left out."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    found = json.loads(out.getvalue() or err.getvalue())
    return code, found


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Makes a folder with a policy and people, of whom the last has a hostile value."""
    monkeypatch.chdir(tmp_path)

    def made(name, column, domain):
        pq.write_table(
            pa.table({
                "zip": [4000 + person for person in PEOPLE],
                "ill": ["yes" if person in ILL else "no" for person in PEOPLE],
                name: column,
            }),
            "people.parquet",
        )  # fmt: skip
        Path("adomnia.toml").write_text(POLICY.format(name=name, domain=domain), "utf-8")

    return made


def text_of_all(bad: int) -> pa.Array:
    """A town for each of the people, of which one is no text."""
    towns = [b"\xff\xfe" if person == bad else b"xanten" for person in PEOPLE]
    return pa.array(towns, pa.binary()).view(pa.string())


def test_bytes_that_are_no_text_tell_of_nobody(place):
    """The last conditions let DuckDB decode the town of those alone who meet the first two."""
    for victim in PEOPLE:
        place("city", text_of_all(victim), 'kind = "text"')
        for person in (victim, (victim + 1) % len(PEOPLE)):
            code, _ = ran(
                "ask", "--epsilon", "1e-9", "--json",
                f"SELECT COUNT(*) AS n FROM people WHERE zip = {4000 + person} "
                "AND ill = 'yes' AND city LIKE 'x%'",
            )  # fmt: skip
            assert code == 0


CONDITIONS = {
    'kind = "text"': "odd LIKE 'x%'",
    "low = 0\nhigh = 9": "odd > 3",
    'kind = "date"\nlow = 2020-01-01\nhigh = 2020-12-31': "odd > DATE '2020-05-05'",
    'values = ["a", "b"]\nother = "c"': "odd = 'c'",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_values_of_every_type_of_parquet_tell_of_nobody(case, place):
    column = array(case, len(PEOPLE))
    for domain, condition in CONDITIONS.items():
        place("odd", column, domain)
        for person in (5, len(PEOPLE) - 1, 3):
            code, found = ran(
                "ask", "--epsilon", "1e-9", "--json",
                f"SELECT COUNT(*) AS n FROM people WHERE zip = {4000 + person} "
                f"AND ill = 'yes' AND {condition}",
            )  # fmt: skip
            assert code == 0, found
        Path("adomnia.ledger").unlink(missing_ok=True)


def test_a_draft_is_made_of_hostile_values(place):
    for case in HOSTILE:
        place("odd", array(case, len(PEOPLE)), 'kind = "text"')
        code, found = ran("init", "people.parquet", "--out", "draft.toml", "--json", "--force")
        assert code == 0, (case, found)


def test_a_copy_is_its_owners_alone_and_there_is_one(place):
    place("city", text_of_all(3), 'kind = "text"')
    sql = "SELECT COUNT(*) AS n FROM people"
    assert ran("ask", "--epsilon", "1e-9", "--json", sql)[0] == 0
    (first,) = Path("adomnia.copies").glob("*.duckdb")
    assert first.stat().st_mode & 0o077 == Path("adomnia.copies").stat().st_mode & 0o077 == 0
    os.utime("people.parquet", (1, 1))
    assert ran("ask", "--epsilon", "1e-9", "--json", sql)[0] == 0
    (second,) = Path("adomnia.copies").glob("*.duckdb")
    assert first != second
