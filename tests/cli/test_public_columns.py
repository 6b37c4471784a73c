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
nullable = true
sensitive = false
[attributes.ill]
values = ["no", "yes"]
nullable = true
"""


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
    (folder / "adomnia.toml").write_text(POLICY)
    told = ["--marginals", "region", "--marginals", "region,ill", "--method", "fourier"]
    out = ["--epsilon", "1", "--out", str(folder / "out"), "--format", "json"]
    policy = ["--policy", str(folder / "adomnia.toml")]
    ran = CliRunner().invoke(cli, ["release", *told, *out, *policy], catch_exceptions=False)
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
