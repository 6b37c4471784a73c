"""Asking again: the same answer, paid once, and only where that is right (`reuse.md`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from town import Town, write_people

import adomnia

COUNT = "SELECT COUNT(*) AS n FROM people"
FINE = "SELECT sex, region, COUNT(*) AS n FROM people GROUP BY sex, region"


def spent(database: adomnia.Database) -> str:
    return str(database.budget()["data"]["spent"])


def test_a_hundred_times_the_same_is_one_answer(town: Town) -> None:
    database = town.open()
    analyst = database.session()
    answers = [analyst.ask(COUNT, "1/10") for _ in range(100)]
    assert len({answer.rows[0] for answer in answers}) == 1
    assert spent(database) == "1/10"
    assert answers[0].spent == {"epsilon": Fraction(1, 10)}
    assert all(answer.spent == {"epsilon": 0} for answer in answers[1:])
    assert all("cost nothing" in " ".join(answer.notes) for answer in answers[1:])
    assert len({answer.receipt for answer in answers}) == 1  # a repeat names what it repeats
    kinds = [entry.kind for entry in database.ledger()]
    assert kinds.count("repeated") == 99
    assert all(entry.text is None for entry in database.ledger() if entry.kind == "repeated")


VARIANTS = {
    "SELECT COUNT(*) FROM people WHERE 1 = 1": True,
    "SELECT COUNT(1) FROM people": True,
    "SELECT COUNT(*) AS other FROM people": True,
    "SELECT COUNT(*) FROM (SELECT * FROM people) q": True,
    "WITH q AS (SELECT age FROM people) SELECT COUNT(*) FROM q": True,
    "select count(*) from PEOPLE as p": True,
    "SELECT COUNT(*) + 0 FROM people": True,
    "SELECT COUNT(*) FROM people WHERE age = age": False,
    "SELECT COUNT(*) FROM people WHERE age >= 0 OR age IS NULL": False,
    "SELECT SUM(1 + 0 * age) FROM people": False,
    "SELECT COUNT(*) FROM people WHERE NOT FALSE": True,
}


@pytest.mark.parametrize(("sql", "known"), VARIANTS.items(), ids=list(VARIANTS))
def test_a_variant_is_known_or_paid(town: Town, sql: str, known: bool) -> None:
    database = town.open()
    analyst = database.session()
    first = analyst.ask(COUNT, 1)
    again = analyst.ask(sql, 1)
    assert spent(database) == str(1 + again.spent["epsilon"])
    if known:
        assert (again.spent["epsilon"], again.rows[0]) == (0, first.rows[0])
    if again.spent["epsilon"] == 0:
        assert again.rows[0][0] == first.rows[0][0]


@pytest.mark.parametrize("swapped", [True, False])
def test_reordered_conditions(town: Town, swapped: bool) -> None:
    analyst = town.open().session()
    first = analyst.ask(f"{COUNT} WHERE sex = 'F' AND age > 30", 1)
    order = "age > 30 AND sex = 'F'" if swapped else "sex = 'F' AND age > 30"
    again = analyst.ask(f"{COUNT} WHERE {order}", 1)
    assert again.spent["epsilon"] == 0 or swapped  # each order may pay, but it pays
    if again.spent["epsilon"] == 0:
        assert again.rows == first.rows


def test_a_coarser_table_is_the_sum_of_the_finer(town: Town) -> None:
    database = town.open()
    analyst = database.session()
    fine = analyst.ask(FINE, 1)
    by_sex = analyst.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "1/10")
    whole = analyst.ask(COUNT, "1/10")
    some = analyst.ask(f"{COUNT} WHERE sex = 'F' AND region IN (1, 2)", "1/10")
    assert spent(database) == "1"
    assert all(answer.spent == {"epsilon": 0} for answer in (by_sex, whole, some))
    shown = {(sex, region): n for sex, region, n in fine.rows}
    picked = sum(n for (sex, region), n in shown.items() if sex == "F" and region <= 2)
    assert some.rows == [(picked,)]
    # the cells of NULL are measured too, and belong to the sums, though they are not shown
    assert whole.rows[0][0] != 0
    assert by_sex.margins["n"][0] > fine.margins["n"][0]
    assert whole.margins["n"][0] > by_sex.margins["n"][0]
    assert by_sex.margins["n"][0] < 60


def test_filters_having_and_order_are_free_on_known_cells(town: Town) -> None:
    database = town.open()
    analyst = database.session()
    fine = analyst.ask(FINE, 1)
    rows = {row[:2]: row[2] for row in fine.rows}
    for more in ("HAVING COUNT(*) > 100", "ORDER BY n DESC LIMIT 3", "HAVING n < 0"):
        again = analyst.ask(f"{FINE} {more}", 1)
        assert again.spent == {"epsilon": 0}
        assert all(rows[row[:2]] == row[2] for row in again.rows)
    wider = analyst.ask(FINE, 1, confidence=0.99)
    assert wider.rows == fine.rows
    assert wider.margins["n"][0] > fine.margins["n"][0]
    sums = analyst.ask("SELECT COUNT(*) FILTER (WHERE sex = 'F') FROM people", "1/10")
    assert sums.spent == {"epsilon": 0}
    assert spent(database) == "1"


def test_nothing_less_accurate_than_asked_is_served(town: Town) -> None:
    database = town.open()
    analyst = database.session()
    analyst.ask(COUNT, "1/10")
    assert analyst.ask(COUNT, "1/5").spent["epsilon"] > 0
    assert analyst.ask(COUNT, "1/5").spent["epsilon"] == 0
    analyst.ask(FINE, 1)
    assert analyst.ask("SELECT sex, COUNT(*) FROM people GROUP BY sex", "9/10").spent["epsilon"] > 0
    assert analyst.ask(FINE, "101/100").spent["epsilon"] > 0


def test_a_paid_answer_takes_the_place_of_a_derived_one(town: Town) -> None:
    """Summed from ten cells the first is wide; the paid one must be remembered, not that."""
    database = town.open()
    analyst = database.session()
    analyst.ask(FINE, 1)
    assert analyst.ask(COUNT, "1/10").spent["epsilon"] == 0
    paid = analyst.ask(COUNT, "1/2")
    assert paid.spent["epsilon"] > 0
    again = analyst.ask(COUNT, "1/2")
    assert (again.spent["epsilon"], again.rows) == (0, paid.rows)


def test_nobody_profits_from_what_others_asked(town: Town) -> None:
    database = town.open(more="[analysts.alice]\nepsilon = 5\n[analysts.bob]\nepsilon = 5\n")
    first = database.session("alice").ask(COUNT, 1)
    second = database.session("bob").ask(COUNT, 1)
    assert first.spent == second.spent == {"epsilon": 1}
    assert database.session("alice", name="later").ask(COUNT, 1).spent == {"epsilon": 0}


def test_changed_data_is_asked_anew_once_it_is_loaded(town: Town) -> None:
    first = town.open().session().ask(COUNT, 1)
    write_people(town.folder, rows=2000, seed=2)
    database = town.open()
    unread = database.session().ask(COUNT, 1)
    assert (unread.spent, unread.rows, unread.edition) == ({"epsilon": 0}, first.rows, 1)
    assert database.load().number == 2
    second = database.session().ask(COUNT, 1)
    assert (first.spent, second.spent) == ({"epsilon": 1}, {"epsilon": 1})
    assert (first.edition, second.edition) == (1, 2)
    assert abs(second.rows[0][0] - 2000) < 100


def test_another_policy_is_asked_anew(town: Town) -> None:
    town.open().session().ask(COUNT, 1)
    assert town.open("epsilon = 1001").session().ask(COUNT, 1).spent == {"epsilon": 1}


def test_groups_selected_twice_are_not_mixed(town: Town) -> None:
    """Two selections of as many groups need not have selected the same ones."""
    database = town.open("epsilon = 1000\ndelta = 1e-6")
    analyst = database.session()
    ask = "SELECT city, {} FROM people GROUP BY city"
    analyst.ask(ask.format("SUM(age)"), 2)
    analyst.ask(ask.format("SUM(income)"), 2)
    from dataclasses import replace

    from adomnia.curator.answers.reuse import reuse
    from adomnia.curator.planning.plan import LossRequest, make_plan
    from adomnia.privacy.loss import exact

    memory = database._backend.memory("curator", database._backend.version())
    both = database.bind(ask.format("SUM(age), SUM(income)"))
    plan = make_plan(both, database._backend.policy, LossRequest(exact(2)))
    assert reuse(plan, memory) is not None  # the same groups were selected both times

    class Mixed:
        """The same, as if another order of groups had been selected for incomes."""

        def candidates(self, plan: Any, step: Any) -> Iterator[Any]:
            for known in memory.candidates(plan, step):
                other = tuple(reversed(known.selected or ()))
                mixed = "income" in repr(known.measurement)
                yield replace(known, load_keys=lambda other=other: other) if mixed else known

    assert reuse(plan, Mixed()) is None


def test_a_column_with_an_odd_name_is_no_cell(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"a": np.arange(400) % 2, "#0": np.arange(400) % 4})
    pq.write_table(table, tmp_path / "t.parquet")
    attributes = '[attributes.a]\nlow = 0\nhigh = 1\n[attributes."#0"]\nlow = 0\nhigh = 3\n'
    (tmp_path / "adomnia.toml").write_text(
        f'[data]\nsource = "t.parquet"\n[privacy]\nepsilon = 100\nconfirmed = true\n{attributes}'
    )
    with adomnia.open(tmp_path / "adomnia.toml") as database:
        analyst = database.session()
        analyst.ask("SELECT a, COUNT(*) FROM t GROUP BY a", 10)
        other = analyst.ask('SELECT COUNT(*) FROM t WHERE "#0" = 1', 5)
        assert other.spent == {"epsilon": 5}
        assert abs(other.rows[0][0] - 100) < 20


# Requests with a key


def test_a_repeated_key_is_paid_once(town: Town) -> None:
    database = town.open()
    first = database.session().ask(FINE, 1, key="k")
    again = database.session().ask(FINE, 1, key="k")
    assert (again.rows, again.margins, again.receipt) == (first.rows, first.margins, first.receipt)
    assert again.spent == {"epsilon": 0}
    assert spent(database) == "1"
    reopened = town.open()
    later = reopened.session().ask(FINE, 1, key="k")
    assert (later.rows, later.receipt, spent(reopened)) == (first.rows, first.receipt, "1")


@pytest.mark.parametrize(
    ("sql", "asked"),
    [(COUNT, {"epsilon": 1}), (FINE, {"epsilon": 2}), (FINE, {"epsilon": 1, "confidence": 0.9})],
)
def test_a_key_means_one_question(town: Town, sql: str, asked: dict[str, Any]) -> None:
    database = town.open()
    database.session().ask(FINE, 1, key="k")
    with pytest.raises(adomnia.QuestionError, match="another question"):
        database.session().ask(sql, **asked, key="k")
    assert spent(database) == "1"


def test_a_key_under_another_policy_is_refused_not_misread(town: Town) -> None:
    town.open().session().ask("SELECT region, COUNT(*) FROM people GROUP BY region", 1, key="k")
    file = town.folder / "adomnia.toml"
    text = file.read_text().replace("low = 1\nhigh = 4", "low = 0\nhigh = 9")
    file.write_text(text)
    with adomnia.open(file) as database:
        with pytest.raises(adomnia.QuestionError, match="another policy"):
            database.session().ask(
                "SELECT region, COUNT(*) FROM people GROUP BY region", 1, key="k"
            )
        assert spent(database) == "1"


def test_keys_of_days_come_back_as_days(tmp_path: Path) -> None:
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    days = [datetime.date(2020, 1 + i % 2, 1) for i in range(400)]
    pq.write_table(pa.table({"day": days, "city": ["Zz"] * 400}), tmp_path / "t.parquet")
    (tmp_path / "adomnia.toml").write_text(
        '[data]\nsource = "t.parquet"\n[privacy]\nepsilon = 100\ndelta = 1e-6\nconfirmed = true\n'
        '[attributes.day]\nkind = "date"\nlow = "2020-01-01"\nhigh = "2020-12-31"\n'
    )
    sql = "SELECT city, DATE_TRUNC('month', day) AS m, COUNT(*) FROM t GROUP BY 1, 2"
    with adomnia.open(tmp_path / "adomnia.toml") as database:
        first, again = (database.session().ask(sql, 2, key=key) for key in ("a", "b"))
        assert first.rows == again.rows == database.session().ask(sql, 2, key="a").rows
        assert isinstance(first.rows[0][1], datetime.date)


def test_a_key_holds_across_processes(town: Town) -> None:
    database = town.open()
    first = database.session().ask(COUNT, 1, key="k")
    program = (
        "import adomnia, sys\n"
        f"a = adomnia.open(sys.argv[1]).session().ask({COUNT!r}, 1, key='k')\n"
        "print(a.rows[0][0], a.receipt)"
    )
    file = str(town.folder / "adomnia.toml")
    found = subprocess.run(
        [sys.executable, "-c", program, file], capture_output=True, text=True, env=os.environ,
        check=True, timeout=300,
    )  # fmt: skip
    assert found.stdout.split() == [str(first.rows[0][0]), first.receipt]
    assert spent(database) == "1"
