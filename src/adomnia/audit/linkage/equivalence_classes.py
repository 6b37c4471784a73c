"""Files of people as crowds: rows in classes that agree on what an attacker may know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from adomnia.errors import QuestionError

__all__ = [
    "Columns",
    "PublishedFile",
    "arrow",
    "cells",
    "classes",
    "codes",
    "column_names",
    "meet",
    "rows",
    "together",
]

Ints = NDArray[np.int64]
Columns: TypeAlias = Mapping[str, ArrayLike] | pa.Table
"""A file: its columns by name, all of one length, or an Arrow table."""

DENSE = 1 << 22  # keys that are counted in one array; more are sorted
LARGEST = 1 << 62


@dataclass(frozen=True, eq=False)
class PublishedFile:
    """A published file, and the curator's column that says whose each record is.

    The attacker does not see `person`; he knows who is in the file, and each one's class.

    >>> file = {"who": [1, 2], "age": [30, 30], "ill": ["flu", "cold"]}
    >>> PublishedFile(file, ["age"], "ill", "who").person
    'who'
    """

    data: Columns
    quasi: Sequence[str]
    sensitive: str
    person: str


def rows(data: Columns) -> int:
    """The number of rows, which is the same for all columns."""
    if isinstance(data, pa.Table):
        return int(data.num_rows)
    lengths = {len(column) if isinstance(column, Sized) else 1 for column in data.values()}
    if len(lengths) > 1:
        raise QuestionError("the columns of a file have one length", "give one value a row")
    return lengths.pop() if lengths else 0


def column_names(data: Columns) -> list[str]:
    """What the columns are called."""
    return list(data.column_names if isinstance(data, pa.Table) else data)


def codes(data: Columns, name: str) -> tuple[Ints, int]:
    """A column as whole numbers in the order of its values, and how many values there are.

    A missing value is a value of its own, the last.
    """
    encoded = arrow(data, name).dictionary_encode(null_encoding="encode")
    rank = np.empty(len(encoded.dictionary), np.int64)
    rank[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(rank.size)
    return rank[encoded.indices.to_numpy()], rank.size


def arrow(data: Columns, name: str) -> pa.Array:
    """A column as one Arrow array of plain values."""
    known = column_names(data)
    if name not in known:
        raise QuestionError(f"the file has no column {name!r}", "it has: " + ", ".join(known))
    try:
        column = data[name] if isinstance(data, pa.Table) else pa.array(data[name])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise QuestionError(f"column {name!r} has no single type", "give one") from error
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def classes(parts: Sequence[tuple[Ints, int]], many: int) -> Ints:
    """For each row the number of its class, from 0 on without gaps; without columns all are one."""
    key, size = np.zeros(many, np.int64), 1
    for code, domain in parts:
        if size * max(domain, 1) > LARGEST:
            key, size = _dense(key, size)
        key, size = key * max(domain, 1) + code, size * max(domain, 1)
    return _dense(key, size)[0]


def cells(group: Ints, value: Ints) -> tuple[Ints, Ints, Ints]:
    """The class, the value and the count of each pair that occurs, classes and values rising."""
    domain = int(value.max(initial=0)) + 1
    key, counts = np.unique(group * domain + value, return_counts=True)
    return key // domain, key % domain, counts


def together(files: Sequence[Columns], names: Sequence[str]) -> list[Ints]:
    """Columns of several files in codes that mean the same in all."""
    parts = [arrow(file, name) for file, name in zip(files, names, strict=True)]
    tables = [pa.table({"all": part}) for part in parts]
    try:
        code, _ = codes(pa.concat_tables(tables, promote_options="permissive"), "all")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        message = f"the files hold different types in {names[0]!r}"
        raise QuestionError(message, "give the same") from error
    return np.split(code, np.cumsum([len(part) for part in parts])[:-1])


def meet(releases: Sequence[PublishedFile]) -> tuple[list[Ints], list[Ints], list[Ints]]:
    """For each release the classes, the sensitive values, and the rows of the people in all.

    Values have the same codes in all releases, and the people the same order.
    """
    files = [one.data for one in releases]
    people = together(files, [one.person for one in releases])
    if any(np.bincount(who).max(initial=0) > 1 for who in people):
        raise QuestionError("a person has one record in a release", "leave one row for each")
    values = together(files, [one.sensitive for one in releases])
    groups = [
        classes([codes(one.data, name) for name in one.quasi], rows(one.data)) for one in releases
    ]
    shared = people[0]
    for who in people[1:]:
        shared = np.intersect1d(shared, who, assume_unique=True)
    order = [np.argsort(who) for who in people]
    places = [
        by[np.searchsorted(who, shared, sorter=by)] for who, by in zip(people, order, strict=True)
    ]
    return groups, values, places


def _dense(key: Ints, size: int) -> tuple[Ints, int]:
    if size <= DENSE:
        number = np.cumsum(np.bincount(key, minlength=size) > 0) - 1
        return number[key], int(number[-1]) + 1
    held, number = np.unique(key, return_inverse=True)
    return number, held.size
