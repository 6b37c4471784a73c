"""Graphs from files: a list of edges, and beside it the nodes with their attributes.

Which nodes there are is declared: a public range of whole numbers, or a file of nodes. It is never
read off the edges, for then an edge less could be a node less. Every row is read on its own, so
that no row changes what another means: one that has too few fields, or names a node that is not
declared, is left out. A node named twice has the attributes of its first row.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from adomnia.engines.engine import quietly
from adomnia.errors import PolicyError
from adomnia.limits import MAX_NODES
from adomnia.schema.domain import Value
from adomnia.schema.graph import Graph, GraphSchema, build, id_keys
from adomnia.schema.sealed import Sealed

__all__ = ["EdgeList", "NodeList", "read_graph"]

Column = str | int
"""A column by its name in the first line, or by its place (from 0) where no line names them."""
Row = tuple[str | None, ...]
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
LARGEST = 10**17


@dataclass(frozen=True)
class EdgeList:
    """A file of edges: CSV, TSV, Parquet, or text with blanks between (# begins a comment).

    All but Parquet may end in .gz.
    """

    path: Path
    source: Column = 0
    target: Column = 1


@dataclass(frozen=True)
class NodeList:
    """The nodes: the whole numbers `ids` from the first to the last, or a file of them.

    `attributes` says for each attribute of the schema which column holds it.
    """

    ids: tuple[int, int] | None = None
    path: Path | None = None
    key: Column = 0
    attributes: Mapping[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.ids is None) == (self.path is None):
            raise PolicyError("the nodes are a range of ids or a file, one of them")
        if self.ids is None:
            return
        if not 0 <= self.ids[1] - self.ids[0] + 1 <= MAX_NODES or abs(self.ids[0]) > LARGEST:
            raise PolicyError("the range of ids goes from the first to the last, 10^8 at most")


def read_graph(edges: EdgeList, nodes: NodeList, schema: GraphSchema) -> Sealed[Graph]:
    """The graph of the files, sealed; whatever fails names the file and never what is in it."""
    for name in nodes.attributes:
        schema.groups(name)
    if nodes.ids is not None and not schema.public_nodes:
        raise PolicyError(
            "a range of ids makes it public which nodes there are",
            "declare the nodes public, or give a file of nodes",
        )

    def reading() -> Graph:
        places, keys, codes = _numbered(nodes, schema)
        rows = _rows(edges.path, (edges.source, edges.target))
        ends = [(places[left], places[right]) for left, right in rows]
        return build(schema, keys, codes, np.array(ends, np.int64).reshape(-1, 2))

    return Sealed(quietly(reading, _unreadable))


def _unreadable(kind: str) -> PolicyError:
    return PolicyError(f"the graph's files could not be read ({kind})", "see the policy's [graph]")


# Nodes


class _Places(dict[str | None, int]):
    """The number of the node that a text names, -1 if there is none; found once per text."""

    def __init__(self, ids: tuple[int, int] | None, known: Mapping[str, int]) -> None:
        super().__init__({None: -1})
        self._ids, self._known = ids, known

    def __missing__(self, text: str | None) -> int:
        name = _canonical(text or "")
        if self._ids is None:
            self[text] = self._known.get(name, -1)
        else:
            first, last = self._ids
            inside = WHOLE.fullmatch(name) is not None and first <= int(name) <= last
            self[text] = int(name) - first if inside else -1
        return self[text]


def _canonical(text: str) -> str:
    """The name of a node or group: blanks around it do not count, 007 and +7 are 7."""
    text = text.strip()
    return str(int(text)) if WHOLE.fullmatch(text) else text


def _numbered(nodes: NodeList, schema: GraphSchema) -> tuple[_Places, Any, Mapping[str, list[int]]]:
    """Places and keys of the nodes, and their codes by attribute."""
    if nodes.ids is not None:
        return _Places(nodes.ids, {}), id_keys(np.arange(nodes.ids[0], nodes.ids[1] + 1)), {}
    assert nodes.path is not None
    found: dict[str, Row] = {}
    for key, *values in _rows(nodes.path, (nodes.key, *nodes.attributes.values())):
        if key is not None and key.strip():
            found.setdefault(_canonical(key), tuple(values))
    names = sorted(found)
    codes = {
        attribute: _codes(schema.groups(attribute), (found[name][place] for name in names))
        for place, attribute in enumerate(nodes.attributes)
    }
    keys = np.array([_key(name) for name in names], np.uint64)
    return _Places(None, {name: place for place, name in enumerate(names)}), keys, codes


def _codes(groups: tuple[Value | None, ...], values: Iterable[str | None]) -> list[int]:
    """The place of each value among the groups, -1 where it is none of them."""
    known = {_canonical(str(group)): place for place, group in enumerate(groups)
             if group is not None}  # fmt: skip
    known |= {str(group).lower(): known[str(group)] for group in groups if isinstance(group, bool)}
    return [known.get(_canonical(value), -1) if value is not None else -1 for value in values]


def _key(name: str) -> int:
    digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


# Rows of a file


def _rows(path: Path, columns: tuple[Column, ...]) -> Iterator[Row]:
    """The wanted columns of every row, as text; what a row does not have is None."""
    if not path.is_file():
        raise PolicyError(f"there is no file {path.name!r}")
    named = {isinstance(column, str) for column in columns}
    if len(named) > 1:
        raise PolicyError("columns are given by their names, or all by their places")
    if any(not isinstance(column, str) and column < 0 for column in columns):
        raise PolicyError("the place of a column is counted from 0")
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in ("parquet", "pq"):
        return _parquet(path, columns)
    delimiter = {"csv": ",", "tsv": "\t"}.get(ending)
    lines = _lines(path, comments=delimiter is None)
    if True in named:
        header = next(lines, "")
        delimiter = delimiter if delimiter and delimiter in header else _delimiter(header)
        return _picked(lines, _find(_split(header, delimiter), columns), delimiter)
    return _picked(lines, [int(column) for column in columns], delimiter)


def _lines(path: Path, comments: bool) -> Iterator[str]:
    """The lines of a file, without those that are empty or, where there are any, comments."""
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
        for line in stream:
            # A mark of the byte order may stand on any line: none may depend on the line before.
            text = line.decode("utf-8", "surrogateescape").rstrip("\r\n").removeprefix("\ufeff")
            if text.strip() and not (comments and text.lstrip().startswith(("#", "%"))):
                yield text


def _delimiter(header: str) -> str | None:
    """What divides the names in a first line; None for blanks."""
    counts = {sign: header.count(sign) for sign in ",;\t|"}
    most = max(counts, key=lambda sign: counts[sign])
    return most if counts[most] else None


def _split(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _find(header: Iterable[str], columns: Iterable[Column]) -> list[int]:
    """The places of the named columns."""
    places = {name.strip(): place for place, name in enumerate(header)}
    missing = [str(column) for column in columns if column not in places]
    if missing:
        raise PolicyError(f"a file of the graph has no column {missing[0][:80]!r}")
    return [places[str(column)] for column in columns]


def _picked(lines: Iterable[str], places: list[int], delimiter: str | None) -> Iterator[Row]:
    whole = max(places)
    for line in lines:
        parts: list[str | None] = [*_split(line, delimiter)]
        if len(parts) <= whole:
            parts += [None] * (whole + 1 - len(parts))
        yield tuple([parts[place] for place in places])


def _parquet(path: Path, columns: tuple[Column, ...]) -> Iterator[Row]:
    import pyarrow.parquet  # noqa: PLC0415 (slow to import)

    names = pyarrow.parquet.read_schema(path).names
    wanted = columns if isinstance(columns[0], int) else _find(names, columns)
    if any(not 0 <= int(place) < len(names) for place in wanted):
        raise PolicyError("a file of the graph has fewer columns than are asked for")
    table = pyarrow.parquet.read_table(path, columns=sorted({names[int(at)] for at in wanted}))
    lists = [map(_written, _values(table.column(names[int(place)]))) for place in wanted]
    return zip(*lists, strict=True)


def _values(column: Any) -> list[object]:
    """The values of a column; one that Python cannot hold is none, whatever the others are."""
    try:
        whole: list[object] = column.to_pylist()
    except (ValueError, OverflowError):  # also of text that is not UTF-8
        return [_value(value) for value in column]
    return whole


def _value(value: Any) -> object:
    try:
        found: object = value.as_py()
    except (ValueError, OverflowError):
        return None
    return found


def _written(value: object) -> str | None:
    """A value of a typed column as the text that would stand in a CSV file."""
    if value is None:
        return None
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if isinstance(value, float) and whole else str(value)
