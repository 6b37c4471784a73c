"""The page of budgets: gauges, and the history of spending."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adomnia import formatting
from adomnia.present.budget_gauge import currency
from adomnia.present.drawing.stairs import stairs
from adomnia.server.console.gauges import gauges
from adomnia.server.console.ledger_lines import SpendingStep, history

if TYPE_CHECKING:
    from adomnia.privacy.composition import Budget
    from adomnia.server.accounts import Person
    from adomnia.server.console.console import PageContext
    from adomnia.server.service import Service

__all__ = ["show"]

MOST_STEPS, MOST_ROWS = 400, 100


async def show(context: PageContext) -> Response:
    """An analyst's own budget; for a curator everybody's and the data's."""
    facts = await context.service.run(_facts, context.service, context.person)
    return await context.page("budget.html", **facts)


def _facts(service: Service, person: Person) -> dict[str, Any]:
    policy = service.database.policy
    own = None if person.is_curator else policy.analysts.get(person.name)
    budget = own or policy.budget
    steps = history(service.database, budget, None if person.is_curator else person.name)
    limited = person.is_curator or own is not None
    return {
        "gauges": gauges(service, person),
        "steps": steps[: -MOST_ROWS - 1 : -1],
        "more": max(0, len(steps) - MOST_ROWS),
        "plot": _plot(steps, budget, limited) if steps else "",
        "symbol": formatting.SYMBOLS[currency(budget)],
    }


def _plot(steps: list[SpendingStep], budget: Budget, limited: bool) -> str:
    """What was spent by then, as stairs; thinned out where there are very many."""
    thin = steps[:: max(1, len(steps) // MOST_STEPS)]
    kept = thin if thin[-1] == steps[-1] else [*thin, steps[-1]]
    points = [(datetime.fromisoformat(step.at).timestamp(), float(step.spent)) for step in kept]
    whole = float(budget.rho or budget.epsilon or 0)
    high = max(whole if limited else 0.0, *(spent for _, spent in points))
    ends = (formatting.moment(steps[0].at), formatting.moment(steps[-1].at))
    title = "what was spent by then, after each question; times are UTC"
    return stairs(points, high, "the whole budget" if limited else "", ends, title)
