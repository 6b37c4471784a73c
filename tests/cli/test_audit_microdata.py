"""`adomnia audit --microdata`: a release of our own and a raw file, on the page and in JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from pyarrow import parquet

from adomnia.cli.demo.census import census_rows

COIN = math.tanh(1 / 2)
"""The largest advantage over a coin that epsilon 1 allows."""
KEYS = ("--marginals", "sex,age / 10 AS decade", "--marginals", "sex")


@pytest.fixture
def released(run, house):
    """The house with a release of made-up records, and a file of other people."""
    others = census_rows(5000, 3000, np.random.default_rng(8))
    parquet.write_table(others, house / "others.parquet")
    ran = run("release", *KEYS, "--epsilon", "1", "--out", "tables", "--microdata")
    assert ran.code == 0, ran.err
    return house


def test_a_release_is_attacked_beside_a_careless_one(run, released):
    asked = ("--microdata", "tables", "--control", "others.parquet", "--shadows", "16")
    ran = run("audit", "--out", "report", *asked, "--time-limit", "20")
    assert ran.code == 0, ran.err
    assert "Columns that were not looked at: age (was not released)" in ran.out
    assert "a careless release" in ran.out
    told = json.loads((released / "report/audit.json").read_text())
    found = {one["attack"]: one for one in told["findings"]}
    assert "uniqueness" not in found  # made-up records have uniques, which are nobody's
    for name in ("singling-out", "inference", "membership"):
        most = COIN if name == "membership" else 0.1  # the noise is the system's: room for luck
        assert found[name]["success"]["low"] <= most
        assert {"value", "low", "high"} <= set(found[name]["details"]["careless"])
    member = found["membership"]["details"]
    assert member["verdict"] == "not refuted"
    assert member["epsilon_at_least"] <= member["claimed"]["epsilon"] == 1.0
    page = (released / "report/index.html").read_text()
    for part in ("The released records, attacked", "being in the data: careless",
                 "Not told by this", "age (was not released)"):  # fmt: skip
        assert part in page
    # Nothing more than the release itself was paid.
    assert run("budget", "--format", "json").json["data"]["spent"] == "1"


def test_the_attacks_by_name(run, released):
    files = ("tables/microdata.csv", "--data", "people.parquet", "--control", "others.parquet")
    alone = run("attack", "singling-out", *files, "--format", "json")
    assert alone.json["details"]["columns"] == ["sex"]
    member = run("attack", "membership", "tables", "--shadows", "8", "--format", "json")
    assert member.json["details"]["shadows"] == 8
    raw = ("people.parquet", "--data", "people.parquet", "--control", "others.parquet")
    guessed = run("attack", "inference", *raw, "--secret", "income", "--known", "sex,age,region")
    assert guessed.code == 0, guessed.err
    assert "'income'" in guessed.out
    assert run("attack", "inference", *raw, "--secret", "nothing").code == 2
    assert run("attack", "membership", "people.parquet").code == 2


def test_a_control_group_needs_a_file_and_must_be_there(run, released):
    assert run("audit", "--out", "other", "--control", "others.parquet").code == 2
    ran = run("audit", "--out", "other", "--microdata", "tables", "--control", "nowhere.csv")
    assert ran.code == 2
    assert "nowhere.csv" in ran.err
    assert not (released / "other").exists()
