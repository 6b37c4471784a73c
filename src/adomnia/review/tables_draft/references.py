"""Which column refers to which table: as it is declared, by its name, or since its values are keys
there and would not be by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adomnia.engines.key_facts import MatchedRows
from adomnia.review.tables_draft.link_names import (
    LIKELY,
    NONE,
    STRONG,
    agreement,
    has_id_word,
    is_count_of,
)
from adomnia.review.tables_draft.surveyed_tables import (
    KeyCandidate,
    SurveyedSource,
    SurveyedTable,
)

__all__ = ["TableReference", "chosen_keys", "references"]

DECLARED, MISSED = 3, -1
"""How clear a reference is that the source itself declares; and one that is called so, but of which
hardly a row matches."""

LEAST = {DECLARED: 0.0, STRONG: 0.5, LIKELY: 0.8, NONE: 0.95}
"""The share of rows that must match, by how clearly the name says so."""

BY_CHANCE = 0.2
"""Numbers that nothing names must be keys at most so often by chance: the keys fill no more of
their own range."""

FEW = 20
"""So few different values match something by accident."""


@dataclass(frozen=True)
class TableReference:
    """A column that refers to another table, how clearly, and how many rows match.

    >>> TableReference("visits", "patient", "patients", "id", MatchedRows(1000, 998), 2).text
    'visits.patient → patients.id: 99.8 % of 1,000 rows match; 2 match nobody'
    """

    table: str
    column: str
    other: str
    key: str
    match: MatchedRows
    clear: int
    size: int = 0
    """How many keys the other table has."""

    @property
    def declared(self) -> bool:
        """Whether the source says so itself."""
        return self.clear == DECLARED

    @property
    def missed(self) -> bool:
        """Whether it is called so, but too few rows match."""
        return self.clear == MISSED

    @property
    def text(self) -> str:
        """The reference and how many rows match, in words."""
        rows, missing = self.match.rows, self.match.rows - self.match.matched
        told = f"{self.table}.{self.column} → {self.other}.{self.key}: "
        if not rows:
            return f"{told}no row has a value"
        if not missing:
            return f"{told}all {rows:,} rows match" if rows > 1 else f"{told}its one row matches"
        part = int(1000 * self.match.share) / 10  # never rounded up to all
        nobody = f"{missing:,} match nobody" if missing > 1 else "1 matches nobody"
        return f"{told}{part:g} % of {rows:,} rows match; {nobody}"


def references(source: SurveyedSource) -> list[TableReference]:
    """What may refer to what, by all keys that may be; the clearest first."""
    found = [*_declared(source)]
    said = {(one.table, one.column) for one in found}
    for table in source.tables.values():
        for column in table.linkable:
            if (table.name, column) not in said:
                found += _of_column(source, table, column)
    return sorted(found, key=_clearness, reverse=True)


def chosen_keys(source: SurveyedSource, found: list[TableReference]) -> dict[str, KeyCandidate]:
    """The key of each table that has one: declared, referred to, or called as one."""
    to: dict[tuple[str, str], list[TableReference]] = {}
    for one in found:
        if not one.missed:
            to.setdefault((one.other, one.key), []).append(one)

    def worth(key: KeyCandidate) -> tuple[Any, ...]:
        here = to.get((key.table, key.column), [])
        stored = any(one.declared for one in here)
        clear = sum(one.clear > NONE for one in here)
        first = -[*source.tables[key.table].facts].index(key.column)
        return stored, key.declared, clear, key.rank, len(here), -key.repeated, first

    def is_one(key: KeyCandidate) -> bool:
        units = source.tables[key.table].units
        person = key.column in units and units[key.column].person
        return key.declared or key.rank > 0 or person or (key.table, key.column) in to

    listed = {n: [key for key in table.keys if is_one(key)] for n, table in source.tables.items()}
    return {name: max(keys, key=worth) for name, keys in listed.items() if keys}


def _declared(source: SurveyedSource) -> Iterator[TableReference]:
    """References that the source declares by one column; a table that refers to itself is told
    elsewhere."""
    for one in source.declared.foreign:
        if len(one.columns) > 1 or one.table == one.other:
            continue
        match = source.links.match(one.table, one.columns[0], one.other, one.others[0])
        yield TableReference(one.table, one.columns[0], one.other, one.others[0], match, DECLARED,
                        source.tables[one.other].rows)  # fmt: skip


def _of_column(
    source: SurveyedSource, table: SurveyedTable, column: str
) -> Iterator[TableReference]:
    """The tables that a column may refer to; where its name says which, no others are tried."""
    keys = [
        (agreement(column, other.name, key.column), key)
        for other in source.tables.values()
        if other is not table
        for key in other.keys
    ]
    named = [pair for pair in keys if pair[0] > NONE and not _is_amount(table, column, pair[1])]
    tried = [*_tried(source, table, column, named)]
    yield from tried
    if all(one.missed for one in tried):
        facts, own = table.facts[column], {key.column for key in table.keys}
        unnamed = [
            (NONE, key)
            for _, key in keys
            if column not in own and _beyond_chance(facts, _facts(source, key), key)
        ]
        yield from _tried(source, table, column, unnamed)


def _tried(
    source: SurveyedSource, table: SurveyedTable, column: str, keys: list[tuple[int, KeyCandidate]]
) -> Iterator[TableReference]:
    for clear, key in keys:
        match = source.links.match(table.name, column, key.table, key.column)
        enough = match.matched and match.share >= LEAST[clear]
        if enough or clear == STRONG:
            sure = clear if enough else MISSED
            yield TableReference(table.name, column, key.table, key.column, match, sure, key.values)


def _is_amount(table: SurveyedTable, column: str, key: KeyCandidate) -> bool:
    """Whether a number may say how many: `children` beside a table of children."""
    numeric = table.facts[column]["kind"] == "number"
    return numeric and not has_id_word(column) and is_count_of(column, key.table)


def _facts(source: SurveyedSource, key: KeyCandidate) -> Mapping[str, Any]:
    return source.tables[key.table].facts[key.column]


def _beyond_chance(facts: Mapping[str, Any], keys: Mapping[str, Any], key: KeyCandidate) -> bool:
    """Whether values of a column whose name says nothing would hardly be keys by accident."""
    if facts["kind"] != keys["kind"] or (facts["distinct"] or 0) > 1.1 * key.values:
        return False
    if facts["kind"] == "number":
        if facts["low"] is None or keys["low"] is None or (facts["distinct"] or 0) < FEW:
            return False
        inside = keys["low"] <= facts["low"] and facts["high"] <= keys["high"]
        return bool(inside and key.values <= BY_CHANCE * (keys["high"] - keys["low"] + 1))
    if facts["kind"] != "text":
        return str(facts["type"]).upper() == "UUID"
    widths = (facts["width"], keys["width"])
    if None in (*widths[0], *widths[1]) or (facts["distinct"] or 0) <= 2:
        return False
    return bool(widths[1][0] <= widths[0][0] and widths[0][1] <= widths[1][1])


def _clearness(one: TableReference) -> tuple[int, float, int]:
    """Clear names first, then how many rows match, then the smaller table."""
    return one.clear, one.match.share, -one.size
