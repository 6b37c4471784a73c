"""Registering an exact release: it is public from now on, and re-prices what was paid before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.errors import BudgetError, MachineryError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record, write_loss
from adomnia.ledger.journal import Journal
from adomnia.ledger.reserve import amounts
from adomnia.privacy import events
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss

__all__ = ["AlreadyPriced", "Price", "Registered", "register"]

TRIES = 20

Price = Callable[[Account], Mapping[str, events.Event]]
"""What earlier uses, by receipt, cost once the release is public."""


@dataclass(frozen=True)
class Registered:
    """What everything cost before the release, and what it costs since.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     registered = database.add_prior("SELECT COUNT(*) AS n FROM people")
    >>> registered.before == registered.after, registered.accepted
    (True, False)
    """

    before: Loss
    after: Loss
    repriced: int
    accepted: bool


class AlreadyPriced(Exception):
    """Raised by a `price`: somebody else has priced everything by this promise meanwhile."""


def register(
    journal: Journal,
    published: Mapping[str, Any],
    price: Price,
    budgets: Mapping[str | None, Budget],
    accept: bool = False,
) -> Registered:
    """The release in the journal; refused if a budget would be passed, unless accepted.

    `budgets` has None for everyone together, and a name for each analyst with one of their own.
    Pricing can take long, so it happens outside the journal's lock, and again if somebody
    reserved in the meantime.
    """
    made: list[Registered] = []
    for _ in range(TRIES):
        seen = journal.account()
        now = price(seen)

        def decide(
            account: Account, seen: Account = seen, now: Mapping[str, events.Event] = now
        ) -> Sequence[Record]:
            if account.number != seen.number and _moved(account, seen):
                return []
            prices = {key: events.loss(event) for key, event in now.items()}
            after = account.repriced(prices)
            passed = [name for name in budgets if not _holds(name, budgets[name], after)]
            passed = [name for name in passed if _holds(name, budgets[name], account)]
            if passed and not accept:
                raise _refusal(passed[0], budgets[passed[0]], (account, after), published)
            made.append(Registered(account.total, after.total, len(prices), bool(passed)))
            return [_record(published, now, bool(passed))]

        if journal.append(decide):
            return made[-1]
    raise MachineryError("questions kept coming while this was priced", "try again")


def _record(
    published: Mapping[str, Any], now: Mapping[str, events.Event], accepted: bool
) -> Record:
    prices = {key: write_loss(events.loss(event)) for key, event in now.items()}
    head = {"published": published, "prices": prices, "accepted": accepted}
    return Record("prior", head, {"events": {k: events.to_json(e) for k, e in now.items()}})


def _moved(account: Account, seen: Account) -> bool:
    """Whether there are uses or releases that were not priced, or all was by somebody else."""
    if len(account.priors) != len(seen.priors) or account.promises != seen.promises:
        return True
    return account.count != seen.count


def _spent(name: str | None, account: Account) -> Loss:
    return account.total if name is None else account.spent("analyst", name).most


def _holds(name: str | None, budget: Budget, account: Account) -> bool:
    return budget.allows(_spent(name, account))


def _refusal(
    name: str | None,
    budget: Budget,
    accounts: tuple[Account, Account],
    published: Mapping[str, Any],
) -> BudgetError:
    was, now = (budget.spent(_spent(name, account)) for account in accounts)
    why, hint = _RELEASED if published.keys() - {"promise"} else _PROMISED
    return BudgetError(
        f"{why}, what was answered before costs {amounts(now)} "
        f"and not {amounts(was)}: more than the budget of {name or 'the data'} allows",
        hint,
    )


_RELEASED = (
    "with this release public",
    "do not release it; or, if it is out already, register it all the same with --accept",
)
_PROMISED = (
    "by what the policy promises now",
    "promise what was promised before, or allow more; adomnia.open(policy, accept=True) takes it "
    "as it is, and the ledger says so",
)
