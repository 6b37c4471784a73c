"""What real clients send when they connect, look around and complete names is answered.

The statements were logged by PostgreSQL 15 while clients were driven against it; those of
programs with a window are written after what these are known to send.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hamlet import STATEMENTS, sent

from adomnia.server.postgres.catalogue import Catalogue, CatalogueError, Result

FILES = sorted(STATEMENTS.glob("*.sql"))

TOLD = {24: 25, 2202: 25, 2204: 25, 2205: 25, 2206: 25, 194: 25, 2277: 25, 1034: 1009}
"""Names of objects travel as text here; what is always NULL does so too."""

KNOWN = {"key_seq", "parentcolumn", "unnest"}
"""Columns that come from a function in the place of a table: their type is DuckDB's."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_answered_as_postgresql_does(file: Path, catalogue: Catalogue) -> None:
    statements = list(sent(file))
    assert len(statements) >= 7
    for statement in statements:
        assert catalogue.answers(statement.sql), statement.sql
        if statement.columns is None:  # PostgreSQL refused it as well
            with pytest.raises(CatalogueError):
                catalogue.run(statement.sql, statement.parameters)
            continue
        types = catalogue.parameters(statement.sql, [])
        assert len(types) == len(statement.parameters)
        result = catalogue.run(statement.sql, statement.parameters)
        assert catalogue.describe(statement.sql, types) == result.columns
        assert all(len(row) == len(result.columns) for row in result.rows)
        assert differences(statement.columns, result) <= KNOWN, statement.sql


def differences(columns: list[tuple[str, int]], result: Result) -> set[str]:
    """The columns whose name or type is not what PostgreSQL gave."""
    found = [(column.name, column.oid) for column in result.columns]
    expected = [(name, TOLD.get(oid, oid)) for name, oid in columns]
    return {theirs[0] for mine, theirs in zip(found, expected, strict=True) if mine != theirs}
