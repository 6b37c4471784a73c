"""How many rows have each code of a column: the same of a source and of an edition of it, wherever
they are, so that the two can be compared.

Numbers, days and moments are counted in bands: two samples of the same people share few incomes to
the cent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from adomnia.engines.source_facts import CodeCounts
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.inspection.number_inspection import Ordered, width_of
from adomnia.engines.sql.statement import CodedRows
from adomnia.schema.domain import Categories, Domain, Open
from adomnia.schema.table import Table

__all__ = ["BANDS", "count_codes"]

BANDS = 40
"""Numbers and days are compared in no more bands."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]


def count_codes(
    run: Run, table: Table, coded: CodedRows, staged: Callable[[str], AbstractContextManager[str]]
) -> CodeCounts:
    """The rows that somebody owns, and how many have each code of every declared column."""
    domains = {name: attribute.domain for name, attribute in table.attributes.items()
               if name in coded.names and not isinstance(attribute.domain, Open)}  # fmt: skip
    with staged(f"SELECT * FROM {coded.source(table, [*domains])}") as stage:
        rows = int(run(f"SELECT COUNT(*) FROM {stage}")[0][0])
        columns = {
            name: {None if key is None else int(key): int(many) for key, many in run(
                f"SELECT {_key(name, domain, coded.dialect)}, COUNT(*) FROM {stage} GROUP BY 1"
            )}
            for name, domain in domains.items()
        }  # fmt: skip
    return CodeCounts(rows, columns)


def _key(name: str, domain: Domain, dialect: Dialect) -> str:
    """By what a column is compared: its code, or the band of its code."""
    column = dialect.quoted(name)
    if not isinstance(domain, Ordered):
        truth = isinstance(domain, Categories) and isinstance(domain.values[0], bool)
        return f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END" if truth else column
    width = width_of(domain)
    band = dialect.quotient(f"CAST({column} AS BIGINT)", str(-(-(width + 1) // BANDS)))
    outside = f"WHEN {column} = -1 THEN -1 WHEN {column} = {width + 1} THEN {width + 1}"
    return f"CASE {outside} ELSE {band} END"
