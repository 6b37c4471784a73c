"""One holder's part of a sum: paid in its own ledger, then read.

What leaves this file of the exact numbers is sealed.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from adomnia.curator.plan import Plan
from adomnia.curator.session import Session
from adomnia.engines.engine import Request
from adomnia.errors import BudgetError, NotAllowedError
from adomnia.ledger.reserve import Reservation, least, reserve
from adomnia.privacy.events import loss
from adomnia.schema.sealed import Sealed

__all__ = ["check_budget", "measure", "pay", "refuse_known"]


def refuse_known(session: Session, name: str) -> None:
    """Refuse a round that the ledger knows already: its masks would be used twice."""
    if session.desk.journal.account().find(session.analyst, name) is not None:
        raise NotAllowedError("this round was paid before", "begin a new one")


def check_budget(session: Session, plan: Plan) -> None:
    """Refuse before anybody pays what a budget does not allow; `pay` decides."""
    account, cost, budgets = session.desk.journal.account(), loss(plan.event), session.budgets
    mine = account.analysts.get(session.analyst)
    for name, budget, spent in (
        ("analyst", budgets.analyst, mine),
        ("data", budgets.data, account.total),
    ):
        total = cost if spent is None else spent + cost
        if cost.amounts and budget is not None and not budget.allows(total):
            raise BudgetError(f"the budget of the {name} does not allow this")


def pay(session: Session, sql: str, plan: Plan, name: str) -> Mapping[str, Fraction]:
    """The debit of the full loss on disk, under the round's name; what is left afterwards."""
    booking = Reservation(
        session.analyst, session.name, name, sql, plan.event, None, plan.priors, plan.measured,
        session.desk.knowledge.promise,
    )  # fmt: skip
    granted = reserve(session.desk.journal, booking, session.budgets)
    return least(granted.remaining)


def measure(session: Session, plan: Plan) -> tuple[Sealed[NDArray[Any]], ...]:
    """The exact numbers of every step, sealed. The plan's event must be in the ledger by now."""
    question, desk = plan.question, session.desk
    wanted = tuple(step.contribution for step in plan.steps if step.contribution is not None)
    return desk.engine.measure(Request(desk.table, question.where, question.keys, wanted))
