"""Drafts: a first policy for a source, for a curator to read, correct and confirm.

Domains are public, and a draft takes them from the data; so everything it took is marked, and
nothing can be asked before a person has set `confirmed = true`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from adomnia.curator.data.source_tables import (
    check_columns_alike,
    descriptions_of,
    line_counts,
    table_name_of,
    tables_of,
)
from adomnia.curator.data.sources import engine_of
from adomnia.engines.exact import linked_tables, survey, unit_rows
from adomnia.engines.key_facts import MatchedRows
from adomnia.errors import MachineryError, PolicyError, QuestionError
from adomnia.privacy.loss import Amount, exact
from adomnia.review.check.line_remarks import is_titled, line_remarks
from adomnia.review.drafts.draft_columns import TAKEN, DraftColumn, draft_column, toml_text
from adomnia.review.drafts.identifiers import RowsPerUnit, called_as_people, unit_rows_of
from adomnia.review.drafts.policy_lines import (
    HEAD,
    SERVER,
    attribute_lines,
    source_place,
    toml_amount,
)
from adomnia.review.drafts.self_references import self_references
from adomnia.storage.file_address import is_file_address

__all__ = ["Draft", "DraftColumn", "RowsPerUnit", "Wish", "confirmed", "draft_policy",
           "found_source"]  # fmt: skip

_OPEN = "(?i)confirmed = false"
MANY_ROWS = 100
"""What has so many rows a value, on average, is proposed as a unit only where it names people."""


@dataclass(frozen=True)
class Wish:
    """What the curator already knows: the table's name, the budget, and who is protected.

    With `rare`, lists of values have those that fewer than ten rows have, too.

    >>> Wish(unit="person_id", max_rows=5).epsilon
    '1.0'
    """

    table: str | None = None
    epsilon: Amount = "1.0"
    unit: str | None = None
    max_rows: int | None = None
    rare: bool = False


@dataclass(frozen=True)
class Draft:
    """A policy's text and what a person should be told about it.

    >>> columns = (DraftColumn("age", taken=True), DraftColumn("name", why="undeclared"))
    >>> Draft("", "people", columns).confirm
    ('age',)
    """

    text: str
    table: str
    columns: tuple[DraftColumn, ...]
    counted: tuple[RowsPerUnit, ...] = ()
    """The columns that look as if they named a person, and how many rows each value has."""

    remarks: tuple[str, ...] = ()
    """What is wrong with the lines of text files and sheets."""

    titled: bool = False
    """Whether the first line seems to be a title: then the columns are none."""

    @property
    def confirm(self) -> tuple[str, ...]:
        """The attributes whose domains were taken from the data."""
        return tuple(column.name for column in self.columns if column.taken)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The columns that got no domain."""
        return tuple(column.name for column in self.columns if not column.lines)

    @property
    def units(self) -> tuple[str, ...]:
        """The columns that look as if they named a person who has several rows."""
        return tuple(unit.name for unit in self.counted if unit.most > 1)


def draft_policy(
    source: str | Path, out: str | Path = "adomnia.toml", wish: Wish | None = None
) -> Draft:
    """A first policy for a source, to be written to `out`; nothing is written here.

    The source is a path or an address, and the `wish` what is already known. Returns the text, and
    what of it was taken from the data: a person must confirm that. Raises a PolicyError where the
    source cannot be read or names no table, and a QuestionError where it has no column of the unit.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = pathlib.Path(folder, "people.csv")
    ...     size = source.write_text("age,sex\\n30,F\\n41,M\\n")
    ...     draft = draft_policy(source, pathlib.Path(folder, "adomnia.toml"))
    >>> draft.table, draft.confirm
    ('people', ('age',))
    """
    wish, path = wish or Wish(), str(source)
    exact(wish.epsilon)
    table = wish.table or _only_table(path)
    found_source(lambda: check_columns_alike(path, table))
    found, units, told = _survey(path, table, wish)
    said = descriptions_of(path)
    columns = tuple(
        replace(_column(name, facts, wish, units, told), description=said.get(name, ""))
        for name, facts in found.items()
    )
    lines = [*_head(source_place(path, Path(out)), table, wish, units), *attribute_lines(columns)]
    regular = line_counts(path, table)
    remarks = tuple(text for _, text, _ in line_remarks(regular))
    counted = tuple(sorted(units.values(), key=lambda unit: not unit.person))
    text = "\n".join(lines) + "\n"
    return Draft(text, table, columns, counted, remarks, is_titled(regular))


def _only_table(path: str) -> str:
    """The table of a source that has but one; a file is a table by its own name."""
    tables = found_source(lambda: tables_of(path))
    if tables is None:
        return table_name_of(path)
    if len(tables) == 1:
        return next(iter(tables))
    listed = ", ".join(
        f"{name} ({columns} column{'s' if columns != 1 else ''})"
        for name, columns in tables.items()
    )
    if not tables:
        raise PolicyError("there is no table that could be read", "name it with --table")
    raise PolicyError("the source has several tables", f"name one with --table: {listed}")


def confirmed(text: str) -> str:
    """The policy's text with `confirmed = true`; only a person who read it should want this.

    >>> confirmed("[privacy]\\nconfirmed = false").splitlines()
    ['[privacy]', 'confirmed = true']
    """
    return re.sub(_OPEN, "confirmed = true", text, count=1)


T = TypeVar("T")


def found_source(work: Callable[[], T]) -> T:
    """What `work` finds; where there is nothing, what could have been named."""
    try:
        return work()
    except PolicyError as error:
        if "check source in [data]" not in error.hint:
            raise
        hint = "name a CSV, Parquet or DuckDB file, a pattern, or a folder"
        raise PolicyError(error.message, hint) from None


def _survey(
    path: str, table: str, wish: Wish
) -> tuple[Mapping[str, Mapping[str, Any]], dict[str, RowsPerUnit], dict[str, str]]:
    """What the columns hold, how many rows the identifiers among them have each, and what is said
    of those that refer to another row."""
    engine = found_source(lambda: engine_of(path, table, {}))
    try:
        found = survey(engine)
        if wish.unit is not None and wish.unit not in found:
            raise QuestionError(f"the data has no column {wish.unit!r}",
                                "its columns are: " + ", ".join(list(found)[:30]))  # fmt: skip
        units = unit_rows_of(found, lambda name: unit_rows(engine, name))
        if wish.unit is not None and wish.unit not in units:
            units[wish.unit] = RowsPerUnit(wish.unit, unit_rows(engine, wish.unit))
        told = self_references(found, units, partial(_matches, engine, path))
        return found, units, told
    finally:
        engine.close()


def _matches(
    engine: Any, path: str, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], MatchedRows]:
    """How many values of a column are in another one of the same table, by pairs of them."""
    try:
        links = linked_tables(engine, path)
    except MachineryError:  # this engine holds no columns against each other
        return {}
    with closing(links):
        links.add("rows", engine, list(dict.fromkeys(name for pair in pairs for name in pair)))
        return {(one, key): links.match("rows", one, "rows", key) for one, key in pairs}


# The text

_IN_PLACE = (
    "# in_place = true    # no copy: each question reads the source as it is, and promises less"
)


def _head(place: str, table: str, wish: Wish, units: Mapping[str, RowsPerUnit]) -> list[str]:
    return [
        *HEAD,
        "",
        "[data]",
        f"source = {toml_text(place)}",
        f"table = {toml_text(table)}",
        *((*SERVER, _IN_PLACE) if "://" in place and not is_file_address(place) else ()),
        "",
        "[privacy]",
        'neighbors = "unbounded"    # what is hidden: whether one row is there',
        *_protected(wish, units),
        f"epsilon = {toml_amount(wish.epsilon)}    # for everything, for ever",
        "# delta = 1e-9    # allows groups whose names are not declared (private selection)",
        "confirmed = false    # nothing is answered until this is true",
    ]


def _chosen(wish: Wish, units: Mapping[str, RowsPerUnit]) -> RowsPerUnit | None:
    """Who is protected: as wished, or the person who is named in several rows.

    Where each row is a person there is none, and names are none where rows have numbers.
    """
    if wish.unit is not None:
        return units[wish.unit]
    if any(unit.row_is_person for unit in units.values()):
        return None
    numbered = any(unit.is_number_of_rows for unit in units.values())
    people = [u for u in units.values() if u.may_be_unit and not (numbered and u.is_name)]
    return max(people, key=lambda unit: unit.values, default=None)


def _protected(wish: Wish, units: Mapping[str, RowsPerUnit]) -> list[str]:
    """The lines of who is protected, and of who else could be."""
    chosen = _chosen(wish, units)
    several = [unit for unit in units.values() if unit.most > 1]
    lines = []
    if chosen is not None:
        taken = "" if chosen.name == wish.unit else f"; {TAKEN[2:]}"
        taken_rows = "" if wish.max_rows else f"; {TAKEN[2:]}"
        lines += [
            f"unit = {toml_text(chosen.name)}    # what is hidden: all rows of one of these{taken}",
            f"max_rows = {wish.max_rows or chosen.max_rows}"
            f"    # rows of one unit that are used at most{taken_rows}",
        ]
        left = chosen.cut_text(wish.max_rows or chosen.max_rows)
        lines += [f"# {left[2:]}"] if left else []
    others = [u for u in several if u is not chosen and u.rows < MANY_ROWS * u.values]
    if others and wish.unit is None:
        lines.append("# These have several rows each. To hide all rows of one together, say:")
        lines += [f"# unit = {toml_text(u.name)}, max_rows = {u.max_rows}" for u in others]
    return lines


def _column(
    name: str,
    facts: Mapping[str, Any],
    wish: Wish,
    units: Mapping[str, RowsPerUnit],
    told: Mapping[str, str],
) -> DraftColumn:
    if name == wish.unit:
        return DraftColumn(name, why="the unit")
    if name in units:
        why = "likely names a person or a thing; undeclared"
        return DraftColumn(name, why=why, identifier=True)
    if name in told:
        return DraftColumn(name, why=told[name], identifier=True)
    made = draft_column(name, facts, wish.rare)
    if not called_as_people(name, facts) or _chosen(wish, units) is not None:
        return made
    note = f"Called as people are: if each is one, say unit = {toml_text(name)}"
    return replace(made, notes=(*made.notes, note))
