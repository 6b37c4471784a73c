"""Attempts on units from the analyst's side: what is promised about one person, asked for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from town import Town

import adomnia
from adomnia.errors import PolicyError

UNIT = 'epsilon = 1e6\nunit = "person_id"\nmax_rows = 5\n'
SURE = 10**4
FILTERED = "SELECT COUNT(DISTINCT person_id) FILTER (WHERE sex = 'F') AS n FROM people"


def write_one_person(town: Town, ids: list[float]) -> None:
    """The town has the rows of one person alone, however the ids are written."""
    rows = len(ids)
    table = pa.table({
        "person_id": np.array(ids), "sex": ["F"] * rows, "age": [40] * rows,
        "income": [1000] * rows, "region": [1] * rows, "city": ["Zzrome"] * rows,
    })  # fmt: skip
    pq.write_table(table, town.folder / "people.parquet")


def test_one_person_counts_once(town: Town) -> None:
    write_one_person(town, [0.0, -0.0])
    analyst = town.open(UNIT).session()
    assert analyst.plan(FILTERED, epsilon=1).to_json()["sensitivity"]["value"] == "1"
    assert analyst.ask(FILTERED, epsilon=SURE).rows == [(1,)]


@pytest.mark.parametrize("ids", [[0.0, -0.0], [float("nan"), -float("nan")], [7.0, 7.0]])
def test_one_person_is_one_where_nothing_is_asked_of_the_rows(town: Town, ids: list[float]) -> None:
    write_one_person(town, ids)
    analyst = town.open(UNIT).session()
    plain = analyst.ask("SELECT COUNT(DISTINCT person_id) AS n FROM people", epsilon=SURE)
    grouped = analyst.ask(
        "SELECT sex, COUNT(DISTINCT person_id) AS n FROM people GROUP BY sex", epsilon=SURE
    )
    assert [tuple(row) for row in plain.rows] == [(1,)]
    assert [row[-1] for row in grouped.rows] == [1, 0]


def test_a_bound_of_rows_holds_for_a_person_who_is_written_in_two_ways(town: Town) -> None:
    write_one_person(town, [0.0, -0.0] * 20)
    analyst = town.open(f"{UNIT}max_groups = 1\nmax_rows_per_group = 2\n").session()
    by_sex = analyst.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=SURE)
    assert [row[-1] for row in by_sex.rows] == [2, 0]
    whole = analyst.ask("SELECT COUNT(*) AS n FROM people", epsilon=SURE)
    assert whole.rows[0][0] == 5


def test_a_unit_of_two_types_is_refused_before_anything_is_paid(town: Town) -> None:
    write_one_person(town, [7.0, 8.0])
    (town.folder / "people").mkdir()
    whole = pq.read_table(town.folder / "people.parquet")
    ids = pa.chunked_array([pa.array([7, 8], pa.int64())])
    for name, table in (("a", whole), ("b", whole.set_column(0, "person_id", ids))):
        pq.write_table(table, town.folder / "people" / f"{name}.parquet")
    file = town.write(UNIT)
    file.write_text(file.read_text("utf-8").replace("people.parquet", "people"), "utf-8")
    with pytest.raises(PolicyError, match="another type") as caught:
        adomnia.open(file)
    assert caught.value.line is not None
