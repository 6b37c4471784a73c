"""What several tables hold: a survey of each, the columns that may be keys, and a place where
these are held against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from adomnia.curator.data.separate_tables import DeclaredKeys, PlacedTable, SeparateTables
from adomnia.curator.data.source_tables import check_columns_alike, descriptions_of, line_counts
from adomnia.curator.data.sources import engine_of
from adomnia.engines.exact import LinkedTables, linked_tables, survey, unit_rows
from adomnia.engines.key_facts import MatchedRows
from adomnia.errors import PolicyError
from adomnia.review.check.line_remarks import is_titled, line_remarks
from adomnia.review.column_words import CERTAIN, MEASURED, column_words
from adomnia.review.drafts.identifiers import RowsPerUnit, unit_rows_of
from adomnia.review.drafts.self_references import self_references
from adomnia.review.tables_draft.link_names import has_id_word, key_rank

__all__ = ["KeyCandidate", "SurveyedSource", "SurveyedTable", "surveyed"]

LONGEST = 100
"""A text that is longer is no key."""

NEARLY = 0.9
"""So many of the values must be different before it is counted whether all are."""

ONCE = 0.95
"""So many values of a column that is called as a key must have one row; others are ambiguous."""

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class KeyCandidate:
    """A column whose values have one row each, or nearly so; `rank` is how well its name suits."""

    table: str
    column: str
    repeats: Mapping[int, int]
    rank: int
    declared: bool = False

    @property
    def values(self) -> int:
        """How many values there are."""
        return sum(self.repeats.values())

    @property
    def repeated(self) -> int:
        """How many values several rows have."""
        return sum(values for rows, values in self.repeats.items() if rows > 1)


@dataclass(frozen=True)
class SurveyedTable:
    """One table, its columns, which of them are identifiers, and which may be its key."""

    place: PlacedTable
    facts: Mapping[str, Facts]
    units: Mapping[str, RowsPerUnit]
    keys: tuple[KeyCandidate, ...]
    linkable: tuple[str, ...]
    """The columns that may be a key or refer to one."""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    within: Mapping[str, str] = field(default_factory=dict)
    """What is said of columns that refer to another row of this table."""
    remarks: tuple[str, ...] = ()
    titled: bool = False
    """Whether its first line seems to be a title."""

    @property
    def name(self) -> str:
        """What it is called in SQL."""
        return self.place.name

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(next((facts["rows"] for facts in self.facts.values()), 0))


@dataclass(frozen=True)
class SurveyedSource:
    """All tables, what is declared for them, and exact counts of what refers to what."""

    tables: Mapping[str, SurveyedTable]
    declared: DeclaredKeys
    links: LinkedTables
    left: tuple[str, ...] = ()
    """What is said of files that could not be read."""


@contextmanager
def surveyed(source: SeparateTables) -> Iterator[SurveyedSource]:
    """The tables, looked at one after the other; what may be a codebook and cannot be read is left
    out, and told."""
    names = {table.relation: table.name for table in source.tables}
    keys = _named(source.keys, names)
    found: dict[str, SurveyedTable] = {}
    left: list[str] = []
    held: list[LinkedTables] = []
    try:
        for place in source.tables:
            try:
                found[place.name] = _looked_at(place, keys, held)
            except PolicyError as error:
                if not place.beside:
                    raise
                left.append(f"{place.name} is left out: {error.message}")
        if not found:
            raise PolicyError("none of the files can be read", "; ".join(left))
        yield SurveyedSource(found, keys, held[0], tuple(left))
    finally:
        for links in held:
            links.close()


def _looked_at(place: PlacedTable, keys: DeclaredKeys, held: list[LinkedTables]) -> SurveyedTable:
    """One table; the place where keys are held against each other is opened with the first."""
    check_columns_alike(place.source, place.relation)
    with closing(engine_of(place.source, place.relation, {})) as engine:
        if not held:
            held.append(linked_tables(engine, place.source))
        table = _table(engine, place, keys)
        if table.linkable:
            held[0].add(place.name, engine, table.linkable)
        return replace(table, within=_within(table, held[0]))


def _within(table: SurveyedTable, links: LinkedTables) -> dict[str, str]:
    """What is said of columns that refer to another row of their table."""

    def matches(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], MatchedRows]:
        held = [(one, key) for one, key in pairs if {one, key} <= {*table.linkable}]
        return {(one, key): links.match(table.name, one, table.name, key) for one, key in held}

    return self_references(table.facts, table.units, matches)


def is_linkable(name: str, facts: Facts) -> bool:
    """Whether a column may be a key or refer to one: short texts and whole numbers may."""
    words = {*column_words(name)}
    if MEASURED & words and not (CERTAIN & words or has_id_word(name)):
        return False
    if facts["type"].upper() == "UUID":
        return True
    if facts["kind"] == "text":
        return (facts["width"][1] or 0) <= LONGEST
    return bool(facts["kind"] == "number" and facts["places"] == 0)


def _table(engine: Any, place: PlacedTable, declared: DeclaredKeys) -> SurveyedTable:
    found = survey(engine)
    units = unit_rows_of(found, lambda name: unit_rows(engine, name))
    alone, named = _declared(place.name, declared)
    linkable = [name for name, facts in found.items() if name in named or is_linkable(name, facts)]
    keys = []
    for name in linkable:
        if not _may_be_key(name, found[name], place.name, alone):
            continue
        repeats = units[name].repeats if name in units else unit_rows(engine, name)
        made = KeyCandidate(place.name, name, repeats, key_rank(name, place.name), name in alone)
        if _is_key(made):
            keys.append(made)
    regular = line_counts(place.source, place.relation)
    return SurveyedTable(
        place,
        found,
        units,
        tuple(keys),
        tuple(linkable),
        descriptions_of(place.source),
        {},
        tuple(f"{place.name}: {text}" for _, text, _ in line_remarks(regular)),
        is_titled(regular),
    )


def _declared(table: str, keys: DeclaredKeys) -> tuple[set[str], set[str]]:
    """The columns that are declared to be unique, and all that are declared to be of a key."""
    unique = [columns for columns in keys.unique.get(table, ()) if len(columns) == 1]
    pairs = [(key.table, key.columns) for key in keys.foreign]
    pairs += [(key.other, key.others) for key in keys.foreign]
    foreign = [columns for name, columns in pairs if name == table and len(columns) == 1]
    return {columns[0] for columns in unique}, {columns[0] for columns in (*unique, *foreign)}


def _may_be_key(name: str, facts: Facts, table: str, alone: set[str]) -> bool:
    """Whether it is worth counting: it is declared, or called so, or nearly all are different."""
    if name in alone or facts["distinct"] is None:
        return True
    most = max(1, facts["present"])
    return bool(facts["distinct"] >= (0.8 if key_rank(name, table) >= 2 else NEARLY) * most)


def _is_key(made: KeyCandidate) -> bool:
    if not made.values:
        return False
    return made.repeated == 0 or (
        made.rank >= 2 and made.values - made.repeated >= ONCE * made.values
    )


def _named(keys: DeclaredKeys, names: Mapping[str, str]) -> DeclaredKeys:
    """Declared keys by the names of tables in SQL; those of others are left out."""
    unique = {names[t]: columns for t, columns in keys.unique.items() if t in names}
    return DeclaredKeys(
        unique,
        tuple(
            type(key)(names[key.table], key.columns, names[key.other], key.others)
            for key in keys.foreign
            if key.table in names and key.other in names
        ),
    )
