"""Totals by block, against a list of all rows that there might be and what each of them lost."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import BudgetError, MachineryError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from adomnia.queries.blocks import REST, Touched

BUDGETS = Budgets(Budget(Fraction(10**6)))
VALUES = list(range(6))


def event(epsilon: int) -> Laplace:
    return Laplace(Fraction(epsilon), Fraction(1))


def deal(journal: SqliteJournal, by: str | None, names: list[str]) -> dict[str, object]:
    dealt = {"by": by, "names": names}
    journal.append(lambda account: [Record("blocks", dealt)])
    return dealt


def named(value: int, by: str | None, names: list[str]) -> str | None:
    """The block of a row with this value."""
    name = f"{value // 2}" if by == "half" else f"{value}"
    return name if by is not None and name in names else REST


@pytest.mark.parametrize("seed", range(12))
def test_no_row_has_lost_more_than_its_block(tmp_path: Path, seed: int) -> None:
    draw, lost = random.Random(seed), dict.fromkeys(VALUES, Fraction(0))
    with SqliteJournal(tmp_path / "ledger") as journal:
        by: str | None = None
        names: list[str] = []
        dealt: dict[str, object] = {"by": None, "names": []}
        for _ in range(40):
            if draw.random() < 0.2:
                by = draw.choice([None, "value", "value", "half"])
                listed = [str(value) for value in VALUES if draw.random() < 0.7]
                names = [] if by is None else listed
                dealt = deal(journal, by, names)
                continue
            among = [name for name in (*names, REST) if draw.random() < 0.5]
            blocks = tuple(among) if among and by is not None else None
            touched = None if blocks is None else Touched(blocks, dealt)
            loss = draw.randrange(1, 5)
            reserve(
                journal, Reservation("alice", None, None, "", event(loss), blocks=touched), BUDGETS
            )
            for value in VALUES:
                if blocks is None or named(value, by, names) in blocks:
                    lost[value] += loss
        for account in (journal.account(), journal.account().repriced({})):
            for value in VALUES:
                total = account.spent().of(named(value, by, names)).epsilon
                assert lost[value] <= total <= account.total.epsilon
                assert (
                    account.spent("analyst", "alice").of(named(value, by, names)).epsilon == total
                )


def test_disjoint_blocks_do_not_add_up_and_each_is_bounded(tmp_path: Path) -> None:
    budgets = Budgets(Budget(Fraction(2)), Budget(Fraction(1)))
    with SqliteJournal(tmp_path / "ledger") as journal:
        dealt = deal(journal, "month", ["1", "2", "3"])

        def ask(*blocks: str | None) -> None:
            touched = Touched(blocks, dealt) if blocks else None
            reserve(journal, Reservation("bob", None, None, "", event(1), blocks=touched), budgets)

        ask("1")
        ask("2", "3")
        with pytest.raises(BudgetError, match="analyst for 2"):
            ask("2")
        with pytest.raises(BudgetError):
            ask()
        ask(REST)
        assert journal.account().total.epsilon == 1


def test_what_was_planned_for_other_blocks_is_not_charged(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "ledger") as journal:
        old = deal(journal, "month", ["1"])
        deal(journal, "month", ["1", "2"])
        late = Reservation("bob", None, None, "", event(1), blocks=Touched(("1",), old))
        with pytest.raises(MachineryError, match="dealt out to other blocks"):
            reserve(journal, late, BUDGETS)
        assert journal.account().total == Account().total
