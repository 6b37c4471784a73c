"""Lines of the ledger as a person may see them: an analyst their own, a curator everybody's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.doors import CURATOR
from adomnia.privacy import events
from adomnia.privacy.loss import Loss

if TYPE_CHECKING:
    from adomnia.curator.books import Entry
    from adomnia.curator.database import Database
    from adomnia.privacy.composition import Budget
    from adomnia.server.accounts import Person

__all__ = ["Line", "asker", "history", "lines", "visible"]

RECEIPT = 32
"""A receipt is so many characters of an entry's digest."""


@dataclass(frozen=True)
class Line:
    """A question, a release or an exact release, with what came of it.

    The recorded numbers are not in it: those belong to whoever paid for them.
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

    def asked(self) -> dict[str, Any]:
        """What was said beside the statement, as `ask` takes it; empty where it is not known."""
        if self.request is None:
            return {}
        try:
            _, *told, confidence = json.loads(self.request)
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


def lines(database: Database) -> list[Line]:
    """Every line, in the order of the ledger."""
    account = database.desk.journal.account()
    listed = [entry for entry in _entries(database) if entry.kind in ("reserved", "prior")]
    return [_line(entry, account.answer(entry.digest[:RECEIPT]) is not None) for entry in listed]


def _entries(database: Database) -> Iterable[Entry]:
    """What was reserved, from memory; read from the ledger where exact releases lie between."""
    account = database.desk.journal.account()
    return database.ledger() if account.priors else (entry for _, entry in account.uses())


def visible(all_lines: Sequence[Line], person: Person) -> list[Line]:
    """The lines that this person may see; an analyst's are numbered by themselves.

    The numbers of the whole ledger would tell an analyst how much the others ask.
    """
    if person.is_curator:
        return list(all_lines)
    own = [line for line in all_lines if line.analyst == person.name]
    return [replace(line, number=place) for place, line in enumerate(own, 1)]


def history(database: Database, budget: Budget, who: str | None) -> list[tuple[str, Fraction]]:
    """What was spent by then, after each use; of one analyst, or of everybody.

    An exact release changes what earlier uses cost, from its own moment on.
    """
    main = "rho" if budget.rho is not None else "epsilon"
    losses: dict[str, Loss] = {}
    total, steps = Loss(), []
    for entry in _entries(database):
        if entry.kind == "reserved" and who in (None, entry.body["analyst"]):
            losses[entry.digest[:RECEIPT]] = added = _loss(entry.body["event"])
            total += added
        elif entry.kind == "prior" and losses.keys() & entry.body["prices"].keys():
            prices = entry.body["prices"]
            losses |= {key: _loss(prices[key]) for key in losses.keys() & prices.keys()}
            total = sum(losses.values(), Loss())
        else:
            continue
        steps.append((entry.at, budget.spent(total)[main]))
    return steps


def _line(entry: Entry, answered: bool) -> Line:
    body, receipt = entry.body, entry.digest[:RECEIPT]
    if entry.kind == "prior":
        sql = str(body["published"].get("sql", "the policy promises something else"))
        return Line(entry.number, entry.at, "exact release", statement=sql)
    statement = str(body["statement"])
    kind = "release" if statement.startswith("RELEASE ") else "question"
    return Line(
        entry.number,
        entry.at,
        kind,
        str(body["analyst"]),
        statement,
        _loss(body["event"]).amounts,
        _noise(body["event"]),
        receipt,
        body["key"],
        body.get("request"),
        answered,
    )


def _loss(event: Mapping[str, Any]) -> Loss:
    return events.loss(events.from_json(event))


def _noise(event: Mapping[str, Any]) -> str:
    if event["event"] != "composed":
        return {"free": "none"}.get(str(event["event"]), str(event["event"]))
    return " + ".join(dict.fromkeys(_noise(part) for part in event["parts"]))
