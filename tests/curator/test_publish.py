"""Publishing: paid once, written whole, and answering later questions at no cost."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from town import Town

import adomnia
from adomnia.audit.reconstruction.table_files import read_tables
from adomnia.curator.releases import release_folder
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import BudgetError, MachineryError, QuestionError
from adomnia.present.release_page import release_page
from adomnia.testing import town


def whole_regions(town: Town, privacy: str = "epsilon = 1000") -> adomnia.Database:
    """The town, where every row has a region that tables show."""
    more = "values = [1, 2, 3, 4]\nother = 4\nnullable = true"
    file = town.write(privacy)
    file.write_text(file.read_text().replace("low = 1\nhigh = 4", more))
    town.opened.append(adomnia.open(file))
    return town.opened[-1]


def test_a_plan_spends_nothing_and_tells_the_error(town: Town) -> None:
    database = town.open()
    planned = database.plan_release(marginals=["sex,region", "age"], epsilon=1)
    assert planned.workload.total_cells == 8 + 121
    assert all(deviation > 0 for deviation in planned.deviations.values())
    assert database.budget()["data"]["spent"] == "0"


def test_a_release_is_paid_and_its_tables_agree(town: Town) -> None:
    database = town.open("epsilon = 4")
    planned = database.plan_release(marginals=["sex,region", "sex", "region"], epsilon="1/2")
    made = database.release(planned)
    assert database.budget()["data"]["spent"] == "1/2"
    both, sex, region = (made.tables[s] for s in planned.workload.marginals)
    assert (both.sum(axis=1) == sex).all()
    assert (both.sum(axis=0) == region).all()
    assert both.min() >= 0
    assert both.dtype.kind == "i"
    assert both.sum() == len(made.microdata)


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "1/2"}])
def test_most_cells_lie_within_their_margins(town: Town, exact, loss) -> None:
    database = town.open("epsilon = 100\ndelta = 1e-6")
    counts = exact("SELECT sex, region, COUNT(*) FROM people GROUP BY 1, 2")
    truth = {(s, r): n for s, r, n in counts}
    inside = []
    for _ in range(5):
        made = database.release(database.plan_release(marginals=["sex,region"], **loss))
        table, margins = made.tables[(0, 1)], made.margins[(0, 1)]
        inside += [
            abs(table[i, j] - truth[s, r]) <= margins[i, j]
            for i, s in enumerate("FM") for j, r in enumerate((1, 2, 3, 4))
        ]  # fmt: skip
    assert sum(inside) >= 26  # of 40 at 0.95: fewer once in a hundred million times


@pytest.mark.parametrize("method", ["fourier", "fourier-shift", "fourier-lp", "marginals-lp"])
def test_the_papers_methods_are_there_by_name(town: Town, method: str) -> None:
    database = whole_regions(town)
    planned = database.plan_release(marginals=["sex", "sex,region"], epsilon=1, method=method)
    made = database.release(planned)
    assert made.tables[(0, 1)].shape == (2, 5)
    assert abs(float(made.tables[(0, 1)].sum()) - float(made.tables[(0,)].sum())) < 1e-6


def test_unbiased_tables_are_consistent(town: Town) -> None:
    database = whole_regions(town, "rho = 10")
    planned = database.plan_release(ways=2, marginals=["sex", "region"], rho=1, unbiased=True)
    made = database.release(planned)
    assert made.microdata is None
    assert np.allclose(made.tables[(0, 1)].sum(axis=1), made.tables[(0,)])


def test_what_was_released_answers_later_questions_for_everybody(town: Town) -> None:
    more = "[analysts.alice]\nepsilon = 1\n[analysts.bob]\nepsilon = 1\n"
    database = town.open(more=more)
    made = database.release(database.plan_release(marginals=["sex,region", "sex"], epsilon=100))
    for analyst in ("alice", "bob"):
        answer = database.session(analyst).ask(
            "SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex", epsilon=0.1
        )
        assert answer.spent == {"epsilon": Fraction(0)}
        table = made.tables[(0, 1)]
        assert [n for _, _, n in answer.rows] == table.T.reshape(-1).tolist()
    one = database.session("bob").ask("SELECT COUNT(*) FROM people WHERE sex = 'F'", epsilon=0.1)
    assert one.rows == [(made.tables[(0,)][0],)]
    assert one.spent == {"epsilon": Fraction(0)}


def test_released_cells_are_not_summed(town: Town) -> None:
    database = town.open()
    database.release(database.plan_release(marginals=["sex,region"], epsilon=100))
    answer = database.session().ask("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=0.1)
    assert answer.spent == {"epsilon": Fraction(1, 10)}


def test_a_folder_holds_everything(town: Town, tmp_path: Path) -> None:
    database = town.open()
    made = database.release(database.plan_release(marginals=["sex,region", "age"], epsilon=1))
    place = write_folder(made, tmp_path / "out", microdata=True,
                         pages={"index.html": release_page(made)})  # fmt: skip
    facts = json.loads((place / "release.json").read_text())
    assert facts["receipt"] == made.receipt
    with (place / "marginals" / "sex__region.csv").open() as lines:
        rows = list(csv.reader(lines))
    assert rows[0] == ["sex", "region", "count", "count_margin"]
    margins = [float(row[3]) for row in rows[1:]]
    assert margins == made.margins[made.plan.workload.marginals[0]].reshape(-1).tolist()
    assert sum(int(row[2]) for row in rows[1:]) == facts["rows"]
    assert sum(1 for _ in (place / "microdata.csv").open()) == facts["rows"] + 1
    assert (place / "marginals" / "age.parquet").exists()
    tables = json.loads((place / "csv-metadata.json").read_text())["tables"]
    assert {table["url"] for table in tables} == {entry["file"] for entry in facts["marginals"]}
    for table in tables:
        titles = [column["titles"] for column in table["tableSchema"]["columns"]]
        assert titles == (place / table["url"]).read_text().splitlines()[0].split(",")
    page = (place / "index.html").read_text()
    assert "<svg" in page
    assert re.search(r'class="figure"[^>]*>[0-9,]+ ± [0-9.]+</text>', page)
    assert "ε 1." in page
    assert "http://" not in page


def test_a_released_table_is_read_by_attacks_and_as_an_exact_release(
    town: Town, tmp_path: Path
) -> None:
    database = town.open()
    made = database.release(database.plan_release(marginals=["sex,region"], epsilon=1))
    file = write_folder(made, tmp_path / "out") / "marginals" / "sex__region.csv"
    for one in (file, file.with_suffix(".parquet")):
        (read,) = read_tables([str(one)]).tables
        assert read[0] == ("sex", "region")
        assert (read[1] == made.tables[(0, 1)]).all()
    sql = "SELECT sex, region, COUNT(*) AS count FROM people GROUP BY sex, region"
    assert database.add_prior(sql, values=file).repriced == 0


def test_a_full_disk_leaves_no_half_folder(town: Town, tmp_path: Path, monkeypatch) -> None:
    database = town.open()
    made = database.release(database.plan_release(marginals=["sex"], epsilon=1))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release_folder, "_write_parquet", full)
    with pytest.raises(MachineryError, match="No space left"):
        write_folder(made, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".release-*"))


def test_a_taken_folder_is_refused(town: Town, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    database = town.open()
    made = database.release(database.plan_release(marginals=["sex"], epsilon=1))
    with pytest.raises(QuestionError, match="not empty"):
        write_folder(made, tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "keep"


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"marginals": ["sex,city"], "epsilon": 1}, "not a declared attribute"),
        ({"marginals": ["sex", "sex"], "epsilon": 1}, "named twice"),
        ({"marginals": ["sex,sex"], "epsilon": 1}, "named twice"),
        ({"ways": 9, "epsilon": 1}, "cannot be made"),
        ({"ways": 0, "epsilon": 1}, "cannot be made"),
        ({"epsilon": 1}, "which marginals"),
        ({"ways": 1}, "an epsilon or a rho"),
        ({"ways": 1, "epsilon": 1, "rho": 1}, "an epsilon or a rho"),
        ({"ways": 1, "epsilon": 0}, "above zero"),
        ({"ways": 1, "epsilon": 1, "method": "magic"}, "no method"),
    ],
)
def test_what_cannot_be_released_is_refused_and_costs_nothing(town: Town, order, message) -> None:
    database = town.open()
    with pytest.raises(QuestionError, match=message):
        database.plan_release(**order)
    assert database.budget()["data"]["spent"] == "0"


def test_too_many_cells_are_refused_before_the_debit(town: Town) -> None:
    database = town.open(more="[attributes.person_id]\nlow = 0\nhigh = 9000\n")
    with pytest.raises(QuestionError, match="cells"):
        database.plan_release(marginals=["age,income,region,sex,person_id"], epsilon=1000)
    assert database.budget()["data"]["spent"] == "0"


def test_a_release_above_the_budget_is_refused(town: Town) -> None:
    database = town.open("epsilon = 1")
    planned = database.plan_release(marginals=["sex"], epsilon=2)
    with pytest.raises(BudgetError):
        database.release(planned)


@pytest.mark.parametrize("epsilon", ["1e-6", "1e6"])
def test_very_small_and_very_large_losses_work(town: Town, epsilon: str) -> None:
    database = town.open("epsilon = 10000000")
    planned = database.plan_release(marginals=["sex,region"], epsilon=epsilon, accept=True)
    assert database.release(planned).tables[(0, 1)].min() >= 0


def test_all_pairs_agree_on_what_they_share(town: Town) -> None:
    database = town.open()
    planned = database.plan_release(ways=2, epsilon=1, marginals=["sex", "region", "age"])
    made = database.release(planned)
    singles = {s[0]: t for s, t in made.tables.items() if len(s) == 1}
    for pair in combinations(range(3), 2):
        table = made.tables[pair]
        assert (table.sum(axis=1) == singles[pair[0]]).all()
        assert (table.sum(axis=0) == singles[pair[1]]).all()


def test_few_rows_under_much_noise_are_warned_of(town: Town) -> None:
    database = town.open()
    planned = database.plan_release(marginals=["age,region"], epsilon="0.01", accept=True)
    made = database.release(planned)
    assert "more noise than rows" in made.notes[0]


def not_sensitive(town: Town, privacy: str) -> Path:
    """The town's policy, where everybody may know anybody's sex; every value has its cell."""
    file = town.write(privacy)
    text = file.read_text().replace("[attributes.sex]", "[attributes.sex]\nsensitive = false")
    listed = 'values = ["F", "M"]\nother = "M"\nnullable = true'
    text = text.replace('values = ["F", "M"]', listed)
    listed = "values = [1, 2, 3, 4]\nother = 4\nnullable = true"
    text = text.replace("low = 1\nhigh = 4", listed)
    file.write_text(text)
    return file


def test_attributes_that_are_not_sensitive_come_out_exactly(town: Town, exact) -> None:
    file = not_sensitive(town, 'neighbors = "bounded"\nepsilon = 10')
    with adomnia.open(file) as database:
        planned = database.plan_release(
            marginals=["sex", "sex,region"], epsilon=1, method="fourier"
        )
        made = database.release(planned)
    truth = dict(exact("SELECT sex, COUNT(*) FROM people GROUP BY sex"))
    assert np.allclose(made.tables[(0,)], [truth["F"], truth["M"], 0])


def test_without_bounded_neighbours_nothing_is_public(town: Town) -> None:
    with adomnia.open(not_sensitive(town, "epsilon = 10")) as database:
        with pytest.raises(QuestionError, match="come and go"):
            database.plan_release(marginals=["sex,region"], epsilon=1, method="fourier")
        assert database.budget()["data"]["spent"] == "0"


def test_a_linear_program_that_is_too_large_is_refused_before_the_debit(town: Town) -> None:
    database = town.open()
    with pytest.raises(QuestionError):
        database.plan_release(marginals=["age,income,region"], epsilon=1, method="fourier-lp")
    assert database.budget()["data"]["spent"] == "0"


def test_misfits_are_the_distance_of_fitted_tables_from_their_measurements():
    with town(rows=400).open() as database:
        made = database.release(database.plan_release(ways=2, epsilon=1))
        rough = database.release(database.plan_release(ways=2, epsilon=1, unbiased=True))
    assert set(made.misfits) == set(made.tables)
    deviations = made.plan.deviations
    assert all(0 <= made.misfits[s] < 20 * deviations[s] for s in made.misfits)
    assert made.misfits[2,] > 0  # 2,001 incomes of 400 people are never what was measured
    assert rough.misfits == {}
