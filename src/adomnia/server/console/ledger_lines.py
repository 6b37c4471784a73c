"""Lines of the ledger as a person may see them: an analyst their own, a curator everybody's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.access import CURATOR
from adomnia.curator.data.editions import use_edition
from adomnia.curator.ledger_view import read_loss, receipt
from adomnia.privacy.loss import Loss
from adomnia.server.console.repricing import Prices

if TYPE_CHECKING:
    from adomnia.curator.database import PrivateDatabase
    from adomnia.curator.ledger_view import Entry
    from adomnia.privacy.composition import Budget
    from adomnia.server.accounts import Person

__all__ = [
    "EXACT",
    "KINDS",
    "REPRICING",
    "LedgerLine",
    "SpendingStep",
    "asker",
    "history",
    "lines",
    "visible",
]

QUESTION, RELEASE, EXACT, REPRICING = "question", "release", "exact release", "re-pricing"
BUDGET = "budget"
KINDS = (QUESTION, RELEASE, EXACT, REPRICING, BUDGET)


@dataclass(frozen=True)
class LedgerLine:
    """A question or a release, with what came of it; or what has priced earlier ones anew.

    The recorded numbers are not in it: those belong to whoever paid for them. The cost of a
    re-pricing is what it added, and its `shares` are what it added to each analyst.
    """

    number: int
    at: str
    kind: str
    analyst: str = ""
    statement: str = ""
    cost: Mapping[str, Fraction] = field(default_factory=dict)
    noise: str = ""
    receipt: str = ""
    key: str | None = None
    request: str | None = None
    answered: bool = False
    shares: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    edition: int | None = None

    def asked(self) -> dict[str, Any]:
        """What was said beside the statement, as `ask` takes it; empty where it is not known."""
        if self.request is None:
            return {}
        try:
            *told, confidence = json.loads(self.request)
        except (ValueError, TypeError):
            return {}
        said = zip(("epsilon", "rho", "delta", "error"), told, strict=False)
        return {name: v for name, v in said if v != "None"} | {"confidence": confidence}

    def to_json(self) -> dict[str, Any]:
        """The line as plain JSON values."""
        return {
            "number": self.number,
            "at": self.at,
            "kind": self.kind,
            "analyst": self.analyst,
            "statement": self.statement,
            "cost": {name: str(value) for name, value in self.cost.items()},
            "noise": self.noise,
            "receipt": self.receipt,
            "answered": self.answered,
        }


def asker(person: Person) -> str:
    """The name under which the ledger has this person's questions; all curators ask as one."""
    return CURATOR if person.is_curator else person.name


def lines(database: PrivateDatabase) -> list[LedgerLine]:
    """Every line, in the order of the ledger."""
    account, entries = database.account(), _entries(database)
    prices = Prices(database.policy, entries)
    made = []
    for entry in entries:
        if entry.kind == "prior":
            made.append(_repricing(entry, prices))
        elif entry.kind == "budget":
            made.append(_budget(entry))
        else:
            answered = account.is_answered(receipt(entry))
            made.append(_line(entry, prices.take(entry), answered))
    return made


def _entries(database: PrivateDatabase) -> list[Entry]:
    """What was reserved and what has priced it anew, and budgets that were changed."""
    listed = ("reserved", "prior", "budget")
    return [entry for entry in database.ledger(["reserved"]) if entry.kind in listed]


def visible(all_lines: Sequence[LedgerLine], person: Person) -> list[LedgerLine]:
    """The lines that this person may see; an analyst's are numbered by themselves.

    The numbers of the whole ledger would tell an analyst how much the others ask. Of what has
    priced the past anew they see what it added to their own spending.
    """
    if person.is_curator:
        return list(all_lines)
    own = _own(all_lines, person.name)
    return [replace(line, number=place) for place, line in enumerate(own, 1)]


def _own(all_lines: Sequence[LedgerLine], name: str) -> Iterator[LedgerLine]:
    for line in all_lines:
        if line.analyst == name:
            yield line
        elif name in line.shares:
            yield replace(line, cost=line.shares[name], shares={})


@dataclass(frozen=True)
class SpendingStep:
    """What was spent by then, after a use or a re-pricing."""

    at: str
    kind: str
    spent: Fraction


def history(database: PrivateDatabase, budget: Budget, who: str | None) -> list[SpendingStep]:
    """What was spent by then, after each use; of one analyst, or of everybody.

    A re-pricing changes what earlier uses cost, from its own moment on.
    """
    main = "rho" if budget.rho is not None else "epsilon"
    entries = _entries(database)
    prices, total, steps = Prices(database.policy, entries), Loss(), []
    for entry in entries:
        if entry.kind == "budget":
            continue
        added = prices.take(entry)
        if added if who is None else who in added:
            is_use = entry.kind == "reserved"
            total = total + read_loss(entry.head["loss"]) if is_use else prices.spent(who)
            steps.append(SpendingStep(entry.at, _kind(entry), budget.spent(total)[main]))
    return steps


def _kind(entry: Entry) -> str:
    if entry.kind == "prior":
        return EXACT if "sql" in entry.head["published"] else REPRICING
    return RELEASE if str(entry.body["statement"]).startswith("RELEASE ") else QUESTION


def _repricing(entry: Entry, prices: Prices) -> LedgerLine:
    kind = _kind(entry)
    statement = str(entry.head["published"]["sql"]) if kind == EXACT else prices.change(entry)
    shares = prices.take(entry)
    total: dict[str, Fraction] = {}
    for amounts in shares.values():
        total |= {name: total.get(name, Fraction(0)) + part for name, part in amounts.items()}
    return LedgerLine(entry.number, entry.at, kind, statement=statement, cost=total, shares=shares)


def _line(entry: Entry, cost: Mapping[str, Mapping[str, Fraction]], answered: bool) -> LedgerLine:
    analyst, body = str(entry.head["analyst"]), entry.body
    return LedgerLine(
        entry.number,
        entry.at,
        _kind(entry),
        analyst,
        str(body["statement"]),
        cost[analyst],
        _noise(body["event"]),
        receipt(entry),
        entry.head.get("key"),
        body.get("request"),
        answered,
        edition=use_edition(body),
    )


def _budget(entry: Entry) -> LedgerLine:
    """A budget that was changed: the data's, which only curators see, or an analyst's own."""
    head = entry.head
    old, new = (_allowed(head[name]) for name in ("old", "new"))
    of = "the data" if head["name"] is None else str(head["name"])
    said = f"budget of {of}: {old} → {new}, by {head['by']}"
    return LedgerLine(entry.number, entry.at, BUDGET, str(head["name"] or ""), said)


def _allowed(amounts: Mapping[str, str] | None) -> str:
    return "none" if amounts is None else ", ".join(f"{n} = {v}" for n, v in amounts.items())


def _noise(event: Mapping[str, Any]) -> str:
    if event["event"] != "composed":
        return {"free": "none"}.get(str(event["event"]), str(event["event"]))
    return " + ".join(dict.fromkeys(_noise(part) for part in event["parts"]))
