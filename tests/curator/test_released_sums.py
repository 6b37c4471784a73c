"""Sums and averages by cell, and cumulative counts, through the door."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from town import Town

import adomnia
from adomnia.curator.releases.presentation import Presentation
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.present.release_page import release_page

HALF = "CASE WHEN region IN (1, 2) THEN 'west' ELSE 'east' END AS half"
RHO = "epsilon = 1000\ndelta = 1e-6"


def release(database, tables, sums=("income",), **terms):
    loss = {} if {"epsilon", "rho"} & {*terms} else {"epsilon": "0.2"}
    return database.release(
        database.plan_release(marginals=tables, sums=sums, **loss, **terms)
    )  # fmt: skip


def test_sums_are_near_the_truth_and_paid_in_one_debit(town: Town, exact) -> None:
    database = town.open("epsilon = 1000")
    before = database.budget()["data"]["spent"]
    made = release(database, ["sex", "region"], epsilon=800)
    rows = exact("SELECT sex, SUM(income), AVG(income) FROM people GROUP BY sex ORDER BY sex")
    (found,) = made.sums
    assert np.abs(found.sums[0,] - [row[1] for row in rows]).max() < 100
    assert np.abs(found.averages[0,] - [row[2] for row in rows]).max() < 0.5
    assert made.plan.to_json()["parts"] == {
        "counts": {"epsilon": "400"},
        "sums of income": {"epsilon": "400"},
    }
    assert Fraction(database.budget()["data"]["spent"]) - Fraction(before) == 800


@pytest.mark.parametrize("loss", [{"epsilon": "0.1"}, {"epsilon": 20}, {"rho": "0.01"}])
def test_levels_of_one_column_agree_in_sums_as_in_counts(town: Town, loss) -> None:
    made = release(
        town.open(RHO), ["region, sex", f"{HALF}, sex", "half", "age / 10 AS decade, half"], **loss
    )
    names, sums = made.plan.workload.names, made.sums[0].sums
    assert names == ("sex", "region", "half", "decade")
    west = [made.values[2].index(name) for name in ("west", "east")]
    by_region, by_half = sums[0, 1], sums[0, 2][:, west]
    assert (by_region[:, :2].sum(axis=1) == by_half[:, 0]).all()
    assert (by_region[:, 2:].sum(axis=1) == by_half[:, 1]).all()
    assert (sums[2,] == sums[0, 2].sum(axis=0)).all()
    assert (sums[2, 3].sum(axis=1) == sums[2,]).all()
    for subset, table in sums.items():
        assert (table >= 0).all()
        assert (table <= 2000 * made.tables[subset]).all()


def test_what_lies_beyond_is_clamped_and_what_is_missing_is_in_no_table(tmp_path: Path) -> None:
    lines = ["F,10", "F,-5", "M,99999", "M,", "M,20", "F,word"]
    (tmp_path / "t.csv").write_text("sex,pay\n" + "\n".join(lines * 50) + "\n")
    (tmp_path / "t.toml").write_text(
        '[data]\nsource = "t.csv"\n[privacy]\nepsilon = 1e9\nconfirmed = true\n'
        '[attributes.sex]\nvalues = ["F", "M"]\n'
        "[attributes.pay]\nlow = 0\nhigh = 30\nstep = 0.5\n"
    )
    with adomnia.open(tmp_path / "t.toml") as database:
        made = release(database, ["sex"], ["pay"], epsilon=100_000)
        capped = release(database, ["sex"], ["LEAST(pay, 15) AS low"], epsilon=100_000)
        filled = release(database, ["sex"], ["COALESCE(pay, 4)"], epsilon=100_000)
    assert made.tables[0,].tolist() == [100, 100]
    assert made.sums[0].sums[0,].tolist() == [500, 2500]
    assert made.sums[0].averages[0,].tolist() == [5, 25]
    assert any("pay counts as 0" in note and "30" in note for note in made.notes)
    assert "a row without pay is in no table" in made.notes
    assert capped.sums[0].sums[0,].tolist() == [500 + 750, 1500 + 750]  # SQL's LEAST knows no NULL
    assert "a row without pay adds 15" in capped.notes
    assert "a row without pay adds 4" in filled.notes
    assert filled.tables[0,].tolist() == [150, 150]
    assert filled.sums[0].sums[0,].tolist() == [700, 2700]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"sums": ["city"]}, "no number"),
        ({"sums": ["sex"]}, "no number"),
        ({"sums": ["nothing"]}, "nothing"),
        ({"sums": ["3"]}, "constant"),
        ({"sums": ["income", "income"]}, "twice"),
        ({"sums": ["income"], "method": "fourier"}, "counts of cells alone"),
        ({"sums": ["income * income * income"]}, "goes up to"),
        ({"sums": ["income"], "marginals": ["age / 10 AS sum_income"]}, "two columns"),
        ({"cumulative": ["sex"], "marginals": ["sex"]}, "no order"),
        ({"cumulative": ["age"], "marginals": ["sex"]}, "no key"),
        ({"cumulative": ["age"], "marginals": ["age"], "method": "fourier"}, "cells alone"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_spent(town: Town, terms, message) -> None:
    database = town.open()
    with pytest.raises(QuestionError, match=message):
        database.plan_release(**{"marginals": ["sex"], "epsilon": 1, **terms})


def test_a_number_that_may_be_null_asks_what_such_a_row_adds(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,pay\nF,1\n")
    (tmp_path / "t.toml").write_text(
        '[data]\nsource = "t.csv"\n[privacy]\nepsilon = 1\nconfirmed = true\n'
        '[attributes.sex]\nvalues = ["F", "M"]\n'
        "[attributes.pay]\nlow = 0\nhigh = 30\nnullable = true\n"
    )
    with adomnia.open(tmp_path / "t.toml") as database:
        with pytest.raises(QuestionError, match="may be NULL") as caught:
            database.plan_release(marginals=["sex"], sums=["pay"], epsilon=1)
        assert "COALESCE(pay, 0)" in caught.value.hint
        assert database.plan_release(marginals=["sex"], sums=["COALESCE(pay, 0)"], epsilon=1).sums


@pytest.mark.parametrize(
    ("privacy", "times"),
    [
        ('neighbors = "unbounded"', 1),
        ('neighbors = "bounded"', 2),
        ('neighbors = "attribute"', 2),
        ('unit = "person_id"\nmax_rows = 3', 3),
        ('unit = "person_id"\nmax_rows = 3\nneighbors = "bounded"', 6),
    ],
)
def test_every_relation_has_noise_for_the_rows_it_moves(town: Town, privacy, times) -> None:
    planned = town.open(f"epsilon = 1000\n{privacy}").plan_release(
        marginals=["sex"], sums=["income"], epsilon=1
    )
    (noise,) = planned.sums
    assert not noise.sums.neighbors.replaces
    assert noise.sums.strategy.factor == 1000 * times
    assert noise.counts.strategy.factor == times


def test_beside_exact_releases_sums_are_priced_or_refused_before(town: Town) -> None:
    """Rows that move unseen move sums, too; the totals that were public stay what they were."""
    database = town.open("epsilon = 1000")
    database.add_prior("SELECT sex, COUNT(*) FROM people GROUP BY sex", accept=True)
    planned = database.plan_release(marginals=["sex, region"], sums=["income"], epsilon=1)
    (noise,) = planned.sums
    assert noise.sums.strategy.factor == noise.counts.strategy.factor * 1000
    assert noise.counts.strategy.factor > 1
    assert database.release(planned).sums[0].sums[0, 1].shape == (2, 4)


def test_beside_exact_releases_a_wide_number_is_refused_unpaid(town: Town) -> None:
    more = "[attributes.person_id]\nlow = 0\nhigh = 10000000\n"
    database = town.open("epsilon = 1000", more)
    database.add_prior("SELECT sex, COUNT(*) FROM people GROUP BY sex", accept=True)
    with pytest.raises(QuestionError, match="exactly, sums of person_id have too many values"):
        database.plan_release(marginals=["sex, region"], sums=["person_id"], epsilon=1)


def test_what_was_paid_for_sums_is_priced_anew_beside_exact_releases(town: Town) -> None:
    database = town.open("epsilon = 1000")
    release(database, ["sex, region"], epsilon=1)
    added = database.add_prior("SELECT sex, COUNT(*) FROM people GROUP BY sex", accept=True)
    assert (added.repriced, added.before.epsilon, added.after.epsilon) == (1, 1, 2)


def test_structural_zeros_have_no_sum_for_certain(town: Town) -> None:
    more = "[[impossible]]\nwhen = \"sex = 'M' AND region = 1\"\n"
    made = release(town.open("epsilon = 1000", more), ["sex, region", "region"], epsilon=1)
    (found,) = made.sums
    assert found.sums[0, 1][1, 0] == found.sum_margins[0, 1][1, 0] == 0
    assert np.isnan(found.averages[0, 1][1, 0])
    assert (found.sums[0, 1].sum(axis=0) == found.sums[1,]).all()


def test_unbiased_sums_agree_over_shared_keys(town: Town) -> None:
    file = town.write(RHO)
    every = "values = [1, 2, 3, 4]\nother = 4\nnullable = true"
    file.write_text(file.read_text().replace("low = 1\nhigh = 4", every))
    with adomnia.open(file) as database:
        made = release(database, ["sex, region", "sex"], unbiased=True, rho="0.001")
    (found,) = made.sums
    assert np.allclose(found.sums[0, 1].sum(axis=1), found.sums[0,])
    assert found.sums[0,].dtype.kind == "f"


def test_the_folder_and_the_page_have_them(town: Town, tmp_path: Path) -> None:
    database = town.open()
    made = release(database, ["sex, age", "region"], cumulative=["age"], epsilon=1)
    printed = Presentation(5, suppress_unsure=True)
    page = release_page(made, None, printed)
    place = write_folder(
        made, tmp_path / "out", presentation=printed, pages={"index.html": page}
    )  # fmt: skip
    sums = ["sum_income", "sum_income_margin", "avg_income", "avg_income_margin"]
    for table in json.loads((place / "csv-metadata.json").read_text())["tables"]:
        with (place / table["url"]).open() as lines:
            head, *rows = csv.reader(lines)
        assert [column["titles"] for column in table["tableSchema"]["columns"]] == head
        assert {*sums} < {*head}
        at = head.index("sum_income")
        assert all(float(row[at]) == int(row[at]) for row in rows if row[at])
        if table["url"].startswith("presentation/"):
            marks = head.index("sum_income_mark")
            assert all(int(row[at]) % 5 == 0 for row in rows if not row[marks])
            assert all(row[at] == "" for row in rows if row[marks])
    facts = json.loads((place / "release.json").read_text())
    assert facts["sums"] == [{"name": "income", "low": 0, "high": 2000, "step": "1"}]
    assert {*facts["marginals"][0]["figures"]} == {
        "count", "sum_income", "avg_income", "cumulative_age",
    }  # fmt: skip
    assert "average income" in page
    assert "sum of income" in page


def test_later_counts_are_still_answered_from_a_release_with_sums(town: Town) -> None:
    """They are of the rows that have the number, so only a question of these is answered."""
    database = town.open()
    release(database, ["sex"], epsilon=1)
    same = "SELECT sex, COUNT(*) FROM people WHERE NOT (income IS NULL) GROUP BY sex"
    every = "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    costs = [database.session().ask(sql, epsilon="0.01").spent["epsilon"] for sql in (same, every)]
    assert costs == [0, Fraction(1, 100)]


# Cumulative counts and ranges


@pytest.mark.parametrize("loss", [{"epsilon": "0.3"}, {"rho": "0.01"}])
def test_cumulative_counts_agree_with_their_table(town: Town, exact, loss) -> None:
    database = town.open(RHO)
    made = release(database, ["sex, age", "age"], [], cumulative=["age"], **loss)
    assert not made.sums
    (table,) = made.cumulative[1,]
    assert (np.diff(table.counts, prepend=0) == made.tables[1,]).all()
    assert table.counts[-1] == made.tables[1,].sum()
    truth = dict(exact("SELECT age, COUNT(*) FROM people GROUP BY age"))
    real = np.cumsum([truth.get(age, 0) for age in made.values[1]])
    assert (np.abs(table.counts - real) <= 3 * table.margins).all()
    (beside,) = made.cumulative[0, 1]
    assert (beside.counts.sum(axis=0) == table.counts).all()
    assert table.margins[60] < made.margins[1,][:61].sum() / 2


def test_ranges_have_margins_of_their_own(town: Town, exact) -> None:
    made = release(town.open(RHO), ["sex, age", "age"], [], rho="0.01")
    grown = made.range("age, sex", "age", 18, 64)
    truth = dict(exact("SELECT sex, COUNT(*) FROM people WHERE age BETWEEN 18 AND 64 GROUP BY 1"))
    assert (grown.names, grown.sides) == (("sex",), (("F", "M"),))
    assert grown.counts.tolist() == made.tables[0, 1][:, 18:65].sum(axis=1).tolist()
    assert (np.abs(grown.counts - [truth["F"], truth["M"]]) <= 3 * grown.margins).all()
    alone = made.range(["age"], "age", 18, 64)
    assert alone.counts == grown.counts.sum()
    assert alone.margins < made.margins[1,][18:65].sum() / 2
    for wrong in (("age", "age", 64, 18), ("region", "region", 1, 2), ("age", "sex", 1, 2)):
        with pytest.raises(QuestionError):
            made.range(*wrong)


def test_null_has_no_place_in_an_order(tmp_path: Path) -> None:
    days = [f"2024-{1 + i % 12:02d}-01" if i % 13 else "" for i in range(650)]
    (tmp_path / "t.csv").write_text("day\n" + "\n".join(days) + "\n")
    (tmp_path / "t.toml").write_text(
        '[data]\nsource = "t.csv"\n[privacy]\nepsilon = 1000\nconfirmed = true\n'
        '[attributes.day]\nkind = "date"\nlow = "2024-01-01"\nhigh = "2024-12-31"\n'
        "nullable = true\n"
    )
    with adomnia.open(tmp_path / "t.toml") as database:
        month = "date_trunc('month', day) AS month"
        made = release(database, [month], [], cumulative=["month"], epsilon=900)
    (table,) = made.cumulative[0,]
    assert made.values[0][-1] is None
    assert table.blank.tolist() == [False] * 12 + [True]
    assert table.counts[11] == made.tables[0,][:12].sum()
    place = write_folder(made, tmp_path / "out")
    with (place / "marginals" / "month.csv").open() as lines:
        last = list(csv.reader(lines))[-1]
    assert last[-2:] == ["", ""]
