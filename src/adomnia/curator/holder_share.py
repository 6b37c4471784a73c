"""One holder's part of a sum: paid in its own ledger, read, and masked."""

from __future__ import annotations

from collections.abc import Sequence

from adomnia.curator.planning.plan import Plan
from adomnia.curator.session import Session
from adomnia.curator.spend import Paid, Use, spend
from adomnia.errors import BudgetError, NotAllowedError
from adomnia.mechanisms.masked_share import MaskedShare
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.privacy.events import loss

__all__ = ["check_budget", "contribute", "exact_releases", "refuse_known"]


def exact_releases(session: Session) -> tuple[int, PriorKnowledge]:
    """How many statements this holder has released exactly, and what they say together."""
    return session._backend.public()


def refuse_known(session: Session, name: str) -> None:
    """Refuse a round that the ledger knows already: its masks would be used twice."""
    if session._backend.journal.account().find(session.analyst, name) is not None:
        raise NotAllowedError("this round was paid before", "begin a new one")


def check_budget(session: Session, plan: Plan) -> None:
    """Refuse before anybody pays what a budget does not allow; `pay` decides."""
    account, cost, budgets = session._backend.journal.account(), loss(plan.event), session._budgets
    mine = account.analysts.get(session.analyst)
    for name, budget, spent in (
        ("analyst", budgets.analyst, mine),
        ("data", budgets.data, account.total),
    ):
        total = cost if spent is None else spent + cost
        if cost.amounts and budget is not None and not budget.allows(total):
            raise BudgetError(f"the budget of the {name} does not allow this")


def contribute(
    session: Session, sql: str, plan: Plan, name: str, shares: Sequence[MaskedShare]
) -> Paid:
    """The full loss paid under the round's name, and the masked words of every step."""
    use = Use(
        statement=sql,
        mechanisms=tuple(shares),
        promise=session._backend.knowledge.promise,
        version=session._backend.version(),
        of=plan.of,
        priors=plan.priors,
    )
    return spend(session._backend, session._payer(name), use)
