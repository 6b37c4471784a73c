"""Published tables as files: columns with values, then a count, as a release writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.files import read_columns
from adomnia.audit.reconstruction.published_statistics import CellLayout
from adomnia.errors import QuestionError

__all__ = ["PublishedTables", "read_records", "read_tables"]

COUNT = "count"
BESIDE = ("count_margin", "margin", "mark")
"""What may stand beside a count, and is no attribute."""
MOST_CELLS = 100_000


@dataclass(frozen=True, eq=False)
class PublishedTables:
    """Tables of counts over some of the attributes, each laid out over their values.

    `tables` holds the names of each table's attributes and its counts, an axis for each.

    >>> import numpy as np
    >>> from adomnia.audit import CellLayout
    >>> published = PublishedTables(CellLayout({"sex": ("F", "M")}), [(("sex",), np.array([3, 1]))])
    >>> len(published.tables)
    1
    """

    cells: CellLayout
    tables: Sequence[tuple[tuple[str, ...], NDArray[Any]]]


def read_tables(files: Sequence[str]) -> PublishedTables:
    """The tables of some files, over the cells that all speak of; what is not listed is 0."""
    read = [_table(file) for file in files]
    values: dict[str, set[Any]] = {}
    for names, rows, _ in read:
        for column, name in enumerate(names):
            values.setdefault(name, set()).update(row[column] for row in rows)
    cells = CellLayout({name: _sorted(name, held) for name, held in values.items()})
    if cells.many > MOST_CELLS:
        raise QuestionError(
            f"the tables span {cells.many:,} cells", f"at most {MOST_CELLS:,} are searched"
        )
    tables = []
    for names, rows, counts in read:
        index = [{value: i for i, value in enumerate(cells.values[name])} for name in names]
        table = np.zeros([len(one) for one in index])
        for row, count in zip(rows, counts, strict=True):
            table[tuple(one[value] for one, value in zip(index, row, strict=True))] += count
        tables.append((names, table))
    return PublishedTables(cells, tables)


def read_records(file: str, cells: CellLayout) -> NDArray[np.int64]:
    """The true records behind published tables, as a count for each cell; they only score."""
    data = read_columns(file, list(cells.values))
    records = list(zip(*(data[name].to_pylist() for name in cells.values), strict=True))
    for name, column in zip(cells.values, zip(*records, strict=True), strict=True):
        if set(column) - set(cells.values[name]):
            raise QuestionError(
                f"the records have values of {name!r} that no table lists",
                "give the records behind these tables",
            )
    return cells.table(records)


def _table(file: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[float]]:
    data = read_columns(file)
    names = tuple(name for name in data.column_names if name not in {COUNT, *BESIDE})
    if COUNT not in data.column_names or not names:
        raise QuestionError(
            f"{file!r} is no table of counts", f"columns with values, and one called {COUNT}"
        )
    counts = data[COUNT].to_pylist()
    if not all(isinstance(count, int | float) for count in counts):
        raise QuestionError(f"{file!r} has a count that is no number", "leave such rows out")
    columns = [data[name].to_pylist() for name in names]
    return names, list(zip(*columns, strict=True)), counts


def _sorted(name: str, values: set[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(values, key=lambda value: (value is None, value)))
    except TypeError:
        raise QuestionError(
            f"the tables write the values of {name!r} differently", "numbers or texts, not both"
        ) from None
