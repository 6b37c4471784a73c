"""Drafts: a first policy for a source, for a curator to read, correct and confirm.

Domains are public, and a draft takes them from the data; so everything it took is marked, and
nothing can be asked before a person has set `confirmed = true`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from adomnia.curator.source_tables import (
    check_columns_alike,
    descriptions_of,
    line_counts,
    tables_of,
)
from adomnia.curator.sources import engine_of
from adomnia.engines.exact import survey, unit_rows
from adomnia.errors import PolicyError, QuestionError
from adomnia.privacy.loss import Amount, exact
from adomnia.review.check.line_remarks import line_remarks
from adomnia.review.draft_columns import TAKEN, DraftColumn, draft_column, toml_text
from adomnia.review.identifiers import RowsPerUnit, unit_rows_of
from adomnia.storage.file_address import file_name, is_file_address

__all__ = ["Draft", "DraftColumn", "RowsPerUnit", "Wish", "confirmed", "draft_policy"]

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
    """What is wrong with the lines of text files."""

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
    _found(lambda: check_columns_alike(path, table), path)
    found, units = _survey(path, table, wish)
    said = descriptions_of(path)
    columns = tuple(
        replace(_column(name, facts, wish, units), description=said.get(name, ""))
        for name, facts in found.items()
    )
    lines = [*_head(_place(path, Path(out)), table, wish, units), *_body(columns)]
    remarks = tuple(text for _, text, _ in line_remarks(line_counts(path)))
    counted = tuple(sorted(units.values(), key=lambda unit: not unit.person))
    return Draft("\n".join(lines) + "\n", table, columns, counted, remarks)


def _only_table(path: str) -> str:
    """The table of a source that has but one; a file is a table by its own name."""
    tables = _found(lambda: tables_of(path), path)
    if tables is None:
        name = file_name(path) if is_file_address(path) else Path(path).name
        return re.sub(r"\W+", "_", name.split(".")[0]) or "data"
    if len(tables) == 1:
        return next(iter(tables))
    listed = ", ".join(
        f"{name} ({columns} column{'s' if columns != 1 else ''})"
        for name, columns in tables.items()
    )
    if not tables:
        raise PolicyError("there is no table that could be read", "name it with --table")
    raise PolicyError("the source has several tables", f"name one with --table: {listed}")


def _place(source: str, out: Path) -> str:
    """Where the source is, seen from the policy; an absolute path elsewhere stays one."""
    if "://" in source:
        return source
    here = out.absolute().parent
    inside = Path(source).absolute().is_relative_to(here)
    if Path(source).is_absolute() and not inside:
        return source
    return os.path.relpath(Path(source).absolute(), here)


def confirmed(text: str) -> str:
    """The policy's text with `confirmed = true`; only a person who read it should want this.

    >>> confirmed("[privacy]\\nconfirmed = false").splitlines()
    ['[privacy]', 'confirmed = true']
    """
    return re.sub(_OPEN, "confirmed = true", text, count=1)


T = TypeVar("T")


def _found(work: Callable[[], T], path: str) -> T:
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
) -> tuple[Mapping[str, Mapping[str, Any]], dict[str, RowsPerUnit]]:
    """What the columns hold, and how many rows the identifiers among them have each."""
    engine = _found(lambda: engine_of(path, table, {}), path)
    try:
        found = survey(engine)
        if wish.unit is not None and wish.unit not in found:
            raise QuestionError(f"the data has no column {wish.unit!r}",
                                "its columns are: " + ", ".join(list(found)[:30]))  # fmt: skip
        units = unit_rows_of(found, lambda name: unit_rows(engine, name))
        if wish.unit is not None and wish.unit not in units:
            units[wish.unit] = RowsPerUnit(wish.unit, unit_rows(engine, wish.unit))
        return found, units
    finally:
        engine.close()


# The text

_SERVER = (
    "# Questions are asked of a copy of the rows, coded by this policy, which adomnia load writes",
    "# beside the source, for its role alone (docs/sources.md says where, and with which rights).",
    "# in_place = true    # no copy: each question reads the source as it is, and promises less",
)
"""What a curator of a source at an address must decide."""


def _head(place: str, table: str, wish: Wish, units: Mapping[str, RowsPerUnit]) -> list[str]:
    return [
        "# A first draft. Domains are public: whoever may ask can see them. Read each one, change",
        "# what must not be known or is too narrow, and then set confirmed = true below.",
        "",
        "[data]",
        f"source = {toml_text(place)}",
        f"table = {toml_text(table)}",
        *(_SERVER if "://" in place and not is_file_address(place) else ()),
        "",
        "[privacy]",
        'neighbors = "unbounded"    # what is hidden: whether one row is there',
        *_protected(wish, units),
        f"epsilon = {_amount(wish.epsilon)}    # for everything, for ever",
        "# delta = 1e-9    # allows groups whose names are not declared (private selection)",
        "confirmed = false    # nothing is answered until this is true",
    ]


def _protected(wish: Wish, units: Mapping[str, RowsPerUnit]) -> list[str]:
    """Who is protected: as wished, or the person who is named in several rows."""
    several = [unit for unit in units.values() if unit.most > 1 and unit.name != wish.unit]
    people = sorted((unit for unit in several if unit.person), key=lambda unit: -unit.values)
    if any(unit.row_is_person for unit in units.values()):
        people = []
    chosen = units[wish.unit] if wish.unit is not None else next(iter(people), None)
    lines = []
    if chosen is not None:
        taken = "" if chosen.name == wish.unit else f"; {TAKEN[2:]}"
        taken_rows = "" if wish.max_rows else f"; {TAKEN[2:]}"
        lines += [
            f"unit = {toml_text(chosen.name)}    # what is hidden: all rows of one of these{taken}",
            f"max_rows = {wish.max_rows or chosen.max_rows}"
            f"    # rows of one unit that are used at most{taken_rows}",
        ]
    others = [u for u in several if u is not chosen and u.rows < MANY_ROWS * u.values]
    if others and wish.unit is None:
        lines.append("# These have several rows each. To hide all rows of one together, say:")
        lines += [f"# unit = {toml_text(u.name)}, max_rows = {u.max_rows}" for u in others]
    return lines


def _body(columns: Iterable[DraftColumn]) -> list[str]:
    lines = []
    for column in columns:
        if column.lines:
            notes = [f"# {note}" for note in column.notes]
            said = [f"description = {toml_text(column.description)}"] if column.description else []
            lines += ["", f"[attributes.{_key(column.name)}]", *notes, *said, *column.lines]
        else:
            lines += ["", f"# {_key(column.name)}: {column.why}"]
    return lines


def _column(
    name: str, facts: Mapping[str, Any], wish: Wish, units: Mapping[str, RowsPerUnit]
) -> DraftColumn:
    if name == wish.unit:
        return DraftColumn(name, why="the unit")
    if name in units:
        why = "likely names a person or a thing; undeclared"
        return DraftColumn(name, why=why, identifier=True)
    return draft_column(name, facts, wish.rare)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def _amount(epsilon: Amount) -> str:
    """The epsilon as TOML: a number where it is one, else the text of a fraction."""
    text = str(epsilon).strip()
    return text if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else toml_text(text)
