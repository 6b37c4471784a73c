"""What the catalogue cannot answer, with the SQLSTATE that PostgreSQL has for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import duckdb

from adomnia.wire.errors import WireError

__all__ = [
    "CatalogueError",
    "translated",
    "undefined_function",
    "undefined_table",
    "undefined_type",
    "unsupported",
]


@dataclass(eq=False)
class CatalogueError(WireError):
    """A statement about the catalogue that is wrong, or too much for it."""

    sqlstate: str = "0A000"


def undefined_table(name: str) -> CatalogueError:
    """There is no such relation."""
    hint = "\\d lists what there is"
    return CatalogueError(f'relation "{name[:80]}" does not exist', hint, sqlstate="42P01")


def undefined_function(name: str) -> CatalogueError:
    """There is no such function, or none that may be called here."""
    return CatalogueError(f"function {name[:80]} does not exist", sqlstate="42883")


def undefined_type(name: str) -> CatalogueError:
    """There is no such type, role or schema."""
    return CatalogueError(f'"{name[:80]}" does not exist', sqlstate="42704")


def unsupported(what: str) -> CatalogueError:
    """A part of SQL that the catalogue does not speak."""
    return CatalogueError(f"the catalogue does not support {what[:80]}")


def translated(error: duckdb.Error) -> CatalogueError:
    """What DuckDB says, in PostgreSQL's words; its own text speaks of tables nobody named."""
    missing = _MISSING.search(str(error))
    if missing is not None:
        name = (missing[1] or missing[2]).rsplit(".", 1)[-1]
        return CatalogueError(f'column "{name[:80]}" does not exist', sqlstate="42703")
    for kind, message, sqlstate in _KINDS:
        if isinstance(error, kind):
            return CatalogueError(message, sqlstate=sqlstate)
    return CatalogueError("the catalogue cannot answer this statement")


_MISSING = re.compile(r'column "?([^"\s]+)"? not found|column named "([^"]+)"', re.IGNORECASE)
_KINDS: tuple[tuple[type[duckdb.Error], str, str], ...] = (
    (duckdb.InterruptException, "the catalogue took too long over this statement", "57014"),
    (duckdb.OutOfMemoryException, "this statement is too large for the catalogue", "53200"),
    (duckdb.ConversionException, "a value is not of the type that is needed", "22P02"),
    (duckdb.OutOfRangeException, "a value is out of range", "22003"),
)
