"""Statements whose bound is found: rows of two units, and tables of which nobody said how many
rows of a unit are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.adversary import sql, tables
from tests.adversary.columns import Chance
from tests.adversary.found_grammar import FoundGrammar
from tests.adversary.pairs import Stretch
from tests.adversary.sql import ANYWHERE, Aim, Unloaded
from tests.adversary.table_shapes import MADE, UNIT
from tests.adversary.table_worlds import TablesWorld
from tests.adversary.worlds import Relation

NEIGHBOURS = 6
KINDS: tuple[tuple[str, ...], ...] = (
    (UNIT, "visits"),
    (UNIT, "visits", "notes"),
    (UNIT, "visits", "notes", "calls"),
    (UNIT, "contacts"),
    (UNIT, "visits", "contacts"),
    (UNIT, "visits", "contacts", "replies"),
    ("customers", "suppliers", "sales"),
    ("customers", "suppliers", "sales", "pieces"),
    ("customers", "suppliers", "sales", "reviews"),
)


def drawn(chance: Chance, aim: Aim = ANYWHERE) -> TablesWorld:
    """Any world in which bounds are found, or one with the tables that are aimed at."""
    bounded = aim.relation.startswith("bounded") if aim.relation else chance.random() < 0.35
    kind = Relation(
        "bounded" if bounded else "unbounded",
        chance.choice([1, 1, 1, 2, 3]),
        max_groups=chance.choice([None, None, None, 1]),
        each=chance.choice([None, None, None, 1]),
    )
    kind = replace(kind, **{k: v for k, v in aim.setting.items() if k in FIELDS})
    named: Sequence[str] = aim.setting.get("tables", chance.choice(KINDS))
    found = [MADE[name](chance) for name in named]
    units = tuple(name for name in named if not MADE[name](chance).references)
    autos = [shape.name in units or chance.random() < 0.3 for shape in found]
    shapes = [replace(shape, auto=not declared)
              for shape, declared in zip(found, autos, strict=True)]  # fmt: skip
    currency = aim.currency or chance.choice(["epsilon", "epsilon", "rho"])
    most = chance.choice([1, 4, 12, 30, 30, 30, 200, None])
    return TablesWorld(kind, tuple(shapes), currency, units, most, True, (3, 20, 20))


FIELDS = ("group", "max_groups", "each")


def run(stretch: Stretch, aim: Aim = ANYWHERE) -> None:
    """Statements of the grammar, or those aimed at, over files."""
    _run(stretch, "found", tables.opened, NEIGHBOURS, aim)


def run_postgres(stretch: Stretch) -> None:
    """Statements of the grammar on PostgreSQL."""
    _run(stretch, "found postgres", tables.on_server, 4)


def _run(stretch: Stretch, part: str, opened: Any, many: int, aim: Aim = ANYWHERE) -> None:
    for chance in stretch.worlds():
        world = drawn(chance, aim)
        rows = world.database(chance, chance.choice([0.0, 0.0, 0.15, 0.4]))
        databases = [rows, *(world.neighbour(rows, chance) for _ in range(many))]
        grammar = FoundGrammar.of(world, chance)
        asked = aim.statements or (grammar.statement() for _ in range(stretch.each))
        try:
            with opened(world, databases) as opened_ones:
                sql.ask_all(stretch.tally, part, opened_ones, grammar, asked)
        except Unloaded as error:
            stretch.tally.differs(part, world.relation.label, "not loaded", str(error))
