"""The sections `[tables.NAME]` of a policy: several private tables, and which is the unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adomnia.limits import MAX_ROW_UNITS, MOST_ROWS
from adomnia.policy.domains import attributes_of
from adomnia.policy.sections import PrivacySection, TableSection, ViewSection
from adomnia.policy.toml_reader import Reader, closest
from adomnia.schema.tables import PrivateTable, Tables

__all__ = ["DeclaredTables", "TableSource", "declared_tables"]


@dataclass(frozen=True)
class TableSource:
    """Where one of several private tables is, and its name there."""

    source: str = field(repr=False)  # an address may hold a password
    relation: str


@dataclass(frozen=True)
class DeclaredTables:
    """Several private tables: what they are, where they are, and views over them."""

    tables: Tables
    sources: Mapping[str, TableSource]
    views: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    """What views are, in the curator's words."""

    @property
    def names(self) -> tuple[str, ...]:
        """What statements may call them: tables, then views."""
        return (*self.tables.tables, *self.views)


def declared_tables(reader: Reader, privacy: PrivacySection) -> DeclaredTables | None:
    """What the policy says of several tables; None where it has one, in `[data]`."""
    if "tables" not in reader.tree:
        if "views" in reader.tree:
            reader.fail("views are over [tables.NAME]", "leave out [views]", ("views",))
        return None
    for section in ("attributes", "prior", "graph", "impossible"):
        if section in reader.tree:
            hint = "with [tables.NAME] each table has its source and its attributes there"
            reader.fail(f"[{section}] does not go with [tables]", hint, (section,))
    _check_data(reader)
    return _TableSections(reader, privacy, reader.sections(TableSection, "tables")).read()


@dataclass(frozen=True)
class _TableSections:
    """The sections as they are written."""

    reader: Reader
    privacy: PrivacySection
    parts: Mapping[str, TableSection]

    def read(self) -> DeclaredTables:
        """The tables, each checked by itself and together."""
        units, bounds = self._units(), self._bounds()
        made = {name: self._table(name, part, bounds) for name, part in self.parts.items()}
        self._check_cycles(made)
        tables = Tables(made, units)
        for name in made:
            self._check_owners(tables, name)
        sources = {
            name: TableSource(part.source, part.table or name) for name, part in self.parts.items()
        }
        views = self.reader.sections(ViewSection, "views")
        for name in views:
            if name.lower() in map(str.lower, made):  # as statements look them up
                self.reader.fail(f"{name!r} is a table already", "", ("views", name))
        texts = {name: part.sql for name, part in views.items()}
        said = {name: part.description for name, part in views.items() if part.description}
        return DeclaredTables(tables, sources, texts, said)

    def _units(self) -> tuple[str, ...]:
        written, path = self.privacy.unit, ("privacy", "unit")
        listed = [written] if isinstance(written, str) else written
        hint = 'the table whose rows are protected with all that refers to them: unit = "patients"'
        if not isinstance(listed, list) or not listed or len(listed) > MAX_ROW_UNITS:
            self.reader.fail("unit must name one table or two", hint, path)
        for name in listed:
            if name not in self.parts:
                known = closest(str(name), self.parts)
                self.reader.fail(f"unit names {name!r}, which is no table", known, path)
            if self.parts[name].key is None:
                hint = f'the column that names its rows: key = "id" in [tables.{name}]'
                self.reader.fail(f"the unit {name!r} needs a key", hint, ("tables", name, "source"))
        return tuple(dict.fromkeys(listed))

    def _bounds(self) -> Mapping[str, Any]:
        """`max_rows` by table; one number is for all but the units."""
        written, path = self.privacy.max_rows, ("privacy", "max_rows")
        bounds = written if isinstance(written, dict) else {}
        if not isinstance(written, dict) and written is not None:
            bounds = {
                name: written for name in self.parts if name not in _listed(self.privacy.unit)
            }
        for name, most in bounds.items():
            if name not in self.parts:
                known = closest(name, self.parts)
                self.reader.fail(f"max_rows names {name!r}, which is no table", known, path)
            whole = isinstance(most, int) and not isinstance(most, bool) and 1 <= most <= 10**9
            if most != "auto" and not whole:
                hint = f'for example max_rows = {{ {name} = 50 }}, or "auto"'
                self.reader.fail("max_rows must be a whole number of at least 1", hint, path)
        return bounds

    def _table(self, name: str, part: TableSection, bounds: Mapping[str, Any]) -> PrivateTable:
        most, path = bounds.get(name), ("tables", name)
        if most is None and name not in _listed(self.privacy.unit):
            hint = f'how many rows of one unit are used: max_rows = {{ {name} = 50 }}, or "auto"'
            self.reader.fail(f"max_rows must say a bound for {name!r}", hint, path)
        auto = most == "auto"
        return PrivateTable(
            name,
            attributes_of(self.reader, path),
            part.key,
            self._references(name, part),
            (self.privacy.most_rows or MOST_ROWS) if auto else most or 1,
            auto,
            part.description or "",
        )

    def _references(self, name: str, part: TableSection) -> dict[str, str]:
        written = {} if part.references is None else part.references
        path, hint = (
            ("tables", name, "references"),
            'for example references = { patient = "patients" }',
        )
        if not isinstance(written, dict) or not all(isinstance(v, str) for v in written.values()):
            self.reader.fail("references must say column and table", hint, path)
        for column, other in written.items():
            if other not in self.parts:
                known = closest(other, self.parts)
                self.reader.fail(f"{column!r} refers to {other!r}, which is no table", known, path)
            if self.parts[other].key is None:
                said = f"{column!r} refers to {other!r}, which has no key"
                self.reader.fail(said, f'add key = "…" to [tables.{other}]', path)
        return dict(written)

    def _check_cycles(self, made: Mapping[str, PrivateTable]) -> None:
        def visit(name: str, above: tuple[str, ...]) -> None:
            if name in above:
                around = " → ".join((*above[above.index(name) :], name))
                hint = "a row must belong to somebody by a chain that ends"
                self.reader.fail(f"tables refer to each other in a circle: {around}", hint,
                                 ("tables", name, "references"))  # fmt: skip
            for other in made[name].references.values():
                visit(other, (*above, name))

        for name in made:
            visit(name, ())

    def _check_owners(self, tables: Tables, name: str) -> None:
        ways, path = len(tables.owners(name)), ("tables", name)
        if name in tables.units and tables.tables[name].references:
            hint = "a row of a unit's table belongs to itself; leave out its references"
            self.reader.fail(f"the unit {name!r} refers to another table", hint,
                             (*path, "references"))  # fmt: skip
        said = " or ".join(repr(unit) for unit in tables.units)
        if ways == 0:
            hint = "say to whom its rows belong: references = { … }; or make it [public.NAME]"
            self.reader.fail(f"nothing leads from {name!r} to the unit {said}", hint, path)
        if ways > MAX_ROW_UNITS:
            hint = "a row may belong to two units at most; leave out a reference"
            self.reader.fail(f"{ways} ways lead from {name!r} to the unit {said}", hint, path)


def _check_data(reader: Reader) -> None:
    """Refuse in `[data]` what is said of each table, or makes no sense of several."""
    for key in reader.tree.get("data", {}):
        hint = "with [tables.NAME] each table has its source and its attributes there"
        if key == "in_place":
            hint = "leave it out: an edition holds all tables as they were at one moment"
        if key not in ("memory", "editions", "keep"):
            reader.fail(f"{key} in [data] does not go with [tables]", hint, ("data", key))


def _listed(unit: Any) -> list[Any]:
    return unit if isinstance(unit, list) else [unit]
