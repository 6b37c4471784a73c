"""Which table's rows may be units, which tables lead to it, and which may be public."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adomnia.review.column_words import INDIVIDUALS, PEOPLE, PERSONAL, column_words
from adomnia.review.tables_draft.link_names import singulars
from adomnia.review.tables_draft.references import TableReference
from adomnia.review.tables_draft.surveyed_tables import (
    KeyCandidate,
    SurveyedSource,
    SurveyedTable,
)

__all__ = ["leading_to", "may_be_public", "ranked_units"]

SMALL = 1000
"""A table with more rows is not proposed as a public one."""


def leading_to(unit: str, edges: Iterable[TableReference]) -> set[str]:
    """The tables from which references lead to the unit, with it."""
    listed, found = [*edges], {unit}
    while more := {e.table for e in listed if e.other in found} - found:
        found |= more
    return found


def ranked_units(
    source: SurveyedSource, keys: Mapping[str, KeyCandidate], edges: list[TableReference]
) -> list[str]:
    """The tables whose rows may be units, the best first: people, of whom there are most."""

    def worth(name: str) -> tuple[int, int, int]:
        table, below = source.tables[name], len(leading_to(name, edges))
        person = _person(table, keys.get(name))
        return person, table.rows if person else below, table.rows

    ends = {one.other for one in edges}
    listed = [name for name in keys if name in ends or _person(source.tables[name], None) > 1]
    return sorted(listed, key=worth, reverse=True)


def _person(table: SurveyedTable, key: KeyCandidate | None) -> int:
    """How clearly the rows of a table are people: by its name, or by that of its key."""
    words = column_words(table.name)
    ends = singulars(words[-1]) if words else frozenset()
    if ends & INDIVIDUALS:
        return 3
    if ends & PEOPLE:
        return 2
    return int(key is not None and bool(PEOPLE & {*column_words(key.column)}))


def may_be_public(table: SurveyedTable, edges: Iterable[TableReference]) -> bool:
    """Whether a table is small, referred to, and tells of nobody by what its columns are called."""
    words = {word for name in table.facts for word in column_words(name)}
    return (
        0 < table.rows <= SMALL
        and not _person(table, None)
        and not words & (PEOPLE | PERSONAL)
        and any(one.other == table.name for one in edges)
    )
