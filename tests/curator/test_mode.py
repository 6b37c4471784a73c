"""The most frequent value, in SQL: asked, planned, paid, asked again, and on odd data."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from town import Town

from adomnia.cli.main import cli
from adomnia.errors import QuestionError

MANY = "epsilon = 100000\n"


def put(town: Town, **columns: list) -> None:
    """Other rows in the place of the town's, and columns that are not named are NULL."""
    rows = len(next(iter(columns.values())))
    names = ("person_id", "sex", "age", "income", "region", "city")
    types = {"sex": pa.string(), "city": pa.string()}
    table = {n: pa.array(columns.get(n, [None] * rows), types.get(n, pa.int64())) for n in names}
    pq.write_table(pa.table(table), town.folder / "people.parquet")


def test_the_most_frequent_value_is_named(town: Town, exact) -> None:
    analyst = town.open(MANY).session()
    sql = "SELECT region, COUNT(*) FROM people GROUP BY region ORDER BY 2 DESC"
    (best, most), (_, second) = exact(sql)[:2]
    answer = analyst.ask("SELECT MODE(region) FROM people", 5000 / (most - second))
    assert answer.rows == [(best,)]
    assert answer.columns == ("mode",)
    assert any("mode is in rows" in note for note in answer.notes)


def test_in_every_group_and_beside_other_statistics(town: Town, exact) -> None:
    analyst = town.open(MANY).session()
    answer = analyst.ask(
        "SELECT sex, MODE() WITHIN GROUP (ORDER BY region) AS r, COUNT(*) AS n, MEDIAN(age) AS m "
        "FROM people WHERE age > 30 GROUP BY sex HAVING MODE(region) > 0 ORDER BY r",
        3000,
    )
    counts = Counter()
    for sex, region, n in exact(
        "SELECT sex, region, COUNT(*) FROM people WHERE age > 30 GROUP BY ALL"
    ):
        counts[sex, region] = n
    for sex, region, n, _ in answer.rows:
        best = max(counts[sex, r] for r in range(1, 5))
        assert counts[sex, region] == best
        assert n == sum(counts[sex, r] for r in range(1, 5))
    assert set(answer.margins) == {"r", "n", "m"}


def test_the_margin_holds(town: Town, exact) -> None:
    analyst = town.open(MANY).session()
    counts = dict(exact("SELECT age, COUNT(*) FROM people GROUP BY age"))
    short = 0
    for i in range(60):
        answer = analyst.ask(f"SELECT MODE(age) AS m FROM people WHERE age + 0 <> {200 + i}", "1/2")
        off = answer.margins["m"][0]
        short += counts.get(answer.rows[0][0], 0) < max(counts.values()) - off
    assert off == analyst.plan("SELECT MODE(age) AS m FROM people", "1/2").margins["m"]
    assert short <= 16  # 3 are expected at most; more once in a hundred million times


def test_what_is_paid_and_asked_again(town: Town) -> None:
    analyst = town.open("epsilon = 2").session()
    sql = "SELECT sex, MODE(region) AS r FROM people GROUP BY sex"
    plan = analyst.plan(sql, "1/2")
    assert plan.mechanism == "permute-and-flip"
    assert plan.to_json()["sensitivity"]["measurement"] == "mode"
    first = analyst.ask(sql, "1/2")
    entries = [e.body for e in analyst._backend.journal.entries() if e.kind == "reserved"]
    assert entries[0]["event"] == {
        "event": "permute-and-flip",
        "epsilon": "1/2",
        "sensitivity": "1",
    }
    again = analyst.ask(sql, "1/4")
    assert again.rows == first.rows
    assert again.spent == {"epsilon": 0}
    assert analyst.remaining()["epsilon"] == Fraction(3, 2)
    assert analyst.ask(sql, 1).spent == {"epsilon": 1}
    keyed = [analyst.ask("SELECT MODE(sex) FROM people", "1/10", key="k") for _ in range(2)]
    assert keyed[0].rows == keyed[1].rows
    json.dumps(first.to_json())


RELATIONS = [
    ("", "1"),
    ('neighbors = "bounded"', "2"),
    ('neighbors = "attribute"', "2"),
    ("group = 3", "3"),
    ('unit = "person_id"\nmax_rows = 5', "5"),
    ('neighbors = "bounded"\nunit = "person_id"\nmax_rows = 2', "4"),
]


@pytest.mark.parametrize(("privacy", "size"), RELATIONS)
@pytest.mark.parametrize("keys", ["", " GROUP BY sex"])
def test_the_rate_follows_the_promise(town: Town, privacy: str, size: str, keys: str) -> None:
    analyst = town.open(f"epsilon = 9\n{privacy}").session()
    (step,) = analyst.plan(f"SELECT MODE(region) FROM people{keys}", 1).steps
    assert step.sensitivity.l1 == Fraction(size)
    assert step.eta == 1 / Fraction(size)


def test_among_tables_that_agree_with_an_exact_release(town: Town) -> None:
    more = '[[prior]]\nsql = "SELECT COUNT(*) FROM people"\n'
    analyst = town.open("epsilon = 9", more).session()
    (step,) = analyst.plan("SELECT MODE(region) FROM people", 1).steps
    assert step.sensitivity.l1 == 2  # a row that goes comes back as another
    assert analyst.ask("SELECT MODE(region) FROM people", 1).rows[0][0] in range(1, 5)


def test_an_earlier_mode_costs_more_after_an_exact_release(town: Town) -> None:
    database = town.open("epsilon = 9")
    database.session().ask("SELECT MODE(region) FROM people", 1)
    told = database.add_prior("SELECT COUNT(*) FROM people")
    assert told.after.epsilon == 2


# Odd data


def test_no_rows_ties_and_one_value(town: Town) -> None:
    put(town, sex=[])
    nothing = town.open(MANY).session()
    seen = {
        nothing.ask(f"SELECT MODE(sex) FROM people WHERE age <> {i}", 900).rows[0][0]
        for i in range(40)
    }
    assert seen == {"F", "M"}
    put(town, sex=["F", "M"] * 30)
    tied = {
        nothing.ask(f"SELECT MODE(sex) FROM people WHERE age IS NULL OR age <> {i}", 900).rows[0][0]
        for i in range(40)
    }
    assert tied == {"F", "M"}


def test_a_domain_of_one_value(town: Town) -> None:
    more = '[attributes.city]\nvalues = ["Zzrome"]\n'
    analyst = town.open(MANY, more).session()
    answer = analyst.ask("SELECT MODE(city) AS c FROM people", 1)
    assert answer.rows == [("Zzrome",)]
    assert answer.margins["c"] == [0]
    assert answer.spent == {"epsilon": 1}


def test_nulls_are_no_value(town: Town) -> None:
    put(town, sex=["F"] * 30 + [None] * 500)
    analyst = town.open(MANY).session()
    assert analyst.ask("SELECT MODE(sex) FROM people", 900).rows == [("F",)]
    only = "SELECT MODE(sex) FILTER (WHERE sex <> 'F') FROM people"
    assert analyst.ask(only, 900).rows[0][0] in {"F", "M"}


def test_days_truths_and_decimals(town: Town) -> None:
    table = pa.table({
        "d": [date(2020, 1, 2)] * 9 + [date(2020, 1, 3)],
        "t": [True] * 9 + [False],
        "x": [0.25] * 9 + [0.5],
    })  # fmt: skip
    pq.write_table(table, town.folder / "people.parquet")
    (town.folder / "adomnia.toml").write_text(
        '[data]\nsource = "people.parquet"\n[privacy]\nepsilon = 9999\nconfirmed = true\n'
        '[attributes.d]\nkind = "date"\nlow = "2020-01-01"\nhigh = "2020-01-31"\n'
        "[attributes.t]\nvalues = [true, false]\n"
        "[attributes.x]\nlow = 0\nhigh = 1\nstep = 0.25\n"
    )
    import adomnia

    with adomnia.open(town.folder / "adomnia.toml") as database:
        sql = "SELECT MODE(d) AS d, MODE(t) AS t, MODE(x) AS x, MODE(x > 0.3) AS l FROM people"
        answer = database.session().ask(sql, 4000)
    assert answer.rows == [(date(2020, 1, 2), True, 0.25, False)]
    assert json.loads(json.dumps(answer.to_json()))["rows"][0][0] == "2020-01-02"


def test_what_cannot_be_answered_is_refused_before_it_is_paid(town: Town) -> None:
    analyst = town.open("epsilon = 9\ndelta = 0.1").session()
    wrong = {
        "SELECT MODE(city) FROM people": "declared",
        "SELECT city, MODE(sex) FROM people GROUP BY city": "declared domain",
        "SELECT income, region, age, MODE(age) FROM people GROUP BY 1, 2": ".",
        "SELECT income, MODE(income) FROM people GROUP BY income": "1,000,000 counts",
        "SELECT MODE() FROM people": "one expression",
        "SELECT MODE(sex, age) FROM people": ".",
    }
    for sql, said in wrong.items():
        with pytest.raises(QuestionError, match=said):
            analyst.ask(sql, 1)
    assert analyst.remaining()["epsilon"] == 9


def test_the_command_shows_the_margin_in_rows(town: Town) -> None:
    town.write("epsilon = 9")
    policy = ["--policy", str(town.folder / "adomnia.toml")]
    ran = CliRunner().invoke(
        cli, ["ask", "SELECT MODE(sex) FROM people", "--epsilon", "1", *policy]
    )
    assert ran.exit_code == 0, ran.output
    assert "± 2 rows" in ran.output
