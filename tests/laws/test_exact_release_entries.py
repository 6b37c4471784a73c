"""The laws of registering an exact release: what was paid before is priced anew, never refunded."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import BudgetError, LedgerError, MachineryError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record
from adomnia.ledger.prior import register
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Event, Laplace
from adomnia.privacy.loss import Loss

ONE, TENTH = Fraction(1), Fraction(1, 10)
BUDGETS = {None: Budget(ONE), "alice": Budget(Fraction(1, 2))}
PUBLISHED = {"sql": "SELECT COUNT(*) FROM people"}


def pay(journal: SqliteJournal, who: str = "alice", priors: int | None = None) -> str:
    event = Laplace(TENTH, ONE)
    booking = Reservation(who, f"{who}/s", None, "SELECT 1", event, priors=priors)
    return reserve(journal, booking, Budgets(Budget(ONE))).receipt


def times(factor: int):
    def price(account: Account) -> Mapping[str, Event]:
        return {key: Laplace(TENTH * factor, Fraction(factor)) for key, _ in account.uses()}

    return price


@pytest.fixture
def journal(tmp_path: Path):
    with SqliteJournal.open(tmp_path / "ledger") as opened:
        yield opened


def test_the_past_costs_more(journal: SqliteJournal) -> None:
    before = (pay(journal), pay(journal, "bob"))
    old = journal.account()
    found = register(journal, PUBLISHED, times(2), BUDGETS)
    now = journal.account()
    assert (found.before, found.after) == (old.total, now.total)
    assert old.total.epsilon == Fraction(2, 10)
    assert now.total == Loss(epsilon=Fraction(4, 10), squares=2 * Fraction(4, 100))
    assert now.analysts["alice"].epsilon == Fraction(2, 10)
    assert now.sessions["bob/s"].epsilon == Fraction(2, 10)
    assert now.price(before[0]).epsilon == Fraction(2, 10)
    assert old.price(before[0]).epsilon == TENTH  # a snapshot stays what it was
    assert len(now.priors) == 1
    assert not old.priors
    assert found.repriced == 2


def test_it_is_the_same_when_the_journal_is_read_again(tmp_path: Path) -> None:
    with SqliteJournal.open(tmp_path / "ledger") as journal:
        pay(journal)
        register(journal, PUBLISHED, times(3), BUDGETS)
        pay(journal)
        total = journal.account().total
        assert total.epsilon == Fraction(4, 10)
    with SqliteJournal.open(tmp_path / "ledger") as journal:
        assert journal.account().total == total
        assert journal.verify().ok
        assert journal.account().priors[0]["published"] == PUBLISHED


def test_past_a_budget_it_is_refused_and_nothing_is_written(journal: SqliteJournal) -> None:
    pay(journal)
    with pytest.raises(BudgetError, match=r"alice.*\n?.*--accept") as refused:
        register(journal, PUBLISHED, times(6), BUDGETS)
    assert "6/10" in str(refused.value) or "3/5" in str(refused.value)
    assert not journal.account().priors
    assert journal.account().total.epsilon == TENTH


def test_insisting_is_an_event_and_stops_further_uses(journal: SqliteJournal) -> None:
    pay(journal)
    found = register(journal, PUBLISHED, times(20), BUDGETS, accept=True)
    assert found.accepted
    assert journal.account().priors[0]["accepted"] is True
    with pytest.raises(BudgetError):
        pay(journal, "bob", priors=1)


def test_a_budget_that_was_passed_before_does_not_refuse_for_ever(journal: SqliteJournal) -> None:
    pay(journal)
    register(journal, PUBLISHED, times(20), BUDGETS, accept=True)
    found = register(journal, {"sql": "SELECT 2"}, lambda account: {}, BUDGETS)
    assert not found.accepted


def test_what_was_priced_with_less_known_is_not_reserved(journal: SqliteJournal) -> None:
    pay(journal, priors=0)
    register(journal, PUBLISHED, times(1), BUDGETS)
    with pytest.raises(MachineryError, match="released exactly"):
        pay(journal, priors=0)
    assert pay(journal, priors=1)


def test_uses_that_come_in_while_it_is_priced_are_priced_too(journal: SqliteJournal) -> None:
    pay(journal)
    calls: list[int] = []

    def price(account: Account) -> Mapping[str, Event]:
        calls.append(account.number)
        found = times(2)(account)
        if len(calls) == 1:
            pay(journal, "bob")
        return found

    found = register(journal, PUBLISHED, price, BUDGETS)
    assert len(calls) == 2
    assert found.repriced == 2


def test_a_price_for_what_nobody_reserved_is_refused(journal: SqliteJournal) -> None:
    head = {"published": PUBLISHED, "prices": {"0" * 32: {}}, "accepted": False}
    with pytest.raises(LedgerError, match="nobody reserved"):
        journal.append(lambda account: [Record("prior", head)])
