"""Drafts of several tables: a first policy for a folder, a database or a workbook, for a curator to
read, correct and confirm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from adomnia.curator.data.separate_tables import SeparateTables, separate_tables
from adomnia.errors import PolicyError
from adomnia.limits import MAX_DRAFTED_TABLES
from adomnia.privacy.loss import exact
from adomnia.review.drafts.draft import Wish, found_source
from adomnia.review.drafts.draft_columns import DraftColumn, draft_column, toml_text
from adomnia.review.drafts.identifiers import RowsPerUnit, called_as_people
from adomnia.review.drafts.policy_lines import source_place
from adomnia.review.tables_draft.drafted_tables import DraftTable, TablesDraft
from adomnia.review.tables_draft.owner_graph import OwnerGraph, owner_graph
from adomnia.review.tables_draft.picture import picture
from adomnia.review.tables_draft.policy_text import policy_text
from adomnia.review.tables_draft.surveyed_tables import (
    SurveyedSource,
    SurveyedTable,
    surveyed,
)

__all__ = ["DraftTable", "TablesDraft", "draft_tables"]


def draft_tables(
    source: str | Path, out: str | Path = "adomnia.toml", wish: Wish | None = None
) -> TablesDraft | None:
    """A first policy for a source of several tables, to be written to `out`; nothing is written.

    The source is a folder, a pattern, a DuckDB file, a workbook or an address; the `wish` what is
    already known, with a table as its unit. Returns None where the source is one table, or where no
    table refers to another: then one is drafted by itself (`draft_policy`). Raises a PolicyError
    where it cannot be read or has too many tables, a QuestionError where it has no table of the
    unit.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder)
    ...     size = (place / "people.csv").write_text("id,sex\\n1,F\\n2,M\\n")
    ...     size = (place / "visits.csv").write_text("person_id,cost\\n1,5\\n1,7\\n")
    ...     draft = draft_tables(place, place / "adomnia.toml")
    >>> print(*draft.picture, sep="\\n")
    people (id)  2 rows, the unit
    └─← visits.person_id  2 rows
    """
    wish = wish or Wish()
    exact(wish.epsilon)
    found = found_source(lambda: separate_tables(str(source)))
    if found is None:
        return None
    if len(found.tables) > MAX_DRAFTED_TABLES:
        said = f"the source has {len(found.tables)} tables"
        hint = f"at most {MAX_DRAFTED_TABLES} are drafted together; name one with --table"
        raise PolicyError(said, hint)
    with surveyed(found) as tables:
        graph = owner_graph(tables, wish.unit)
        return None if graph is None else _drafted(found, tables, graph, (Path(out), wish))


def _drafted(
    source: SeparateTables,
    tables: SurveyedSource,
    graph: OwnerGraph,
    asked: tuple[Path, Wish],
) -> TablesDraft:
    out, wish = asked
    made = tuple(_table(tables.tables[name], graph, wish, out) for name in graph.private)
    drawn = picture(graph, {name: table.rows for name, table in tables.tables.items()})
    told = (*tables.left, *_remarks(source, tables), *_apart(tables, graph))
    lost = tuple(text for table in tables.tables.values() for text in table.remarks)
    draft = TablesDraft("", made, graph, drawn, (*lost, *told))
    places = {name: source_place(tables.tables[name].place.source, out) for name in graph.public}
    return replace(draft, text="\n".join(policy_text(draft, wish, places)) + "\n")


def _table(table: SurveyedTable, graph: OwnerGraph, wish: Wish, out: Path) -> DraftTable:
    owned = graph.owned.get(table.name)
    return DraftTable(
        table.name,
        source_place(table.place.source, out),
        table.place.relation,
        table.rows,
        tuple(_columns(table, graph, wish)),
        None if owned is None else RowsPerUnit(table.name, owned.repeats),
        graph.nobody if owned is None else owned.nobody,
        table.titled,
    )


def _columns(table: SurveyedTable, graph: OwnerGraph, wish: Wish) -> Iterator[DraftColumn]:
    """The columns with their domains; keys and what refers to them have none, but what refers to
    a table that may be public."""
    whys = _whys(table, graph)
    for name, facts in table.facts.items():
        if name in whys:
            why = whys[name]
            made = DraftColumn(name, why=why) if why else draft_column(name, facts, wish.rare)
        elif name in table.units:
            why = "likely names a person or a thing; undeclared"
            made = DraftColumn(name, why=why, identifier=True)
        else:
            made = draft_column(name, facts, wish.rare)
            if called_as_people(name, facts):
                note = "Called as people are: if each is one, these are not protected"
                made = replace(made, notes=(*made.notes, note))
        yield replace(made, description=table.descriptions.get(name, ""))


def _whys(table: SurveyedTable, graph: OwnerGraph) -> Mapping[str, str]:
    """Why columns have no domain; an empty text for those that need one."""
    found = {
        one.column: "" if one.other in graph.public else f"refers to {one.other}; undeclared"
        for one in graph.unused
        if one.table == table.name and not one.missed
    }
    found = {**table.within, **found}
    found |= {one.column: f"refers to {one.other}" for one in graph.of(table.name)}
    key = graph.keys.get(table.name)
    if key is not None and not found.get(key.column):
        found[key.column] = "the key"
    return found


def _remarks(source: SeparateTables, tables: SurveyedSource) -> Iterator[str]:
    """What a source declares that a policy cannot say, and what was not looked at."""
    for one in tables.declared.foreign:
        ends = f"{one.table} ({', '.join(one.columns)}) → {one.other} ({', '.join(one.others)})"
        if one.table == one.other:
            yield f"{ends}: a table that refers to itself is not followed"
        elif len(one.columns) > 1:
            yield (
                f"{ends}: a reference by several columns is not supported; "
                "make one column of them in a view"
            )
    if source.views:
        yield f"views are left out: {', '.join(source.views)}"


def _apart(tables: SurveyedSource, graph: OwnerGraph) -> Iterator[str]:
    """The tables that are not in the policy, and what could be done."""
    kept = [one for one in graph.unused if not one.missed]
    for name in tables.tables:
        if name in graph.private or name in graph.public:
            continue
        if any(one.other == name and one.table in graph.private for one in kept):
            yield (
                f"{name} is not in the policy: what it tells belongs to no row of {graph.unit}; "
                f"unit = [{toml_text(graph.unit)}, {toml_text(name)}] protects the rows of both"
            )
        else:
            yield f"{name} is not in the policy: nothing leads from it to {graph.unit}"
