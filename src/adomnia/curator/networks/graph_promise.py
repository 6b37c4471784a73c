"""The promise about a graph, as the ledger records it, and what another one makes of earlier uses.

A use that is private among neighbours of one kind is private among those of another in as many
steps as it takes to go there by the first (`graph_promise.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.ledger.account import Account, promise_kind
from adomnia.ledger.journal import Journal
from adomnia.ledger.prior import AlreadyPriced, register
from adomnia.policy.graph_section import GraphSource
from adomnia.policy.policy import Policy
from adomnia.privacy import events
from adomnia.privacy.composition import Budget
from adomnia.privacy.growth import UNBOUNDED, Growth, repriced
from adomnia.queries.canonical import digest

__all__ = ["GraphPromise", "check_graph_promise"]

GRAPH = "graph "
"""How the digests of promises about graphs begin."""


@dataclass(frozen=True)
class GraphPromise:
    """Which graphs are neighbours: an edge, or a node with its edges (where nodes are public, its
    edges alone)."""

    neighbors: str
    public_nodes: bool

    @classmethod
    def of(cls, source: GraphSource) -> GraphPromise:
        """What a policy promises about its graph."""
        return cls(source.neighbors, source.public_nodes)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> GraphPromise:
        """The promise in a reservation."""
        return cls(record["graph"]["neighbors"], record["graph"]["public_nodes"])

    @property
    def digest(self) -> str:
        """What makes two promises the same."""
        return GRAPH + digest(self._facts)

    def to_json(self) -> dict[str, Any]:
        """The promise as plain JSON values."""
        return {"digest": self.digest, "graph": self._facts}

    @property
    def _facts(self) -> dict[str, Any]:
        return {"neighbors": self.neighbors, "public_nodes": self.public_nodes}

    def growth(self, now: GraphPromise) -> Growth:
        """How many steps by this promise make one of the other; unbounded where none do."""
        if self == now:
            return Growth.of(Fraction(1))
        if self.neighbors == "edge" or (self.public_nodes and not now.public_nodes):
            return UNBOUNDED  # a node has any number of edges; which nodes there are was told
        # A node goes with all its edges and comes back with others.
        return Growth.of(Fraction(1 if self.public_nodes else 2))


def check_graph_promise(
    policy: Policy, promise: GraphPromise, journal: Journal, accept: bool = False
) -> None:
    """Price earlier uses of the graph anew where the policy promises something else by now."""
    if _holds(promise, journal.account()):
        return

    def price(account: Account) -> Mapping[str, events.Event]:
        if _holds(promise, account):
            raise AlreadyPriced
        return dict(_prices(promise, journal, account))

    budgets: dict[str | None, Budget] = {None: policy.budget}
    budgets.update(policy.analysts)
    with suppress(AlreadyPriced):
        register(journal, {"promise": promise.digest}, price, budgets, accept)


def _holds(promise: GraphPromise, account: Account) -> bool:
    kind = promise_kind(promise.digest)
    return {name for name in account.promises if promise_kind(name) == kind} <= {promise.digest}


def _prices(
    now: GraphPromise, journal: Journal, account: Account
) -> Iterator[tuple[str, events.Event]]:
    for receipt, _ in account.uses():
        entry = journal.reservation(receipt)
        record = {} if entry is None else entry.body.get("promise", {})
        if entry is None or "graph" not in record:
            continue
        event = events.from_json(entry.body["event"])
        grown = repriced(event, GraphPromise.from_json(record).growth(now))
        if events.loss(grown) != account.price(receipt):
            yield receipt, grown
