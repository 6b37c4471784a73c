"""PostgreSQL's functions on its catalogue, which are macros of DuckDB here: by name."""

from __future__ import annotations

import re

from adomnia.wire.catalogue.tables import read_text

__all__ = ["BASE_FUNCTIONS", "EMULATED", "FUNCTIONS", "TABLE_MACROS"]

BASE_FUNCTIONS, FUNCTIONS = read_text("base_functions.sql"), read_text("functions.sql")
_MACRO = re.compile(r"^CREATE MACRO fn\.(\w+)\([^()]*\) AS(\s+TABLE\b)?", re.MULTILINE)
_MADE = _MACRO.findall(BASE_FUNCTIONS + FUNCTIONS)

TABLE_MACROS = frozenset(name for name, is_table in _MADE if is_table)
"""Functions in the place of a table: all of them are empty here."""

EMULATED = frozenset(name for name, _ in _MADE if not name.endswith("_outs")) - TABLE_MACROS
"""The functions that a client may call; those of lists of names are ours alone."""
