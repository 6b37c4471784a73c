"""Quality counts of several tables: one use of the ledger, once for each edition (`quality.md`).

Every table is read by itself, as the one table that a question would be asked of: of the values of
its kept rows, and of the rows that a unit has beyond its bound. All of it is paid at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.curator.access import CURATOR, OWN_KEYS
from adomnia.curator.answers.quality_counts import Quality, read_tables_quality
from adomnia.curator.answers.table_omissions import has_excess, is_countable
from adomnia.curator.data.editions import edition_of
from adomnia.curator.data.several_tables import several_of
from adomnia.curator.derived_backend import backend_over
from adomnia.curator.quality.quality import ROWS_PART, paid_quality, value_counts
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.curator.tables_backend import TablesBackend
from adomnia.engines.sql.coding import lost, lost_columns
from adomnia.errors import QuestionError
from adomnia.limits import MAX_UNIT_ROWS
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.privacy.loss import Amount, exact
from adomnia.queries.rows import Scan
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["CountedPart", "counted_parts", "measure_tables", "paid_by_table"]


@dataclass(frozen=True)
class CountedPart:
    """What is counted of one table: values of these columns, or rows where there are none."""

    over: TableBackend
    table: str
    mechanism: Mechanism[Any]
    columns: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Of what it is, as the ledger records it."""
        return {"table": self.table, **({"columns": [*self.columns]} if self.columns else {})}


def measure_tables(backend: TableBackend, epsilon: Amount) -> Mapping[str, Quality]:
    """Count what the edition that is asked leaves out of each table, for this loss in all; once
    for each edition."""
    version = backend.version()
    edition = edition_of(version)
    assert edition is not None
    known = paid_by_table(backend, edition)
    if known:
        return known
    parts = counted_parts(backend, exact(epsilon))
    about = {"edition": edition, "tables": [part.to_json() for part in parts]}
    use = Use(
        f"QUALITY OF EDITION {edition}",
        tuple(part.mechanism for part in parts),
        backend.knowledge.promise,
        version,
        {"quality": about},
        what="count of what is left out",
    )
    key = _key(_tables(backend), edition)
    apart = TablesBackend(backend, tuple(part.over for part in parts))
    paid = spend(apart, Payer(CURATOR, backend.budgets(CURATOR), key=key), use)
    return read_tables_quality(backend.journal, paid.receipt)


def paid_by_table(backend: TableBackend, edition: int | None) -> Mapping[str, Quality]:
    """What was counted of an edition by the name of each table, whatever rows are asked about; of
    the one table, where a policy has no others."""
    base = backend.base
    if base.policy.several is None:
        one = paid_quality(base, edition)
        return {} if one is None else {base.table.name: one}
    account = base.journal.account()
    found = None if edition is None else account.find(CURATOR, _key(_tables(base), edition))
    if found is None or not account.is_answered(found.receipt):
        return {}
    return base.kept(found.receipt, read_tables_quality)


def counted_parts(backend: TableBackend, epsilon: Fraction) -> tuple[CountedPart, ...]:
    """All counts with what each costs: tables share alike in what there is for values, and in what
    there is for rows."""
    tables = _tables(backend)
    columns = {name: listed for name in tables.tables if (listed := _columns(backend, name))}
    bounded = [name for name in tables.tables if has_excess(tables, name)]
    if not columns and not bounded:
        raise QuestionError(
            "no table has a declared bound or column whose rows are of one unit each, so nothing "
            "can be counted",
            "say max_rows and attributes of a table, or leave out --quality",
        )
    share = (ROWS_PART if columns else Fraction(1)) if bounded else Fraction(0)
    values, rows = epsilon * (1 - share), epsilon * share
    return (
        *(_values(backend, name, columns[name], values / len(columns)) for name in columns),
        *(_excess(backend, name, rows / len(bounded)) for name in bounded),
    )


def _values(
    backend: TableBackend, name: str, columns: tuple[str, ...], epsilon: Fraction
) -> CountedPart:
    over = backend_over(backend, Scan(name, name))
    tests = [f"{name}.{lost(column)}" for column in columns]
    return CountedPart(over, name, value_counts(over, tests, epsilon), columns)


def _excess(backend: TableBackend, name: str, epsilon: Fraction) -> CountedPart:
    over = backend_over(backend, Scan(name, name))
    most, units = over.table.max_rows, over.policy.neighbors.group
    return CountedPart(over, name, ExcessRows(most, max(MAX_UNIT_ROWS, most), epsilon, units))


def _columns(backend: TableBackend, name: str) -> tuple[str, ...]:
    """The columns of a table that cleaning may change; none where nothing is counted of it."""
    tables, several = _tables(backend), several_of(backend.policy, backend.engine)
    if several is None or not is_countable(tables, name):
        return ()
    attributes = tables.tables[name].attributes
    marked = lost_columns(Table(name, attributes), several.columns[name])
    return tuple(column for column in attributes if lost(column) in marked)


def _tables(backend: TableBackend) -> Tables:
    assert backend.policy.several is not None
    return backend.policy.several.tables


def _key(tables: Tables, edition: int) -> str:
    """By which it is found again: with other bounds it would be of other rows."""
    bounds = {name: tables.tables[name].max_rows for name in _counted(tables)}
    return f"{OWN_KEYS}quality, edition {edition}, max_rows {json.dumps(bounds, sort_keys=True)}"


def _counted(tables: Tables) -> Iterator[str]:
    return (name for name in tables.tables if is_countable(tables, name))
