"""What real clients send when they connect, look around and complete names is answered.

The statements were logged by PostgreSQL 15 while clients were driven against it; those of
programs with a window are written after what these are known to send.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from declared import STATEMENTS, sent, statement

from adomnia.wire.catalogue import Catalogue, CatalogueError, CatalogueResult

FILES = sorted(STATEMENTS.glob("*.sql"))

TOLD = {24: 25, 2202: 25, 2204: 25, 2205: 25, 2206: 25, 194: 25, 2277: 25, 1034: 1009}
"""Names of objects travel as text here; what is always NULL does so too."""

KNOWN = {"key_seq", "parentcolumn", "unnest"}
"""Columns that come from a function in the place of a table: their type is DuckDB's."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_answered_as_postgresql_does(file: Path, catalogue: Catalogue) -> None:
    statements = list(sent(file))
    assert len(statements) >= 7
    for sending in statements:
        assert catalogue.answers(statement(sending.sql)), sending.sql
        if sending.columns is None:  # PostgreSQL refused it as well
            with pytest.raises(CatalogueError):
                catalogue.run(sending.sql, sending.parameters)
            continue
        types = catalogue.parameters(sending.sql, [])
        assert len(types) == len(sending.parameters)
        result = catalogue.run(sending.sql, sending.parameters)
        assert catalogue.describe(sending.sql, types) == result.columns
        assert all(len(row) == len(result.columns) for row in result.rows)
        assert differences(sending.columns, result) <= KNOWN, sending.sql


def differences(columns: list[tuple[str, int]], result: CatalogueResult) -> set[str]:
    """The columns whose name or type is not what PostgreSQL gave."""
    found = [(column.name, column.oid) for column in result.columns]
    expected = [(name, TOLD.get(oid, oid)) for name, oid in columns]
    return {theirs[0] for mine, theirs in zip(found, expected, strict=True) if mine != theirs}
