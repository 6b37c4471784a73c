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
from adomnia.schema.table import Attribute
from adomnia.schema.tables import Tables

__all__ = ["Ownership", "Promise"]

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
class Ownership:
    """To whom the rows of several tables belong: the units, and of each table its key and what it
    refers to.

    >>> from adomnia.schema.tables import PrivateTable
    >>> people = PrivateTable("people", {}, key="id")
    >>> visits = PrivateTable("visits", {}, references={"person": "people"})
    >>> alone = Ownership.of(Tables({"people": people}, ("people",)))
    >>> both = Ownership.of(Tables({"people": people, "visits": visits}, ("people",)))
    >>> alone.is_kept_by(both), alone.is_kept_by(None)
    (True, False)
    """

    units: tuple[str, ...]
    tables: tuple[tuple[str, str | None, tuple[tuple[str, str], ...]], ...]

    @classmethod
    def of(cls, tables: Tables) -> Ownership:
        """What the tables declare, in an order that is not that of the file."""
        listed = [
            (name, table.key, tuple(sorted(table.references.items())))
            for name, table in tables.tables.items()
        ]
        return cls(tuple(sorted(tables.units)), tuple(sorted(listed)))

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Ownership:
        """The ownership in a reservation's promise."""
        listed = [
            (name, part.get("key"), tuple(sorted(part["references"].items())))
            for name, part in record["tables"].items()
        ]
        return cls(tuple(record["units"]), tuple(sorted(listed)))

    def to_json(self) -> dict[str, Any]:
        """The ownership as plain JSON values."""
        return {
            "units": list(self.units),
            "tables": {
                name: {**({} if key is None else {"key": key}), "references": dict(references)}
                for name, key, references in self.tables
            },
        }

    def is_kept_by(self, other: Ownership | None) -> bool:
        """Whether the other has the same units, and owns every table of here in the same way.

        It may have further tables: nothing that was read of these here rests on them. One that it
        lacks is another matter, since its rows belong to nobody there.
        """
        return other is not None and self.units == other.units and {*self.tables} <= {*other.tables}


@dataclass(frozen=True)
class Promise:
    """Which tables are neighbours, what a unit is, and which attributes are not protected; and
    on which mechanisms of other packages it rests. Of several tables also to whom rows belong.

    The digest stands for all that decides it, also for what is declared about exact releases.
    """

    neighbors: Neighbors
    unit: str | None = None
    public: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()
    digest: str = field(default="", compare=False)
    owners: Ownership | None = None

    @classmethod
    def of(cls, policy: Policy) -> Promise:
        """What a policy promises."""
        named = _attributes(policy).items()
        public = tuple(sorted(name for name, part in named if not part.sensitive))
        owners = None if policy.several is None else Ownership.of(policy.several.tables)
        facts = _digest(policy, public, owners)
        return cls(policy.neighbors, policy.unit, public, policy.mechanisms, facts, owners)

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
            owners = Ownership.from_json(record["owners"]) if "owners" in record else None
            return cls(neighbors, record["unit"], public, named, record["digest"], owners)
        except (KeyError, TypeError, ValueError, AttributeError):
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
            **({} if self.owners is None else {"owners": self.owners.to_json()}),
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
        if (self.owners or other.owners) and not self._is_kept_by(other):
            return None  # whose rows go together is not what it was
        single = self._single(other)
        size = other.neighbors.most or other.neighbors.group
        return None if single is None else -(-single * size // self.neighbors.group)

    def _is_kept_by(self, other: Promise) -> bool:
        return self.owners is not None and self.owners.is_kept_by(other.owners)

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


def _attributes(policy: Policy) -> dict[str, Attribute]:
    """The declared attributes; those of several tables with the table's name before theirs."""
    if policy.several is None:
        return dict(policy.attributes)
    return {
        f"{table.name}.{name}": attribute
        for table in policy.several.tables.tables.values()
        for name, attribute in table.attributes.items()
    }


def _digest(policy: Policy, public: tuple[str, ...], owners: Ownership | None) -> str:
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
        "nullable": sorted(name for name, part in _attributes(policy).items() if part.nullable),
        "universe": None if policy.universe is None else list(policy.universe),
        "max_group": policy.max_group,
        "mechanisms": list(policy.mechanisms) or None,
        "owners": None if owners is None else owners.to_json(),
        "bounds": _bounds(policy),
    }
    return digest({name: value for name, value in facts.items() if value is not None})


def _bounds(policy: Policy) -> dict[str, list[int | bool]] | None:
    """How many rows of one unit are used of each of several tables, and whether that is found."""
    if policy.several is None:
        return None
    tables = policy.several.tables.tables
    return {name: [table.max_rows, table.auto] for name, table in sorted(tables.items())}
