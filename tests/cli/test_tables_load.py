"""`adomnia load` of several private tables: one edition of all, and what its curator is told."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from openpyxl import Workbook
from pyarrow import parquet

from adomnia.curator.data.edition_stores import store_of
from adomnia.curator.data.editions import Editions
from adomnia.curator.ledger_view import spending
from adomnia.policy.policy import read_policy
from adomnia.queries.rows import KEY, pointer

POLICY = """[tables.patients]
source = "patients.parquet"
key = "id"
[tables.patients.attributes.sex]
values = ["F", "M"]
[tables.visits]
source = "visits.csv"
key = "id"
references = { patient = "patients" }
[tables.visits.attributes.cost]
low = 0
high = 1000
[tables.diagnoses]
source = "clinic.duckdb"
table = "found"
references = { visit = "visits" }
[tables.calls]
source = "calls.xlsx"
references = { patient = "patients" }
[privacy]
unit = "patients"
epsilon = 10
confirmed = true
max_rows = { visits = 50, diagnoses = 100, calls = 9 }
"""
VISITS = "id,patient,cost\n10,1,5\n11,1.0,2000\n12,2,7\n12,3,7\n13,,1\n14,99,1\n"
"""Visit 12 is two people's, 13 is nobody's and so is 14."""


@pytest.fixture
def hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people = {"id": [1, 2, 3, None], "sex": ["F", "M", "?", "F"]}
    parquet.write_table(pa.table(people), "patients.parquet")
    Path("visits.csv").write_text(VISITS)
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE found (visit DOUBLE, code VARCHAR)")
        connection.execute("INSERT INTO found VALUES (10, 'a'), (11, 'b'), (12, 'a'), (14, 'c')")
    book = Workbook()
    for row in (["patient", "note"], [2, "x"], [2, "y"], [5, "z"]):
        book.active.append(row)
    book.save("calls.xlsx")
    Path("adomnia.toml").write_text(POLICY)
    return tmp_path


ROWS = {
    "patients": {"rows": 3, "nobody": 1},
    "visits": {"rows": 4, "nobody": 2},
    "diagnoses": {"rows": 2, "nobody": 2},
    "calls": {"rows": 2, "nobody": 1},
}


def test_all_tables_are_one_edition(run, hospital):
    made = run("load", "--format", "json").json
    assert (made["edition"], made["tables"]) == (1, ROWS)
    again = run("load", "--format", "json").json
    assert (again["edition"], again["digest"]) == (2, made["digest"])
    kinds = [e["kind"] for e in run("ledger", "--format", "json").json["entries"]]
    assert kinds.count("edition") == 2


def test_it_is_told_in_words_too(run, hospital):
    said = run("load").out
    assert "visits: 4 rows, and 2 that are nobody's" in said


def test_the_edition_is_asked_by_its_tables(run, hospital):
    assert run("load").code == 0
    policy = read_policy("adomnia.toml")
    edition = Editions(policy).known()
    assert edition.rows == {}
    with closing(store_of(policy).open(edition.name, policy.several.tables)) as engine:
        assert [*engine.columns_of("diagnoses")] == ["visit", "code"]
        codes = engine._rows(
            f'SELECT v.cost, d.code FROM {engine.scan("diagnoses", ["code"])} d '
            f'JOIN {engine.scan("visits", ["cost"])} v ON d."{pointer("visit")}" = v."{KEY}"'
            .replace('AS "adomnia scan diagnoses" d', "AS d")
            .replace('AS "adomnia scan visits" v', "AS v")
        )  # fmt: skip
        assert sorted(codes) == [(5, "a"), (1001, "b")]
        assert not engine.row_count_is_stable
        assert engine.version() == "edition 1"


def test_another_coding_is_another_edition(run, hospital):
    assert run("load").code == 0
    known = Editions(read_policy("adomnia.toml")).known()
    assert known.number == 1
    for old, new in (
        ("high = 1000", "high = 999"),
        ('table = "found"', 'table = "others"'),
        ("{ visit = ", "{ code = "),
        ('"visits.csv"', '"./visits.csv"'),
        ('["F", "M"]', '["F", "M"]\nsensitive = false'),
    ):
        Path("adomnia.toml").write_text(POLICY.replace(old, new, 1))
        assert Editions(read_policy("adomnia.toml")).known() is None
    Path("adomnia.toml").write_text(POLICY.replace("visits = 50", "visits = 40"))
    assert Editions(read_policy("adomnia.toml")).known() == known


REFUSED = [
    ("attributes.cost", "attributes.price", "no column 'price'", "[tables.visits.attributes.price"),
    ("{ patient = ", "{ person = ", "no column 'person'", "references = { person"),
    (
        'key = "id"\n[tables.patients',
        'key = "ID"\n[tables.patients',
        "no column 'ID'",
        'key = "ID"',
    ),
    ('"visits.csv"', '"gone.csv"', "has no file", 'source = "gone.csv"'),
    ('table = "found"', 'table = "lost"', "has no table 'lost'", 'source = "clinic.duckdb"'),
    ('"calls.xlsx"', '"postgresql://h/d"', "several places", "[tables.patients]"),
]


@pytest.mark.parametrize(("old", "new", "said", "line"), REFUSED)
def test_what_the_policy_says_wrongly_is_refused_with_its_line(run, hospital, old, new, said, line):
    text = POLICY.replace(old, new, 1)
    Path("adomnia.toml").write_text(text)
    ran = run("load", "--format", "json")
    assert (ran.code, said in ran.error["message"]) == (2, True)
    assert line in text.splitlines()[ran.error["line"] - 1]
    assert not Path("adomnia.ledger").exists()


def test_data_says_how_and_never_in_place(run, hospital):
    Path("adomnia.toml").write_text(f'[data]\neditions = "kept"\nkeep = 1\nmemory = 100\n{POLICY}')
    assert [run("load").code for _ in range(2)] == [0, 0]
    assert [path.name[:6] for path in Path("kept").iterdir() if path.is_dir()] == ["000002"]
    Path("adomnia.toml").write_text(f"[data]\nin_place = true\n{POLICY}")
    ran = run("load", "--format", "json")
    assert ran.code == 2
    assert "in_place in [data] does not go with [tables]" in ran.error["message"]
    assert "one moment" in ran.error["hint"]


def test_what_is_left_out_of_several_tables_is_counted_and_paid_once(run, hospital):
    assert run("load", "--quality", "0.1").code == 0
    assert Editions(read_policy("adomnia.toml")).known().number == 1
    assert spending(read_policy("adomnia.toml"))["data"]["spent"] == "1/10"


def test_a_broken_file_leaves_the_last_edition(run, hospital):
    assert run("load").code == 0
    Path("patients.parquet").write_bytes(b"PAR1 and nothing else")
    ran = run("load", "--format", "json")
    assert ran.code in (2, 5)
    assert "patients.parquet" in ran.error["message"]
    assert Editions(read_policy("adomnia.toml")).known().number == 1


CHANGING = """
import os, sys
from adomnia.cli.main import main
from adomnia.engines.duckdb import tables_edition
written = tables_edition._Writing.write
def change(self, name, *rest):
    written(self, name, *rest)
    if name == "calls":
        os.utime("patients.parquet")
tables_edition._Writing.write = change
sys.argv = ["adomnia", "load", "--format", "json"]
main()
"""


def test_a_source_that_changed_meanwhile_is_not_loaded(hospital):
    ran = subprocess.run(
        [sys.executable, "-c", CHANGING], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert ran.returncode != 0
    assert "changed while it was read" in ran.stderr
    assert not Path("adomnia.ledger").exists()
    left = [path.name for path in Path("adomnia.editions").iterdir()]
    assert left == ["lock"]
