"""Attacks on files: uniqueness, linkage, intersection, ratings, networks and tables."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

ROWS = [("F", "x", "k"), ("F", "y", "k"), ("M", "x", "l"), ("M", "x", "k"), ("F", "x", "l")]
NAMES = ("s", "t", "u")


@pytest.fixture
def desk(house: Path) -> Path:
    """Files of people: all, some known ones, and tables of five others."""
    people = parquet.read_table("people.parquet")
    csv.write_csv(people, "hospital.csv")
    some = np.random.default_rng(1).permutation(3000)[:200]
    known = people.take(pa.array(some)).select(["person_id", "sex", "age", "region", "income"])
    csv.write_csv(known, "voters.csv")
    for places in combinations(range(3), 2):
        counts = Counter(tuple(row[place] for place in places) for row in ROWS)
        head = [NAMES[place] for place in places]
        lines = [",".join([*head, "count"]), *(",".join([*k, str(v)]) for k, v in counts.items())]
        Path("__".join(head) + ".csv").write_text("\n".join(lines) + "\n")
    truth = [",".join(NAMES), *(",".join(row) for row in ROWS)]
    Path("truth.csv").write_text("\n".join(truth) + "\n")
    return house


def test_people_who_are_alone_are_counted(run, desk):
    told = ("attack", "uniqueness", "hospital.csv", "--quasi", "sex,age,region", "--sensitive",
            "income")  # fmt: skip
    ran = run(*told, "--format", "json")
    assert ran.json["details"]["uniques"] > 100
    assert "unique_rows" not in ran.json["details"]
    assert "unique_rows" in run(*told, "--format", "json", "--names").json["details"]
    assert "alone without it" in run(*told).out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("hospital.csv", "--quasi", "sex,nothing"), "no column 'nothing'"),
        (("hospital.csv", "--quasi", "sex,sex"), "each once"),
        (("hospital.csv", "--quasi", "sex", "--sensitive", "sex"), "leave it out"),
        (("nowhere.csv", "--quasi", "sex"), "no file"),
        (("empty.csv", "--quasi", "sex"), "no rows"),
        (("broken.parquet", "--quasi", "sex"), "cannot be read"),
    ],
)
def test_wrong_files_exit_with_2(run, desk, options, words):
    Path("empty.csv").write_text("sex\n")
    Path("broken.parquet").write_text("no parquet")
    ran = run("attack", "uniqueness", *options)
    assert ran.code == 2
    assert words in ran.err


def test_all_different_values_are_all_alone(run, desk):
    ran = run("attack", "uniqueness", "hospital.csv", "--quasi", "person_id", "--format", "json")
    assert ran.json["success"]["value"] == 1


def test_known_people_are_linked(run, desk):
    told = ("attack", "linkage", "hospital.csv", "voters.csv", "--person", "person_id")
    ran = run(*told, "--format", "json")
    assert ran.json["success"]["value"] > 0.6
    assert ran.json["details"]["false"] == 0
    assert "links" not in ran.json["details"]
    off = run(*told, "--on", "sex,age,region,income", "--tolerance", "income=500", "--format",
              "json")  # fmt: skip
    assert off.json["attack"] == "probable linkage"
    assert "links" in run(*told, "--names", "--format", "json").json["details"]


def test_files_that_do_not_match_are_refused(run, desk):
    Path("others.csv").write_text("colour,height\nred,3\n")
    Path("strangers.csv").write_text("person_id,sex\n-5,F\n")
    ran = run("attack", "linkage", "hospital.csv", "others.csv")
    assert (ran.code, "no common column" in ran.err) == (2, True)
    ran = run("attack", "linkage", "hospital.csv", "strangers.csv", "--person", "person_id")
    assert (ran.code, "nobody is in both" in ran.err) == (2, True)
    assert run("attack", "linkage", "hospital.csv", "voters.csv", "--on", "sex,education").code == 2
    told = ("attack", "linkage", "hospital.csv", "voters.csv", "--on", "sex")
    assert run(*told, "--tolerance", "income=1").code == 2
    assert run(*told, "--person", "sex").code == 2


def test_two_releases_are_intersected(run, desk):
    chance = np.random.default_rng(2)
    illness = chance.integers(0, 60, 600)
    for name in ("may.csv", "june.csv", "july.csv"):
        order = chance.permutation(600)
        csv.write_csv(
            pa.table({"who": order, "crowd": np.arange(600) // 10, "illness": illness[order]}), name
        )
    told = ("--quasi", "crowd", "--sensitive", "illness", "--person", "who")
    ran = run(
        "attack", "intersection", "may.csv", "june.csv", "july.csv", *told, "--format", "json"
    )
    assert ran.json["success"]["value"] > 0.7
    assert ran.json["baseline"] == 0
    assert run("attack", "intersection", "may.csv", *told).code == 2


def test_ratings_name_people(run, desk):
    chance = np.random.default_rng(3)
    many = 8000
    days = np.datetime64("2020-01-01") + chance.integers(0, 700, many)
    ratings = pa.table({
        "user": [f"u{number}" for number in chance.integers(0, 200, many)],
        "film": chance.integers(0, 900, many),
        "stars": chance.integers(1, 6, many),
        "date": pa.array(days.astype("datetime64[D]")),
    })  # fmt: skip
    csv.write_csv(ratings, "ratings.csv")
    columns = ("--person", "user", "--item", "film", "--value", "stars")
    ran = run("attack", "ratings", "ratings.csv", *columns, "--day", "date", "--targets", "40")
    assert ran.code == 0
    assert "8, 2 wrong" in ran.out
    one = run("attack", "ratings", "ratings.csv", *columns, "--facts", "4", "--targets", "40",
              "--format", "json")  # fmt: skip
    assert one.json["success"]["value"] > 0.8
    assert run("attack", "ratings", "ratings.csv").code == 2
    assert run("attack", "ratings", "ratings.csv", "--person", "user", "--item", "film", "--value",
               "user").code == 2  # fmt: skip


def test_planted_accounts_find_themselves(run, desk):
    chance = np.random.default_rng(4)
    edges = chance.integers(0, 300, (3000, 2))
    Path("friends.edges").write_text("# made up\n" + "\n".join(f"{a} {b}" for a, b in edges))
    ran = run("attack", "network", "friends.edges", "--trials", "10", "--format", "json")
    assert ran.json["success"]["value"] >= 0.8
    assert "learned" not in ran.json["details"]
    passive = run("attack", "network", "friends.edges", "--friends", "4", "--trials", "5")
    assert passive.code == 0
    Path("wrong.edges").write_text("1 2\nthree 4\n")
    ran = run("attack", "network", "wrong.edges")
    assert (ran.code, "line 2" in ran.err) == (2, True)
    Path("none.edges").write_text("# nothing\n")
    assert run("attack", "network", "none.edges").code == 2


def test_tables_give_records_away(run, desk):
    files = ("s__t.csv", "s__u.csv", "t__u.csv")
    ran = run("attack", "microdata", *files, "--truth", "truth.csv", "--format", "json")
    assert ran.json["details"]["unique"] is True
    assert ran.json["details"]["truth_listed"] is True
    assert "forced" not in ran.json["details"]
    assert len(run("attack", "microdata", *files, "--names", "--format", "json").json["details"]
               ["forced"]) == 5  # fmt: skip
    noisy = run("attack", "microdata", *files, "--noise", "1", "--truth", "truth.csv", "--format",
                "json")  # fmt: skip
    assert noisy.json["details"]["scored"] is True


def test_tables_that_cannot_be_are_refused(run, desk):
    Path("s__t.csv").write_text("s,t,count\nF,x,70\nF,y,1\nM,x,2\n")
    ran = run("attack", "microdata", "s__t.csv", "s__u.csv")
    assert ran.code == 2
    assert "contradict" in ran.err
    Path("half.csv").write_text("s,count\nF,0.5\n")
    assert run("attack", "microdata", "half.csv").code == 2
    assert run("attack", "microdata", "truth.csv").code == 2
    Path("other.csv").write_text("s,count\n3,1\n")
    assert run("attack", "microdata", "s__t.csv", "other.csv").code == 2
