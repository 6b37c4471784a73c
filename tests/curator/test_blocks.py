"""Blocks of rows, each with a budget of its own: what is paid, and that nothing else is read."""

from __future__ import annotations

import datetime
import itertools
import random
from pathlib import Path

import pytest

import adomnia
from adomnia.curator.database import PrivateDatabase
from adomnia.errors import BudgetError, PolicyError
from adomnia.queries.blocks import REST

POLICY = """[data]
source = "stays.csv"
[privacy]
epsilon = 1
{privacy}
confirmed = true
[blocks]
by = "{by}"
[attributes.admitted]
kind = "date"
low = "2024-01-01"
high = "2024-{last}"
[attributes.sex]
values = ["F", "M"]
[attributes.cost]
low = 0
high = 100
"""
BY_SEX = "SELECT sex, COUNT(*) AS n FROM stays"
MONTHS = [f"2024-{month:02}-01" for month in range(1, 7)]


def stays(
    folder: Path, by: str = "month(admitted)", last: str = "06-30", privacy: str = ""
) -> Path:
    draw, start = random.Random(20), datetime.date(2024, 1, 1)
    days = [start + datetime.timedelta(draw.randrange(200)) for _ in range(300)]
    rows = [f"{day},{draw.choice('FM')},{draw.randrange(120)}" for day in days] + [",F,5"] * 7
    (folder / "stays.csv").write_text("\n".join(["admitted,sex,cost", *rows]), "utf-8")
    file = folder / "adomnia.toml"
    file.write_text(POLICY.format(by=by, last=last, privacy=privacy), "utf-8")
    return file


def paid(database: PrivateDatabase) -> list[str | None] | None:
    """The blocks that the last use was charged in; None is all."""
    entries = [entry for entry in database.ledger() if entry.kind == "reserved"]
    return entries[-1].head.get("blocks")


CASES = [
    ("admitted >= '2024-03-01' AND admitted < '2024-04-01'", MONTHS[2:3]),
    ("admitted BETWEEN '2024-02-15' AND '2024-04-01'", MONTHS[1:4]),
    ("EXTRACT(month FROM admitted) IN (1, 5)", [MONTHS[0], MONTHS[4]]),
    ("DATE_TRUNC('month', admitted) = '2024-05-01' AND sex = 'F'", [MONTHS[4]]),
    ("admitted IS NULL", [REST]),
    ("admitted > '2024-05-15'", [MONTHS[4], MONTHS[5], REST]),
    ("admitted = '2024-01-03' OR sex = 'F'", None),
    ("sex = 'F'", None),
    ("admitted >= '2024-01-01'", None),
]


@pytest.mark.parametrize(("where", "blocks"), CASES)
def test_a_question_pays_where_its_condition_can_be_met(tmp_path, where, blocks) -> None:
    with adomnia.open(stays(tmp_path, privacy="group = 1")) as database:
        database.session().ask(f"SELECT COUNT(*) AS n FROM stays WHERE {where}", epsilon="0.5")
        assert paid(database) == blocks


@pytest.mark.parametrize("by", ["month(admitted)", "DATE_TRUNC('month', admitted)", "sex",
                                "cost / 25", "EXTRACT(quarter FROM admitted)"])  # fmt: skip
def test_answers_are_those_of_the_whole_table(tmp_path: Path, by: str) -> None:
    asked = [
        "SELECT COUNT(*) AS n FROM stays WHERE {}",
        "SELECT sex, COUNT(*) AS n, SUM(cost) AS cost FROM stays WHERE {} GROUP BY sex",
        "SELECT DATE_TRUNC('month', admitted) AS m, COUNT(*) AS n FROM stays WHERE {} GROUP BY 1",
    ]
    wheres = [where for where, _ in CASES] + ["sex = 'M' AND cost < 30", "cost >= 50"]
    plain = tmp_path / "plain"
    plain.mkdir()
    file = (
        stays(plain, privacy="")
        .read_text("utf-8")
        .replace('[blocks]\nby = "month(admitted)"\n', "")
    )
    (plain / "adomnia.toml").write_text(file.replace("epsilon = 1", "epsilon = 1e9"), "utf-8")
    blocked = stays(tmp_path, by.replace('"', "'"))
    blocked.write_text(blocked.read_text("utf-8").replace("epsilon = 1", "epsilon = 1e9"), "utf-8")
    with adomnia.open(plain / "adomnia.toml") as one, adomnia.open(blocked) as other:
        for sql, where in itertools.product(asked, wheres):
            pair = [d.session().ask(sql.format(where), epsilon=10**6).rows for d in (one, other)]
            assert pair[0] == pair[1], (sql, where)


def test_months_do_not_add_up_and_each_has_its_own_end(tmp_path: Path) -> None:
    with adomnia.open(stays(tmp_path)) as database:
        session = database.session()
        for month in MONTHS:
            sql = f"SELECT COUNT(*) AS n FROM stays WHERE DATE_TRUNC('month', admitted) = '{month}'"
            session.ask(sql, epsilon="0.9")
        assert database.budget()["data"]["spent"] == "9/10"
        with pytest.raises(BudgetError, match="for 2024-01-01"):
            session.ask(f"{BY_SEX} WHERE admitted < '2024-02-01' GROUP BY sex",
                        epsilon="0.2")  # fmt: skip
        with pytest.raises(BudgetError):
            session.ask("SELECT COUNT(*) AS n FROM stays", epsilon="0.2")
        left = {state["block"]: state["remaining"] for state in database.budget()["blocks"]}
        assert left == {**dict.fromkeys(MONTHS, "1/10"), REST: "1"}


def test_a_month_that_is_declared_later_was_among_all_other_rows(tmp_path: Path) -> None:
    file = stays(tmp_path)
    with adomnia.open(file) as database:
        database.session().ask(
            "SELECT COUNT(*) AS n FROM stays WHERE admitted IS NULL", epsilon="0.25"
        )
        database.session().ask("SELECT COUNT(*) AS n FROM stays", epsilon="0.5")
    file.write_text(file.read_text("utf-8").replace("2024-06-30", "2024-07-31"), "utf-8")
    with adomnia.open(file) as database:
        left = {state["block"]: state["remaining"] for state in database.budget()["blocks"]}
        assert left == {**dict.fromkeys(MONTHS, "1/2"), "2024-07-01": "1/4", REST: "1/4"}
    file.write_text(file.read_text("utf-8").replace("month(admitted)", "sex"), "utf-8")
    with adomnia.open(file) as database:
        left = {state["block"]: state["remaining"] for state in database.budget()["blocks"]}
        assert left == {"F": "1/4", "M": "1/4", REST: "1/4"}


REFUSED = [
    ("month(admitted)", "month(admited)", "did you mean"),
    ("month(admitted)", "1", "constant"),
    ("month(admitted)", "month(admitted) || sex", ""),
    ("epsilon = 1", 'epsilon = 1\nunit = "sex"\nmax_rows = 2', "does not go with"),
    ("[blocks]", "[quality]\nepsilon = 0.1\n[blocks]", "does not go with"),
]


@pytest.mark.parametrize(("old", "new", "said"), REFUSED)
def test_what_makes_no_blocks_is_refused_with_its_line(tmp_path, old, new, said) -> None:
    file = stays(tmp_path)
    file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(PolicyError) as refused:
        adomnia.open(file)
    assert said in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.line is not None
