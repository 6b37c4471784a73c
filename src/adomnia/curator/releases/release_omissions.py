"""What is left out of a release: rows of a unit, and rows with a value that no table shows.

A row without a value of a key is in the tables of other keys: in those with that key it is in a
cell that is measured and not shown (`hidden_rows.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adomnia.curator.answers.derived_omissions import rows_left_out
from adomnia.curator.answers.omissions import UNKNOWN, Omission, about, known_of_columns
from adomnia.curator.answers.table_omissions import TableCounts
from adomnia.curator.derived_backend import tables_of
from adomnia.curator.quality.quality import paid_quality
from adomnia.curator.quality.tables_quality import paid_by_table
from adomnia.curator.releases.hidden_rows import HiddenRows
from adomnia.curator.releases.release_keys import ReleaseKey, TableLayout
from adomnia.curator.table_backend import TableBackend
from adomnia.queries.derived_table import DerivedTable
from adomnia.queries.expression import Column
from adomnia.queries.ranges import Number, Text

__all__ = ["counted_rows", "hidden_rows", "left_out_json", "left_out_of_release", "lost_rows"]


def left_out_of_release(
    backend: TableBackend, edition: int | None, confidence: float, unknown: str = UNKNOWN
) -> tuple[Omission, ...]:
    """Rows that are in no table: those of a unit beyond its bound, in numbers where these were paid
    for, and beside exact releases those that these are not of. Of what nobody counted a plan says
    to the curator how, and a release that it is `unknown`."""
    table = backend.table
    if isinstance(table, DerivedTable) and table.rows is not None:
        tables = tables_of(backend.base)
        assert tables is not None
        paid = paid_by_table(backend, edition)
        return tuple(rows_left_out(table.rows, TableCounts(tables, paid, confidence, unknown)))
    quality = paid_quality(backend, edition)
    rows, _ = known_of_columns(table, (), quality, confidence, unknown)
    listed = backend.public()[1].listed
    bare = [name for name in backend.table.attributes if name in listed]
    said = (
        f"rows without a declared value of {_either(bare)} are in no table: what was released "
        "exactly is of the others"
    )
    return (*filter(None, [rows]), *(Omission("rows", said, name) for name in bare))


def hidden_rows(layout: TableLayout) -> Iterator[Omission]:
    """Rows that tables with some key will not show; how many these are is measured with them."""
    for key in _hidden(layout):
        says = f"rows {_without(key)} are in no table with {key.name}; the release tells how many"
        yield Omission("values", says, key.name)


def lost_rows(layout: TableLayout) -> Iterator[Omission]:
    """Rows that are in no table at all, by the papers' methods: what is not shown has no cell."""
    for key in (key for key in layout.keys if key.leaves and not key.hidden):
        yield Omission("values", f"rows {_without(key)} are in no table", key.name)


def counted_rows(layout: TableLayout, found: Mapping[int, HiddenRows]) -> Iterator[Omission]:
    """The same after they were measured."""
    for place, rows in sorted(found.items()):
        key = layout.keys[place]
        said, count = f"{_without(key)} are in no table with {key.name}", round(rows.count)
        if rows.margin is None:
            says = f"rows {said}; of the made-up records {max(0, count):,} are such"
            yield Omission("values", says, key.name)
        else:
            off = math.ceil(rows.margin)
            yield Omission("values", f"{about(count, off, 'row')} {said}", key.name, count, off)


def left_out_json(layout: TableLayout, rows: Sequence[Omission]) -> list[dict[str, Any]]:
    """Attributes that are in no table, and rows that are in none, as plain JSON values."""
    return [*(one.to_json() for one in layout.left_out), *(one.to_json() for one in rows)]


def _hidden(layout: TableLayout) -> Iterator[ReleaseKey]:
    used = {place for subset in layout.workload.marginals for place in subset}
    return (key for place, key in enumerate(layout.keys) if key.hidden and place in used)


def _without(key: ReleaseKey) -> str:
    """What a row has that no cell of a key shows."""
    spread = key.expr.range
    if not isinstance(key.expr, Column) or not spread.ragged:
        return f"without a value of {key.name}"
    listed = isinstance(spread, Text) or (isinstance(spread, Number) and spread.values is not None)
    where = "that is not listed" if listed else "outside of its bounds"
    return f"with a value of {key.name} {where}{'' if key.null else ', or without one,'}"


def _either(names: Sequence[str]) -> str:
    """Names as a person lists them."""
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
