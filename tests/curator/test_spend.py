"""Spending: the one way to use the data, and what is where when something goes wrong."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from town import Town

import adomnia
from adomnia.curator import spend as spending
from adomnia.curator.session import Session
from adomnia.errors import BudgetError, MachineryError, NotAllowedError
from adomnia.ledger.reserve import Budgets
from adomnia.privacy.composition import Budget

COUNT = "SELECT COUNT(*) AS n FROM people WHERE age > 30"


def kinds(database: adomnia.Database) -> list[str]:
    return [entry.kind for entry in database.ledger()]


def test_reserve_read_noise_record_and_only_then_show(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, seen = town.open(), []
    desk = database._backend
    for module, name in ((spending, "reserve"), (spending, "answered")):
        made = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, made=made, name=name: (seen.append(name), made(*a))[1]
        )
    for name in ("check", "ready", "read"):
        made = getattr(desk, name)
        monkeypatch.setattr(
            desk, name, lambda *a, made=made, name=name: (seen.append(name), made(*a))[1]
        )
    database.session().ask(COUNT, 1)
    assert seen == ["check", "ready", "reserve", "read", "answered"]
    assert kinds(database) == ["opened", "edition", "reserved", "answered"]


def test_nothing_is_paid_where_the_engine_cannot_be_opened(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = town.open()

    def dead() -> None:
        raise MachineryError("the engine is gone")

    monkeypatch.setattr(database._backend.engine, "ready", dead)
    with pytest.raises(MachineryError):
        database.session().ask(COUNT, 1)
    assert kinds(database) == ["opened", "edition"]


def test_what_fails_after_the_debit_stays_paid_and_says_no_more_than_its_kind(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = town.open()

    def failing(wanted: Any) -> Any:
        raise ValueError("a value of somebody")

    with monkeypatch.context() as patched:
        patched.setattr(database._backend, "read", failing)
        with pytest.raises(MachineryError) as caught:
            database.session().ask(COUNT, 1, key="once")
    assert "somebody" not in str(caught.value)
    assert kinds(database) == ["opened", "edition", "reserved"]
    assert database.budget()["data"]["spent"] == "1"
    again = database.session().ask(COUNT, 1, key="once")
    assert again.spent == {"epsilon": 1}  # nobody knows whether the first answer was seen


def test_a_use_has_a_record_that_needs_no_statement(town: Town) -> None:
    database = town.open()
    database.session().ask("SELECT sex, COUNT(*), MEDIAN(age) FROM people GROUP BY sex", 1)
    (entry,) = [entry for entry in database.ledger() if entry.kind == "reserved"]
    use = entry.body["use"]
    assert use["keys"] == [
        {"column": "sex",
         "of": {"kind": "text", "values": ["F", "M"], "nullable": True, "ragged": True}}
    ]  # fmt: skip
    counts, quantile = use["parts"]
    assert quantile["mechanism"]["name"] == "exponential"
    assert counts["contribution"] == {"tally": [None]}
    assert counts["mechanism"] == {"name": "laplace", "parameter": "2"}
    assert counts["event"] == {"event": "laplace", "epsilon": "1/2", "sensitivity": "1"}
    assert len(use["measured"]) == 3  # two measurements, and that it is a table


def test_the_first_answer_of_a_process_reads_no_earlier_answer(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are: what was measured is found by its digest."""
    first = town.open()
    session = first.session()
    for age in range(40):
        session.ask(f"SELECT COUNT(*) FROM people WHERE age > {age}", 1)
    first.close()
    second, read = town.open(), []
    for name in ("reservation", "answer"):
        made = getattr(second._backend.journal, name)
        monkeypatch.setattr(
            second._backend.journal, name, lambda *a, made=made: (read.append(a), made(*a))[1]
        )
    assert second.session().ask("SELECT COUNT(*) FROM people WHERE age > 50", 1).spent["epsilon"]
    assert read == []
    assert second.session().ask("SELECT COUNT(*) FROM people WHERE age > 7", 1).spent == {
        "epsilon": 0
    }
    assert len(read) == 2


def test_premises_are_checked_before_the_debit(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    database = town.open('epsilon = 1000\nneighbors = "bounded"')
    facts = database._backend.facts(database._backend.version())
    assert facts.rows_stay
    other = spending.Facts(facts.version, facts.confirmed, rows_stay=False)
    monkeypatch.setattr(database._backend, "facts", lambda version: other)
    with pytest.raises(NotAllowedError, match="how many rows a text file has"):
        database.session().ask("SELECT COUNT(*) FROM people", 1)
    assert kinds(database) == ["opened", "edition"]


def test_rows_of_a_text_file_are_counted_with_noise(town: Town) -> None:
    """One line may be read as no row: so their number is not public, whatever neighbours are."""
    database = town.open('epsilon = 1000\nneighbors = "bounded"')
    assert database.session().ask("SELECT COUNT(*) FROM people", 1).spent == {"epsilon": 0}
    database.close()
    import pyarrow.parquet as pq
    from pyarrow import csv

    csv.write_csv(pq.read_table(town.folder / "people.parquet"), town.folder / "people.csv")
    file = town.write('epsilon = 1000\nneighbors = "bounded"')
    text = file.read_text().replace("people.parquet", "people.csv")
    other = town.folder / "lines.toml"
    other.write_text(text)
    with adomnia.open(other) as lines:
        assert lines.session().ask("SELECT COUNT(*) FROM people", 1).spent == {"epsilon": 1}


def test_the_budgets_are_those_of_the_policy_whatever_the_payer_says(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = town.open("epsilon = 1")
    endless = Budgets(Budget(Fraction(10**9)))
    monkeypatch.setattr(Session, "_budgets", property(lambda self: endless))
    with pytest.raises(BudgetError):
        database.session().ask(COUNT, 2)
    assert kinds(database) == ["opened", "edition"]
