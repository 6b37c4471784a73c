"""Bands as a key: labels, SQL, what is refused, and numbers drawn inside them."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from adomnia.curator.releases.bands import (
    BandRequest,
    Bands,
    Segment,
    band_requests,
)
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.present.release_page import release_page
from adomnia.schema.domain import Grid
from adomnia.testing import World, listed, number

PEOPLE = World(
    {
        "sex": ["F", "M", "F", "M", None, "F"],
        "age": [0, 17, 18, 64, 65, None],
        "pay": [0.5, 1.0, 1.5, 2.25, 9.75, 0.0],
    },
    {
        "sex": listed("F", "M"),
        "age": f"{number(0, 120)}\nnullable = true",
        "pay": number(0, 10, 0.25),
    },
)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (["income=10"], BandRequest("income", 10)),
        (["a=b=3"], BandRequest("a=b", 3)),
        (["age=18,65"], BandRequest("age", edges=(Fraction(18), Fraction(65)))),
        (["age=18,"], BandRequest("age", edges=(Fraction(18),))),
        ({"pay": ["0.25", 1.5]}, BandRequest("pay", edges=(Fraction(1, 4), Fraction(3, 2)))),
    ],
)
def test_bands_are_asked_for_by_their_number_or_their_edges(said, found):
    assert band_requests(said) == (found,)


@pytest.mark.parametrize(
    "said", [["age"], ["age="], ["=3"], ["age=x"], ["age=1,x"], ["age=,"], ["age=2", "age=3"],
             {"age": []}, {"age": None}, {"age": True}, {"age": 2.5}],
)  # fmt: skip
def test_what_says_no_bands_is_refused(said):
    with pytest.raises(QuestionError):
        band_requests(said)


@pytest.mark.parametrize(
    "bins",
    [
        {"nosuch": 3}, {"sex": 2}, {"age": 1}, {"age": 122}, {"age": 65}, {"pay": 42},
        {"age": [0]}, {"age": [121]}, {"age": [65, 18]}, {"age": [18, 18]}, {"age": ["0.5"]},
        {"pay": ["0.3"]},
    ],
)  # fmt: skip
def test_bands_that_cannot_be_are_refused_unpaid(bins):
    with PEOPLE.open() as database, pytest.raises(QuestionError):
        database.plan_release(ways=1, epsilon=1, bins=bins)


def test_bands_in_no_table_are_refused():
    with PEOPLE.open() as database, pytest.raises(QuestionError, match="no table has the key"):
        database.plan_release(marginals=["sex"], epsilon=1, bins={"age": [18]})


def test_a_column_called_as_the_key_is_not_hidden():
    world = World({"age": [1], "age_band": ["x"]}, {"age": number(0, 120)})
    with world.open() as database, pytest.raises(QuestionError, match="is a column"):
        database.plan_release(ways=1, epsilon=1, bins={"age": [18]})


def test_public_bands_cost_nothing_and_count_what_they_say():
    with PEOPLE.open() as database:
        plan = database.plan_release(
            marginals=["age", "pay_band"], epsilon=500, bins={"age": [18, 65], "pay": ["1.5"]}
        )
        made = database.release(plan)
        assert database.budget()["data"]["spent"] == "500"
        assert len(list(database.account().uses())) == 1
    assert made.values == (
        ("0 to 17", "18 to 64", "65 to 120", None),
        ("0.00 to 1.25", "1.50 to 10.00"),
    )
    assert made.tables[0,].tolist() == [2, 2, 1, 1]  # a row without an age has a cell of its own
    assert made.tables[1,].tolist() == [3, 3]


def test_what_lies_outside_is_in_no_band():
    ages, pay = [*PEOPLE.columns["age"], 130], [*PEOPLE.columns["pay"], 2.0]
    people = World(
        {"age": ages, "pay": pay}, {name: PEOPLE.attributes[name] for name in ("age", "pay")}
    )
    with people.open() as database:
        bins = {"age": {"age": [18, 65]}, "pay": {"pay": ["1.5"]}}
        ages, paid = (
            database.release(database.plan_release(marginals=[name], epsilon=500, bins=parts))
            for name, parts in bins.items()
        )
    assert ages.tables[0,].tolist() == [2, 2, 1, 2]  # nor is one without an age
    assert paid.tables[0,].tolist() == [3, 4]


def test_with_ways_a_banded_column_is_its_bands():
    with PEOPLE.open() as database:
        plan = database.plan_release(ways=2, epsilon=1, bins={"pay": [5]})
    assert plan.workload.names == ("sex", "age", "pay_band")


def test_numbers_lie_in_their_band_on_the_steps_of_the_domain():
    parts = (
        (Segment(0, 0, Fraction(1)), Segment(1, 9, Fraction(3))),
        (Segment(10, 40, Fraction(9)),),
    )
    bands = Bands("pay", Grid(Fraction(0), Fraction(10), Fraction(1, 4)), parts)
    codes = np.array([0, 1, 2] * 20_000)
    drawn = bands.drawn(codes)
    assert drawn.mask.tolist() == (codes == 2).tolist()
    assert set(np.unique(drawn[codes == 0].data * 4)) == set(range(10))
    assert set(np.unique(drawn[codes == 1].data * 4)) == set(range(10, 41))
    lowest = (drawn[codes == 0].data == 0).mean()
    assert abs(lowest - 1 / 4) < 6 * (3 / 16 / 20_000) ** 0.5  # by the weight of its segment


def test_wide_domains_stay_exact():
    grid = Grid(Fraction(0), Fraction(10**15))
    bands = Bands("x", grid, ((Segment(0, 10**15 - 1, Fraction(1)),),
                              (Segment(10**15, 10**15, Fraction(1)),)))  # fmt: skip
    assert bands.drawn(np.array([1, 1])).tolist() == [10**15, 10**15]


def test_records_have_the_number_beside_its_band(tmp_path: Path):
    with PEOPLE.open() as database:
        plan = database.plan_release(
            marginals=["sex,age", "pay"], epsilon=500, bins={"age": [18, 65], "pay": [5]}
        )
        made = database.release(plan)
    folder = write_folder(
        made, tmp_path / "t", microdata=True, pages={"index.html": release_page(made)}
    )
    rows = list(csv.DictReader((folder / "microdata.csv").open()))
    assert list(rows[0]) == ["sex", "age_band", "age", "pay_band", "pay"]
    for row in rows:
        if row["age_band"]:
            low, high = map(int, row["age_band"].split(" to "))
            assert low <= int(row["age"]) <= high
        else:
            assert not row["age"]
        assert float(row["pay"]) * 4 % 1 == 0
    table = parquet.read_table(folder / "microdata.parquet")
    assert [str(kind) for kind in table.schema.types] == [
        "string", "string", "int64", "string", "double",
    ]  # fmt: skip
    assert [row["age"] or None for row in rows] == [
        None if age is None else str(age) for age in table["age"].to_pylist()
    ]
    facts = json.loads((folder / "release.json").read_text())
    assert [one["begins"] for one in facts["bands"]] == [["18", "65"], ["5.00"]]
    page = (folder / "index.html").read_text()
    assert "which begin at 18, 65" in page
    assert "were said beforehand" in page


def test_bands_and_other_keys_of_the_column_agree():
    with PEOPLE.open() as database:
        plan = database.plan_release(
            marginals=["age_band,sex", "age / 10 AS decade"], epsilon=5, bins={"age": [20, 40]}
        )
        made = database.release(plan)
    records = np.asarray(made.microdata)
    place = plan.workload.names.index("decade")
    band = plan.workload.names.index("age_band")
    known = records[records[:, band] < 3]
    assert all((row[band] == 0) == (row[place] < 2) for row in known)
