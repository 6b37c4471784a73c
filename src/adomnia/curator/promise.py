"""The promise that a use was priced under, as the ledger records it, and how far another one goes.

A use that is private under one promise is private under another one in as many steps as it
takes to go there by the first (`known.md`, claim 5).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adomnia.curator.policy import Policy
from adomnia.errors import LedgerError
from adomnia.privacy.neighbors import Neighbors

__all__ = ["Promise"]

_STEPS = {
    ("unbounded", "unbounded"): 1,
    ("unbounded", "bounded"): 2,
    ("unbounded", "attribute"): 2,
    ("unbounded", "bit"): 2,
    ("bounded", "bounded"): 1,
    ("bounded", "attribute"): 1,
    ("bounded", "bit"): 1,
    ("attribute", "attribute"): 1,
    ("attribute", "bit"): 1,
    ("bit", "bit"): 1,
}
"""How many steps of the first relation make one of the second; what is missing, none do."""


@dataclass(frozen=True)
class Promise:
    """Which tables are neighbours, what a unit is, and which attributes are not protected.

    The digest stands for all that decides it, also for what is declared about exact releases.
    """

    neighbors: Neighbors
    unit: str | None = None
    public: tuple[str, ...] = ()
    digest: str = field(default="", compare=False)

    @classmethod
    def of(cls, policy: Policy) -> Promise:
        """What a policy promises."""
        named = policy.attributes.items()
        public = tuple(sorted(name for name, part in named if not part.sensitive))
        return cls(policy.neighbors, policy.unit, public, _digest(policy, public))

    @classmethod
    def from_json(cls, record: Mapping[str, Any] | None) -> Promise | None:
        """The promise in a reservation; None where it was made before they had one."""
        if record is None:
            return None
        try:
            neighbors = Neighbors(**record["neighbors"])
            return cls(neighbors, record["unit"], tuple(record["public"]), record["digest"])
        except (KeyError, TypeError, ValueError):
            raise LedgerError(
                "the journal holds a promise that this version does not know",
                hint="use the version that wrote it, or a newer one",
            ) from None

    def to_json(self) -> dict[str, Any]:
        """The promise as plain JSON values."""
        told = {name: value for name, value in vars(self.neighbors).items() if value is not None}
        public = list(self.public)
        return {"digest": self.digest, "neighbors": told, "unit": self.unit, "public": public}

    @property
    def bounds(self) -> tuple[Any, ...]:
        """What decides which rows of a unit were read."""
        held = self.neighbors
        return (self.unit, held.rows, held.groups, held.each)

    def steps(self, other: Promise) -> int | None:
        """How many steps of this promise lead as far as one of the other; None if none do."""
        if self.neighbors.most is not None:
            return 1  # what was read of any two tables was alike
        single = self._single(other)
        size = other.neighbors.most or other.neighbors.group
        return None if single is None else -(-single * size // self.neighbors.group)

    def _single(self, other: Promise) -> int | None:
        """How many rows or units, one by one, make one of the other promise."""
        mine, relation = self.neighbors, other.neighbors.relation
        if relation == "free-lunch":  # all go, others come
            return 2 if mine.relation == "unbounded" or self.unit is not None else None
        if self.unit is None:
            return None if other.unit is not None else _STEPS.get((mine.relation, relation))
        if other.unit is None:  # a row that changes may leave one unit for another
            touched = 2 if other.neighbors.replaces else 1
            return touched * (1 if mine.replaces else 2)
        if other.unit != self.unit:
            return None
        return 2 if other.neighbors.replaces and not mine.replaces else 1


def _digest(policy: Policy, public: tuple[str, ...]) -> str:
    """What came later is told where it is set, so that ledgers of before read the same."""
    nullable = sorted(name for name, part in policy.attributes.items() if part.nullable)
    facts: list[Any] = [repr(policy.neighbors), nullable, policy.universe, policy.max_group]
    facts.append(policy.unit)
    if policy.neighbors.most is not None or public:
        facts += [policy.neighbors.most, public]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
