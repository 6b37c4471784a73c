"""Gauges: what is spent and left of a budget, for the one who may see it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia import formatting
from adomnia.curator.access import CURATOR
from adomnia.present.budget_gauge import Gauge, currency, gauge
from adomnia.server.console.ledger_lines import asker, history

if TYPE_CHECKING:
    from adomnia.server.accounts import Person
    from adomnia.server.service import Service

__all__ = ["gauges", "own_gauge"]

MOST_NAMED = 5
"""So many who spend without a budget of their own are named."""


def own_gauge(service: Service, person: Person) -> Gauge:
    """What this person may spend: a curator the data's budget, an analyst their own.

    An analyst without one sees what they spent, and what the data leaves them.
    """
    policy, state = service.database.policy, service.database.budget()
    if person.is_curator:
        return gauge("The data", "everybody together, for ever", policy.budget, state["data"])
    own = policy.analysts.get(person.name)
    if own is not None:
        return gauge("You", "your own budget", own, state["analysts"][person.name])
    unit = currency(policy.budget)
    steps = history(service.database, policy.budget, asker(person))
    spent = steps[-1].spent if steps else Fraction(0)
    left = service.session(person).remaining()[unit]
    told = {"spent": str(spent), "remaining": str(left), "unit": unit}
    return gauge("You", "without a budget of your own", None, told)


def gauges(service: Service, person: Person) -> list[Gauge]:
    """The gauges that this person may see; a curator those of all analysts too."""
    first = own_gauge(service, person)
    if not person.is_curator:
        return [first]
    states, listed = service.database.budget()["analysts"], service.database.policy.analysts
    first = replace(first, note=_unlisted(service))
    return [first, *(gauge(name, "analyst", b, states[name]) for name, b in listed.items())]


def _unlisted(service: Service) -> str:
    """What those have spent whom the policy gives no budget: curators, and who came before."""
    policy, spenders = service.database.policy, service.database.account().analysts
    unit = currency(policy.budget)
    spent = {
        name: policy.budget.spent(loss)[unit]
        for name, loss in spenders.items()
        if name not in policy.analysts
    }
    most = sorted((name for name in spent if spent[name]), key=lambda name: (-spent[name], name))
    said = [f"{formatting.amount(spent[name])} by {_known(name)}" for name in most[:MOST_NAMED]]
    more = len(most) - MOST_NAMED
    return ", ".join([*said, f"the rest by {more} more"] if more > 0 else said)


def _known(name: str) -> str:
    return "curators" if name == CURATOR else name
