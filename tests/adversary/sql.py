"""Statements in SQL, over files."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import adomnia
from tests.adversary import sources
from tests.adversary.grammar import Grammar
from tests.adversary.pairs import Tally, compared
from tests.adversary.worlds import Rows, World, plain

NEIGHBOURS = 6
STATEMENTS = 60


@contextmanager
def opened(world: World, tables: list[Rows], form: str) -> Iterator[list[Any]]:
    """Databases on each of the tables."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        files = [sources.write(folder, world, rows, form, str(i)) for i, rows in enumerate(tables)]
        yield [stack.enter_context(adomnia.open(file)) for file in files]


def run(seed: int, triples: int, first: int = 0, name: str | None = None) -> Tally:
    """At least so many triples, of worlds drawn from the seed."""
    tally, number = Tally(), first
    while sum(tally.triples.values()) < triples:
        chance = random.Random(f"{seed} {number}")
        tally.where, number = f"world {number}", number + 1
        world = World.drawn(chance, name)
        form = chance.choice(["parquet", "parquet", "parquet", "csv"])
        world = plain(world) if form == "csv" else world
        rows = world.table(chance, chance.choice([0.0, 0.15, 0.4]))
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(NEIGHBOURS))]
        with opened(world, tables, form) as databases:
            ask_all(tally, f"sql {form}", world, databases, chance)
    return tally


def ask_all(  # noqa: PLR0913, PLR0917 (all of a world)
    tally: Tally, part: str, world: World, databases: list[Any], chance: Any, many: int = STATEMENTS
) -> None:
    """Many statements of one world; the price rises, so that no answer serves a later one."""
    grammar = Grammar(world, chance)
    for number in range(many):
        sql = grammar.statement()
        terms = price(world, number, chance)
        label = world.relation.label + (" rho" if "rho" in terms else "")
        compared(
            tally, part, label, databases,
            lambda database, sql=sql, terms=terms: database.session().ask(sql, **terms),
            f"{sql} -- {terms}",
        )  # fmt: skip


def price(world: World, number: int, chance: Any) -> dict[str, Any]:
    """What is paid for a question."""
    amount = f"{chance.choice([1, 1, 20])}.{number:03d}1"
    if world.currency == "rho" and chance.random() < 0.8:
        return {"rho": amount}
    if world.currency == "epsilon" and world.relation.most is None and chance.random() < 0.2:
        return {"epsilon": amount, "delta": "0.0001"}
    error = {"error": "value"} if chance.random() < 0.1 else {}
    return {"epsilon": amount, **error}
