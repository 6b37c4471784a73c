"""The books: what the ledger says, read without opening the data or making a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from adomnia.curator.policy import Policy, line_of
from adomnia.errors import PolicyError
from adomnia.ledger.account import Account
from adomnia.ledger.address import SCHEMES, Address
from adomnia.ledger.entry import Entry, receipt
from adomnia.ledger.journal import Journal, Verification
from adomnia.ledger.postgres import PostgresJournal
from adomnia.ledger.sqlite import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss

__all__ = [
    "Entry",
    "copy_ledger",
    "list_entries",
    "open_journal",
    "open_ledger",
    "receipt",
    "spending",
    "state_of",
    "verify_ledger",
]


def open_journal(policy: Policy) -> Journal:
    """The policy's ledger, made where there is none."""
    place = _place(policy)
    return PostgresJournal(place) if isinstance(place, Address) else SqliteJournal(place)


@contextmanager
def open_ledger(policy: Policy) -> Iterator[Journal | None]:
    """The policy's ledger while the block runs; None where nothing was ever asked."""
    with _found(_place(policy)) or nullcontext() as journal:
        yield journal


def copy_ledger(policy: Policy, path: Path) -> None:
    """A file with the same entries, to be spent in the place of the ledger; none, where none is."""
    with open_ledger(policy) as journal:
        if journal is not None:
            SqliteJournal.copied(journal, path).close()


def spending(policy: Policy) -> dict[str, Any]:
    """What is spent and left: of the data, and of every analyst."""
    with open_ledger(policy) as journal:
        return state_of(policy, Account() if journal is None else journal.account())


def state_of(policy: Policy, account: Account) -> dict[str, Any]:
    """What an account leaves of the policy's budgets, as plain JSON values."""
    return {
        "data": _state(policy.budget, account.total),
        "analysts": {
            name: _state(budget, account.analysts.get(name, Loss()))
            for name, budget in policy.analysts.items()
        },
    }


def list_entries(policy: Policy) -> list[Entry]:
    """Every entry of the ledger, in order."""
    with open_ledger(policy) as journal:
        return [] if journal is None else list(journal.entries())


def verify_ledger(policy: Policy) -> Verification:
    """Whether the ledger's chain holds; that there is no ledger is a problem by itself."""
    with open_ledger(policy) as journal:
        if journal is None:
            return Verification(0, (f"there is no ledger at {_place(policy)}",))
        return journal.verify()


def _found(place: Path | Address) -> PostgresJournal | SqliteJournal | None:
    if isinstance(place, Address):
        return PostgresJournal.found(place)
    return SqliteJournal.found(place)


def _place(policy: Policy) -> Path | Address:
    """Where the ledger is: a file, or an address whose text keeps the password to itself."""
    url = policy.ledger
    if "://" not in url:
        return Path(policy.beside(url))
    hint = 'use a file, as in url = "adomnia.ledger", or postgresql://user@host/database'
    try:
        if url.startswith(SCHEMES):
            return Address.of(url, policy.file.parent)
        wrong = "a ledger cannot be kept there"
    except ValueError as error:
        wrong = str(error)
    raise PolicyError(wrong, hint, str(policy.file), line_of(policy, ("ledger", "url")))


def _state(budget: Budget, total: Loss) -> dict[str, str]:
    """Spent and left, in the budget's main currency, with delta beside it where there is one."""
    spent, left = budget.spent(total), budget.remaining(total)
    main = "rho" if budget.rho is not None else "epsilon"
    state = {"spent": str(spent[main]), "remaining": str(left[main]), "unit": main}
    if budget.delta is not None:
        state |= {"delta_spent": str(spent["delta"]), "delta_remaining": str(left["delta"])}
    return state
