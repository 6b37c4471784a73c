"""Budgets on record: what the policy allows is an entry whenever it was changed, with by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record
from adomnia.ledger.journal import Journal
from adomnia.ledger.terms import Amounts, write_budget
from adomnia.privacy.composition import Budget

__all__ = ["opening", "record_budgets"]

Budgets = Mapping[str | None, Budget]
"""The budget of the data under None, and those of analysts under their names."""


def opening(dataset: Mapping[str, str], budgets: Budgets, by: str) -> dict[str, Any]:
    """What the first entry of a new ledger says: of which data it is, and what may be spent."""
    listed = [[name, write_budget(budget)] for name, budget in budgets.items()]
    return {"dataset": dict(dataset), "budgets": listed, "by": by}


def record_budgets(journal: Journal, budgets: Budgets, by: str) -> int:
    """Record every budget that is not what was last recorded; how many there were.

    Nothing is written where nothing was changed, also where several open the policy at once.
    """
    new = {name: write_budget(budget) for name, budget in budgets.items()}
    if journal.account().budgets == new:
        return 0

    def decide(account: Account) -> Sequence[Record]:
        return list(_changes(account.budgets, new, by))

    return len(journal.append(decide))


def _changes(old: Mapping[str | None, Amounts], new: Mapping[str | None, Amounts], by: str) -> Any:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before != after:
            yield Record("budget", {"name": name, "old": before, "new": after, "by": by})
