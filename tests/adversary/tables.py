"""Statements over several private tables, and such that compute for each unit of a single one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import adomnia
from tests import postgres_server
from tests.adversary import servers, sources, sql
from tests.adversary.pairs import Bench, Stretch
from tests.adversary.sql import ANYWHERE, Aim, Unloaded
from tests.adversary.table_grammar import TableGrammar
from tests.adversary.table_worlds import Database, TablesWorld
from tests.adversary.worlds import REGIONS, World, plain

NEIGHBOURS = 6
COUNTED = 0.3
"""In so many worlds it is paid to know what is left out, before anything is asked."""
SINGLE = 0.25
"""In so many worlds there is one table, with a column that says whose row it is."""


@contextmanager
def opened(world: TablesWorld, databases: list[Database]) -> Iterator[list[Any]]:
    """An edition of each of the databases, asked through the product."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        files = [write(folder / str(i), world, rows) for i, rows in enumerate(databases)]
        try:
            yield [stack.enter_context(adomnia.open(file)) for file in files]
        except adomnia.PolicyError as error:
            raise Unloaded(error.message) from None


def write(place: Path, world: TablesWorld, rows: Database) -> Path:
    """A policy and its tables in a new folder; the policy's path."""
    place.mkdir()
    for shape in world.shapes:
        listed = rows[shape.name]
        arrays = [sources.array(col, [row[i] for row in listed])
                  for i, col in enumerate(shape.columns)]  # fmt: skip
        names = [col.name for col in shape.columns]
        pq.write_table(pa.table(arrays, names=names), place / f"{shape.name}.parquet")
    (place / "regions.csv").write_text(REGIONS)
    file = place / "adomnia.toml"
    file.write_text(world.policy())
    return file


@contextmanager
def on_server(world: TablesWorld, databases: list[Database]) -> Iterator[list[Any]]:
    """The same on a PostgreSQL server, which holds rows and editions."""
    server = postgres_server.shared()
    with ExitStack() as stack:
        folder, opened = Path(stack.enter_context(sources.room())), []
        for rows in databases:
            name = servers.fresh_name()
            server.execute(f"CREATE DATABASE {name}")
            stack.callback(server.execute, f"DROP DATABASE {name} WITH (FORCE)")
            tables = {shape.name: (shape.columns, rows[shape.name]) for shape in world.shapes}
            server.execute(servers.script(tables), name)
            (folder / name).mkdir()
            (folder / name / "regions.csv").write_text(REGIONS)
            file = folder / name / "adomnia.toml"
            file.write_text(world.policy(server.url(name, "reader")))
            opened.append(stack.enter_context(adomnia.open(file)))
        yield opened


def run_postgres(stretch: Stretch) -> None:
    """Statements of the grammar on PostgreSQL."""
    for chance in stretch.worlds():
        world = TablesWorld.drawn(chance)
        rows = world.database(chance)
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(4))]
        grammar = TableGrammar.of(world, chance)
        asked = (grammar.statement() for _ in range(stretch.each))
        with on_server(world, tables) as databases:
            _count(Bench(stretch.tally, "tables postgres", world.relation.label, databases), chance)
            sql.ask_all(stretch.tally, "tables postgres", databases, grammar, asked)


def _count(bench: Bench, chance: Any) -> None:
    """Pay for private counts of what is left out of all tables; answers tell them from then on."""
    epsilon = chance.choice(["0.3", "1", "4"])
    if chance.random() < COUNTED:
        bench.compare(
            lambda database: SimpleNamespace(found=database.measure_quality(epsilon)),
            f"what is left out, at {epsilon}",
        )


def run(stretch: Stretch, aim: Aim = ANYWHERE) -> None:
    """Statements of the grammar, or those aimed at."""
    for chance in stretch.worlds():
        if not aim.statements and chance.random() < SINGLE:
            _single(stretch, chance)
            continue
        world = TablesWorld.drawn(chance, aim.relation, whole=bool(aim.statements))
        rows = world.database(chance, chance.choice([0.0, 0.15, 0.4]))
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(NEIGHBOURS))]
        grammar = TableGrammar.of(world, chance)
        asked = aim.statements or (grammar.statement() for _ in range(stretch.each))
        try:
            with opened(world, tables) as databases:
                if not aim.statements:
                    _count(Bench(stretch.tally, "tables", world.relation.label, databases), chance)
                sql.ask_all(stretch.tally, "tables", databases, grammar, asked)
        except Unloaded as error:
            stretch.tally.differs("tables", world.relation.label, "not loaded", str(error))


def _single(stretch: Stretch, chance: Any) -> None:
    """What is computed for each unit of one table, loaded or read in place."""
    world = plain(World.drawn(chance, chance.choice(["unit", "bounded unit"])))
    rows = world.table(chance, chance.choice([0.0, 0.15, 0.4]))
    tables = [rows, *(world.neighbour(rows, chance) for _ in range(NEIGHBOURS))]
    form = chance.choice(["parquet", "parquet in place"])
    grammar = TableGrammar.single(world, chance)
    asked = (grammar.statement() for _ in range(stretch.each))
    with sql.opened(world, tables, form) as databases:
        sql.ask_all(stretch.tally, f"tables {form}", databases, grammar, asked)
