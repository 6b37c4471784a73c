"""Re-pricing, line by line: what an exact release or another promise adds to what was spent.

The ledger is read from front to back; what every use costs by then is kept, so that each entry
that prices the past anew can say what it added, to whom, and why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adomnia.curator.ledger_view import read_loss, receipt
from adomnia.policy.promise import Ownership, Promise
from adomnia.privacy.loss import Loss

if TYPE_CHECKING:
    from adomnia.curator.ledger_view import Entry
    from adomnia.policy.policy import Policy

__all__ = ["Prices"]

Amounts = Mapping[str, Fraction]


class Prices:
    """What every use costs by now, and what is promised by now."""

    def __init__(self, policy: Policy, entries: Sequence[Entry]) -> None:
        self._policy, self._entries = policy, entries
        self._costs: dict[str, tuple[str, Loss]] = {}
        self._now: str | None = None

    @cached_property
    def _promises(self) -> dict[str, Promise]:
        """All promises of the ledger and that of today, by their digests."""
        reserved = (entry for entry in self._entries if entry.kind == "reserved")
        recorded = (entry.body.get("promise") for entry in reserved)
        told = {record["digest"]: record for record in recorded if record is not None}
        today = Promise.of(self._policy)
        return {today.digest: today, **{key: _promise(told[key]) for key in told}}

    def take(self, entry: Entry) -> dict[str, Amounts]:
        """Take the next use or re-pricing in; what it adds to the spending of each analyst."""
        return self._priced(entry) if entry.kind == "prior" else self._use(entry)

    def _use(self, entry: Entry) -> dict[str, Amounts]:
        analyst, cost = str(entry.head["analyst"]), read_loss(entry.head["loss"])
        self._costs[receipt(entry)] = analyst, cost
        self._now = entry.head.get("promise", self._now)
        return {analyst: cost.amounts}

    def _priced(self, entry: Entry) -> dict[str, Amounts]:
        added: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for paid, loss in entry.head["prices"].items():
            analyst, before = self._costs[paid]
            after = read_loss(loss)
            self._costs[paid] = analyst, after
            for name, amount in after.amounts.items():
                added[analyst][name] += amount - before.amounts.get(name, Fraction(0))
        self._now = entry.head["published"].get("promise", self._now)
        return {
            analyst: {name: amount for name, amount in amounts.items() if amount}
            for analyst, amounts in sorted(added.items())
            if any(amounts.values())
        }

    def spent(self, who: str | None) -> Loss:
        """What one analyst, or everybody, has spent by now."""
        costs = (cost for analyst, cost in self._costs.values() if who in (None, analyst))
        return sum(costs, Loss())

    def change(self, entry: Entry) -> str:
        """What is promised from this entry on, and was not before it, by the policy's words."""
        before = self._promises.get(self._now or "")
        after = self._promises.get(str(entry.head["published"].get("promise")))
        if before is None or after is None:
            return "the policy promises something else"
        old, new = _facts(before), _facts(after)
        differs = [f"{name}: {old[name]} → {new[name]}" for name in old if old[name] != new[name]]
        other = "exact releases" if after.owners is None else "bounds or attributes"
        return "; ".join(differs) or f"what the policy says about {other} was changed"


def _promise(record: Mapping[str, Any]) -> Promise:
    promise = Promise.from_json(record)
    assert promise is not None
    return promise


def _facts(promise: Promise) -> dict[str, str]:
    """The promise by the names that a policy has for its parts."""
    held = promise.neighbors
    parts = {
        "neighbors": held.relation,
        "group": held.group,
        "most": held.most,
        "unit": promise.unit,
        "max_rows": held.rows,
        "max_groups": held.groups,
        "max_rows_per_group": held.each,
        "not sensitive": ", ".join(promise.public) or None,
        "tables": None if promise.owners is None else _tables(promise.owners),
    }
    return {name: "none" if value is None else str(value) for name, value in parts.items()}


def _tables(owners: Ownership) -> str:
    """The tables with what they refer to."""
    listed = []
    for name, key, references in owners.tables:
        of = ", ".join(f"{column} of {other}" for column, other in references)
        listed.append(f"{name} (key {key or 'none'}{f'; {of}' if of else ''})")
    return ", ".join(listed)
