"""Findings about data that is dirty, changes or outgrows its policy, at the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

POLICY = """[data]
source = "{source}"
table = "people"
[privacy]
epsilon = {epsilon}
confirmed = true
{privacy}
"""


def declare(
    folder: Path, attributes: str, source: str = "people.parquet", privacy: str = "",
    epsilon: int = 1000,
) -> None:  # fmt: skip
    head = POLICY.format(source=source, privacy=privacy, epsilon=epsilon)
    (folder / "adomnia.toml").write_text(head + attributes)


def numbers(ran) -> dict[str, int]:
    assert ran.code == 0, ran.err
    return {" ".join(map(str, row[:-1])): int(row[-1]) for row in ran.json["rows"]}


# P1: a value that no reader can read


def spoilt(folder: Path, ill: list[str]) -> None:
    """People of one zip, and one of another whose city is a byte that is no text."""
    city = pa.array([b"xanten"] * len(ill) + [b"x\xff\xfe"], pa.binary()).cast(pa.string(), False)
    table = pa.table({"zip": [*range(len(ill)), 99], "ill": [*ill, "no"], "city": city})
    parquet.write_table(table, folder / "people.parquet")


@pytest.mark.parametrize("ill", [["yes", "no"], ["no", "no"]])
def test_p1_a_byte_that_is_no_text_tells_of_nobody(run, tmp_path, monkeypatch, ill):
    """Whether a question fails does not depend on who else meets its other conditions."""
    monkeypatch.chdir(tmp_path)
    spoilt(tmp_path, ill)
    declare(tmp_path, "[attributes.zip]\nlow = 0\nhigh = 99\n"
                      '[attributes.ill]\nvalues = ["yes", "no"]\n')  # fmt: skip
    for person in range(2):
        where = f"zip = {person} AND ill = 'yes' AND city LIKE 'x%'"
        asked = f"SELECT COUNT(*) AS n FROM people WHERE {where}"
        ran = run("ask", asked, "--epsilon", "50", "--format", "json")
        assert numbers(ran) == {"": int(ill[person] == "yes")}
    far = run("ask", "SELECT COUNT(*) AS n FROM people WHERE zip = 99 AND city LIKE 'x%'",
              "--epsilon", "50", "--format", "json")  # fmt: skip
    assert numbers(far) == {"": 0}  # what cannot be read is NULL, by rule


def test_p1_a_decimal_out_of_range_ends_no_later_question(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wide = pa.array([10**37, 1, 2], pa.decimal128(38, 0))
    times = pa.array([2**63 - 1, -(2**63) + 1, 0], pa.timestamp("ms"))
    table = pa.table({"wide": wide, "seen": times, "sex": ["F", "M", "F"]})
    parquet.write_table(table, tmp_path / "people.parquet")
    declare(
        tmp_path,
        '[attributes.wide]\nlow = 0\nhigh = 9\n[attributes.sex]\nvalues = ["F", "M"]\n'
        '[attributes.seen]\nkind = "date"\nlow = 1970-01-01\nhigh = 1970-12-31\n',
    )
    for sql, truth in (
        ("SELECT COUNT(*) AS n FROM people WHERE wide > 9", 1),
        ("SELECT SUM(wide) AS n FROM people", 12),
        ("SELECT COUNT(*) AS n FROM people WHERE seen = DATE '1970-01-01'", 1),
        ("SELECT COUNT(*) AS n FROM people WHERE sex = 'F'", 2),
    ):
        ran = run("ask", sql, "--epsilon", "90", "--format", "json")
        assert numbers(ran) == {"": truth}, sql


# P2 and P4: what changes beside an exact release

SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
BOTH = "SELECT sex, edu, COUNT(*) AS n FROM people GROUP BY sex, edu"
LISTED = '[attributes.sex]\nvalues = ["F", "M"]\n[attributes.edu]\nvalues = ["none", "school"]\n'
PEOPLE = [("FM"[i % 2], ("none", "school")[i % 3 % 2]) for i in range(60)]


def write(folder: Path, rows: list[tuple[str, str]]) -> None:
    with open(folder / "people.csv", "w", newline="") as file:
        csv.writer(file).writerows([("sex", "edu"), *rows])


def totals(ran) -> dict[str, int]:
    found: dict[str, int] = {}
    for keys, count in numbers(ran).items():
        sex = keys.split()[0]
        found[sex] = found.get(sex, 0) + count
    return found


def test_p2_what_comes_later_is_not_told_by_what_was_released(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PEOPLE)
    declare(tmp_path, LISTED, "people.csv")
    assert run("prior", "add", SEX, "--format", "json").json["edition"] == 1
    asked = ("ask", BOTH, "--epsilon", "0.011", "--format", "json")
    first = run(*asked)
    assert (first.code, first.json["edition"]) == (0, 1)
    write(tmp_path, [*PEOPLE, ("F", "school")])
    again = run(*asked)  # the source is not read: it is the same answer, of the same edition
    assert (again.json["rows"], again.json["edition"]) == (first.json["rows"], 1)
    made = run("load", "--format", "json").json
    assert made["edition"] == 2
    refused = run(*asked)
    assert refused.code == 4
    assert "prior confirm" in refused.err
    assert not {"31", "61"} & {*refused.err.split()}
    (listed,) = run("prior", "list", "--format", "json").json["priors"]
    assert listed["edition"] == 1
    assert run("prior", "confirm", "--format", "json").json == {"confirmed": True, "edition": 2}
    losses = ("0.011", "0.012", "0.013", "0.014", "0.015")
    later = [run("ask", BOTH, "--epsilon", one, "--format", "json") for one in losses]
    assert {ran.json["edition"] for ran in later} == {2}
    assert len({totals(ran)["F"] for ran in later}) > 1  # and not 31 each time


@pytest.mark.parametrize("extra", [("", "school"), ("X", "none")])
def test_p4_a_row_without_a_listed_value_is_not_told(run, tmp_path, monkeypatch, extra):
    """Cells at a small epsilon do not add up to how many rows there are."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, [*PEOPLE, extra])
    declare(tmp_path, LISTED, "people.csv")
    assert run("prior", "add", SEX).code == 0
    losses = ("0.010", "0.011", "0.012", "0.013", "0.014")
    edu = "SELECT edu, COUNT(*) AS n FROM people GROUP BY edu"
    asked = [numbers(run("ask", edu, "--epsilon", one, "--format", "json")) for one in losses]
    assert len({sum(found.values()) for found in asked}) > 1
    assert run("prior", "confirm").code == 6


# N1: data that has outgrown its policy

YEARS = "SELECT year, COUNT(*) AS n FROM people GROUP BY year"


def test_n1_a_year_that_is_not_declared_is_no_other_year(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    years = [1984 + i % 5 for i in range(5000)]
    people = list(range(5000))
    parquet.write_table(pa.table({"id": people, "year": years}), tmp_path / "people.parquet")
    declare(tmp_path, "[attributes.year]\nlow = 1984\nhigh = 1988\n",
            privacy='unit = "id"\nmax_rows = 5')  # fmt: skip
    declared = dict.fromkeys(["1984", "1985", "1986", "1987", "1988"], 1000)
    assert near(run("ask", YEARS, "--epsilon", "50", "--format", "json"), declared)
    grown = pa.table({"id": [*people, *range(5000, 8000)], "year": [*years, *([1989] * 3000)]})
    parquet.write_table(grown, tmp_path / "people.parquet")
    assert run("load").code == 0
    ran = run("ask", YEARS, "--epsilon", "50", "--format", "json")
    assert ran.json["edition"] == 2
    assert near(ran, declared)
    for where, truth in (("year > 1988", 3000), ("year = 1988", 1000), ("year >= 1988", 4000),
                         ("year BETWEEN 1984 AND 1988", 5000), ("year < 1984", 0)):  # fmt: skip
        sql = f"SELECT COUNT(*) AS n FROM people WHERE {where}"
        assert near(run("ask", sql, "--epsilon", "50", "--format", "json"), {"": truth}), where


def near(ran, truth: dict[str, int]) -> bool:
    """Whether every number is as far from the truth as its margin allows, twice over."""
    found, (margins,) = numbers(ran), ran.json["margins"].values()
    apart = [abs(found[name] - truth[name]) for name in truth]
    return found.keys() == truth.keys() and all(
        off <= 2 * margin for off, margin in zip(apart, margins, strict=True)
    )
