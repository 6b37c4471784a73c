"""The same statements on a PostgreSQL server, and a few on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import adomnia
from tests import postgres_server, spark_session
from tests.adversary import sources
from tests.adversary.columns import Column
from tests.adversary.grammar import Grammar
from tests.adversary.pairs import Stretch
from tests.adversary.sql import ask_all
from tests.adversary.worlds import Rows, World, plain

TYPES = {
    "int64": "bigint", "double": "double precision", "text": "text", "bool": "boolean",
    "date": "date", "timestamp": "timestamp",
}  # fmt: skip
_serial = count()


def run_postgres(stretch: Stretch) -> None:
    """Statements on PostgreSQL."""
    _run(stretch, "sql postgres", _postgres, stretch.each)


def run_spark(stretch: Stretch) -> None:
    """Statements on Spark."""
    _run(stretch, "sql spark", _spark, min(6, stretch.each))


def _run(stretch: Stretch, part: str, opened: Any, many: int) -> None:
    for chance in stretch.worlds():
        world = plain(World.drawn(chance))
        rows = world.table(chance)
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(4))]
        grammar = Grammar(world, chance)
        with opened(world, tables) as databases:
            statements = (grammar.statement() for _ in range(many))
            ask_all(stretch.tally, part, databases, grammar, statements)


@contextmanager
def _postgres(world: World, tables: list[Rows]) -> Iterator[list[Any]]:
    server = postgres_server.shared()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        databases = []
        for rows in tables:
            name = fresh_name()
            server.execute(f"CREATE DATABASE {name}")
            stack.callback(server.execute, f"DROP DATABASE {name} WITH (FORCE)")
            server.execute(script({"people": (world.columns, rows)}), name)
            (folder / name).mkdir()
            file = sources.policy(folder / name, world, server.url(name, "reader"))
            databases.append(stack.enter_context(adomnia.open(file)))
        yield databases


def fresh_name() -> str:
    """The name of a database that is not there."""
    return f"adversary_{next(_serial)}"


def script(tables: Mapping[str, tuple[Sequence[Column], Rows]]) -> str:
    """The statements that make tables of these columns and rows, which a reader may read."""
    lines = ["CREATE SCHEMA adomnia_editions AUTHORIZATION reader;"]
    for name, (columns, rows) in tables.items():
        listed = ", ".join(f"{col.name} {TYPES[col.stored]}" for col in columns)
        lines += [f"CREATE TABLE {name} ({listed});", f"GRANT SELECT ON {name} TO reader;"]
        for row in rows:
            values = (_literal(col, value) for col, value in zip(columns, row, strict=True))
            lines.append(f"INSERT INTO {name} VALUES ({', '.join(values)});")
    return "\n".join(lines)


def _literal(column: Any, value: Any) -> str:
    if value is None:
        return "NULL"
    if column.stored == "date":
        return f"DATE '1970-01-01' + ({max(value, -2_000_000)})"
    if column.stored == "timestamp":
        days = max(value // 86_400_000_000, -2_000_000)
        return f"TIMESTAMP '1970-01-01' + interval '1 day' * ({days})"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"'{value}'"


@contextmanager
def _spark(world: World, tables: list[Rows]) -> Iterator[list[Any]]:
    session = spark_session.shared()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        databases = []
        for place, rows in enumerate(tables):
            file = sources.write(folder, world, rows, "parquet", str(place))
            frame = session.read.parquet(str(file.parent / "people.parquet"))
            databases.append(stack.enter_context(adomnia.open(file, source=frame)))
        yield databases
