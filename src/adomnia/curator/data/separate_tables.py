"""The tables of a source that has several, before there is a policy: where each is, and which keys
the source declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adomnia.curator.data.source_tables import tables_of
from adomnia.engines.key_facts import DeclaredKeys
from adomnia.errors import PolicyError
from adomnia.storage.file_address import is_file_address

__all__ = ["DeclaredKeys", "PlacedTable", "SeparateTables", "separate_tables"]

EDITIONS = "adomnia_editions."
"""Where a server keeps what was loaded: those are no tables of anybody's."""


@dataclass(frozen=True)
class PlacedTable:
    """One of several tables: its name in SQL, where it is, and its name there."""

    name: str
    source: str = field(repr=False)  # an address may hold a password
    relation: str
    beside: bool = False
    """Whether it may be a codebook or notes that lie beside the tables."""


@dataclass(frozen=True)
class SeparateTables:
    """Several tables, the keys that are declared for them, and views, which are left out."""

    tables: tuple[PlacedTable, ...]
    keys: DeclaredKeys
    views: tuple[str, ...] = ()


def separate_tables(place: str) -> SeparateTables | None:
    """The tables of a folder, a database or a workbook; None where it is not several.

    Views are computed from tables, and taken only where there is no other.
    """
    if is_file_address(place):
        return None
    if "://" not in place:
        files = _of_files(place)
        if files:
            return SeparateTables(files, DeclaredKeys())
    names = [name for name in tables_of(place) or () if not name.startswith(EDITIONS)]
    if len(names) < 2:
        return None
    views, keys = _catalogue(place)
    stored = [name for name in names if name not in views]
    kept = stored or names
    found = (PlacedTable(short, place, name) for name, short in _short(kept).items())
    left = tuple(name for name in names if name not in kept)
    return SeparateTables(tuple(found), keys, left) if len(kept) > 1 else None


def _of_files(place: str) -> tuple[PlacedTable, ...]:
    """The tables of files that lie side by side; each sheet of a workbook is one."""
    from adomnia.engines.duckdb.folder_tables import folder_tables  # noqa: PLC0415 (slow)
    from adomnia.engines.source_files import lies_beside  # noqa: PLC0415 (slow)

    made: list[PlacedTable] = []
    for name, source in (folder_tables(place) or {}).items():
        beside = not Path(source).is_dir() and lies_beside(source)
        sheets = _sheets(source) if beside else ()
        shorts = _short([*(one.name for one in made), *sheets])
        made += [PlacedTable(shorts[sheet], source, sheet, True) for sheet in sheets]
        if not sheets:
            made.append(PlacedTable(name, source, name, beside))
    return tuple(made)


def _sheets(source: str) -> tuple[str, ...]:
    """The sheets of a workbook that has several; what cannot be read is told when it is drafted."""
    try:
        return tuple(tables_of(source) or ())
    except PolicyError:
        return ()


def _catalogue(place: str) -> tuple[frozenset[str], DeclaredKeys]:
    if "://" in place:
        from adomnia.engines.postgres import tables  # noqa: PLC0415 (where it is named)

        return tables.views(place), tables.declared_keys(place)
    from adomnia.engines.duckdb import source_tables  # noqa: PLC0415 (slow to import)

    return source_tables.views(place), source_tables.declared_keys(place)


def _short(names: Iterable[str]) -> Mapping[str, str]:
    """Names for SQL: without a schema where no other table is called so, and each but once."""
    listed = [*names]
    last = [_plain(name.rpartition(".")[2]).lower() for name in listed]
    made: dict[str, str] = {}
    for name, end in zip(listed, last, strict=True):
        short = _plain(name.rpartition(".")[2] if last.count(end) == 1 else name)
        while short.lower() in {taken.lower() for taken in made.values()}:
            short += "_"
        made[name] = short
    return made


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "data"
