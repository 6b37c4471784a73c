"""Where the rows of a world lie: Parquet and CSV files, each table in a folder of its own."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.adversary.columns import BROKEN, Column
from tests.adversary.worlds import REGIONS, Rows, World

TYPES = {
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def room() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes away; in memory where that is possible."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


def write(folder: Path, world: World, rows: Rows, form: str, name: str = "d") -> Path:
    """A policy and its data in a folder of this name; the policy's path."""
    place = folder / name
    place.mkdir()
    kind, _, in_place = form.partition(" ")
    {"parquet": _parquet, "csv": _csv}[kind](place / f"people.{kind}", world, rows)
    return policy(place, world, f"people.{kind}", "in_place = true\n" if in_place else "")


def policy(place: Path, world: World, source: str, more: str = "") -> Path:
    """The policy of a world whose rows are in this source."""
    (place / "regions.csv").write_text(REGIONS)
    data = f'[data]\nsource = "{source}"\ntable = "people"\nversion = "1"\n{more}'
    file = place / "adomnia.toml"
    file.write_text(data + world.policy)
    return file


def _parquet(path: Path, world: World, rows: Rows) -> None:
    arrays = [array(col, [row[i] for row in rows]) for i, col in enumerate(world.columns)]
    pq.write_table(pa.table(arrays, names=[col.name for col in world.columns]), path)


def array(column: Column, values: list[Any]) -> pa.Array:
    """The values of a column as they are stored."""
    if column.stored != "text":
        kind = TYPES[column.stored]
        base = {"date": pa.int32(), "timestamp": pa.int64()}.get(column.stored, kind)
        return pa.array(values, base).cast(kind) if base != kind else pa.array(values, kind)
    raw = [v if v is None or isinstance(v, bytes) else v.encode() for v in values]
    return pa.array(raw, pa.binary()).view(pa.string())


def _csv(path: Path, world: World, rows: Rows) -> None:
    """Lines that end in CR LF; what need not be quoted is not, a bare CR neither."""
    lines = [[col.name for col in world.columns]]
    lines += [[shown(col, v) for col, v in zip(world.columns, row, strict=True)] for row in rows]
    text = "".join(",".join(map(_field, line)) + "\r\n" for line in lines)
    path.write_bytes(text.encode())


def _field(text: str) -> str:
    quoted = any(sign in text for sign in ',"\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def shown(column: Column, value: Any) -> str:
    """A value as a file of text has it."""
    if value is None:
        return ""
    if value == BROKEN:
        return "\ufffd"
    if isinstance(value, bool):
        return str(value).lower()
    if column.stored == "date":
        return _day(value)
    if column.stored == "timestamp":
        return _day(value // 86_400_000_000)
    return str(value)


def _day(days: int) -> str:
    try:
        return (dt.date(1970, 1, 1) + dt.timedelta(days=days)).isoformat()
    except OverflowError:
        return "0044-03-15 (BC)" if days < 0 else "99999-01-01"
