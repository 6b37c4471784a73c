"""The check of several tables: each as one is checked, and beside it whose rows are nobody's, which
keys repeat, and what refers to no row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from adomnia.curator.data.editions import Edition, EditionDraft, Editions
from adomnia.curator.policy_lines import located
from adomnia.curator.table_backend import check_columns
from adomnia.engines.exact import changes, owned_rows
from adomnia.engines.source_facts import InspectedUnits, SourceChanges
from adomnia.errors import CheckError, MachineryError, PolicyError
from adomnia.policy.policy import Policy
from adomnia.policy.tables_section import DeclaredTables
from adomnia.queries.derived_table import derived_table
from adomnia.queries.rows import OWNER, Scan
from adomnia.review.check.examination import check_source
from adomnia.review.check.remarks import remarks
from adomnia.review.check.source_check import ExceededLimit, SourceCheck
from adomnia.review.check.table_links import TableLinks, count_links
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["TablesCheck", "check_tables"]

ALL = 10**9
"""No unit has more rows than a policy may allow it."""


@dataclass(frozen=True)
class TablesCheck:
    """Several tables beside their policy, each as one is checked; `version` tells which state of
    their sources it was. All of it is exact and for the curator alone.

    >>> TablesCheck({}).exceeded
    ()
    """

    tables: Mapping[str, SourceCheck]
    version: str | None = None

    @property
    def exceeded(self) -> tuple[ExceededLimit, ...]:
        """The limits of the policy that are exceeded, table by table; each names its table."""
        return tuple(
            replace(one, about=f"{name}.{one.about}")
            for name, found in self.tables.items()
            for one in found.exceeded
        )

    def enforce(self) -> None:
        """Raise a CheckError where a table exceeds a limit of the policy."""
        if self.exceeded:
            named = dict.fromkeys(f"{one.limit} ({one.about})" for one in self.exceeded)
            raise CheckError(
                "the sources exceed limits of [check]: " + ", ".join(named),
                "adomnia check says how far; correct the sources or the policy, and check again",
            )

    def to_json(self) -> dict[str, Any]:
        """The check as plain JSON values."""
        return {
            "exceeded": [vars(one) for one in self.exceeded],
            "tables": {
                name: {**one.to_json(), "remarks": [vars(said) for said in remarks(one)]}
                for name, one in self.tables.items()
            },
        }


def check_tables(policy: Policy) -> TablesCheck:
    """What the sources of several tables are like now; nothing is loaded or spent.

    An edition is written and not put in force: it knows whose rows they are. Returns exact numbers,
    for the curator alone. Raises a PolicyError where a source cannot be read or lacks a column that
    the policy names or has one table alone, and a MachineryError where one changes meanwhile.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     try:
    ...         check_tables(database.policy)
    ...     except PolicyError as error:
    ...         print(error.message)
    the policy has one table, and no [tables.NAME]
    """
    several = policy.several
    if several is None:
        hint = "check_source checks it"
        raise PolicyError("the policy has one table, and no [tables.NAME]", hint, str(policy.file))
    editions = Editions(policy)
    current = editions.known()
    with located(policy, ("tables",)), editions.alone() as writer:
        draft = editions.write(writer, several.tables, partial(check_columns, policy))
        version = writer.source_version()
        links = count_links(policy, several)
        owned = _owned(policy, several, draft, current)
        found = {name: _checked(policy, name, links[name], owned[name]) for name in links}
        if writer.source_version() != version:
            raise MachineryError("a source changed while it was checked", "check it again")
    return TablesCheck(found, version)


@dataclass(frozen=True)
class _Owned:
    """What an edition that was written knows of the rows of a table: how many are nobody's; and
    where it can be asked, how many each unit has, and what has changed since which edition."""

    nobody: int
    units: InspectedUnits | None = None
    changed: SourceChanges | None = None
    edition: int | None = None


def _owned(
    policy: Policy, several: DeclaredTables, draft: EditionDraft, current: Edition | None
) -> dict[str, _Owned]:
    found, tables = (
        {name: _Owned(many) for name, (_, many) in draft.rows.items()},
        _unbounded(several),
    )
    engine = draft.engine(tables)
    if engine is None:
        return found
    with ExitStack() as opened:
        now = opened.enter_context(closing(engine))
        before = None
        if current is not None:
            before = opened.enter_context(closing(Editions(policy).open(current, tables)))
        for name, one in found.items():
            rows = _rows(policy, tables, name)
            found[name] = replace(one, units=_units(several, name, rows, now))
            if before is not None and current is not None:
                changed = _changes(name, rows, now, before)
                found[name] = replace(found[name], changed=changed, edition=current.number)
    return found


def _unbounded(several: DeclaredTables) -> Tables:
    """The same tables, of which all rows of a unit are read."""
    tables = several.tables.tables.items()
    return Tables({name: replace(t, max_rows=ALL) for name, t in tables}, several.tables.units)


def _rows(policy: Policy, tables: Tables, name: str) -> Table:
    """The rows of a table as a question has them; its columns are called after the table."""
    bounds = policy.neighbors
    shared = Table("", {}, OWNER, max_groups=bounds.groups, max_rows_per_group=bounds.each)
    return derived_table(Scan(name, name), tables, shared)


def _units(several: DeclaredTables, name: str, rows: Table, now: Any) -> InspectedUnits | None:
    """How many rows each unit has and what bounds cut; None where rows are of two units. What is
    found for each question cuts nothing here."""
    if len(several.tables.owners(name)) > 1:
        return None
    table = several.tables.tables[name]
    found = owned_rows(now, rows, table.max_rows)
    if name in several.tables.units and not any(size > 1 for size in found.sizes):
        return InspectedUnits({}, 0, ())  # each is a row, which is no news
    cuts = [
        replace(cut, key=cut.key and _plain(cut.key, name),
                sums={_plain(column, name): sums for column, sums in cut.sums.items()})
        for cut in found.cuts
        if not (table.auto and cut.bound == "max_rows")
    ]  # fmt: skip
    return replace(found, cuts=cuts)


def _changes(name: str, rows: Table, now: Any, before: Any) -> SourceChanges:
    found = changes(now, rows, before)
    moved = [replace(one, name=_plain(one.name, name)) for one in found.columns]
    return replace(found, columns=moved)


def _plain(column: str, table: str) -> str:
    return column.removeprefix(f"{table}.")


def _checked(policy: Policy, name: str, links: TableLinks, owned: _Owned) -> SourceCheck:
    several = policy.several
    assert several is not None
    with located(policy, ("tables", name, "source")):
        found = check_source(_alone(policy, several, name, owned.units is None))
    units = owned.units or found.inspection.units or InspectedUnits({}, 0, ())
    look = replace(found.inspection, units=replace(units, nobody=owned.nobody))
    whose = ", ".join(several.tables.tables[name].references) or str(links.key)
    told = replace(found, policy=replace(found.policy, unit=whose), inspection=look)
    return replace(told, links=links, changes=owned.changed, edition=owned.edition)


def _alone(policy: Policy, several: DeclaredTables, name: str, counted: bool) -> Policy:
    """The policy of one of the tables as if there were no other. Where units are to be counted
    there, its unit is the column that refers to one, if one does so itself."""
    table, place = several.tables.tables[name], several.sources[name]
    direct = [c for c, other in table.references.items() if other in several.tables.units]
    single = counted and len(several.tables.owners(name)) == len(direct) == 1
    unit = direct[0] if single else None
    bounds = replace(policy.neighbors, rows=None if unit is None else table.max_rows)
    said = {c: policy.origins.get(f"{name}.{c}") for c in table.attributes}
    origins = {column: origin for column, origin in said.items() if origin is not None}
    return replace(
        policy, several=None, source=place.source, table=name, relation=place.relation, unit=unit,
        attributes=table.attributes, neighbors=bounds, in_place=True, public={}, origins=origins,
    )  # fmt: skip
