"""Units, and attributes that are not sensitive: a public table says nothing of the secret ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from adomnia.cli.main import cli
from adomnia.errors import QuestionError

POLICY = """
[data]
source = "people.parquet"
table = "people"
[privacy]
confirmed = true
neighbors = "bounded"
unit = "person"
max_rows = 2
epsilon = 1000
[attributes.region]
values = ["east", "west"]
other = "west"
nullable = true
sensitive = false
[attributes.ill]
values = ["no", "yes"]
other = "no"
nullable = true
"""


def asked(folder: Path, policy: str) -> list[str]:
    """A release of two tables, one of them of the public column alone."""
    (folder / "adomnia.toml").write_text(policy)
    told = ["--marginals", "region", "--marginals", "region,ill", "--method", "fourier"]
    out = ["--epsilon", "1", "--out", str(folder / "out"), "--format", "json"]
    return ["release", *told, *out, "--policy", str(folder / "adomnia.toml")]


def public_table(folder: Path, ill: list[str]) -> list[str]:
    """The released table of regions, where the first person's rows say this of being ill."""
    folder.mkdir()
    rows = [f"0,{('east', 'west')[turn % 2]},{said},x{turn}" for turn, said in enumerate(ill)]
    rows += [
        f"{person},{('east', 'west')[(person + turn) % 2]},{('no', 'yes')[turn % 2]},y{turn}"
        for person in range(1, 20)
        for turn in range(4)
    ]
    columns = zip(*(row.split(",") for row in rows), strict=True)
    names = ("person", "region", "ill", "note")
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), folder / "people.parquet")
    ran = CliRunner().invoke(cli, asked(folder, POLICY), catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.output)["marginals"] == 2
    (file,) = (folder / "out").rglob("region.csv")
    with file.open(newline="") as lines:
        return [row[1] for row in csv.reader(lines)][1:]


WELL = ["no"] * 6
OTHERWISE = {
    "ill": ["yes"] * 6,
    "at first": ["yes", "yes", "yes", "no", "no", "no"],
    "later": ["no", "no", "yes", "yes", "yes", "no"],
    "at times": ["no", "yes", "yes", "no", "no", "yes"],
    "unlisted": ["perhaps", "no", "perhaps", "no", "no", "no"],
    "missing": ["", "", "no", "", "no", "no"],
    "never listed": ["perhaps"] * 6,
}


def test_an_exact_table_of_public_columns_does_not_depend_on_secret_ones(tmp_path):
    well = public_table(tmp_path / "well", WELL)
    assert sum(float(count) for count in well) == pytest.approx(40)
    for place, ill in enumerate(OTHERWISE.values()):
        assert public_table(tmp_path / str(place), ill) == well


def test_rows_are_still_left_out_evenly(tmp_path):
    """Of 20 units with as many rows in either region, not all keep the same one."""
    east, west, missing = map(float, public_table(tmp_path / "town", WELL))
    assert missing == 0
    assert min(east, west) >= 8  # of 40 kept rows


def test_where_a_secret_value_could_take_a_row_out_of_the_tables_it_is_refused(tmp_path):
    """An unlisted value without `other` has no cell, and the exact table would tell of it."""
    public_table(tmp_path / "town", WELL)
    (tmp_path / "town" / "out").rename(tmp_path / "before")
    told = asked(tmp_path / "town", POLICY.replace('other = "no"\n', ""))
    ran = CliRunner().invoke(cli, told)
    assert isinstance(ran.exception, QuestionError)
    assert "may leave the tables" in str(ran.exception)
    assert not (tmp_path / "town" / "out").exists()
