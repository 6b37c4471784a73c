"""The promise that a use was priced under, as the ledger records it, and how far another one goes.

A use that is private under one promise is private under another one in as many steps as it
takes to go there by the first (`prior_knowledge.md`, claim 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adomnia.errors import LedgerError
from adomnia.policy.policy import Policy
from adomnia.privacy.neighbors import Neighbors
from adomnia.queries.canonical import digest

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


_FIELDS = ("relation", "rows", "group", "most", "groups", "each")
"""What a record says of the neighbours, by these names for ever."""


@dataclass(frozen=True)
class Promise:
    """Which tables are neighbours, what a unit is, and which attributes are not protected; and
    on which mechanisms of other packages it rests.

    The digest stands for all that decides it, also for what is declared about exact releases.
    """

    neighbors: Neighbors
    unit: str | None = None
    public: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()
    digest: str = field(default="", compare=False)

    @classmethod
    def of(cls, policy: Policy) -> Promise:
        """What a policy promises."""
        named = policy.attributes.items()
        public = tuple(sorted(name for name, part in named if not part.sensitive))
        return cls(
            policy.neighbors, policy.unit, public, policy.mechanisms, _digest(policy, public)
        )

    @staticmethod
    def is_of_table(record: Mapping[str, Any]) -> bool:
        """Whether a reservation's promise is about a table; else it is about a graph."""
        return "neighbors" in record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Promise:
        """The promise in a reservation."""
        try:
            neighbors = Neighbors(**record["neighbors"])
            public, named = tuple(record["public"]), tuple(record.get("mechanisms", ()))
            return cls(neighbors, record["unit"], public, named, record["digest"])
        except (KeyError, TypeError, ValueError):
            raise LedgerError(
                "the journal holds a promise that this version does not know",
                hint="use the version that wrote it, or a newer one",
            ) from None

    def to_json(self) -> dict[str, Any]:
        """The promise as plain JSON values."""
        held = self.neighbors
        facts = {name: getattr(held, name) for name in _FIELDS}
        told = {name: value for name, value in facts.items() if value is not None}
        return {
            "digest": self.digest,
            "neighbors": told,
            "unit": self.unit,
            "public": list(self.public),
            **({"mechanisms": list(self.mechanisms)} if self.mechanisms else {}),
        }

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
    """All that decides what is promised, by names that are written here."""
    held = policy.neighbors
    facts = {
        "relation": held.relation,
        "rows": held.rows,
        "group": held.group,
        "most": held.most,
        "groups": held.groups,
        "each": held.each,
        "unit": policy.unit,
        "public": list(public),
        "nullable": sorted(name for name, part in policy.attributes.items() if part.nullable),
        "universe": None if policy.universe is None else list(policy.universe),
        "max_group": policy.max_group,
        "mechanisms": list(policy.mechanisms) or None,
    }
    return digest({name: value for name, value in facts.items() if value is not None})
