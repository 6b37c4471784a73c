"""To whom the rows of several tables belong: the unit, the references that lead to it, and what is
left out and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adomnia.engines.key_facts import OwnerCounts
from adomnia.errors import PolicyError, QuestionError
from adomnia.review.tables_draft.link_names import key_rank
from adomnia.review.tables_draft.owner_ways import owner_ways
from adomnia.review.tables_draft.references import TableReference, chosen_keys, references
from adomnia.review.tables_draft.surveyed_tables import KeyCandidate, SurveyedSource
from adomnia.review.tables_draft.unit_choice import leading_to, may_be_public, ranked_units

__all__ = ["OwnerGraph", "owner_graph"]


@dataclass(frozen=True)
class OwnerGraph:
    """The tables of a policy: whose rows they are, by which references, and what is not in it."""

    keys: Mapping[str, KeyCandidate]
    unit: str
    alternatives: tuple[str, ...]
    used: tuple[TableReference, ...]
    unused: Mapping[TableReference, str]
    """References that are not in the policy, and why."""
    owned: Mapping[str, OwnerCounts] = field(default_factory=dict)
    """For each table but the unit's how many rows the units have."""
    public: tuple[str, ...] = ()
    """Small tables that may be known to everybody."""
    nobody: int = 0
    """Rows of the units' table without a key."""

    @property
    def private(self) -> tuple[str, ...]:
        """The tables of the policy, the unit's first."""
        return (self.unit, *self.owned)

    def of(self, table: str) -> tuple[TableReference, ...]:
        """The references of a table that are in the policy."""
        return tuple(one for one in self.used if one.table == table)


def owner_graph(source: SurveyedSource, unit: str | None = None) -> OwnerGraph | None:
    """What the tables are to each other, for a unit that is wished or found; None where nothing
    refers to anything.

    Raises a PolicyError where columns are called as if they did, and hardly a row matches.
    """
    found = references(source)
    keys = chosen_keys(source, found)
    edges, unused = _edges(keys, [one for one in found if not one.missed])
    if unit is not None and unit not in keys:
        known = "its tables with a key are: " + ", ".join(keys)
        raise QuestionError(f"the source has no table {unit!r} whose rows could be units", known)
    missed = _missed(source, keys, found, edges)
    if missed and not edges:
        raise _unlinked(missed)
    ranked = ranked_units(source, keys, edges)
    if not edges or not (unit or ranked):
        return None
    chosen = unit or ranked[0]
    private = leading_to(chosen, edges)
    used = [one for one in edges if one.table in private and one.other in private]
    others = [table for name, table in source.tables.items() if name not in private]
    public = [t.name for t in others if t.name in keys and may_be_public(t, edges)]
    left = [one for one in edges if one not in used]
    unused |= {one: f"{one.other} {_state(one.other, public)}" for one in left} | missed
    used, ways = owner_ways(source, chosen, used, unused)
    owned = {name: source.links.owned(name, ways[name]) for name in ways if name != chosen}
    table = source.tables[chosen]
    return OwnerGraph(
        keys,
        chosen,
        tuple(name for name in ranked if name not in (chosen, *public)),
        tuple(used),
        unused,
        owned,
        tuple(public),
        table.rows - table.facts[keys[chosen].column]["present"],
    )


def _state(name: str, public: Iterable[str]) -> str:
    return "may be public" if name in public else "is not in this policy"


def _unlinked(missed: Mapping[TableReference, str]) -> PolicyError:
    told = [f"{e.table}.{e.column} → {e.other}.{e.key}: {why}" for e, why in missed.items()]
    hint = (
        "draft one, by its path or with --table, or mend what refers to others:\n  "
        + "\n  ".join(told)
    )
    return PolicyError("the source has several tables, and none refers to another", hint)


def _edges(
    keys: Mapping[str, KeyCandidate], found: Iterable[TableReference]
) -> tuple[list[TableReference], dict[TableReference, str]]:
    """The clearest reference of each column to a chosen key, without circles."""
    edges: list[TableReference] = []
    unused: dict[TableReference, str] = {}
    taken: set[tuple[str, str]] = set()
    for one in found:
        own = keys.get(one.table)
        named = own is not None and own.column == one.column and key_rank(one.column, one.table) > 2
        if (one.table, one.column) in taken or (named and not one.declared):
            continue
        if one.other not in keys or keys[one.other].column != one.key:
            if one.declared:
                unused[one] = f"the key of {one.other} is another column"
            continue
        taken.add((one.table, one.column))
        if one.table in _reached(one.other, edges):
            unused[one] = "it would close a circle"
        else:
            edges.append(one)
    return edges, unused


def _missed(
    source: SurveyedSource,
    keys: Mapping[str, KeyCandidate],
    found: Iterable[TableReference],
    edges: Iterable[TableReference],
) -> dict[TableReference, str]:
    """References that names promise and rows do not keep, with a likely reason."""
    taken = {(one.table, one.column) for one in edges}
    listed = [one for one in found if one.missed and (one.table, one.column) not in taken]
    told = {}
    for one in listed:
        if one.other in keys and keys[one.other].column == one.key:
            kinds = [source.tables[t].facts[c]["type"].lower()
                     for t, c in ((one.table, one.column), (one.other, one.key))]  # fmt: skip
            texts = f" ({kinds[0]} and {kinds[1]} are compared as texts: 07 is not 7)"
            told[one] = "too few rows match" + (texts if kinds[0] != kinds[1] else "")
    return told


def _reached(start: str, edges: Iterable[TableReference]) -> set[str]:
    """The tables that a table refers to, by a chain."""
    listed, found = [*edges], {start}
    while more := {e.other for e in listed if e.table in found} - found:
        found |= more
    return found
