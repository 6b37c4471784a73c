"""What the policy says cannot be is in no table and in no record, by the statement that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.present.release_page import release_page

RULE = "[[impossible]]\nwhen = \"sex = 'M' AND pregnant = 'yes'\"\n"
YOUNG = "[[impossible]]\nwhen = \"pregnant = 'yes' AND age < 12\"\n"
ROWS = 4000


def columns() -> dict[str, list]:
    """Every eighth is pregnant, men and children too: mistakes that somebody typed."""
    rows = range(ROWS)
    return {
        "sex": ["FM"[i % 2] for i in rows],
        "pregnant": ["yes" if i // 2 % 8 == 0 else "no" for i in rows],
        "age": [i // 3 % 60 for i in rows],
        "kind": [i // 7 % 50 for i in rows],
        "place": [i // 11 % 40 for i in rows],
    }


@contextmanager
def opened(folder: Path, rules: str, privacy: str = "", nullable: bool = False) -> Iterator:
    pq.write_table(pa.table(columns()), folder / "t.parquet")
    also = "nullable = true\n" if nullable else ""
    listed = {"sex": ["F", "M"], "pregnant": ["no", "yes"]}
    parts = [
        f"[attributes.{n}]\nvalues = {json.dumps(v)}\nother = {json.dumps(v[0])}\n{also}"
        for n, v in listed.items()
    ]
    highs = {"age": 59, "kind": 49, "place": 39}
    parts += [f"[attributes.{n}]\nlow = 0\nhigh = {high}\n{also}" for n, high in highs.items()]
    (folder / "t.toml").write_text(
        '[data]\nsource = "t.parquet"\n[privacy]\nepsilon = 10000000\ndelta = 1e-6\n'
        f"confirmed = true\n{privacy}\n" + "".join(parts) + rules
    )
    with adomnia.open(folder / "t.toml") as database:
        yield database


def expectant(release, *also: str) -> int:
    """How many records are pregnant and cannot be: men, or with `also` children."""
    at = {name: i for i, name in enumerate(release.plan.workload.names)}
    records = np.asarray(release.microdata)
    wrong = records[:, at["sex"]] == 1
    if also:
        wrong |= records[:, at["age"]] < 12
    return int((wrong & (records[:, at["pregnant"]] == 1)).sum())


@pytest.mark.parametrize("loss", [{"epsilon": "0.05"}, {"epsilon": 2}, {"rho": "0.1"}])
@pytest.mark.parametrize("tables", [["sex,pregnant", "age"], ["sex,age", "pregnant"]])
def test_no_man_is_pregnant_in_tables_and_records(tmp_path: Path, loss, tables) -> None:
    """Also where no table has both attributes."""
    with opened(tmp_path, RULE + YOUNG) as database:
        made = database.release(database.plan_release(marginals=tables, **loss))
    assert len(made.microdata) > 1000
    assert expectant(made, "age") == 0
    for subset, table in made.tables.items():
        if subset == (0, 1):
            assert table[1, 1] == 0
            assert made.margins[subset][1, 1] == 0
            assert made.margins[subset][0, 1] > 0


def test_so_it_is_where_no_table_of_all_attributes_fits(tmp_path: Path) -> None:
    names = "sex,pregnant", "age,pregnant", "kind,place", "kind,age", "place,sex"
    with opened(tmp_path, RULE + YOUNG) as database:
        planned = database.plan_release(marginals=names, epsilon=2)
        assert planned.workload.domain < 1 << 20
        more = "[attributes.row]\nlow = 0\nhigh = 9\n"
    table = columns() | {"row": [i % 10 for i in range(ROWS)]}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    text = (tmp_path / "t.toml").read_text()
    (tmp_path / "t.toml").write_text(text.replace("[[impossible]]", more + "[[impossible]]", 1))
    with adomnia.open(tmp_path / "t.toml", accept=True) as database:
        planned = database.plan_release(marginals=(*names, "row,sex"), epsilon=2)
        assert planned.workload.domain > 1 << 20
        made = database.release(planned)
    assert expectant(made, "age") == 0


def test_a_row_that_cannot_be_is_in_no_table_at_all(tmp_path: Path) -> None:
    """The statement leaves it out, so that a table without the attributes has not got it either."""
    wrong = sum(s == "M" and p == "yes" for s, p in zip(*list(columns().values())[:2], strict=True))
    assert wrong > 100
    with opened(tmp_path, RULE) as database:
        made = database.release(database.plan_release(marginals=["sex", "kind"], epsilon=10**6))
    men = made.tables[(0,)][1]
    assert men == ROWS // 2 - wrong
    assert made.tables[(1,)].sum() == ROWS - wrong


def test_unbiased_tables_have_a_certain_zero_there(tmp_path: Path) -> None:
    with opened(tmp_path, RULE) as database:
        planned = database.plan_release(marginals=["sex,pregnant"], epsilon=1, unbiased=True)
        made = database.release(planned)
    assert made.tables[(0, 1)][1, 1] == 0
    assert made.margins[(0, 1)][1, 1] == 0


@pytest.mark.parametrize("neighbors", ["bounded", "attribute", "bit"])
def test_a_changed_row_is_priced_as_one_that_goes_and_one_that_comes(
    tmp_path: Path, neighbors: str
) -> None:
    """Where every value has a cell, NULL too, it would stay, and the rows would be public."""
    deviations, totals = [], []
    for name, rules in (("a", ""), ("b", RULE)):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name, rules, f'neighbors = "{neighbors}"', True) as database:
            planned = database.plan_release(marginals=["sex,pregnant"], epsilon="0.1")
            deviations.append(planned.deviations[(0, 1)])
            totals.append({len(database.release(planned).microdata) for _ in range(6)})
            record = database.ledger()[2].body["use"]["parts"][0]
        assert record["moves"] == "2"
        assert ("rows-stay" in json.dumps(record)) is False
    assert deviations[1] >= deviations[0]
    assert totals[0] == {ROWS}
    assert len(totals[1]) > 1


def test_it_is_said_that_rows_are_left_out_and_not_how_many(tmp_path: Path) -> None:
    with opened(tmp_path, RULE) as database:
        planned = database.plan_release(marginals=["sex"], epsilon=1)
        made = database.release(planned)
    assert planned.to_json()["impossible"] == ["sex = 'M' AND pregnant = 'yes'"]
    said = "rows that cannot be are in no table: sex = 'M' AND pregnant = 'yes'"
    assert said in made.notes
    folder = write_folder(made, tmp_path / "out")
    assert said in json.loads((folder / "release.json").read_text())["notes"]
    assert "rows that cannot be are in no table" in release_page(made)


def test_a_question_is_not_answered_from_tables_of_other_rows(tmp_path: Path) -> None:
    sql = "SELECT sex, COUNT(*) FROM t{} GROUP BY sex"
    with opened(tmp_path, RULE) as database:
        database.release(database.plan_release(marginals=["sex"], epsilon=100))
        answer = database.session().ask(sql.format(""), epsilon="0.1")
        assert answer.spent == {"epsilon": Fraction(1, 10)}
        test = " WHERE CASE WHEN sex = 'M' AND pregnant = 'yes' THEN FALSE ELSE TRUE END"
        again = database.session().ask(sql.format(test), epsilon="0.1")
    assert again.spent == {"epsilon": Fraction(0)}


@pytest.mark.parametrize("method", ["fourier", "marginals-lp", "consistent"])
def test_methods_that_keep_no_cell_empty_are_refused(tmp_path: Path, method: str) -> None:
    with opened(tmp_path, RULE) as database:
        with pytest.raises(QuestionError, match="does not keep cells empty"):
            database.plan_release(marginals=["sex"], epsilon=1, method=method)
        assert database.budget()["data"]["spent"] == "0"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("[[impossible]]\nwhen = \"sex = 'F' OR sex = 'M' OR sex IS NULL\"\n", "no row can be"),
        ('[[impossible]]\nwhen = "age + kind + place > 140 OR sex > pregnant"\n', "combinations"),
    ],
)
def test_what_leaves_nothing_or_is_too_wide_is_refused_unpaid(
    tmp_path: Path, rules: str, message: str
) -> None:
    with opened(tmp_path, rules) as database:
        tables = ["sex,age", "sex,kind", "sex,place"]
        with pytest.raises(QuestionError, match=message):
            database.plan_release(marginals=tables, epsilon=1)
        assert database.budget()["data"]["spent"] == "0"
