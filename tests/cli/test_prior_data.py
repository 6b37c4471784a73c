"""Exact releases and the data they were made for, as a curator types it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
BOTH = "SELECT sex, edu, COUNT(*) AS n FROM people GROUP BY sex, edu"
EDU = "SELECT edu, COUNT(*) AS n FROM people GROUP BY edu"
POLICY = """[data]
source = "people.csv"
table = "people"
{data}
[privacy]
epsilon = 100
confirmed = true
neighbors = "{neighbors}"

[attributes.sex]
values = ["F", "M"]

[attributes.edu]
values = ["none", "school", "college"]
"""
PEOPLE = [("FM"[i % 2], ("none", "school", "college")[i % 3]) for i in range(60)]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sixty people, thirty of each sex."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PEOPLE)
    declare(tmp_path)
    return tmp_path


def write(folder: Path, rows: list[tuple[str, str]]) -> None:
    with open(folder / "people.csv", "w", newline="") as file:
        csv.writer(file).writerows([("sex", "edu"), *rows])
    seen = (folder / "people.csv").stat()
    os.utime(folder / "people.csv", ns=(seen.st_atime_ns, seen.st_mtime_ns + len(rows)))


def declare(folder: Path, data: str = "", neighbors: str = "unbounded") -> None:
    (folder / "adomnia.toml").write_text(POLICY.format(data=data, neighbors=neighbors))


def total(ran) -> int:
    assert ran.code == 0, ran.err
    return sum(int(row[-1]) for row in ran.json["rows"])


def spent(run) -> str:
    return json.dumps(run("budget", "--format", "json").json)


def test_data_that_changed_are_refused_before_anything_is_paid(run, people: Path):
    assert run("prior", "add", SEX).code == 0
    asked = ("ask", BOTH, "--epsilon", "0.011", "--format", "json")
    assert run(*asked).code == 0
    write(people, [*PEOPLE, ("F", "school")])
    before = spent(run)
    assert run(*asked).json["edition"] == 1  # what has changed is not read before it is loaded
    assert run("load").code == 0
    ran = run(*asked)
    assert ran.code == 4
    assert "prior confirm" in ran.err
    assert spent(run) == before
    assert run("prior", "confirm").code == 0
    assert run(*asked).json["edition"] == 2
    write(people, [*PEOPLE, ("F", "school"), ("F", "school")])
    assert run("load").code == 0
    assert run(*asked).code == 4


def test_in_place_a_declared_version_is_the_curators_word(run, people: Path):
    declare(people, 'in_place = true\nversion = "2026"')
    assert run("prior", "add", SEX).code == 0
    write(people, [*PEOPLE, ("F", "school")])
    assert run("ask", BOTH, "--epsilon", "0.011").code == 0
    declare(people, 'in_place = true\nversion = "2027"')
    assert run("ask", BOTH, "--epsilon", "0.011").code == 4
    assert run("prior", "confirm").code == 0
    assert run("ask", BOTH, "--epsilon", "0.011").code == 0


def test_a_policy_that_is_edited_confirms_and_refuses_nothing(run, people: Path):
    assert run("prior", "add", SEX).code == 0
    file = people / "adomnia.toml"
    file.write_text(file.read_text().replace("epsilon = 100", "epsilon = 90"))
    assert run("ask", BOTH, "--epsilon", "0.011").code == 0


def test_numbers_that_do_not_hold_are_not_confirmed(run, people: Path):
    (people / "sex.csv").write_text("sex,n\nF,30\nM,30\n")
    assert run("prior", "add", SEX, "--values", "sex.csv").code == 0
    assert run("prior", "confirm").code == 0
    write(people, [*PEOPLE, ("F", "school")])
    assert run("prior", "confirm").code == 0  # of the edition that is asked
    assert run("load").code == 0
    entries = run("ledger", "--format", "json").json["entries"]
    ran = run("prior", "confirm")
    assert ran.code == 6
    assert "31" not in ran.err
    assert run("ledger", "--format", "json").json["entries"] == entries
    assert run("ask", BOTH, "--epsilon", "0.011").code == 4
    write(people, PEOPLE[1:] + PEOPLE[:1])
    assert run("load").code == 0
    assert run("prior", "confirm").code == 0


def test_nothing_to_confirm(run, people: Path):
    assert run("prior", "confirm").code == 0


@pytest.mark.parametrize("extra", [("", "school"), ("X", "none"), ("F", ""), ("M", "doctor")])
@pytest.mark.parametrize("neighbors", ["unbounded", "bounded"])
def test_a_row_without_a_listed_value_is_not_told(run, people: Path, extra, neighbors):
    """Cells that are noise in the hundreds do not add up to how many rows have listed values."""
    declare(people, neighbors=neighbors)
    write(people, [*PEOPLE, extra])
    assert run("prior", "add", SEX).code == 0
    losses = ("0.010", "0.011", "0.012", "0.013", "0.014", "0.015")
    asked = [run("ask", EDU, "--epsilon", loss, "--format", "json") for loss in losses]
    assert len({total(ran) for ran in asked}) > 1


def test_rows_without_a_listed_value_are_not_confirmed(run, people: Path):
    assert run("prior", "add", SEX).code == 0
    write(people, [*PEOPLE, ("X", "none")])
    assert run("load").code == 0
    assert run("prior", "confirm").code == 6
    write(people, [*PEOPLE, ("F", "doctor")])
    assert run("load").code == 0
    assert run("prior", "confirm").code == 0
