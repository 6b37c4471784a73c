"""A town for each test, and the truth about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from town import Town, write_people


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A town of a thousand rows."""
    write_people(tmp_path)
    made = Town(tmp_path, [])
    yield made
    for database in made.opened:
        database.close()


@pytest.fixture
def exact(town: Town) -> Callable[[str], list[tuple[object, ...]]]:
    """The true answer of a statement, by plain DuckDB."""
    import duckdb

    def answer(sql: str) -> list[tuple[object, ...]]:
        path = str(town.folder / "people.parquet")
        return duckdb.sql(sql.replace("people", f"'{path}'")).fetchall()

    return answer
