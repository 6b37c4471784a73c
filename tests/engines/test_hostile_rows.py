"""No value makes a question fail: through the command line, as whoever attacks would try it."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from itertools import cycle
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
"""
PEOPLE = range(12)
ILL = {1, 4, 5, 9}


def ran(*words):
    """How the command ends: its exit code, and what it says."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        main([*words, "--format", "json"])
    return int(left.value.code or 0), json.loads(out.getvalue() or err.getvalue())


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Makes a folder with a policy and people, of whom the last has a hostile value."""
    monkeypatch.chdir(tmp_path)

    def made(columns, attributes):
        people = {
            "zip": [4000 + person for person in PEOPLE],
            "ill": ["yes" if person in ILL else "no" for person in PEOPLE],
        }
        pq.write_table(pa.table(people | columns), "people.parquet")
        Path("adomnia.toml").write_text(f"{POLICY}\n{attributes}", "utf-8")

    return made


def asked(condition):
    """How a count of those who meet a condition ends."""
    sql = f"SELECT COUNT(*) AS n FROM people WHERE {condition}"
    return ran("ask", "--epsilon", "1e-9", sql)


def text_of_all(bad: int) -> pa.Array:
    """A town for each of the people, of which one is no text."""
    towns = [b"\xff\xfe" if person == bad else b"xanten" for person in PEOPLE]
    return pa.array(towns, pa.binary()).view(pa.string())


def test_bytes_that_are_no_text_tell_of_nobody(place):
    """The last conditions let DuckDB decode the town of those alone who meet the first two."""
    for victim in (1, 2, 5):
        place({"city": text_of_all(victim)}, "")
        for person in (victim, (victim + 1) % len(PEOPLE)):
            code, found = asked(f"zip = {4000 + person} AND ill = 'yes' AND city LIKE 'x%'")
            assert code == 0, found


CONDITIONS = {
    'kind = "text"': "{} LIKE 'x%'",
    "low = 0\nhigh = 9": "{} > 3",
    'kind = "date"\nlow = 2020-01-01\nhigh = 2020-12-31': "{} > DATE '2020-05-05'",
    'values = ["a", "b"]\nother = "c"': "{} = 'c'",
}
SOME = [*HOSTILE][::3]
"""All are asked of engines in `tests/fuzz/test_hostile_fuzz.py`."""


def test_values_of_every_type_of_parquet_tell_of_nobody(place):
    last, conditions = len(PEOPLE) - 1, {}
    columns = {f"odd{n}": array(case, len(PEOPLE)) for n, case in enumerate(SOME)}
    lines = []
    for name, (domain, condition) in zip(columns, cycle(CONDITIONS.items())):
        conditions[name] = condition.format(name)
        lines.append(f"[attributes.{name}]\n{domain}\n")
    place(columns, "\n".join(lines))
    for condition in conditions.values():
        code, found = asked(f"zip = {4000 + last} AND ill = 'no' AND {condition}")
        assert code == 0, found


def test_a_draft_is_made_of_hostile_values(place):
    place({f"odd{n}": array(case, len(PEOPLE)) for n, case in enumerate(HOSTILE)}, "")
    code, found = ran("init", "people.parquet", "--out", "draft.toml")
    assert code == 0, found


def private(folder: Path) -> bool:
    """Whether a folder and all that lies in it are its owner's alone."""
    return all(place.stat().st_mode & 0o077 == 0 for place in (folder, *folder.rglob("*")))


def test_an_edition_is_its_owners_alone_and_stays_until_the_next(place):
    place({"city": text_of_all(3)}, "")
    sql, folder = "SELECT COUNT(*) AS n FROM people", Path("adomnia.editions")
    assert ran("ask", "--epsilon", "1e-9", sql)[1]["edition"] == 1
    assert {file.name for file in folder.glob("000001_*/*")} == {"rows.duckdb", "edition.json"}
    assert private(folder)
    os.utime("people.parquet", (1, 1))
    folder.chmod(0o777)  # as a folder that was there before
    assert ran("ask", "--epsilon", "1e-9", sql)[1]["edition"] == 1  # nobody has loaded it
    assert ran("load")[0] == 0
    assert ran("ask", "--epsilon", "1e-9", sql)[1]["edition"] == 2
    assert private(folder)
    assert ran("load")[0] == 0
    assert sorted(path.name[:6] for path in folder.glob("0*")) == ["000002", "000003"]
