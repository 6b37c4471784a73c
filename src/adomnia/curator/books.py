"""The books: what the ledger says, read without opening the data or making a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adomnia.curator.policy import Policy, line_of
from adomnia.errors import LedgerError, PolicyError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry
from adomnia.ledger.journal import Journal, Verification
from adomnia.ledger.sqlite import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss

__all__ = [
    "Entry",
    "list_entries",
    "open_journal",
    "open_ledger",
    "spending",
    "state_of",
    "verify_ledger",
]


def open_journal(policy: Policy) -> Journal:
    """The policy's ledger, made where there is none."""
    return SqliteJournal(_path(policy))


@contextmanager
def open_ledger(policy: Policy) -> Iterator[Journal | None]:
    """The policy's ledger while the block runs; None where nothing was ever asked."""
    path = _path(policy)
    if not path.exists():
        _never_made(path)
        yield None
        return
    with SqliteJournal.open(path, create=False) as journal:
        yield journal


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
            return Verification(0, (f"there is no ledger at {policy.beside(policy.ledger)}",))
        return journal.verify()


def _path(policy: Policy) -> Path:
    if "://" in policy.ledger:
        hint = 'use a file, for example url = "adomnia.ledger"'
        line = line_of(policy, ("ledger", "url"))
        raise PolicyError("this place for a ledger is not supported yet", hint,
                          str(policy.file), line)  # fmt: skip
    return Path(policy.beside(policy.ledger))


def _never_made(path: Path) -> None:
    """Refuse to take a ledger that is gone for one that was never made: its anchor remains."""
    beside = path.with_name(path.name + ".lock")
    if beside.exists() and beside.stat().st_size > 0:
        raise LedgerError(
            f"{path} is gone, and what was spent with it",
            f"restore it, or remove {beside} to begin anew",
        )


def _state(budget: Budget, total: Loss) -> dict[str, str]:
    """Spent and left, in the budget's main currency, with delta beside it where there is one."""
    spent, left = budget.spent(total), budget.remaining(total)
    main = "rho" if budget.rho is not None else "epsilon"
    state = {"spent": str(spent[main]), "remaining": str(left[main]), "unit": main}
    if budget.delta is not None:
        state |= {"delta_spent": str(spent["delta"]), "delta_remaining": str(left["delta"])}
    return state
