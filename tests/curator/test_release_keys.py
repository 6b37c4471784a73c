"""Tables over whatever GROUP BY takes: bands, decades, months; and levels that agree."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from town import Town

import adomnia
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.present.release_page import release_page
from adomnia.privacy.premises import RowsStay
from adomnia.review.gate import check_release

BAND = "CASE WHEN age < 18 THEN 'under 18' WHEN age < 65 THEN '18, to 64' ELSE '65 up' END AS band"


def release(database, tables, **loss):
    return database.release(database.plan_release(marginals=tables, **(loss or {"epsilon": 10})))


def test_a_key_is_an_expression_or_its_alias(town: Town, exact, tmp_path: Path) -> None:
    made = release(town.open("epsilon = 1000"), [f"sex, {BAND}", "age / 10, region"], epsilon=900)
    assert made.plan.workload.names == ("sex", "region", "band", "age / 10")
    assert made.values[2] == ("under 18", "18, to 64", "65 up")
    assert made.values[3] == tuple(range(13))
    truth = dict(exact("SELECT age // 10, COUNT(*) FROM people GROUP BY 1"))
    counts = made.tables[(1, 3)].sum(axis=0)
    assert np.abs(counts - [truth.get(i, 0) for i in range(13)]).max() <= 5
    folder = write_folder(made, tmp_path / "out", microdata=True)
    with (folder / "marginals" / "region__age_10.csv").open() as lines:
        assert next(csv.reader(lines)) == ["region", "age / 10", "count", "count_margin"]
    names = {
        entry["file"] for entry in json.loads((folder / "release.json").read_text())["marginals"]
    }
    assert names == {"marginals/sex__band.csv", "marginals/region__age_10.csv"}
    (column,) = [
        column
        for table in json.loads((folder / "csv-metadata.json").read_text())["tables"]
        for column in table["tableSchema"]["columns"]
        if column["titles"] == "age / 10"
    ]
    assert column == {"name": "age%20%2F%2010", "titles": "age / 10", "datatype": "integer"}
    page = release_page(made)
    assert "<code>age / 10</code>" in page
    keys = json.loads((folder / "release.json").read_text())["attributes"]
    assert [one.get("key") for one in keys] == [None, None, BAND, "age / 10"]
    assert "region × age / 10" in page
    assert 'id="region__age_10"' in page


def test_months_are_keys(tmp_path: Path) -> None:
    days = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(600)]
    (tmp_path / "t.csv").write_text("day\n" + "\n".join(days) + "\n")
    (tmp_path / "t.toml").write_text(
        '[data]\nsource = "t.csv"\n[privacy]\nepsilon = 1000\nconfirmed = true\n'
        '[attributes.day]\nkind = "date"\nlow = "2024-01-01"\nhigh = "2024-12-31"\n'
    )
    with adomnia.open(tmp_path / "t.toml") as database:
        tables = ["date_trunc('month', day) AS month", "EXTRACT(quarter FROM day) AS quarter"]
        made = release(database, tables, epsilon=900)
    assert made.values[0][3].isoformat() == "2024-04-01"
    assert made.tables[(0,)].tolist() == [50] * 12
    assert made.tables[(1,)].tolist() == [150] * 4


@pytest.mark.parametrize("loss", [{"epsilon": "0.3"}, {"epsilon": 30}, {"rho": "0.01"}])
def test_levels_of_one_column_agree(town: Town, loss) -> None:
    """The years of a decade sum to it, whatever the noise, and no record is in two decades."""
    database = town.open("epsilon = 1000\ndelta = 1e-6")
    made = release(database, ["sex, age", "age / 10 AS decade, region", "decade"], **loss)
    years, decades = made.tables[(0, 1)].sum(axis=0), made.tables[(3,)]
    assert [years[10 * i : 10 * i + 10].sum() for i in range(13)] == decades.tolist()
    assert (made.tables[(2, 3)].sum(axis=0) == decades).all()
    records = np.asarray(made.microdata)
    assert (records[:, 1] // 10 == records[:, 3]).all()


def test_the_same_key_is_one_however_it_is_written(town: Town) -> None:
    planned = town.open().plan_release(
        marginals=["age/10, sex", ["age / 10", "region"], "SEX"], epsilon=1
    )
    assert planned.workload.names == ("sex", "region", "age/10")
    assert planned.workload.marginals == ((0, 2), (1, 2), (0,))


def test_ways_go_over_the_keys_that_are_listed(town: Town) -> None:
    planned = town.open().plan_release(marginals=["sex", "age / 10"], ways=2, epsilon=1)
    assert len(planned.workload.marginals) == 3


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (["age / 10 AS sex"], "the name of something else"),
        (["age / 10 AS count"], "the name of something else"),
        (["age / 10 AS a", "age / 20 AS a"], "the name of something else"),
        (["age / 10", "age/10"], "named twice"),
        (["nosuch"], "not a declared attribute"),
        (["nosuch / 10"], "no column 'nosuch'"),
        (["sex, COUNT(*)"], "aggregate"),
        (["sex FROM people"], "a key is needed"),
        (["sex,"], "a key is needed"),
        (["age * age"], "values"),
        (["CASE WHEN sex = 'Z' THEN 1 ELSE 2 END"], "'Z' is not listed for sex"),
    ],
)
def test_what_is_no_key_is_refused_and_costs_nothing(town: Town, tables, message) -> None:
    database = town.open()
    with pytest.raises(QuestionError, match=message):
        database.plan_release(marginals=tables, epsilon=1)
    assert database.budget()["data"]["spent"] == "0"


def test_a_question_with_the_same_key_is_answered_from_the_table(town: Town) -> None:
    database = town.open()
    made = release(database, ["age / 10 AS decade"], epsilon=100)
    answer = database.session().ask(
        "SELECT age / 10 AS d, COUNT(*) AS n FROM people GROUP BY 1 ORDER BY 1", epsilon="0.1"
    )
    assert answer.spent == {"epsilon": Fraction(0)}
    assert [n for _, n in answer.rows] == made.tables[(0,)].tolist()


LISTED = "values = [1, 2, 3, 4]\nother = 4\nnullable = true"
"""The town's regions, so that every row has one of them, or NULL."""


def totals(database, table: str) -> set[int]:
    """The rows of a table, as several releases of it have them."""
    return {int(release(database, [table], epsilon="0.1").tables[(0,)].sum()) for _ in range(6)}


def test_with_changed_rows_an_expression_is_priced_as_one_less_and_one_more(town: Town) -> None:
    """Nobody vouches that all values of an expression are listed, so a row may leave the tables."""
    file = town.write('neighbors = "bounded"\nepsilon = 1000')
    file.write_text(file.read_text().replace("low = 1\nhigh = 4", LISTED))
    with adomnia.open(file) as database:
        assert len(totals(database, "region")) == 1
        assert RowsStay.name in str([entry.body for entry in database.ledger()])
        assert len(totals(database, "COALESCE(region, 1) AS r")) > 1


@pytest.mark.parametrize("domain", ["low = 1\nhigh = 4", "values = [1, 2, 3, 4]"])
def test_with_changed_rows_the_number_of_rows_is_public_where_a_value_may_lie_outside(
    town: Town, domain: str
) -> None:
    """A row with such a value is in a cell that is not shown."""
    file = town.write('neighbors = "bounded"\nepsilon = 1000')
    nullable = f"{domain}\nnullable = true"
    file.write_text(file.read_text().replace("low = 1\nhigh = 4", nullable))
    with adomnia.open(file) as database:
        made = [release(database, ["region"], epsilon="0.1") for _ in range(6)]
        assert {len(one.microdata) for one in made} == {1000}
        assert RowsStay.name in str([entry.body for entry in database.ledger()])


def test_a_release_with_keys_is_priced_anew_by_its_columns(town: Town) -> None:
    made = release(town.open("epsilon = 10"), [BAND], epsilon=1)
    assert made.plan.layout.columns == ("age",)
    database = town.open("epsilon = 10\ngroup = 3")
    assert database.budget()["data"]["spent"] == "3"


def test_a_key_that_hides_a_public_column_behind_a_sensitive_one_is_sensitive(town: Town) -> None:
    file = town.write('neighbors = "bounded"\nepsilon = 1000')
    text = file.read_text().replace("[attributes.sex]", "[attributes.sex]\nsensitive = false")
    file.write_text(text)
    mixed = "CASE WHEN sex = 'F' THEN region ELSE 9 END AS mixed"
    with adomnia.open(file) as database, pytest.raises(QuestionError, match="come and go"):
        database.plan_release(marginals=["sex", mixed], epsilon=1, method="fourier")


def test_one_attribute_may_change_several_keys_so_expressions_are_not_spared(town: Town) -> None:
    file = town.write('neighbors = "attribute"\nepsilon = 1000')
    text = file.read_text().replace("[attributes.sex]", "[attributes.sex]\nsensitive = false")
    file.write_text(text)
    tables = ["sex, region", "region / 2 AS half"]
    with adomnia.open(file) as database, pytest.raises(QuestionError, match="come and go"):
        database.plan_release(marginals=tables, epsilon=1, method="fourier")


def test_the_gate_takes_a_key_as_the_columns_that_it_reads(town: Town) -> None:
    audit = '[audit]\npublic = ["age"]\nsensitive = "region"\n'
    database = town.open(more=audit)
    planned = database.plan_release(marginals=["age / 10, region"], epsilon=100)
    assert check_release(database, planned).tables == 1


def test_the_papers_methods_take_keys_too(town: Town) -> None:
    made = release(town.open(), [f"sex, {BAND}"], epsilon=5)
    database = town.open()
    planned = database.plan_release(marginals=[f"sex, {BAND}"], epsilon=5, method="fourier")
    table = database.release(planned).tables[(0, 1)]
    assert table.shape == made.tables[(0, 1)].shape == (2, 3)
    assert np.isfinite(table.astype(float)).all()
