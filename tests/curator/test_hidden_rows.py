"""Rows without a value of one key are in the tables of all others, but for the papers' methods."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.curator.releases.release_folder import write_folder
from adomnia.engines.exact import exact_view
from adomnia.errors import QuestionError
from adomnia.present.release_page import release_page
from adomnia.review.microdata.records_comparison import compare_records
from adomnia.testing import World, listed, number

ROWS = 1200
EVERY = '\nother = "v"\nnullable = true'
"""So that every row has a value of t that is shown."""
PRIVACY = "epsilon = 100000000"
METHODS = [
    {},
    {"unbiased": True},
    {"adaptive": True, "accept": True},
]


def world(privacy: str = PRIVACY, more: str = "", null: str = "") -> World:
    """A quarter of x lies outside, a third of s is not listed, a fifth of both is not there."""
    rows = range(ROWS)
    x = [None if i % 5 == 0 else i % 4 for i in rows]
    s = [None if i % 5 == 1 else "abz"[i % 3] for i in rows]
    t = ["uv"[i % 7 == 0] for i in rows]
    columns = {"x": x, "s": s, "t": t, "y": [i % 11 for i in rows]}
    domains = {
        "x": number(0, 2) + null,
        "s": listed("a", "b") + null,
        "t": listed("u", "v") + EVERY,
        "y": number(0, 10),
    }
    return World(columns, domains, privacy, more)


def counts(here: World, *names: str) -> dict[tuple[object, ...], int]:
    found: dict[tuple[object, ...], int] = {}
    for cell in zip(*(here.columns[name] for name in names), strict=True):
        found[cell] = found.get(cell, 0) + 1
    return found


def released(database, *tables: str, epsilon=1000000, **terms):
    return database.release(
        database.plan_release(marginals=list(tables), epsilon=epsilon, **terms)
    )  # fmt: skip


@pytest.mark.parametrize("terms", METHODS, ids=lambda terms: "-".join(map(str, terms.values())))
@pytest.mark.parametrize("null", ["", "\nnullable = true"])
def test_each_table_has_all_rows_with_values_of_its_own_keys(terms: dict, null: str):
    here = world(null=null)
    with here.open() as database:
        made = released(database, "x", "s", "t", "s,t", "x,t", **terms)
    truth = {name: counts(here, name) for name in "xst"}
    for place, name in enumerate("xst"):
        wanted = [truth[name].get((value,), 0) for value in made.values[place]]
        off = np.abs(made.tables[place,] - wanted)
        assert (off <= made.margins[place,] + 1e-6).all()
        assert off.max() <= 2
    assert made.tables[2,].sum() == pytest.approx(ROWS, abs=2)
    told = {one.column: one for one in made.left_out}
    hidden = {name: sum(truth[name].values()) for name in "xs"}
    for name in "xs":
        shown = [truth[name].get((value,), 0) for value in made.values["xst".index(name)]]
        hidden[name] -= sum(shown)
        assert told[name].count == pytest.approx(hidden[name], abs=2)
        assert told[name].margin is not None
        assert abs(told[name].count - hidden[name]) <= told[name].margin
    assert set(told) == {"x", "s"}


def test_tables_agree_but_for_what_is_not_shown():
    with world().open() as database:
        made = released(database, "x", "s", "t", "x,s", "x,t")
    sizes = made.plan.layout.measured.sizes
    assert sizes == (4, 3, 3)
    assert len(made.microdata) == pytest.approx(ROWS, abs=2)
    for subset, table in made.tables.items():
        whole = made.microdata.tabulate(sizes, subset)
        assert whole.sum() == len(made.microdata)
        assert (whole[made.plan.layout.shown(subset)] == table).all()
    missing = made.microdata.tabulate(sizes, (0, 2))[-1]
    assert (made.tables[0, 2].sum(axis=0) + missing[:3] == made.tables[2,]).all()
    assert missing.sum() == made.not_shown((0, 2))[0].count


@pytest.mark.parametrize("cells", [1 << 20, 4])
def test_every_row_is_in_one_cell_of_each_marginal(cells: int, monkeypatch):
    """Whatever it holds, by both ways in which an engine counts."""
    with world().open() as database:
        backend = database._backend
        reads = database.plan_release(marginals=["x,s", "y / 3 AS h"], epsilon=1).layout.reads
        with exact_view(backend.engine, backend.table) as view:
            monkeypatch.setattr(type(view.engine), "most_cells", cells)
            if hasattr(view.engine, "most_cells"):
                view.engine.most_cells = cells
            found = view.tables(reads)([(), (0,), (1,), (0, 1), (0, 1, 2)])
    assert {int(table.sum()) for table in found.values()} == {ROWS}
    assert {subset: table.shape for subset, table in found.items()} == {
        (): (), (0,): (4,), (1,): (3,), (0, 1): (4, 3), (0, 1, 2): (4, 3, 5)
    }  # fmt: skip
    truth = counts(world(), "x")
    assert found[0,].tolist() == [truth[0,], truth[1,], truth[2,], truth[3,] + truth[None,]]


def test_sums_and_cumulative_counts_are_of_all_rows_of_a_table():
    here = world()
    with here.open() as database:
        made = released(database, "x", "t", sums=["y"], cumulative=["x"])
    (sums,) = made.sums
    wanted = [sum(y for y, t in zip(here.columns["y"], here.columns["t"], strict=True) if t == one)
              for one in "uv"]  # fmt: skip
    assert np.abs(sums.sums[1,][:2] - wanted).max() <= 20
    assert sums.sums[0,].shape == (3,)
    (upto,) = made.cumulative[0,]
    assert upto.counts.tolist() == np.cumsum(made.tables[0,]).tolist()
    assert upto.margins.shape == upto.blank.shape == (3,)
    assert made.range("x", "x", 0, 2).counts == made.tables[0,].sum()


def test_bands_have_a_cell_for_what_lies_beyond():
    here = world()
    with here.open() as database:
        made = released(database, "x", "t", bins={"x": [2]})
    truth = counts(here, "x")
    place = made.plan.workload.names.index("x_band")
    assert made.values[place] == ("0 to 1", "2")
    wanted = [truth[0,] + truth[1,], truth[2,]]
    assert made.tables[place,].tolist() == pytest.approx(wanted, abs=2)
    assert made.tables[1 - place,].sum() == pytest.approx(ROWS, abs=2)


def test_what_cannot_be_stays_empty_and_what_is_not_shown_does_not():
    more = "[[impossible]]\nwhen = \"x = 1 AND s = 'a'\"\n"
    here = world(more=more)
    with here.open() as database:
        made = released(database, "x,s", "x", "x / 2 AS h")
    gone = counts(here, "x", "s").get((1, "a"), 0)
    assert gone > 0
    assert made.tables[0, 1][1, 0] == made.margins[0, 1][1, 0] == 0
    truth = counts(here, "x")
    assert made.tables[0,].tolist() == [
        pytest.approx(truth[0,], abs=2),
        pytest.approx(truth[1,] - gone, abs=2),
        pytest.approx(truth[2,], abs=2),
    ]
    records = made.microdata.records
    assert ((records[:, 0] == 3) == (records[:, 2] == 2)).all()  # both are x


def test_later_questions_are_answered_from_tables_of_all_rows():
    here = world()
    with here.open() as database:
        released(database, "x", "t", "x,t")
        ask = database.session().ask
        alone = ask("SELECT t, COUNT(*) AS n FROM people GROUP BY t", epsilon=1)
        both = ask("SELECT x, COUNT(*) AS n FROM people GROUP BY x", epsilon=1)
    assert {**alone.spent, **both.spent} == {"epsilon": 0}
    truth = counts(here, "t")
    assert dict(alone.rows)["u"] == pytest.approx(truth["u",], abs=2)
    assert [n for _, n in both.rows] == [
        pytest.approx(counts(here, "x")[value,], abs=2) for value in (0, 1, 2)
    ]


def test_a_field_of_the_records_is_empty_where_no_table_shows_the_value(tmp_path: Path):
    here = world()
    with here.open() as database:
        made = released(database, "x", "s", "t")
        compared = compare_records(database, made)
    assert compared.rows_made == pytest.approx(compared.rows_true, abs=2)
    assert compared.rows_true == ROWS
    room = write_folder(made, tmp_path / "out", microdata=True)
    with (room / "microdata.csv").open() as file:
        rows = list(csv.DictReader(file))
    truth = counts(here, "x")
    assert sum(row["x"] == "" for row in rows) == pytest.approx(truth[3,] + truth[None,], abs=2)
    assert {row["x"] for row in rows} == {"0", "1", "2", ""}


def test_the_folder_says_beside_each_table_what_it_does_not_show(tmp_path: Path):
    with world().open() as database:
        made = released(database, "x", "s,t", "t")
    room = write_folder(made, tmp_path / "out", pages={"index.html": release_page(made)})
    facts = json.loads((room / "release.json").read_text())
    told = {tuple(one["attributes"]): one["not_shown"] for one in facts["marginals"]}
    (x,) = made.not_shown((0,))
    assert told["x",] == [{"attribute": "x", "rows": x.count, "margin": x.margin}]
    assert [one["attribute"] for one in told["s", "t"]] == ["s"]
    assert told["t",] == []
    assert [one["cells"] for one in facts["marginals"]] == [3, 6, 3]
    about = json.loads((room / "csv-metadata.json").read_text())
    notes = {one["url"]: one.get("notes", []) for one in about["tables"]}
    assert notes["marginals/x.csv"] == [{"dc:description": x.says}]
    assert notes["marginals/t.csv"] == []
    page = (room / "index.html").read_text()
    assert f"Not shown: {x.says}." in page
    assert x.says in made.notes
    assert page.count(x.says) == 1  # beside its table, and not above them all as well


def test_where_nothing_lies_outside_tables_agree_and_nothing_is_missing():
    """Noise in the cell that is not shown does not stand out, so no record is there."""
    columns = {"a": [i % 2 for i in range(400)], "b": [i % 3 for i in range(400)]}
    here = World(columns, {"a": number(0, 1), "b": number(0, 2)}, "epsilon = 1000\ndelta = 1e-6")
    with here.open() as database:
        for loss in ({"epsilon": 1}, {"rho": "0.1"}):
            made = database.release(database.plan_release(ways=2, marginals=["a", "b"], **loss))
            assert made.plan.layout.measured.sizes == (3, 4)
            assert (made.tables[0, 1].sum(axis=1) == made.tables[0,]).all()
            assert {one.count for one in made.left_out} == {0}
            assert len(made.microdata) == made.tables[1,].sum()


SENSITIVE = 'neighbors = "bounded"\nepsilon = 100000000'


@pytest.mark.parametrize("method", ["fourier", "fourier-shift", "fourier-lp", "marginals-lp"])
def test_the_papers_methods_have_no_cell_for_the_rest_and_say_so(method: str):
    with world().open() as database:
        made = released(database, "x", "s", "t", method=method)
    assert made.plan.layout.measured == made.plan.layout.workload
    said = {one.column: one.says for one in made.left_out}
    assert set(said) == {"x", "s"}
    assert all(text.endswith("are in no table") for text in said.values())


def test_beside_exact_releases_rows_are_left_out_as_of_answers_and_that_is_said(tmp_path: Path):
    here = world()
    with here.open() as database:
        database.add_prior("SELECT s, COUNT(*) AS n FROM people GROUP BY s", accept=True)
        made = released(database, "x", "t", "s,t")
        answer = database.session().ask("SELECT t, COUNT(*) AS n FROM people GROUP BY t", epsilon=9)
    listed_rows = sum(n for (s,), n in counts(here, "s").items() if s in {"a", "b"})
    place = made.plan.workload.names.index("t")
    assert made.tables[place,].sum() == pytest.approx(listed_rows, abs=2)
    assert sum(n for _, n in answer.rows) == pytest.approx(listed_rows, abs=9)
    said = "rows without a declared value of s are in no table: what was released exactly is of"
    assert any(part.says.startswith(said) for part in made.left_out)
    assert {part.column for part in made.left_out if part.what == "values"} == {"x"}


def test_a_drawn_table_counts_what_it_does_not_show():
    columns = {"s": ["a", "b"] * 3, "x": [0, 9, 1, 1, None, 0]}
    here = World(columns, {"s": listed("a", "b"), "x": number(0, 1)}, "epsilon = 100000")
    with here.open() as database:
        text = "s,n\na,3\nb,3\n"
        file = Path(database.policy.file).parent / "s.csv"
        file.write_text(text)
        database.add_prior(
            "SELECT s, COUNT(*) AS n FROM people GROUP BY s", values=str(file), accept=True
        )
        made = released(database, "s,x", method="consistent", epsilon=5000)
    assert made.tables[0, 1].tolist() == [[1, 1], [1, 1]]
    (hidden,) = made.not_shown((0, 1))
    assert (hidden.column, hidden.count, hidden.margin) == ("x", 2, 0)
    assert len(made.microdata) == 6


def test_a_table_in_which_nothing_could_be_shown_is_refused():
    more = '[[impossible]]\nwhen = "x >= 0"\n'
    with world(more=more).open() as database, pytest.raises(QuestionError, match="no row can be"):
        database.plan_release(marginals=["x"], epsilon=1)


def test_a_release_is_priced_anew_with_the_cell_that_a_row_leaves_for():
    """Of 1 or 2, and of 2 or 3, as many rows stay: one row of 2 becomes one of 1, and one that
    nothing shows becomes one of 3. That moves four cells of the released table, not three."""
    here = World({"v": [1, 2, 3, 9] * 5}, {"v": number(1, 3)}, 'neighbors = "bounded"\nepsilon = 9')
    with here.open() as database:
        released(database, "v", epsilon=1, accept=True)
        for pair in ("1, 2", "2, 3"):
            sql = f"SELECT COUNT(*) AS n FROM people WHERE v IN ({pair})"
            database.add_prior(sql, accept=True)
        assert float(Fraction(database.budget()["data"]["spent"])) >= 2
